#include "baton/triage/shrink_loops.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/base/dtype.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

bool IsNumber(DType dtype) {
  return dtype.is_float() || dtype.is_integral() || dtype.is_bool();
}

// True if another expression of its type can be in the place of `e`.
bool IsValue(const PrimExpr& e) {
  return IsNumber(e.dtype()) && !e.Is<BufferNode>() && !e.Is<IterVarNode>() &&
         !e.Is<CommReducerNode>() && !e.Is<BufferRegionNode>();
}

bool IsConstant(const PrimExpr& e) {
  return e.Is<IntImmNode>() || e.Is<FloatImmNode>();
}

// Values for the variables that an opened part defined.
using Values = std::vector<std::pair<Var, PrimExpr>>;

void AddZero(const Var& var, Values& values) {
  if (IsNumber(var.dtype()) && var.dtype().lanes() == 1) {
    values.emplace_back(var, MakeConst(var.dtype(), 0));
  }
}

// Adds values for the variables of `outer`, so that a part of it can be in its
// place. False if that cannot be since `outer` has buffers.
bool Open(const Stmt& outer, Values& values) {
  if (const auto* loop = outer.As<ForNode>()) {
    values.emplace_back(loop->loop_var(), loop->min());
  } else if (const auto* let = outer.As<LetStmtNode>()) {
    AddZero(let->var(), values);
  } else if (const auto* realize = outer.As<BlockRealizeNode>()) {
    const Block& block = realize->block();
    if (!block->alloc_buffers().empty() || !block->match_buffers().empty()) {
      return false;
    }
    for (size_t i = 0; i < block->iter_vars().size(); ++i) {
      values.emplace_back(block->iter_vars()[i]->var(),
                          realize->iter_values()[i]);
    }
  }
  return true;
}

bool Open(const PrimExpr& outer, Values& values) {
  if (const auto* let = outer.As<LetNode>()) AddZero(let->var(), values);
  return true;
}

// `e` with the values of variables. A value may use variables that come later.
template <typename T>
T WithValues(const T& e, const Values& values) {
  if (values.empty()) return e;
  NodeMap<PrimExpr> all;
  for (size_t i = values.size(); i-- > 0;) {
    all[values[i].first.get()] = Substitute(values[i].second, all);
  }
  return Substitute(e, all);
}

// `body`, which is a part of `outer`, in the place of `outer`; null if that
// cannot be.
template <typename T>
T Opened(const T& outer, const T& body) {
  Values values;
  return Open(outer, values) ? WithValues(body, values) : T();
}

Stmt Nothing() { return Evaluate(IntImm(kInt32, 0)); }

bool IsNothing(const Stmt& stmt) {
  const auto* evaluate = stmt.As<EvaluateNode>();
  return evaluate != nullptr && evaluate->value().Is<IntImmNode>();
}

// Counts the ways to make a function smaller, or takes one of them.
class Cutter final : public Rewriter {
 public:
  explicit Cutter(int way) : left_(way) {}
  // The number of ways that were passed by.
  int passed() const { return passed_; }

 protected:
#define BATON_HOOK(index, Name, sort)                         \
  PrimExpr Visit##Name(const Name##Node* node) override {     \
    if (left_ == kTaken) return PrimExpr(node);               \
    PrimExpr way = TryWaysOf(PrimExpr(node));                 \
    return way.defined() ? way : Rewriter::Visit##Name(node); \
  }
  BATON_TIR_EXPRS(BATON_HOOK)
#undef BATON_HOOK
#define BATON_HOOK(index, Name, sort)                         \
  Stmt Visit##Name(const Name##Node* node) override {         \
    if (left_ == kTaken) return Stmt(node);                   \
    Stmt way = TryWaysOf(Stmt(node));                         \
    return way.defined() ? way : Rewriter::Visit##Name(node); \
  }
  BATON_TIR_STMTS(BATON_HOOK)
