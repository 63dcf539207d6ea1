"""Writes each C++ block of a page that is a whole spec to FOLDER/NUMBER.cpp: code_blocks.py PAGE FOLDER"""

import pathlib
import re
import sys

page, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
blocks = re.findall(r"^```cpp\n(.*?)^```", page.read_text(), re.S | re.M)
specs = [block for block in blocks if "#include <qm/attention.h>" in block]
if not specs:
    sys.exit(f"{page} has no spec")
for number, block in enumerate(specs):
    (folder / f"{number}.cpp").write_text(block)
