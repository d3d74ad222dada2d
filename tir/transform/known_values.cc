#include "baton/tir/transform/known_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/side_effect.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/arith/linear_equations.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// A block is visited at most so often; then nothing is known there.
constexpr int kMaxVisits = 5;

// Limits of the time that a function takes: operations that are simplified,
// and loops, lets and conditions around blocks. Beyond them nothing is known.
constexpr int64_t kMaxSimplifiedOperations = 1'000'000;
constexpr int64_t kMaxSurroundings = 1'000'000;

PrimExpr True() { return IntImm::Bool(true); }
PrimExpr False() { return IntImm::Bool(false); }
PrimExpr And(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kAnd, a, b);
}
PrimExpr Or(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kOr, a, b);
}
PrimExpr Negated(const PrimExpr& e) {
  if (const auto* imm = e.As<IntImmNode>()) {
    return IntImm::Bool(imm->value() == 0);
  }
  return Not(e);
}
PrimExpr Compare(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(op, a, b);
}

PrimExpr SubstituteMap(const PrimExpr& e, const VarMap<PrimExpr>& values) {
  if (values.empty()) return e;
  return Substitute(e, [&values](const VarNode* var) {
    const PrimExpr* value = values.Find(var);
    return value == nullptr ? PrimExpr() : *value;
  });
}
PrimExpr SubstituteAxes(const PrimExpr& e, absl::Span<const Var> axes,
                        absl::Span<const PrimExpr> indices) {
  return Substitute(e, [&](const VarNode* var) -> PrimExpr {
    for (size_t i = 0; i < axes.size() && i < indices.size(); ++i) {
      if (axes[i].get() == var) return indices[i];
    }
    return {};
  });
}

enum class Access { kRead, kWrite, kAssume };

// The values of the elements of a buffer where `predicate` is true; both by the
// variables of the buffer's axes.
struct Touch {
  Buffer buffer;
  PrimExpr predicate;
  PrimExpr value;
  // Loops around the access, and the values of their variables by the axes.
  std::vector<std::pair<Var, PrimExpr>> loops;
  Access access = Access::kAssume;

  // True of elements that are accessed in this iteration or, by `op`, in one
  // before or after it.
  PrimExpr AtIteration(std::optional<BinaryOp> op) const {
    PrimExpr result = True();
    for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
      const PrimExpr here =
          And(Compare(BinaryOp::kEQ, it->first, it->second), result);
      result =
          op.has_value() ? Or(Compare(*op, it->first, it->second), here) : here;
    }
    return result;
  }
};
using State = std::vector<Touch>;

// The variables that stand for the axes of buffers.
using Axes = NodeMap<std::vector<Var>>;

// A value by buffer, in order of insertion.
struct ByBuffer {
  std::vector<std::pair<Buffer, PrimExpr>> entries;
  PrimExpr* Find(const Buffer& buffer) {
    for (auto& entry : entries) {
      if (entry.first == buffer) return &entry.second;
    }
    return nullptr;
  }
};

void EraseEmpty(State& state) {
  std::erase_if(state,
                [](const Touch& touch) { return IsZero(touch.predicate); });
}

bool IsEquivalent(const Touch& a, const Touch& b, Analyzer& analyzer) {
  if (a.buffer != b.buffer || a.access != b.access) return false;
  const auto implies = [&analyzer](const PrimExpr& x, const PrimExpr& y) {
    const auto scope = analyzer.WithConstraint(x);
    return analyzer.CanProve(y);
  };
  if (!ExprDeepEqual(a.predicate, b.predicate) &&
      !(implies(a.predicate, b.predicate) &&
        implies(b.predicate, a.predicate))) {
    return false;
  }
  return ExprDeepEqual(a.value, b.value) ||
         analyzer.CanProveEqual(a.value, b.value);
}
bool IsEquivalent(const State& a, const State& b, Analyzer& analyzer) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!IsEquivalent(a[i], b[i], analyzer)) return false;
  }
  return true;
}

// All that is known in `a` or in `b`.
void Unite(State& a, const State& b, Analyzer& analyzer) {
  for (const Touch& added : b) {
    const auto same = std::find_if(a.begin(), a.end(), [&](const Touch& touch) {
      return touch.buffer == added.buffer &&
             analyzer.CanProveEqual(touch.value, added.value);
    });
    if (same == a.end()) {
      a.push_back(added);
    } else {
      same->predicate =
          SimplifyAsAndOfOrs(Or(same->predicate, added.predicate), analyzer);
    }
  }
}

