// Steps that make blocks of loops and blocks.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/blockized.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {
namespace {

bool UsesAny(const PrimExpr& e, absl::Span<const Var> vars) {
  return UsesVar(e, [vars](const VarNode* used) {
    return std::any_of(vars.begin(), vars.end(),
                       [used](const Var& var) { return var.get() == used; });
  });
}

// The values of a block's variables, divided between the loops outside and
// those inside.
struct Division {
  std::vector<const ForNode*> inner_loops;  // innermost first
  std::vector<PrimExpr> outer_values;
  std::vector<PrimExpr> outer_extents;
  std::vector<PrimExpr> inner_values;
  std::vector<PrimExpr> inner_extents;
  std::vector<PrimExpr> offsets;  // value = outer * extent + inner + offset
  PrimExpr outer_predicate;
  PrimExpr inner_predicate;
};

// A division where each value depends on loops of one side only.
bool DivideTrivially(const BlockRealizeNode* realize,
                     absl::Span<const Var> outer_vars,
                     absl::Span<const Var> inner_vars, Division& result) {
  if (!IsOne(realize->predicate())) return false;
  const PrimExpr zero = IntImm(kInt32, 0);
  const PrimExpr one = IntImm(kInt32, 1);
  for (size_t i = 0; i < realize->iter_values().size(); ++i) {
    const PrimExpr& value = realize->iter_values()[i];
    const PrimExpr& extent = realize->block()->iter_vars()[i]->extent();
    const bool outer = UsesAny(value, outer_vars);
    const bool inner = UsesAny(value, inner_vars);
    if (outer && inner) return false;
    result.outer_values.push_back(outer ? value : zero);
    result.outer_extents.push_back(outer ? extent : one);
    result.inner_values.push_back(inner ? value : zero);
    result.inner_extents.push_back(inner ? extent : one);
    result.offsets.push_back(zero);
  }
  result.outer_predicate = IntImm::Bool(true);
  result.inner_predicate = IntImm::Bool(true);
  return true;
}

// Divides the values of `block` at `site`: the loops below it are inside, and
// it, too, unless it is `site_is_outer`.
absl::StatusOr<Division> Divide(const Site* block, const Site* site,
                                bool site_is_outer, bool preserve_unit_iters,
                                Analyzer& analyzer) {
  Division result;
  std::vector<Var> inner_vars;
  std::vector<Var> outer_vars;
  VarRanges domains;
  bool inner = true;
  for (const Site* p = block->parent; p != nullptr && !p->is_block();
       p = p->parent) {
    const ForNode* loop = p->loop();
    if (site_is_outer && p == site) inner = false;
    if (inner) {
      // The new block says that it writes all that its loops write.
      BATON_RETURN_IF_ERROR(CheckHasIterations(p));
      result.inner_loops.push_back(loop);
      inner_vars.push_back(loop->loop_var());
    } else {
      outer_vars.push_back(loop->loop_var());
    }
    domains.Set(loop->loop_var(), Range{loop->min(), loop->extent()});
    if (!site_is_outer && p == site) inner = false;
  }
  const BlockRealizeNode* realize = block->realize.get();
  // A loop of one iteration that is in the condition only is its value there.
  VarMap<PrimExpr> only_values;
  for (const Site* p = block->parent; p != nullptr && !p->is_block();
       p = p->parent) {
    const ForNode* loop = p->loop();
    const VarNode* var = loop->loop_var().get();
    const auto values = realize->iter_values();
    if (IsOne(loop->extent()) && std::none_of(values.begin(), values.end(),
                                              [var](const PrimExpr& value) {
                                                return UsesVar(value, var);
                                              })) {
      only_values.Set(loop->loop_var(), loop->min());
    }
  }
  const PrimExpr predicate =
      only_values.empty() ? realize->predicate()
                          : Substitute(realize->predicate(), only_values);
  const std::vector<DividedIter> divided =
      SubspaceDivide(realize->iter_values(), domains, inner_vars, predicate,
                     IterMapLevel::kSurjective, analyzer, !preserve_unit_iters);
  if (!divided.empty()) {
    const auto source = [](const IterMark& mark) {
      return mark.sum() != nullptr ? NormalizeIterMapToExpr(*mark.sum())
                                   : mark.expr();
    };
    for (size_t i = 0; i + 1 < divided.size(); ++i) {
      result.outer_values.push_back(source(divided[i].outer));
      result.outer_extents.push_back(divided[i].outer.extent());
      IterSum inner_value = *divided[i].inner.sum();
      result.offsets.push_back(inner_value.base);
      inner_value.base = MakeConst(inner_value.base.dtype(), 0);
      result.inner_values.push_back(NormalizeIterMapToExpr(inner_value));
      result.inner_extents.push_back(divided[i].inner.extent());
    }
    result.outer_predicate = divided.back().outer.extent();
    result.inner_predicate = divided.back().inner.extent();
  } else if (!DivideTrivially(realize, outer_vars, inner_vars, result)) {
    return SiteError(
        block,
        absl::StrCat("the values of the variables of ", block->Describe(),
                     " cannot be divided at ", site->Describe()));
  }
  // The division may lack a part of the condition: that must always be true.
  if (!IsOne(predicate)) {
    Analyzer loops;
    for (const auto& [var, range] : domains) loops.Bind(var, range);
    const auto outer_holds = loops.WithConstraint(result.outer_predicate);
    const auto inner_holds = loops.WithConstraint(result.inner_predicate);
    if (!loops.CanProve(predicate)) {
      return SiteError(block,
                       absl::StrCat("the condition of ", block->Describe(),
                                    " cannot be divided at a loop"));
    }
  }
  return result;
}

// Variables of the two blocks, and the old ones as expressions of them.
struct NewVars {
  std::vector<IterVar> outer;
  std::vector<PrimExpr> outer_values;
  std::vector<IterVar> inner;
  std::vector<PrimExpr> inner_values;
  VarMap<PrimExpr> values;
};

Range RangeFromZero(const PrimExpr& extent) {
  return {IntImm(extent.dtype(), 0), extent};
}

// `outer`, if not null, are variables that exist already.
absl::StatusOr<NewVars> MakeVars(const Site* block, const Division& division,
                                 bool preserve_unit_iters,
                                 const NewVars* outer) {
  NewVars result;
  if (outer != nullptr) {
    result.outer = outer->outer;
    result.outer_values = outer->outer_values;
  }
  Analyzer analyzer;
  const auto iters = block->block()->iter_vars();
  for (size_t i = 0; i < iters.size(); ++i) {
    const IterVar& iter = iters[i];
    const PrimExpr& outer_extent = division.outer_extents[i];
    const PrimExpr& inner_extent = division.inner_extents[i];
    BATON_RETURN_IF_ERROR(CheckStartsWithZero(block, iter));
    if (analyzer.CanProveGreaterEqual(
            Sub(Mul(outer_extent, inner_extent), iter->extent()), 1)) {
      return SiteError(
          block,
          absl::StrCat("the value of variable ", iter->var()->name(), " of ",
                       block->Describe(), " cannot be divided at a loop"));
    }
    if (outer == nullptr) {
      result.outer.push_back(IterVar(RangeFromZero(outer_extent),
                                     CopyVar(iter->var(), "_o"),
                                     iter->iter_type()));
      result.outer_values.push_back(division.outer_values[i]);
    } else if (i >= result.outer.size() ||
               !analyzer.CanProveEqual(result.outer[i]->extent(),
                                       outer_extent) ||
               !analyzer.CanProveEqual(result.outer_values[i],
                                       division.outer_values[i])) {
      return SiteError(
          block, absl::StrCat("the outer variables of ", block->Describe(),
                              " are not those of the blocks before"));
    }
    const Var& outer_var = result.outer[i]->var();
    PrimExpr value;
    if (IsOne(inner_extent)) {
      value = IsOne(outer_extent) && !preserve_unit_iters
                  ? PrimExpr(IntImm(outer_extent.dtype(), 0))
                  : PrimExpr(outer_var);
    } else {
      const IterVar inner(RangeFromZero(inner_extent),
                          CopyVar(iter->var(), "_i"), iter->iter_type());
      result.inner.push_back(inner);
      result.inner_values.push_back(division.inner_values[i]);
      value = IsOne(outer_extent)
                  ? PrimExpr(inner->var())
                  : Add(Mul(outer_var, inner_extent), inner->var());
    }
    if (!IsZero(division.offsets[i])) value = Add(value, division.offsets[i]);
    result.values.Set(iter->var(), std::move(value));
  }
  return result;
}

// Replaces variables, and simplifies each expression that changes.
class SimplifyingSubstituter : public Rewriter {
 public:
  SimplifyingSubstituter(const VarMap<PrimExpr>& values, Analyzer& analyzer)
      : values_(values), analyzer_(analyzer) {}
  using Rewriter::RewriteBlock;

