#!/usr/bin/env python3
"""Runs the commands of README.md's section "Ship a library" as they stand there; what they print must be what the README shows.

usage: readme_commands.py BUILD SOURCE WORK

The folder WORK stands for the tree: its `build` and `examples` are those of BUILD and SOURCE.
"""

import pathlib
import re
import shutil
import subprocess
import sys

SECTION = "## Ship a library"


def console(readme):
    """(command, lines it prints) of the section's first console block; a command may go on after a backslash."""
    section = readme.split(SECTION, 1)[1].split("\n## ", 1)[0]
    block = re.search(r"```console\n(.*?)```", section, re.DOTALL).group(1).replace("\\\n", " ")
    steps = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return steps


def main():
    build, source, work = map(pathlib.Path, sys.argv[1:])
    version = subprocess.run([build / "bin/qmc", "--version"], check=True, capture_output=True, text=True).stdout
    if not re.search(r"^ptxas \d", version, re.MULTILINE):
        print("skipped: the commands make cubins, and there is no ptxas here")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name, place in (("build", build), ("examples", source / "examples")):
        (work / name).symlink_to(place.resolve())
    steps = console((source / "README.md").read_text())
    if not any(expected for _, expected in steps):
        sys.exit("the section shows no output")
    for command, expected in steps:
        print(f"$ {command}", flush=True)
        run = subprocess.run(["bash", "-c", command], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        missing = [line for line in expected if line not in run.stdout.splitlines()]
        if run.returncode or missing:
            print(run.stdout)
            sys.exit(f"status {run.returncode}; not printed: {missing}")
        for line in expected:
            print(line)
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
