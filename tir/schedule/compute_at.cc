// Steps that move a block into a loop of its consumers or producers.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {
namespace {

using Region = std::vector<IntSet>;

PrimExpr Zero(const PrimExpr& like) { return IntImm(like.dtype(), 0); }
PrimExpr One(const PrimExpr& like) { return IntImm(like.dtype(), 1); }
PrimExpr FloorDiv(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kFloorDiv, a, b);
}
// Operations on bounds: infinite if one of them is.
template <typename F>
PrimExpr IfFinite(const PrimExpr& e, F f) {
  return e.defined() ? PrimExpr(f(e)) : e;
}

bool SameBound(Analyzer& analyzer, const PrimExpr& a, const PrimExpr& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return analyzer.CanProveEqual(a, b);
}

// The values of a variable that are necessary, and those that are possible.
struct VarDomain {
  IntSet necessary;
  IntSet possible;

  void Extend(const VarDomain& other) {
    necessary = Union({{necessary, other.necessary}});
    possible = Union({{possible, other.possible}});
  }

  // Afterwards `possible` is Nothing where it does not limit `necessary`.
  void Simplify(Analyzer& analyzer) {
    const auto simplified = [&](const IntSet& set) {
      const auto simplify = [&](const PrimExpr& e) {
        return analyzer.Simplify(e);
      };
      return IntSet::Interval(IfFinite(set.min(), simplify),
                              IfFinite(set.max(), simplify));
    };
    if (necessary.IsNothing()) {
      if (possible.HasLowerBound() && possible.HasUpperBound()) {
        necessary = simplified(possible);
        possible = IntSet::Nothing();
      }
      return;
    }
    necessary = simplified(necessary);
    possible = simplified(possible);
    const IntSet both = simplified(Intersect({{necessary, possible}}));
    const auto equals = [&](const IntSet& set) {
      return SameBound(analyzer, set.min(), both.min()) &&
             SameBound(analyzer, set.max(), both.max());
    };
    if (equals(necessary)) {
      possible = IntSet::Nothing();
    } else if (equals(possible)) {
      necessary = possible;
      possible = IntSet::Nothing();
    }
  }
};

// The domain of the variable of which the index `provided` is an expression,
// where the index must have the values of `required` of an axis with the last
// index `last`. False if the expression is of no form that can be solved.
bool SolveDomain(const IntSet& provided, const IntSet& required,
                 const PrimExpr& last, Analyzer& analyzer, Var& var,
                 VarDomain& domain) {
  if (!provided.HasLowerBound() || !provided.HasUpperBound()) return false;
  const auto simplify = [&](const PrimExpr& e) { return analyzer.Simplify(e); };
  const PrimExpr first = analyzer.Simplify(provided.min());
  const PrimExpr provided_max = analyzer.Simplify(provided.max());
  const PrimExpr min = IfFinite(required.min(), simplify);
  const PrimExpr max = IfFinite(required.max(), simplify);
  if (const BinaryNode* product = AsBinary(first, BinaryOp::kMul)) {
    const bool left = product->a().As<VarNode>() != nullptr;
    if (left || product->b().As<VarNode>() != nullptr) {
      const PrimExpr& factor = left ? product->b() : product->a();
      var = Var((left ? product->a() : product->b()).As<VarNode>());
      const auto divide = [&](const PrimExpr& e) {
        return FloorDiv(e, factor);
      };
      domain = {IntSet::Interval(IfFinite(min, divide), IfFinite(max, divide)),
                IntSet::Interval(Zero(last), FloorDiv(last, factor))};
      return true;
    }
  }
  if (!analyzer.CanProveEqual(first, provided_max)) return false;
  if (const auto* node = first.As<VarNode>()) {
    var = Var(node);
    domain = {IntSet::Interval(min, max), IntSet::Interval(Zero(last), last)};
    return true;
  }
  if (const BinaryNode* quotient = AsBinary(first, BinaryOp::kFloorDiv)) {
    const PrimExpr& factor = quotient->b();
    if (!analyzer.CanProveGreaterEqual(factor, 1)) return false;
    const auto begin = [&](const PrimExpr& e) { return Mul(e, factor); };
    const auto end = [&](const PrimExpr& e) {
      return analyzer.Simplify(Sub(Add(Mul(e, factor), factor), One(factor)));
    };
    const IntSet scaled =
        IntSet::Interval(IfFinite(min, begin), IfFinite(max, end));
    if (const auto* node = quotient->a().As<VarNode>()) {
      // a <= x // f <= b is a * f <= x <= b * f + f - 1.
      var = Var(node);
      domain = {scaled, IntSet::Interval(Zero(last), end(last))};
      return true;
    }
    return OnDeepStack([&] {
      return SolveDomain(IntSet::SinglePoint(quotient->a()), scaled, last,
                         analyzer, var, domain);
    });
  }
  if (const BinaryNode* rest = AsBinary(first, BinaryOp::kFloorMod)) {
    if (const auto* node = rest->a().As<VarNode>()) {
      // A remainder says nothing about the value.
      var = Var(node);
      domain = {};
      return true;
    }
    if (!analyzer.CanProveGreaterEqual(rest->a(), 1) ||
        !analyzer.CanProveGreaterEqual(rest->b(), 1) || !min.defined() ||
        !analyzer.CanProveGreaterEqual(min, 0)) {
      return false;
    }
    return OnDeepStack([&] {
      return SolveDomain(IntSet::SinglePoint(rest->a()),
                         IntSet::Interval(min, {}), last, analyzer, var,
                         domain);
    });
  }
  return false;
}

