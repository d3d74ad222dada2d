#include "baton/tir/transform/common_subexpr_elim_tir.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Variables in scope, by the order of their definitions.
class Scope {
 public:
  void Push(const Var& var) {
    position_[var.get()] = ++depth_;
    kept_.push_back(var);
  }
  void Pop(const Var& var) {
    position_[var.get()] = 0;
    --depth_;
  }
  // 0 for a variable that is not in scope.
  int PositionOf(const Node* var) const {
    const int* position = position_.Find(var);
    return position == nullptr ? 0 : *position;
  }

 private:
  NodeMap<int> position_;
  std::vector<Var> kept_;
  int depth_ = 0;
};

// The pure expressions of a function, each numbered once: two have one number
// if they are equal as trees.
class Terms {
 public:
  explicit Terms(bool identify_equivalent)
      : identify_equivalent_(identify_equivalent) {}

  bool identifies_equivalent() const { return identify_equivalent_; }

  // -1 if a call, a load or a node that computes nothing is in `e`.
  int NumberOf(const PrimExpr& e) {
    const int* known = numbers_.Find(e.get());
    if (known != nullptr) return *known;
    const int number = OnDeepStack([&] { return Number(e); });
    numbers_[e.get()] = number;
    kept_.push_back(e);
    return number;
  }

  // True for expressions that a variable may replace.
  static bool IsCandidate(const PrimExpr& e) {
    switch (e->kind().To<TirKind>()) {
      case TirKind::kVar:
      case TirKind::kIntImm:
      case TirKind::kFloatImm:
      case TirKind::kStringImm:
      case TirKind::kRamp:
      case TirKind::kBroadcast:
        return false;
      default:
        return true;
    }
  }
  // The number of `e` if a variable may replace it, else -1.
  int CandidateOf(const PrimExpr& e) {
    return IsCandidate(e) ? NumberOf(e) : -1;
  }

  const PrimExpr& ExprOf(int term) const { return terms_[term].e; }
  size_t SizeOf(int term) const { return terms_[term].size; }

  // Equal for terms that are taken as equal.
  int KeyOf(int term) {
    if (!identify_equivalent_) return term;
    if (terms_[term].key >= 0) return terms_[term].key;
    const PrimExpr simple = Analyzer().Simplify(terms_[term].e);
    const int normal = NumberOf(simple);
    return terms_[term].key = normal < 0 ? term : normal;
  }

  // The largest candidates below a term, one for each occurrence.
  void AppendDirectCandidates(int term, std::vector<int>& result) {
    for (const int part : terms_[term].parts) {
      if (IsCandidate(terms_[part].e)) {
        result.push_back(part);
      } else {
        OnDeepStack([&] { AppendDirectCandidates(part, result); });
      }
    }
  }

  // A free variable that is not in scope; null if there is none.
  const Node* UndefinedVar(int term, const Scope& scope) {
    Term& t = terms_[term];
    if (t.undefined != nullptr && scope.PositionOf(t.undefined) == 0) {
      return t.undefined;
    }
    if (t.is_checked && t.undefined == nullptr &&
        (t.deepest == nullptr || scope.PositionOf(t.deepest) > 0)) {
      return nullptr;
    }
    OnDeepStack([&] { Check(term, scope); });
    return terms_[term].undefined;
  }

  // The text by which terms of one size are ordered.
  const std::string& TextOf(int term) {
    Term& t = terms_[term];
    if (t.text == nullptr) {
      auto text = std::make_unique<std::string>();
      AppendText(term, *text);
      terms_[term].text = std::move(text);
    }
    return *terms_[term].text;
  }

 private:
  struct Term {
    PrimExpr e;
    std::vector<int> parts;
    uint64_t hash = 0;
    int next = -1;  // of those with one hash
    size_t size = 1;
    int key = -1;
    // The result of the last check: `undefined` if that is not null, else the
    // variable that was defined last, or null if there is none.
    bool is_checked = false;
    const Node* undefined = nullptr;
    const Node* deepest = nullptr;
    std::unique_ptr<std::string> text;
  };

