// Finds the values that buffers are known to have at each statement, and the
// elements that are written before they are read.
//
//   for i in range(16): A[i] = i
//   A[4] = 4                          // is there already
//
// Values are propagated forward along the control flow, from stores and
// T.assume(); the sets of elements that are not read before they are written
// are propagated backward, from stores.

#ifndef BATON_TIR_TRANSFORM_KNOWN_VALUES_H_
#define BATON_TIR_TRANSFORM_KNOWN_VALUES_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

class KnownValues {
 public:
  // Simplification takes at most `max_simplification_steps` steps; 0: no limit.
  explicit KnownValues(const Stmt& body, int64_t max_simplification_steps = 0);
  ~KnownValues();
  KnownValues(const KnownValues&) = delete;
  KnownValues& operator=(const KnownValues&) = delete;

  // An error if the body has a T.assume() whose condition is not of a supported
  // form.
  const absl::Status& status() const;

  // True if the elements that `store` would write at `context`, a statement of
  // the body, are all written again before any of them is read.
  bool IsOverwritten(const BufferStore& store, const Stmt& context) const;

  // Simplifies `e`, computed at `context`, a statement of the body, with the
  // values that are known there. Uses and keeps the constraints of `analyzer`.
  PrimExpr SimplifyAt(const PrimExpr& e, const Stmt& context,
                      Analyzer& analyzer) const;

  // Updates the values after the removal of `store`.
  void Remove(const BufferStore& store);

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_KNOWN_VALUES_H_