#undef BATON_HOOK

 private:
  static constexpr int kTaken = -2;

  // Passes by a way, or makes it.
  template <typename T>
  void Offer(T& taken, absl::FunctionRef<T()> make) {
    if (left_ == kTaken) return;
    ++passed_;
    if (left_ < 0) return;
    if (left_-- > 0) return;
    left_ = kTaken;
    taken = make();
  }

  PrimExpr TryWaysOf(const PrimExpr& e) {
    PrimExpr taken;
    if (!IsNumber(e.dtype()) || e.Is<BufferRegionNode>()) return taken;
    ForEachReference(e.get(), [&](const Node* node) {
      if (!IsPrimExprKind(node->kind())) return;
      const PrimExpr part(static_cast<const PrimExprNode*>(node));
      if (part.dtype() != e.dtype() || !IsValue(part)) return;
      Offer<PrimExpr>(taken, [&] { return Opened(e, part); });
    });
    if (IsConstant(e) || !IsValue(e) || e.dtype().lanes() != 1) return taken;
    for (int value = 0; value < (e.dtype().is_bool() ? 2 : 1); ++value) {
      Offer<PrimExpr>(taken, [&] { return MakeConst(e.dtype(), value); });
    }
    return taken;
  }

  Stmt TryWaysOf(const Stmt& stmt) {
    Stmt taken;
    if (stmt.Is<EvaluateNode>() || stmt.Is<BlockNode>()) return taken;
    if (const auto* seq = stmt.As<SeqStmtNode>()) {
      std::vector<Stmt> flat;
      AppendFlattened(stmt, flat);
      if (flat.size() < seq->seq().size()) {
        // Statements without effect go.
        Offer<Stmt>(taken, [&] { return MakeSeq(std::move(flat)); });
        return taken;
      }
    }
    Offer<Stmt>(taken, Nothing);
    if (const auto* loop = stmt.As<ForNode>()) {
      Offer<Stmt>(taken, [&] { return Opened(stmt, loop->body()); });
      if (loop->for_kind() != ForKind::kSerial) {
        Offer<Stmt>(taken, [&] {
          ForNode::Parts parts = loop->parts();
          parts.kind = ForKind::kSerial;
          parts.thread = {};
          return For(std::move(parts));
        });
      }
    } else if (const auto* realize = stmt.As<BlockRealizeNode>()) {
      Offer<Stmt>(taken,
                  [&] { return Opened(stmt, realize->block()->body()); });
    } else {
      ForEachReference(stmt.get(), [&](const Node* node) {
        if (!IsStmtKind(node->kind())) return;
        const Stmt part(static_cast<const StmtNode*>(node));
        Offer<Stmt>(taken, [&] { return Opened(stmt, part); });
      });
    }
    return taken;
  }

  int left_;
  int passed_ = 0;
};

// Numbers the statements or the expressions of a function, and cuts a range of
// them.
class RangeCutter final : public Rewriter {
 public:
  explicit RangeCutter(LoopsPart part) : part_(part) {}

  int Number(const PrimFunc& function) {
    RewriteBody(function);
    return next_;
  }

  // After Number().
  PrimFunc Cut(const PrimFunc& function, int begin, int end, bool opens) {
    cuts_ = true;
    begin_ = begin;
    end_ = end;
    opens_ = opens;
    next_ = 0;
    const PrimFunc cut = RewriteBody(function);
    if (values_.empty()) return cut;
    PrimFuncNode::Parts parts = cut->parts();
    parts.body = WithValues(parts.body, values_);
    return PrimFunc(std::move(parts));
  }

