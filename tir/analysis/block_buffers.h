// Computes properties of the buffers of blocks: alignments, extents of
// allocations, regions of matched buffers.

#ifndef BATON_TIR_ANALYSIS_BLOCK_BUFFERS_H_
#define BATON_TIR_ANALYSIS_BLOCK_BUFFERS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// The annotation `buffer_dim_align` of a block or allocation: a list of lists
// [index of the written buffer, axis, factor, offset].
struct DimAlign {
  int64_t buffer_index = 0;  // -1 in allocations
  int64_t axis = 0;
  int64_t factor = 0;
  int64_t offset = 0;
};
inline constexpr char kBufferDimAlign[] = "buffer_dim_align";

// The alignments in a value of the annotation, without entries that are not a
// list of four integers.
std::vector<DimAlign> DimAlignsOf(const PrimExpr& annotation);
PrimExpr MakeDimAligns(absl::Span<const DimAlign> aligns);
// The alignments in `body` by the pointer of the aligned buffer.
FlatHashMap<const VarNode*, std::vector<DimAlign>> CollectDimAligns(
    const Stmt& body);

// The extents of the memory of `buffer`: its shape, enlarged by the gaps that
// its strides leave.
std::vector<PrimExpr> AllocationShape(const Buffer& buffer);

// The range of each axis of `buffer`.
std::vector<Range> FullRegion(const Buffer& buffer);

// Convert indices and a region of a buffer that matches `source` to indices and
// a region of the buffer of `source`.
std::vector<PrimExpr> SourceIndices(const BufferRegion& source,
                                    absl::Span<const PrimExpr> indices);
std::vector<Range> SourceRegion(const BufferRegion& source,
                                absl::Span<const Range> region);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_BLOCK_BUFFERS_H_