// A buffer with the region that a run of the block provides, and the one that
// others require.
struct Demand {
  Buffer buffer;
  std::vector<Region> provided;
  std::vector<Region> required;
};

Region UnionOf(const std::vector<Region>& regions) {
  if (regions.size() == 1) return regions[0];
  return UnionRegion(regions);
}

class DomainSolver {
 public:
  DomainSolver(const BlockNode* block, Analyzer& analyzer)
      : block_(block), analyzer_(analyzer) {
    for (const IterVar& iter : block->iter_vars()) {
      domains_.Set(iter->var(), VarDomain());
    }
  }

  // False if the domains cannot be found.
  bool Solve(const Demand& demand) {
    if (demand.required.empty()) return true;
    const Region required = UnionOf(demand.required);
    const Region provided = UnionOf(demand.provided);
    return SolveAffine(demand.buffer, provided, required) ||
           SolveByAxis(demand.buffer, provided, required);
  }

  // The domains in the order of the variables; empty if one is not known.
  std::vector<VarDomain> Finish() {
    std::vector<VarDomain> result;
    for (const IterVar& iter : block_->iter_vars()) {
      VarDomain domain = *domains_.Find(iter->var());
      const IntSet all = IntSet::FromMinExtent(iter->min(), iter->extent());
      domain.possible = domain.possible.IsNothing()
                            ? all
                            : Intersect({{domain.possible, all}});
      domain.Simplify(analyzer_);
      if (domain.necessary.IsNothing()) return {};
      result.push_back(std::move(domain));
    }
    return result;
  }

 private:
  // Inverts a bijective affine map from variables to indices.
  bool SolveAffine(const Buffer& buffer, const Region& provided,
                   const Region& required) {
    std::vector<PrimExpr> indices;
    for (const IntSet& set : provided) {
      if (set.IsNothing() || !set.CanProveSinglePoint(analyzer_)) return false;
      indices.push_back(set.min());
    }
    VarRanges ranges;
    for (const IterVar& iter : block_->iter_vars()) {
      ranges.Set(iter->var(), Range{iter->min(), iter->extent()});
    }
    const IterMapResult map =
        DetectIterMap(indices, ranges, IntImm::Bool(true),
                      IterMapLevel::kBijective, analyzer_, false);
    if (map.indices.empty()) return false;
    Region all;
    for (const PrimExpr& extent : buffer->shape()) {
      all.push_back(IntSet::Interval(Zero(extent), Last(extent)));
    }
    VarMap<IntSet> necessary;
    VarMap<IntSet> possible;
    if (!Invert(map.indices, required, necessary) ||
        !Invert(map.indices, all, possible)) {
      return false;
    }
    for (const auto& [var, set] : necessary) {
      VarDomain* domain = domains_.Find(var);
      if (domain == nullptr) continue;
      domain->Extend({set, *possible.Find(var)});
    }
    return true;
  }

