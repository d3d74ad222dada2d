#include "baton/tir/transform/loop_partition.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/tir/transform/copy_budget.h"
#include "baton/tir/transform/pass_config.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

struct LoopPartitionConfig {
  static constexpr bool kIsPassConfig = true;
  bool partition_const_loop = false;
  bool no_unroll_loop_with_extent_one = false;
  bool unroll_loop_with_partition_hint_no_interval = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("partition_const_loop", &LoopPartitionConfig::partition_const_loop,
      "Splits loops with constant bounds, too.");
    v("no_unroll_loop_with_extent_one",
      &LoopPartitionConfig::no_unroll_loop_with_extent_one,
      "Keeps loops of one step.");
    v("unroll_loop_with_partition_hint_no_interval",
      &LoopPartitionConfig::unroll_loop_with_partition_hint_no_interval,
      "Unrolls loops with a hint that are not split.");
  }
};
BATON_REGISTER_CONFIG(kConfig, LoopPartitionConfig, "tir.LoopPartition", {},
                      "Kinds of loops that tir.LoopPartition splits.");

constexpr char kHint[] = "pragma_loop_partition_hint";

bool IsConstant(const PrimExpr& e) { return e.As<IntImmNode>() != nullptr; }

PrimExpr Compare(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(op, a, b);
}

const VarNode* ThreadOf(const AttrStmtNode& attr) {
  const auto* thread = attr.node().As<IterVarNode>();
  if (thread != nullptr) return thread->var().get();
  return attr.node().As<VarNode>();
}

// Selects the loops that may be split: those whose variable a likely condition
// uses, and those with a hint.
class Selector final : public Visitor {
 public:
  explicit Selector(bool partition_const_loop)
      : partition_const_loop_(partition_const_loop) {}

  bool IsCandidate(const Node* loop) const {
    return candidates_.Contains(loop);
  }
  bool HasHint(const VarNode* var) const { return hinted_.Contains(var); }

 protected:
  void VisitFor(const ForNode* node) override {
    const auto visit = [&] { Visitor::VisitFor(node); };
    if (IsConstant(node->min()) && IsConstant(node->extent()) &&
        !partition_const_loop_) {
      return visit();
    }
    Select(Stmt(node), node->loop_var(), visit);
  }

  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto visit = [&] { Visitor::VisitAttrStmt(node); };
    if (node->key() == "thread_extent") {
      const auto* thread = node->node().As<IterVarNode>();
      if (thread != nullptr && IsBlockIdx(ThreadScope(thread->thread_tag())) &&
          (!IsConstant(node->value()) || partition_const_loop_)) {
        return Select(Stmt(node), thread->var(), visit);
      }
    } else if (node->key() == kHint && IsTrue(node->value())) {
      const VarNode* var = ThreadOf(*node);
      if (var != nullptr) {
        kept_.push_back(Var(var));
        hinted_.Insert(var);
      }
    }
    visit();
  }

  void VisitSeqStmt(const SeqStmtNode* node) override {
    const bool outer = no_split_;
    bool any = outer;
    for (const Stmt& stmt : node->seq()) {
      no_split_ = outer;
      Visit(stmt);
      any = any || no_split_;
    }
    no_split_ = any;
  }

  void VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.likely")) {
      in_likely_ = true;
      Visitor::VisitCall(node);
      in_likely_ = false;
    } else if (node->op() == BATON_OP("tir.tvm_thread_allreduce")) {
      no_split_ = true;
    } else {
      Visitor::VisitCall(node);
    }
  }

  void VisitVar(const VarNode* node) override {
    bool* is_used = in_likely_ ? uses_.Find(node) : nullptr;
    if (is_used != nullptr) *is_used = true;
  }

 private:
  bool IsTrue(const PrimExpr& value) {
    const auto* imm = value.As<IntImmNode>();
    return imm != nullptr ? imm->value() != 0 : analyzer_.CanProve(value);
  }

  template <typename Fn>
  void Select(const Stmt& loop, const Var& var, const Fn& visit) {
    kept_.push_back(loop);
    if (hinted_.Contains(var.get())) {
      candidates_.Insert(loop.get());
      return visit();
    }
    uses_[var.get()] = false;
    visit();
    if (*uses_.Find(var.get()) && !no_split_) candidates_.Insert(loop.get());
  }

  const bool partition_const_loop_;
  bool in_likely_ = false;
  bool no_split_ = false;
  NodeMap<bool> uses_;
  NodeSet candidates_;
  NodeSet hinted_;
  std::vector<Expr> kept_;  // keys of the sets
  Analyzer analyzer_;
};

