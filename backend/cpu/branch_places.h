// Where to compute what several branches of a function share.
//
// A branch is a region that is executed only if its condition says so. What
// branches of several regions need can be computed in a region around them or
// again in each. If each branch computed again the branch before it, the copies
// would double with each branch of a chain.

#ifndef BATON_BACKEND_CPU_BRANCH_PLACES_H_
#define BATON_BACKEND_CPU_BRANCH_PLACES_H_

#include <array>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/base/hash_table.h"
#include "baton/relay/ir/expr.h"

namespace baton::cpu {

// The nodes that are computed at the start of a region, in this order.
struct RegionStart {
  struct Item {
    const ExprNode* node;
    // True if the region may not need the value. The computation then cannot
    // fail and has no loops; the caller leaves it out if it is Unimplemented.
    bool is_early;
  };
  std::vector<Item> items;
  std::vector<const relay::LetNode*> lets;  // whose values are among `items`
};

// Points into the expression.
struct BranchPlaces {
  RegionStart root;
  // The true branch and the false branch.
  FlatHashMap<const relay::IfNode*, std::array<RegionStart, 2>> branches;
};

// Places what the branches of `root` share. A node is computed in the innermost
// region that surely needs it, for all regions inside; in several regions if
// none of them is in another. A branch that would have more than a few copies
// is computed early instead, before all branches that may need it, if it cannot
// fail. Nodes for which `is_known` is true have values already; bodies of
// functions are not entered. Regions more than `max_depth` deep give no places.
BranchPlaces PlaceBranches(const ExprNode* root,
                           absl::FunctionRef<bool(const ExprNode*)> is_known,
                           int max_depth);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_BRANCH_PLACES_H_
