"""lit configuration: which files are tests, and the tools they call."""

import os
import shutil

import lit.formats

config.name = "qimeng"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "corpus", "data"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join(
    [config.qm_bin, config.llvm_tools, config.environment["PATH"]]
)
# Golden messages are compared as text.
config.environment["NO_COLOR"] = "1"
config.substitutions.append(("%examples", os.path.join(config.test_source_root, "..", "examples")))
# A CUDA driver without a GPU (test/runtime/fake_cuda.h), for QM_CUDA_DRIVER.
config.substitutions.append(
    ("%fake_driver", os.path.join(config.qm_bin, "..", "test", "runtime", "qm_fake_cuda", "libcuda.so.1"))
)
# What a program with a library in it is compiled and linked with; the flags say which sanitizer the runtime needs.
config.substitutions.append(("%cflags", config.c_flags))
config.substitutions.append(("%runtime", os.path.join(config.qm_bin, "..", "runtime")))
config.substitutions.append(("%lib", os.path.join(config.qm_bin, "..", "lib")))
config.substitutions.append(("%data", os.path.join(config.test_source_root, "data")))

if shutil.which("ptxas", path=config.environment["PATH"]) or os.path.exists(
    "/usr/local/cuda/bin/ptxas"
):
    config.available_features.add("ptxas")
