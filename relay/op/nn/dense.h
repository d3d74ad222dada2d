// Operators of matrix products: nn.dense, nn.matmul, nn.batch_matmul.

#ifndef BATON_RELAY_OP_NN_DENSE_H_
#define BATON_RELAY_OP_NN_DENSE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/layout_rules.h"

namespace baton::relay {

struct DenseAttrs {
  std::optional<Dim> units;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.DenseAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("units", &DenseAttrs::units,
      "Width of the result; taken from the weight if not given.", kRequired);
    v("out_dtype", &DenseAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct MatmulAttrs {
  std::optional<Dim> units;
  DType out_dtype;
  bool transpose_a = false;
  bool transpose_b = false;

  static constexpr char kTypeKey[] = "relay.attrs.MatmulAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("units", &MatmulAttrs::units,
      "Width of the result; taken from the weight if not given.", kRequired);
    v("out_dtype", &MatmulAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
    v("transpose_a", &MatmulAttrs::transpose_a,
      "Whether the first operand is transposed.");
    v("transpose_b", &MatmulAttrs::transpose_b,
      "Whether the second operand is transposed.");
  }
};

struct BatchMatmulAttrs {
  DType out_dtype;
  bool transpose_a = false;
  bool transpose_b = false;

  static constexpr char kTypeKey[] = "relay.attrs.BatchMatmulAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("out_dtype", &BatchMatmulAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
    v("transpose_a", &BatchMatmulAttrs::transpose_a,
      "Whether the first operand is transposed.");
    v("transpose_b", &BatchMatmulAttrs::transpose_b,
      "Whether the second operand is transposed.");
  }
};

struct DensePackAttrs {
  std::optional<Dim> units;
  DType out_dtype;
  std::string weight_layout = "NC";

  static constexpr char kTypeKey[] = "relay.attrs.DensePackAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("units", &DensePackAttrs::units,
      "Width of the result; taken from the weight if not given.", kRequired);
    v("out_dtype", &DensePackAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
    v("weight_layout", &DensePackAttrs::weight_layout,
      "Layout of the packed weight.");
  }
};

// Relations and rules that the quantized operators share with these. The
// relations are for calls with the attributes of the operators in their names.
absl::StatusOr<Type> DenseRel(TypeRelationContext& context);
absl::StatusOr<Type> MatmulRel(TypeRelationContext& context);
absl::StatusOr<Type> BatchMatmulRel(TypeRelationContext& context);
std::optional<InferredLayouts> InferDenseLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferDensePackLayouts(const LayoutQuery& query);

}  // namespace baton::relay

namespace baton::relay::nn {

Expr Dense(Expr data, Expr weight, DenseAttrs attrs = {});
Expr Matmul(Expr tensor_a, Expr tensor_b, MatmulAttrs attrs = {});
// The right operand is transposed by default, as usual for batches of products;
// the attributes can change that.
Expr BatchMatmul(Expr tensor_a, Expr tensor_b,
                 BatchMatmulAttrs attrs = {.transpose_b = true});

}  // namespace baton::relay::nn

#endif  // BATON_RELAY_OP_NN_DENSE_H_
