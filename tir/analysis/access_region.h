// Finds the regions of buffers that a block reads and writes.
//
//   with T.block("B"):             reads A[0:16, vi], writes B[vi]
//       vi = T.axis.spatial(16, i)
//       for k in range(16):
//           B[vi] = B[vi] + A[k, vi]

#ifndef BATON_TIR_ANALYSIS_ACCESS_REGION_H_
#define BATON_TIR_ANALYSIS_ACCESS_REGION_H_

#include <vector>

#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

struct AccessRegions {
  // In order of the first access.
  std::vector<BufferRegion> reads;
  std::vector<BufferRegion> writes;
  // Regions of buffers whose pointers are used.
  std::vector<BufferRegion> opaque;
};

// The buffers that are defined outside of a block, by pointer. Accesses of
// other buffers are not reported.
using BuffersByPointer = VarMap<Buffer>;

// Finds the accesses in the body and the initialization of `block`, over all
// values of the loops inside. A block inside accesses the regions that it
// declares. A region that the initialization writes is not reported as read.
AccessRegions FindBlockAccessRegions(const Block& block,
                                     const BuffersByPointer& buffers);

// Access regions as two lists: opaque accesses are in both.
struct ReadWriteRegions {
  std::vector<BufferRegion> reads;
  std::vector<BufferRegion> writes;
};
ReadWriteRegions FindBlockReadWriteRegions(const Block& block,
                                           const BuffersByPointer& buffers);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_ACCESS_REGION_H_
