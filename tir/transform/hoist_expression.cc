#include "baton/tir/transform/hoist_expression.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/tir/transform/copy_budget.h"
#include "baton/tir/transform/pass_config.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/remove_no_op.h"
#include "baton/tir/transform/simplify.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton::tir {
namespace {

// Bits of the setting.
enum Conditionals : int64_t {
  kNoConditionals = 0,
  kIfElseStmt = 1,
  kIfElseExpr = 2,
  kBooleanExpression = 4,
  kUsingBlockVar = 8,
};
enum LetBindings : int64_t {
  kRequiredByCondition = 1,
  kLetStmt = 2,
  kLetExpr = 4,
};

struct HoistExpressionConfig {
  static constexpr bool kIsPassConfig = true;
  int64_t hoisted_conditionals = kIfElseStmt | kIfElseExpr | kBooleanExpression;
  int64_t hoisted_let_bindings = kRequiredByCondition | kLetStmt | kLetExpr;

  template <typename V>
  static void VisitFields(V& v) {
    v("hoisted_conditionals", &HoistExpressionConfig::hoisted_conditionals,
      "Sum of: 1 for `if`, 2 for T.if_then_else, 4 for parts of `and` and "
      "`or`, 8 to leave threads, too.");
    v("hoisted_let_bindings", &HoistExpressionConfig::hoisted_let_bindings,
      "Sum of: 1 for those that conditions require, 2 for statements, 4 for "
      "expressions.");
  }
};
BATON_REGISTER_CONFIG(kConfig, HoistExpressionConfig, "tir.HoistExpression", {},
                      "Kinds of expressions that tir.HoistExpression moves.");

struct HoistIfThenElseConfig {
  static constexpr bool kIsPassConfig = true;
  bool support_block_scope_hosting = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("support_block_scope_hosting",
      &HoistIfThenElseConfig::support_block_scope_hosting,
      "Moves conditions that use threads.");
  }
};
BATON_REGISTER_CONFIG(kIfThenElseConfig, HoistIfThenElseConfig,
                      "tir.HoistIfThenElse", {},
                      "Kinds of conditions that tir.HoistIfThenElse moves.");

struct Condition {
  PrimExpr condition;
  Conditionals kind;
  bool uses_block_var;
  bool uses_let;
  bool has_else;

  bool IsEnabled(const HoistExpressionConfig& config) const {
    return (config.hoisted_conditionals & kind) != 0 &&
           (!uses_let || (config.hoisted_let_bindings &
                          (kRequiredByCondition | kLetStmt)) != 0) &&
           (!uses_block_var ||
            (config.hoisted_conditionals & kUsingBlockVar) != 0);
  }
};

struct Binding {
  Var var;
  PrimExpr value;
  LetBindings kind;
};

// The lets and conditions that move out of a loop, or of an attribute of a
// variable.
struct Hoisted {
  Stmt loop;
  std::vector<Binding> lets;
  std::vector<Condition> conditions;
};

// Finds where conditions and lets move.
class Collector final : public Visitor {
 public:
  explicit Collector(const HoistExpressionConfig& config) : config_(config) {}

  std::vector<Hoisted>& loops() { return loops_; }
  // The lets that conditions which move use themselves.
  const std::vector<Var>& required_lets() const { return required_lets_; }
  // The lets that the value of `var` uses itself; null if `var` is no let.
  const std::vector<Var>* LetsOf(const VarNode* var) const {
    return let_uses_.Find(var);
  }