 protected:
  PrimExpr VisitVar(const VarNode* var) override {
    const PrimExpr* value = values_.Find(var);
    if (value != nullptr) return *value;
    return Var(var);
  }
  PrimExpr VisitBinary(const BinaryNode* node) override {
    return Simplified(node, Rewriter::VisitBinary(node));
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    return Simplified(node, Rewriter::VisitBufferLoad(node));
  }
  PrimExpr VisitCall(const CallNode* node) override {
    return Simplified(node, Rewriter::VisitCall(node));
  }
  PrimExpr VisitCast(const CastNode* node) override {
    return Simplified(node, Rewriter::VisitCast(node));
  }
  PrimExpr VisitSelect(const SelectNode* node) override {
    return Simplified(node, Rewriter::VisitSelect(node));
  }
  PrimExpr VisitNot(const NotNode* node) override {
    return Simplified(node, Rewriter::VisitNot(node));
  }

 private:
  PrimExpr Simplified(const Node* node, PrimExpr result) {
    return result.get() == node ? result : analyzer_.Simplify(result);
  }

  const VarMap<PrimExpr>& values_;
  Analyzer& analyzer_;
};

// The buffers that blocks in `block` allocate keep their shapes: these must not
// depend on variables that get other values.
absl::Status CheckAllocations(const Site* site, const Block& block,
                              const VarMap<PrimExpr>& values) {
  absl::Status status;
  PostOrderVisit(
      Stmt(block), [](const PrimExpr&) {},
      [&](const Stmt& stmt) {
        const auto* inner = stmt.As<BlockNode>();
        if (inner == nullptr) return;
        for (const Buffer& buffer : inner->alloc_buffers()) {
          for (const PrimExpr& extent : buffer->shape()) {
            if (!UsesVar(extent, [&values](const VarNode* var) {
                  return values.Find(var) != nullptr;
                })) {
              continue;
            }
            status = SiteError(
                site, absl::StrCat("the shape of buffer ", buffer->name(),
                                   ", which is allocated in ", site->Describe(),
                                   ", depends on a variable of it"));
          }
        }
      });
  return status;
}

std::vector<BufferRegion> Relaxed(absl::Span<const BufferRegion> regions,
                                  const Domains& domains) {
  std::vector<BufferRegion> result;
  for (const BufferRegion& region : regions) {
    const std::vector<IntSet> sets = EvalSet(region->region(), domains);
    std::vector<Range> ranges;
    for (size_t i = 0; i < sets.size(); ++i) {
      ranges.push_back(
          sets[i].CoverRange(RangeFromZero(region->buffer()->shape()[i])));
    }
    result.push_back(BufferRegion(region->buffer(), std::move(ranges)));
  }
  return result;
}

bool ReducesOutside(const NewVars& vars) {
  return std::any_of(vars.outer.begin(), vars.outer.end(),
                     [](const IterVar& iter) {
                       return iter->iter_type() == IterVarType::kCommReduce;
                     });
}

// `reads_writes`: the inner block reads what it writes, too. `keeps_init`: no
// reduction runs outside of it.
BlockRealize MakeInner(const Block& block, const NewVars& vars,
                       PrimExpr predicate, bool reads_writes, bool keeps_init) {
  BlockNode::Parts parts = block->parts();
  parts.iter_vars = vars.inner;
  if (!keeps_init) parts.init = Stmt();
  if (reads_writes) {
    parts.reads.insert(parts.reads.begin(), block->writes().begin(),
                       block->writes().end());
  }
  return BlockRealize(vars.inner_values, std::move(predicate),
                      Block(std::move(parts), block->span()));
}

// The initialization of the outer block: a block in the loops that it uses. An
// error if it would run where the block does not.
absl::StatusOr<Stmt> MakeOuterInit(const Site* site, const Stmt& init,
                                   const BlockRealize& inner,
                                   const std::vector<const ForNode*>& loops,
                                   const std::string& name) {
  const Block& block = inner->block();
  BlockNode::Parts parts;
  VarMap<PrimExpr> values;
  std::vector<PrimExpr> iter_values;
  for (size_t i = 0; i < block->iter_vars().size(); ++i) {
    const IterVar& iter = block->iter_vars()[i];
    const VarNode* node = iter->var().get();
    if (iter->iter_type() != IterVarType::kDataPar || !UsesVar(init, node)) {
      continue;
    }
    const Var var = CopyVar(iter->var(), "_init");
    values.Set(iter->var(), var);
    parts.iter_vars.push_back(IterVar({iter->min(), iter->extent()}, var,
                                      iter->iter_type(), iter->thread_tag()));
    iter_values.push_back(inner->iter_values()[i]);
  }
  parts.name = name;
  parts.writes.assign(block->writes().begin(), block->writes().end());
  parts.body = init;
  Stmt stmt =
      BlockRealize(iter_values, inner->predicate(), Block(std::move(parts)));
  for (const ForNode* loop : loops) {
    const bool used = std::any_of(
        iter_values.begin(), iter_values.end(), [loop](const PrimExpr& value) {
          return UsesVar(value, loop->loop_var().get());
        });
    if (!used) {
      // T.init() runs once for all iterations, if there are any.
      if (UsesVar(inner->predicate(), loop->loop_var().get())) {
        return SiteError(site,
                         absl::StrCat(site->Describe(),
                                      " has T.init() and a "
                                      "condition on loop ",
                                      loop->loop_var()->name(),
                                      ", over which it does not initialize"));
      }
      continue;
    }
    ForNode::Parts loop_parts = loop->parts();
    loop_parts.loop_var = CopyVar(loop->loop_var(), "");
    loop_parts.body = std::move(stmt);
    values.Set(loop->loop_var(), loop_parts.loop_var);
    stmt = For(std::move(loop_parts));
  }
  return Substitute(stmt, values);
}

}  // namespace

