//===- Handles.h - the opaque handles of qm.h -------------------*- C++ -*-===//
//
// A handle is a number in a pointer's clothes: the place of an object in a
// table, and how often that place was used before. So a handle that was freed,
// or was never one, is told from a live one without touching its memory.
// Lookups take no lock; places are never given back to the system.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace qm::runtime {

enum class HandleKind : unsigned { Library = 1, Operator = 2, Kernel = 3 };

/// Throws std::bad_alloc where there is no place left.
void *makeHandle(HandleKind kind, void *object);
/// The object's handle is no longer one. Null is allowed.
void dropHandle(const void *handle);
/// The object, or null if `handle` is not a live handle of this kind.
void *findHandle(HandleKind kind, const void *handle);

/// A handle that lives as long as this object.
class Handle {
public:
  Handle() = default;
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() { dropHandle(value); }

  void make(HandleKind kind, void *object) { value = makeHandle(kind, object); }
  void *get() const { return value; }

private:
  void *value = nullptr;
};

} // namespace qm::runtime