 protected:
  void VisitBinary(const BinaryNode* node) override {
    if (node->op() == BinaryOp::kAnd || node->op() == BinaryOp::kOr) {
      Consider(node->a(), kBooleanExpression, true);
      Consider(node->b(), kBooleanExpression, true);
    }
    Visitor::VisitBinary(node);
  }
  void VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.if_then_else") && !node->args().empty()) {
      Consider(node->args()[0], kIfElseExpr, true);
    }
    Visitor::VisitCall(node);
  }
  void VisitIfThenElse(const IfThenElseNode* node) override {
    Consider(node->condition(), kIfElseStmt, node->else_case().defined());
    Visitor::VisitIfThenElse(node);
  }
  void VisitLet(const LetNode* node) override {
    Bind(node->var(), node->value(), kLetExpr);
    Visitor::VisitLet(node);
    EndScope(node->var().get());
  }
  void VisitLetStmt(const LetStmtNode* node) override {
    Bind(node->var(), node->value(), kLetStmt);
    Visitor::VisitLetStmt(node);
    EndScope(node->var().get());
  }
  void VisitSeqStmt(const SeqStmtNode* node) override {
    // The statements below run with the rest of the sequence.
    if (!active_.empty()) active_.back().barrier = Depth();
    Visitor::VisitSeqStmt(node);
  }
  void VisitFor(const ForNode* node) override {
    Enter(node->loop_var(), Stmt(node), false);
    Visitor::VisitFor(node);
    Leave(node->loop_var());
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    Var var;
    if (const auto* thread = node->node().As<IterVarNode>()) {
      var = thread->var();
    } else if (const auto* subject = node->node().As<VarNode>()) {
      var = Var(subject);
    } else {
      return Visitor::VisitAttrStmt(node);
    }
    Enter(var, Stmt(node), true);
    Visitor::VisitAttrStmt(node);
    Leave(var);
  }

 private:
  struct Loop {
    size_t index;     // in `loops_`
    int64_t barrier;  // the depth of the innermost loop that nothing leaves
  };
  struct VarInfo {
    bool in_scope = false;
    bool is_block_var = false;
    bool is_let = false;
    // The depth of the innermost loop on which its value depends; 0: none.
    int64_t depth = 0;
  };

  // The properties of an expression that decide where it moves.
  struct Facts {
    CallEffect effect = CallEffect::kPure;
    int64_t depth = 0;  // as VarInfo::depth, of the variables that it uses
    bool uses_block_var = false;
    bool uses_let = false;

    void Add(const Facts& other) {
      effect = std::max(effect, other.effect);
      depth = std::max(depth, other.depth);
      uses_block_var = uses_block_var || other.uses_block_var;
      uses_let = uses_let || other.uses_let;
    }
  };
  struct KnownFacts {
    Facts facts;
    uint64_t version = 0;
  };

  // Finds the facts of an expression, and of the conditions and values of lets
  // in it, which are considered later.
  class FactsFinder final : public Visitor {
   public:
    explicit FactsFinder(Collector& collector) : collector_(collector) {}

    Facts Find(const PrimExpr& e) {
      VisitPart(e);
      return facts_;
    }

   protected:
    void VisitVar(const VarNode* node) override {
      const VarInfo* info = collector_.InScope(node);
      if (info == nullptr) return;
      facts_.Add(
          {CallEffect::kPure, info->depth, info->is_block_var, info->is_let});
    }
    void VisitBufferLoad(const BufferLoadNode* node) override {
      facts_.effect = std::max(facts_.effect, CallEffect::kReadState);
      Visit(node->buffer()->data());
      Visitor::VisitBufferLoad(node);
    }
    void VisitCall(const CallNode* node) override {
      const Intrinsic* intrinsic = IntrinsicOf(node->op());
      facts_.effect =
          std::max(facts_.effect, intrinsic == nullptr ? CallEffect::kOpaque
                                                       : intrinsic->effect);
      const bool chooses = node->op() == BATON_OP("tir.if_then_else");
      for (size_t i = 0; i < node->args().size(); ++i) {
        if (chooses && i == 0) {
          VisitPart(node->args()[i]);
        } else {
          Visit(node->args()[i]);
        }
      }
    }
    void VisitBinary(const BinaryNode* node) override {
      if (node->op() != BinaryOp::kAnd && node->op() != BinaryOp::kOr) {
        return Visitor::VisitBinary(node);
      }
      VisitPart(node->a());
      VisitPart(node->b());
    }
    void VisitLet(const LetNode* node) override {
      VisitPart(node->value());
      Visit(node->body());
    }

   private:
    void VisitPart(const PrimExpr& e) {
      const Facts outer = std::exchange(facts_, Facts());
      Visit(e);
      collector_.facts_[e.get()] = {facts_, collector_.version_};
      facts_.Add(outer);
    }

    Collector& collector_;
    Facts facts_;
  };

  // Collects the lets that conditions use. Visits no condition twice.
  class LetFinder final : public Visitor {
   public:
    explicit LetFinder(Collector& collector) : collector_(collector) {}

    void VisitPart(const PrimExpr& e) {
      uint64_t& version = collector_.searched_[e.get()];
      if (version == collector_.version_) return;
      version = collector_.version_;
      Visit(e);
    }

   protected:
    void VisitVar(const VarNode* node) override {
      const VarInfo* info = collector_.InScope(node);
      if (info != nullptr && info->is_let) {
        collector_.required_lets_.emplace_back(node);
      }
    }
    void VisitBufferLoad(const BufferLoadNode* node) override {
      Visit(node->buffer()->data());
      Visitor::VisitBufferLoad(node);
    }
    void VisitBinary(const BinaryNode* node) override {
      if (node->op() != BinaryOp::kAnd && node->op() != BinaryOp::kOr) {
        return Visitor::VisitBinary(node);
      }
      VisitPart(node->a());
      VisitPart(node->b());
    }

   private:
    Collector& collector_;
  };

  int64_t Depth() const { return static_cast<int64_t>(active_.size()); }

  const VarInfo* InScope(const VarNode* var) const {
    const VarInfo* info = depth_of_.Find(var);
    return info != nullptr && info->in_scope ? info : nullptr;
  }
  void SetInfo(const VarNode* var, const VarInfo& info) {
    ++version_;
    depth_of_[var] = info;
  }
  void EndScope(const VarNode* var) {
    ++version_;
    depth_of_.Find(var)->in_scope = false;
  }

  void Enter(const Var& var, const Stmt& loop, bool is_block) {
    int64_t barrier = active_.empty() ? 0 : active_.back().barrier;
    active_.push_back({loops_.size(), barrier});
    if (is_block && (config_.hoisted_conditionals & kUsingBlockVar) == 0) {
      active_.back().barrier = Depth();
    }
    loops_.push_back({loop, {}, {}});
    SetInfo(var.get(), {true, is_block, false, Depth()});
  }
  void Leave(const Var& var) {
    active_.pop_back();
    EndScope(var.get());
  }

  Facts FactsOf(const PrimExpr& e) {
    const KnownFacts* known = facts_.Find(e.get());
    if (known != nullptr && known->version == version_) return known->facts;
    return FactsFinder(*this).Find(e);
  }

  // The loop to whose outside an expression can move; null if it stays.
  Hoisted* DestinationOf(const Facts& facts) {
    if (active_.empty()) return nullptr;
    const int64_t stop = std::max(active_.back().barrier, facts.depth);
    if (stop == Depth()) return nullptr;
    return &loops_[active_[static_cast<size_t>(stop)].index];
  }

  void Consider(const PrimExpr& condition, Conditionals kind, bool has_else) {
    if ((config_.hoisted_conditionals & kind) == 0 || active_.empty()) return;
    const Facts facts = FactsOf(condition);
    if (facts.effect > CallEffect::kPure) return;
    Hoisted* destination = DestinationOf(facts);
    if (destination == nullptr) return;
    destination->conditions.push_back(
        {condition, kind, facts.uses_block_var, facts.uses_let, has_else});
    if (facts.uses_let && destination->conditions.back().IsEnabled(config_)) {
      LetFinder(*this).VisitPart(condition);
    }
  }

  void Bind(const Var& var, const PrimExpr& value, LetBindings kind) {
    const Facts facts = FactsOf(value);
    Hoisted* destination = DestinationOf(facts);
    if (destination != nullptr) destination->lets.push_back({var, value, kind});
    std::vector<Var> lets;
    if (facts.uses_let) {
      UsesVar(value, [&](const VarNode* used) {
        const VarInfo* info = InScope(used);
        if (info != nullptr && info->is_let) lets.emplace_back(used);
        return false;
      });
    }
    SetInfo(var.get(), {true, false, true, facts.depth});
    let_uses_[var.get()] = std::move(lets);
  }

  const HoistExpressionConfig config_;
  std::vector<Loop> active_;
  std::vector<Hoisted> loops_;
  NodeMap<VarInfo> depth_of_;
  uint64_t version_ = 1;  // changes with depth_of_
  NodeMap<KnownFacts> facts_;
  NodeMap<std::vector<Var>> let_uses_;
  std::vector<Var> required_lets_;
  NodeMap<uint64_t> searched_;  // conditions, with the version
};

