#include "baton/tir/arith/index_map.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

// Replaces variables by values of other types: operands are brought to one.
class TypedSubstituter : public Rewriter {
 public:
  explicit TypedSubstituter(const VarMap<PrimExpr>& values) : values_(values) {}

 protected:
  PrimExpr VisitVar(const VarNode* var) override {
    const PrimExpr* value = values_.Find(var);
    if (value != nullptr) return *value;
    return Var(var);
  }
  // A conversion to the type that the value now has is none.
  PrimExpr VisitCast(const CastNode* node) override {
    PrimExpr value = Rewrite(node->value());
    if (value == node->value()) return Cast(node);
    return CastTo(node->dtype(), std::move(value));
  }
  PrimExpr VisitBinary(const BinaryNode* node) override {
    PrimExpr a = Rewrite(node->a());
    PrimExpr b = Rewrite(node->b());
    if (a == node->a() && b == node->b()) return Binary(node);
    MatchTypes(a, b);
    return Binary(node->op(), std::move(a), std::move(b), node->span());
  }

 private:
  const VarMap<PrimExpr>& values_;
};

absl::Status CheckCount(const IndexMap& map, size_t count) {
  if (map->initial().size() == count) return absl::OkStatus();
  return ErrorAt(map->span(),
                 absl::StrCat("the map of indices has ", map->initial().size(),
                              " parameters, not ", count));
}

std::vector<Range> RangesOf(absl::Span<const PrimExpr> shape) {
  std::vector<Range> ranges;
  for (const PrimExpr& extent : shape) {
    ranges.push_back({IntImm(extent.dtype(), 0), extent});
  }
  return ranges;
}

VarRanges RangesOf(const IndexMap& map, absl::Span<const Range> ranges) {
  VarRanges result;
  for (size_t i = 0; i < ranges.size(); ++i) {
    result.Set(map->initial()[i], ranges[i]);
  }
  return result;
}

// The ranges of the results where the parameters have `ranges`; empty if one is
// not bounded.
std::vector<Range> Mapped(const IndexMap& map, absl::Span<const Range> ranges,
                          Analyzer& analyzer) {
  const VarRanges inputs = RangesOf(map, ranges);
  const IterMapResult detected =
      DetectIterMap(map->final_indices(), inputs, IntImm::Bool(true),
                    IterMapLevel::kNoCheck, analyzer, false);
  std::vector<Range> result;
  if (!detected.indices.empty()) {
    // The terms are orthogonal: the largest one gives the extent.
    for (const IterSum& sum : detected.indices) {
      PrimExpr extent;
      for (const IterSplit& split : sum.args) {
        const PrimExpr term = Mul(split.extent, split.scale);
        extent =
            extent.defined() ? MakeBinary(BinaryOp::kMax, extent, term) : term;
      }
      if (!extent.defined()) extent = IntImm(kInt32, 1);
      result.push_back({sum.base, extent});
    }
  } else {
    const Domains domains = AsIntSets(inputs);
    for (const PrimExpr& index : map->final_indices()) {
      const IntSet set = EvalSet(index, domains);
      if (!set.HasLowerBound() || !set.HasUpperBound()) return {};
      result.push_back({analyzer.Simplify(set.min()),
                        analyzer.Simplify(Add(Sub(set.max(), set.min()),
                                              IntImm(set.min().dtype(), 1)))});
    }
  }
  int bits = 0;
  for (const Range& range : ranges) {
    bits = std::max(bits, range.extent.dtype().bits());
  }
  if (bits == 0) return result;
  for (Range& range : result) {
    range = {CastTo(DType::Int(bits), range.min),
             CastTo(DType::Int(bits), range.extent)};
  }
  return result;
}

absl::StatusOr<InverseMap> InvertAt(const IndexMap& map,
                                    absl::Span<const PrimExpr> shape,
                                    IterMapLevel level, Analyzer& analyzer) {
  BATON_RETURN_IF_ERROR(CheckCount(map, shape.size()));
  if (map->inverse().defined()) {
    return InverseMap{IndexMap(map->inverse().As<IndexMapNode>()),
                      IntImm::Bool(false)};
  }
  std::vector<Var> outputs;
  std::vector<PrimExpr> output_exprs;
  for (size_t i = 0; i < map->final_indices().size(); ++i) {
    outputs.emplace_back(absl::StrCat("axis", i),
                         map->final_indices()[i].dtype());
    output_exprs.push_back(outputs.back());
  }
  const IterMapResult detected =
      DetectIterMap(map->final_indices(), RangesOf(map, RangesOf(shape)),
                    IntImm::Bool(true), level, analyzer, false);
  if (!detected.errors.empty() || detected.indices.empty()) {
    return ErrorAt(map->span(),
                   absl::StrCat("the map of indices cannot be inverted: ",
                                detected.errors.empty() ? "it is not affine"
                                                        : detected.errors[0]));
  }
  const VarMap<PrimExpr> inverse =
      InverseAffineIterMap(detected.indices, output_exprs);
  std::vector<PrimExpr> values;
  for (size_t i = 0; i < shape.size(); ++i) {
    const PrimExpr* value = inverse.Find(map->initial()[i]);
    if (value != nullptr) {
      values.push_back(analyzer.Simplify(*value));
    } else if (IsOne(shape[i])) {
      values.push_back(IntImm(shape[i].dtype(), 0));
    } else {
      return ErrorAt(map->span(),
                     absl::StrCat("the map of indices cannot be inverted: no "
                                  "result depends on ",
                                  map->initial()[i]->name()));
    }
  }
  PrimExpr padding = detected.padding_predicate.defined()
                         ? detected.padding_predicate
                         : PrimExpr(IntImm::Bool(false));
  padding = Substitute(padding, [&](const VarNode* var) {
    const PrimExpr* value = inverse.Find(var);
    return value == nullptr ? PrimExpr() : *value;
  });
  const std::vector<Range> ranges = Mapped(map, RangesOf(shape), analyzer);
  Analyzer padding_analyzer;
  for (size_t i = 0; i < ranges.size(); ++i) {
    padding_analyzer.Bind(outputs[i], ranges[i]);
  }
  // Nested quotients and remainders need more than the usual two rounds.
  constexpr int kRounds = 10;
  padding = padding_analyzer.Simplify(padding, kRounds);
  return InverseMap{IndexMap(std::move(outputs), std::move(values)),
                    std::move(padding)};
}

}  // namespace

