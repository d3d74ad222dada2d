// Steps that change nests of loops.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/node.h"
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

// Adds a condition to the predicates of the outermost blocks.
class PredicateAppender : public Rewriter {
 public:
  explicit PredicateAppender(PrimExpr condition)
      : condition_(std::move(condition)) {}

 protected:
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    return BlockRealize(
        {realize->iter_values().begin(), realize->iter_values().end()},
        MakeBinary(BinaryOp::kAnd, realize->predicate(), condition_),
        realize->block(), realize->span());
  }

 private:
  PrimExpr condition_;
};

// Simplifies the values of variables of the outermost blocks that have any.
class BindingSimplifier : public Rewriter {
 public:
  BindingSimplifier(VarRanges loops, bool preserve_unit_iters)
      : loops_(std::move(loops)), preserve_unit_iters_(preserve_unit_iters) {}

 protected:
  Stmt VisitFor(const ForNode* loop) override {
    loops_.Set(loop->loop_var(), Range{loop->min(), loop->extent()});
    Stmt result = Rewriter::VisitFor(loop);
    loops_.Erase(loop->loop_var().get());
    return result;
  }
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    if (realize->iter_values().empty()) {
      return Rewriter::VisitBlockRealize(realize);
    }
    std::vector<PrimExpr> values = IterMapSimplify(
        realize->iter_values(), loops_, realize->predicate(),
        IterMapLevel::kSurjective, analyzer_, !preserve_unit_iters_);
    return BlockRealize(std::move(values), realize->predicate(),
                        realize->block(), realize->span());
  }

 private:
  VarRanges loops_;
  bool preserve_unit_iters_;
  Analyzer analyzer_;
};

Stmt SimplifyBindings(const Site* outermost, const Stmt& stmt,
                      bool preserve_unit_iters) {
  VarRanges loops;
  for (const Site* loop : LoopsOf(outermost)) {
    loops.Set(loop->loop()->loop_var(),
              Range{loop->loop()->min(), loop->loop()->extent()});
  }
  return BindingSimplifier(std::move(loops), preserve_unit_iters).Rewrite(stmt);
}

// A variable of `vars` that `e` uses; null if there is none.
const VarNode* UsedVar(const PrimExpr& e,
                       const FlatHashSet<const VarNode*>& vars) {
  const VarNode* used = nullptr;
  UsesVar(e, [&](const VarNode* var) {
    if (vars.contains(var)) used = var;
    return used != nullptr;
  });
  return used;
}

DType IntOfBits(int bits) { return DType::Int(bits); }

// The largest signed integer of so many bits.
__int128 LargestOf(int bits) {
  return (static_cast<__int128>(1) << (bits - 1)) - 1;
}

// The product of constants among `extents` times `more`, at most one past the
// largest integer of so many bits. Others may be 1.
absl::Status CheckProduct(const Site* loop, absl::Span<const PrimExpr> extents,
                          __int128 more, int bits) {
  __int128 product = more;
  for (const PrimExpr& extent : extents) {
    const auto* imm = extent.defined() ? extent.As<IntImmNode>() : nullptr;
    if (imm == nullptr) continue;
    if (product > LargestOf(bits) + 1) break;
    product *= imm->value();
  }
  if (product <= LargestOf(bits) + 1) return absl::OkStatus();
  return SiteError(loop, absl::StrCat("the values of ", loop->Describe(),
                                      " overflow int", bits));
}

// Factors whose product, and the extent rounded up to a multiple of it, are
// integers of the loop's type.
absl::Status CheckFactors(const Site* loop, absl::Span<const PrimExpr> given) {
  const PrimExpr& extent = loop->loop()->extent();
  int bits = loop->loop()->loop_var().dtype().bits();
  __int128 product = 1;
  bool infers = false;
  for (const PrimExpr& factor : given) {
    infers |= !factor.defined();
    const auto* imm = factor.defined() ? factor.As<IntImmNode>() : nullptr;
    if (imm == nullptr) continue;
    bits =
        std::max(bits, std::min(factor.dtype().bits(), extent.dtype().bits()));
    if (imm->value() <= 0) return absl::OkStatus();  // another error
    product = std::min(product * imm->value(), LargestOf(64) + 1);
  }
  if (infers) {
    const auto* imm = extent.As<IntImmNode>();
    const __int128 length = imm == nullptr ? 1 : imm->value();
    product = std::max(product, (length + product - 1) / product * product);
    product = std::max(product, length + product - 1);
  }
  return CheckProduct(loop, {}, product, bits);
}