  static std::vector<PrimExpr> PartsOf(const PrimExpr& e) {
    const Expr& node = e;
    if (const auto* cast = node.As<CastNode>()) return {cast->value()};
    if (const auto* op = node.As<BinaryNode>()) return {op->a(), op->b()};
    if (const auto* op = node.As<NotNode>()) return {op->a()};
    if (const auto* op = node.As<SelectNode>()) {
      return {op->condition(), op->true_value(), op->false_value()};
    }
    if (const auto* op = node.As<RampNode>()) return {op->base(), op->stride()};
    if (const auto* op = node.As<BroadcastNode>()) return {op->value()};
    if (const auto* op = node.As<LetNode>()) return {op->value(), op->body()};
    if (const auto* op = node.As<ShuffleNode>()) {
      std::vector<PrimExpr> parts(op->indices().begin(), op->indices().end());
      parts.insert(parts.end(), op->vectors().begin(), op->vectors().end());
      return parts;
    }
    return {};
  }

  static bool IsPure(TirKind kind) {
    switch (kind) {
      case TirKind::kVar:
      case TirKind::kIntImm:
      case TirKind::kFloatImm:
      case TirKind::kStringImm:
      case TirKind::kCast:
      case TirKind::kBinary:
      case TirKind::kNot:
      case TirKind::kSelect:
      case TirKind::kRamp:
      case TirKind::kBroadcast:
      case TirKind::kShuffle:
      case TirKind::kLet:
        return true;
      default:
        return false;
    }
  }