absl::StatusOr<BlockRealize> MakeBlockized(const ScheduleState& state,
                                           const Site* loop,
                                           bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(const Site* block, OnlyChildBlock(state, loop));
  Analyzer analyzer;
  BATON_ASSIGN_OR_RETURN(
      const Division division,
      Divide(block, loop, false, preserve_unit_iters, analyzer));
  BATON_ASSIGN_OR_RETURN(
      const NewVars vars,
      MakeVars(block, division, preserve_unit_iters, nullptr));
  Domains domains;
  for (const IterVar& iter : vars.inner) {
    const Range range = {iter->min(), iter->extent()};
    domains.Set(iter->var(), IntSet::FromRange(range));
    analyzer.Bind(iter->var(), range);
  }
  BATON_RETURN_IF_ERROR(
      CheckAllocations(block, Block(block->block()), vars.values));
  SimplifyingSubstituter substituter(vars.values, analyzer);
  const Block substituted = substituter.RewriteBlock(Block(block->block()));
  const bool has_init = substituted->init().defined();
  const BlockRealize inner =
      MakeInner(substituted, vars, division.inner_predicate,
                has_init && ReducesOutside(vars), /*keeps_init=*/false);
  BlockNode::Parts parts;
  parts.name = absl::StrCat(substituted->name(), "_o");
  parts.iter_vars = vars.outer;
  parts.reads = Relaxed(substituted->reads(), domains);
  parts.writes = Relaxed(substituted->writes(), domains);
  parts.body = inner;
  for (const ForNode* inner_loop : division.inner_loops) {
    parts.body = WithBody(inner_loop, std::move(parts.body));
  }
  if (has_init) {
    BATON_ASSIGN_OR_RETURN(
        parts.init,
        MakeOuterInit(block, substituted->init(), inner, division.inner_loops,
                      absl::StrCat(substituted->name(), "_init")));
  }
  return BlockRealize(vars.outer_values, division.outer_predicate,
                      Block(std::move(parts)));
}