// The factors, with the one that is null inferred.
absl::StatusOr<std::vector<PrimExpr>> InferFactors(
    const Site* loop, absl::Span<const PrimExpr> given) {
  BATON_RETURN_IF_ERROR(CheckFactors(loop, given));
  const PrimExpr& extent = loop->loop()->extent();
  std::vector<PrimExpr> factors;
  PrimExpr product = IntImm(kInt32, 1);
  int infer = -1;
  for (size_t i = 0; i < given.size(); ++i) {
    PrimExpr factor = given[i];
    if (!factor.defined()) {
      if (infer >= 0) {
        return SiteError(loop, "only one factor can be left to be inferred");
      }
      infer = static_cast<int>(i);
      factors.push_back({});
      continue;
    }
    if (const auto* imm = factor.As<IntImmNode>();
        imm != nullptr && imm->value() <= 0) {
      return SiteError(loop, absl::StrCat("factor ", i, " is ", imm->value(),
                                          ": factors must be positive"));
    }
    if (factor.dtype().bits() > extent.dtype().bits()) {
      factor = CastTo(extent.dtype(), std::move(factor));
    }
    product = Mul(product, factor);
    factors.push_back(std::move(factor));
  }
  Analyzer analyzer;
  if (infer >= 0) {
    const PrimExpr rounded =
        Sub(Add(extent, product), IntImm(product.dtype(), 1));
    factors[infer] =
        analyzer.Simplify(MakeBinary(BinaryOp::kFloorDiv, rounded, product));
  } else if (!analyzer.CanProve(MakeBinary(BinaryOp::kGE, product, extent))) {
    return SiteError(loop,
                     absl::StrCat("the product of the factors is not provably "
                                  "as large as the extent of ",
                                  loop->Describe()));
  }
  return factors;
}

}  // namespace

absl::StatusOr<std::vector<For>> Split(ScheduleState& state, const Site* site,
                                       absl::Span<const PrimExpr> given,
                                       bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(const std::vector<PrimExpr> factors,
                         InferFactors(site, given));
  if (factors.empty()) return SiteError(site, "no factors are given");
  const ForNode* loop = site->loop();
  BATON_RETURN_IF_ERROR(CheckPlainLoop(site));
  Analyzer analyzer;
  BATON_RETURN_IF_ERROR(CheckStartsWithZero(site, analyzer));
  int bits = loop->loop_var().dtype().bits();
  for (const PrimExpr& factor : factors) {
    bits = std::max(bits, factor.dtype().bits());
  }
  const DType dtype = IntOfBits(bits);
  PrimExpr value = IntImm(dtype, 0);
  std::vector<Var> vars;
  for (size_t i = 0; i < factors.size(); ++i) {
    const Var var = CopyVar(loop->loop_var(), absl::StrCat("_", i), dtype);
    value = Add(Mul(value, factors[i]), var);
    analyzer.Bind(var, Range{IntImm(dtype, 0), CastTo(dtype, factors[i])});
    vars.push_back(var);
  }
  const PrimExpr old_value = CastTo(loop->loop_var().dtype(), value);
  Stmt stmt = Substitute(loop->body(), [&](const VarNode* var) {
    return var == loop->loop_var().get() ? old_value : PrimExpr();
  });
  const PrimExpr predicate = MakeBinary(BinaryOp::kLT, value, loop->extent());
  if (!analyzer.CanProve(predicate, ProofStrength::kSymbolicBound)) {
    stmt = PredicateAppender(predicate).Rewrite(stmt);
  }
  for (size_t i = factors.size(); i-- > 0;) {
    stmt = SerialLoop(vars[i], IntImm(kInt32, 0), factors[i], std::move(stmt));
  }
  stmt = SimplifyBindings(site, stmt, preserve_unit_iters);
  std::vector<For> result;
  for (Stmt next = stmt; result.size() < factors.size();) {
    result.push_back(For(next.As<ForNode>()));
    next = Stmt(result.back()->body());
  }
  BATON_RETURN_IF_ERROR(state.Replace(site, stmt));
  return result;
}

