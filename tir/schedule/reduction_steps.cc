// Steps that take reductions apart.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/tir/analysis/reduction.h"
#include "baton/tir/analysis/undefined_vars.h"
#include "baton/tir/arith/analyzer.h"
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

using VarSet = FlatHashSet<const VarNode*>;

// The region of the block that updates: it reads what it writes.
Block UpdateBlock(const BlockNode* block) {
  BlockNode::Parts parts = block->parts();
  absl::StrAppend(&parts.name, "_update");
  parts.init = Stmt();
  std::vector<BufferRegion> reads;
  for (const BufferRegion& write : block->writes()) {
    if (!RegionOf(block->reads(), write->buffer()).defined()) {
      reads.push_back(write);
    }
  }
  reads.insert(reads.end(), parts.reads.begin(), parts.reads.end());
  parts.reads = std::move(reads);
  return Block(std::move(parts), block->span());
}

// Puts a statement before a loop, and another block in the place of one.
class Decomposer : public Rewriter {
 public:
  Decomposer(const ForNode* loop, Stmt before, const BlockNode* old_block,
             Block new_block)
      : loop_(loop),
        before_(std::move(before)),
        old_block_(old_block),
        new_block_(std::move(new_block)) {}

 protected:
  Stmt VisitFor(const ForNode* loop) override {
    Stmt result = Rewriter::VisitFor(loop);
    if (loop != loop_) return result;
    return FlatSeq({before_, result});
  }
  Stmt VisitBlock(const BlockNode* block) override {
    if (block == old_block_) return new_block_;
    return Rewriter::VisitBlock(block);
  }

 private:
  const ForNode* loop_;
  Stmt before_;
  const BlockNode* old_block_;
  Block new_block_;
};

// The conditions `a < b` of a conjunction where `a` uses none of `discarded`;
// null if a condition is of another form. In a condition on other variables,
// too, variables have the `values` of loops with one iteration.
PrimExpr KeptConditions(PrimExpr predicate, const VarSet& discarded,
                        const VarMap<PrimExpr>& values) {
  Analyzer analyzer;
  PrimExpr result = IntImm::Bool(true);
  if (IsOne(predicate)) return result;
  while (true) {
    const BinaryNode* both = AsBinary(predicate, BinaryOp::kAnd);
    const PrimExpr last = both == nullptr ? predicate : both->b();
    const BinaryNode* less = AsBinary(last, BinaryOp::kLT);
    if (less == nullptr) return {};
    PrimExpr a(less->a());
    const auto is_discarded = [&](const VarNode* var) {
      return discarded.contains(var);
    };
    const auto is_kept = [&](const VarNode* var) {
      return !discarded.contains(var);
    };
    if (UsesVar(a, is_discarded) && UsesVar(a, is_kept)) {
      PrimExpr known = Substitute(a, values);
      if (known != a) a = analyzer.Simplify(known);
    }
    if (!UsesVar(a, is_discarded)) {
      result = MakeBinary(BinaryOp::kAnd, result,
                          MakeBinary(BinaryOp::kLT, a, less->b()));
    }
    if (both == nullptr) return result;
    predicate = PrimExpr(both->a());
  }
}

}  // namespace

