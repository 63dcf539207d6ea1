"""Specs to kernels: registered libraries, the cache on disk, qmc.

A kernel is looked for, in this order:
  1. in libraries given to `register` (or named in QM_LIBRARIES, separated by `:`), under the name made from the spec's content;
  2. in the cache: python in $QM_CACHE_DIR, else qimeng_attention in $XDG_CACHE_HOME or ~/.cache;
  3. it is compiled by qmc: the file that QM_QMC names, or qmc of PATH.

An entry of the cache is CACHE/CONTENT/TARGET-COMPILER/, where CONTENT is a hash of the spec without its places and COMPILER one of
the qmc that made it. Where there is no qmc the newest entry for the target is taken.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import warnings

from .errors import CompileError, CompilerNotFound, CompileWarning, SpecError
from .library import load
from .tensors import CPU, parse_device

_lock = threading.RLock()
_kernels = {}  # (content, name, target) -> Operator
_registered = []
_environment_read = False


def register(library):
    """Lets `attention` and specs without a name use the operators of a Library (or of the file it is in) before they compile."""
    with _lock:
        _registered.append(library if hasattr(library, "operators") else load(library))
    return _registered[-1]


def _libraries():
    global _environment_read
    if not _environment_read:
        _environment_read = True
        for path in filter(None, os.environ.get("QM_LIBRARIES", "").split(":")):
            register(path)
    return _registered


def find_qmc():
    """The compiler's path, or None."""
    named = os.environ.get("QM_QMC")
    found = shutil.which(named or "qmc")
    if named and not found:
        raise CompilerNotFound(f"QM_QMC names {named}, which is no program\nhelp: set it to qmc, or unset it to use that of PATH")
    return found


def cache_folder():
    if named := os.environ.get("QM_CACHE_DIR"):
        return pathlib.Path(named) / "python"
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "qimeng_attention"


def target_of(device):
    """What qmc compiles for on a device (type, ordinal): "cpu", or the architecture of the GPU."""
    if device[0] == CPU:
        return "cpu"
    from .cuda import capability

    major, minor = capability(device[1])
    if (major, minor) == (9, 0):
        return "sm_90a"
    if major == 8:
        return {6: "sm_86", 7: "sm_86", 9: "sm_89"}.get(minor, "sm_80")
    # Later GPUs compile the portable PTX when it is loaded.
    return "sm_75" if (major, minor) == (7, 5) else "sm_80"


def kernel_for(spec, device="cpu", target=None):
    """The Operator (or Kernel) of a spec for a device."""
    target = target or target_of(parse_device(device))
    key = (spec.key, spec.name, target)
    with _lock:
        if key not in _kernels:
            _kernels[key] = _registered_kernel(spec, target) or _cached_kernel(spec, target)
        return _kernels[key]


def _runs(variant, target):
    """Whether an image is for the target: the runtime decides, this only tells GPU images from CPU ones."""
    return (variant.format == "cpu") == (target == "cpu")


def _registered_kernel(spec, target):
    name = f"attention_{spec.key}"
    for library in _libraries():
        if name in library and any(_runs(v, target) for k in library[name].kernels for v in k.variants):
            return _only(library[name])
    return None


def _cached_kernel(spec, target):
    folder = cache_folder() / (spec.name if spec.name.endswith(spec.key) else f"{spec.name}_{spec.key}")
    qmc = find_qmc()
    if qmc is None:
        entries = sorted(folder.glob(f"{target}-*"), key=lambda path: path.stat().st_mtime)
        if not entries:
            raise CompilerNotFound(
                f"spec '{spec.name}' is not compiled for {target}, and there is no qmc\nhelp: install the compiler, set QM_QMC to it, "
                "or build a library ahead of time (qimeng_attention.build) and give it to register"
            )
        entry = entries[-1]
    else:
        entry = folder / f"{target}-{_identity(qmc)}"
        if not entry.exists():
            _fill(qmc, spec, target, entry)
    library = entry / "libkernel.so"
    return _only(load(library if library.exists() else entry / "kernel.json")[spec.name])


def _only(operator):
    """An operator of one kernel as that kernel: nothing has to be chosen, and errors say what does not fit it."""
    return operator.kernels[0] if len(operator.kernels) == 1 else operator


def _identity(qmc):
    """A compiler is its file: a rebuilt one compiles anew."""
    status = os.stat(qmc)
    text = f"{os.path.realpath(qmc)} {status.st_size} {status.st_mtime_ns}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _fill(qmc, spec, target, entry):
    """Compiles into a folder of its own and renames it: readers of the cache see whole entries only."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix=f".{entry.name}-", dir=entry.parent))
    try:
        # A manifest with images beside it asks for no linker; code for a CPU has to be linked.
        emit = "shared" if target == "cpu" or target.startswith("x86") else "cubin,ptx,json"
        _run([qmc, "build", "-", f"--arch={target}", f"--emit={emit}", "-o", str(work / "kernel")], spec.mlir)
        try:
            os.rename(work, entry)
        except OSError:
            if not entry.exists():  # another process was first otherwise, with the same result
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def build(specs, output, archs=("cpu",), qmc=None):
    """Compiles specs ahead of time into one library; returns the path of the libNAME.so to `load`.

    specs: Specs. Kernels have their names; those without one are found by `register` from then on.
    output: "folder/NAME": libNAME.so, libNAME.a, NAME.h and NAME.json are written, for Python, C and C++ alike.
    archs: targets of qmc: "cpu", "x86-64-v3", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a".

    A kernel that one target cannot have is left out for it, with a CompileWarning.

    Raises CompileError with qmc's text, which points at the Python line, and CompilerNotFound.
    """
    qmc = qmc or find_qmc()
    if qmc is None:
        raise CompilerNotFound("there is no qmc\nhelp: install the compiler, or set QM_QMC to it")
    output = pathlib.Path(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    archs = archs if isinstance(archs, str) else ",".join(archs)
    text = "".join(spec.mlir for spec in _by_name(specs))
    _run([qmc, "build", "-", f"--arch={archs}", "--emit=lib", "-o", str(output)], text)
    return output.with_name(f"lib{output.name}.so")


def _by_name(specs):
    """Each once: specs of one content may come from several layers."""
    named = {}
    for spec in specs:
        if named.setdefault(spec.name, spec).key != spec.key:
            raise SpecError("QM0105", f"two different specs have the name '{spec.name}'", "give each a name of its own", spec.place)
    return named.values()


def _run(command, text=None):
    environment = {**os.environ, "NO_COLOR": "1"}
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment)
    except OSError as error:
        raise CompilerNotFound(f"cannot run {command[0]}: {error.strerror}\nhelp: set QM_QMC to the compiler") from error
    if done.returncode:
        raise CompileError.from_text(done.stderr or f"{command[0]} ended with status {done.returncode}")
    if re.search(r"\bwarning: QM\d{4}:", done.stderr):
        warnings.warn(done.stderr.strip(), CompileWarning, stacklevel=3)
