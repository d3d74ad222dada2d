#include "baton/relay/transform/qnn_legalize.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/legalize.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Every pattern of the bits of `dtype`, counted up, taken for a `dtype`.
absl::StatusOr<Tensor> AllElements(DType dtype) {
  const int64_t size = int64_t{1} << dtype.bits();
  BATON_ASSIGN_OR_RETURN(MutableTensor elements,
                         MutableTensor::Create(dtype, {size}));
  VisitDType(dtype, [&]<typename T>() {
    for (int64_t i = 0; i < size; ++i) {
      elements.span<T>()[i] = static_cast<T>(i);
    }
  });
  return std::move(elements).Freeze();
}

// A look-up in a table of the results of `kFunction`, a function of real
// numbers, for each element. Scales and zero points must be constant scalars,
// and elements have 16 bits at most.
template <Expr (*kFunction)(Expr)>
absl::StatusOr<Expr> ToTable(const CallNode& call,
                             absl::Span<const Expr> args) {
  constexpr int kMaxBits = 16;
  const TensorTypeNode* type = call.arg(0)->tensor_type();
  if (type == nullptr || !type->dtype().is_integral() ||
      type->dtype().bits() > kMaxBits || !type->dtype().IsStorable()) {
    return Expr();
  }
  for (size_t i = 1; i < args.size(); ++i) {
    if (!ConstantScalar(args[i]).has_value()) return Expr();
  }
  const DType dtype = type->dtype();
  BATON_ASSIGN_OR_RETURN(Tensor elements, AllElements(dtype));
  const Expr real =
      qnn::Dequantize(Const(std::move(elements)), {args[1], args[2]});
  BATON_ASSIGN_OR_RETURN(
      Expr table,
      FoldConstantInExpr(qnn::Quantize(kFunction(real), {args[3], args[4]},
                                       {.out_dtype = dtype}),
                         {.fold_qnn = true}));
  if (!table.Is<ConstantNode>()) return Expr();
  return Take(std::move(table), Reinterpret(args[0], DType::UInt(dtype.bits())),
              {.axis = 0, .mode = "fast"});
}

// `data` in 16 bits, less the zero point.
absl::StatusOr<Expr> Shifted(const Expr& data, const Expr& zero_point,
                             const Expr& typed_zero_point) {
  constexpr DType kInt16 = DType::Int(16);
  const TensorTypeNode* type = typed_zero_point->tensor_type();
  if (type == nullptr) {
    return absl::FailedPreconditionError("a zero point has no type");
  }
  Expr wide = Cast(data, kInt16);
  Expr zero = Cast(zero_point, kInt16);
  if (type->rank() == 0) return Subtract(std::move(wide), std::move(zero));
  return nn::BiasAdd(std::move(wide), Negative(std::move(zero)));
}

absl::StatusOr<Expr> ToConv2DTranspose(const CallNode& call,
                                       absl::Span<const Expr> args) {
  BATON_ASSIGN_OR_RETURN(Expr data, Shifted(args[0], args[2], call.arg(2)));
  BATON_ASSIGN_OR_RETURN(Expr kernel, Shifted(args[1], args[3], call.arg(3)));
  return Expr(Call(BATON_OP("nn.conv2d_transpose"),
                   {std::move(data), std::move(kernel)}, call.attrs()));
}

constexpr char kLegalize[] = "FTVMQnnLegalize";

[[maybe_unused]] const bool kRegistered = [] {
  auto& rules = LegalizationRules(kLegalize);
  const auto set = [&rules](absl::string_view name, LegalizationRule rule) {
    OpExtension(name).Set(rules, rule);
  };
  set("qnn.abs", ToTable<Abs>);
  set("qnn.erf", ToTable<Erf>);
  set("qnn.exp", ToTable<Exp>);
  set("qnn.hardswish", ToTable<qnn::RealHardSwish>);
  set("qnn.log", ToTable<Log>);
  set("qnn.rsqrt", ToTable<Rsqrt>);
  set("qnn.sigmoid", ToTable<Sigmoid>);
  set("qnn.sqrt", ToTable<Sqrt>);
  set("qnn.tanh", ToTable<Tanh>);
  set("qnn.conv2d_transpose", ToConv2DTranspose);
  return true;
}();

}  // namespace

Pass QnnLegalize(QnnLegalizeOptions options) {
  return CreateLegalizationPass(
      kLegalize, options.target,
      {.name = "qnn.Legalize",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Writes operators on quantized tensors in a form that suits a "
              "target.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false},
      options);
}
BATON_REGISTER_PASS_AS("qnn.Legalize", QnnLegalize);

}  // namespace baton::relay
