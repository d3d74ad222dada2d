#include "baton/tir/analysis/reduction.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/number_range.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/node_map.h"
#include "baton/tir/analysis/undefined_vars.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// Finds values of variables with which a pattern is an expression.
class PatternMatcher {
 public:
  bool Match(const PrimExpr& pattern, const PrimExpr& e) {
    return OnDeepStack([&]() -> bool {
      if (const auto* var = pattern.As<VarNode>()) {
        const auto [value, is_new] = values_.TryEmplace(var);
        if (!is_new) return ExprDeepEqual(*value, e);
        *value = e;
        return true;
      }
      if (const auto* binary = pattern.As<BinaryNode>()) {
        const BinaryNode* other = AsBinary(e, binary->op());
        return other != nullptr && Match(binary->a(), other->a()) &&
               Match(binary->b(), other->b());
      }
      if (const auto* select = pattern.As<SelectNode>()) {
        const auto* other = e.As<SelectNode>();
        return other != nullptr &&
               Match(select->condition(), other->condition()) &&
               Match(select->true_value(), other->true_value()) &&
               Match(select->false_value(), other->false_value());
      }
      return ExprDeepEqual(pattern, e);
    });
  }
  PrimExpr ValueOf(const Var& var) const {
    const PrimExpr* value = values_.Find(var.get());
    return value == nullptr ? PrimExpr() : *value;
  }

 private:
  NodeMap<PrimExpr> values_;
};

using Vars = std::vector<Var>;
using Exprs = std::vector<PrimExpr>;

PrimExpr Compare(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  return Binary(op, a, b);
}

// An index and a value: the pair whose value is before the other one by `op`.
Exprs FirstBy(BinaryOp op, const Vars& x, const Vars& y) {
  const PrimExpr first = Compare(op, x[1], y[1]);
  return {Select(first, x[0], y[0]), Select(first, x[1], y[1])};
}

// Chooses the smaller index between equal values.
Exprs FirstIndexBy(BinaryOp op, const Vars& x, const Vars& y) {
  const PrimExpr first = Compare(op, x[1], y[1]);
  const PrimExpr tie =
      Binary(BinaryOp::kAnd, Compare(BinaryOp::kEQ, x[1], y[1]),
             Compare(BinaryOp::kLT, x[0], y[0]));
  return {Select(Binary(BinaryOp::kOr, first, tie), x[0], y[0]),
          Select(first, x[1], y[1])};
}

struct ReducerForm {
  Exprs (*combine)(const Vars& x, const Vars& y);
  Exprs (*identity)(absl::Span<const PrimExpr> values);
};

Exprs LeastPair(absl::Span<const PrimExpr> values) {
  return {MakeConst(values[0].dtype(), -1), MinValue(values[1].dtype())};
}
Exprs GreatestPair(absl::Span<const PrimExpr> values) {
  return {MakeConst(values[0].dtype(), -1), MaxValue(values[1].dtype())};
}

template <BinaryOp kOp>
Exprs CombineEach(const Vars& x, const Vars& y) {
  Exprs result;
  for (size_t i = 0; i < x.size(); ++i) {
    result.push_back(Binary(kOp, x[i], y[i]));
  }
  return result;
}

template <int kValue>
Exprs Constants(absl::Span<const PrimExpr> values) {
  Exprs result;
  for (const PrimExpr& value : values) {
    result.push_back(MakeConst(value.dtype(), kValue));
  }
  return result;
}

const ReducerForm kScalarForms[] = {
    {CombineEach<BinaryOp::kAdd>, Constants<0>},
    {CombineEach<BinaryOp::kMul>, Constants<1>},
    {CombineEach<BinaryOp::kMin>,
     [](absl::Span<const PrimExpr> values) -> Exprs {
       return {MaxValue(values[0].dtype())};
     }},
    {CombineEach<BinaryOp::kMax>,
     [](absl::Span<const PrimExpr> values) -> Exprs {
       return {MinValue(values[0].dtype())};
     }},
};
const ReducerForm kPairForms[] = {
    {CombineEach<BinaryOp::kAdd>, Constants<0>},
    {[](const Vars& x, const Vars& y) { return FirstBy(BinaryOp::kGE, x, y); },
     LeastPair},
    {[](const Vars& x, const Vars& y) {
       return FirstIndexBy(BinaryOp::kGT, x, y);
     },
     LeastPair},
    {[](const Vars& x, const Vars& y) { return FirstBy(BinaryOp::kLE, x, y); },
     GreatestPair},
    {[](const Vars& x, const Vars& y) {
       return FirstIndexBy(BinaryOp::kLT, x, y);
     },
     GreatestPair},
};