absl::StatusOr<For> Fuse(ScheduleState& state, Sites sites,
                         bool preserve_unit_iters) {
  if (sites.empty()) {
    return absl::InvalidArgumentError("fuse requires at least one loop");
  }
  Analyzer analyzer;
  FlatHashSet<const VarNode*> outer_vars;
  for (size_t i = 0; i < sites.size(); ++i) {
    const Site* site = sites[i];
    BATON_RETURN_IF_ERROR(CheckPlainLoop(site));
    if (i > 0) {
      if (site->parent != sites[i - 1]) {
        return SiteError(site, absl::StrCat(sites[i - 1]->Describe(),
                                            " is not the loop directly around ",
                                            site->Describe()));
      }
      if (sites[i - 1]->loop()->body() != site->stmt) {
        return SiteError(
            site, absl::StrCat(site->Describe(), " is not all of the body of ",
                               sites[i - 1]->Describe()));
      }
    }
    BATON_RETURN_IF_ERROR(CheckStartsWithZero(site, analyzer));
    if (const VarNode* used = UsedVar(site->loop()->extent(), outer_vars)) {
      return SiteError(site, absl::StrCat("the extent of ", site->Describe(),
                                          " depends on loop ", used->name()));
    }
    outer_vars.insert(site->loop()->loop_var().get());
  }
  const Var& first = sites[0]->loop()->loop_var();
  std::string suffix;
  int bits = first.dtype().bits();
  for (const Site* site : sites.subspan(1)) {
    const Var& var = site->loop()->loop_var();
    absl::StrAppend(&suffix, "_", var->name());
    bits = std::max(bits, var.dtype().bits());
  }
  std::vector<PrimExpr> extents;
  for (const Site* site : sites) extents.push_back(site->loop()->extent());
  BATON_RETURN_IF_ERROR(CheckProduct(sites[0], extents, 1, bits));
  absl::StrAppend(&suffix, "_fused");
  const Var fused = CopyVar(first, suffix, IntOfBits(bits));
  std::vector<PrimExpr> values(sites.size());
  PrimExpr lower = IntImm(kInt32, 1);
  for (size_t i = sites.size(); i-- > 1;) {
    const PrimExpr& extent = sites[i]->loop()->extent();
    values[i] = IsOne(extent)
                    ? PrimExpr(IntImm(kInt32, 0))
                    : MakeBinary(BinaryOp::kFloorDiv,
                                 MakeBinary(BinaryOp::kFloorMod, fused,
                                            Mul(lower, extent)),
                                 lower);
    lower = Mul(lower, extent);
  }
  values[0] = IsOne(sites[0]->loop()->extent())
                  ? PrimExpr(IntImm(kInt32, 0))
                  : MakeBinary(BinaryOp::kFloorDiv, fused, lower);
  Stmt stmt = Substitute(sites.back()->loop()->body(), [&](const VarNode* var) {
    for (size_t i = 0; i < sites.size(); ++i) {
      const Var& old_var = sites[i]->loop()->loop_var();
      if (var == old_var.get()) return CastTo(old_var.dtype(), values[i]);
    }
    return PrimExpr();
  });
  PrimExpr extent = IntImm(kInt32, 1);
  for (const Site* site : sites) extent = Mul(extent, site->loop()->extent());
  stmt = SerialLoop(fused, IntImm(kInt32, 0), analyzer.Simplify(extent),
                    std::move(stmt));
  const For result(
      SimplifyBindings(sites[0], stmt, preserve_unit_iters).As<ForNode>());
  BATON_RETURN_IF_ERROR(state.Replace(sites[0], result));
  return result;
}

namespace {

// Removes loops and puts another statement in the place of the last.
class LoopMerger : public Rewriter {
 public:
  LoopMerger(std::vector<For> loops, Stmt merged)
      : loops_(std::move(loops)), merged_(std::move(merged)) {}

 protected:
  Stmt VisitFor(const ForNode* loop) override {
    if (loop == loops_.back().get()) return merged_;
    for (const For& removed : loops_) {
      if (removed.get() == loop) return Evaluate(IntImm(kInt32, 0));
    }
    return Rewriter::VisitFor(loop);
  }
  Stmt VisitSeqStmt(const SeqStmtNode* seq) override {
    const Stmt result = Rewriter::VisitSeqStmt(seq);
    if (result.get() == seq) return result;
    return FlatSeq({result});
  }

