//===- DriverTypes.h - the few CUDA driver types we use ---------*- C++ -*-===//
//
// Declared here so that the runtime builds without the CUDA toolkit. Names,
// layouts and numbers are the driver's binary interface, which does not change.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace qm::runtime::cuda {

struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct EventTag;

using Result = int;
using Device = int;
using Context = ContextTag *;
using Module = ModuleTag *;
using Function = FunctionTag *;
using Stream = StreamTag *;
using Event = EventTag *;
using DevicePtr = unsigned long long;

// CUresult
constexpr Result success = 0;
constexpr Result errorDeinitialized = 4;
constexpr Result errorInvalidImage = 200;
constexpr Result errorNoBinaryForGpu = 209;
constexpr Result errorInvalidPtx = 218;
constexpr Result errorUnsupportedPtxVersion = 222;
constexpr Result errorInvalidSource = 300;
constexpr Result errorNotFound = 500;

// CUresult: 900 to 908 are about streams that are captured into graphs
constexpr Result errorCaptureFirst = 900;
constexpr Result errorCaptureLast = 908;

// CUstreamCaptureMode
constexpr int captureModeRelaxed = 2;

// CUdevice_attribute
constexpr int multiprocessorCount = 16;
constexpr int computeCapabilityMajor = 75;
constexpr int computeCapabilityMinor = 76;
constexpr int maxSharedMemoryPerBlockOptin = 97;

// CUfunction_attribute
constexpr int functionMaxThreadsPerBlock = 0;
constexpr int functionStaticSharedBytes = 1;
constexpr int functionMaxDynamicSharedBytes = 8;

// CUjit_option
constexpr int jitErrorLogBuffer = 5;
constexpr int jitErrorLogBufferBytes = 6;

/// CUtensorMap: opaque to all but the driver and the GPU.
struct alignas(64) TensorMapBytes {
  uint64_t opaque[16];
};

// CUtensorMapDataType, by what is copied
constexpr int tensorMapFloat16 = 6;
constexpr int tensorMapFloat32 = 7;
constexpr int tensorMapFloat64 = 8;
constexpr int tensorMapBfloat16 = 9;
// CUtensorMapInterleave, CUtensorMapFloatOOBfill: plain layout, zeros outside
constexpr int tensorMapNoInterleave = 0;
constexpr int tensorMapFillZeros = 0;
// CUtensorMapL2promotion
constexpr int tensorMapPromoteL2To256Bytes = 3;

} // namespace qm::runtime::cuda