absl::Status NoReduction(const Block& block, const char* condition) {
  return ErrorAt(
      block->span(),
      absl::StrCat("block ", block->name(),
                   " is no reduction that can be divided: ", condition));
}

// The stores of a statement or sequence; false if it has others.
bool StoresOf(const Stmt& stmt, std::vector<BufferStore>& stores) {
  const auto* seq = stmt.As<SeqStmtNode>();
  const absl::Span<const Stmt> list =
      seq == nullptr ? absl::MakeConstSpan(&stmt, 1) : seq->seq();
  for (const Stmt& part : list) {
    const auto* store = part.As<BufferStoreNode>();
    if (store == nullptr) return false;
    stores.emplace_back(store);
  }
  return true;
}

// The updates in the order of the variables that hold the new values.
absl::StatusOr<std::vector<BufferStore>> UpdatesOf(const Block& block,
                                                   size_t num_buffers) {
  if (const auto* store = block->body().As<BufferStoreNode>()) {
    if (num_buffers == 1) return std::vector<BufferStore>{BufferStore(store)};
    return NoReduction(block, "the body stores to fewer buffers than T.init()");
  }
  NodeMap<size_t> index;
  std::vector<PrimExpr> values;
  Stmt body = block->body();
  while (const auto* let = body.As<LetStmtNode>()) {
    const auto [entry, is_new] = index.TryEmplace(let->var().get());
    if (!is_new) {
      return NoReduction(block, "the body binds a variable twice");
    }
    *entry = values.size();
    values.push_back(let->value());
    body = Stmt(let->body());
  }
  if (values.size() != num_buffers) {
    return NoReduction(block,
                       "the body does not bind a value for each buffer that "
                       "T.init() stores to");
  }
  std::vector<BufferStore> stores;
  if (!StoresOf(body, stores)) {
    return NoReduction(block, "the body has statements that are no stores");
  }
  if (stores.size() != num_buffers) {
    return NoReduction(block,
                       "the body has another number of stores than "
                       "T.init()");
  }
  std::vector<BufferStore> updates(num_buffers);
  NodeSet written;
  for (const BufferStore& store : stores) {
    const size_t* i = index.Find(store->value().get());
    if (i == nullptr) {
      return NoReduction(block, "a stored value is no variable of the body");
    }
    if (updates[*i].defined()) {
      return NoReduction(block, "a value is stored twice");
    }
    if (!written.Insert(store->buffer().get())) {
      return NoReduction(block, "a buffer is stored to twice");
    }
    updates[*i] = BufferStore(
        store->buffer(), values[*i],
        {store->indices().begin(), store->indices().end()}, store->span());
  }
  return updates;
}

// The identities in the order of `updates`.
absl::StatusOr<std::vector<PrimExpr>> IdentitiesOf(
    const Block& block, const std::vector<BufferStore>& inits,
    const std::vector<BufferStore>& updates) {
  Analyzer analyzer;
  const auto all_equal = [&analyzer](absl::Span<const PrimExpr> a,
                                     absl::Span<const PrimExpr> b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (!analyzer.CanProveEqual(a[i], b[i])) return false;
    }
    return true;
  };
  NodeMap<size_t> index;
  for (size_t i = 0; i < updates.size(); ++i) {
    index[updates[i]->buffer().get()] = i;
  }
  const absl::Span<const PrimExpr> shape = updates[0]->buffer()->shape();
  const absl::Span<const PrimExpr> indices = updates[0]->indices();
  std::vector<PrimExpr> result(updates.size());
  for (size_t i = 0; i < updates.size(); ++i) {
    const absl::Span<const PrimExpr> other = updates[i]->buffer()->shape();
    if (other.size() != shape.size() || !all_equal(other, shape)) {
      return NoReduction(block, "the buffers have several shapes");
    }
    if (inits[i]->indices().size() != indices.size() ||
        updates[i]->indices().size() != indices.size() ||
        !all_equal(inits[i]->indices(), indices) ||
        !all_equal(updates[i]->indices(), indices)) {
      return NoReduction(block, "the stores have several indices");
    }
    const size_t* k = index.Find(inits[i]->buffer().get());
    if (k == nullptr) {
      return NoReduction(block,
                         "T.init() and the body store to several buffers");
    }
    result[*k] = inits[i]->value();
  }
  return result;
}

