#include "baton/tir/transform/known_values.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/linear_equations.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/rewriter.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

PrimExpr And(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kAnd, a, b);
}
PrimExpr Or(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kOr, a, b);
}
// The negation, of a constant at once.
PrimExpr Negation(const PrimExpr& e) {
  if (const auto* imm = e.As<IntImmNode>()) {
    return IntImm::Bool(imm->value() == 0);
  }
  return Not(e);
}

bool HasLoad(const PrimExpr& e) {
  bool found = false;
  PostOrderVisit(e, [&](const PrimExpr& part) {
    found = found || part.Is<BufferLoadNode>();
  });
  return found;
}

PrimExpr SubstituteAxes(const std::vector<Var>& axes,
                        absl::Span<const PrimExpr> indices, const PrimExpr& e) {
  return Substitute(e, [&](const VarNode* var) {
    for (size_t i = 0; i < axes.size() && i < indices.size(); ++i) {
      if (axes[i].get() == var) return indices[i];
    }
    return PrimExpr();
  });
}

PrimExpr SubstituteValues(const PrimExpr& e, const VarMap<PrimExpr>& values) {
  if (values.empty()) return e;
  return Substitute(e, [&](const VarNode* var) {
    const PrimExpr* value = values.Find(var);
    return value != nullptr ? *value : PrimExpr();
  });
}

// The indices with a variable for the lane of vectors; it is null if there are
// none.
struct ScalarIndices {
  std::vector<PrimExpr> indices;
  Var lane;
  int lanes = 1;
};
ScalarIndices Scalarize(absl::Span<const PrimExpr> indices) {
  ScalarIndices result;
  for (const PrimExpr& index : indices) {
    if (index.dtype().lanes() == 1) {
      result.indices.push_back(index);
      continue;
    }
    if (!result.lane.defined()) {
      result.lane = Var("lane", WithLanes(index.dtype(), 1));
      result.lanes = index.dtype().lanes();
    }
    result.indices.push_back(UnwrapVectorExpr(index, result.lane));
  }
  return result;
}

constexpr unsigned kAllExtensions =
    Analyzer::kTransitivelyProveInequalities |
    Analyzer::kConvertBooleanToAndOfOrs |
    Analyzer::kApplyConstraintsToBooleanBranches;

// Replaces loads by values.
class LoadReplacer final : public AnalyzingRewriter {
 public:
  using Fn = absl::FunctionRef<PrimExpr(const BufferLoadNode*)>;
  LoadReplacer(Analyzer& analyzer, Fn value_of)
      : AnalyzingRewriter(analyzer), value_of_(value_of) {}

 protected:
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr value = value_of_(node);
    return value.defined() ? value : PrimExpr(node);
  }

 private:
  Fn value_of_;
};

}  // namespace

PrimExpr KnownValues::Touch::AfterIteration() const {
  PrimExpr result = IntImm::Bool(true);
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    result = Or(MakeBinary(BinaryOp::kGE, it->first, it->second),
                And(MakeBinary(BinaryOp::kEQ, it->first, it->second), result));
  }
  return result;
}

// --- States ------------------------------------------------------------------

void KnownValues::State::AddCondition(const PrimExpr& condition) {
  for (Touch& known : knowns) known.predicate = And(known.predicate, condition);
}

void KnownValues::State::Substitute(const VarMap<PrimExpr>& values,
                                    Analyzer& analyzer) {
  if (values.empty()) return;
  for (Touch& known : knowns) {
    const PrimExpr updated = SubstituteValues(known.predicate, values);
    if (updated == known.predicate) continue;
    known.predicate = SimplifyAsAndOfOrs(updated, analyzer);
  }
}

void KnownValues::State::Unite(const State& other, Analyzer& analyzer) {
  for (const Touch& theirs : other.knowns) {
    const auto mine =
        std::find_if(knowns.begin(), knowns.end(), [&](const Touch& known) {
          return known.buffer == theirs.buffer &&
                 analyzer.CanProveEqual(known.value, theirs.value);
        });
    if (mine == knowns.end()) {
      knowns.push_back(theirs);
    } else {
      mine->predicate =
          SimplifyAsAndOfOrs(Or(mine->predicate, theirs.predicate), analyzer);
    }
  }
}