class Hoister final : public AnalyzingRewriter {
 public:
  Hoister(Analyzer& analyzer, Collector& collector,
          const HoistExpressionConfig& config)
      : AnalyzingRewriter(analyzer), config_(config) {
    for (const Hoisted& loop : collector.loops()) {
      for (const Binding& let : loop.lets) {
        if ((config.hoisted_let_bindings & let.kind) != 0) {
          moved_.Insert(let.var.get());
        }
      }
    }
    if ((config.hoisted_let_bindings & kRequiredByCondition) != 0) {
      std::vector<Var> required = collector.required_lets();
      while (!required.empty()) {
        const Var var = required.back();
        required.pop_back();
        if (!required_.Insert(var.get())) continue;
        moved_.Insert(var.get());
        const std::vector<Var>* more = collector.LetsOf(var.get());
        if (more != nullptr) {
          required.insert(required.end(), more->begin(), more->end());
        }
      }
    }
    for (Hoisted& loop : collector.loops()) {
      const Node* key = loop.loop.get();
      hoisted_[key] = std::move(loop);
    }
  }

 protected:
  Stmt VisitFor(const ForNode* node) override {
    return Wrapped(node, AnalyzingRewriter::VisitFor(node));
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    return Wrapped(node, AnalyzingRewriter::VisitAttrStmt(node));
  }
  Stmt VisitLetStmt(const LetStmtNode* node) override {
    if (moved_.Contains(node->var().get())) return Rewrite(node->body());
    return AnalyzingRewriter::VisitLetStmt(node);
  }
  PrimExpr VisitLet(const LetNode* node) override {
    if (moved_.Contains(node->var().get())) return Rewrite(node->body());
    return AnalyzingRewriter::VisitLet(node);
  }

