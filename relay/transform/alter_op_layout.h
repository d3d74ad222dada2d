// AlterOpLayout: applies a target's rules for the layouts of operators, or for
// other operators in their place.
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
// `AlterOpLayout{target=mychip}` applies the rules of the target `mychip`. A
// rule returns the new call, whose attributes determine its layouts, without
// transforming its arguments. The pass inserts a layout_transform where an
// argument has another layout, and lets other operators follow, as
// ConvertLayout does. A call stays unchanged if the layout rule of its operator
// cannot determine its layouts: for example an element-wise operator on a
// parameter.

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

// The argument of a rule.
struct AlterLayoutQuery {
  // The original call, for its types.
  const CallNode& call;
  // The attributes of the call; not null if the operator has attributes.
  const Attrs& attrs;
  // The current arguments. Their layouts may have changed; the rule may ignore
  // that. New arguments have no types.
  absl::Span<const Expr> args;
};

// Returns the replacement of `query.call`: a call of an operator with as many
// tensor arguments and as many results. Null keeps the call.
using AlterLayoutRule = absl::StatusOr<Expr> (*)(const AlterLayoutQuery& query);

// The rules for `target` (`llvm`, `cuda`); if `target` is empty, the rules for
// all targets. Equal names give the same map.
OpProperty<AlterLayoutRule>& AlterLayoutRules(absl::string_view target = {});

struct AlterOpLayoutOptions {
  std::string target;

  template <typename V>
  static void VisitFields(V& v) {
    v("target", &AlterOpLayoutOptions::target,
      "The kind of target whose rules come first; empty for that of the "
      "context.");
  }
};

// A function pass of level 3, which requires InferType.
Pass AlterOpLayout(AlterOpLayoutOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_ALTER_OP_LAYOUT_H_