  // The content of a node without its parts.
  static uint64_t OwnHash(const PrimExpr& e) {
    const DType dtype = e.dtype();
    uint64_t hash = static_cast<uint64_t>(e->kind().To<TirKind>());
    const auto mix = [&hash](uint64_t value) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    };
    mix(static_cast<uint64_t>(dtype.code()) << 32 |
        static_cast<uint64_t>(dtype.bits()) << 24 |
        static_cast<uint64_t>(dtype.lanes()));
    if (const auto* var = e.As<VarNode>()) {
      mix(reinterpret_cast<uintptr_t>(var));
    } else if (const auto* imm = e.As<IntImmNode>()) {
      mix(static_cast<uint64_t>(imm->value()));
    } else if (const auto* real = e.As<FloatImmNode>()) {
      mix(std::hash<double>()(real->value()));
    } else if (const auto* text = e.As<StringImmNode>()) {
      mix(std::hash<std::string>()(text->value()));
    } else if (const auto* op = e.As<BinaryNode>()) {
      mix(static_cast<uint64_t>(op->op()));
    } else if (const auto* let = e.As<LetNode>()) {
      mix(reinterpret_cast<uintptr_t>(let->var().get()));
    } else if (const auto* shuffle = e.As<ShuffleNode>()) {
      mix(shuffle->indices().size());
    }
    return hash;
  }
  static bool OwnEqual(const PrimExpr& a, const PrimExpr& b) {
    if (a->kind() != b->kind() || a.dtype() != b.dtype()) return false;
    if (a.As<VarNode>() != nullptr) return a == b;
    if (const auto* imm = a.As<IntImmNode>()) {
      return imm->value() == b.As<IntImmNode>()->value();
    }
    if (const auto* real = a.As<FloatImmNode>()) {
      return std::bit_cast<uint64_t>(real->value()) ==
             std::bit_cast<uint64_t>(b.As<FloatImmNode>()->value());
    }
    if (const auto* text = a.As<StringImmNode>()) {
      return text->value() == b.As<StringImmNode>()->value();
    }
    if (const auto* op = a.As<BinaryNode>()) {
      return op->op() == b.As<BinaryNode>()->op();
    }
    if (const auto* let = a.As<LetNode>()) {
      return let->var() == b.As<LetNode>()->var();
    }
    if (const auto* shuffle = a.As<ShuffleNode>()) {
      return shuffle->indices().size() == b.As<ShuffleNode>()->indices().size();
    }
    return true;
  }

  int Number(const PrimExpr& e) {
    if (!IsPure(e->kind().To<TirKind>())) return -1;
    Term term;
    term.e = e;
    term.hash = OwnHash(e);
    for (const PrimExpr& part : PartsOf(e)) {
      const int number = NumberOf(part);
      if (number < 0) return -1;
      term.parts.push_back(number);
      term.hash =
          (term.hash ^ static_cast<uint64_t>(number)) * 0x9E3779B97F4A7C15u;
      term.hash ^= term.hash >> 32;
      // Shared parts count each time: sizes may exceed any integer.
      term.size +=
          std::min(terms_[number].size, std::numeric_limits<size_t>::max() / 4);
    }
    const auto [entry, is_new] =
        by_hash_.try_emplace(term.hash, static_cast<int>(terms_.size()));
    if (!is_new) {
      for (int i = entry->second; i >= 0; i = terms_[i].next) {
        if (terms_[i].parts == term.parts && OwnEqual(terms_[i].e, e)) return i;
      }
      term.next = entry->second;
      entry->second = static_cast<int>(terms_.size());
    }
    terms_.push_back(std::move(term));
    return static_cast<int>(terms_.size()) - 1;
  }

  // Finds `undefined` and `deepest`.
  void Check(int term, const Scope& scope) {
    const Node* undefined = nullptr;
    const Node* deepest = nullptr;
    const auto use = [&](const Node* var) {
      if (scope.PositionOf(var) == 0) {
        undefined = var;
      } else if (deepest == nullptr ||
                 scope.PositionOf(deepest) < scope.PositionOf(var)) {
        deepest = var;
      }
    };
    const PrimExpr e = terms_[term].e;
    if (e.As<VarNode>() != nullptr) {
      use(e.get());
    } else if (e.As<LetNode>() != nullptr) {
      NodeSet bound;
      PostOrderVisit(e, [&bound](const PrimExpr& part) {
        if (const auto* let = part.As<LetNode>())
          bound.Insert(let->var().get());
      });
      PostOrderVisit(e, [&](const PrimExpr& part) {
        if (undefined == nullptr && part.As<VarNode>() != nullptr &&
            !bound.Contains(part.get())) {
          use(part.get());
        }
      });
    } else {
      const std::vector<int> parts = terms_[term].parts;
      for (const int part : parts) {
        undefined = UndefinedVar(part, scope);
        if (undefined != nullptr) break;
        if (terms_[part].deepest != nullptr) use(terms_[part].deepest);
      }
    }
    terms_[term].is_checked = true;
    terms_[term].undefined = undefined;
    terms_[term].deepest = deepest;
  }

  void AppendText(int term, std::string& out) {
    OnDeepStack([&] { AppendTextOf(terms_[term].e, terms_[term].parts, out); });
  }
  void AppendTextOf(const PrimExpr& e, const std::vector<int>& parts,
                    std::string& out) {
    const auto list = [&](absl::string_view separator) {
      for (size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) absl::StrAppend(&out, separator);
        AppendText(parts[i], out);
      }
    };
    const auto call = [&](absl::string_view name) {
      absl::StrAppend(&out, name, "(");
      list(", ");
      absl::StrAppend(&out, ")");
    };
    if (const auto* var = e.As<VarNode>()) {
      if (var->is_size()) {
        absl::StrAppend(&out, "{", var->name(), "|", var->name(), ">=0}");
      } else {
        absl::StrAppend(&out, var->name());
      }
    } else if (const auto* imm = e.As<IntImmNode>()) {
      if (e.dtype() != kInt32) {
        absl::StrAppend(&out, "(", e.dtype().ToString(), ")");
      }
      absl::StrAppend(&out, imm->value());
    } else if (const auto* real = e.As<FloatImmNode>()) {
      absl::StrAppend(&out, real->value());
      if (e.dtype().bits() == 32) absl::StrAppend(&out, "f");
      if (e.dtype().bits() == 16) absl::StrAppend(&out, "h");
    } else if (const auto* text = e.As<StringImmNode>()) {
      absl::StrAppend(&out, "\"", text->value(), "\"");
    } else if (e.As<CastNode>() != nullptr) {
      call(e.dtype().ToString());
    } else if (const auto* op = e.As<BinaryNode>()) {
      constexpr absl::string_view kSeparators[] = {
          " + ",  " - ",  "*",   "/",    " % ", "",     "",     "",    "",
          " == ", " != ", " < ", " <= ", " > ", " >= ", " && ", " || "};
      constexpr absl::string_view kNames[] = {"floordiv", "floormod", "min",
                                              "max"};
      const int index = static_cast<int>(op->op());
      const absl::string_view separator = kSeparators[index];
      if (separator.empty()) {
        call(kNames[index - static_cast<int>(BinaryOp::kFloorDiv)]);
      } else {
        absl::StrAppend(&out, "(");
        list(separator);
        absl::StrAppend(&out, ")");
      }
    } else if (e.As<NotNode>() != nullptr) {
      absl::StrAppend(&out, "!");
      list("");
    } else if (e.As<SelectNode>() != nullptr) {
      call("select");
    } else if (const auto* ramp = e.As<RampNode>()) {
      absl::StrAppend(&out, "ramp(");
      list(", ");
      absl::StrAppend(&out, ", ", ramp->lanes(), ")");
    } else if (const auto* broadcast = e.As<BroadcastNode>()) {
      call(absl::StrCat("x", broadcast->lanes()));
    } else if (const auto* let = e.As<LetNode>()) {
      absl::StrAppend(&out, "(let ", let->var()->name(), " = ");
      list(" in ");
      absl::StrAppend(&out, ")");
    } else {
      call("shuffle");
    }
  }

  const bool identify_equivalent_;
  std::vector<Term> terms_;
  FlatHashMap<uint64_t, int> by_hash_;
  NodeMap<int> numbers_;
  std::vector<PrimExpr> kept_;  // keys of `numbers_`
};

