//===- Page.h - writes CATALOGUE.md -----------------------------*- C++ -*-===//
#pragma once

#include <string>

namespace qm::test {

/// The catalogue as Markdown, from the headers in `folder`, the examples and
/// their analysis. Throws if an example's function has no formula, or a
/// function with a formula has no example.
std::string cataloguePage(const std::string &folder);

} // namespace qm::test