absl::StatusOr<Block> DecomposeReduction(ScheduleState& state,
                                         const Site* block, const Site* loop) {
  const std::vector<const Site*> loops = LoopsOf(block);
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, false));
  if (std::find(loops.begin(), loops.end(), loop) == loops.end()) {
    return SiteError(loop, absl::StrCat(loop->Describe(), " is not around ",
                                        block->Describe()));
  }
  BATON_RETURN_IF_ERROR(CheckReductionBlock(state, block, scope));
  BATON_RETURN_IF_ERROR(CheckRunsInLoops(block, loop->parent));
  const BlockNode* node = block->block();
  const BlockRealizeNode* realize = block->realize.get();
  for (size_t i = 0; i < node->iter_vars().size(); ++i) {
    if (node->iter_vars()[i]->iter_type() != IterVarType::kCommReduce) continue;
    for (const Site* higher : loops) {
      if (higher == loop) break;
      if (UsesVar(realize->iter_values()[i],
                  higher->loop()->loop_var().get())) {
        return SiteError(loop, absl::StrCat(higher->Describe(), ", outside of ",
                                            loop->Describe(),
                                            ", is a loop of the "
                                            "reduction of ",
                                            block->Describe()));
      }
    }
  }
  BlockNode::Parts init;
  init.name = absl::StrCat(node->name(), "_init");
  init.annotations = node->annotations();
  VarMap<PrimExpr> new_vars;
  std::vector<PrimExpr> values;
  for (size_t i = 0; i < node->iter_vars().size(); ++i) {
    const IterVar& iter = node->iter_vars()[i];
    if (iter->iter_type() != IterVarType::kDataPar) continue;
    const Var var = CopyVar(iter->var(), "");
    init.iter_vars.push_back(IterVar({iter->min(), iter->extent()}, var,
                                     iter->iter_type(), iter->thread_tag()));
    values.push_back(realize->iter_values()[i]);
    new_vars.Set(iter->var(), var);
  }
  init.body = Substitute(node->init(), new_vars);
  for (const BufferRegion& write : node->writes()) {
    init.writes.push_back(
        BufferRegion(write->buffer(), Substitute(write->region(), new_vars)));
  }
  VarSet discarded;
  VarMap<PrimExpr> only_values;     // of discarded loops with one iteration
  std::vector<const Site*> chosen;  // innermost first
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    const VarNode* var = (*it)->loop()->loop_var().get();
    const bool used = std::any_of(
        values.begin(), values.end(),
        [var](const PrimExpr& value) { return UsesVar(value, var); });
    if (used) {
      chosen.push_back(*it);
    } else {
      discarded.insert(var);
      if (IsOne((*it)->loop()->extent())) {
        only_values.Set(Var(var), (*it)->loop()->min());
      }
    }
    if (*it == loop) break;
  }
  PrimExpr predicate =
      KeptConditions(realize->predicate(), discarded, only_values);
  if (!predicate.defined()) {
    return SiteError(block, absl::StrCat("the predicate of ", block->Describe(),
                                         " is no conjunction of `a < b`"));
  }
  const Block init_block(std::move(init));
  Stmt body = BlockRealize(std::move(values), std::move(predicate), init_block);
  VarMap<PrimExpr> new_loop_vars;
  for (const Site* site : chosen) {
    const ForNode* old_loop = site->loop();
    const Var var = CopyVar(old_loop->loop_var(), "_init");
    new_loop_vars.Set(old_loop->loop_var(), var);
    ForNode::Parts parts = old_loop->parts();
    parts.loop_var = var;
    parts.annotations = {};
    parts.body = std::move(body);
    if (parts.thread.defined()) {
      const IterVar thread = parts.thread;
      parts.thread =
          IterVar({thread->min(), thread->extent()}, CopyVar(thread->var(), ""),
                  thread->iter_type(), thread->thread_tag());
    }
    body = For(std::move(parts));
  }
  body = Substitute(body, new_loop_vars);
  BlockNode::Parts parts = scope->block()->parts();
  parts.body = Decomposer(loop->loop(), body, node, UpdateBlock(node))
                   .Rewrite(parts.body);
  BATON_RETURN_IF_ERROR(
      state.Replace(scope, Block(std::move(parts), scope->stmt->span())));
  while (const auto* inner = body.As<ForNode>()) body = Stmt(inner->body());
  return body.As<BlockRealizeNode>()->block();
}

namespace {

// Makes the two blocks of a factored reduction.
class FactoredBlock {
 public:
  FactoredBlock(const BlockRealizeNode* old_realize,
                const CommReducerNode* reducer)
      : old_realize_(old_realize), reducer_(reducer) {}

