//===- math.h - functions on symbolic values --------------------*- C++ -*-===//
#pragma once

#include <qm/operators.h>

namespace qm {

QM_NUMERIC_OVERLOADS(min, Index, Float)
QM_NUMERIC_OVERLOADS(max, Index, Float)

/// `condition ? a : b`, element by element. Both sides are evaluated.
Index select(detail::Condition condition, detail::IntArg a, detail::IntArg b);
Float select(detail::Condition condition, detail::RealArg a,
             detail::FloatArg b);
Float select(detail::Condition condition, detail::NumberArg a,
             detail::RealArg b);
Float select(detail::Condition condition, detail::IntArg a,
             detail::LiteralArg b);
Float select(detail::Condition condition, detail::LiteralArg a,
             detail::IntArg b);
Float select(detail::Condition condition, detail::LiteralArg a,
             detail::LiteralArg b);
Bool select(detail::Condition condition, detail::Condition a,
            detail::Condition b);

/// `x` limited to [low, high].
Index clamp(detail::IndexArg x, detail::IntArg low, detail::IntArg high);
Float clamp(detail::RealArg x, detail::FloatArg low, detail::FloatArg high);

Index abs(detail::IndexArg x);
Float abs(detail::RealArg x);

Float exp(detail::FloatArg x);
Float exp2(detail::FloatArg x);
Float log(detail::FloatArg x); ///< Natural logarithm.
Float tanh(detail::FloatArg x, Accuracy accuracy = Accuracy::Exact);
Float sigmoid(detail::FloatArg x); ///< 1 / (1 + e^-x)
Float sqrt(detail::FloatArg x);
Float rsqrt(detail::FloatArg x); ///< 1 / sqrt(x)
Float erf(detail::FloatArg x);
Float sin(detail::FloatArg x); ///< Radians.
Float cos(detail::FloatArg x); ///< Radians.

Float toFloat(detail::IndexArg x);
Float toFloat(detail::Condition x); ///< 0 or 1
/// Rounds towards zero; beyond the range of i32 the result is unspecified.
Index toInt(detail::RealArg x);
Index toInt(detail::Condition x); ///< 0 or 1

} // namespace qm

#undef QM_NUMERIC_OVERLOADS
