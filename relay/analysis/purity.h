// Which expressions of a module may have an effect when they are evaluated.
//
// Effects are reads and writes of references, calls of operators that are
// stateful (StatefulOps), and calls of functions that are not known to be free
// of effects: Extern ones and those that are not in the module, parameters,
// and functions taken from tuples, references or data. A function literal has
// no effect, but a call of it has those of its body. What an annotation or a
// call returns may be its argument.
//
// Reference behaviour: PurityVisitor of TVM, but without its limit on the depth
// of calls; recursive functions, and the value that a reference is created
// with, follow the same rules as all other expressions.

#ifndef BATON_RELAY_ANALYSIS_PURITY_H_
#define BATON_RELAY_ANALYSIS_PURITY_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/relay/analysis/indexed_graph.h"

namespace baton::relay {

class Purity {
 public:
  // `graphs` are the functions of `module`, in order. They must have types: a
  // value without a type counts as a function that may have an effect. O(n).
  Purity(const IRModule& module, absl::Span<const IndexedGraph> graphs);

  // Whether evaluating node `i` of the f-th function may have an effect.
  bool MayHaveEffect(int f, int i) const {
    return !effects_.empty() && effects_[2 * (first_node_[f] + i)];
  }

 private:
  std::vector<size_t> first_node_;  // of each function, counted over all
  // For each node, whether evaluating it may have an effect and, if it is a
  // function, whether calling it may. Empty if nothing has one.
  std::vector<bool> effects_;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_PURITY_H_
