// Common code of the passes that combine parallel calls: CombineParallelConv2d,
// CombineParallelDense and CombineParallelBatchMatmul.
//
// Calls of one operator on the same data are branches. The branches of a group
// become one call, on their combined other arguments, and each branch takes its
// part of the result. Element-wise and broadcasting calls that follow in all
// branches are combined as well, while each has no other user.
//
//     data             data
//    /    |             |
//   op    op            op
//   |     |             |
//   add   add          add
//                      /   |
//               slice of   slice of

#ifndef BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_H_
#define BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// Calls of one operator, one for each branch, to combine into one call.
struct ParallelCalls {
  size_t size() const { return calls.size(); }
  const TensorTypeNode& type(size_t branch) const {
    return *calls[branch]->tensor_type();
  }
  const TensorTypeNode& arg_type(size_t branch, int k) const {
    return *calls[branch]->arg(k)->tensor_type();
  }
  // The current argument `k` in all branches.
  std::vector<Expr> Args(int k) const {
    std::vector<Expr> result;
    for (const std::vector<Expr>& of_branch : args) {
      result.push_back(of_branch[k]);
    }
    return result;
  }

  // The original calls; they and their arguments are tensors.
  std::vector<const CallNode*> calls;
  std::vector<std::vector<Expr>> args;
  // The argument that is the preceding call in the branch; -1 for the first.
  int parent = -1;
};

// The combination of calls of one operator.
class ParallelCombiner {
 public:
  virtual ~ParallelCombiner() = default;

  virtual const Op& op() const = 0;
  // True if the call can be combined with others. Here and below, calls and
  // their arguments are tensors.
  virtual bool IsSupported(const CallNode& call) const = 0;
  // A hash for grouping: calls that can be combined have equal keys.
  virtual uint64_t Key(const CallNode& call) const = 0;
  // True if `a` and `b`, whose keys are equal, can be combined.
  virtual bool CanBeCombined(const CallNode& a, const CallNode& b) const = 0;
  // Returns a call that computes all of `first`, the calls at which branches
  // begin.
  virtual Expr Combine(const ParallelCalls& first) const = 0;

  // True if argument `k` of `a` can be combined with that of `b`. `a` and `b`
  // follow a combined call, their argument `parent`, in branches that begin
  // with `first`.
  virtual bool CanArgsBeCombined(const CallNode& first, const CallNode& a,
                                 const CallNode& b, int parent,
                                 int k) const = 0;
  // Combines the following calls into one call whose argument
  // `following.parent` is `data`.
  virtual Expr CombineFollowing(const Expr& data, const CallNode& first,
                                const ParallelCalls& following) const = 0;

  // True if a result of type `combined` consists of the results of `calls`, so
  // that Parts() finds them.
  virtual bool IsCombined(const TensorTypeNode& combined,
                          const ParallelCalls& first,
                          const ParallelCalls& calls) const = 0;
  // The replacements of `calls`.
  virtual std::vector<Expr> Parts(const Expr& combined,
                                  const ParallelCalls& first,
                                  const ParallelCalls& calls) const = 0;
};

// Combines all groups of at least `min_num_branches` calls (and at least two)
// that can be combined. Skips branches whose arguments other than the data may
// have an effect, bind variables, or use variables that other branches cannot
// use, and groups that would depend on their own results. The program must have
// types. Linear in its size.
Expr CombineParallelCalls(const Expr& expr, const ParallelCombiner& combiner,
                          int64_t min_num_branches);

// True if `a` and `b` have the same element type and the same shape, ignoring
// the extent of axis `axis` (-1: none).
bool SameUpToAxis(const TensorTypeNode& a, const TensorTypeNode& b, int axis);

// As SameUpToAxis, and each extent of `a` is known.
bool CanBePutTogether(const TensorTypeNode& a, const TensorTypeNode& b,
                      int axis);

// True if a tensor of type `combined` can be the concatenation of the results
// of `calls` along `axis`, where call i has extents[i] elements.
bool IsConcatenation(const TensorTypeNode& combined, const ParallelCalls& calls,
                     int axis, absl::Span<const int64_t> extents);

// The strided_slice of `combined` along `axis` for each of `extents`, its
// number of elements. Their `begin` and `end` have entries for the first `rank`
// axes.
std::vector<Expr> SlicesAlong(const Expr& combined, int axis, int rank,
                              absl::Span<const int64_t> extents);

struct CombineParallelOptions {
  int64_t min_num_branches = 3;

  template <typename V>
  static void VisitFields(V& v) {
    v("min_num_branches", &CombineParallelOptions::min_num_branches,
      "The least number of calls that are combined; at least two.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_H_
