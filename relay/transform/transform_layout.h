// Changes the layouts in which calls work, and lets other calls follow where
// they can: the common code of ConvertLayout and AlterOpLayout.

#ifndef BATON_RELAY_TRANSFORM_TRANSFORM_LAYOUT_H_
#define BATON_RELAY_TRANSFORM_TRANSFORM_LAYOUT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The argument of CallChange::Change().
struct CallToChange {
  // The original call, for its types.
  const CallNode& call;
  // The attributes of the call, of the type that the operator declares.
  const Attrs& attrs;
  // The current arguments: their layouts may have changed, and new arguments
  // have no types.
  absl::Span<const Expr> args;
  // `args` with tuples replaced by their fields.
  absl::Span<const Expr> inputs;
};

// The result of CallChange::Change().
struct ChangedCall {
  Op op;
  Attrs attrs;
  // As many tensors as before; empty for the existing ones.
  std::vector<Expr> args;
};

// The change that a pass makes to calls.
class CallChange {
 public:
  virtual ~CallChange() = default;
  // True if calls of `op` are to be changed.
  virtual bool Applies(const OpNode& op) const = 0;
  // Changes a call for which Applies() is true. The layout rule of the new
  // operator determines the layouts from the new attributes. Layout_transforms
  // are inserted where arguments or results have other layouts. An operator
  // without a layout rule takes and gives the layouts of the original program.
  virtual absl::StatusOr<ChangedCall> Change(
      const CallToChange& call) const = 0;
  // The counters of the pass: of calls that work in another layout, and of
  // nodes that take changed values in the old layout.
  virtual const Statistic& converted() const = 0;
  virtual const Statistic& realized() const = 0;
};

// Changes the calls of `function`, which must have types. Its arguments and
// results keep their layouts. Unaffected nodes stay the same. A function
// without calls to change costs one walk.
absl::StatusOr<Function> TransformLayout(const Function& function,
                                         const CallChange& change);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TRANSFORM_LAYOUT_H_
