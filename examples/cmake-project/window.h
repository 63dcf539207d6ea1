// A constant of the model, in a header of its own: a change of it compiles the
// kernels again.
#pragma once

constexpr int slidingWindowKeys = 1024;
