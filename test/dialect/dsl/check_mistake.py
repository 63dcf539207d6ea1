"""Checks one program of compile_fail/: check_mistake.py COMPILER SOURCE INCLUDE LIBRARY WORK [--reasons]

SOURCE compiles as it stands. With QM_MISTAKE it does not: the compiler points at the user's line (the one after
`#ifdef QM_MISTAKE`), with --reasons says what `// expect:` announces, and writes nothing.
"""

import pathlib
import subprocess
import sys

compiler, source, include, library, work = sys.argv[1:6]
reasons = "--reasons" in sys.argv[6:]
source = pathlib.Path(source)
output = pathlib.Path(work) / (source.stem + ".so")
output.parent.mkdir(parents=True, exist_ok=True)
lines = source.read_text().splitlines()
mistake = lines.index("#ifdef QM_MISTAKE") + 2
expected = [line.removeprefix("// expect: ") for line in lines if line.startswith("// expect: ")]


def compile(*flags):
    """Errors of the compiler, and whether it succeeded and wrote its output."""
    output.unlink(missing_ok=True)
    run = subprocess.run(
        [compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-shared", "-fPIC",
         f"-I{include}", str(source), library, "-o", str(output), *flags],
        capture_output=True, text=True)
    return run.stderr, run.returncode == 0, output.exists()


def fail(message, errors):
    sys.exit(f"{source}: {message}\n{errors}")


errors, succeeded, written = compile()
if not (succeeded and written):
    fail("the program without the mistake does not compile", errors)
errors, succeeded, written = compile("-DQM_MISTAKE")
if succeeded or written:
    fail("the mistake compiles", errors)
if f"{source.name}:{mistake}:" not in errors:
    fail(f"the compiler does not point at line {mistake}", errors)
if not expected:
    fail("no `// expect:` line", "")
for text in expected if reasons else []:
    if text not in errors:
        fail(f"the compiler does not say: {text}", errors)