  bool Invert(const std::vector<IterSum>& map, const Region& region,
              VarMap<IntSet>& result) {
    std::vector<PrimExpr> min;
    std::vector<PrimExpr> max;
    for (const IntSet& set : region) {
      if (!set.HasLowerBound() || !set.HasUpperBound()) return false;
      min.push_back(set.min());
      max.push_back(set.max());
    }
    const VarMap<PrimExpr> low = InverseAffineIterMap(map, min);
    const VarMap<PrimExpr> high = InverseAffineIterMap(map, max);
    for (const auto& [var, a] : low) {
      const PrimExpr& b = *high.Find(var);
      result.Set(var,
                 IntSet::Interval(
                     analyzer_.Simplify(MakeBinary(BinaryOp::kMin, a, b)),
                     analyzer_.Simplify(MakeBinary(BinaryOp::kMax, a, b))));
    }
    return true;
  }

  bool SolveByAxis(const Buffer& buffer, const Region& provided,
                   const Region& required) {
    for (size_t i = 0; i < buffer->shape().size(); ++i) {
      const IntSet& have = provided[i];
      const IntSet& need = required[i];
      if (have.IsNothing() || need.IsNothing()) return false;
      if (have.CanProveSinglePoint(analyzer_) &&
          have.min().As<IntImmNode>() != nullptr) {
        if (need.CanProveSinglePoint(analyzer_) &&
            analyzer_.CanProveEqual(have.min(), need.min())) {
          continue;
        }
        return false;
      }
      Var var;
      VarDomain domain;
      if (!SolveDomain(have, need, Last(buffer->shape()[i]), analyzer_, var,
                       domain)) {
        return false;
      }
      if (VarDomain* known = domains_.Find(var)) {
        known->Extend(domain);
      } else if (!SameBound(analyzer_, have.min(), need.min()) ||
                 !SameBound(analyzer_, have.max(), need.max())) {
        return false;
      }
    }
    return true;
  }

  static PrimExpr Last(const PrimExpr& extent) {
    return MakeBinary(BinaryOp::kMax, Sub(extent, One(extent)), Zero(extent));
  }

  const BlockNode* block_;
  Analyzer& analyzer_;
  VarMap<VarDomain> domains_;
};

// Rewrites a scope: removes the block from its place, and puts a loop with the
// block in it in the place of another loop.
class BlockMover : public Rewriter {
 public:
  BlockMover(const Removal& removal, const ForNode* loop, Stmt new_loop)
      : removal_(removal), loop_(loop), new_loop_(std::move(new_loop)) {}

  Stmt RewriteScope(const BlockNode* scope) {
    if (scope == removal_.before.get()) {
      scope = removal_.after.As<BlockNode>();
    }
    BlockNode::Parts parts = scope->parts();
    parts.body = Rewrite(parts.body);
    return Block(std::move(parts), scope->span());
  }

 protected:
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    return BlockRealize(realize);
  }
  Stmt VisitFor(const ForNode* loop) override {
    if (loop == removal_.before.get()) loop = removal_.after.As<ForNode>();
    if (loop == loop_) return new_loop_;
    return Rewriter::VisitFor(loop);
  }

 private:
  const Removal& removal_;
  const ForNode* loop_;
  Stmt new_loop_;
};

// The first and last position in the body of a loop at which a block can be
// inserted.
struct Positions {
  int first = 0;
  int last = 0;
};

absl::StatusOr<Positions> FindPositions(const ScheduleState& state,
                                        const Site* loop,
                                        const std::vector<Stmt>& body,
                                        Sites producers, Sites consumers) {
  int last_producer = -1;
  int first_consumer = static_cast<int>(body.size());
  const auto position = [&](const Site* site) {
    // The statement of the body in which the site stands.
    const Site* child = site;
    while (child->parent != loop) child = child->parent;
    if (child->seq_index >= 0) return child->seq_index;
    if (body.size() == 1) return 0;
    // Below another statement, such as a branch.
    const Node* wanted = child->stmt.get();
    for (size_t i = 0; i < body.size(); ++i) {
      bool found = false;
      PostOrderVisit(
          body[i], [](const PrimExpr&) {},
          [&](const Stmt& stmt) { found |= stmt.get() == wanted; });
      if (found) return static_cast<int>(i);
    }
    return 0;
  };
  for (const Site* site : producers) {
    if (IsAncestor(loop, site)) {
      last_producer = std::max(last_producer, position(site));
    }
  }
  for (const Site* site : consumers) {
    if (IsAncestor(loop, site)) {
      first_consumer = std::min(first_consumer, position(site));
    }
  }
  if (last_producer >= first_consumer) {
    return SiteError(
        loop, absl::StrCat("in ", loop->Describe(),
                           " no place is after all producers (statement ",
                           last_producer,
                           ") and before all consumers "
                           "(statement ",
                           first_consumer, ")"));
  }
  return Positions{last_producer + 1, first_consumer};
}

