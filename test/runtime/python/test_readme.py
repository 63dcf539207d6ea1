"""The code of runtime/python/README.md, run as it stands; blocks for PyTorch where there is one."""

import os
import re
import tempfile
import unittest

from common import SOURCE

try:
    import torch
except ImportError:
    torch = None


class Readme(unittest.TestCase):
    def test_code(self):
        text = (SOURCE / "runtime/python/README.md").read_text()
        blocks = re.findall(r"^```python( torch)?\n(.*?)^```", text, re.M | re.S)
        self.assertEqual(len(blocks), 3)
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                # Names of the module: functions of a score_mod are found again by it.
                names = globals()
                for needs_torch, code in blocks:
                    if torch or not needs_torch:
                        exec(compile(code, "README.md", "exec"), names)
            finally:
                os.chdir(before)

    def test_files_are_listed(self):
        text = (SOURCE / "runtime/python/README.md").read_text()
        for path in (SOURCE / "runtime/python/qimeng_attention").rglob("*.py"):
            if path.name != "__init__.py":
                name = path.relative_to(SOURCE / "runtime/python/qimeng_attention").with_suffix("").as_posix()
                self.assertIn(f"`{name}`", text)


if __name__ == "__main__":
    unittest.main()
