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


def text_of(*patterns, suffixes=None):
    return "\n".join(
        path.read_text(errors="replace")
        for path in tracked(*patterns)
        if path.is_file() and (suffixes is None or path.suffix in suffixes)
    )


def diagnostics():
    """(number, names): the enumerator, and for the runtime's codes the status of the C ABI with the same number."""
    statuses = dict(re.findall(r"(QM_ERROR_\w+)\s*=\s*(\d+)", (ROOT / "runtime/qm.h").read_text()))
    by_number = {int(number): name for name, number in statuses.items()}
    for definition in tracked("dialect/diagnostics/*.def"):
        for name, number in re.findall(r"QM_DIAGNOSTIC\(\s*(\w+),\s*(\d+)", definition.read_text()):
            names = [rf"Id::{name}\b"]
            if int(number) in by_number:
                names.append(rf"\b{by_number[int(number)]}\b")
            yield int(number), name, names


def diagnostics_have_one_number_each():
    seen = {}
    for number, name, _ in diagnostics():
        if number in seen:
            yield f"QM{number:04d} is both {seen[number]} and {name}"
        seen[number] = name


def every_diagnostic_is_tested():
    """A code that no test triggers may never be seen by anyone who checks its text."""
    tests = text_of("test/*")
    for number, name, names in diagnostics():
        if f"QM{number:04d}" not in tests and not any(re.search(n, tests) for n in names):
            yield f"QM{number:04d} ({name}) appears in no test"


def every_diagnostic_is_used():
    sources = text_of("dialect/*", "passes/*", "lowering/*", "runtime/*.cpp", "qmc/*", suffixes=(".cpp", ".h", ".td"))
    for number, name, names in diagnostics():
        if not any(re.search(n, sources) for n in names):
            yield f"QM{number:04d} ({name}) is issued nowhere"


def nvvm_stays_in_its_folder():
    """NVVMDialect.h costs 14 seconds a file; lowering/nvvm wraps it."""
    for path in tracked("*.cpp", "*.h"):
        if "lowering/nvvm/" not in path.as_posix() and re.search(r"#include.*NVVM(Dialect|ToLLVM)", path.read_text()):
            yield f"{path.relative_to(ROOT)} includes the NVVM dialect"


def front_end_and_runtime_know_no_mlir():
    for path in tracked("dialect/dsl/*", "runtime/*"):
        if path.suffix in (".cpp", ".h", ".hpp") and re.search(r'#include\s+["<](mlir|llvm)/', path.read_text()):
            yield f"{path.relative_to(ROOT)} includes MLIR or LLVM"


# What the precompiled header would hide: a name, and the header that a file using it includes itself or through ours.
DIALECT_HEADERS = {
    r"\barith::\w": "mlir/Dialect/Arith/IR/Arith.h",
    r"\bmath::\w": "mlir/Dialect/Math/IR/Math.h",
    r"\bscf::\w": "mlir/Dialect/SCF/IR/SCF.h",
    r"\bvector::\w": "mlir/Dialect/Vector/IR/VectorOps.h",
    r"\bLLVM::\w": "mlir/Dialect/LLVMIR/LLVMDialect.h",
    r"\bfunc::\w": "mlir/Dialect/Func/IR/FuncOps.h",
    r"\bjson::\w": "llvm/Support/JSON.h",
    r"\bIRMapping\b": "mlir/IR/IRMapping.h",
    r"\bPassManager\b": "mlir/Pass/PassManager.h",
    r"\bModuleOp\b": "mlir/IR/BuiltinOps.h",
}


def includes_of(path, seen):
    """Every header that `path` includes, through headers of ours."""
    if path in seen or not path.exists():
        return set()
    seen.add(path)
    found = set(re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(), re.M))
    for name in list(found):
        found |= includes_of(ROOT / name, seen)
    return found


