//===- AttnOps.td - every operation of the dialect, for TableGen ----------===//
#ifndef ATTN_OPS_TD
#define ATTN_OPS_TD

include "dialect/AttnSpecOps.td"
include "dialect/AttnKernelOps.td"

#endif // ATTN_OPS_TD
