// `--set part.field=value`.
#include "passes/Overrides.h"
#include "dialect/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;
using diag::Id;

static constexpr StringLiteral parts[] = {"precision", "schedule"};

FailureOr<SmallVector<Override>>
qm::passes::selectOverrides(Operation *where, ArrayRef<std::string> texts,
                            StringRef part) {
  SmallVector<Override> selected;
  for (StringRef text : texts) {
    auto [key, value] = text.split('=');
    auto [owner, field] = key.split('.');
    if (!llvm::is_contained(parts, owner) || field.empty() || value.empty())
      return diag::help(diag::error(where, Id::UnknownOverride)
                            << "'" << text << "' is not an override",
                        "write precision.FIELD=TYPE or schedule.FIELD=NUMBER");
    if (owner == part)
      selected.push_back({field, value, text});
  }
  return selected;
}

LogicalResult qm::passes::rejectField(Operation *where,
                                      const Override &override,
                                      StringRef fields) {
  return diag::help(diag::error(where, Id::UnknownOverride)
                        << "'" << override.text << "': no field '"
                        << override.field << "'",
                    "the fields are " + fields);
}

LogicalResult qm::passes::rejectValue(Operation *where,
                                      const Override &override,
                                      const Twine &allowed) {
  return diag::help(diag::error(where, Id::BadOverride)
                        << "'" << override.text << "': '" << override.value
                        << "' is not allowed here",
                    "allowed: " + allowed);
}
