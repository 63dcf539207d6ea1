"""From specs to kernels: qmc's errors, the cache on disk, libraries built ahead."""

import os
import pathlib
import tempfile
import unittest

import numpy as np
import qimeng_attention as qa
from common import Process, qmc, run_python
from qimeng_attention import masks

# Prints how often qmc ran, and a number of the result. `N` is the window.
PROGRAM = """
import numpy as np, qimeng_attention as qa, subprocess
runs, run = [], subprocess.run
subprocess.run = lambda *a, **k: (runs.append(a[0][1]) if 'qmc' in str(a[0][0]) else None, run(*a, **k))[1]
q = np.ones((1, 2, 3, 16), np.float32)
o = qa.attention(q, q, q, mask=lambda b, h, i, j: i - j <= {n})
print(len(runs), o.sum())
"""


class Cache(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_program(self, n=1, check=True, **environment):
        return run_python(PROGRAM.format(n=n), check=check, QM_CACHE_DIR=self.folder.name, **environment)

    def test_a_kernel_is_compiled_once(self):
        self.assertEqual(self.run_program().out, "1 96.0\n")
        self.assertEqual(self.run_program().out, "0 96.0\n")
        self.assertEqual(self.run_program(n=2).out, "1 96.0\n")
        names = sorted(path.name for path in pathlib.Path(self.folder.name).glob("python/*/*"))
        self.assertEqual(len(names), 2)
        self.assertTrue(all(name.startswith("cpu-") for name in names), "no unfinished entries stay")

    def test_another_compiler_compiles_anew(self):
        self.run_program()
        other = pathlib.Path(self.folder.name) / "qmc"
        other.write_text(f'#!/bin/sh\nexec {qmc()} "$@"\n')
        other.chmod(0o755)
        self.assertEqual(self.run_program(QM_QMC=str(other)).out, "1 96.0\n")

    def test_without_a_compiler(self):
        nobody = {"QM_QMC": "", "PATH": "/nowhere"}
        failed = self.run_program(check=False, **nobody)
        self.assertIn("CompilerNotFound: spec 'attention_", failed.err)
        self.assertIn("help: install the compiler, set QM_QMC", failed.err)
        self.run_program()
        self.assertEqual(self.run_program(**nobody).out, "0 96.0\n")
        failed = self.run_program(n=5, check=False, QM_QMC="/nowhere/qmc")
        self.assertIn("CompilerNotFound", failed.err)

    def test_many_processes_at_once(self):
        program = "import subprocess, sys, os\nps = [subprocess.Popen([sys.executable, '-c', os.environ['PROGRAM']]) for _ in range(4)]\n"
        program += "print([p.wait() for p in ps])"
        environment = {"QM_CACHE_DIR": self.folder.name, "PROGRAM": PROGRAM.format(n=1)}
        self.assertIn("[0, 0, 0, 0]", run_python(program, **environment).out)
        self.assertEqual(len(list(pathlib.Path(self.folder.name).glob("python/*/*"))), 1)

    def test_a_library_built_ahead_serves_without_a_compiler(self):
        program = """
import numpy as np, qimeng_attention as qa, sys
mask = lambda n: (lambda b, h, i, j: i - j <= n)
spec = qa.Spec(heads=2, head_dim=16, dtype='f32', mask=mask(1))
print(qa.build([spec, qa.Spec(heads=2, head_dim=16, dtype='f32', mask=mask(2))], sys.argv[1] if sys.argv[1:] else '{path}'))
"""
        path = run_python(program.replace("{path}", f"{self.folder.name}/attn")).out.strip()
        nobody = {"QM_QMC": "", "PATH": "/nowhere", "QM_LIBRARIES": path}
        self.assertEqual(self.run_program(**nobody).out, "0 96.0\n")
        self.assertEqual(self.run_program(n=2, **nobody).out, "0 96.0\n")
        self.assertIn("CompilerNotFound", self.run_program(n=3, check=False, **nobody).err)
        library = qa.register(path)
        q = np.ones((1, 2, 3, 16), np.float32)
        os.environ["QM_CACHE_DIR"], kept = self.folder.name + "/none", os.environ.get("QM_CACHE_DIR")
        try:
            spec = qa.Spec(heads=2, head_dim=16, dtype="f32", mask=lambda b, h, i, j: i - j <= 1)
            self.assertIs(spec.kernel("cpu"), library[spec.name].kernels[0])
            self.assertEqual(spec(q, q, q).sum(), 96)
        finally:
            os.environ["QM_CACHE_DIR"] = kept or ""
        self.assertFalse(pathlib.Path(self.folder.name + "/none").exists())


class Errors(unittest.TestCase):
    def test_qmc_points_at_the_python_line(self):
        def score(s, b, h, i, j):
            return s + table[h, i]

        table = qa.buffer("f32", ["heads", None], "table")
        spec = qa.Spec(heads=2, head_dim=7, dtype="f16", score_mod=score)
        with self.assertRaises(qa.CompileError) as caught, tempfile.TemporaryDirectory() as folder:
            qa.build([spec], pathlib.Path(folder) / "bad", ["sm_80"])
        self.assertRegex(caught.exception.code, r"^QM\d{4}$")
        text = str(caught.exception)
        self.assertIn("test_compiler.py:", text)
        self.assertIn("spec = qa.Spec(heads=2, head_dim=7", text, "the line itself")

    def test_what_a_target_cannot_have_is_left_out_with_a_warning(self):
        spec = qa.Spec(name="plain", heads=2, head_dim=16, dtype="f32")
        with tempfile.TemporaryDirectory() as folder:
            with self.assertWarnsRegex(qa.CompileWarning, r"QM0029: left out for sm_90a: plain_f32_d16 \(QM0402"):
                path = qa.build([spec], pathlib.Path(folder) / "attn", archs=["cpu", "sm_90a"])
            q = np.ones((1, 2, 3, 16), np.float32)
            self.assertEqual(qa.load(path)["plain"](q, q, q).sum(), 96.0)
            with self.assertRaisesRegex(qa.CompileError, "QM0402"):
                qa.build([spec], pathlib.Path(folder) / "none", archs=["sm_90a"])

    def test_a_spec_may_come_twice(self):
        def spec(head_dim, name=""):
            return qa.Spec(heads=1, head_dim=head_dim, dtype="f32", name=name)

        with tempfile.TemporaryDirectory() as folder:
            path = qa.build([spec(8), spec(8)], pathlib.Path(folder) / "attn", archs="cpu")
            self.assertEqual(len(qa.load(path).kernels), 1)
            with self.assertRaisesRegex(qa.SpecError, r"(?s)QM0105.*'same'.*spec\(16, .same.\).*name of its own"):
                qa.build(
                    [spec(8, "same"),
                     qa.Spec(heads=1, head_dim=16, dtype="f32", name="same")],  # spec(16, "same")
                    pathlib.Path(folder) / "attn",
                )  # fmt: skip

    def test_what_qmc_does_not_know(self):
        spec = qa.Spec(heads=2, head_dim=64, dtype="f16")
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(qa.CompileError) as caught:
            qa.build([spec], pathlib.Path(folder) / "bad", ["sm_12"])
        self.assertEqual(caught.exception.code, "QM0010")

    def test_mlir_of_a_spec_is_a_file_for_qmc(self):
        spec = qa.Spec(name="layer", heads=2, head_dim=64, dtype="f16", mask=masks.causal("top_left"))
        out = Process(qmc(), "verify", "-", "--sq=33", input=spec.mlir).out
        self.assertIn("layer", out)


if __name__ == "__main__":
    unittest.main()
