// Exports products and convolutions of integers. The operands of ONNX's integer
// operators are bytes from which a zero point is subtracted.

#ifndef BATON_ONNX_EXPORT_OPS_INTEGERS_H_
#define BATON_ONNX_EXPORT_OPS_INTEGERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"

namespace baton::onnx {

// An operand: bytes, and the zero point that is subtracted from them, which is
// a value of the type of the bytes.
struct ByteFactor {
  ValueId value = kNoValue;
  DType dtype;
  int64_t zero = 0;
  // A scalar of `dtype` that is computed, in place of `zero`; or none.
  ValueId computed_zero = kNoValue;
};

// Factors whose sum is argument `i`. The argument is a tensor of bytes; a cast
// of bytes, from which a constant may be subtracted; or a constant of small
// numbers, which may need several factors. Unimplemented for other arguments.
// `zero` is added to the zero points.
absl::StatusOr<std::vector<ByteFactor>> ByteFactorsOf(CallExport& call, int i,
                                                      int64_t zero = 0);

// As ByteFactorsOf; also accepts a cast of bytes from which a cast of a single
// byte of their type is subtracted, which may be computed.
absl::StatusOr<std::vector<ByteFactor>> ByteFactorsWithZeroOf(CallExport& call,
                                                              int i);

// Converts the numbers to uint8, the only type that ONNX Runtime convolves.
ByteFactor AsUnsigned(CallExport& call, const ByteFactor& factor);

// The largest magnitude that the elements of argument `i` can have, if it is a
// tensor of bytes or a difference of bytes; nullopt for other arguments.
std::optional<int64_t> BoundOfBytes(CallExport& call, int i);

// The zero point as a scalar of the type of the bytes, computed or known.
ValueId ZeroOf(CallExport& call, const ByteFactor& factor);

// The sum of `product` of all pairs of factors, which is of int32.
ValueId SumOfProducts(
    CallExport& call, const std::vector<ByteFactor>& a,
    const std::vector<ByteFactor>& b,
    absl::FunctionRef<ValueId(const ByteFactor&, const ByteFactor&)> product);

}  // namespace baton::onnx

#endif  // BATON_ONNX_EXPORT_OPS_INTEGERS_H_
