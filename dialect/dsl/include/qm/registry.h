//===- registry.h - specs that qmc finds by themselves ----------*- C++ -*-===//
#pragma once

#include <qm/spec.h>
#include <qm/spec_abi.h>

namespace qm::detail {

/// Adds a spec to the list behind spec_abi.h. The body runs when the spec is
/// first asked for, not when the program is loaded.
struct Registration {
  Registration(const char *name, void (*body)(Spec &),
               Where where = Where::current());
};

} // namespace qm::detail

/// Defines and registers the attention operator `name`. The braces that follow
/// hold its description, in terms of `qm::Spec &spec`.
#define QM_ATTENTION(name)                                                     \
  static void qm_describe_##name(::qm::Spec &spec);                            \
  static const ::qm::detail::Registration qm_registration_##name(              \
      #name, qm_describe_##name);                                              \
  static void qm_describe_##name(::qm::Spec &spec)