// Matches the updates of `reduction` with `reducer`.
bool MatchReducer(const CommReducer& reducer, Reduction& reduction) {
  const size_t n = reduction.identities.size();
  PatternMatcher matcher;
  for (size_t i = 0; i < n; ++i) {
    if (!ExprDeepEqual(reducer->identity()[i], reduction.identities[i])) {
      return false;
    }
  }
  for (size_t i = 0; i < n; ++i) {
    if (!matcher.Match(reducer->result()[i], reduction.updates[i]->value())) {
      return false;
    }
  }
  std::vector<PrimExpr> lhs;
  std::vector<PrimExpr> rhs;
  for (size_t i = 0; i < n; ++i) {
    const BufferStore& update = reduction.updates[i];
    const BufferLoad load(update->buffer(),
                          {update->indices().begin(), update->indices().end()});
    lhs.push_back(matcher.ValueOf(reducer->lhs()[i]));
    rhs.push_back(matcher.ValueOf(reducer->rhs()[i]));
    if (!lhs.back().defined() || !rhs.back().defined() ||
        !ExprDeepEqual(load, lhs.back())) {
      return false;
    }
  }
  reduction.reducer = reducer;
  reduction.lhs = std::move(lhs);
  reduction.rhs = std::move(rhs);
  return true;
}

double GreatestFloat(DType dtype) {
  if (dtype == kE4M3Float8) return 448.0;
  if (dtype == kE5M2Float8) return 57344.0;
  const std::optional<NumberRange> range = FiniteRange(dtype);
  return range.has_value() ? range->high : 65504.0;
}

bool IsFloating(DType dtype) {
  return dtype.is_float() || dtype.code() == DType::Code::kBFloat ||
         IsFloat8(dtype);
}

}  // namespace

PrimExpr MaxValue(DType dtype) {
  if (IsFloating(dtype)) return FloatImm(dtype, GreatestFloat(dtype));
  if (dtype.is_uint()) {
    if (dtype.bits() < 64) {
      return IntImm(dtype, (int64_t{1} << dtype.bits()) - 1);
    }
    const PrimExpr half = IntImm(DType::UInt(32), 0xffffffff);
    return Call(dtype, IntrinsicOp("large_uint_imm"), {half, half});
  }
  if (dtype.bits() == 64) {
    return IntImm(dtype, std::numeric_limits<int64_t>::max());
  }
  return IntImm(dtype, (int64_t{1} << (dtype.bits() - 1)) - 1);
}

PrimExpr MinValue(DType dtype) {
  if (IsFloating(dtype)) return FloatImm(dtype, -GreatestFloat(dtype));
  if (dtype.is_uint()) return IntImm(dtype, 0);
  if (dtype.bits() == 64) {
    return IntImm(dtype, std::numeric_limits<int64_t>::min());
  }
  return IntImm(dtype, -(int64_t{1} << (dtype.bits() - 1)));
}

std::vector<CommReducer> KnownReducers(absl::Span<const PrimExpr> identities) {
  absl::Span<const ReducerForm> forms;
  if (identities.size() == 1) forms = kScalarForms;
  if (identities.size() == 2) forms = kPairForms;
  std::vector<CommReducer> result;
  for (const ReducerForm& form : forms) {
    Vars x;
    Vars y;
    for (size_t i = 0; i < identities.size(); ++i) {
      x.emplace_back(absl::StrCat("x", i), identities[i].dtype());
      y.emplace_back(absl::StrCat("y", i), identities[i].dtype());
    }
    Exprs combined = form.combine(x, y);
    result.emplace_back(std::move(x), std::move(y), std::move(combined),
                        form.identity(identities));
  }
  return result;
}

