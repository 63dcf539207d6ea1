"""The wheel: built offline by setuptools alone, holds the runtime, works from where it is unpacked."""

import os
import pathlib
import shutil
import tempfile
import unittest
import zipfile

from common import SOURCE, run_python

BUILD = "from setuptools import build_meta; print(build_meta.build_wheel('.'))"
PROGRAM = """
import numpy as np, qimeng_attention as qa
q = np.ones((1, 2, 3, 16), np.float32)
print(qa.__file__, qa.attention(q, q, q, mask=qa.masks.causal(qa.TOP_LEFT)).sum())
"""


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
        shutil.copytree(SOURCE / "runtime/python", self.folder / "source", ignore=ignore)

    def build(self, **environment):
        text = f"import os; os.chdir({str(self.folder / 'source')!r})\n{BUILD}"
        name = run_python(text, PYTHONPATH="", **environment).out.splitlines()[-1]
        with zipfile.ZipFile(self.folder / "source" / name) as wheel:
            wheel.extractall(self.folder / "site")
            return name, wheel.namelist()

    def test_with_the_runtime(self):
        name, files = self.build()
        self.assertRegex(name, r"^qimeng_attention-\d+\.\d+\.\d+-py3-none-manylinux_2_\d+_\w+\.whl$")
        self.assertIn("qimeng_attention/libqimeng.so", files)
        sources = SOURCE / "runtime/python/qimeng_attention"
        for path in sources.rglob("*.py"):
            self.assertIn(f"qimeng_attention/{path.relative_to(sources)}", files)
        kept = {name: "" for name in os.environ if name.startswith("QM_LIBRARY")}
        out = run_python(PROGRAM, PYTHONPATH=str(self.folder / "site"), **kept).out
        self.assertEqual(out, f"{self.folder}/site/qimeng_attention/__init__.py 96.0\n")

    def test_without_one_it_is_pure(self):
        (self.folder / "source/build/lib").mkdir(parents=True)
        name, files = self.build(QM_LIBRARY="")
        self.assertTrue(name.endswith("-py3-none-any.whl"), name)
        self.assertNotIn("qimeng_attention/libqimeng.so", files)


if __name__ == "__main__":
    unittest.main()