// The number of occurrences of candidates, in the order in which they are
// found.
class Counts {
 public:
  struct Entry {
    int term;
    int64_t count;
  };
  void Add(int term, int64_t count) {
    const auto [slot, is_new] =
        index_.try_emplace(term, static_cast<int>(entries_.size()));
    if (is_new) {
      entries_.push_back({term, count});
    } else {
      entries_[static_cast<size_t>(slot->second)].count += count;
    }
  }
  // 0 if it does not occur.
  int64_t Of(int term) const {
    const auto found = index_.find(term);
    return found == index_.end()
               ? 0
               : entries_[static_cast<size_t>(found->second)].count;
  }
  absl::Span<const Entry> entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  FlatHashMap<int, int> index_;
};

// The candidates that are computed whenever a statement or an expression is:
// of a loop or a branch, those that two of its parts have.
class Counter final : public Visitor {
 public:
  explicit Counter(Terms& terms) : terms_(terms) {}

  template <typename T>
  std::shared_ptr<const Counts> Count(const T& root) {
    const std::shared_ptr<const Counts>* known = known_.Find(root.get());
    if (known != nullptr) return *known;
    const auto outer = std::exchange(counts_, std::make_shared<Counts>());
    Visit(root);
    auto result = std::exchange(counts_, outer);
    known_[root.get()] = result;
    kept_.push_back(root);
    return result;
  }

 protected:
#define BATON_TIR_COUNT(index, Name, sort)               \
  void Visit##Name(const Name##Node* node) override {    \
    const int term = terms_.CandidateOf(PrimExpr(node)); \
    if (term >= 0) {                                     \
      counts_->Add(term, 1);                             \
    } else {                                             \
      Visitor::Visit##Name(node);                        \
    }                                                    \
  }
  BATON_TIR_EXPRS(BATON_TIR_COUNT)
#undef BATON_TIR_COUNT

  void VisitFor(const ForNode* node) override {
    AddShared({Count(node->min()), Count(node->extent()), Count(node->body())});
  }
  void VisitIfThenElse(const IfThenElseNode* node) override {
    std::vector<std::shared_ptr<const Counts>> parts = {
        Count(node->condition()), Count(node->then_case())};
    if (node->else_case().defined()) parts.push_back(Count(node->else_case()));
    AddShared(parts);
  }
  void VisitWhile(const WhileNode* node) override {
    AddShared({Count(node->condition()), Count(node->body())});
  }

 private:
  void AddShared(const std::vector<std::shared_ptr<const Counts>>& parts) {
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      for (const Counts::Entry& entry : parts[i]->entries()) {
        int64_t count = 0;
        int occurs = 0;
        bool is_first = true;
        for (size_t k = 0; k < parts.size(); ++k) {
          const int64_t here = parts[k]->Of(entry.term);
          if (here == 0) continue;
          if (k < i) is_first = false;
          ++occurs;
          count += here;
        }
        if (is_first && occurs >= 2) counts_->Add(entry.term, count);
      }
    }
  }

  Terms& terms_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  NodeMap<std::shared_ptr<const Counts>> known_;
  std::vector<Expr> kept_;  // keys of `known_`
};