// Returns the values that are known in both states.
State Common(const State& a, const State& b, Analyzer& analyzer) {
  State result;
  for (const Touch& x : a) {
    for (const Touch& y : b) {
      if (x.buffer != y.buffer) continue;
      const PrimExpr predicate =
          SimplifyAsAndOfOrs(And(x.predicate, y.predicate), analyzer);
      if (IsZero(predicate)) continue;
      const auto scope = analyzer.WithConstraint(predicate);
      if (analyzer.CanProveEqual(x.value, y.value)) {
        result.push_back({x.buffer, predicate, x.value, {}, Access::kAssume});
      }
    }
  }
  return result;
}

void SubstituteVars(State& state, const VarMap<PrimExpr>& values,
                    Analyzer& analyzer) {
  if (values.empty()) return;
  for (Touch& touch : state) {
    const PrimExpr updated = SubstituteMap(touch.predicate, values);
    if (updated == touch.predicate) continue;
    touch.predicate = SimplifyAsAndOfOrs(updated, analyzer);
  }
}

void RemoveParameters(State& state, const VarRanges& parameters,
                      Analyzer& analyzer) {
  for (Touch& touch : state) {
    touch.predicate = SimplifyAsAndOfOrs(
        NarrowPredicateExpression(touch.predicate, parameters), analyzer);
  }
}

// Values of loads in a part of the space of axes; null: not known.
struct Region {
  PrimExpr predicate;
  std::vector<std::pair<const Node*, PrimExpr>> values;
};

// Divides the space by what is known of the loads in expressions.
std::vector<Region> RegionsOf(const Axes& axes, const State& known,
                              absl::Span<const PrimExpr> exprs,
                              Analyzer& analyzer) {
  std::vector<Region> regions = {{True(), {}}};
  const auto divide = [&](const BufferLoadNode* load) {
    std::vector<std::pair<PrimExpr, PrimExpr>> parts;
    PrimExpr unknown = True();
    for (const Touch& touch : known) {
      if (touch.buffer != load->buffer()) continue;
      const std::vector<Var>* vars = axes.Find(touch.buffer.get());
      if (vars == nullptr) continue;
      const PrimExpr predicate = SimplifyAsAndOfOrs(
          SubstituteAxes(touch.predicate, *vars, load->indices()), analyzer);
      if (IsZero(predicate)) continue;
      parts.emplace_back(predicate,
                         SubstituteAxes(touch.value, *vars, load->indices()));
      unknown = SimplifyAsAndOfOrs(And(unknown, Negated(predicate)), analyzer);
    }
    if (parts.empty()) return;
    if (!IsZero(unknown)) parts.insert(parts.begin(), {unknown, PrimExpr()});
    std::vector<Region> updated;
    for (const Region& region : regions) {
      for (const auto& [predicate, value] : parts) {
        const PrimExpr both =
            SimplifyAsAndOfOrs(And(region.predicate, predicate), analyzer);
        if (IsZero(both)) continue;
        Region merged = {both, region.values};
        merged.values.emplace_back(load, value);
        updated.push_back(std::move(merged));
      }
    }
    regions = std::move(updated);
  };
  for (const PrimExpr& e : exprs) {
    PostOrderVisit(e, [&](const PrimExpr& part) {
      if (const auto* load = part.As<BufferLoadNode>()) divide(load);
    });
  }
  return regions;
}

class LoadReplacer final : public AnalyzingRewriter {
 public:
  LoadReplacer(const Region& region, Analyzer& analyzer)
      : AnalyzingRewriter(analyzer), region_(region) {}

 protected:
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result;
    for (const auto& [load, value] : region_.values) {
      if (load == node) result = value;
    }
    return result.defined() ? result : BufferLoad(node);
  }

 private:
  const Region& region_;
};

PrimExpr WithKnownLoads(const Region& region, const PrimExpr& e,
                        Analyzer& analyzer) {
  return analyzer.Simplify(LoadReplacer(region, analyzer).Rewrite(e));
}

