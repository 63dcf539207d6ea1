"""The clock of a multiprocessor, read by a kernel of its own: what nvidia-smi says lags behind a power limit."""

import ctypes

import torch

# Counts cycles of 60 us of wall time.
PTX = b"""
.version 7.8
.target sm_80
.address_size 64
.visible .entry count(.param .u64 out) {
  .reg .b64 %d<8>;
  .reg .pred %p;
  ld.param.u64 %d0, [out];
  cvta.to.global.u64 %d0, %d0;
  mov.u64 %d1, %globaltimer;
  mov.u64 %d2, %clock64;
AGAIN:
  mov.u64 %d3, %globaltimer;
  sub.u64 %d4, %d3, %d1;
  setp.lt.u64 %p, %d4, 60000;
  @%p bra AGAIN;
  mov.u64 %d5, %clock64;
  sub.u64 %d5, %d5, %d2;
  st.global.u64 [%d0], %d4;
  st.global.u64 [%d0+8], %d5;
  ret;
}
\0"""


class SmClock:
    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.out = torch.zeros(2, dtype=torch.int64, device="cuda")
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), PTX)
        self.call("cuModuleGetFunction", ctypes.byref(self.function), module, b"count")

    def call(self, name, *args):
        status = getattr(self.driver, name)(*args)
        if status != 0:
            raise RuntimeError(f"{name}: error {status}")

    def megahertz(self):
        """Right behind the work that is on the current stream."""
        address = ctypes.c_void_p(self.out.data_ptr())
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(address))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.call("cuLaunchKernel", self.function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, None)
        torch.cuda.synchronize()
        nanoseconds, cycles = self.out.tolist()
        return cycles * 1e3 / nanoseconds