absl::Status CheckAllBelow(const Site* loop, Sites sites, const Site* block,
                           absl::string_view what) {
  for (const Site* site : sites) {
    if (IsAncestor(loop, site)) continue;
    return SiteError(site, absl::StrCat(site->Describe(), ", a ", what, " of ",
                                        block->Describe(), ", is not in ",
                                        loop->Describe()));
  }
  return absl::OkStatus();
}

// In `loop`, `block` stays after producers and before consumers elsewhere.
absl::Status CheckOrder(const ScheduleState& state, const Site* block,
                        const Site* loop, Sites producers, Sites consumers) {
  for (const Site* site : producers) {
    if (IsAncestor(loop, site) || IsBefore(state, site, loop)) continue;
    return SiteError(
        loop, absl::StrCat(loop->Describe(), " is before ", site->Describe(),
                           ", a producer of ", block->Describe()));
  }
  for (const Site* site : consumers) {
    if (IsAncestor(loop, site) || IsBefore(state, loop, site)) continue;
    return SiteError(
        loop, absl::StrCat(loop->Describe(), " is after ", site->Describe(),
                           ", a consumer of ", block->Describe()));
  }
  return absl::OkStatus();
}

absl::Status MoveBlock(ScheduleState& state, const Site* block,
                       const Site* loop, bool preserve_unit_loops, int index,
                       bool to_consumers) {
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
  Analyzer analyzer;
  BindShapes(state, analyzer);
  const std::vector<const Site*> producers = ProducersOf(state, block);
  const std::vector<const Site*> consumers = ConsumersOf(state, block);
  BATON_RETURN_IF_ERROR(CheckCompleteOrReductionBlock(state, block, scope));
  const Site* p = loop;
  for (; !p->is_block(); p = p->parent) {
    const ForNode* node = p->loop();
    analyzer.Bind(node->loop_var(), Range{node->min(), node->extent()});
  }
  if (p != scope || IsAncestor(loop, block)) {
    return SiteError(loop,
                     absl::StrCat(loop->Describe(), " must be in the scope of ",
                                  block->Describe(), " and not around it"));
  }
  // The new loops run the block for all values of its variables.
  BATON_RETURN_IF_ERROR(CheckRunsInLoops(block, scope));
  BATON_RETURN_IF_ERROR(CheckRunsInLoops(loop, scope));
  if (to_consumers) {
    BATON_RETURN_IF_ERROR(CheckNotOutputBlock(block, scope));
    if (consumers.empty()) {
      return SiteError(block,
                       absl::StrCat(block->Describe(), " has no consumer in ",
                                    loop->Describe()));
    }
  }
  BATON_ASSIGN_OR_RETURN(const Removal removal, RemovalOf(block));
  std::vector<Stmt> body = SeqOf(loop->loop()->body());
  BATON_ASSIGN_OR_RETURN(
      const Positions positions,
      FindPositions(state, loop, body, producers, consumers));
  BATON_RETURN_IF_ERROR(
      to_consumers ? CheckAllBelow(loop, consumers, block, "consumer")
                   : CheckAllBelow(loop, producers, block, "producer"));
  BATON_RETURN_IF_ERROR(CheckOrder(state, block, loop, producers, consumers));
  if (index == -1) {
    index = positions.last;
  } else if (index == -2) {
    index = positions.first;
  } else if (index < positions.first || index > positions.last) {
    return SiteError(
        loop, absl::StrCat("the block cannot stand at ", index, " in ",
                           loop->Describe(), ", only at ", positions.first,
                           " to ", positions.last));
  }

  std::vector<Demand> demands;
  const auto demand_of = [&](const Buffer& buffer) -> Demand* {
    for (Demand& demand : demands) {
      if (demand.buffer == buffer) return &demand;
    }
    return nullptr;
  };
  const BlockNode* node = block->block();
  for (const BufferRegion& region :
       to_consumers ? node->writes() : node->reads()) {
    Region provided;
    for (const Range& range : region->region()) {
      provided.push_back(IntSet::FromRange(range));
    }
    Demand* demand = demand_of(region->buffer());
    if (demand == nullptr) {
      demands.push_back({region->buffer(), {}, {}});
      demand = &demands.back();
    }
    demand->provided.push_back(std::move(provided));
  }
  for (const Site* other : to_consumers ? consumers : producers) {
    const VarMap<PrimExpr> values = BindingsOf(other->realize.get());
    for (const BufferRegion& region :
         to_consumers ? other->block()->reads() : other->block()->writes()) {
      Demand* demand = demand_of(region->buffer());
      if (demand == nullptr) continue;
      const Domains domains = AsIntSets(LoopDomains(
          other->parent, loop,
          to_consumers ? region->buffer()->scope() : absl::string_view()));
      demand->required.push_back(
          EvalSet(Substitute(region->region(), values), domains));
    }
  }
  DomainSolver solver(node, analyzer);
  bool solved = true;
  for (const Demand& demand : demands) solved = solved && solver.Solve(demand);
  const std::vector<VarDomain> domains =
      solved ? solver.Finish() : std::vector<VarDomain>();
  if (!solved || domains.size() != node->iter_vars().size()) {
    return SiteError(
        block, absl::StrCat("the iterations of ", block->Describe(), " that ",
                            loop->Describe(),
                            " requires cannot be found: the indices of "
                            "its buffers are of no form that is known"));
  }

  std::vector<Var> vars;
  std::vector<PrimExpr> extents;
  std::vector<PrimExpr> iter_values;
  PrimExpr predicate = IntImm::Bool(true);
  for (size_t i = 0; i < domains.size(); ++i) {
    const IterVar& iter = node->iter_vars()[i];
    const Range range =
        domains[i].necessary.CoverRange({iter->min(), iter->extent()});
    if (preserve_unit_loops || !IsOne(range.extent)) {
      const int bits =
          std::max(range.min.dtype().bits(), range.extent.dtype().bits());
      const Var var(absl::StrCat("ax", vars.size()), DType::Int(bits));
      vars.push_back(var);
      extents.push_back(analyzer.Simplify(range.extent));
      iter_values.push_back(Add(range.min, var));
      analyzer.Bind(var, Range{IntImm(var.dtype(), 0), range.extent});
    } else {
      iter_values.push_back(range.min);
    }
    const auto require = [&](const PrimExpr& condition) {
      if (!analyzer.CanProve(condition, ProofStrength::kSymbolicBound)) {
        predicate = MakeBinary(BinaryOp::kAnd, predicate, condition);
      }
    };
    const IntSet& possible = domains[i].possible;
    if (possible.HasLowerBound()) {
      require(MakeBinary(BinaryOp::kGE, iter_values.back(), possible.min()));
    }
    if (possible.HasUpperBound()) {
      require(MakeBinary(BinaryOp::kLT, iter_values.back(),
                         Add(possible.max(), One(possible.max()))));
    }
  }
  Stmt subtree = BlockRealize(std::move(iter_values),
                              analyzer.Simplify(predicate), Block(node));
  for (size_t i = vars.size(); i-- > 0;) {
    subtree =
        SerialLoop(vars[i], IntImm(kInt32, 0), extents[i], std::move(subtree));
  }
  body.insert(body.begin() + index, std::move(subtree));
  BlockMover mover(removal, loop->loop(),
                   WithBody(loop->loop(), FlatSeq(body)));
  return state.Replace(scope, mover.RewriteScope(scope->block()));
}

}  // namespace

absl::Status ComputeAt(ScheduleState& state, const Site* block,
                       const Site* loop, bool preserve_unit_loops, int index) {
  return MoveBlock(state, block, loop, preserve_unit_loops, index, true);
}

absl::Status ReverseComputeAt(ScheduleState& state, const Site* block,
                              const Site* loop, bool preserve_unit_loops,
                              int index) {
  return MoveBlock(state, block, loop, preserve_unit_loops, index, false);
}

}  // namespace baton::tir