// Updates the known values for the accesses `touches`.
void ApplyForward(State& state, const Axes& axes,
                  const std::vector<Touch>& touches, Analyzer& analyzer) {
  State added;
  ByBuffer stays;
  for (const Touch& touch : touches) {
    if (touch.access == Access::kRead) continue;
    const PrimExpr predicate =
        And(touch.predicate, touch.AtIteration(BinaryOp::kGE));
    const PrimExpr exprs[] = {predicate, touch.value};
    for (const Region& region : RegionsOf(axes, state, exprs, analyzer)) {
      const PrimExpr where = SimplifyAsAndOfOrs(
          WithKnownLoads(region, And(region.predicate, predicate), analyzer),
          analyzer);
      const PrimExpr value = WithKnownLoads(region, touch.value, analyzer);
      if (IsZero(where)) continue;
      if (PrimExpr* rest = stays.Find(touch.buffer)) {
        *rest = And(*rest, Negated(where));
      } else {
        stays.entries.emplace_back(touch.buffer, Negated(where));
      }
      if (SideEffectOf(value) <= CallEffect::kPure) {
        added.push_back({touch.buffer, where, value, {}, Access::kAssume});
      }
    }
  }
  for (Touch& known : state) {
    if (const PrimExpr* rest = stays.Find(known.buffer)) {
      known.predicate =
          SimplifyAsAndOfOrs(And(known.predicate, *rest), analyzer);
    }
  }
  std::vector<bool> used(added.size(), false);
  for (Touch& known : state) {
    PrimExpr more = False();
    for (size_t i = 0; i < added.size(); ++i) {
      if (added[i].buffer != known.buffer ||
          !analyzer.CanProveEqual(known.value, added[i].value)) {
        continue;
      }
      more = SimplifyAsAndOfOrs(Or(more, added[i].predicate), analyzer);
      used[i] = true;
    }
    if (IsZero(more)) continue;
    known.predicate = SimplifyAsAndOfOrs(Or(known.predicate, more), analyzer);
  }
  for (size_t i = 0; i < added.size(); ++i) {
    if (!used[i]) state.push_back(added[i]);
  }
  EraseEmpty(state);
}

// Updates the elements that are not used later for the accesses `touches`,
// which come before.
void ApplyBackward(State& state, const std::vector<Touch>& touches,
                   Analyzer& analyzer) {
  ByBuffer written;
  ByBuffer read;
  for (auto it = touches.rbegin(); it != touches.rend(); ++it) {
    if (it->access == Access::kAssume) continue;
    ByBuffer& map = it->access == Access::kWrite ? written : read;
    const PrimExpr predicate =
        And(it->predicate, it->AtIteration(BinaryOp::kLE));
    if (PrimExpr* all = map.Find(it->buffer)) {
      *all = Or(*all, predicate);
    } else {
      map.entries.emplace_back(it->buffer, predicate);
    }
  }
  for (auto& entry : written.entries) {
    entry.second = SimplifyAsAndOfOrs(entry.second, analyzer);
  }
  for (auto& entry : read.entries) {
    entry.second = SimplifyAsAndOfOrs(entry.second, analyzer);
  }
  for (Touch& unused : state) {
    PrimExpr* more = written.Find(unused.buffer);
    if (more == nullptr) continue;
    unused.predicate =
        SimplifyAsAndOfOrs(Or(unused.predicate, *more), analyzer);
    std::erase_if(written.entries, [&](const auto& entry) {
      return entry.first == unused.buffer;
    });
  }
  for (const auto& [buffer, predicate] : written.entries) {
    state.push_back({buffer,
                     predicate,
                     Call(buffer->dtype(), BATON_OP("tir.undef"), {}),
                     {},
                     Access::kAssume});
  }
  for (Touch& unused : state) {
    const PrimExpr* used = read.Find(unused.buffer);
    if (used == nullptr) continue;
    unused.predicate =
        SimplifyAsAndOfOrs(And(unused.predicate, Negated(*used)), analyzer);
  }
  EraseEmpty(state);
}

// The way from a block to another one.
struct Edge {
  size_t index;
  VarMap<PrimExpr> values;  // of variables that change on the way
  PrimExpr condition;       // true if this way is taken; null: not known
};

struct LoopEntry {
  Var var;
  Range range;
};

// A part of the program between two changes of buffers.
struct FlowBlock {
  std::vector<LoopEntry> loops;
  VarMap<PrimExpr> lets;  // that depend on loops
  PrimExpr condition;     // under which the block runs
  std::vector<Touch> touches;
  std::vector<Edge> before;
  std::vector<Edge> after;
  State known_at_start;
  State known_at_end;
  State unused_at_start;
  State unused_at_end;
};

}  // namespace

struct KnownValues::Graph {
  std::vector<FlowBlock> blocks;
  NodeMap<size_t> block_of;
  Axes axes;
  VarRanges iterators;
  VarRanges parameters;
  std::vector<PrimExpr> assumptions;  // that are about no buffer
  int64_t max_steps = 0;
  int64_t operations_left = kMaxSimplifiedOperations;
  int64_t surroundings_left = kMaxSurroundings;
  absl::Status status;
  std::vector<Expr> kept;
  std::unique_ptr<Analyzer> of_queries;

  const std::vector<Var>& AxesOf(const Buffer& buffer,
                                 absl::Span<const PrimExpr> indices) {
    const auto [vars, is_new] = axes.TryEmplace(buffer.get());
    if (is_new) {
      kept.push_back(buffer);
      for (size_t i = 0; i < indices.size(); ++i) {
        vars->push_back(Var(absl::StrCat(buffer->name(), "_axis_", i),
                            WithLanes(indices[i].dtype(), 1)));
      }
    }
    return *vars;
  }

