// Purity: finds the expressions of a module that may have effects.
//
// Effects are reads and writes of references, calls of stateful operators
// (StatefulOps), and calls of functions that are not proved free of effects:
// Extern functions, functions that are not in the module, parameters, and
// functions taken from tuples, references or data. A function literal has no
// effect, but a call of it has the effects of its body. The value of an
// annotation or a call may be its argument.
//
// Reference behaviour: PurityVisitor of TVM, but without its limit of the depth
// of calls. Recursive functions, and the initial value of a reference, follow
// the same rules as all other expressions.

#ifndef BATON_RELAY_ANALYSIS_PURITY_H_
#define BATON_RELAY_ANALYSIS_PURITY_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/relay/analysis/indexed_graph.h"

namespace baton::relay {

// The effects of the nodes of a module.
class Purity {
 public:
  // `graphs` are the functions of `module`, in order. They must have types: a
  // value without a type counts as a function that may have an effect. O(n).
  Purity(const IRModule& module, absl::Span<const IndexedGraph> graphs);

  // True if evaluating node `i` of the f-th function may have an effect.
  bool MayHaveEffect(int f, int i) const {
    return !effects_.empty() && effects_[2 * (first_node_[f] + i)];
  }

 private:
  std::vector<size_t> first_node_;  // of each function, numbered over all
                                    // functions
  // Two bits for each node: evaluating it may have an effect; calling it, if it
  // is a function, may have an effect. Empty if there are no effects.
  std::vector<bool> effects_;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_PURITY_H_
