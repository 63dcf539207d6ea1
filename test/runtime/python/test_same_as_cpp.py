"""The Python and the C++ front end print the same program, operation by operation, for the same spec."""

import re
import unittest

import mirrored_specs
from common import SOURCE, Process, qmc
from qimeng_attention import masks, scores


def functions_of(text):
    """MLIR text, as qmc prints it, by function."""
    parts = re.split(r"(?=^  func\.func @)", text, flags=re.M)[1:]
    return {re.match(r"  func\.func @(\w+)", part).group(1): part.rstrip("}\n ") for part in parts}


def spec_level(source, text=None):
    return functions_of(Process(qmc(), "build", source, "--emit=spec", "-o", "-", input=text).out)


class SameAsCpp(unittest.TestCase):
    maxDiff = None

    def compare(self, path, specs):
        expected = spec_level(str(SOURCE / path))
        got = spec_level("-", "".join(spec.mlir for spec in specs))
        self.assertEqual(sorted(expected), sorted(got))
        for name in expected:
            with self.subTest(name):
                self.assertEqual(expected[name], got[name])

    def test_examples(self):
        specs = mirrored_specs.examples()
        files = {path.stem for path in (SOURCE / "examples").glob("*.cpp")}
        self.assertEqual(sorted(specs), sorted(files), "every example has its Python")
        for name in sorted(specs):
            self.compare(f"examples/{name}.cpp", [specs[name]])

    def test_catalogue_masks(self):
        self.compare("test/dialect/dsl/catalogue/specs/catalogue_masks.cpp", mirrored_specs.catalogue_masks())

    def test_catalogue_scores(self):
        self.compare("test/dialect/dsl/catalogue/specs/catalogue_scores.cpp", mirrored_specs.catalogue_scores())

    def test_catalogue_at_launch(self):
        self.compare("test/dialect/dsl/catalogue/specs/catalogue_launch.cpp", mirrored_specs.catalogue_launch())

    def test_the_catalogue_is_whole(self):
        """Every function of the C++ catalogue has one here, with its name in lower case."""
        page = (SOURCE / "dialect/dsl/CATALOGUE.md").read_text()
        names = re.findall(r"^\| \[(\w+)\]\(", page, re.M)
        self.assertGreater(len(names), 50)
        for name in names:
            words = re.sub(r"(\d+)(d)$", r"_\1\2", re.sub(r"(?<!^)([A-Z])", r"_\1", name)).lower()
            self.assertTrue(hasattr(masks, words) or hasattr(scores, words), words)

    def test_lengths_and_sinks(self):
        self.compare("test/runtime/python/lengths_and_sinks.cpp", mirrored_specs.lengths_and_sinks())

    def test_everything(self):
        self.compare("test/dialect/dsl/specs/everything.cpp", [mirrored_specs.everything()])


if __name__ == "__main__":
    unittest.main()
