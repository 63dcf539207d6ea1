"""Compiles a spec as qmc does and reads it: check_spec.py COMPILER SOURCE INCLUDE LIBRARY PRINT_SPEC WORK [QM_OPT]

The command has no warnings, the shared object has the C interface, and its text parses and verifies in qm-opt. Of a
Markdown file the first C++ example is taken.
"""

import pathlib
import subprocess
import sys

compiler, source, include, library, print_spec, work = sys.argv[1:7]
qm_opt = [tool for tool in sys.argv[7:8] if tool]
source, work = pathlib.Path(source), pathlib.Path(work)
work.mkdir(parents=True, exist_ok=True)
if source.suffix == ".md":
    example = work / (source.stem + ".cpp")
    example.write_text(source.read_text().split("```cpp\n")[1].split("```")[0])
    source = example
shared = work / (source.stem + ".so")
shared.unlink(missing_ok=True)


def run(command, text=None):
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\nreturned {result.returncode}\n{result.stderr}")
    return result.stdout


run([compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-Wno-unused-parameter", f"-I{include}", str(source),
     library, "-o", str(shared)])
text = run([print_spec, str(shared)])
if "attn.attention" not in text:
    sys.exit(f"no operator in:\n{text}")
if qm_opt:
    run([qm_opt[0], "-", "-o", "/dev/null"], text)
