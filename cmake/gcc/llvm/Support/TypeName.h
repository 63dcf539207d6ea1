// Found before LLVM's header of this name when g++ compiles: llvm::getTypeName,
// spelled as clang spells it.
//
// MLIR finds the TypeID of a trait or an interface that declares none by its
// name. Debian's libMLIR is built by clang, and g++ writes the same type
// differently, so that a terminator of ours would not be one for the library:
//
//   clang  OpTrait::IsTerminator<Empty>
//   g++    OpTrait::IsTerminator<TypeID::get<OpTrait::IsTerminator>()::Empty>
//
// Names of lambdas, and arguments that clang prints as somebody wrote them
// (int64_t, a name without its namespace), stay different: MLIR compares no
// such name. test/toolchain/ holds this against clang and against the library.
#ifndef LLVM_SUPPORT_TYPENAME_H
#define LLVM_SUPPORT_TYPENAME_H

#include "llvm/ADT/StringRef.h"

#include <string_view>

// Not in namespace llvm: g++ leaves out the namespaces around the function.
namespace qm_type_name {

template <typename DesiredTypeName>
constexpr const char *prettyFunction() {
  return __PRETTY_FUNCTION__;
}

/// What stands in "[with DesiredTypeName = ...]".
constexpr std::string_view argumentOf(std::string_view function) {
  constexpr std::string_view key = "DesiredTypeName = ";
  size_t begin = function.find(key) + key.size();
  return function.substr(begin, function.size() - begin - 1);
}

struct Replacement {
  std::string_view gcc, clang;
};
constexpr Replacement replacements[] = {
    {"{anonymous}", "(anonymous namespace)"},
    {"std::__cxx11::", "std::"},
    {"long long unsigned int", "unsigned long long"},
    {"long unsigned int", "unsigned long"},
    {"short unsigned int", "unsigned short"},
    {"long long int", "long long"},
    {"long int", "long"},
    {"short int", "short"},
};

constexpr bool isIdentifier(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/// No replacement makes a name twice as long.
template <size_t Size>
struct Text {
  char data[2 * Size] = {};
  size_t length = 0;
};

/// Copies a name of g++'s and spells it as clang does.
template <size_t Size>
class Speller {
public:
  constexpr Text<Size> spell(std::string_view gcc) {
    while (!gcc.empty())
      gcc.remove_prefix(copyNext(gcc));
    return text;
  }

private:
  /// Returns how much of `rest` is done.
  constexpr size_t copyNext(std::string_view rest) {
    bool insideWord =
        text.length != 0 && isIdentifier(text.data[text.length - 1]);
    for (const Replacement &r : replacements) {
      if (rest.substr(0, r.gcc.size()) == r.gcc && !insideWord) {
        append(r.clang);
        return r.gcc.size();
      }
    }
    append(rest.substr(0, 1));
    switch (rest.front()) {
    case '<':
    case '(':
    case '[':
      argument[++depth] = text.length;
      return 1;
    case ',':
      append(" ");
      argument[depth] = text.length;
      return 2;
    case '>':
      close();
      return rest.substr(1, 2) == " >" ? 2 : 1;
    case ')':
    case ']':
      close();
      // "function(...)::Local": clang leaves the function out.
      if (rest.substr(1, 2) != "::")
        return 1;
      text.length = argument[depth];
      return 3;
    default:
      return 1;
    }
  }
  /// An operator's name can hold a bracket that nothing opened.
  constexpr void close() { depth -= depth != 0; }
  constexpr void append(std::string_view more) {
    for (char c : more)
      text.data[text.length++] = c;
  }

  Text<Size> text;
  /// For each bracket that is open: where the argument being spelled begins.
  size_t argument[Size] = {};
  size_t depth = 0;
};

template <typename T>
struct Name {
  static constexpr std::string_view gcc = argumentOf(prettyFunction<T>());
  static constexpr auto clang = Speller<gcc.size() + 1>().spell(gcc);
};

} // namespace qm_type_name

namespace llvm {

template <typename DesiredTypeName>
constexpr StringRef getTypeName() {
  const auto &name = qm_type_name::Name<DesiredTypeName>::clang;
  return StringRef(name.data, name.length);
}

} // namespace llvm

#endif