  void Prepare(Analyzer& analyzer) const {
    analyzer.SetMaxRewriteSteps(max_steps);
    analyzer.SetExtensions(Analyzer::kTransitivelyProveInequalities |
                           Analyzer::kConvertBooleanToAndOfOrs |
                           Analyzer::kApplyConstraintsToBooleanBranches);
    analyzer.Bind(iterators);
    analyzer.Bind(parameters);
  }

  // An analyzer for all questions about the finished graph: to bind the
  // iterators for each would take quadratic time.
  Analyzer& OfQueries() {
    if (of_queries == nullptr) {
      of_queries = std::make_unique<Analyzer>();
      Prepare(*of_queries);
      of_queries->SetMaxRewriteSteps(0);
    }
    return *of_queries;
  }

  Touch MakeTouch(const FlowBlock& block, const Buffer& buffer,
                  absl::Span<const Var> axis_vars,
                  absl::Span<const PrimExpr> indices, Access access,
                  const PrimExpr& value, VarRanges& free) const;
  bool exceeded() const {
    return operations_left <= 0 || surroundings_left <= 0;
  }
  // Forgets all values.
  void GiveUp();
  void Propagate(bool forward, std::optional<size_t> from);
  State Merged(const std::vector<Edge>& edges, bool forward,
               const std::vector<int>& visits, Analyzer& analyzer) const;
};

// The access as a condition on the axes: loops are solved for them.
Touch KnownValues::Graph::MakeTouch(const FlowBlock& block,
                                    const Buffer& buffer,
                                    absl::Span<const Var> axis_vars,
                                    absl::Span<const PrimExpr> indices,
                                    Access access, const PrimExpr& value,
                                    VarRanges& free) const {
  Analyzer analyzer;
  std::vector<Var> vars;
  VarRanges ranges;
  for (const LoopEntry& loop : block.loops) {
    vars.push_back(loop.var);
    ranges.Set(loop.var, loop.range);
  }
  Var lane;
  std::vector<PrimExpr> relations;
  for (size_t i = 0; i < indices.size() && i < axis_vars.size(); ++i) {
    PrimExpr index = indices[i];
    if (index.dtype().lanes() > 1) {
      const DType dtype = WithLanes(index.dtype(), 1);
      if (!lane.defined()) {
        lane = Var("lane", dtype);
        vars.push_back(lane);
        ranges.Set(lane, Range{IntImm(dtype, 0),
                               IntImm(dtype, index.dtype().lanes())});
      }
      index = UnwrapVectorExpr(index, lane);
    }
    relations.push_back(
        Compare(BinaryOp::kEQ, axis_vars[i], SubstituteMap(index, block.lets)));
  }
  LinearSolution solution = SolveLinearEquations(vars, ranges, relations);
  free = solution.ranges;
  PrimExpr predicate = IntImm::Bool(solution.solvable);
  for (const PrimExpr& relation : solution.relations) {
    predicate = And(predicate, relation);
  }
  predicate = SimplifyAsAndOfOrs(predicate, analyzer);

  // Parameters that have one value are replaced by it.
  while (true) {
    VarMap<PrimExpr> fixed;
    const auto uses_free = [&free](const VarNode* var) {
      return free.Contains(var);
    };
    for (const PrimExpr& conjunct : ExtractConstraints(predicate)) {
      const auto* equal = AsBinary(conjunct, BinaryOp::kEQ);
      if (equal == nullptr) continue;
      const auto fix = [&](const PrimExpr& a, const PrimExpr& b) {
        const auto* var = a.As<VarNode>();
        if (var != nullptr && free.Contains(var) && !UsesVar(b, uses_free)) {
          fixed.Set(Var(var), b);
        }
      };
      fix(equal->a(), equal->b());
      fix(equal->b(), equal->a());
    }
    for (const auto& [var, range] : free) {
      if (IsOne(range.extent)) fixed.Set(var, range.min);
    }
    if (fixed.empty()) break;
    VarMap<PrimExpr> values;
    for (const auto& [var, e] : solution.values) {
      values.Set(var, analyzer.Simplify(SubstituteMap(e, fixed)));
    }
    solution.values = std::move(values);
    predicate = analyzer.Simplify(SubstituteMap(predicate, fixed));
    for (const auto& entry : fixed) free.Erase(entry.first.get());
  }

  const auto by_axes = [&](PrimExpr e) {
    e = SubstituteMap(e, block.lets);
    if (lane.defined() && e.dtype().lanes() > 1) e = UnwrapVectorExpr(e, lane);
    return SubstituteMap(e, solution.values);
  };
  Touch touch;
  touch.buffer = buffer;
  touch.access = access;
  for (const LoopEntry& loop : block.loops) {
    const PrimExpr* solved = solution.values.Find(loop.var);
    touch.loops.emplace_back(loop.var,
                             solved == nullptr ? PrimExpr(loop.var) : *solved);
  }
  touch.value = analyzer.Simplify(by_axes(value));
  touch.predicate =
      analyzer.Simplify(And(by_axes(predicate), by_axes(block.condition)));
  return touch;
}

