// Values that buffers are known to have at each statement.
//
//   KnownValues known(function->body());
//   known.SimplifyAt(condition, stmt, analyzer);
//
// Stores of values without loads, and `T.assume(A[i] == value)`, make elements
// known; the knowledge flows along the control flow, through loops and
// branches, to where other stores end it.

#ifndef BATON_TIR_TRANSFORM_KNOWN_VALUES_H_
#define BATON_TIR_TRANSFORM_KNOWN_VALUES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

class KnownValues {
 public:
  explicit KnownValues(const Stmt& body);

  // Simplifies `e`, which occurs in the statement `at` of the body.
  PrimExpr SimplifyAt(const PrimExpr& e, const Stmt& at,
                      Analyzer& analyzer) const;

 private:
  friend class KnownValuesBuilder;

  // The elements of a buffer where `predicate`, a condition on the variables of
  // its axes, is true; and their value.
  struct Touch {
    enum Kind { kRead, kWrite, kAssume };
    Buffer buffer;
    PrimExpr predicate;
    PrimExpr value;
    // The loops around, with their variables as expressions of the axes.
    std::vector<std::pair<Var, PrimExpr>> loops;
    Kind kind = kAssume;

    // True in iterations from that of the touch on.
    PrimExpr AfterIteration() const;
  };

  // The known elements at one point.
  class State {
   public:
    std::vector<Touch> knowns;

    void AddCondition(const PrimExpr& condition);
    void Substitute(const VarMap<PrimExpr>& values, Analyzer& analyzer);
    void Unite(const State& other, Analyzer& analyzer);
    void Intersect(const State& other, Analyzer& analyzer);
    void Apply(const KnownValues& graph, const std::vector<Touch>& touches,
               Analyzer& analyzer);
    void RemoveFree(const VarRanges& free, Analyzer& analyzer);
    bool SameAs(const State& other, Analyzer& analyzer) const;
  };

  struct Edge {
    size_t block;
    VarMap<PrimExpr> values;
    PrimExpr condition;  // true after the edge; null: unknown
  };
  struct Loop {
    Var var;
    Range range;
  };
  struct Block {
    std::vector<Loop> loops;
    VarMap<PrimExpr> lets;
    PrimExpr predicate;
    std::vector<Touch> touches;
    std::vector<Edge> predecessors;
    std::vector<Edge> successors;
    State at_start;
    State at_end;
  };

  const std::vector<Var>& AxesOf(const Buffer& buffer,
                                 absl::Span<const PrimExpr> indices);
  const std::vector<Var>* FindAxes(const Buffer& buffer) const;
  Touch MakeTouch(const Block& block, const Buffer& buffer,
                  const std::vector<PrimExpr>& indices, Touch::Kind kind,
                  const PrimExpr& value);
  void Propagate();
  State StateAtStart(const Block& block, const std::vector<int>& visits,
                     Analyzer& analyzer) const;
  PrimExpr ReplaceLoads(const PrimExpr& e, const State& state,
                        Analyzer& analyzer) const;

  static constexpr int kMaxVisits = 5;

  std::vector<Block> blocks_;
  NodeMap<size_t> block_of_;
  VarRanges iterators_;
  VarRanges free_;
  std::vector<std::pair<Buffer, std::vector<Var>>> axes_;
  std::vector<PrimExpr> assumptions_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_KNOWN_VALUES_H_
