// The step that computes indices once, into buffers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/tir/analysis/side_effect.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/cache.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {
namespace {

size_t NodesOf(const PrimExpr& e) {
  size_t count = 0;
  PostOrderVisit(e, [&count](const PrimExpr&) { ++count; });
  return count;
}

// A term that a buffer can hold: pure, and more than a variable or constant.
bool IsTerm(const PrimExpr& e) {
  return e.As<RampNode>() == nullptr && e.As<BroadcastNode>() == nullptr &&
         NodesOf(e) > 1 && SideEffectOf(e) <= CallEffect::kPure;
}

bool AreEquivalent(const PrimExpr& a, const PrimExpr& b) {
  if (ExprDeepEqual(a, b)) return true;
  Analyzer analyzer;
  return ExprDeepEqual(analyzer.Simplify(a), analyzer.Simplify(b));
}

// Rewrites nothing: finds the largest terms below a node.
class TermFinder : public Rewriter {
 public:
  std::vector<PrimExpr> terms;

  // The terms in `e` that are not all of it.
  void FindBelow(const PrimExpr& e) {
    below_ = e.get();
    Rewrite(e);
  }

 protected:
#define BATON_TERM_HOOK(Name)                             \
  PrimExpr Visit##Name(const Name##Node* node) override { \
    if (node != below_ && IsTerm(Name(node))) {           \
      terms.push_back(Name(node));                        \
      return Name(node);                                  \
    }                                                     \
    return Rewriter::Visit##Name(node);                   \
  }
  BATON_TERM_HOOK(Binary)
  BATON_TERM_HOOK(Cast)
  BATON_TERM_HOOK(Call)
  BATON_TERM_HOOK(Select)
  BATON_TERM_HOOK(Not)
  BATON_TERM_HOOK(Let)
#undef BATON_TERM_HOOK

 private:
  const Node* below_ = nullptr;
};

struct Counted {
  PrimExpr term;
  int count = 0;
};

// Adds a term, larger ones first.
void Insert(std::vector<Counted>& table, const PrimExpr& term, int count) {
  for (Counted& entry : table) {
    if (!AreEquivalent(entry.term, term)) continue;
    entry.count += count;
    return;
  }
  const size_t size = NodesOf(term);
  const auto it = std::find_if(
      table.begin(), table.end(),
      [size](const Counted& entry) { return NodesOf(entry.term) < size; });
  table.insert(it, {term, count});
}

// Finds the stores of a block, not of blocks in it, and its terms.
class StoreVisitor : public Visitor {
 public:
  explicit StoreVisitor(int threshold) : threshold_(threshold) {}
  std::vector<PrimExpr> terms;

 protected:
  void VisitBlock(const BlockNode* /*block*/) override {}
  void VisitBufferStore(const BufferStoreNode* store) override {
    TermFinder finder;
    finder.Rewrite(BufferStore(store));
    std::vector<Counted> table;
    for (const PrimExpr& term : finder.terms) Insert(table, term, 1);
    for (size_t i = 0; i < table.size(); ++i) {
      const Counted entry = table[i];
      if (entry.count >= threshold_) continue;
      TermFinder parts;
      parts.FindBelow(entry.term);
      for (const PrimExpr& part : parts.terms) {
        Insert(table, part, entry.count);
      }
    }
    PostOrderVisit(store->value(), [&](const PrimExpr& e) {
      for (const Counted& entry : table) {
        if (entry.count < threshold_ || !AreEquivalent(e, entry.term)) continue;
        if (std::find(terms.begin(), terms.end(), entry.term) == terms.end()) {
          terms.push_back(entry.term);
        }
      }
    });
    std::stable_sort(terms.begin(), terms.end(),
                     [](const PrimExpr& a, const PrimExpr& b) {
                       return NodesOf(a) > NodesOf(b);
                     });
  }

 private:
  int threshold_;
};

struct Cached {
  PrimExpr term;
  Buffer buffer;
  std::vector<Var> vars;  // of the block
};

// Loads terms from their buffers, in the stores of one block.
class TermReplacer : public Rewriter {
 public:
  TermReplacer(const BlockNode* block, const std::vector<Cached>& cached)
      : block_(block), cached_(cached) {}

