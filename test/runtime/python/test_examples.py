"""examples/python/ as a reader runs them. Those that need PyTorch say so and are skipped where it is missing."""

import sys
import unittest

from common import SOURCE, Process


class Examples(unittest.TestCase):
    def run_example(self, name, *arguments):
        process = Process(sys.executable, "-W", "ignore", SOURCE / "examples/python" / name, *arguments, check=False)
        if process.status == 77:
            self.skipTest(process.out.strip())
        self.assertEqual(process.status, 0, process.err)
        return process.out

    def test_notebook(self):
        self.assertIn("largest difference from double precision", self.run_example("notebook.py"))

    def test_llama3_layer(self):
        out = self.run_example("llama3_layer.py", "--tokens=40")
        self.assertEqual(out.count("relative difference"), 3)

    def test_gemma2_layer(self):
        self.assertIn("the same bits", self.run_example("gemma2_layer.py", "--tokens=150"))


if __name__ == "__main__":
    unittest.main()
