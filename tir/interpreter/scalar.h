// Arithmetic on single elements, as functions of loops define it: for the
// interpreter.

#ifndef BATON_TIR_INTERPRETER_SCALAR_H_
#define BATON_TIR_INTERPRETER_SCALAR_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The value of an element: `i` for integers and bool (for uint64 its bits), `f`
// for floats.
struct Scalar {
  int64_t i = 0;
  double f = 0;
};

// `value` converted to `dtype` (one lane) from the type `from`: integers wrap,
// floats are rounded, a float becomes the integer towards zero, and the nearest
// one where it lies beyond the range (0 for NaN).
Scalar ConvertScalar(Scalar value, DType from, DType dtype);

// The result of `op` on two elements of `dtype`. Returns false if it has none:
// an integer division by zero.
bool ComputeBinary(BinaryOp op, DType dtype, Scalar a, Scalar b,
                   Scalar& result);

// The result, of type `result_dtype`, of the intrinsic `tir.NAME` on elements
// of `dtype`. Functions of floats such as `exp` equal those of the kernels, bit
// for bit. Returns false for an intrinsic that is no function of numbers.
bool ComputeIntrinsic(absl::string_view name, DType dtype, DType result_dtype,
                      absl::Span<const Scalar> args, Scalar& result);

// The result of the function `name` of the C library on doubles. Returns false
// if it is not known.
bool ComputeExtern(absl::string_view name, absl::Span<const Scalar> args,
                   Scalar& result);

// Loads and stores an element of `dtype` (one lane) at `bytes`, which has
// ElementBytes(dtype) bytes.
int64_t ElementBytes(DType dtype);
Scalar LoadScalar(DType dtype, const char* bytes);
void StoreScalar(DType dtype, Scalar value, char* bytes);

}  // namespace baton::tir

#endif  // BATON_TIR_INTERPRETER_SCALAR_H_