 protected:
  Stmt VisitBlock(const BlockNode* block) override {
    const bool outer = std::exchange(inside_, block == block_);
    const Stmt rewritten = Rewriter::VisitBlock(block);
    inside_ = outer;
    if (block != block_) return rewritten;
    // Regions stay as they were.
    BlockNode::Parts parts = rewritten.As<BlockNode>()->parts();
    parts.reads.assign(block->reads().begin(), block->reads().end());
    parts.writes.assign(block->writes().begin(), block->writes().end());
    return Block(std::move(parts), block->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* store) override {
    in_store_ = inside_;
    Stmt result = Rewriter::VisitBufferStore(store);
    in_store_ = false;
    return result;
  }
#define BATON_TERM_HOOK(Name)                                   \
  PrimExpr Visit##Name(const Name##Node* node) override {       \
    PrimExpr load = LoadOf(Name(node));                         \
    return load.defined() ? load : Rewriter::Visit##Name(node); \
  }
  BATON_TERM_HOOK(Binary)
  BATON_TERM_HOOK(Cast)
  BATON_TERM_HOOK(Call)
  BATON_TERM_HOOK(Select)
  BATON_TERM_HOOK(Not)
  BATON_TERM_HOOK(Let)
#undef BATON_TERM_HOOK

 private:
  PrimExpr LoadOf(const PrimExpr& e) const {
    if (!in_store_) return {};
    for (const Cached& cached : cached_) {
      if (!AreEquivalent(e, cached.term)) continue;
      return BufferLoad(cached.buffer,
                        {cached.vars.begin(), cached.vars.end()});
    }
    return {};
  }

  const BlockNode* block_;
  const std::vector<Cached>& cached_;
  bool inside_ = false;
  bool in_store_ = false;
};

std::vector<Var> VarsInOrder(const PrimExpr& e) {
  std::vector<Var> vars;
  PostOrderVisit(e, [&vars](const PrimExpr& part) {
    const auto* node = part.As<VarNode>();
    if (node == nullptr) return;
    const Var var(node);
    if (std::find(vars.begin(), vars.end(), var) == vars.end()) {
      vars.push_back(var);
    }
  });
  return vars;
}

// int32 if it has all values of the range.
DType IndexType(const Range& range) {
  if (range.extent.dtype().bits() <= 32) return kInt32;
  Analyzer analyzer;
  const ConstIntBound min = analyzer.BoundOf(range.min);
  const ConstIntBound extent = analyzer.BoundOf(range.extent);
  const bool fits = min.min >= INT32_MIN && min.max <= INT32_MAX &&
                    extent.max <= INT32_MAX - std::max<int64_t>(0, min.max);
  return fits ? kInt32 : DType::Int(64);
}

}  // namespace