  std::vector<IterVar> iter_vars;
  std::vector<PrimExpr> iter_values;
  VarMap<PrimExpr> values;  // of variables of the old block
  std::vector<Buffer> buffers;
  std::vector<PrimExpr> indices;
  std::vector<PrimExpr> lhs;
  std::vector<PrimExpr> rhs;
  std::vector<BufferRegion> reads;
  std::vector<BufferRegion> writes;

  BlockRealize Make(const std::string& name, PrimExpr predicate) const {
    const bool reduces = std::any_of(
        iter_vars.begin(), iter_vars.end(), [](const IterVar& iter) {
          return iter->iter_type() == IterVarType::kCommReduce;
        });
    BlockNode::Parts parts;
    parts.name = name;
    parts.iter_vars = iter_vars;
    parts.reads = reads;
    parts.writes = writes;
    parts.annotations = old_realize_->block()->annotations();
    parts.body = Substitute(Body(reduces), values);
    if (reduces) {
      std::vector<Stmt> inits;
      for (size_t i = 0; i < buffers.size(); ++i) {
        inits.push_back(
            BufferStore(buffers[i], reducer_->identity()[i], indices));
      }
      parts.init = Substitute(MakeSeq(std::move(inits)), values);
    }
    return BlockRealize(iter_values, std::move(predicate),
                        Block(std::move(parts)));
  }

 private:
  Stmt Body(bool reduces) const {
    std::vector<Stmt> stores;
    if (!reduces) {
      for (size_t i = 0; i < buffers.size(); ++i) {
        stores.push_back(BufferStore(buffers[i], rhs[i], indices));
      }
      return MakeSeq(std::move(stores));
    }
    const std::vector<PrimExpr> results = ApplyReducer(reducer_, lhs, rhs);
    if (buffers.size() == 1) {
      return BufferStore(buffers[0], results[0], indices);
    }
    // All new values are computed before one of them is stored.
    std::vector<Var> vars;
    for (size_t i = 0; i < buffers.size(); ++i) {
      vars.emplace_back(absl::StrCat("v_", buffers[i]->name()),
                        results[i].dtype());
      stores.push_back(BufferStore(buffers[i], vars[i], indices));
    }
    Stmt body = MakeSeq(std::move(stores));
    for (size_t i = vars.size(); i-- > 0;) {
      body = LetStmt(vars[i], results[i], std::move(body));
    }
    return body;
  }

  const BlockRealizeNode* old_realize_;
  const CommReducerNode* reducer_;
};

IterVar IterOfLoop(const ForNode* loop, IterVarType type) {
  return IterVar({loop->min(), loop->extent()},
                 Var(absl::StrCat("v", loop->loop_var()->name()),
                     loop->loop_var().dtype()),
                 type);
}

// Replaces the nest of a reduction by the two nests.
class Factorer : public Rewriter {
 public:
  Factorer(Stmt factored, BlockRealize write_back,
           const BlockRealizeNode* old_realize,
           const std::vector<const Site*>& loops, const ForNode* factored_loop,
           const VarSet& reduce_vars)
      : factored_(std::move(factored)),
        write_back_(std::move(write_back)),
        old_realize_(old_realize),
        loops_(loops),
        factored_loop_(factored_loop),
        reduce_vars_(reduce_vars) {}

 protected:
  Stmt VisitFor(const ForNode* loop) override {
    const bool around =
        std::any_of(loops_.begin(), loops_.end(),
                    [loop](const Site* site) { return site->loop() == loop; });
    if (!around) return For(loop);
    Stmt body = Rewrite(loop->body());
    // Loops of the reduction, other than the factored one, stay around the
    // first block only.
    if (loop == factored_loop_ ||
        !reduce_vars_.contains(loop->loop_var().get())) {
      body = WithBody(loop, std::move(body));
    }
    if (loop != loops_[0]->loop()) return body;
    return FlatSeq({factored_, body});
  }
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    if (realize == old_realize_) return write_back_;
    return BlockRealize(realize);
  }

