//===- types.h - element types and small vocabulary -------------*- C++ -*-===//
#pragma once

#include <source_location>

// `= delete("reason")`: clang prints the reason under the user's line, other
// compilers name the deleted function only.
#if defined(__clang__) && __clang_major__ >= 19
#define QM_DELETED(reason)                                                     \
  _Pragma("clang diagnostic push")                                             \
      _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"") =             \
          delete (reason)_Pragma("clang diagnostic pop")
#else
#define QM_DELETED(reason) = delete
#endif

namespace qm {

/// Where in the user's program a value was made.
using Where = std::source_location;

/// Element types of operands and captured buffers.
enum class DType : unsigned char { F16, BF16, F32, I1, I8, I16, I32, I64 };

/// One element type as a C++ type, so that what a buffer yields is known when
/// the spec is compiled.
template <DType T>
struct Type {
  constexpr operator DType() const { return T; }
};

inline constexpr Type<DType::F16> f16{};
inline constexpr Type<DType::BF16> bf16{};
inline constexpr Type<DType::F32> f32{};
inline constexpr Type<DType::I1> i1{}; ///< One byte in memory, 0 is false.
inline constexpr Type<DType::I8> i8{};
inline constexpr Type<DType::I16> i16{};
inline constexpr Type<DType::I32> i32{};
inline constexpr Type<DType::I64> i64{}; ///< A load keeps the low 32 bits.

/// Which query meets which key when Sq != Skv.
///
/// With d = 0 (TopLeft) or d = Skv - Sq (BottomRight), query i stands at key
/// position i + d. BottomRight is what decoding with a key/value cache wants:
/// the last query sees the last key.
enum Alignment { TopLeft, BottomRight };

/// How exact a function is: as exact as f32 arithmetic allows, or as the GPU's
/// own instruction (tanh: 2^-11 of its value), which is faster. CPU kernels are
/// exact.
enum class Accuracy { Exact, Approximate };

/// An extent known only when the kernel is launched.
struct Dynamic {};
inline constexpr Dynamic dynamic{};

/// Positive infinity; `-infinity` removes a pair in a score function.
inline constexpr float infinity = __builtin_inff();

} // namespace qm