absl::StatusOr<Block> Blockize(ScheduleState& state, const Site* loop,
                               bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(const BlockRealize result,
                         MakeBlockized(state, loop, preserve_unit_iters));
  BATON_RETURN_IF_ERROR(state.Replace(loop, result));
  return result->block();
}

namespace {

// Puts a statement in the place of those in a sequence that have the blocks.
class GroupReplacer : public Rewriter {
 public:
  GroupReplacer(Sites blocks, Stmt replacement)
      : replacement_(std::move(replacement)) {
    for (const Site* block : blocks) blocks_.insert(block->stmt.get());
  }

  // Null if the blocks are not in statements of `body` that follow one another.
  Stmt Replace(const Stmt& body) {
    const auto* seq = body.As<SeqStmtNode>();
    if (seq == nullptr) return {};
    std::vector<Stmt> result;
    int last = -1;
    for (size_t i = 0; i < seq->seq().size(); ++i) {
      bool found = false;
      PostOrderVisit(
          seq->seq()[i], [](const PrimExpr&) {},
          [&](const Stmt& stmt) { found |= blocks_.contains(stmt.get()); });
      if (!found) {
        result.push_back(seq->seq()[i]);
        continue;
      }
      if (last >= 0 && last != static_cast<int>(i) - 1) return {};
      if (last < 0) result.push_back(replacement_);
      last = static_cast<int>(i);
    }
    return MakeSeq(std::move(result));
  }