void KnownValues::State::Intersect(const State& other, Analyzer& analyzer) {
  std::vector<Touch> common;
  for (const Touch& a : knowns) {
    for (const Touch& b : other.knowns) {
      if (!(a.buffer == b.buffer)) continue;
      const PrimExpr predicate =
          SimplifyAsAndOfOrs(And(a.predicate, b.predicate), analyzer);
      if (IsZero(predicate)) continue;
      const auto scope = analyzer.WithConstraint(predicate);
      if (analyzer.CanProveEqual(a.value, b.value)) {
        common.push_back({a.buffer, predicate, a.value, {}, Touch::kAssume});
      }
    }
  }
  knowns = std::move(common);
}

void KnownValues::State::RemoveFree(const VarRanges& free, Analyzer& analyzer) {
  for (Touch& known : knowns) {
    known.predicate = SimplifyAsAndOfOrs(
        NarrowPredicateExpression(known.predicate, free), analyzer);
  }
}

bool KnownValues::State::SameAs(const State& other, Analyzer& analyzer) const {
  if (knowns.size() != other.knowns.size()) return false;
  const auto implies = [&](const PrimExpr& a, const PrimExpr& b) {
    const auto scope = analyzer.WithConstraint(a);
    return analyzer.CanProve(b);
  };
  for (size_t i = 0; i < knowns.size(); ++i) {
    const Touch& a = knowns[i];
    const Touch& b = other.knowns[i];
    if (!(a.buffer == b.buffer) || a.kind != b.kind) return false;
    if (!ExprDeepEqual(a.predicate, b.predicate) &&
        !(implies(a.predicate, b.predicate) &&
          implies(b.predicate, a.predicate))) {
      return false;
    }
    if (!ExprDeepEqual(a.value, b.value) &&
        !analyzer.CanProveEqual(a.value, b.value)) {
      return false;
    }
  }
  return true;
}

namespace {

// A part of the elements, and what the loads in it are known to be.
struct Region {
  PrimExpr predicate;
  std::vector<std::pair<const BufferLoadNode*, PrimExpr>> values;
};

PrimExpr ApplyRegion(const Region& region, const PrimExpr& e,
                     Analyzer& analyzer) {
  LoadReplacer replacer(analyzer, [&](const BufferLoadNode* load) {
    for (const auto& [known, value] : region.values) {
      if (known == load) return value;
    }
    return PrimExpr();
  });
  return analyzer.Simplify(replacer.Rewrite(e));
}

}  // namespace

