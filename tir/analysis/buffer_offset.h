// Computes offsets of elements of buffers, and flattens buffers.
//
//   ElementOffset(A, {i, j})   // A of shape (16, 8): {i * 8 + j}
//   FlattenedBuffer(A)         // A of shape (128,)
//   NumElements({16, 8})       // 128

#ifndef BATON_TIR_ANALYSIS_BUFFER_OFFSET_H_
#define BATON_TIR_ANALYSIS_BUFFER_OFFSET_H_

#include <vector>

#include "absl/types/span.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The simplified offset of the element at `indices`, one for each group of axes
// that the buffer's separators make. The buffer has as many axes as there are
// indices, and as many strides if it has any.
std::vector<PrimExpr> ElementOffset(const Buffer& buffer,
                                    absl::Span<const PrimExpr> indices);

// The buffer with one axis for each group, on the same memory. The same buffer
// if it has such a shape and no strides.
Buffer FlattenedBuffer(const Buffer& buffer);

// A buffer of bool as one of int8, which it is in memory; others as they are.
Buffer AsBytesIfBool(const Buffer& buffer);

// The product of `extents`; 1 if there are none.
PrimExpr NumElements(absl::Span<const PrimExpr> extents);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_BUFFER_OFFSET_H_
