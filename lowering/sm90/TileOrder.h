// Which query tiles a CTA runs, one after another.
#pragma once

#include "lowering/sm90/Barriers.h"
#include "lowering/sm90/KeyBlocks.h"

namespace qm::sm90 {

/// Which tile a number means. Without a mask: tiles of one head are neighbours,
/// so that they find its keys and values in L2. With one: heads in sections
/// whose keys and values fit L2 together, in a section tiles of late rows
/// first, since they see more keys.
class TileOrder {
public:
  explicit TileOrder(KernelState &state) : state(state) {}

  mlir::Value exists(Int index);
  /// Without a row of the call if there are more numbers than tiles.
  TilePlace place(Int index);
  /// The tile a CTA begins with, and the one after `index` where the order is
  /// fixed.
  Int first();
  Int next(Int index);

private:
  Int tilesOfHead();
  Int entries();
  gpu::Sequence sequenceOf(Int &batch, Int &tile);

  KernelState &state;
};

/// A tile whose turn comes, as far as it can be known ahead.
struct Upcoming {
  Int index;
  mlir::Value exists; ///< i1; if not, the rest has no meaning
  TilePlace place;
  KeyBounds bounds;
  KeyBlock block; ///< its first
  KeyBlockList::Position position;

  /// Looks the tile up: costs divisions and, under a mask, a look at 32 key
  /// blocks.
  static Upcoming lookUp(KernelState &state, TileOrder &order, Int index);
  Values flatten(KernelState &state) const;
  static Upcoming from(KernelState &state, mlir::ValueRange values);
};

/// Hands tiles from whoever schedules to everyone else of the CTA, with what
/// was looked up about them. The first tile is known from the CTA's number.
/// Every sequence ends with a number that is no tile's.
///
/// Where the order is made at run time numbers are taken from the launch's
/// counter. The counter is two words, the next number and the
/// CTAs that have finished; the last CTA to finish sets both to zero again, so
/// that the next launch finds them as this one did. With a negative `which`
/// there is no counter.
class TileQueue {
public:
  /// `which`: the launch's counter, i32; null where the schedule fixes the
  /// order.
  TileQueue(KernelState &state, TileOrder &order, mlir::Value which);
  void initialize() const { ring.initialize(); }
  Cursor next(Cursor cursor) const { return ring.next(cursor); }

  // Who schedules (TileScheduler), all lanes; `leader` holds for one.
  void awaitRoom(Cursor cursor) const { ring.waitEmpty(cursor); }
  Int ask(mlir::Value leader, Int index) const;
  Int answer(Int asked) const;
  void publish(mlir::Value leader, Cursor cursor, const Upcoming &tile) const;
  void finish(mlir::Value leader) const;

  // Everyone else, all lanes of a warp. `like` says which kinds of values there
  // are.
  Upcoming take(Cursor cursor, const Upcoming &like) const;

private:
  Int counter() const;
  mlir::Value hasCounter() const;
  Int slot(Cursor cursor) const;

  KernelState &state;
  TileOrder &order;
  Ring ring;
  Int which;
};

} // namespace qm::sm90