 private:
  Stmt factored_;
  BlockRealize write_back_;
  const BlockRealizeNode* old_realize_;
  const std::vector<const Site*>& loops_;
  const ForNode* factored_loop_;
  const VarSet& reduce_vars_;
};

absl::Status CheckLoops(const ScheduleState& state,
                        const std::vector<const Site*>& loops,
                        const Site* factored, const Site* block,
                        const VarSet& spatial_vars, const VarSet& reduce_vars) {
  const std::vector<const Site*> children = ChildBlocks(state, loops[0]);
  if (children[0] != block) {
    return SiteError(loops[0],
                     absl::StrCat("the first block in ", loops[0]->Describe(),
                                  " is not ", block->Describe()));
  }
  bool in_reduction = false;
  for (const Site* loop : loops) {
    const VarNode* var = loop->loop()->loop_var().get();
    const bool spatial = spatial_vars.contains(var);
    const bool reduces = reduce_vars.contains(var);
    if (spatial && reduces) {
      return SiteError(loop, absl::StrCat("spatial and reducing variables of ",
                                          block->Describe(), " depend on ",
                                          loop->Describe()));
    }
    if (spatial) {
      if (loop == factored) {
        return SiteError(
            loop, absl::StrCat("a spatial variable of ", block->Describe(),
                               " depends on ", loop->Describe()));
      }
    } else if (reduces) {
      if (!in_reduction) {
        BATON_RETURN_IF_ERROR(OnlyChildBlock(state, loop).status());
      }
      in_reduction = true;
    } else if (in_reduction && !IsOne(loop->loop()->extent())) {
      return SiteError(loop, absl::StrCat("no variable of ", block->Describe(),
                                          " depends on ", loop->Describe(),
                                          ", which is in a loop of the "
                                          "reduction"));
    }
  }
  return absl::OkStatus();
}

// The second block has no condition: that of the block is on loops that reduce
// only, and is true in one of their iterations for each of `site`.
absl::Status CheckConditionOfFactored(const Site* site, const Site* block,
                                      const std::vector<const Site*>& loops,
                                      const VarSet& reduce_vars) {
  const PrimExpr& predicate = block->realize->predicate();
  if (IsOne(predicate)) return absl::OkStatus();
  Analyzer analyzer;
  VarMap<PrimExpr> first;
  for (const Site* s : loops) {
    const ForNode* loop = s->loop();
    const VarNode* var = loop->loop_var().get();
    if (UsesVar(predicate, var) && !reduce_vars.contains(var)) {
      return SiteError(block,
                       absl::StrCat(block->Describe(), " has a condition on ",
                                    s->Describe(), ", which does not reduce"));
    }
    if (s == site) {
      analyzer.Bind(loop->loop_var(), Range{loop->min(), loop->extent()});
    } else {
      first.Set(loop->loop_var(), loop->min());
    }
  }
  if (analyzer.CanProve(Substitute(predicate, first))) return absl::OkStatus();
  return SiteError(block,
                   absl::StrCat("iterations of ", site->Describe(), " may run ",
                                block->Describe(), " never"));
}

}  // namespace