void KnownValues::State::Apply(const KnownValues& graph,
                               const std::vector<Touch>& touches,
                               Analyzer& analyzer) {
  // Splits by what the loads of an expression are known to be.
  const auto split = [&](std::vector<Region>& regions, const PrimExpr& e) {
    PostOrderVisit(e, [&](const PrimExpr& part) {
      const auto* load = part.As<BufferLoadNode>();
      if (load == nullptr) return;
      const std::vector<Var>* axes = graph.FindAxes(load->buffer());
      if (axes == nullptr) return;
      std::vector<std::pair<PrimExpr, PrimExpr>> cases;
      PrimExpr unknown = IntImm::Bool(true);
      for (const Touch& known : knowns) {
        if (!(known.buffer == load->buffer())) continue;
        const PrimExpr predicate = SimplifyAsAndOfOrs(
            SubstituteAxes(*axes, load->indices(), known.predicate), analyzer);
        if (IsZero(predicate)) continue;
        cases.emplace_back(predicate,
                           SubstituteAxes(*axes, load->indices(), known.value));
        unknown =
            SimplifyAsAndOfOrs(And(unknown, Negation(predicate)), analyzer);
      }
      if (cases.empty()) return;
      if (!IsZero(unknown)) cases.insert(cases.begin(), {unknown, PrimExpr()});
      std::vector<Region> updated;
      for (const Region& region : regions) {
        for (const auto& [predicate, value] : cases) {
          const PrimExpr both =
              SimplifyAsAndOfOrs(And(region.predicate, predicate), analyzer);
          if (IsZero(both)) continue;
          updated.push_back({both, region.values});
          updated.back().values.emplace_back(load, value);
        }
      }
      regions = std::move(updated);
    });
  };
  std::vector<Touch> added;
  std::vector<std::pair<Buffer, PrimExpr>> kept;  // where knowns stay
  for (const Touch& touch : touches) {
    if (touch.kind == Touch::kRead) continue;
    const PrimExpr predicate = And(touch.predicate, touch.AfterIteration());
    std::vector<Region> regions = {{IntImm::Bool(true), {}}};
    split(regions, predicate);
    split(regions, touch.value);
    for (const Region& region : regions) {
      const PrimExpr where = SimplifyAsAndOfOrs(
          ApplyRegion(region, And(region.predicate, predicate), analyzer),
          analyzer);
      const PrimExpr value = ApplyRegion(region, touch.value, analyzer);
      if (IsZero(where)) continue;
      const auto it = std::find_if(
          kept.begin(), kept.end(),
          [&](const auto& entry) { return entry.first == touch.buffer; });
      if (it != kept.end()) {
        it->second = And(it->second, Negation(where));
      } else {
        kept.emplace_back(touch.buffer, Negation(where));
      }
      if (!HasLoad(value)) {
        added.push_back({touch.buffer, where, value, {}, Touch::kAssume});
      }
    }
  }
  for (Touch& known : knowns) {
    for (const auto& [buffer, predicate] : kept) {
      if (!(buffer == known.buffer)) continue;
      known.predicate =
          SimplifyAsAndOfOrs(And(known.predicate, predicate), analyzer);
    }
  }
  std::vector<bool> used(added.size(), false);
  for (Touch& known : knowns) {
    PrimExpr more = IntImm::Bool(false);
    for (size_t i = 0; i < added.size(); ++i) {
      if (!(added[i].buffer == known.buffer) ||
          !analyzer.CanProveEqual(known.value, added[i].value)) {
        continue;
      }
      more = SimplifyAsAndOfOrs(Or(more, added[i].predicate), analyzer);
      used[i] = true;
    }
    if (!IsZero(more)) {
      known.predicate = SimplifyAsAndOfOrs(Or(known.predicate, more), analyzer);
    }
  }
  for (size_t i = 0; i < added.size(); ++i) {
    if (!used[i]) knowns.push_back(added[i]);
  }
  knowns.erase(std::remove_if(
                   knowns.begin(), knowns.end(),
                   [](const Touch& known) { return IsZero(known.predicate); }),
               knowns.end());
}

// --- The control flow --------------------------------------------------------

class KnownValuesBuilder final : public AnalyzingVisitor {
 public:
  explicit KnownValuesBuilder(KnownValues& out) : out_(out) { Append(); }

 protected:
#define BATON_TIR_NOTE(Name)                          \
  void Visit##Name(const Name##Node* node) override { \
    Note(node);                                       \
    AnalyzingVisitor::Visit##Name(node);              \
  }
  BATON_TIR_NOTE(AttrStmt)
  BATON_TIR_NOTE(AssertStmt)
  BATON_TIR_NOTE(While)
  BATON_TIR_NOTE(BufferRealize)
  BATON_TIR_NOTE(Allocate)
  BATON_TIR_NOTE(AllocateConst)
  BATON_TIR_NOTE(DeclBuffer)
  BATON_TIR_NOTE(SeqStmt)
  BATON_TIR_NOTE(Block)
  BATON_TIR_NOTE(BlockRealize)
  BATON_TIR_NOTE(Prefetch)