// An interval of a variable in which a condition has a value.
struct Known {
  PrimExpr condition;
  bool value;
  IntSet interval;
};

// Finds the conditions on `var` in a statement whose values are known in an
// interval.
class IntervalFinder final : public Visitor {
 public:
  IntervalFinder(const Var& var, Domains hints, Domains relax, bool has_hint)
      : var_(var),
        has_hint_(has_hint),
        hints_(std::move(hints)),
        relax_(std::move(relax)) {
    for (const auto& entry : hints_) outer_.Insert(entry.first.get());
    for (const auto& entry : relax_) outer_.Insert(entry.first.get());
  }

  const std::vector<Known>& known() const { return known_; }

 protected:
  void VisitFor(const ForNode* node) override {
    const auto is_outer = [this](const VarNode* var) {
      return outer_.Contains(var);
    };
    if (UsesVar(node->min(), is_outer) || UsesVar(node->extent(), is_outer)) {
      return;
    }
    const PrimExpr last =
        Sub(Add(node->min(), node->extent()), IntImm(kInt32, 1));
    InScope(node->loop_var(), IntSet::Interval(node->min(), last),
            [&] { Visitor::VisitFor(node); });
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* thread = node->node().As<IterVarNode>();
    if (node->key() != "thread_extent" || thread == nullptr) {
      return Visitor::VisitAttrStmt(node);
    }
    InScope(thread->var(),
            IntSet::FromMinExtent(MakeConst(node->value().dtype(), 0),
                                  node->value()),
            [&] { Visitor::VisitAttrStmt(node); });
  }
  void VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.likely") && !node->args().empty()) {
      Deduce(node->args()[0]);
    } else {
      Visitor::VisitCall(node);
    }
  }
  void VisitBinary(const BinaryNode* node) override {
    if (has_hint_ && IsComparison(node->op())) {
      Deduce(Binary(node));
    } else {
      Visitor::VisitBinary(node);
    }
  }

 private:
  template <typename Fn>
  void InScope(const Var& var, const IntSet& set, const Fn& visit) {
    const bool is_new = !hints_.Contains(var);
    if (is_new) {
      hints_.Set(var, set);
      relax_.Set(var, set);
    }
    visit();
    hints_.Erase(var.get());
    relax_.Erase(var.get());
  }

  static PrimExpr Inverse(const PrimExpr& condition) {
    const auto* node = condition.As<BinaryNode>();
    if (node == nullptr) return {};
    const auto inverse = [](BinaryOp op) -> std::optional<BinaryOp> {
      switch (op) {
        case BinaryOp::kLT:
          return BinaryOp::kGE;
        case BinaryOp::kGT:
          return BinaryOp::kLE;
        case BinaryOp::kLE:
          return BinaryOp::kGT;
        case BinaryOp::kGE:
          return BinaryOp::kLT;
        case BinaryOp::kEQ:
          return BinaryOp::kNE;
        case BinaryOp::kNE:
          return BinaryOp::kEQ;
        default:
          return std::nullopt;
      }
    }(node->op());
    if (!inverse.has_value()) return {};
    return Binary(*inverse, node->a(), node->b(), node->span());
  }

  void Deduce(const PrimExpr& condition) {
    if (!UsesVar(condition, var_.get())) return;
    AddKnown(condition, condition, true);
    const PrimExpr inverse = Inverse(condition);
    if (inverse.defined()) AddKnown(condition, inverse, false);
  }
  void AddKnown(const PrimExpr& condition, const PrimExpr& holds, bool value) {
    const IntSet interval = DeduceBound(var_, holds, hints_, relax_);
    if (interval.IsNothing()) return;
    for (Known& known : known_) {
      if (known.condition == condition && known.value == value) {
        known.interval = interval;
        return;
      }
    }
    known_.push_back({condition, value, interval});
  }

  const Var var_;
  const bool has_hint_;
  Domains hints_;
  Domains relax_;
  NodeSet outer_;
  std::vector<Known> known_;
};