absl::StatusOr<std::vector<Block>> CacheIndex(ScheduleState& state,
                                              const Site* block,
                                              const std::string& storage_scope,
                                              int cse_thresh) {
  if (cse_thresh < 0) return SiteError(block, "cse_thresh is negative");
  BATON_RETURN_IF_ERROR(CheckStorageScope(storage_scope));
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, false));
  StoreVisitor visitor(cse_thresh);
  visitor.Visit(block->block()->body());
  const VarMap<PrimExpr> values = BindingsOf(block->realize.get());
  VarRanges loops;
  for (const Site* p = block->parent; p != nullptr; p = p->parent) {
    if (const ForNode* loop = p->loop()) {
      loops.Set(loop->loop_var(), Range{loop->min(), loop->extent()});
    }
  }
  const Domains domains = AsIntSets(loops);
  Analyzer analyzer;
  BindShapes(state, analyzer);
  std::vector<Cached> cached;
  std::vector<Block> result;
  std::vector<Stmt> nests;
  const auto unknown = [block] {
    return SiteError(block, absl::StrCat("an index of ", block->Describe(),
                                         " depends on variables other than "
                                         "those of the loops around it"));
  };
  for (const PrimExpr& term : visitor.terms) {
    const size_t number = cached.size();
    Cached entry = {term, {}, VarsInOrder(term)};
    if (entry.vars.empty()) continue;  // a constant
    std::vector<Var> loop_vars;
    BufferNode::Parts buffer;
    for (const Var& var : entry.vars) {
      const PrimExpr* value = values.Find(var);
      if (value == nullptr) return unknown();
      for (const Var& loop_var : VarsInOrder(*value)) {
        const Range* range = loops.Find(loop_var);
        if (range == nullptr) return unknown();
        if (!IsZero(range->min)) {
          return SiteError(
              block, absl::StrCat("loop ", loop_var->name(), " around ",
                                  block->Describe(), " does not start at 0"));
        }
        if (std::find(loop_vars.begin(), loop_vars.end(), loop_var) ==
            loop_vars.end()) {
          loop_vars.push_back(loop_var);
        }
      }
      const IntSet set = EvalSet(*value, domains);
      if (!set.HasUpperBound() || !set.HasLowerBound() ||
          !analyzer.CanProveGreaterEqual(set.min(), 0)) {
        return unknown();
      }
      buffer.shape.push_back(Add(set.max(), IntImm(set.max().dtype(), 1)));
    }
    if (loop_vars.size() < entry.vars.size()) return unknown();
    buffer.name = absl::StrCat("index_var_", number);
    buffer.data = Var::Pointer(buffer.name, term.dtype(), storage_scope);
    buffer.dtype = term.dtype();
    buffer.strides = {IntImm(kInt32, 1)};
    buffer.elem_offset = IntImm(kInt32, 0);
    entry.buffer = Buffer(std::move(buffer));
    VarMap<PrimExpr> new_loop_vars;
    std::vector<Var> new_vars;
    for (const Var& loop_var : loop_vars) {
      new_vars.emplace_back(absl::StrCat("ax", new_vars.size()),
                            IndexType(*loops.Find(loop_var)));
      new_loop_vars.Set(loop_var, CastTo(loop_var.dtype(), new_vars.back()));
    }
    BlockNode::Parts parts;
    std::vector<PrimExpr> iter_values;
    std::vector<PrimExpr> indices;
    VarMap<PrimExpr> new_block_vars;
    for (size_t i = 0; i < entry.vars.size(); ++i) {
      const Var& old_var = entry.vars[i];
      const Var var(absl::StrCat("v", i), old_var.dtype());
      iter_values.push_back(Substitute(*values.Find(old_var), new_loop_vars));
      // The variable has the values of a loop, unless there are more of them.
      PrimExpr extent = loops.Find(loop_vars[i])->extent;
      if (!analyzer.CanProveGreaterEqual(Sub(extent, entry.buffer->shape()[i]),
                                         0)) {
        extent = analyzer.Simplify(entry.buffer->shape()[i]);
      }
      parts.iter_vars.push_back(IterVar({IntImm(old_var.dtype(), 0), extent},
                                        var, IterVarType::kDataPar));
      indices.push_back(var);
      new_block_vars.Set(old_var, var);
    }
    parts.name = absl::StrCat("index_", number);
    parts.writes = {PointRegion(entry.buffer, indices)};
    parts.body =
        BufferStore(entry.buffer, Substitute(term, new_block_vars), indices);
    result.push_back(Block(std::move(parts)));
    Stmt nest =
        BlockRealize(std::move(iter_values), IntImm::Bool(true), result.back());
    for (size_t i = new_vars.size(); i-- > 0;) {
      nest = SerialLoop(new_vars[i], IntImm(kInt32, 0),
                        loops.Find(loop_vars[i])->extent, std::move(nest));
    }
    nests.push_back(std::move(nest));
    cached.push_back(std::move(entry));
  }
  if (cached.empty()) {
    return SiteError(block, absl::StrCat(block->Describe(),
                                         " has no index to be computed once"));
  }
  const Site* child = block;
  while (child->parent != scope) child = child->parent;
  BlockNode::Parts parts = scope->block()->parts();
  parts.body = TermReplacer(block->block(), cached).Rewrite(parts.body);
  BATON_ASSIGN_OR_RETURN(
      parts.body,
      InsertAt(parts.body, std::max(0, child->seq_index), FlatSeq(nests)));
  for (const Cached& entry : cached) {
    parts.alloc_buffers.push_back(entry.buffer);
  }
  BATON_RETURN_IF_ERROR(
      state.Replace(scope, Block(std::move(parts), scope->stmt->span())));
  return result;
}

}  // namespace baton::tir