#undef BATON_TIR_NOTE

  void VisitEvaluate(const EvaluateNode* node) override {
    Note(node);
    const auto* call = node->value().As<CallNode>();
    if (call != nullptr && call->op() == IntrinsicOp("assume") &&
        call->args().size() == 1) {
      Assume(call->args()[0]);
      return;
    }
    AnalyzingVisitor::VisitEvaluate(node);
  }

  void VisitLet(const LetNode* node) override {
    const LetScope scope(*this, node->var(), node->value());
    AnalyzingVisitor::VisitLet(node);
  }
  void VisitLetStmt(const LetStmtNode* node) override {
    Note(node);
    const LetScope scope(*this, node->var(), node->value());
    AnalyzingVisitor::VisitLetStmt(node);
  }

  void VisitBufferLoad(const BufferLoadNode* node) override {
    AnalyzingVisitor::VisitBufferLoad(node);
    Access(node->buffer(), node->indices(), KnownValues::Touch::kRead,
           PrimExpr(node));
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    Note(node);
    AnalyzingVisitor::VisitBufferStore(node);
    Access(node->buffer(), node->indices(), KnownValues::Touch::kWrite,
           node->value());
    // A block changes the elements of buffers once at most.
    Next();
  }

  void VisitFor(const ForNode* node) override {
    Note(node);
    const Var& var = node->loop_var();
    const Range range = {node->min(), node->extent()};
    out_.iterators_.Set(var, range);
    const size_t before = Current();
    loops_.push_back({var, range});
    dependent_.Insert(var.get());
    const size_t start = Append();
    AnalyzingVisitor::VisitFor(node);
    loops_.pop_back();
    const size_t end = Current();
    const size_t after = Append();
    const PrimExpr one = MakeConst(var->dtype(), 1);
    const PrimExpr last =
        analyzer_.Simplify(Sub(Add(node->min(), node->extent()), one));
    Connect(before, start, {}, MakeBinary(BinaryOp::kEQ, var, node->min()));
    Connect(end, after, {{var, last}}, {});
    Connect(end, start, {{var, Sub(var, one)}},
            MakeBinary(BinaryOp::kGT, var, node->min()));
  }

  void VisitIfThenElse(const IfThenElseNode* node) override {
    Note(node);
    Visit(node->condition());
    const PrimExpr real = WithoutLikely(node->condition());
    const size_t before = Current();
    const size_t branch = Append();
    Connect(before, branch, {}, {});
    const auto visit = [&](const PrimExpr& condition, const Stmt& body) {
      const auto scope = analyzer_.WithConstraint(condition);
      const bool pure = IsPure(condition);
      if (pure) conditions_.push_back(condition);
      const size_t start = Append();
      if (!pure && IsReadOnly(condition)) Assume(condition);
      Connect(branch, start, {}, condition);
      Visit(body);
      if (pure) conditions_.pop_back();
      return Current();
    };
    const size_t then_end = visit(real, node->then_case());
    const PrimExpr negation = analyzer_.RewriteSimplify(Negation(real));
    const size_t else_end = visit(negation, node->else_case());
    const size_t after = Append();
    // The branches may change what a condition loads.
    const bool loads = HasLoad(real);
    Connect(then_end, after, {}, loads ? PrimExpr() : real);
    Connect(else_end, after, {}, loads ? PrimExpr() : negation);
  }

 private:
  // Binds a variable whose value depends on loops.
  class LetScope {
   public:
    LetScope(KnownValuesBuilder& builder, const Var& var, const PrimExpr& value)
        : builder_(builder), var_(var) {
      depends_ = UsesVar(value, [&](const VarNode* used) {
        return builder.dependent_.Contains(used);
      });
      if (!depends_) return;
      builder.lets_.Set(var, value);
      builder.dependent_.Insert(var.get());
    }
    LetScope(const LetScope&) = delete;
    LetScope& operator=(const LetScope&) = delete;
    ~LetScope() {
      if (depends_) builder_.lets_.Erase(var_.get());
    }

   private:
    KnownValuesBuilder& builder_;
    const Var& var_;
    bool depends_ = false;
  };

  void Note(const StmtNode* node) { out_.block_of_[node] = Current(); }
  size_t Current() const { return out_.blocks_.size() - 1; }

  PrimExpr ScopePredicate() const {
    PrimExpr predicate = IntImm::Bool(true);
    for (const PrimExpr& condition : conditions_) {
      predicate = And(predicate, condition);
    }
    return predicate;
  }

  size_t Append() {
    KnownValues::Block block;
    block.loops = loops_;
    block.lets = lets_;
    block.predicate = ScopePredicate();
    out_.blocks_.push_back(std::move(block));
    return Current();
  }
  void Next() {
    const size_t before = Current();
    Connect(before, Append(), {}, {});
  }
  // `values` are those of variables before the edge, seen from after it.
  void Connect(size_t from, size_t to, VarMap<PrimExpr> values,
               PrimExpr condition) {
    out_.blocks_[from].successors.push_back({to, {}, {}});
    out_.blocks_[to].predecessors.push_back(
        {from, std::move(values), std::move(condition)});
  }

  void Access(const Buffer& buffer, absl::Span<const PrimExpr> indices,
              KnownValues::Touch::Kind kind, const PrimExpr& value) {
    KnownValues::Touch touch =
        out_.MakeTouch(out_.blocks_.back(), buffer,
                       {indices.begin(), indices.end()}, kind, value);
    out_.blocks_.back().touches.push_back(std::move(touch));
  }

  void Assume(const PrimExpr& condition) {
    for (const PrimExpr& part : ExtractConstraints(condition, false)) {
      AssumePart(part);
    }
  }

  // A disjunction of pure conditions and of `buffer[indices] == value`.
  void AssumePart(const PrimExpr& condition) {
    PrimExpr predicate = IntImm::Bool(true);
    PrimExpr of_buffer;
    for (const PrimExpr& part : ExtractComponents(condition)) {
      if (IsPure(part)) {
        predicate = And(predicate, Negation(part));
      } else if (!IsReadOnly(part) || of_buffer.defined()) {
        return;
      } else {
        of_buffer = part;
      }
    }
    if (!of_buffer.defined()) {
      out_.assumptions_.push_back(Or(Negation(ScopePredicate()), condition));
      return;
    }
    const auto* equal = AsBinary(of_buffer, BinaryOp::kEQ);
    if (equal == nullptr) return;
    const auto* load = equal->a().As<BufferLoadNode>();
    PrimExpr value = equal->b();
    if (load == nullptr) {
      load = equal->b().As<BufferLoadNode>();
      value = equal->a();
    }
    if (load == nullptr || !IsPure(value)) return;
    {
      const auto scope = analyzer_.WithConstraint(predicate);
      KnownValues::Block& block = out_.blocks_.back();
      const PrimExpr before = block.predicate;
      block.predicate = And(block.predicate, predicate);
      Access(load->buffer(), load->indices(), KnownValues::Touch::kAssume,
             value);
      out_.blocks_.back().predicate = before;
    }
    Next();
  }

  KnownValues& out_;
  std::vector<KnownValues::Loop> loops_;
  VarMap<PrimExpr> lets_;
  NodeSet dependent_;
  std::vector<PrimExpr> conditions_;
};