 private:
  std::vector<For> loops_;
  Stmt merged_;
};

// The regions of `block` in one iteration of the loops of `nest`, innermost
// first, whose variables become `vars`.
std::vector<BufferRegion> RegionsIn(const Site* block,
                                    absl::Span<const BufferRegion> regions,
                                    const std::vector<const Site*>& nest,
                                    const VarMap<PrimExpr>& vars) {
  const VarMap<PrimExpr> values = BindingsOf(block->realize.get());
  const Domains domains = AsIntSets(LoopDomains(block->parent, nest[0]));
  std::vector<BufferRegion> result;
  for (const BufferRegion& region : regions) {
    const std::vector<IntSet> sets =
        EvalSet(Substitute(region->region(), values), domains);
    std::vector<Range> ranges;
    for (size_t i = 0; i < sets.size(); ++i) {
      ranges.push_back(sets[i].CoverRange(
          {IntImm(kInt32, 0), region->buffer()->shape()[i]}));
    }
    result.push_back(BufferRegion(region->buffer(), Substitute(ranges, vars)));
  }
  return result;
}

// True if other iterations of the loops of `vars` access other elements.
bool IsDisjoint(const BufferRegion& region, absl::Span<const Var> vars,
                absl::Span<const PrimExpr> extents, Analyzer& analyzer) {
  for (size_t i = 0; i < vars.size(); ++i) {
    if (IsOne(extents[i])) continue;
    bool found = false;
    for (const Range& range : region->region()) {
      const bool only =
          std::none_of(vars.begin(), vars.end(), [&](const Var& var) {
            return UsesVar(range.extent, var.get()) ||
                   (var != vars[i] && UsesVar(range.min, var.get()));
          });
      if (!only || !UsesVar(range.min, vars[i].get())) continue;
      VarMap<PrimExpr> next;
      next.Set(vars[i], Add(vars[i], IntImm(vars[i].dtype(), 1)));
      found |= analyzer.CanProveGreaterEqual(
          Sub(Sub(Substitute(range.min, next), range.min), range.extent), 0);
    }
    if (!found) return false;
  }
  return true;
}

// Loops to be merged: each nest, innermost loop first.
struct MergedNests {
  std::vector<std::vector<const Site*>> nests;
  std::vector<Var> vars;
  std::vector<PrimExpr> extents;