def no_file_leans_on_the_precompiled_header():
    """A build may have none, and a file should say what it needs. A name that a header only declares forward does not count."""
    for path in tracked("dialect/*", "passes/*", "lowering/*", "qmc/*", "test/*"):
        if path.suffix not in (".cpp", ".h") or "/dsl/" in path.as_posix() or "test/runtime" in path.as_posix():
            continue
        text = re.sub(r"//.*|\"(\\.|[^\"\\])*\"", "", path.read_text())
        if "mlir" not in path.read_text() or re.search(r"nlohmann", path.read_text()):
            continue
        included = includes_of(path, set())
        for name, header in DIALECT_HEADERS.items():
            forward = name.strip("\\b").split("::")[0]
            if re.search(rf"namespace {forward} \{{|class {forward};", text):
                continue
            if re.search(name, text) and header not in included:
                yield f"{path.relative_to(ROOT)} uses {forward} and includes no {header}"


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


def markdown():
    """(page, its text without code blocks), except pages that programs write."""
    for path in tracked("*.md"):
        if path.name != "RESULTS.md":
            yield path, re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)


def pages_name_what_exists():
    """Links, and sources by their full name; headers and data may be a user's."""
    known = {path.name for path in tracked("*")}
    for page, text in markdown():
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"`[^`\n]*`", "", text)):
            if "://" not in target and not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)} links to {target}, which is not there"
        for name in re.findall(r"`([\w./-]+\.(?:cpp|td|py|sh|cmake))`", text):
            if pathlib.Path(name).name not in known:
                yield f"{page.relative_to(ROOT)} names {name}, which is not there"


def readmes_name_every_source():
    """A reader finds in a folder's README what each of its files is for; tests are named for what they test."""
    for readme in tracked("README.md", "*/README.md"):
        if "test" in readme.relative_to(ROOT).parts:
            continue
        text = readme.read_text()
        sources = {path for path in tracked(f"{readme.parent.relative_to(ROOT)}/*") if path.parent == readme.parent}
        for path in sorted(sources):
            if path.suffix in (".cpp", ".h", ".td") and path.stem != "Passes" and path.stem not in text:
                yield f"{readme.relative_to(ROOT)} does not say what {path.name} is for"


def every_check_line_is_run():
    """FileCheck does not miss lines of a prefix that no RUN line names: they would never be looked at."""
    for path in tracked("test/*.mlir", "test/*.test"):
        text = path.read_text()
        runs = "\n".join(re.findall(r"RUN:(.*(?:\\\n.*)*)", text))
        named = {name for names in re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", runs) for name in names.split(",")}
        if re.search(r"FileCheck(?![^|\n]*check-prefix)", runs):
            named.add("CHECK")
        lines = re.findall(r"^\s*(?://|#)\s*([A-Z][A-Z0-9_-]+):", text, re.M)
        for prefix in sorted({re.sub(r"-(NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+)$", "", line) for line in lines}):
            if prefix not in named | {"RUN", "REQUIRES", "UNSUPPORTED", "ALLOW_RETRIES"}:
                yield f"{path.relative_to(ROOT)}: no RUN line looks at {prefix}: lines"


def every_pass_is_run_alone():
    """By a test of the folder that mirrors its own."""
    for table in tracked("*/Passes.td", "*/*/Passes.td"):
        folder = ROOT / "test" / table.parent.relative_to(ROOT)
        tests = "\n".join(path.read_text() for path in folder.glob("*.mlir"))
        for flag in re.findall(r'Pass<"(qm-[\w-]+)"', table.read_text()):
            if not re.search(rf"RUN:.*{flag}\b", tests):
                yield f"no test in {folder.relative_to(ROOT)} runs {flag}"


def passes_have_both_tests():
    text = (ROOT / "passes/Passes.td").read_text()
    for flag in re.findall(r'Pass<"qm-([\w-]+)"', text):
        for name in (f"{flag}.mlir", f"{flag}-errors.mlir"):
            if not (ROOT / "test/passes" / name).exists():
                yield f"test/passes/{name} is missing"


def main():
    failed = 0
    rules = [
        diagnostics_have_one_number_each,
        every_diagnostic_is_tested,
        every_diagnostic_is_used,
        nvvm_stays_in_its_folder,
        front_end_and_runtime_know_no_mlir,
        no_file_leans_on_the_precompiled_header,
        files_are_small,
        every_folder_has_a_readme,
        operations_and_passes_are_described,
        passes_have_both_tests,
        every_pass_is_run_alone,
        every_check_line_is_run,
        pages_name_what_exists,
        readmes_name_every_source,
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