absl::StatusOr<Block> RFactor(ScheduleState& state, const Site* site,
                              int factor_axis) {
  BATON_ASSIGN_OR_RETURN(const Site* block, OnlyChildBlock(state, site));
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
  BATON_RETURN_IF_ERROR(CheckReductionBlock(state, block, scope));
  const ForNode* loop = site->loop();
  if (loop->for_kind() != ForKind::kSerial) {
    return SiteError(site, absl::StrCat(site->Describe(), " is not serial"));
  }
  const BlockNode* node = block->block();
  const BlockRealizeNode* realize = block->realize.get();
  VarSet spatial_vars;
  VarSet reduce_vars;
  for (size_t i = 0; i < node->iter_vars().size(); ++i) {
    VarSet& vars = node->iter_vars()[i]->iter_type() == IterVarType::kDataPar
                       ? spatial_vars
                       : reduce_vars;
    for (const Var& var : UndefinedVars(realize->iter_values()[i])) {
      vars.insert(var.get());
    }
  }
  const std::vector<const Site*> loops = LoopsOf(block);
  BATON_RETURN_IF_ERROR(
      CheckLoops(state, loops, site, block, spatial_vars, reduce_vars));
  Analyzer start;
  BATON_RETURN_IF_ERROR(CheckStartsWithZero(site, start));
  BATON_RETURN_IF_ERROR(
      CheckConditionOfFactored(site, block, loops, reduce_vars));
  BATON_ASSIGN_OR_RETURN(const Reduction reduction, FindReduction(Block(node)));
  const BufferStore& update = reduction.updates[0];
  const int rank = static_cast<int>(update->buffer()->shape().size());
  if (factor_axis < -(rank + 1) || factor_axis > rank) {
    return SiteError(
        block,
        absl::StrCat("factor axis ", factor_axis, " is out of range: buffer ",
                     update->buffer()->name(), " has ", rank, " axes"));
  }
  if (factor_axis < 0) factor_axis += rank + 1;

  const size_t count = reduction.updates.size();
  std::vector<Buffer> factored_buffers;
  for (const BufferStore& store : reduction.updates) {
    BufferNode::Parts parts = store->buffer()->parts();
    parts.shape.insert(parts.shape.begin() + factor_axis, loop->extent());
    absl::StrAppend(&parts.name, ".rf");
    parts.data = CopyVar(parts.data, ".rf");
    factored_buffers.push_back(Buffer(std::move(parts)));
  }

  // The block that reduces for each iteration of the loop apart.
  FactoredBlock first(realize, reduction.reducer.get());
  const IterVar factored_iter = IterOfLoop(loop, IterVarType::kDataPar);
  first.iter_vars.push_back(factored_iter);
  first.iter_values.push_back(loop->loop_var());
  VarMap<PrimExpr> iter_of_loop = {
      {loop->loop_var(), PrimExpr(factored_iter->var())}};
  for (size_t i = 0; i < node->iter_vars().size(); ++i) {
    const IterVar& iter = node->iter_vars()[i];
    const PrimExpr& value = realize->iter_values()[i];
    if (iter->iter_type() == IterVarType::kDataPar ||
        !UsesVar(value, loop->loop_var().get())) {
      first.iter_vars.push_back(iter);
      first.iter_values.push_back(value);
      continue;
    }
    for (const Var& var : UndefinedVars(value)) {
      const auto it = std::find_if(
          loops.begin(), loops.end(),
          [&](const Site* s) { return s->loop()->loop_var() == var; });
      if (it == loops.end() || iter_of_loop.Contains(var)) continue;
      const IterVar new_iter =
          IterOfLoop((*it)->loop(), IterVarType::kCommReduce);
      iter_of_loop.Set(var, new_iter->var());
      first.iter_vars.push_back(new_iter);
      first.iter_values.push_back(var);
    }
    first.values.Set(iter->var(), Substitute(value, iter_of_loop));
  }
  first.buffers = factored_buffers;
  first.indices.assign(update->indices().begin(), update->indices().end());
  first.indices.insert(first.indices.begin() + factor_axis,
                       factored_iter->var());
  for (size_t i = 0; i < count; ++i) {
    first.lhs.push_back(BufferLoad(factored_buffers[i], first.indices));
    first.rhs.push_back(reduction.rhs[i]);
  }
  for (const BufferRegion& read : node->reads()) {
    first.reads.push_back(
        BufferRegion(read->buffer(), Substitute(read->region(), first.values)));
  }
  for (const BufferRegion& write : node->writes()) {
    std::vector<Range> region(write->region().begin(), write->region().end());
    region.insert(region.begin() + factor_axis,
                  PointRange(factored_iter->var()));
    size_t k = 0;
    while (k < count && reduction.updates[k]->buffer() != write->buffer()) ++k;
    if (k == count) {
      return SiteError(block, absl::StrCat(block->Describe(), " writes buffer ",
                                           write->buffer()->name(),
                                           " outside of the reduction"));
    }
    first.writes.push_back(
        BufferRegion(factored_buffers[k], Substitute(region, first.values)));
  }
  const BlockRealize first_realize =
      first.Make(absl::StrCat(node->name(), "_rf"), realize->predicate());

  // A predicate ties the loop to others: iterations of the block would not be
  // independent.
  Analyzer analyzer;
  if (!IsAffineBinding(first_realize.get(), LoopDomains(block->parent),
                       analyzer)) {
    return SiteError(block, absl::StrCat("the values of the variables of ",
                                         first_realize->block()->name(),
                                         " would not be affine in the loops: "
                                         "the predicate of ",
                                         block->Describe(), " depends on ",
                                         site->Describe()));
  }

  // The block that reduces over the loop.
  FactoredBlock second(realize, reduction.reducer.get());
  const IterVar reduced_iter = IterOfLoop(loop, IterVarType::kCommReduce);
  second.iter_vars.push_back(reduced_iter);
  second.iter_values.push_back(loop->loop_var());
  second.values.Set(factored_iter->var(), reduced_iter->var());
  for (size_t i = 0; i < node->iter_vars().size(); ++i) {
    const IterVar& iter = node->iter_vars()[i];
    if (iter->iter_type() != IterVarType::kDataPar) continue;
    second.iter_vars.push_back(IterVar({iter->min(), iter->extent()},
                                       CopyVar(iter->var(), ""),
                                       IterVarType::kDataPar));
    second.iter_values.push_back(realize->iter_values()[i]);
    second.values.Set(iter->var(), second.iter_vars.back()->var());
  }
  const auto region_of = [](const PrimExpr& e) {
    const auto* load = e.As<BufferLoadNode>();
    return PointRegion(load->buffer(), load->indices());
  };
  for (size_t i = 0; i < count; ++i) {
    second.buffers.push_back(reduction.updates[i]->buffer());
    second.lhs.push_back(Substitute(reduction.lhs[i], second.values));
    second.rhs.push_back(
        Substitute(PrimExpr(BufferLoad(factored_buffers[i], first.indices)),
                   second.values));
    second.reads.push_back(region_of(second.rhs.back()));
    second.writes.push_back(region_of(second.lhs.back()));
  }
  second.indices.assign(update->indices().begin(), update->indices().end());
  const BlockRealize second_realize =
      second.Make(node->name(), IntImm::Bool(true));

  // The nest of the first block has variables of its own.
  VarMap<PrimExpr> new_vars;
  for (const Site* s : loops) {
    new_vars.Set(s->loop()->loop_var(), CopyVar(s->loop()->loop_var(), ""));
  }
  std::vector<PrimExpr> values;
  for (const PrimExpr& value : first_realize->iter_values()) {
    values.push_back(Substitute(value, new_vars));
  }
  Stmt nest = BlockRealize(std::move(values),
                           Substitute(first_realize->predicate(), new_vars),
                           first_realize->block());
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    ForNode::Parts parts = (*it)->loop()->parts();
    parts.loop_var = Var(new_vars.Find(parts.loop_var)->As<VarNode>());
    parts.body = std::move(nest);
    nest = For(std::move(parts));
  }
  BlockNode::Parts parts = scope->block()->parts();
  parts.body = Factorer(nest, second_realize, realize, loops, loop, reduce_vars)
                   .Rewrite(parts.body);
  parts.alloc_buffers.insert(parts.alloc_buffers.end(),
                             factored_buffers.begin(), factored_buffers.end());
  BATON_RETURN_IF_ERROR(
      state.Replace(scope, Block(std::move(parts), scope->stmt->span())));
  return first_realize->block();
}

}  // namespace baton::tir