  // The nest that has the block; -1 for none.
  int NestOf(const Site* block) const {
    for (size_t i = 0; i < nests.size(); ++i) {
      if (IsAncestor(nests[i].back(), block)) return static_cast<int>(i);
    }
    return -1;
  }
};

// In one iteration of the merged loops, `dst` accesses elements that `src`
// accesses in no later one.
bool KeepsOrder(const MergedNests& merged, const Dependency& d, int src_nest,
                int dst_nest, Analyzer& analyzer) {
  const auto regions = [&merged](const Site* block, int index, bool writes) {
    const std::vector<const Site*>& nest = merged.nests[index];
    VarMap<PrimExpr> vars;
    for (size_t i = 0; i < nest.size(); ++i) {
      vars.Set(nest[i]->loop()->loop_var(), merged.vars[i]);
    }
    return RegionsIn(
        block, writes ? block->block()->writes() : block->block()->reads(),
        nest, vars);
  };
  const auto includes = [&analyzer](const BufferRegion& outer,
                                    const BufferRegion& inner) {
    for (size_t i = 0; i < outer->region().size(); ++i) {
      const Range& a = outer->region()[i];
      const Range& b = inner->region()[i];
      if (!analyzer.CanProveGreaterEqual(Sub(b.min, a.min), 0) ||
          !analyzer.CanProveGreaterEqual(
              Sub(Add(a.min, a.extent), Add(b.min, b.extent)), 0)) {
        return false;
      }
    }
    return true;
  };
  const auto disjoint = [&](const BufferRegion& region) {
    return IsDisjoint(region, merged.vars, merged.extents, analyzer);
  };
  for (const bool src_writes : {true, false}) {
    for (const BufferRegion& src : regions(d.src, src_nest, src_writes)) {
      for (const bool dst_writes : {true, false}) {
        if (!src_writes && !dst_writes) continue;
        for (const BufferRegion& dst : regions(d.dst, dst_nest, dst_writes)) {
          if (src->buffer() != dst->buffer()) continue;
          if (!(includes(src, dst) && disjoint(src)) &&
              !(includes(dst, src) && disjoint(dst))) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

// Blocks that depend on one another run in the same order in merged loops.
absl::Status CheckMergedOrder(const ScheduleState& state, const Site* scope,
                              const MergedNests& merged, Analyzer& analyzer) {
  const Site* place = merged.nests.back().back();
  for (size_t i = 0; i < merged.vars.size(); ++i) {
    analyzer.Bind(merged.vars[i],
                  Range{IntImm(merged.vars[i].dtype(), 0), merged.extents[i]});
  }
  for (const Dependency& d : state.ScopeOf(scope).dependencies) {
    const int src = merged.NestOf(d.src);
    const int dst = merged.NestOf(d.dst);
    if (src == dst) continue;
    bool keeps = true;
    if (src < 0) {
      // The nest may move forward, to the last one.
      keeps = !IsBefore(state, place, d.src);
    } else if (dst < 0) {
      keeps = IsBefore(state, place, d.dst);
    } else {
      keeps = src < dst && KeepsOrder(merged, d, src, dst, analyzer);
    }
    if (!keeps) {
      return SiteError(
          d.dst,
          absl::StrCat(d.dst->Describe(), " depends on ", d.src->Describe(),
                       ", some of whose iterations would run later in "
                       "the merged loops"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<For> Merge(ScheduleState& state, Sites sites) {
  if (sites.size() < 2) {
    return absl::InvalidArgumentError("merge requires at least two loops");
  }
  Analyzer analyzer;
  const Site* lca = LowestCommonAncestor(sites);
  const Site* scope = nullptr;
  // The loops of each nest, innermost first.
  std::vector<std::vector<const Site*>> nests;
  for (const Site* site : sites) {
    BATON_ASSIGN_OR_RETURN(const Site* root, ScopeRoot(state, site, false));
    std::vector<const Site*> nest;
    for (const Site* p = site; p != lca; p = p->parent) {
      if (p->is_block()) continue;
      BATON_RETURN_IF_ERROR(CheckPlainLoop(p));
      BATON_RETURN_IF_ERROR(CheckStartsWithZero(p, analyzer));
      if (!nest.empty() && p->loop()->body() != nest.back()->stmt) {
        return SiteError(
            nest.back(),
            absl::StrCat(nest.back()->Describe(), " is not all of the body of ",
                         p->Describe()));
      }
      nest.push_back(p);
    }
    if (nest.empty()) {
      return SiteError(site, "a loop is to be merged with one around it");
    }
    if (!nests.empty()) {
      if (root != scope) {
        return SiteError(site, "loops to be merged must be in one block");
      }
      if (nest.size() != nests[0].size()) {
        return SiteError(site, "nests to be merged must be of one depth");
      }
      for (size_t i = 0; i < nest.size(); ++i) {
        if (!analyzer.CanProveEqual(nest[i]->loop()->extent(),
                                    nests[0][i]->loop()->extent())) {
          return SiteError(
              nest[i],
              absl::StrCat("the extent of ", nest[i]->Describe(),
                           " is not that of ", nests[0][i]->Describe()));
        }
      }
    }
    scope = root;
    nests.push_back(std::move(nest));
  }
  std::vector<Var> vars;
  std::vector<PrimExpr> extents;
  std::vector<Stmt> bodies;
  std::vector<For> removed;
  for (const auto& nest : nests) {
    VarMap<PrimExpr> values;
    for (size_t i = 0; i < nest.size(); ++i) {
      const ForNode* loop = nest[i]->loop();
      if (&nest == &nests[0]) {
        vars.push_back(CopyVar(loop->loop_var(), "_m"));
        extents.push_back(loop->extent());
      }
      values.Set(loop->loop_var(), vars[i]);
    }
    bodies.push_back(Substitute(nest[0]->loop()->body(), values));
    removed.push_back(For(nest.back()->loop()));
  }
  BATON_RETURN_IF_ERROR(
      CheckMergedOrder(state, scope, {nests, vars, extents}, analyzer));
  const For inner =
      SerialLoop(vars[0], IntImm(kInt32, 0), extents[0], FlatSeq(bodies));
  Stmt outer = inner;
  for (size_t i = 1; i < vars.size(); ++i) {
    outer = SerialLoop(vars[i], IntImm(kInt32, 0), extents[i], outer);
  }
  BlockNode::Parts parts = scope->block()->parts();
  parts.body = LoopMerger(std::move(removed), outer).Rewrite(parts.body);
  BATON_RETURN_IF_ERROR(
      state.Replace(scope, Block(std::move(parts), scope->stmt->span())));
  return inner;
}

absl::Status Reorder(ScheduleState& state, Sites order) {
  if (order.size() <= 1) return absl::OkStatus();
  FlatHashSet<const Site*> chosen;
  for (const Site* site : order) {
    if (!chosen.insert(site).second) {
      return SiteError(site, absl::StrCat(site->Describe(), " is given twice"));
    }
  }
  // The lowest of the loops is below all others.
  const Site* bottom = order[0];
  for (const Site* site : order) {
    if (IsAncestor(bottom, site)) bottom = site;
  }
  std::vector<const Site*> chain;  // innermost first
  size_t found = 0;
  for (const Site* p = bottom; found < order.size(); p = p->parent) {
    if (p == nullptr || p->is_block()) {
      return SiteError(bottom, "the loops are not in one nest");
    }
    if (!chain.empty() && p->loop()->body() != chain.back()->stmt) {
      return SiteError(
          chain.back(),
          absl::StrCat(
              "the loops are not in one nest: ", chain.back()->Describe(),
              " is not all of the body of ", p->Describe()));
    }
    found += chosen.contains(p) ? 1 : 0;
    chain.push_back(p);
  }
  const Site* top = chain.back();
  for (const Site* block : ChildBlocks(state, bottom)) {
    for (const IterVar& var : block->block()->iter_vars()) {
      if (var->iter_type() != IterVarType::kDataPar &&
          var->iter_type() != IterVarType::kCommReduce) {
        return SiteError(
            block,
            absl::StrCat("variable ", var->var()->name(), " of ",
                         block->Describe(), " is neither spatial nor reduces"));
      }
      BATON_RETURN_IF_ERROR(
          CheckPartialAffineBinding(state, block, top->parent));
    }
  }
  FlatHashSet<const VarNode*> inner_vars;
  Stmt result;
  size_t next = order.size();
  for (const Site* site : chain) {
    const Site* taken = chosen.contains(site) ? order[--next] : site;
    const ForNode* loop = taken->loop();
    for (const PrimExpr& bound : {loop->min(), loop->extent()}) {
      if (const VarNode* used = UsedVar(bound, inner_vars)) {
        return SiteError(taken, absl::StrCat("the range of ", taken->Describe(),
                                             " depends on loop ", used->name(),
                                             ", which would be inside of it"));
      }
    }
    inner_vars.insert(loop->loop_var().get());
    result = WithBody(loop, result.defined() ? result : site->loop()->body());
  }
  return state.Replace(top, result);
}

namespace {

// Puts another statement in the place of the realization of a block.
class RealizeReplacer : public Rewriter {
 public:
  RealizeReplacer(const Node* block, Stmt replacement)
      : block_(block), replacement_(std::move(replacement)) {}

 protected:
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    if (realize->block().get() == block_) return replacement_;
    return BlockRealize(realize);
  }

 private:
  const Node* block_;
  Stmt replacement_;
};

}  // namespace

absl::StatusOr<For> AddUnitLoop(ScheduleState& state, const Site* site) {
  if (site->parent == nullptr) {
    return SiteError(site, "no loop can be put around the root block");
  }
  const For result =
      SerialLoop(Var("u", kInt32), IntImm(kInt32, 0), IntImm(kInt32, 1),
                 site->is_block() ? Stmt(site->realize) : site->stmt);
  if (!site->is_block()) {
    BATON_RETURN_IF_ERROR(state.Replace(site, result));
    return result;
  }
  RealizeReplacer replacer(site->stmt.get(), result);
  Stmt parent;
  if (const ForNode* loop = site->parent->loop()) {
    parent = WithBody(loop, replacer.Rewrite(loop->body()));
  } else {
    BlockNode::Parts parts = site->parent->block()->parts();
    parts.body = replacer.Rewrite(parts.body);
    parent = Block(std::move(parts), site->parent->stmt->span());
  }
  BATON_RETURN_IF_ERROR(state.Replace(site->parent, parent));
  return result;
}

}  // namespace baton::tir
