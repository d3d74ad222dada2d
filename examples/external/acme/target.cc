// Rules of Acme's compiler for Legalize{target=acme} and
// AlterOpLayout{target=acme}.

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/transform/alter_op_layout.h"
#include "baton/relay/transform/legalize.h"

namespace acme {
namespace {

using baton::Expr;
using baton::relay::Add;
using baton::relay::Const;
using baton::relay::Multiply;
using baton::relay::Tanh;

// The hardware has tanh, and computes sigmoid(x) as (tanh(x / 2) + 1) / 2.
absl::StatusOr<Expr> SigmoidByTanh(const baton::relay::CallNode& call,
                                   absl::Span<const Expr> args) {
  const auto* type = call.type().As<baton::TensorTypeNode>();
  if (type == nullptr || type->dtype() != baton::DType::Float(32)) {
    return Expr();  // The call stays.
  }
  const Expr half = Const(0.5f);
  return Add(Multiply(Tanh(Multiply(args[0], half)), half), half);
}
BATON_EXTEND_OP("sigmoid").Set(baton::relay::LegalizationRules("FTVMLegalize",
                                                               "acme"),
                               SigmoidByTanh);

// Convolutions work on pixels, channels last. The pass transforms the operands,
// and lets what follows work in the same layout.
absl::StatusOr<Expr> ChannelsLast(const baton::relay::AlterLayoutQuery& query) {
  baton::relay::Conv2DAttrs attrs =
      *query.attrs.As<baton::relay::Conv2DAttrs>();
  if (attrs.data_layout != "NCHW" || attrs.kernel_layout != "OIHW") {
    return Expr();  // The call stays.
  }
  attrs.data_layout = "NHWC";
  attrs.kernel_layout = "HWIO";
  return baton::relay::Call(query.call.op(), query.args,
                            baton::Attrs::Make(std::move(attrs)));
}
BATON_EXTEND_OP("nn.conv2d")
    .Set(baton::relay::AlterLayoutRules("acme"), ChannelsLast);

}  // namespace
}  // namespace acme