namespace {

// Makes the blocks.
template <typename Graph>
class Builder final : public AnalyzingVisitor {
 public:
  explicit Builder(Graph& graph) : graph_(graph) { Append(); }

#define BATON_TIR_ENTER(index, Name, sort)            \
  void Visit##Name(const Name##Node* node) override { \
    graph_.block_of[node] = Current();                \
    graph_.kept.push_back(Stmt(node));                \
    Enter##Name(node);                                \
  }
  BATON_TIR_STMTS(BATON_TIR_ENTER)
#undef BATON_TIR_ENTER

 private:
#define BATON_TIR_ENTER_PARTS(Name)          \
  void Enter##Name(const Name##Node* node) { \
    AnalyzingVisitor::Visit##Name(node);     \
  }
  BATON_TIR_ENTER_PARTS(AttrStmt)
  BATON_TIR_ENTER_PARTS(AssertStmt)
  BATON_TIR_ENTER_PARTS(While)
  BATON_TIR_ENTER_PARTS(BufferRealize)
  BATON_TIR_ENTER_PARTS(Allocate)
  BATON_TIR_ENTER_PARTS(AllocateConst)
  BATON_TIR_ENTER_PARTS(DeclBuffer)
  BATON_TIR_ENTER_PARTS(SeqStmt)
  BATON_TIR_ENTER_PARTS(Block)
  BATON_TIR_ENTER_PARTS(BlockRealize)
  BATON_TIR_ENTER_PARTS(Prefetch)
