// SimplifyAsAndOfOrs: conditions as conjunctions of disjunctions.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/base/deep_stack.h"
#include "baton/base/hash_table.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/expr_key.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::tir {
namespace {

using Callback = absl::FunctionRef<void(const PrimExpr&)>;

PrimExpr And(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kAnd, a, b);
}
PrimExpr Or(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kOr, a, b);
}

// Calls `fn` for the operands of `outer` that the distributive law gives:
// (a && b) || c has the conjuncts a || c and b || c. False after `budget`
// calls: the number of operands is exponential in the depth.
bool Distribute(const PrimExpr& e, BinaryOp outer, int& budget, Callback fn) {
  return OnDeepStack([&]() -> bool {
    const BinaryOp inner =
        outer == BinaryOp::kAnd ? BinaryOp::kOr : BinaryOp::kAnd;
    if (const auto* node = AsBinary(e, outer)) {
      return Distribute(node->a(), outer, budget, fn) &&
             Distribute(node->b(), outer, budget, fn);
    }
    if (const auto* node = AsBinary(e, inner)) {
      bool complete = true;
      const bool left =
          Distribute(node->a(), outer, budget, [&](const PrimExpr& a) {
            if (!complete) return;
            complete = Distribute(
                node->b(), outer, budget,
                [&](const PrimExpr& b) { fn(MakeBinary(inner, a, b)); });
          });
      return left && complete;
    }
    if (--budget < 0) return false;
    fn(e);
    return true;
  });
}

class AndOfOrs {
 public:
  // Nullopt if the form has too many parts.
  static std::optional<AndOfOrs> Of(const PrimExpr& e) {
    AndOfOrs form;
    int budget = kMaxParts;
    const bool complete =
        Distribute(e, BinaryOp::kAnd, budget, [&](const PrimExpr& conjunct) {
          Chunk chunk;
          Distribute(
              conjunct, BinaryOp::kOr, budget, [&](const PrimExpr& part) {
                const Key key = form.KeyOf(part);
                if (std::find(chunk.begin(), chunk.end(), key) == chunk.end()) {
                  chunk.push_back(key);
                }
              });
          const bool known = std::any_of(
              form.chunks_.begin(), form.chunks_.end(), [&](const Chunk& c) {
                return c.size() == chunk.size() &&
                       std::is_permutation(c.begin(), c.end(), chunk.begin());
              });
          if (!known) form.chunks_.push_back(std::move(chunk));
        });
    if (!complete || budget < 0) return std::nullopt;
    return form;
  }

  void Simplify(Analyzer& analyzer) {
    SimplifyWithin(analyzer);
    RemoveConstants();
    SimplifyAcross(analyzer);
    RemoveConstants();
  }

  PrimExpr ToExpr() const {
    PrimExpr e = IntImm::Bool(true);
    for (const Chunk& chunk : chunks_) {
      PrimExpr disjunction = IntImm::Bool(false);
      for (const Key key : chunk) disjunction = Or(disjunction, exprs_[key]);
      e = And(e, disjunction);
    }
    return e;
  }

 private:
  using Key = size_t;
  using Chunk = std::vector<Key>;  // a disjunction
  static constexpr int kMaxParts = 4096;

  AndOfOrs()
      : true_(KeyOf(IntImm::Bool(true))), false_(KeyOf(IntImm::Bool(false))) {}

  Key KeyOf(const PrimExpr& e) {
    const auto [it, is_new] = keys_.try_emplace(ExprKey{e}, exprs_.size());
    if (is_new) exprs_.push_back(e);
    return it->second;
  }

  // Simplifies `a OP b` to two operands or to one.
  void TrySimplify(BinaryOp op, Key& a, Key& b, Analyzer& analyzer) {
    const PrimExpr joint = MakeBinary(op, exprs_[a], exprs_[b]);
    const PrimExpr simplified = analyzer.RewriteSimplify(joint);
    if (ExprDeepEqual(simplified, joint)) return;
    if (const auto* node = AsBinary(simplified, op)) {
      a = KeyOf(node->a());
      b = KeyOf(node->b());
    } else {
      a = op == BinaryOp::kOr ? false_ : true_;
      b = KeyOf(simplified);
    }
  }

