// Products and convolutions of integers: ONNX has them of bytes less a zero
// point.

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

// Bytes less a zero point, which is one of their numbers.
struct ByteFactor {
  ValueId value = kNoValue;
  DType dtype;
  int64_t zero = 0;
  // A scalar of `dtype` that is computed, in place of `zero`; or none.
  ValueId computed_zero = kNoValue;
};

// Factors whose sum is argument `i`: bytes; a cast of bytes, less a constant or
// not; or a constant of small numbers, which may take several. Unimplemented
// for others. `zero` is what is subtracted from bytes besides.
absl::StatusOr<std::vector<ByteFactor>> ByteFactorsOf(CallExport& call, int i,
                                                      int64_t zero = 0);

// Argument `i` if it is a cast of bytes less a cast of one byte of their type,
// which may be computed; otherwise as ByteFactorsOf.
absl::StatusOr<std::vector<ByteFactor>> ByteFactorsWithZeroOf(CallExport& call,
                                                              int i);

// Converts the numbers to uint8, the only type that ONNX Runtime convolves.
ByteFactor AsUnsigned(CallExport& call, const ByteFactor& factor);

// The largest magnitude that the elements of argument `i` can have if it is
// bytes, or bytes less bytes that may be computed; nullopt of others.
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
