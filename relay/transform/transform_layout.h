// Changes the layouts in which calls work, and lets the others follow where
// they can: what ConvertLayout and AlterOpLayout share.

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

struct CallToChange {
  // The call before any change, for its types.
  const CallNode& call;
  // Its attributes, of the type that the operator declares.
  const Attrs& attrs;
  // Its arguments as they are now: their layouts may have changed, and what is
  // new has no type.
  absl::Span<const Expr> args;
  // The same with tuples taken apart.
  absl::Span<const Expr> inputs;
};

struct ChangedCall {
  Op op;
  Attrs attrs;
  // As many tensors as before; none for those that there are.
  std::vector<Expr> args;
};

// What a pass does to calls.
class CallChange {
 public:
  virtual ~CallChange() = default;
  // Whether calls of `op` are to be changed.
  virtual bool Applies(const OpNode& op) const = 0;
  // What becomes of one, where Applies(). The layouts are those that the layout
  // rule of the new operator tells of the new attributes; layout_transforms are
  // put where arguments or results have others. An operator without a layout
  // rule gets and leaves all in the layouts of the unchanged program.
  virtual absl::StatusOr<ChangedCall> Change(
      const CallToChange& call) const = 0;
  // The counters of the pass: of calls that work in another layout, and of
  // nodes that take what was changed in the old layout.
  virtual const Statistic& converted() const = 0;
  virtual const Statistic& realized() const = 0;
};

// `function`, which must have types, with its calls changed. Its arguments and
// results keep their layouts. Nodes that are not affected are the same. A
// function without calls to change costs one walk.
absl::StatusOr<Function> TransformLayout(const Function& function,
                                         const CallChange& change);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TRANSFORM_LAYOUT_H_