#undef BATON_TIR_ENTER_PARTS

  void EnterEvaluate(const EvaluateNode* node) {
    const auto* call = node->value().As<CallNode>();
    if (call != nullptr && call->op() == BATON_OP("tir.assume") &&
        call->args().size() == 1) {
      Assume(call->args()[0], true);
    } else {
      AnalyzingVisitor::VisitEvaluate(node);
    }
  }
  void EnterLetStmt(const LetStmtNode* node) {
    WithLet(node->var(), node->value(),
            [&] { AnalyzingVisitor::VisitLetStmt(node); });
  }
  void VisitLet(const LetNode* node) override {
    WithLet(node->var(), node->value(),
            [&] { AnalyzingVisitor::VisitLet(node); });
  }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    AnalyzingVisitor::VisitBufferLoad(node);
    AddAccess(node->buffer(), node->indices(), Access::kRead, BufferLoad(node));
  }
  void EnterBufferStore(const BufferStoreNode* node) {
    AnalyzingVisitor::VisitBufferStore(node);
    AddAccess(node->buffer(), node->indices(), Access::kWrite, node->value());
    AppendAfterCurrent();
  }

  void EnterFor(const ForNode* node) {
    graph_.iterators.Set(node->loop_var(), Range{node->min(), node->extent()});
    const size_t before = Current();
    loops_.push_back({node->loop_var(), {node->min(), node->extent()}});
    loop_vars_.Insert(node->loop_var().get());
    const size_t start = Append();
    AnalyzingVisitor::VisitFor(node);
    loops_.pop_back();
    const size_t end = Current();
    const size_t after = Append();
    const Var& var = node->loop_var();
    const IntImm one(kInt32, 1);
    const PrimExpr last =
        analyzer_.Simplify(Sub(Add(node->min(), node->extent()), one));
    {
      const auto [forward, backward] = Link(before, start);
      graph_.blocks[start].before[backward].condition =
          Compare(BinaryOp::kEQ, var, node->min());
      graph_.blocks[before].after[forward].values.Set(var, node->min());
    }
    {
      const auto [forward, backward] = Link(end, after);
      graph_.blocks[after].before[backward].values.Set(var, last);
      graph_.blocks[end].after[forward].condition =
          Compare(BinaryOp::kEQ, var, last);
    }
    {
      const auto [forward, backward] = Link(end, start);
      Edge& into = graph_.blocks[start].before[backward];
      Edge& from = graph_.blocks[end].after[forward];
      into.values.Set(var, Sub(var, one));
      from.values.Set(var, Add(var, one));
      into.condition = Compare(BinaryOp::kGT, var, node->min());
      from.condition = Compare(BinaryOp::kLT, var, last);
    }
  }

  void EnterIfThenElse(const IfThenElseNode* node) {
    Visit(node->condition());
    const PrimExpr condition = WithoutLikely(node->condition());
    const size_t before = Current();
    const size_t branch = Append();
    Link(before, branch);
    Branch(branch, condition, node->then_case());
    const size_t then_end = Current();
    const PrimExpr negation = analyzer_.RewriteSimplify(Negated(condition));
    Branch(branch, negation, node->else_case());
    const size_t else_end = Current();
    const size_t after = Append();
    // Values in the condition may have changed meanwhile.
    const bool holds_after = SideEffectOf(condition) <= CallEffect::kPure;
    Join(then_end, after, holds_after ? condition : PrimExpr());
    Join(else_end, after, holds_after ? negation : PrimExpr());
  }

  void Branch(size_t from, const PrimExpr& condition, const Stmt& stmt) {
    WithCondition(condition, [&](const PrimExpr& assumption) {
      const size_t start = Append();
      if (assumption.defined()) Assume(assumption, false);
      Join(from, start, condition);
      if (stmt.defined()) Visit(stmt);
    });
  }
  void Join(size_t from, size_t to, const PrimExpr& condition) {
    const auto [forward, backward] = Link(from, to);
    graph_.blocks[from].after[forward].condition = condition;
    graph_.blocks[to].before[backward].condition = condition;
  }

  template <typename Fn>
  void WithLet(const Var& var, const PrimExpr& value, const Fn& fn) {
    const bool depends = UsesVar(value, [this](const VarNode* used) {
      return loop_vars_.Contains(used);
    });
    if (!depends) return fn();
    lets_.Set(var, value);
    loop_vars_.Insert(var.get());
    fn();
    lets_.Erase(var.get());
  }

  // `fn` gets the condition if it is about values of buffers.
  template <typename Fn>
  void WithCondition(const PrimExpr& condition, const Fn& fn) {
    const auto scope = analyzer_.WithConstraint(condition);
    const size_t size = conditions_.size();
    const CallEffect effect = SideEffectOf(condition);
    if (effect <= CallEffect::kPure) conditions_.push_back(condition);
    const bool reads = effect == CallEffect::kReadState;
    fn(reads ? condition : PrimExpr());
    conditions_.resize(size);
  }

  void Assume(const PrimExpr& assumption, bool is_statement) {
    for (const PrimExpr& e : ExtractConstraints(assumption, false)) {
      AssumeOne(e, is_statement);
    }
  }
  void AssumeOne(const PrimExpr& assumption, bool is_statement) {
    // `i >= 3 or A[i] == x` says A[i] == x where i < 3.
    PrimExpr where = True();
    std::vector<PrimExpr> about_buffers;
    for (const PrimExpr& e : ExtractComponents(assumption)) {
      const CallEffect effect = SideEffectOf(e);
      if (effect <= CallEffect::kPure) {
        where = And(where, Negated(e));
      } else if (effect == CallEffect::kReadState) {
        about_buffers.push_back(e);
      } else {
        return Fail(e->span(), "T.assume() of a condition with side effects");
      }
    }
    if (about_buffers.empty()) {
      graph_.assumptions.push_back(Or(Negated(ScopeCondition()), assumption));
      return;
    }
    const auto* equal = AsBinary(about_buffers[0], BinaryOp::kEQ);
    const BufferLoadNode* load = nullptr;
    PrimExpr value;
    if (equal != nullptr) {
      load = equal->a().As<BufferLoadNode>();
      value = equal->b();
      if (load == nullptr) {
        load = equal->b().As<BufferLoadNode>();
        value = equal->a();
      }
    }
    if (about_buffers.size() != 1 || load == nullptr ||
        SideEffectOf(value) > CallEffect::kPure) {
      if (is_statement) {
        Fail(assumption->span(),
             "T.assume() must be of the form `buffer[indices] == value`");
      }
      return;
    }
    WithCondition(where, [&](const PrimExpr& /*assumption*/) {
      graph_.blocks.back().condition = ScopeCondition();
      AddAccess(load->buffer(), load->indices(), Access::kAssume, value);
    });
    graph_.blocks.back().condition = ScopeCondition();
    AppendAfterCurrent();
  }

  void AddAccess(const Buffer& buffer, absl::Span<const PrimExpr> indices,
                 Access access, const PrimExpr& value) {
    if (!TakeSurroundings(loops_.size() * indices.size())) return;
    FlowBlock& block = graph_.blocks.back();
    VarRanges free;
    const std::vector<Var> axes = graph_.AxesOf(buffer, indices);
    block.touches.push_back(
        graph_.MakeTouch(block, buffer, axes, indices, access, value, free));
    for (const auto& [var, range] : free) graph_.parameters.Set(var, range);
  }

  // False where nothing is recorded any more.
  bool TakeSurroundings(size_t n) {
    if (graph_.surroundings_left > 0) {
      graph_.surroundings_left -= static_cast<int64_t>(n);
    }
    return graph_.surroundings_left > 0;
  }
  PrimExpr ScopeCondition() {
    PrimExpr result = True();
    if (!TakeSurroundings(conditions_.size())) return result;
    for (const PrimExpr& condition : conditions_) {
      result = And(result, condition);
    }
    return result;
  }
  size_t Append() {
    FlowBlock block;
    block.condition = ScopeCondition();
    if (TakeSurroundings(loops_.size() + lets_.size())) {
      block.loops = loops_;
      block.lets = lets_;
    }
    graph_.blocks.push_back(std::move(block));
    return graph_.blocks.size() - 1;
  }
  void AppendAfterCurrent() {
    const size_t before = Current();
    Link(before, Append());
  }
  size_t Current() const { return graph_.blocks.size() - 1; }
  // The indices of the edges: in the list of the first block, and of the other.
  std::pair<size_t, size_t> Link(size_t from, size_t to) {
    graph_.blocks[from].after.push_back({to, {}, {}});
    graph_.blocks[to].before.push_back({from, {}, {}});
    return {graph_.blocks[from].after.size() - 1,
            graph_.blocks[to].before.size() - 1};
  }
  void Fail(const Span& span, std::string message) {
    if (graph_.status.ok()) graph_.status = ErrorAt(span, std::move(message));
  }

  Graph& graph_;
  std::vector<LoopEntry> loops_;
  NodeSet loop_vars_;  // and lets that depend on them
  VarMap<PrimExpr> lets_;
  std::vector<PrimExpr> conditions_;
};