 protected:
#define BATON_HOOK(index, Name, sort)                                       \
  PrimExpr Visit##Name(const Name##Node* node) override {                   \
    if (part_ != LoopsPart::kExpression) return PrimExpr(node);             \
    return Numbered<PrimExpr>(PrimExpr(node), path_expr_,                   \
                              [&] { return Rewriter::Visit##Name(node); }); \
  }
  BATON_TIR_EXPRS(BATON_HOOK)
#undef BATON_HOOK
#define BATON_HOOK(index, Name, sort)                                         \
  Stmt Visit##Name(const Name##Node* node) override {                         \
    if (part_ != LoopsPart::kStatement || node->kind() == BlockNode::kKind) { \
      return Rewriter::Visit##Name(node);                                     \
    }                                                                         \
    return Numbered<Stmt>(Stmt(node), path_stmt_,                             \
                          [&] { return Rewriter::Visit##Name(node); });       \
  }
  BATON_TIR_STMTS(BATON_HOOK)
#undef BATON_HOOK

 private:
  // Gives `node` and its parts, which `visit` rewrites, their numbers.
  template <typename T>
  T Numbered(const T& node, T& path, absl::FunctionRef<T()> visit) {
    const int number = next_++;
    const auto index = static_cast<size_t>(number);
    if (!cuts_) {
      ends_.push_back(0);
      visit();
      ends_[index] = next_;
      return node;
    }
    T result = node;
    if (number >= end_ || ends_[index] <= begin_) {
      next_ = ends_[index];
    } else if (IsCut(number)) {
      next_ = ends_[index];
      result = Zero(node);
    } else {
      result = Without(number, visit());
      if (opens_ && number >= begin_ && Fits(node, path) &&
          Open(result, values_)) {
        result = path;
      }
    }
    if (number <= end_ && end_ < ends_[index]) path = result;
    return result;
  }

  bool IsCut(int number) const {
    return begin_ <= number && ends_[static_cast<size_t>(number)] <= end_;
  }

  static Stmt Zero(const Stmt& /*stmt*/) { return Nothing(); }
  static PrimExpr Zero(const PrimExpr& e) {
    return IsValue(e) && e.dtype().lanes() == 1 ? MakeConst(e.dtype(), 0) : e;
  }

  static bool Fits(const Stmt& /*whole*/, const Stmt& /*part*/) { return true; }
  static bool Fits(const PrimExpr& whole, const PrimExpr& part) {
    return IsValue(whole) && IsValue(part) && whole.dtype() == part.dtype();
  }

  // `result`, whose parts were cut, without what is left of them.
  static Stmt Without(int /*number*/, const Stmt& result) {
    if (!result.Is<SeqStmtNode>()) return result;
    std::vector<Stmt> flat;
    AppendFlattened(result, flat);
    return MakeSeq(std::move(flat));
  }
  PrimExpr Without(int number, const PrimExpr& result) const {
    const auto* binary = result.As<BinaryNode>();
    if (binary == nullptr) return result;
    const int a = number + 1;
    const int b = ends_[static_cast<size_t>(a)];
    if (IsCut(a) && Fits(result, binary->b())) return binary->b();
    if (IsCut(b) && Fits(result, binary->a())) return binary->a();
    return result;
  }

  const LoopsPart part_;
  bool cuts_ = false;
  int begin_ = 0;
  int end_ = 0;
  bool opens_ = false;
  int next_ = 0;
  std::vector<int> ends_;  // the number behind the last part of each part
  Values values_;          // of what was opened
  // The results for the part that contains the part `end_` and was left last.
  PrimExpr path_expr_;
  Stmt path_stmt_;
};

// The weight of an expression: higher for what is harder to understand.
int64_t WeightOf(const PrimExpr& e) {
  if (const auto* imm = e.As<IntImmNode>()) {
    return imm->value() == 0 || imm->value() == 1 ? 25 : 27;
  }
  if (e.Is<FloatImmNode>()) return 27;
  if (e.Is<VarNode>()) return 20;
  return 300;
}

int64_t WeightOf(const Stmt& stmt) {
  if (IsNothing(stmt)) return 0;
  const auto* loop = stmt.As<ForNode>();
  return loop != nullptr && loop->for_kind() != ForKind::kSerial ? 1001 : 1000;
}

}  // namespace

std::optional<PrimFunc> SmallerLoops(const PrimFunc& function, int number) {
  Cutter cutter(number);
  PrimFunc smaller = cutter.RewriteBody(function);
  if (cutter.passed() <= number) return std::nullopt;
  return smaller;
}

int NumSmallerLoops(const PrimFunc& function) {
  Cutter cutter(-1);
  cutter.RewriteBody(function);
  return cutter.passed();
}

int NumLoopsParts(const PrimFunc& function, LoopsPart part) {
  return RangeCutter(part).Number(function);
}

PrimFunc WithoutLoopsParts(const PrimFunc& function, LoopsPart part, int begin,
                           int end, bool opens) {
  RangeCutter cutter(part);
  cutter.Number(function);
  return cutter.Cut(function, begin, end, opens);
}

LoopsSize SizeOfLoops(const PrimFunc& function) {
  LoopsSize size;
  PostOrderVisit(
      function->body(),
      [&size](const PrimExpr& e) { size.weight += WeightOf(e); },
      [&size](const Stmt& stmt) {
        size.weight += WeightOf(stmt);
        if (!stmt.Is<SeqStmtNode>() && !stmt.Is<BlockNode>()) {
          ++size.statements;
        }
      });
  size.weight += static_cast<int64_t>(function->params().size()) +
                 static_cast<int64_t>(function->attrs().entries().size());
  return size;
}

}  // namespace baton::tir