KnownValues::KnownValues(const Stmt& body) {
  KnownValuesBuilder(*this).Visit(body);
  Propagate();
}

const std::vector<Var>* KnownValues::FindAxes(const Buffer& buffer) const {
  for (const auto& [known, vars] : axes_) {
    if (known == buffer) return &vars;
  }
  return nullptr;
}

const std::vector<Var>& KnownValues::AxesOf(
    const Buffer& buffer, absl::Span<const PrimExpr> indices) {
  if (const std::vector<Var>* known = FindAxes(buffer)) return *known;
  std::vector<Var> vars;
  for (const PrimExpr& index : indices) {
    vars.emplace_back(absl::StrCat(buffer->name(), "_axis_", vars.size()),
                      WithLanes(index.dtype(), 1));
  }
  axes_.emplace_back(buffer, std::move(vars));
  return axes_.back().second;
}

// Expresses an access by the axes of the buffer in place of the loops.
KnownValues::Touch KnownValues::MakeTouch(const Block& block,
                                          const Buffer& buffer,
                                          const std::vector<PrimExpr>& indices,
                                          Touch::Kind kind,
                                          const PrimExpr& value) {
  Analyzer analyzer;
  const ScalarIndices scalar = Scalarize(indices);
  const std::vector<Var> axes = AxesOf(buffer, indices);
  std::vector<Var> vars;
  VarRanges ranges;
  for (const Loop& loop : block.loops) {
    vars.push_back(loop.var);
    ranges.Set(loop.var, loop.range);
  }
  if (scalar.lane.defined()) {
    vars.push_back(scalar.lane);
    ranges.Set(scalar.lane, {MakeConst(scalar.lane->dtype(), 0),
                             MakeConst(scalar.lane->dtype(), scalar.lanes)});
  }
  std::vector<PrimExpr> equations;
  for (size_t i = 0; i < axes.size() && i < scalar.indices.size(); ++i) {
    equations.push_back(
        MakeBinary(BinaryOp::kEQ, axes[i],
                   SubstituteValues(scalar.indices[i], block.lets)));
  }
  LinearSolution solution = SolveLinearEquations(vars, ranges, equations);
  VarRanges free;
  for (const Var& var : solution.vars) {
    if (const Range* range = solution.ranges.Find(var)) free.Set(var, *range);
  }
  PrimExpr predicate = IntImm::Bool(true);
  for (const PrimExpr& relation : solution.relations) {
    predicate = And(predicate, relation);
  }
  predicate = SimplifyAsAndOfOrs(predicate, analyzer);
  // Free variables that a condition determines are replaced by their values.
  while (true) {
    VarMap<PrimExpr> removable;
    for (const PrimExpr& condition : ExtractConstraints(predicate)) {
      const auto* equal = AsBinary(condition, BinaryOp::kEQ);
      if (equal == nullptr) continue;
      const auto consider = [&](const PrimExpr& a, const PrimExpr& b) {
        const auto* var = a.As<VarNode>();
        if (var == nullptr || !free.Contains(var) ||
            UsesVar(b, [&](const VarNode* v) { return free.Contains(v); })) {
          return;
        }
        removable.Set(Var(var), b);
      };
      consider(equal->a(), equal->b());
      consider(equal->b(), equal->a());
    }
    for (const auto& [var, range] : free) {
      if (IsOne(range.extent)) removable.Set(var, range.min);
    }
    if (removable.empty()) break;
    const auto update = [&](const PrimExpr& e) {
      return analyzer.Simplify(SubstituteValues(e, removable));
    };
    for (const Var& var : vars) {
      if (PrimExpr* known = solution.values.Find(var)) *known = update(*known);
    }
    predicate = update(predicate);
    for (const auto& [var, replaced] : removable) free.Erase(var.get());
  }
  for (const auto& [var, range] : free) free_.Set(var, range);
  const auto normalize = [&](const PrimExpr& e) {
    PrimExpr result = SubstituteValues(e, block.lets);
    if (scalar.lane.defined()) result = UnwrapVectorExpr(result, scalar.lane);
    return SubstituteValues(result, solution.values);
  };
  Touch touch;
  touch.buffer = buffer;
  touch.kind = kind;
  for (const Loop& loop : block.loops) {
    if (const PrimExpr* known = solution.values.Find(loop.var)) {
      touch.loops.emplace_back(loop.var, *known);
    }
  }
  touch.value = analyzer.Simplify(normalize(value));
  touch.predicate =
      analyzer.Simplify(And(normalize(predicate), normalize(block.predicate)));
  return touch;
}