using VarByKey = FlatHashMap<int, Var>;

// Replaces candidates by variables, outermost first.
class Replacer final : public Rewriter {
 public:
  Replacer(Terms& terms, const VarByKey& vars) : terms_(terms), vars_(vars) {}

  // Replaces below `e`, which stays.
  PrimExpr RewriteParts(const PrimExpr& e) {
    top_ = e.get();
    return Rewrite(e);
  }

 protected:
#define BATON_TIR_REPLACE(index, Name, sort)              \
  PrimExpr Visit##Name(const Name##Node* node) override { \
    const Var var = VarOf(PrimExpr(node));                \
    if (var.defined()) return var;                        \
    return Rewriter::Visit##Name(node);                   \
  }
  BATON_TIR_EXPRS(BATON_TIR_REPLACE)
#undef BATON_TIR_REPLACE

 private:
  Var VarOf(const PrimExpr& e) {
    const int term = terms_.CandidateOf(e);
    if (term < 0 || e.get() == top_) return {};
    const auto found = vars_.find(terms_.KeyOf(term));
    return found == vars_.end() ? Var() : found->second;
  }

  Terms& terms_;
  const VarByKey& vars_;
  const Node* top_ = nullptr;
};

// Visits from the outside. At a root (the body of the function, of a loop or of
// a branch, a condition, a bound) all candidates are considered. Within, one
// that was considered and stayed can only be replaced once a variable of it,
// which was not in scope, is: so a statement is considered again only if it is
// the scope of such a variable.
class RootVisit : public Rewriter {
 public:
  explicit RootVisit(bool identify_equivalent) : terms_(identify_equivalent) {}

 protected:
  // The treatment of the next visited node.
  enum class Entry {
    kInner,      // considered as part of its root
    kRoot,       // a root
    kPartsOnly,  // a root that has been considered
  };
  // The variables not in scope of candidates that occur twice.
  struct Waits {
    NodeSet vars;
  };

  template <typename T>
  T RewriteRoot(const T& node) {
    if (!node.defined()) return node;
    entry_ = Entry::kRoot;
    T result = Rewrite(node);
    entry_ = Entry::kInner;
    return result;
  }

  // Rewrites the scope of `var`; `value` is null if it changes.
  template <typename T>
  T RewriteScope(const Var& var, const PrimExpr& value, const T& body,
                 bool is_root) {
    scope_.Push(var);
    const int term = value.defined() ? terms_.CandidateOf(value) : -1;
    const int key = term < 0 ? -1 : terms_.KeyOf(term);
    if (key >= 0) values_[key].push_back(var);
    const bool waits = waits_ == nullptr || waits_->vars.Contains(var.get());
    T result = is_root || waits ? RewriteRoot(body) : Rewrite(body);
    if (key >= 0) values_[key].pop_back();
    scope_.Pop(var);
    return result;
  }