absl::StatusOr<std::vector<PrimExpr>> MapIndices(
    const IndexMap& map, absl::Span<const PrimExpr> indices,
    Analyzer& analyzer) {
  BATON_RETURN_IF_ERROR(CheckCount(map, indices.size()));
  VarMap<PrimExpr> values;
  for (size_t i = 0; i < indices.size(); ++i) {
    values.Set(map->initial()[i], indices[i]);
  }
  std::vector<PrimExpr> result;
  for (const PrimExpr& index : map->final_indices()) {
    result.push_back(
        analyzer.Simplify(TypedSubstituter(values).Rewrite(index)));
  }
  return result;
}

bool KeepsLanes(absl::Span<const PrimExpr> indices,
                absl::Span<const PrimExpr> mapped) {
  const int lanes = indices.empty() ? 1 : indices.back().dtype().lanes();
  for (const PrimExpr& index : mapped) {
    const bool is_last = &index == &mapped.back();
    if (index.dtype().lanes() != (is_last ? lanes : 1)) return false;
  }
  return !mapped.empty() || lanes == 1;
}

absl::StatusOr<std::vector<Range>> MapRanges(const IndexMap& map,
                                             absl::Span<const Range> ranges,
                                             Analyzer& analyzer) {
  BATON_RETURN_IF_ERROR(CheckCount(map, ranges.size()));
  std::vector<Range> result = Mapped(map, ranges, analyzer);
  if (result.size() == map->final_indices().size()) return result;
  return ErrorAt(map->span(), "a result of the map of indices has no bounds");
}

absl::StatusOr<std::vector<PrimExpr>> MapShape(const IndexMap& map,
                                               absl::Span<const PrimExpr> shape,
                                               Analyzer& analyzer) {
  BATON_RETURN_IF_ERROR(CheckCount(map, shape.size()));
  const std::vector<Range> ranges = Mapped(map, RangesOf(shape), analyzer);
  std::vector<PrimExpr> result;
  for (const Range& range : ranges) {
    if (!IsZero(range.min)) break;
    result.push_back(range.extent);
  }
  if (result.size() == map->final_indices().size()) return result;
  return ErrorAt(map->span(), "each result of an index map must begin at 0");
}

absl::StatusOr<InverseMap> InvertWithPadding(const IndexMap& map,
                                             absl::Span<const PrimExpr> shape,
                                             Analyzer& analyzer) {
  return InvertAt(map, shape, IterMapLevel::kNoCheck, analyzer);
}

absl::StatusOr<IndexMap> Invert(const IndexMap& map,
                                absl::Span<const PrimExpr> shape,
                                Analyzer& analyzer) {
  BATON_ASSIGN_OR_RETURN(
      InverseMap inverse,
      InvertAt(map, shape, IterMapLevel::kBijective, analyzer));
  if (IsZero(inverse.padding) ||
      analyzer.CanProve(Not(PrimExpr(inverse.padding)))) {
    return std::move(inverse.map);
  }
  return ErrorAt(map->span(), "the map of indices is not bijective");
}

absl::StatusOr<IndexMap> WithTypesOf(const IndexMap& map,
                                     absl::Span<const PrimExpr> args) {
  BATON_RETURN_IF_ERROR(CheckCount(map, args.size()));
  std::vector<Var> vars;
  VarMap<PrimExpr> values;
  for (size_t i = 0; i < args.size(); ++i) {
    const Var& var = map->initial()[i];
    if (args[i].dtype() == var.dtype()) {
      vars.push_back(var);
      continue;
    }
    vars.emplace_back(var->name(), args[i].dtype());
    values.Set(var, vars.back());
  }
  if (values.empty()) return map;
  std::vector<PrimExpr> results;
  for (const PrimExpr& index : map->final_indices()) {
    if (const auto* imm = index.As<IntImmNode>()) {
      results.push_back(MakeConst(args[0].dtype(), imm->value()));
    } else {
      results.push_back(TypedSubstituter(values).Rewrite(index));
    }
  }
  PrimExpr inverse;
  if (map->inverse().defined()) {
    BATON_ASSIGN_OR_RETURN(
        inverse,
        WithTypesOf(IndexMap(map->inverse().As<IndexMapNode>()), results));
  }
  return IndexMap(std::move(vars), std::move(results), std::move(inverse));
}

}  // namespace baton::tir
