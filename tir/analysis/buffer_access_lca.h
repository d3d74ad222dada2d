// Finds the lowest common ancestor of the accesses of each buffer.
//
//   for i in range(16):
//       B[i] = A[i]        # the ancestor of B's accesses is the loop over i
//       C[i] = B[i] + 1

#ifndef BATON_TIR_ANALYSIS_BUFFER_ACCESS_LCA_H_
#define BATON_TIR_ANALYSIS_BUFFER_ACCESS_LCA_H_

#include <vector>

#include "baton/base/hash_table.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

struct BufferAccessLca {
  // Buffers that are accessed, in order of their first access. Buffers that
  // match a region are not listed: their sources are.
  std::vector<Buffer> buffers;
  // By buffer: the innermost loop (For) or block (Block) that has all accesses;
  // null if there is none, so that only the function has them. Some accesses
  // count as outside of the loops around them: those of global memory, outside
  // of loops that are bound to `blockIdx`; those whose indices use an opaque or
  // ordered variable of a block, outside of the loops that give the variable
  // its value; those of the result of a reduction, outside of the loops that
  // are reduced over.
  FlatHashMap<const BufferNode*, const StmtNode*> ancestors;
};

BufferAccessLca FindBufferAccessLca(const PrimFunc& function);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_BUFFER_ACCESS_LCA_H_