 private:
  FlatHashSet<const Node*> blocks_;
  Stmt replacement_;
};

// The statements of `lca` that have the blocks have no others.
absl::Status CheckAllOfStatements(const ScheduleState& state, Sites blocks,
                                  const Site* lca) {
  const auto statement_of = [lca](const Site* site) {
    while (site->parent != lca) site = site->parent;
    return site;
  };
  FlatHashSet<const Site*> statements;
  FlatHashSet<const Site*> given;
  for (const Site* block : blocks) {
    if (block == lca) continue;
    given.insert(block);
    statements.insert(statement_of(block));
  }
  for (const Site* block : ChildBlocks(state, lca)) {
    if (given.contains(block) || !statements.contains(statement_of(block))) {
      continue;
    }
    return SiteError(block, absl::StrCat(block->Describe(),
                                         " is in a loop with "
                                         "a block that becomes part of another "
                                         "one"));
  }
  return absl::OkStatus();
}

bool Loads(const PrimExpr& e, const Buffer& buffer) {
  bool found = false;
  PostOrderVisit(e, [&](const PrimExpr& part) {
    const auto* load = part.As<BufferLoadNode>();
    found |= load != nullptr && load->buffer() == buffer;
  });
  return found;
}

// One region for each buffer that has all regions of it.
std::vector<BufferRegion> UnionOf(const std::vector<BufferRegion>& regions) {
  std::vector<Buffer> buffers;
  for (const BufferRegion& region : regions) {
    if (std::find(buffers.begin(), buffers.end(), region->buffer()) ==
        buffers.end()) {
      buffers.push_back(region->buffer());
    }
  }
  std::vector<BufferRegion> result;
  for (const Buffer& buffer : buffers) {
    std::vector<Range> ranges;
    for (size_t axis = 0; axis < buffer->shape().size(); ++axis) {
      std::vector<IntSet> sets;
      for (const BufferRegion& region : regions) {
        if (region->buffer() == buffer) {
          sets.push_back(IntSet::FromRange(region->region()[axis]));
        }
      }
      const IntSet all = Union(sets);
      if (!all.HasLowerBound() || !all.HasUpperBound()) {
        ranges.push_back(RangeFromZero(buffer->shape()[axis]));
        continue;
      }
      const PrimExpr end = Add(all.max(), IntImm(all.max().dtype(), 1));
      ranges.push_back({all.min(), Sub(end, all.min())});
    }
    result.push_back(BufferRegion(buffer, std::move(ranges)));
  }
  return result;
}

// True if a reduction of the block runs over loops outside of a new block of
// several.
bool ReducesOutside(const Site* block, const Division& division) {
  const auto iters = block->block()->iter_vars();
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i]->iter_type() == IterVarType::kCommReduce &&
        !IsOne(division.outer_extents[i])) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<Block> BlockizeBlocks(ScheduleState& state, Sites blocks,
                                     bool preserve_unit_iters) {
  if (blocks.empty()) {
    return absl::InvalidArgumentError("blockize requires blocks");
  }
  // The new block has the blocks in the order in which they are given.
  BATON_RETURN_IF_ERROR(CheckInOrder(state, blocks));
  const Site* lca = LowestCommonAncestor(blocks);
  for (const Site* block : blocks) {
    if (block == lca) {
      return SiteError(block,
                       absl::StrCat(block->Describe(),
                                    " has no block beside it: blockize takes "
                                    "one of its loops instead"));
    }
  }
  BATON_RETURN_IF_ERROR(CheckAllOfStatements(state, blocks, lca));
  Analyzer analyzer;
  std::string name = "outer_";
  std::vector<BufferRegion> reads;
  std::vector<BufferRegion> writes;
  std::vector<Stmt> body;
  NewVars outer;
  PrimExpr outer_predicate;
  VarMap<PrimExpr> loop_values;
  for (const Site* block : blocks) {
    BATON_ASSIGN_OR_RETURN(
        const Division division,
        Divide(block, lca, true, preserve_unit_iters, analyzer));
    if (block != blocks[0] &&
        !ExprDeepEqual(outer_predicate, division.outer_predicate)) {
      return SiteError(block,
                       absl::StrCat("the condition of ", block->Describe(),
                                    " is not the one of the blocks before it"));
    }
    outer_predicate = division.outer_predicate;
    BATON_ASSIGN_OR_RETURN(const NewVars vars,
                           MakeVars(block, division, preserve_unit_iters,
                                    block == blocks[0] ? nullptr : &outer));
    outer.outer = vars.outer;
    outer.outer_values = vars.outer_values;
    for (size_t i = 0; i < vars.outer.size(); ++i) {
      if (const auto* var = vars.outer_values[i].As<VarNode>()) {
        loop_values.Set(Var(var), vars.outer[i]->var());
      }
    }
    Domains domains;
    for (const IterVar& iter : vars.inner) {
      const Range range = {Substitute(iter->min(), loop_values),
                           Substitute(iter->extent(), loop_values)};
      domains.Set(iter->var(), IntSet::FromRange(range));
      analyzer.Bind(iter->var(), range);
    }
    BATON_RETURN_IF_ERROR(
        CheckAllocations(block, Block(block->block()), vars.values));
    SimplifyingSubstituter substituter(vars.values, analyzer);
    const Block substituted = substituter.RewriteBlock(Block(block->block()));
    for (BufferRegion& region : Relaxed(substituted->reads(), domains)) {
      reads.push_back(std::move(region));
    }
    for (BufferRegion& region : Relaxed(substituted->writes(), domains)) {
      writes.push_back(std::move(region));
    }
    absl::StrAppend(&name, substituted->name(), "_");
    if (substituted->init().defined() && ReducesOutside(block, division)) {
      return SiteError(block, absl::StrCat(block->Describe(),
                                           " reduces over loops outside of "
                                           "the new block"));
    }
    Stmt stmt = MakeInner(substituted, vars, division.inner_predicate,
                          /*reads_writes=*/false, /*keeps_init=*/true);
    for (const ForNode* loop : division.inner_loops) {
      ForNode::Parts parts = loop->parts();
      parts.body = std::move(stmt);
      parts.extent = Substitute(parts.extent, loop_values);
      stmt = For(std::move(parts), loop->span());
    }
    body.push_back(std::move(stmt));
  }
  for (const BufferRegion& region : reads) {
    for (const Range& range : region->region()) {
      for (const BufferRegion& write : writes) {
        if (Loads(range.min, write->buffer()) ||
            Loads(range.extent, write->buffer())) {
          return SiteError(
              lca, absl::StrCat("what the new block reads of buffer ",
                                region->buffer()->name(), " depends on buffer ",
                                write->buffer()->name(), ", which it writes"));
        }
      }
    }
  }
  BlockNode::Parts parts;
  parts.name = name;
  parts.iter_vars = outer.outer;
  parts.reads = UnionOf(reads);
  parts.writes = UnionOf(writes);
  parts.body = FlatSeq(body);
  const Block result(std::move(parts));
  GroupReplacer replacer(
      blocks, BlockRealize(outer.outer_values, outer_predicate, result));
  const ForNode* loop = lca->loop();
  const Stmt new_body =
      replacer.Replace(loop != nullptr ? loop->body() : lca->block()->body());
  if (!new_body.defined()) {
    return SiteError(lca,
                     absl::StrCat("the blocks are not in statements of ",
                                  lca->Describe(), " that follow one another"));
  }
  if (loop != nullptr) {
    BATON_RETURN_IF_ERROR(state.Replace(lca, WithBody(loop, new_body)));
    return result;
  }
  BlockNode::Parts outer_parts = lca->block()->parts();
  outer_parts.body = new_body;
  BATON_RETURN_IF_ERROR(
      state.Replace(lca, Block(std::move(outer_parts), lca->stmt->span())));
  return result;
}

}  // namespace baton::tir
