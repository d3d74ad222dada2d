// What the passes that combine parallel calls share: CombineParallelConv2d,
// CombineParallelDense and CombineParallelBatchMatmul.
//
// Calls of one operator on the same data are branches. Branches of one group
// become one call, on what their other arguments are together, and each takes
// its part of the result. Element-wise and broadcasting calls that follow in
// all branches are combined as well, as long as each has no other user.
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
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// Calls of one operator that become one, one call a branch.
struct ParallelCalls {
  size_t size() const { return calls.size(); }
  const TensorTypeNode& type(size_t branch) const {
    return *calls[branch]->tensor_type();
  }
  const TensorTypeNode& arg_type(size_t branch, int k) const {
    return *calls[branch]->arg(k)->tensor_type();
  }
  // Argument `k` in all branches, as it is now.
  std::vector<Expr> Args(int k) const {
    std::vector<Expr> result;
    for (const std::vector<Expr>& of_branch : args) {
      result.push_back(of_branch[k]);
    }
    return result;
  }

  // As they were; they and their arguments are tensors.
  std::vector<const CallNode*> calls;
  std::vector<std::vector<Expr>> args;
  // The argument that is the call before in the branch; -1 in the first.
  int parent = -1;
};

// How calls of an operator are combined.
class ParallelCombiner {
 public:
  virtual ~ParallelCombiner() = default;

  virtual const Op& op() const = 0;
  // Whether the call can be combined with others at all. It and its arguments
  // are tensors, here and below.
  virtual bool IsSupported(const CallNode& call) const = 0;
  // The same number for calls that can be combined.
  virtual uint64_t Key(const CallNode& call) const = 0;
  virtual bool CanBeCombined(const CallNode& a, const CallNode& b) const = 0;
  virtual Expr Combine(const ParallelCalls& first) const = 0;

  // Whether argument `k` of `a` can be put together with that of `b`, in calls
  // that follow a combined one, their argument `parent`, in branches that begin
  // with `first`.
  virtual bool CanArgsBeCombined(const CallNode& first, const CallNode& a,
                                 const CallNode& b, int parent,
                                 int k) const = 0;
  // The calls that follow, as one call whose argument `following.parent` is
  // `data`.
  virtual Expr CombineFollowing(const Expr& data, const CallNode& first,
                                const ParallelCalls& following) const = 0;

  // Whether a result of this type is made of the results of `calls`, so that
  // Parts() finds them.
  virtual bool IsCombined(const TensorTypeNode& combined,
                          const ParallelCalls& first,
                          const ParallelCalls& calls) const = 0;
  // What replaces each of `calls`.
  virtual std::vector<Expr> Parts(const Expr& combined,
                                  const ParallelCalls& first,
                                  const ParallelCalls& calls) const = 0;
};

// Combines all groups of at least `min_num_branches` calls (and at least two)
// that can be. Left alone are branches whose arguments other than the data may
// have an effect, bind variables, or use some that others do not see, and
// groups that would depend on their own results. The program must have types.
// O(n).
Expr CombineParallelCalls(const Expr& expr, const ParallelCombiner& combiner,
                          int64_t min_num_branches);

// Whether `a` and `b` have the same element type and the same shape, up to the
// extent of axis `axis` (-1: none).
bool SameUpToAxis(const TensorTypeNode& a, const TensorTypeNode& b, int axis);

// The same, and each extent of `a` is known.
bool CanBePutTogether(const TensorTypeNode& a, const TensorTypeNode& b,
                      int axis);

// Whether a tensor of type `combined` can be the concatenation of the results
// of `calls` along `axis`, on which each has as many elements as given.
bool IsConcatenation(const TensorTypeNode& combined, const ParallelCalls& calls,
                     int axis, absl::Span<const int64_t> extents);

// Slices of `combined` along `axis` that have as many elements as given; they
// name the first `rank` axes.
std::vector<Expr> SlicesAlong(const Expr& combined, int axis, int rank,
                              absl::Span<const int64_t> extents);

struct CombineParallelOptions {
  int64_t min_num_branches = 3;

  template <typename V>
  static void VisitFields(V& v) {
    v("min_num_branches", &CombineParallelOptions::min_num_branches,
      "How many calls there must be to be combined; two at least.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_H_