  void SimplifyWithin(Analyzer& analyzer) {
    for (Chunk& chunk : chunks_) {
      for (size_t i = 0; i < chunk.size(); ++i) {
        for (size_t j = i + 1; j < chunk.size(); ++j) {
          TrySimplify(BinaryOp::kOr, chunk[i], chunk[j], analyzer);
        }
      }
    }
  }

  // The first element of `a` that `b` does not have.
  static std::optional<size_t> FirstDistinct(const Chunk& a, const Chunk& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::find(b.begin(), b.end(), a[i]) == b.end()) return i;
    }
    return std::nullopt;
  }

  void SimplifyAcross(Analyzer& analyzer) {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      for (size_t j = i + 1; j < chunks_.size(); ++j) {
        SimplifyPair(chunks_[i], chunks_[j], analyzer);
      }
    }
  }

  void SimplifyPair(Chunk& a, Chunk& b, Analyzer& analyzer) {
    if (a.size() == 1 && b.size() == 1) {
      TrySimplify(BinaryOp::kAnd, a[0], b[0], analyzer);
      return;
    }
    // A disjunction that has all operands of another one follows from it.
    const std::optional<size_t> in_a = FirstDistinct(a, b);
    if (!in_a.has_value()) {
      b = {true_};
      return;
    }
    const std::optional<size_t> in_b = FirstDistinct(b, a);
    if (!in_b.has_value()) {
      a = {true_};
      return;
    }
    if (a.size() != b.size()) return;
    const auto shared = std::count_if(b.begin(), b.end(), [&](Key key) {
      return std::find(a.begin(), a.end(), key) != a.end();
    });
    if (static_cast<size_t>(shared) + 1 != a.size()) return;
    // (x || y) && (x || z): y && z matter only where x is false.
    PrimExpr known = IntImm::Bool(true);
    for (size_t i = 0; i < a.size(); ++i) {
      if (i != *in_a) {
        known = And(known, analyzer.Simplify(Not(exprs_[a[i]])));
      }
    }
    const auto scope = analyzer.WithConstraint(known);
    TrySimplify(BinaryOp::kAnd, a[*in_a], b[*in_b], analyzer);
  }

  void RemoveConstants() {
    for (Chunk& chunk : chunks_) {
      if (std::find(chunk.begin(), chunk.end(), true_) != chunk.end()) {
        chunk = {true_};
      } else {
        chunk.erase(std::remove(chunk.begin(), chunk.end(), false_),
                    chunk.end());
      }
    }
    if (std::any_of(chunks_.begin(), chunks_.end(),
                    [](const Chunk& chunk) { return chunk.empty(); })) {
      chunks_ = {Chunk()};
      return;
    }
    chunks_.erase(std::remove_if(chunks_.begin(), chunks_.end(),
                                 [this](const Chunk& chunk) {
                                   return chunk.size() == 1 &&
                                          chunk[0] == true_;
                                 }),
                  chunks_.end());
  }

  FlatHashMap<ExprKey, Key> keys_;
  std::vector<PrimExpr> exprs_;
  std::vector<Chunk> chunks_;
  Key true_;
  Key false_;
};

// Turns the extension off that would come here again.
class WithoutAndOfOrs {
 public:
  explicit WithoutAndOfOrs(Analyzer& analyzer)
      : analyzer_(analyzer), extensions_(analyzer.extensions()) {
    analyzer.SetExtensions(extensions_ &
                           ~unsigned{Analyzer::kConvertBooleanToAndOfOrs});
  }
  WithoutAndOfOrs(const WithoutAndOfOrs&) = delete;
  WithoutAndOfOrs& operator=(const WithoutAndOfOrs&) = delete;
  ~WithoutAndOfOrs() { analyzer_.SetExtensions(extensions_); }

 private:
  Analyzer& analyzer_;
  unsigned extensions_;
};

}  // namespace

PrimExpr SimplifyAsAndOfOrs(const PrimExpr& condition, Analyzer& analyzer) {
  const WithoutAndOfOrs scope(analyzer);
  const PrimExpr simplified = analyzer.Simplify(condition);
  std::optional<AndOfOrs> form = AndOfOrs::Of(simplified);
  if (!form.has_value()) return simplified;
  form->Simplify(analyzer);
  return form->ToExpr();
}

}  // namespace baton::tir