// Replaces conditions by their value.
class ConditionReplacer final : public Rewriter {
 public:
  ConditionReplacer(const NodeSet& conditions, bool value)
      : conditions_(conditions), value_(IntImm::Bool(value)) {}

 protected:
  PrimExpr VisitBinary(const BinaryNode* node) override {
    return conditions_.Contains(node) ? value_ : Rewriter::VisitBinary(node);
  }
  PrimExpr VisitNot(const NotNode* node) override {
    return conditions_.Contains(node) ? value_ : Rewriter::VisitNot(node);
  }
  PrimExpr VisitCall(const CallNode* node) override {
    return conditions_.Contains(node) ? value_ : Rewriter::VisitCall(node);
  }
  PrimExpr VisitSelect(const SelectNode* node) override {
    return conditions_.Contains(node) ? value_ : Rewriter::VisitSelect(node);
  }
  PrimExpr VisitLet(const LetNode* node) override {
    return conditions_.Contains(node) ? value_ : Rewriter::VisitLet(node);
  }
  PrimExpr VisitCast(const CastNode* node) override {
    return conditions_.Contains(node) ? value_ : Rewriter::VisitCast(node);
  }
  PrimExpr VisitVar(const VarNode* node) override {
    return conditions_.Contains(node) ? value_ : Rewriter::VisitVar(node);
  }

 private:
  const NodeSet& conditions_;
  const PrimExpr value_;
};

// Puts a branch on `condition` inside the innermost threads.
class BranchInserter final : public Rewriter {
 public:
  BranchInserter(const NodeSet& conditions, bool value, PrimExpr condition)
      : conditions_(conditions),
        value_(value),
        condition_(std::move(condition)) {}

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() != "thread_extent") return Rewriter::VisitAttrStmt(node);
    is_innermost_ = true;
    Stmt result = Rewriter::VisitAttrStmt(node);
    if (is_innermost_) {
      Stmt simple =
          ConditionReplacer(conditions_, value_).Rewrite(node->body());
      result =
          AttrStmt(node->node(), node->key(), node->value(),
                   IfThenElse(condition_, simple, node->body()), node->span());
    }
    is_innermost_ = false;
    return result;
  }

 private:
  const NodeSet& conditions_;
  const bool value_;
  const PrimExpr condition_;
  bool is_innermost_ = false;
};

class Partitioner final : public Rewriter {
 public:
  explicit Partitioner(const LoopPartitionConfig& config)
      : config_(config), selector_(config.partition_const_loop) {}

  const absl::Status& status() const { return status_; }

  Stmt SelectAndRewrite(const Stmt& stmt) {
    selector_.Visit(stmt);
    return Rewrite(stmt);
  }