  PrimExpr VisitLet(const LetNode* node) override {
    PrimExpr value = Rewrite(node->value());
    PrimExpr body =
        RewriteScope(node->var(), node->value(), node->body(), false);
    if (value == node->value() && body == node->body()) return Let(node);
    return Let(node->var(), std::move(value), std::move(body), node->span());
  }
  Stmt VisitLetStmt(const LetStmtNode* node) override {
    PrimExpr value = Rewrite(node->value());
    Stmt body = RewriteScope(node->var(), node->value(), node->body(), false);
    if (value == node->value() && body == node->body()) return LetStmt(node);
    return LetStmt(node->var(), std::move(value), std::move(body),
                   node->span());
  }
  Stmt VisitFor(const ForNode* node) override {
    ForNode::Parts parts = node->parts();
    parts.min = RewriteRoot(node->min());
    parts.extent = RewriteRoot(node->extent());
    parts.body = RewriteScope(node->loop_var(), {}, node->body(), true);
    if (parts.min == node->min() && parts.extent == node->extent() &&
        parts.body == node->body()) {
      return For(node);
    }
    return For(std::move(parts), node->span());
  }
  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    PrimExpr condition = RewriteRoot(node->condition());
    Stmt then_case = RewriteRoot(node->then_case());
    Stmt else_case = RewriteRoot(node->else_case());
    if (condition == node->condition() && then_case == node->then_case() &&
        else_case == node->else_case()) {
      return IfThenElse(node);
    }
    return IfThenElse(std::move(condition), std::move(then_case),
                      std::move(else_case), node->span());
  }
  Stmt VisitWhile(const WhileNode* node) override {
    PrimExpr condition = RewriteRoot(node->condition());
    Stmt body = RewriteRoot(node->body());
    if (condition == node->condition() && body == node->body()) {
      return While(node);
    }
    return While(std::move(condition), std::move(body), node->span());
  }

  Terms terms_;
  Scope scope_;
  FlatHashMap<int, std::vector<Var>> values_;  // variables in scope, by value
  Entry entry_ = Entry::kInner;
  const Waits* waits_ = nullptr;
};

class Eliminator final : public RootVisit {
 public:
  Eliminator(const PrimFunc& function, bool identify_equivalent)
      : RootVisit(identify_equivalent), counter_(terms_) {
    PostOrderVisit(
        function->body(),
        [this](const PrimExpr& e) {
          const auto* var = e.As<VarNode>();
          if (var != nullptr) used_names_.insert(var->name());
        },
        [](const Stmt& /*stmt*/) {});
    for (const Var& param : function->params()) scope_.Push(param);
  }

  PrimFunc Run(const PrimFunc& function) {
    Stmt body = RewriteRoot(function->body());
    if (body == function->body()) return function;
    PrimFuncNode::Parts parts = function->parts();
    parts.body = std::move(body);
    return PrimFunc(std::move(parts), function->span());
  }

 protected:
#define BATON_TIR_ELIMINATE_EXPR(index, Name, sort)                           \
  PrimExpr Visit##Name(const Name##Node* node) override {                     \
    return Eliminated(PrimExpr(node), [&](const PrimExpr& e) {                \
      return RootVisit::Visit##Name(static_cast<const Name##Node*>(e.get())); \
    });                                                                       \
  }
  BATON_TIR_EXPRS(BATON_TIR_ELIMINATE_EXPR)
#undef BATON_TIR_ELIMINATE_EXPR
#define BATON_TIR_ELIMINATE_STMT(index, Name, sort)       \
  Stmt Visit##Name(const Name##Node* node) override {     \
    return Eliminated(Stmt(node), [&](const Stmt& stmt) { \
      return RootVisit::Visit##Name(                      \
          static_cast<const Name##Node*>(stmt.get()));    \
    });                                                   \
  }
  BATON_TIR_STMTS(BATON_TIR_ELIMINATE_STMT)
