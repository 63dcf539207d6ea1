#!/usr/bin/env python3
"""Rules of the repository that no compiler checks. One rule a function; prints every violation, exits 1 if there is one."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True)
    if out.returncode != 0:  # a source archive has no git
        return [p for pattern in patterns for p in ROOT.rglob(pattern.rsplit("/", 1)[-1]) if "build" not in p.parts]
    return [ROOT / line for line in out.stdout.split()]


def every_diagnostic_is_tested():
    """A code that no test triggers may never be seen by anyone who checks its text."""
    codes = {}
    for definition in tracked("dialect/diagnostics/*.def"):
        for name, number in re.findall(r"QM_DIAGNOSTIC\(\s*(\w+),\s*(\d+)", definition.read_text()):
            if number in codes:
                yield f"{definition.name}: {number} is both {codes[number]} and {name}"
            codes[number] = name
    tests = "\n".join(p.read_text(errors="replace") for p in tracked("test/*") if p.is_file())
    for number, name in codes.items():
        if f"QM{int(number):04d}" not in tests and f"Id::{name}" not in tests:
            yield f"QM{int(number):04d} ({name}) appears in no test"


def every_diagnostic_is_used():
    sources = "\n".join(
        p.read_text(errors="replace")
        for p in tracked("dialect/*", "passes/*", "lowering/*", "runtime/*", "qmc/*")
        if p.suffix in (".cpp", ".h", ".hpp", ".td")
    )
    for definition in tracked("dialect/diagnostics/*.def"):
        for name, number in re.findall(r"QM_DIAGNOSTIC\(\s*(\w+),\s*(\d+)", definition.read_text()):
            if not re.search(rf"\bId::{name}\b", sources):
                yield f"QM{int(number):04d} ({name}) is issued nowhere"


def nvvm_stays_in_its_folder():
    """NVVMDialect.h costs 14 seconds a file; lowering/nvvm wraps it."""
    for path in tracked("*.cpp", "*.h"):
        if "lowering/nvvm/" not in path.as_posix() and re.search(r"#include.*NVVM(Dialect|ToLLVM)", path.read_text()):
            yield f"{path.relative_to(ROOT)} includes the NVVM dialect"


def front_end_and_runtime_know_no_mlir():
    for path in tracked("dialect/dsl/*", "runtime/*"):
        if path.suffix in (".cpp", ".h", ".hpp") and re.search(r'#include\s+["<](mlir|llvm)/', path.read_text()):
            yield f"{path.relative_to(ROOT)} includes MLIR or LLVM"


def files_are_small():
    """Headers and sources that outgrow one screenful of ideas are split."""
    for path in tracked("*.cpp", "*.h", "*.hpp", "*.td", "*.py"):
        lines = len(path.read_text().splitlines())
        if lines > 600:
            yield f"{path.relative_to(ROOT)} has {lines} lines, 600 are the limit"


def every_folder_has_a_readme():
    for folder in ("dialect", "dialect/dsl", "passes", "lowering", "runtime", "qmc", "test", "examples"):
        if not (ROOT / folder / "README.md").exists():
            yield f"{folder}/ has no README.md"
    for folder in sorted((ROOT / "lowering").iterdir()):
        if folder.is_dir() and any(folder.iterdir()) and folder.name != "common" and not (folder / "README.md").exists():
            yield f"lowering/{folder.name}/ has no README.md"


def operations_and_passes_are_described():
    for path in tracked("*.td"):
        text = re.sub(r"//.*", "", path.read_text())
        for match in re.finditer(r"^def (\w+)\s*:\s*(Attn_Op|Pass)<(.*?)^\}", text, re.S | re.M):
            for field in ("summary", "description"):
                if f"let {field}" not in match.group(3):
                    yield f"{path.relative_to(ROOT)}: {match.group(1)} has no {field}"


def passes_have_both_tests():
    text = (ROOT / "passes/Passes.td").read_text()
    for flag in re.findall(r'Pass<"qm-([\w-]+)"', text):
        for name in (f"{flag}.mlir", f"{flag}-errors.mlir"):
            if not (ROOT / "test/passes" / name).exists():
                yield f"test/passes/{name} is missing"


def main():
    failed = 0
    rules = [
        every_diagnostic_is_tested,
        every_diagnostic_is_used,
        nvvm_stays_in_its_folder,
        front_end_and_runtime_know_no_mlir,
        files_are_small,
        every_folder_has_a_readme,
        operations_and_passes_are_described,
        passes_have_both_tests,
    ]
    for rule in rules:
        problems = list(rule())
        print(f"{'FAIL' if problems else 'ok  '} {rule.__name__}")
        for problem in problems:
            print(f"     {problem}")
        failed += bool(problems)
    print(f"{len(rules) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