 protected:
  Stmt VisitFor(const ForNode* node) override {
    analyzer_.Bind(node->loop_var(), Range{node->min(), node->extent()});
    const PrimExpr last =
        Sub(Add(node->min(), node->extent()), IntImm(kInt32, 1));
    if (selector_.IsCandidate(node)) {
      Stmt result = Partition(Stmt(node), node->loop_var(), node->min(), last,
                              node->body(), false);
      if (result.defined()) return result;
    }
    hints_.Set(node->loop_var(), IntSet::Interval(node->min(), last));
    Stmt result = Rewriter::VisitFor(node);
    hints_.Erase(node->loop_var().get());
    return result;
  }

  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* thread = node->node().As<IterVarNode>();
    if (node->key() != "thread_extent" || thread == nullptr) {
      return Rewriter::VisitAttrStmt(node);
    }
    const Var& var = thread->var();
    const PrimExpr last = Sub(node->value(), IntImm(kInt32, 1));
    if (selector_.IsCandidate(node)) {
      Stmt result = Partition(Stmt(node), var, IntImm(kInt32, 0), last,
                              node->body(), true);
      if (result.defined()) return result;
    }
    // Threads of one group may diverge: conditions must hold for all of them.
    Domains& domains =
        ThreadScope(thread->thread_tag()).rank == 1 ? relax_ : hints_;
    domains.Set(var, IntSet::Interval(MakeConst(var->dtype(), 0), last));
    Stmt result = Rewriter::VisitAttrStmt(node);
    domains.Erase(var.get());
    return result;
  }

 private:
  // The interval in which conditions, which become `found`, have `value`.
  // Nothing if there is no interval.
  IntSet FindMiddle(const std::vector<Known>& known, const IntSet& all,
                    bool value, bool has_hint, std::vector<PrimExpr>& found) {
    std::vector<IntSet> sets;
    found.clear();
    for (const Known& k : known) {
      if (k.value != value ||
          Intersect(analyzer_, k.interval, all).IsNothing()) {
        continue;
      }
      sets.push_back(k.interval);
      found.push_back(k.condition);
    }
    IntSet interval = sets.empty() ? IntSet::Nothing() : Intersect(sets);
    if (!interval.IsNothing() || !has_hint) return interval;
    // As many of the conditions as have a common interval.
    IntSet common = IntSet::Everything();
    found.clear();
    for (const Known& k : known) {
      if (k.value != value ||
          Intersect(analyzer_, k.interval, all).IsNothing()) {
        continue;
      }
      common = Intersect(analyzer_, common, k.interval);
      if (common.IsNothing()) break;
      found.push_back(k.condition);
      interval =
          IntSet::Interval(Simplified(common.min()), Simplified(common.max()));
    }
    return interval;
  }
  PrimExpr Simplified(const PrimExpr& e) {
    return e.defined() ? analyzer_.Simplify(e) : e;
  }
  bool Proves(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
    return analyzer_.CanProve(Compare(op, a, b));
  }

  // The loop or threads `stmt` over [min, max] in parts: before, within and
  // after the interval in which conditions have one value. Null if there is no
  // such interval.
  Stmt Partition(const Stmt& stmt, const Var& var, const PrimExpr& min,
                 const PrimExpr& max, const Stmt& body, bool is_thread) {
    const IntImm zero(kInt32, 0);
    const IntImm one(kInt32, 1);
    Domains hints = hints_;
    if (!hints.Contains(var)) hints.Set(var, IntSet::Interval(min, max));
    const bool has_hint = selector_.HasHint(var.get());
    IntervalFinder finder(var, std::move(hints), relax_, has_hint);
    finder.Visit(body);
    if (finder.known().empty()) return {};

    const IntSet all = IntSet::Interval(min, max);
    std::vector<PrimExpr> found;
    bool value = true;
    IntSet middle = FindMiddle(finder.known(), all, true, has_hint, found);
    if (middle.IsNothing()) {
      value = false;
      middle = FindMiddle(finder.known(), all, false, has_hint, found);
    }
    if (status_.ok() && !middle.IsNothing()) {
      const int copies = is_thread ? 1 : 2;
      status_ = budget_.Take(body, copies, stmt->span());
    }
    if (!status_.ok()) return {};
    if (middle.IsNothing()) {
      if (has_hint && config_.unroll_loop_with_partition_hint_no_interval &&
          Proves(BinaryOp::kGT, Sub(max, min), zero)) {
        return For({.loop_var = var,
                    .min = min,
                    .extent = Add(Sub(max, min), one),
                    .kind = ForKind::kUnrolled,
                    .body = SelectAndRewrite(body)},
                   stmt->span());
      }
      return {};
    }
    NodeSet conditions;
    for (const PrimExpr& condition : found) conditions.Insert(condition.get());

    // [min, begin) is before; only if its length is certain is it split again.
    PrimExpr begin = min;
    Stmt before;
    bool split_before = true;
    if (middle.HasLowerBound()) {
      begin = analyzer_.Simplify(middle.min());
      if (!Proves(BinaryOp::kEQ, begin, min)) {
        const PrimExpr extent = analyzer_.Simplify(Sub(begin, min));
        if (!Proves(BinaryOp::kGT, extent, zero)) {
          begin = MakeBinary(BinaryOp::kMax, begin, min);
          split_before = false;
        }
        if (!Proves(BinaryOp::kLE, extent, zero) && !is_thread) {
          before = MakeFor(stmt, Sub(begin, min), Shifted(body, var, min));
        }
      }
    }
    // [end, max] is after.
    PrimExpr end = Add(max, one);
    Stmt after;
    bool split_after = true;
    if (middle.HasUpperBound()) {
      end = analyzer_.Simplify(Add(middle.max(), one));
      if (!Proves(BinaryOp::kEQ, middle.max(), max)) {
        const PrimExpr extent = analyzer_.Simplify(Add(Sub(max, end), one));
        if (!Proves(BinaryOp::kGT, extent, zero)) {
          end = MakeBinary(BinaryOp::kMin, end, Add(max, one));
          split_after = false;
        }
        if (!Proves(BinaryOp::kLE, extent, zero) && !is_thread) {
          after = MakeFor(stmt, extent, Shifted(body, var, end));
        }
      }
    }

    if (is_thread) {
      PrimExpr condition = IntImm::Bool(true);
      if (!Proves(BinaryOp::kEQ, begin, min)) {
        condition = MakeBinary(BinaryOp::kAnd, condition,
                               Compare(BinaryOp::kGE, var, begin));
      }
      if (!Proves(BinaryOp::kEQ, end, Add(max, one))) {
        condition = MakeBinary(BinaryOp::kAnd, condition,
                               Compare(BinaryOp::kLT, var, end));
      }
      return ConvertSSA(
          BranchInserter(conditions, value, condition).Rewrite(stmt));
    }
    Stmt within;
    if (!Proves(BinaryOp::kGE, begin, end)) {
      const Stmt simple = ConditionReplacer(conditions, value).Rewrite(body);
      within = SelectAndRewrite(
          MakeFor(stmt, Sub(end, begin), Shifted(simple, var, begin)));
      if (before.defined() && split_before) before = SelectAndRewrite(before);
      if (after.defined() && split_after) after = SelectAndRewrite(after);
    }
    std::vector<Stmt> parts;
    AppendFlattened(before, parts);
    AppendFlattened(within, parts);
    AppendFlattened(after, parts);
    return ConvertSSA(MakeSeq(std::move(parts)));
  }

  static Stmt Shifted(const Stmt& body, const Var& var, const PrimExpr& by) {
    const PrimExpr value = Add(var, by);
    return Substitute(body, [&](const VarNode* v) {
      return v == var.get() ? value : PrimExpr();
    });
  }

  Stmt MakeFor(const Stmt& stmt, const PrimExpr& extent, const Stmt& body) {
    const auto* loop = stmt.As<ForNode>();
    if (Proves(BinaryOp::kEQ, extent, IntImm(kInt32, 1)) &&
        !config_.no_unroll_loop_with_extent_one &&
        loop->annotations().empty()) {
      const PrimExpr zero = MakeConst(loop->loop_var()->dtype(), 0);
      return Substitute(body, [&](const VarNode* var) {
        return var == loop->loop_var().get() ? zero : PrimExpr();
      });
    }
    ForNode::Parts parts = loop->parts();
    parts.min = IntImm(loop->min().dtype(), 0);
    parts.extent = extent;
    parts.body = body;
    return For(std::move(parts), loop->span());
  }

  const LoopPartitionConfig config_;
  Selector selector_;
  Domains hints_;
  Domains relax_;
  CopyBudget budget_{"tir.LoopPartition"};
  absl::Status status_;
  Analyzer analyzer_;
};

class MarkRemover final : public Rewriter {
 protected:
  PrimExpr VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.likely") && node->args().size() == 1) {
      return Rewrite(node->args()[0]);
    }
    return Rewriter::VisitCall(node);
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == kHint) return Rewrite(node->body());
    return Rewriter::VisitAttrStmt(node);
  }
};

}  // namespace

Pass LoopPartition() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<PrimFunc> {
        Partitioner partitioner(context.Get(kConfig));
        PrimFuncNode::Parts parts = function->parts();
        parts.body = partitioner.SelectAndRewrite(function->body());
        if (!partitioner.status().ok()) return partitioner.status();
        parts.body = MarkRemover().Rewrite(parts.body);
        if (parts.body == function->body()) return function;
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.LoopPartition",
       .doc = "Splits loops so that conditions are constant in their parts."});
}
BATON_REGISTER_PASS_AS("tir.LoopPartition", LoopPartition);

}  // namespace baton::tir