KnownValues::State KnownValues::StateAtStart(const Block& block,
                                             const std::vector<int>& visits,
                                             Analyzer& analyzer) const {
  std::vector<State> states;
  bool visited = false;
  for (const Edge& edge : block.predecessors) {
    State state = blocks_[edge.block].at_end;
    state.Substitute(edge.values, analyzer);
    states.push_back(std::move(state));
    visited = visited || visits[edge.block] > 0;
  }
  if (!visited) return {};
  if (states.size() == 1) return states[0];
  const Edge& a = block.predecessors[0];
  const Edge& b = block.predecessors[1];
  // What was not visited yet is taken to agree; a later visit corrects it.
  if (visits[a.block] == 0) return states[1];
  if (visits[b.block] == 0) return states[0];
  if (a.condition.defined() && b.condition.defined()) {
    states[0].AddCondition(a.condition);
    states[1].AddCondition(b.condition);
    states[0].Unite(states[1], analyzer);
  } else {
    states[0].Intersect(states[1], analyzer);
  }
  return states[0];
}

void KnownValues::Propagate() {
  // Blocks near the start come first.
  std::set<size_t> pending;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const std::vector<Touch>& touches = blocks_[i].touches;
    if (std::any_of(touches.begin(), touches.end(),
                    [](const Touch& touch) { return !HasLoad(touch.value); })) {
      pending.insert(i);
    }
  }
  std::vector<int> visits(blocks_.size(), 0);
  Analyzer analyzer;
  analyzer.SetExtensions(kAllExtensions);
  analyzer.Bind(iterators_);
  analyzer.Bind(free_);
  while (!pending.empty()) {
    const size_t i = *pending.begin();
    pending.erase(pending.begin());
    Block& block = blocks_[i];
    const int before = visits[i]++;
    State at_end;
    if (before >= kMaxVisits) {
      block.at_start = {};
    } else {
      block.at_start = StateAtStart(block, visits, analyzer);
      at_end = block.at_start;
      at_end.Apply(*this, block.touches, analyzer);
      at_end.RemoveFree(free_, analyzer);
    }
    if (before > 0 && at_end.SameAs(block.at_end, analyzer)) continue;
    block.at_end = std::move(at_end);
    for (const Edge& edge : block.successors) pending.insert(edge.block);
  }
}