// Replaces loads whose values are known.
class KnownLoadReplacer final : public AnalyzingRewriter {
 public:
  KnownLoadReplacer(const State& known, const Axes& axes, Analyzer& analyzer)
      : AnalyzingRewriter(analyzer), known_(known), axes_(axes) {}

 protected:
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    for (const Touch& touch : known_) {
      if (touch.buffer != node->buffer()) continue;
      const std::vector<Var>* vars = axes_.Find(touch.buffer.get());
      if (vars == nullptr) continue;
      std::vector<PrimExpr> indices(node->indices().begin(),
                                    node->indices().end());
      Var lane;
      int lanes = 1;
      for (PrimExpr& index : indices) {
        if (index.dtype().lanes() == 1) continue;
        lanes = index.dtype().lanes();
        if (!lane.defined()) lane = Var("lane", WithLanes(index.dtype(), 1));
        index = UnwrapVectorExpr(index, lane);
      }
      const PrimExpr predicate =
          SubstituteAxes(touch.predicate, *vars, indices);
      PrimExpr in_range = True();
      if (lane.defined()) {
        in_range =
            And(Compare(BinaryOp::kLE, IntImm(lane->dtype(), 0), lane),
                Compare(BinaryOp::kLT, lane, IntImm(lane->dtype(), lanes)));
      }
      const auto scope = analyzer_.WithConstraint(in_range);
      if (analyzer_.CanProve(predicate)) {
        return SubstituteAxes(touch.value, *vars, node->indices());
      }
    }
    return BufferLoad(node);
  }

 private:
  const State& known_;
  const Axes& axes_;
};

}  // namespace

// Merges the states of the blocks at the other ends of `edges`.
State KnownValues::Graph::Merged(const std::vector<Edge>& edges, bool forward,
                                 const std::vector<int>& visits,
                                 Analyzer& analyzer) const {
  std::vector<State> states;
  bool any = false;
  for (const Edge& edge : edges) {
    State state = forward ? blocks[edge.index].known_at_end
                          : blocks[edge.index].unused_at_start;
    SubstituteVars(state, edge.values, analyzer);
    states.push_back(std::move(state));
    any = any || visits[edge.index] > 0;
  }
  if (!any) return {};
  if (edges.size() == 1) return states[0];
  // A block that has not been visited yet is assumed to agree.
  if (visits[edges[0].index] == 0) return states[1];
  if (visits[edges[1].index] == 0) return states[0];
  if (edges[0].condition.defined() && edges[1].condition.defined()) {
    for (size_t i = 0; i < 2; ++i) {
      for (Touch& touch : states[i]) {
        touch.predicate = And(touch.predicate, edges[i].condition);
      }
    }
    Unite(states[0], states[1], analyzer);
    return states[0];
  }
  return Common(states[0], states[1], analyzer);
}

void KnownValues::Graph::GiveUp() {
  operations_left = 0;
  assumptions.clear();
  for (FlowBlock& block : blocks) {
    block.known_at_start.clear();
    block.known_at_end.clear();
    block.unused_at_start.clear();
    block.unused_at_end.clear();
  }
}