std::vector<PrimExpr> ApplyReducer(const CommReducerNode* reducer,
                                   absl::Span<const PrimExpr> lhs,
                                   absl::Span<const PrimExpr> rhs) {
  NodeMap<PrimExpr> values;
  for (size_t i = 0; i < lhs.size(); ++i) {
    values[reducer->lhs()[i].get()] = lhs[i];
    values[reducer->rhs()[i].get()] = rhs[i];
  }
  std::vector<PrimExpr> result;
  for (const PrimExpr& e : reducer->result()) {
    result.push_back(Substitute(e, values));
  }
  return result;
}

absl::StatusOr<Reduction> FindReduction(const Block& block) {
  std::vector<BufferStore> inits;
  if (!block->init().defined() || !StoresOf(block->init(), inits)) {
    return NoReduction(block, "T.init() is no sequence of stores");
  }
  NodeSet initialized;
  for (const BufferStore& init : inits) {
    if (!initialized.Insert(init->buffer().get())) {
      return NoReduction(block, "T.init() stores twice to a buffer");
    }
  }
  Reduction result;
  BATON_ASSIGN_OR_RETURN(result.updates, UpdatesOf(block, inits.size()));
  BATON_ASSIGN_OR_RETURN(result.identities,
                         IdentitiesOf(block, inits, result.updates));
  for (const CommReducer& reducer : KnownReducers(result.identities)) {
    if (MatchReducer(reducer, result)) return result;
  }
  return NoReduction(block,
                     "no known reducer has its identity and its combination");
}

bool IsAffineBinding(const BlockRealizeNode* realize,
                     const VarRanges& loop_ranges, Analyzer& analyzer) {
  if (loop_ranges.empty()) return true;
  const IterMapResult map =
      DetectIterMap(realize->iter_values(), loop_ranges, realize->predicate(),
                    IterMapLevel::kSurjective, analyzer,
                    /*simplify_trivial_iterators=*/false);
  if (map.indices.empty()) return false;
  for (const IterSum& sum : map.indices) {
    if (!sum.args.empty() && !IsOne(sum.args[0].scale)) return false;
  }
  return true;
}

bool HasOnlySpatialAndReduceVars(const BlockNode* block) {
  for (const IterVar& var : block->iter_vars()) {
    if (var->iter_type() != IterVarType::kDataPar &&
        var->iter_type() != IterVarType::kCommReduce) {
      return false;
    }
  }
  return true;
}

bool ReduceVarsIndexOutput(const BlockNode* block) {
  NodeSet reduce_vars;
  for (const IterVar& var : block->iter_vars()) {
    if (var->iter_type() == IterVarType::kCommReduce) {
      reduce_vars.Insert(var->var().get());
    }
  }
  bool result = false;
  PostOrderVisit(
      block->body(), [](const PrimExpr& /*e*/) {},
      [&](const Stmt& stmt) {
        const auto* store = stmt.As<BufferStoreNode>();
        if (store == nullptr || result) return;
        for (const PrimExpr& index : store->indices()) {
          result = result || UsesVar(index, [&](const VarNode* var) {
                     return reduce_vars.Contains(var);
                   });
        }
      });
  return result;
}

std::vector<Var> VarsOfReduceBindings(const BlockRealizeNode* realize) {
  std::vector<Var> result;
  NodeSet seen;
  const absl::Span<const IterVar> vars = realize->block()->iter_vars();
  for (size_t i = 0; i < vars.size(); ++i) {
    if (vars[i]->iter_type() != IterVarType::kCommReduce) continue;
    for (Var& var : UndefinedVars(realize->iter_values()[i])) {
      if (seen.Insert(var.get())) result.push_back(std::move(var));
    }
  }
  return result;
}

}  // namespace baton::tir
