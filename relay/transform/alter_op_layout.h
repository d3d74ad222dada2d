// AlterOpLayout: lets a target choose the layouts in which operators work, or
// other operators for them.
//
//   absl::StatusOr<Expr> Blocked(const AlterLayoutQuery& query) {
//     auto attrs = *query.attrs.As<Conv2DAttrs>();
//     attrs.data_layout = "NCHW16c";
//     attrs.kernel_layout = "OIHW16i16o";
//     return Call(query.call.op(), query.args, Attrs::Make(attrs));
//   }
//   BATON_EXTEND_OP("nn.conv2d")
//       .Set(AlterLayoutRules("mychip"), Blocked);
//
// `AlterOpLayout{target=mychip}` asks the rules of that target. A rule says in
// which layouts the new call works (by its attributes) and does not transform
// its arguments: the pass puts a layout_transform where an argument has another
// layout, and lets other operators follow, as ConvertLayout does. A call whose
// operator has a layout rule that cannot tell its layouts is left alone: one of
// an element-wise operator, of a parameter.

#ifndef BATON_RELAY_TRANSFORM_ALTER_OP_LAYOUT_H_
#define BATON_RELAY_TRANSFORM_ALTER_OP_LAYOUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct AlterLayoutQuery {
  // The call before any change, for its types.
  const CallNode& call;
  // Its attributes; never null where the operator has any.
  const Attrs& attrs;
  // Its arguments as they are now. Their layouts may have changed, which is not
  // the rule's business; those that are new have no types.
  absl::Span<const Expr> args;
};

// The call that takes the place of `query.call`: one of an operator, that takes
// as many tensors and has as many results. Null: the call stays.
using AlterLayoutRule = absl::StatusOr<Expr> (*)(const AlterLayoutQuery& query);

// The rules for a target (`llvm`, `cuda`), or, if that is empty, for all. The
// same map for the same name.
OpAttrMap<AlterLayoutRule>& AlterLayoutRules(absl::string_view target = {});

struct AlterOpLayoutOptions {
  std::string target;

  template <typename V>
  static void VisitFields(V& v) {
    v("target", &AlterOpLayoutOptions::target,
      "The target whose rules come first; empty for none.");
  }
};

// A function pass of level 3, which requires InferType.
Pass AlterOpLayout(AlterOpLayoutOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_ALTER_OP_LAYOUT_H_
