//===- attention.h - the C++ front end of QiMeng ----------------*- C++ -*-===//
//
// Include this one header to describe an attention operator:
//
//   QM_ATTENTION(my_layer) {
//     spec.heads(32).kvHeads(8).headDim(128).dtype(bf16);
//     spec.score([=](Score s, Batch b, Head h, Query i, Key j) { return 50.f *
//     tanh(s / 50.f); }); spec.mask(causal(BottomRight));
//   }
//
// and compile the file with `qmc build`. The lambdas are called once, with
// symbolic arguments. The only standard header used is <source_location>: a
// spec compiles in a fraction of a second.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/buffer.h>
#include <qm/catalogue/canvases.h>
#include <qm/catalogue/documents.h>
#include <qm/catalogue/recipes.h>
#include <qm/catalogue/scores.h>
#include <qm/catalogue/windows.h>
#include <qm/expr.h>
#include <qm/mask.h>
#include <qm/masks.h>
#include <qm/math.h>
#include <qm/operators.h>
#include <qm/registry.h>
#include <qm/score.h>
#include <qm/spec.h>
#include <qm/types.h>