 private:
  Stmt Wrapped(const Node* loop, Stmt stmt) {
    const Hoisted* hoisted = hoisted_.Find(loop);
    if (hoisted == nullptr) return stmt;
    const auto& conditions = hoisted->conditions;
    for (auto it = conditions.rbegin(); it != conditions.rend(); ++it) {
      if (!it->IsEnabled(config_)) continue;
      stmt = IfThenElse(it->condition, stmt, it->has_else ? stmt : Stmt());
    }
    const auto& lets = hoisted->lets;
    for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
      if (!moved_.Contains(it->var.get())) continue;
      stmt = LetStmt(it->var, it->value, std::move(stmt));
    }
    return stmt;
  }

  const HoistExpressionConfig config_;
  NodeMap<Hoisted> hoisted_;
  NodeSet moved_;     // lets that move
  NodeSet required_;  // those that conditions require
};

Pass InsertHoisted(std::string name, HoistExpressionConfig (*config_of)(
                                         const PassContext& context)) {
  return CreatePrimFuncPass(
      [config_of](PrimFunc function, const IRModule& /*module*/,
                  const PassContext& context) -> absl::StatusOr<PrimFunc> {
        const HoistExpressionConfig config = config_of(context);
        Collector collector(config);
        collector.Visit(function->body());
        Analyzer analyzer;
        Stmt body =
            Hoister(analyzer, collector, config).Rewrite(function->body());
        if (body == function->body()) return function;
        // A loop in both branches of conditions is as many loops.
        CopyBudget budget("tir.HoistExpression");
        BATON_RETURN_IF_ERROR(budget.TakeGrowth(function->body(), body));
        PrimFuncNode::Parts parts = function->parts();
        parts.body = ConvertSSA(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = std::move(name),
       .doc = "Copies conditions to the outside of loops."});
}

Pass HoistBy(std::string name, const char* insertion, std::string doc,
             HoistExpressionConfig (*config_of)(const PassContext& context),
             PassOptions options = {}) {
  return CreateSequentialPass(
      {InsertHoisted(insertion, config_of), Simplify(), RemoveNoOp()},
      {.name = std::move(name), .doc = std::move(doc), .exact = false},
      std::move(options));
}

HoistExpressionConfig ConfigOfIfs(bool uses_block_vars) {
  HoistExpressionConfig config;
  config.hoisted_conditionals =
      kIfElseStmt | (uses_block_vars ? kUsingBlockVar : kNoConditionals);
  config.hoisted_let_bindings = 0;
  return config;
}

}  // namespace

Pass HoistExpression() {
  return HoistBy(
      "tir.HoistExpression", "tir.InsertHoistedExpression",
      "Computes conditions and lets outside of the loops on which they do not "
      "depend.",
      [](const PassContext& context) { return context.Get(kConfig); });
}
BATON_REGISTER_PASS_AS("tir.HoistExpression", HoistExpression);

Pass HoistIfThenElse(HoistIfThenElseOptions options) {
  const bool is_basic = options.variant == "basic";
  return HoistBy(
      "tir.HoistIfThenElse",
      is_basic ? "tir.InsertHoistIfThenElseBasic" : "tir.InsertHoistIfThenElse",
      "Moves conditions out of the loops on which they do not depend.",
      is_basic ? +[](const PassContext& /*context*/) {
        return ConfigOfIfs(false);
      } : +[](const PassContext& context) {
        return ConfigOfIfs(
            context.Get(kIfThenElseConfig).support_block_scope_hosting);
      },
      options);
}
BATON_REGISTER_PASS_AS("tir.HoistIfThenElse", HoistIfThenElse);

}  // namespace baton::tir
