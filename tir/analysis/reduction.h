// Reductions of blocks: their reducers, operands and properties.
//
//   with T.init():                          reducer lambda x, y: x + y,
//       C[vi] = T.float32(0)                identity 0
//   C[vi] = C[vi] + A[vi, vk]               lhs C[vi], rhs A[vi, vk]

#ifndef BATON_TIR_ANALYSIS_REDUCTION_H_
#define BATON_TIR_ANALYSIS_REDUCTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// The lists have an element for each buffer of the reduction.
struct Reduction {
  std::vector<PrimExpr> identities;
  std::vector<BufferStore> updates;
  CommReducer reducer;
  // Operands of the reducer: what the buffer holds, and what is added to it.
  std::vector<PrimExpr> lhs;
  std::vector<PrimExpr> rhs;
};

// The reduction of a block with an initialization. Several buffers are reduced
// at once if the body binds their new values to variables and then stores
// these. An error says which condition does not hold, or that no reducer
// matches.
absl::StatusOr<Reduction> FindReduction(const Block& block);

// The known reducers of values with the types of `identities`: sums, products,
// minima, maxima, pairs of sums, and indices of minima and maxima.
std::vector<CommReducer> KnownReducers(absl::Span<const PrimExpr> identities);

// The results of `reducer` for given operands.
std::vector<PrimExpr> ApplyReducer(const CommReducerNode* reducer,
                                   absl::Span<const PrimExpr> lhs,
                                   absl::Span<const PrimExpr> rhs);

// The least and the greatest finite value of `dtype`.
PrimExpr MinValue(DType dtype);
PrimExpr MaxValue(DType dtype);

// True if the values of the variables of the block are an affine map of the
// loops, each with scale 1.
bool IsAffineBinding(const BlockRealizeNode* realize,
                     const VarRanges& loop_ranges, Analyzer& analyzer);

// True if no variable of the block is of another kind than spatial and
// reduction.
bool HasOnlySpatialAndReduceVars(const BlockNode* block);

// True if indices of stores use a variable of the reduction.
bool ReduceVarsIndexOutput(const BlockNode* block);

// The loop variables in the bindings of the reduction variables of the block.
std::vector<Var> VarsOfReduceBindings(const BlockRealizeNode* realize);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_REDUCTION_H_
