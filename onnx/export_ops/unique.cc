// Exporter of unique.

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/relay/op/tensor/sequence.h"

namespace baton::onnx {
namespace {

// All but the inverse indices are padded to the length of the data.
absl::StatusOr<Values> Unique(CallExport& call) {
  const auto& attrs = call.attrs<relay::UniqueAttrs>();
  const Values unique =
      call.Nodes("Unique", {call.Arg(0)},
                 NodeAttributes().Int("sorted", attrs.sorted ? 1 : 0), 4);
  const ValueId count = call.Node("Shape", {unique[0]});
  const ValueId length = call.Node("Shape", {call.Arg(0)});
  const ValueId missing = call.Node("Sub", {length, count});
  const auto padded = [&](ValueId value,
                          DType dtype) -> absl::StatusOr<ValueId> {
    BATON_ASSIGN_OR_RETURN(const Tensor zero, Tensor::Zeros(dtype, {1}));
    const ValueId zeros =
        call.Node("ConstantOfShape", {missing},
                  NodeAttributes().TensorValue("value", zero));
    return call.Node("Concat", {value, zeros}, NodeAttributes().Int("axis", 0));
  };
  const auto narrow = [&](ValueId value) {
    return call.Cast(value, DType::Int(64), DType::Int(32));
  };
  BATON_ASSIGN_OR_RETURN(const ValueId values,
                         padded(unique[0], call.ElementType(0)));
  BATON_ASSIGN_OR_RETURN(const ValueId indices,
                         padded(unique[1], DType::Int(64)));
  Values result = {values, narrow(indices), narrow(unique[2]), narrow(count)};
  if (attrs.return_counts) {
    BATON_ASSIGN_OR_RETURN(const ValueId counts,
                           padded(unique[3], DType::Int(64)));
    result.push_back(narrow(counts));
  }
  return result;
}

BATON_EXTEND_OP("unique").Set(OnnxExporters(), Unique);

}  // namespace
}  // namespace baton::onnx