PrimExpr KnownValues::ReplaceLoads(const PrimExpr& e, const State& state,
                                   Analyzer& analyzer) const {
  if (state.knowns.empty() || !HasLoad(e)) return e;
  LoadReplacer replacer(analyzer, [&](const BufferLoadNode* load) {
    const std::vector<Var>* axes = FindAxes(load->buffer());
    if (axes == nullptr) return PrimExpr();
    for (const Touch& known : state.knowns) {
      if (!(known.buffer == load->buffer())) continue;
      const ScalarIndices scalar = Scalarize(load->indices());
      const PrimExpr predicate =
          SubstituteAxes(*axes, scalar.indices, known.predicate);
      PrimExpr lanes = IntImm::Bool(true);
      if (scalar.lane.defined()) {
        const DType dtype = scalar.lane->dtype();
        lanes = And(MakeBinary(BinaryOp::kLE, MakeConst(dtype, 0), scalar.lane),
                    MakeBinary(BinaryOp::kLT, scalar.lane,
                               MakeConst(dtype, scalar.lanes)));
      }
      const auto scope = analyzer.WithConstraint(lanes);
      if (analyzer.CanProve(predicate)) {
        return SubstituteAxes(*axes, load->indices(), known.value);
      }
    }
    return PrimExpr();
  });
  return replacer.Rewrite(e);
}

PrimExpr KnownValues::SimplifyAt(const PrimExpr& e, const Stmt& at,
                                 Analyzer& analyzer) const {
  const size_t* index = at.defined() ? block_of_.Find(at.get()) : nullptr;
  if (index == nullptr) return analyzer.Simplify(e);
  const Block& block = blocks_[*index];
  PrimExpr assumed = IntImm::Bool(true);
  for (const PrimExpr& assumption : assumptions_) {
    assumed = And(assumed, assumption);
  }
  const auto outer = analyzer.WithConstraint(assumed);
  const auto inner = analyzer.WithConstraint(block.predicate);
  return analyzer.Simplify(ReplaceLoads(e, block.at_start, analyzer));
}

}  // namespace baton::tir
