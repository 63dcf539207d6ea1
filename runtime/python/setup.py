"""What pyproject.toml cannot say: the wheel holds the runtime, libqimeng.so, and is tagged for the machines that can load it.

The file is the one that QM_LIBRARY names, else build/lib/libqimeng.so of the source tree. Without one the wheel is pure and uses a
libqimeng.so that is installed elsewhere.
"""

import os
import pathlib
import platform
import re
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel


def runtime():
    named = os.environ.get("QM_LIBRARY")
    if named and not pathlib.Path(named).is_file():
        raise SystemExit(f"QM_LIBRARY names {named}, which is no file")
    path = pathlib.Path(named) if named else pathlib.Path(__file__).resolve().parents[2] / "build/lib/libqimeng.so"
    return path if path.is_file() else None


# The first glibc of the manylinux policies that comes with a libstdc++ of GLIBCXX_3.4.N.
GLIBCXX = {24: 27, 25: 28, 26: 31, 27: 31, 28: 31, 29: 34, 30: 35, 31: 38, 32: 38, 33: 39}


def glibc_of(path):
    """The version of glibc, (2, 34) and the like, from which on systems can load a library: by what it asks of glibc and libstdc++."""
    contents = path.read_bytes()
    asked = [int(minor) for minor in re.findall(rb"\bGLIBC_2\.(\d+)", contents)]
    asked += [GLIBCXX.get(int(minor), 39 if int(minor) > 33 else 17) for minor in re.findall(rb"\bGLIBCXX_3\.4\.(\d+)", contents)]
    return 2, max(asked, default=17)


class BuildWithRuntime(build_py):
    def run(self):
        super().run()
        if runtime():
            target = pathlib.Path(self.build_lib) / "qimeng_attention" / "libqimeng.so"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(runtime(), target)


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        # No extension module: any Python 3 loads it.
        if not runtime():
            return "py3", "none", "any"
        major, minor = glibc_of(runtime())
        return "py3", "none", f"manylinux_{major}_{minor}_{platform.machine()}"


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return runtime() is not None


setup(cmdclass={"build_py": BuildWithRuntime, "bdist_wheel": PlatformWheel}, distclass=PlatformDistribution)