void KnownValues::Graph::Propagate(bool forward, std::optional<size_t> from) {
  if (exceeded()) return GiveUp();
  std::set<size_t> pending;
  if (from.has_value()) {
    pending.insert(*from);
  } else {
    for (size_t i = 0; i < blocks.size(); ++i) {
      for (const Touch& touch : blocks[i].touches) {
        if (forward ? SideEffectOf(touch.value) <= CallEffect::kPure
                    : touch.access == Access::kWrite) {
          pending.insert(i);
        }
      }
    }
  }
  std::vector<int> visits(blocks.size(), 0);
  Analyzer analyzer;
  Prepare(analyzer);
  const int64_t before = analyzer.visits();
  analyzer.SetMaxVisits(before + operations_left);
  while (!pending.empty()) {
    const size_t i = forward ? *pending.begin() : *pending.rbegin();
    pending.erase(i);
    const int previous = visits[i]++;
    FlowBlock& block = blocks[i];
    State& entry = forward ? block.known_at_start : block.unused_at_end;
    State& exit = forward ? block.known_at_end : block.unused_at_start;
    State result;
    if (previous >= kMaxVisits) {
      entry.clear();
    } else {
      entry = Merged(forward ? block.before : block.after, forward, visits,
                     analyzer);
      result = entry;
      if (forward) {
        ApplyForward(result, axes, block.touches, analyzer);
      } else {
        ApplyBackward(result, block.touches, analyzer);
      }
      RemoveParameters(result, parameters, analyzer);
    }
    if (analyzer.exceeded_visits()) return GiveUp();
    const bool is_old = previous > 0 && IsEquivalent(result, exit, analyzer);
    if (analyzer.exceeded_visits()) return GiveUp();
    if (is_old) continue;
    exit = std::move(result);
    for (const Edge& edge : forward ? block.after : block.before) {
      pending.insert(edge.index);
    }
  }
  operations_left -= analyzer.visits() - before;
}

KnownValues::KnownValues(const Stmt& body, int64_t max_simplification_steps)
    : graph_(std::make_unique<Graph>()) {
  graph_->max_steps = max_simplification_steps;
  Builder<Graph>(*graph_).Visit(body);
  if (graph_->exceeded()) graph_->GiveUp();
  graph_->Propagate(/*forward=*/true, std::nullopt);
  graph_->Propagate(/*forward=*/false, std::nullopt);
}

KnownValues::~KnownValues() = default;

const absl::Status& KnownValues::status() const { return graph_->status; }

void KnownValues::Remove(const BufferStore& store) {
  const size_t* index = graph_->block_of.Find(store.get());
  if (index == nullptr) return;
  std::erase_if(graph_->blocks[*index].touches, [](const Touch& touch) {
    return touch.access == Access::kWrite;
  });
  graph_->Propagate(/*forward=*/true, *index);
  graph_->Propagate(/*forward=*/false, *index);
}

bool KnownValues::IsOverwritten(const BufferStore& store,
                                const Stmt& context) const {
  const std::vector<Var>* axes = graph_->axes.Find(store->buffer().get());
  const size_t* index = graph_->block_of.Find(context.get());
  if (axes == nullptr || index == nullptr) return false;
  const FlowBlock& block = graph_->blocks[*index];
  if (block.unused_at_end.empty()) return false;
  const std::vector<PrimExpr> indices(store->indices().begin(),
                                      store->indices().end());
  VarRanges free;
  const Touch touch =
      graph_->MakeTouch(block, store->buffer(), *axes, indices, Access::kWrite,
                        BufferLoad(store->buffer(), indices), free);
  Analyzer& analyzer = graph_->OfQueries();
  analyzer.SetMaxVisits(analyzer.visits() + kMaxSimplifiedOperations);
  analyzer.Bind(free);
  const PrimExpr predicate = SimplifyAsAndOfOrs(
      And(touch.predicate, touch.AtIteration(std::nullopt)), analyzer);
  for (const Touch& unused : block.unused_at_end) {
    if (unused.buffer != touch.buffer) continue;
    if (IsZero(SimplifyAsAndOfOrs(And(predicate, Negated(unused.predicate)),
                                  analyzer))) {
      return true;
    }
  }
  return false;
}

PrimExpr KnownValues::SimplifyAt(const PrimExpr& e, const Stmt& context,
                                 Analyzer& analyzer) const {
  const size_t* index = graph_->block_of.Find(context.get());
  if (index == nullptr) return analyzer.Simplify(e);
  const FlowBlock& block = graph_->blocks[*index];
  PrimExpr constraint = True();
  for (const PrimExpr& known : graph_->assumptions) {
    constraint = And(constraint, known);
  }
  const auto assumed = analyzer.WithConstraint(constraint);
  const auto scope = analyzer.WithConstraint(block.condition);
  return analyzer.Simplify(
      KnownLoadReplacer(block.known_at_start, graph_->axes, analyzer)
          .Rewrite(e));
}

}  // namespace baton::tir
