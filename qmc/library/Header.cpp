//===- Header.cpp - NAME.h ------------------------------------------------===//
#include "qmc/library/Contents.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

namespace {

/// `name`, or `name_` where it is a word of C or C++.
std::string identifier(StringRef name) {
  static const StringSet<> reserved = {
      "alignas",   "alignof",  "and",       "asm",       "auto",
      "bool",      "break",    "case",      "catch",     "char",
      "class",     "concept",  "const",     "continue",  "decltype",
      "default",   "delete",   "do",        "double",    "else",
      "enum",      "explicit", "export",    "extern",    "false",
      "float",     "for",      "friend",    "goto",      "if",
      "inline",    "int",      "long",      "mutable",   "namespace",
      "new",       "noexcept", "not",       "nullptr",   "operator",
      "or",        "private",  "protected", "public",    "register",
      "requires",  "restrict", "return",    "short",     "signed",
      "sizeof",    "static",   "struct",    "switch",    "template",
      "this",      "throw",    "true",      "try",       "typedef",
      "typeid",    "typename", "union",     "unsigned",  "using",
      "virtual",   "void",     "volatile",  "wchar_t",   "while",
      "xor",       "options",  "stream",    "constexpr", "static_assert",
      "const_cast"};
  return (name + (reserved.contains(name) ? "_" : "")).str();
}

struct Parameter {
  std::string name, dtype;
  bool isTensor, isOutput;
};

std::vector<Parameter> parametersOf(const KernelJob &job) {
  std::vector<Parameter> parameters;
  for (const json::Value &value : LibraryContents::argumentsOf(job)) {
    const json::Object &argument = *value.getAsObject();
    StringRef role = argument.getString("role").value_or("");
    parameters.push_back({identifier(*argument.getString("name")),
                          argument.getString("dtype")->str(),
                          argument.getString("kind") == "tensor",
                          is_contained({"o", "lse", "row_max"}, role)});
  }
  return parameters;
}

/// What each kernel of an operator takes for an argument, each once: "bf16
/// [?, 32, ?, 64]".
std::string shapesOf(const LibraryContents &library, const LibraryOperator &op,
                     size_t index) {
  std::vector<std::string> shapes;
  for (const KernelRequest *request : op.kernels) {
    const json::Object &argument =
        *LibraryContents::argumentsOf(*library.jobsOf(*request).front())[index]
             .getAsObject();
    std::string shape = argument.getString("dtype")->str();
    if (argument.getString("kind") == "tensor") {
      const char *separator = " [";
      for (const json::Value &extent : *argument.getArray("shape")) {
        int64_t value = extent.getAsInteger().value_or(-1);
        shape += separator + (value < 0 ? "?" : std::to_string(value));
        separator = ", ";
      }
      shape += "]";
    }
    if (!is_contained(shapes, shape))
      shapes.push_back(shape);
  }
  return join(shapes, "\n *            or ");
}

class HeaderWriter {
public:
  explicit HeaderWriter(const LibraryContents &library) : library(library) {}

  std::string write() {
    std::string guard = "QM_LIBRARY_" + StringRef(library.name).upper() + "_H";
    os << "/* " << library.name << ".h - attention kernels, made by qmc "
       << QM_VERSION << ": do not edit.\n *\n"
       << " * Tensors are DLPack's, [batch, heads, sequence, head dim] "
          "whatever "
          "their\n * strides (in elements); all of a call are on the CPU or on "
          "one GPU. The result\n * is 0 or a qm_status, qm_last_error() has "
          "the "
          "text. `options` may be NULL; see\n * qm_launch in qm/qm.h for it "
          "and "
          "for what holds of every call. */\n"
       << "#ifndef " << guard << "\n#define " << guard
       << "\n\n#include <qm/qm.h>\n\n#ifdef __cplusplus\n#include "
          "<qm/qm.hpp>\n\nextern \"C\" {\n#endif\n\n";
    os << formatv("/* The library, loaded when it is first used; lives until "
                  "{0}_unload. Its operators\n * are in the order below. */\n"
                  "QM_API int {0}_library(qm_library **library);\n"
                  "QM_API int {0}_unload(void);\n",
                  library.name);
    for (const LibraryOperator &op : library.operators)
      writeC(op);
    os << "\n#ifdef __cplusplus\n} /* extern \"C\" */\n\n"
          "/* The same for C++; a failure is a qm::RuntimeError. */\nnamespace "
       << identifier(library.name) << " {\n";
    for (const LibraryOperator &op : library.operators)
      writeCpp(op);
    os << "\n} /* namespace */\n#endif\n#endif /* " << guard << " */\n";
    return std::move(text);
  }

private:
  std::vector<Parameter> parameters(const LibraryOperator &op) const {
    return parametersOf(*library.jobsOf(*op.kernels.front()).front());
  }

  void writeC(const LibraryOperator &op) {
    std::vector<Parameter> list = parameters(op);
    os << "\n/* " << op.name;
    if (!op.kernels.front()->source.empty())
      os << ", " << op.kernels.front()->source;
    os << "\n";
    for (auto [i, parameter] : enumerate(list))
      os << formatv(" *   {0,-8} {1}{2}\n", parameter.name,
                    parameter.isOutput ? "out " : "", shapesOf(library, op, i));
    os << " */\nQM_API int " << library.name << "_" << op.name << "(";
    for (const Parameter &parameter : list)
      os << typeOf(parameter) << parameter.name << ", ";
    os << "const qm_launch_options *options);\n";
  }

  static StringRef typeOf(const Parameter &parameter) {
    if (parameter.isTensor)
      return parameter.isOutput ? "DLTensor *" : "const DLTensor *";
    return parameter.dtype == "f32" ? "float " : "int32_t ";
  }

  void writeCpp(const LibraryOperator &op) {
    std::vector<Parameter> list = parameters(op);
    os << "\ninline void " << identifier(op.name) << "(";
    for (const Parameter &parameter : list) {
      StringRef type = typeOf(parameter);
      if (parameter.isTensor)
        type = parameter.isOutput ? "DLTensor &" : "const DLTensor &";
      os << type << parameter.name << ", ";
    }
    os << "void *stream = nullptr, uint32_t threads = 0) {\n"
          "  qm_launch_options options{sizeof options, stream, threads, 0};\n"
          "  qm::throwIfFailed("
       << library.name << "_" << op.name << "(";
    for (const Parameter &parameter : list)
      os << (parameter.isTensor ? "&" : "") << parameter.name << ", ";
    os << "&options));\n}\n";
  }

  const LibraryContents &library;
  std::string text;
  raw_string_ostream os{text};
};

} // namespace

std::string qm::driver::makeLibraryHeader(const LibraryContents &library) {
  return HeaderWriter(library).write();
}
