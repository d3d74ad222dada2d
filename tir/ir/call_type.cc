#include "baton/tir/ir/call_type.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/ir/type.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

Type CallTypeOf(const PrimFuncNode::Parts& parts) {
  const AttrValue* attr = parts.attrs.Find(kNumInputs);
  const auto* inputs = attr == nullptr ? nullptr : attr->As<int64_t>();
  const size_t size = parts.params.size();
  if (inputs == nullptr || *inputs < 0 ||
      *inputs >= static_cast<int64_t>(size) || parts.buffers.size() != size) {
    return {};
  }
  std::vector<Type> types;
  for (const ParamBuffer& param : parts.buffers) {
    if (!param.buffer.defined() || !param.buffer.dtype().IsStorable()) {
      return {};
    }
    std::vector<int64_t> shape;
    for (const PrimExpr& extent : param.buffer->shape()) {
      const auto* number = extent.As<IntImmNode>();
      if (number == nullptr || number->value() < 0) return {};
      shape.push_back(number->value());
    }
    types.push_back(TensorType::Of(shape, param.buffer.dtype()));
  }
  std::vector<Type> results(types.begin() + *inputs, types.end());
  types.resize(static_cast<size_t>(*inputs));
  Type result = results[0];
  if (results.size() > 1) result = TupleType(std::move(results));
  return FuncType(std::move(types), std::move(result), {});
}

}  // namespace baton::tir
