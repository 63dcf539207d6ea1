// `--set part.field=value`.
#include "passes/Overrides.h"
#include "dialect/AttnOps.h"
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
  auto owner = dyn_cast<attn::KernelOp>(where);
  for (StringRef text : texts) {
    StringRef assignment = text;
    if (text.split('=').first.contains(':')) {
      StringRef kernel;
      std::tie(kernel, assignment) = text.split(':');
      if (!owner || owner.getSymName() != kernel)
        continue;
    }
    auto [key, value] = assignment.split('=');
    auto [subject, field] = key.split('.');
    if (!llvm::is_contained(parts, subject) || field.empty() || value.empty())
      return diag::help(diag::error(where, Id::UnknownOverride)
                            << "'" << text << "' is not an override",
                        "write precision.FIELD=TYPE or schedule.FIELD=NUMBER, "
                        "after KERNEL: for one kernel only");
    if (subject == part)
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