#undef BATON_TIR_ELIMINATE_STMT

 private:
  template <typename T, typename Fn>
  T Eliminated(const T& node, const Fn& visit_parts) {
    if (std::exchange(entry_, Entry::kInner) != Entry::kRoot) {
      return visit_parts(node);
    }
    Waits own;
    const Waits* const outer = std::exchange(waits_, &own);
    T result = Considered(node, own);
    if (result == node) {
      result = visit_parts(node);
    } else {
      if (entry_ == Entry::kInner) entry_ = Entry::kPartsOnly;
      result = Rewrite(result);
    }
    waits_ = outer;
    return result;
  }

  // Considers all candidates of a root, the largest first. Its result is
  // considered again (`entry_` says so) if it is a statement that binds more.
  template <typename T>
  T Considered(const T& root, Waits& waits) {
    const std::shared_ptr<const Counts> found = counter_.Count(root);
    if (found->entries().empty()) return root;

    // Terms of one key, by the first of them in the order of texts.
    std::vector<Counts::Entry> entries(found->entries().begin(),
                                       found->entries().end());
    FlatHashMap<int, int64_t> counts;
    std::map<size_t, std::vector<int>, std::greater<>> by_size;
    const auto text_order = [this](int a, int b) {
      return terms_.TextOf(a) < terms_.TextOf(b);
    };
    if (terms_.identifies_equivalent()) {
      std::stable_sort(entries.begin(), entries.end(),
                       [&](const Counts::Entry& a, const Counts::Entry& b) {
                         return text_order(a.term, b.term);
                       });
    }
    for (const Counts::Entry& entry : entries) {
      const auto [slot, is_new] =
          counts.try_emplace(terms_.KeyOf(entry.term), 0);
      slot->second += entry.count;
      if (is_new) by_size[terms_.SizeOf(entry.term)].push_back(entry.term);
    }
    for (auto& [size, terms] : by_size) {
      if (terms.size() > 1) {
        std::stable_sort(terms.begin(), terms.end(), text_order);
      }
    }

    VarByKey replaced;
    std::vector<std::pair<Var, int>> bound;
    std::vector<int> parts;
    while (!by_size.empty()) {
      const std::vector<int> terms = std::move(by_size.begin()->second);
      by_size.erase(by_size.begin());
      for (const int term : terms) {
        const int key = terms_.KeyOf(term);
        const auto known = values_.find(key);
        if (known != values_.end() && !known->second.empty() && MayRewrite()) {
          replaced.try_emplace(key, known->second[0]);
          continue;
        }
        if (counts.find(key)->second >= 2) {
          const Node* undefined = terms_.UndefinedVar(term, scope_);
          if (undefined == nullptr && MayRewrite()) {
            const Var var = FreshVar(terms_.ExprOf(term).dtype());
            replaced.try_emplace(key, var);
            bound.emplace_back(var, term);
            continue;
          }
          if (undefined != nullptr) waits.vars.Insert(undefined);
        }
        parts.clear();
        terms_.AppendDirectCandidates(term, parts);
        for (const int part : parts) {
          const auto [slot, is_new] = counts.try_emplace(terms_.KeyOf(part), 0);
          ++slot->second;
          if (is_new) by_size[terms_.SizeOf(part)].push_back(part);
        }
      }
    }
    if (replaced.empty()) return root;
    T result = Replacer(terms_, replaced).Rewrite(root);
    for (const auto& [var, term] : bound) {
      // A part may be equivalent to the whole: the variable is none of its own
      // value.
      const int key = terms_.KeyOf(term);
      replaced.erase(key);
      PrimExpr value =
          Replacer(terms_, replaced).RewriteParts(terms_.ExprOf(term));
      replaced.try_emplace(key, var);
      result = Bind(var, std::move(value), result);
    }
    if (std::is_same_v<T, Stmt> && !bound.empty()) entry_ = Entry::kRoot;
    return result;
  }
  static Stmt Bind(const Var& var, PrimExpr value, const Stmt& body) {
    return LetStmt(var, std::move(value), body);
  }
  static PrimExpr Bind(const Var& var, PrimExpr value, const PrimExpr& body) {
    return Let(var, std::move(value), body);
  }

  Var FreshVar(DType dtype) {
    std::string name;
    do {
      name = absl::StrCat("cse_var_", ++last_name_);
    } while (used_names_.contains(name));
    return Var(std::move(name), dtype);
  }

  Counter counter_;
  FlatHashSet<std::string> used_names_;
  int last_name_ = 0;
};

}  // namespace

Pass CommonSubexprElimTIR(CommonSubexprElimTIROptions options) {
  return CreatePrimFuncPass(
      [options](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (!options.enable_cse_tir) return function;
        return Eliminator(function, options.identify_equiv_terms).Run(function);
      },
      {.name = "tir.CommonSubexprElimTIR",
       .doc = "Computes equal expressions once.",
       .examples = {"identify_equiv_terms=true"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.CommonSubexprElimTIR", CommonSubexprElimTIR);

}  // namespace baton::tir
