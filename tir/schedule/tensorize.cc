// The step that puts an intrinsic in the place of a block.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/blockized.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"
#include "baton/tir/transform/index_dtype_rewriter.h"

namespace baton::tir {
namespace {

// Compares a block with the one of a description. Variables and buffers match
// by where they are defined; the buffers of the description may have fewer
// axes, and begin where the outermost block's regions begin.
class Matcher {
 public:
  // The first difference; empty if there is none.
  std::string Difference(const BlockRealize& block, const Stmt& description) {
    if (SameStmt(block, description)) return {};
    return difference_.empty() ? "the statements differ" : difference_;
  }

  // The buffer that one of the description matches; null if there is none.
  Buffer Matched(const Buffer& described) const {
    const auto found = buffers_.find(described.get());
    return found == buffers_.end() ? Buffer() : found->second;
  }
  // Returns the begin of the region of a matched buffer.
  absl::Span<const PrimExpr> Begin(const Buffer& buffer) const {
    const auto found = begins_.find(buffer.get());
    if (found == begins_.end()) return {};
    return found->second;
  }

 private:
  bool Differ(std::string difference) {
    if (difference_.empty()) difference_ = std::move(difference);
    return false;
  }

  bool SameStmt(const Stmt& a, const Stmt& b) {
    return OnDeepStack([&] { return SameStmtParts(a, b); });
  }
  bool SameStmtParts(const Stmt& a, const Stmt& b) {
    if (a == b) return true;
    if (a->kind() != b->kind())
      return Differ("one statement is of another kind");
    if (const auto* loop = a.As<ForNode>()) {
      const auto* other = b.As<ForNode>();
      const std::string name = absl::StrCat("loop ", loop->loop_var()->name());
      if (!Define(loop->loop_var(), other->loop_var()) ||
          !SameExpr(loop->min(), other->min()) ||
          !SameExpr(loop->extent(), other->extent())) {
        return Differ(absl::StrCat(name, " has another range"));
      }
      if (loop->for_kind() != other->for_kind() ||
          loop->thread().defined() != other->thread().defined()) {
        return Differ(absl::StrCat(name, " is of another kind"));
      }
      if (!SameAnnotations(loop->annotations(), other->annotations())) {
        return Differ(absl::StrCat(name, " has other annotations"));
      }
      return SameStmt(loop->body(), other->body());
    }
    if (const auto* seq = a.As<SeqStmtNode>()) {
      const auto* other = b.As<SeqStmtNode>();
      if (seq->seq().size() != other->seq().size()) {
        return Differ("one has more statements");
      }
      for (size_t i = 0; i < seq->seq().size(); ++i) {
        if (!SameStmt(seq->seq()[i], other->seq()[i])) return false;
      }
      return true;
    }
    if (const auto* store = a.As<BufferStoreNode>()) {
      const auto* other = b.As<BufferStoreNode>();
      return SameAccess(store->buffer(), store->indices(), other->buffer(),
                        other->indices()) &&
             SameExpr(store->value(), other->value());
    }
    if (const auto* realize = a.As<BlockRealizeNode>()) {
      const auto* other = b.As<BlockRealizeNode>();
      if (!in_outermost_ &&
          !SameExprs(realize->iter_values(), other->iter_values())) {
        return Differ("the values of a block's variables differ");
      }
      if (!SameExpr(realize->predicate(), other->predicate())) {
        return Differ("the predicate of a block differs");
      }
      return SameBlock(realize->block(), other->block());
    }
    return Differ("such a statement is in no intrinsic");
  }

  bool SameBlock(const Block& a, const Block& b) {
    for (const IterVar& iter : a->iter_vars()) {
      own_analyzer_.Bind(iter->var(), Range{iter->min(), iter->extent()});
    }
    if (!in_outermost_) {
      const auto same_iter = [this](const IterVar& x, const IterVar& y) {
        return Define(x->var(), y->var()) && x->iter_type() == y->iter_type();
      };
      if (!std::equal(a->iter_vars().begin(), a->iter_vars().end(),
                      b->iter_vars().begin(), b->iter_vars().end(),
                      same_iter)) {
        return Differ(absl::StrCat(a->Describe(), " has other variables"));
      }
      const auto same_buffer = [this](const Buffer& x, const Buffer& y) {
        return SameBuffer(x, y);
      };
      if (!std::equal(a->alloc_buffers().begin(), a->alloc_buffers().end(),
                      b->alloc_buffers().begin(), b->alloc_buffers().end(),
                      same_buffer)) {
        return Differ(absl::StrCat(a->Describe(), " allocates other buffers"));
      }
    }
    if (!SameRegions(a->writes(), b->writes())) {
      return Differ(absl::StrCat(a->Describe(), " writes other regions"));
    }
    if (!SameRegions(a->reads(), b->reads())) {
      return Differ(absl::StrCat(a->Describe(), " reads other regions"));
    }
    in_outermost_ = false;
    return SameStmt(a->body(), b->body());
  }

  bool SameRegions(absl::Span<const BufferRegion> a,
                   absl::Span<const BufferRegion> b) {
    if (a.size() != b.size()) {
      return Differ(
          absl::StrCat(a.size(), " regions, the intrinsic has ", b.size()));
    }
    for (size_t i = 0; i < a.size(); ++i) {
      if (!SameRegion(a[i], b[i])) {
        return Differ(absl::StrCat("the region of buffer ",
                                   a[i]->buffer()->name(), " differs"));
      }
    }
    return true;
  }

  bool SameRegion(const BufferRegion& a, const BufferRegion& b) {
    if (!SameBuffer(a->buffer(), b->buffer())) return false;
    const absl::Span<const Range> own = a->region();
    const absl::Span<const Range> described = b->region();
    if (own.size() < described.size()) return false;
    const size_t offset = own.size() - described.size();
    // Axes that the description does not have.
    for (size_t i = 0; i < offset; ++i) {
      if (!IsOne(own[i].extent)) return false;
    }
    for (size_t i = 0; i < described.size(); ++i) {
      if (!analyzer_.CanProveEqual(own[i + offset].extent,
                                   described[i].extent)) {
        return false;
      }
    }
    const auto [entry, is_new] = begins_.try_emplace(a->buffer().get());
    std::vector<PrimExpr>& begin = entry->second;
    if (is_new) {
      for (const Range& range : own) begin.push_back(range.min);
      return in_outermost_;
    }
    if (begin.size() != own.size()) return false;
    for (size_t i = 0; i < offset; ++i) {
      if (!own_analyzer_.CanProveEqual(begin[i], own[i].min)) return false;
    }
    for (size_t i = 0; i < described.size(); ++i) {
      const PrimExpr distance =
          own_analyzer_.Simplify(Sub(own[i + offset].min, begin[i + offset]));
      if (!analyzer_.CanProveEqual(distance, described[i].min)) return false;
    }
    return true;
  }

  bool SameAccess(const Buffer& a, absl::Span<const PrimExpr> a_indices,
                  const Buffer& b, absl::Span<const PrimExpr> b_indices) {
    const auto differ = [&] {
      return Differ(
          absl::StrCat("an access of buffer ", a->name(), " differs"));
    };
    if (!SameBuffer(a, b) || a_indices.size() < b_indices.size()) {
      return differ();
    }
    const size_t offset = a_indices.size() - b_indices.size();
    const absl::Span<const PrimExpr> begin = Begin(a);
    if (begin.size() != a_indices.size()) return differ();
    for (size_t i = 0; i < b_indices.size(); ++i) {
      if (a_indices[i + offset].dtype().lanes() != 1 ||
          b_indices[i].dtype().lanes() != 1 ||
          !analyzer_.CanProveEqual(
              Sub(a_indices[i + offset], begin[i + offset]), b_indices[i])) {
        return differ();
      }
    }
    return true;
  }

  bool SameBuffer(const Buffer& a, const Buffer& b) {
    if (a == b) return true;
    const auto found = buffers_.find(b.get());
    if (found != buffers_.end()) return found->second == a;
    // Shapes do not count.
    if (!Define(a->data(), b->data()) || a.dtype() != b.dtype() ||
        a->scope() != b->scope()) {
      return Differ(absl::StrCat(
          "buffer ", a->name(), " (", a.dtype().ToString(), ", ", a->scope(),
          ") is not ", b->name(), " (", b.dtype().ToString(), ", ", b->scope(),
          ") of the intrinsic"));
    }
    buffers_[b.get()] = a;
    return true;
  }

  bool Define(const Var& a, const Var& b) {
    if (a == b) return true;
    const auto [entry, is_new] = vars_.try_emplace(a.get(), b);
    if (!is_new) return entry->second == b;
    if (a.dtype().code() != DType::Code::kHandle) {
      // Indices may have another number of bits.
      analyzer_.Bind(a, CastTo(a.dtype(), b));
    }
    return true;
  }

  bool SameAnnotations(const Dict& a, const Dict& b) {
    const size_t size = a.empty() ? 0 : a->keys().size();
    if (size != (b.empty() ? 0 : b->keys().size())) return false;
    for (size_t i = 0; i < size; ++i) {
      if (a->keys()[i] != b->keys()[i] ||
          !SameExpr(a->values()[i], b->values()[i])) {
        return false;
      }
    }
    return true;
  }

  bool SameExprs(absl::Span<const PrimExpr> a, absl::Span<const PrimExpr> b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!SameExpr(a[i], b[i])) return false;
    }
    return true;
  }

  bool SameExpr(const PrimExpr& a, const PrimExpr& b) {
    return OnDeepStack([&] { return SameExprParts(a, b); });
  }
  bool SameExprParts(const PrimExpr& a, const PrimExpr& b) {
    if (a == b) return true;
    if (a->kind() != b->kind() || a.dtype().code() != b.dtype().code()) {
      return Differ("an expression differs");
    }
    if (const auto* node = a.As<BinaryNode>()) {
      const auto* other = b.As<BinaryNode>();
      if (node->op() != other->op()) return Differ("an operation differs");
      return SameExpr(node->a(), other->a()) && SameExpr(node->b(), other->b());
    }
    if (const auto* imm = a.As<IntImmNode>()) {
      return imm->value() == b.As<IntImmNode>()->value() ||
             Differ("a constant differs");
    }
    if (const auto* imm = a.As<FloatImmNode>()) {
      return imm->value() == b.As<FloatImmNode>()->value() ||
             Differ("a constant differs");
    }
    if (const auto* imm = a.As<StringImmNode>()) {
      return imm->value() == b.As<StringImmNode>()->value() ||
             Differ("a constant differs");
    }
    if (const auto* cast = a.As<CastNode>()) {
      return SameExpr(cast->value(), b.As<CastNode>()->value());
    }
    if (const auto* var = a.As<VarNode>()) {
      const auto found = vars_.find(var);
      return (found != vars_.end() && found->second == b) ||
             Differ(absl::StrCat("variable ", var->name(), " differs"));
    }
    if (const auto* load = a.As<BufferLoadNode>()) {
      const auto* other = b.As<BufferLoadNode>();
      return SameAccess(load->buffer(), load->indices(), other->buffer(),
                        other->indices());
    }
    if (const auto* select = a.As<SelectNode>()) {
      const auto* other = b.As<SelectNode>();
      return SameExpr(select->condition(), other->condition()) &&
             SameExpr(select->true_value(), other->true_value()) &&
             SameExpr(select->false_value(), other->false_value());
    }
    return Differ("such an expression is in no intrinsic");
  }

  FlatHashMap<const BufferNode*, Buffer> buffers_;  // by the described one
  FlatHashMap<const BufferNode*, std::vector<PrimExpr>> begins_;
  FlatHashMap<const VarNode*, Var> vars_;  // to the described one
  Analyzer analyzer_;                      // maps variables to described ones
  Analyzer own_analyzer_;                  // has domains of the block's own
  bool in_outermost_ = true;
  std::string difference_;
};

// Gives indices of an implementation the number of bits that the indices of the
// function have.
class IndexNormalizer final : public IndexDTypeRewriter {
 public:
  explicit IndexNormalizer(DType dtype) : dtype_(dtype) {}

  PrimFunc RewriteFunction(const PrimFunc& function) {
    PrimFuncNode::Parts parts = function->parts();
    for (ParamBuffer& param : parts.buffers) {
      param.buffer = DefineBuffer(param.buffer);
    }
    parts.body = Rewrite(function->body());
    return PrimFunc(std::move(parts), function->span());
  }

 protected:
  PrimExpr VisitIntImm(const IntImmNode* node) override {
    if (!enabled_) return IntImm(node);
    return CastTo(dtype_, IntImm(node));
  }
  PrimExpr VisitVar(const VarNode* node) override {
    if (enabled_ && node->dtype().is_int() && node->dtype().lanes() == 1 &&
        node->dtype() != dtype_ && vars_.Find(node) == nullptr) {
      *vars_.TryEmplace(node).first = Var(node->name(), dtype_, node->span());
    }
    return IndexDTypeRewriter::VisitVar(node);
  }
  PrimExpr VisitCast(const CastNode* node) override {
    if (!enabled_) return IndexDTypeRewriter::VisitCast(node);
    return CastTo(dtype_, Rewrite(node->value()));
  }

 private:
  const DType dtype_;
};

int IndexBits(const Block& block) {
  int bits = 0;
  for (const auto regions : {block->reads(), block->writes()}) {
    for (const BufferRegion& region : regions) {
      for (const Range& range : region->region()) {
        bits = std::max(bits, range.min.dtype().bits());
      }
    }
  }
  return bits;
}

const BlockRealizeNode* BodyOf(const PrimFunc& function) {
  return function->body().As<BlockRealizeNode>();
}

}  // namespace

absl::Status CheckTensorIntrin(const PrimFunc& desc, const PrimFunc& impl) {
  if (desc->params().size() != impl->params().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the description of an intrinsic has ", desc->params().size(),
        " parameters, the implementation ", impl->params().size()));
  }
  for (size_t i = 0; i < desc->params().size(); ++i) {
    const int index = static_cast<int>(i);
    if (!desc->BufferOf(index).defined() || !impl->BufferOf(index).defined()) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", i, " of an intrinsic is no buffer"));
    }
  }
  for (const PrimFunc* function : {&desc, &impl}) {
    const BlockRealizeNode* body = BodyOf(*function);
    if (body == nullptr || !body->block()->iter_vars().empty()) {
      return absl::InvalidArgumentError(
          "the body of an intrinsic is a block without variables");
    }
  }
  return absl::OkStatus();
}

absl::Status Tensorize(ScheduleState& state, const Site* site,
                       const PrimFunc& desc, const PrimFunc& impl,
                       bool preserve_unit_iters) {
  BATON_RETURN_IF_ERROR(CheckTensorIntrin(desc, impl));
  BlockRealize realize = site->realize;
  if (!site->is_block()) {
    BATON_ASSIGN_OR_RETURN(realize,
                           MakeBlockized(state, site, preserve_unit_iters));
  }
  const int bits = IndexBits(realize->block());
  if (bits == 0) {
    return SiteError(
        site, absl::StrCat(site->Describe(), " reads and writes no elements"));
  }
  const PrimFunc implementation =
      bits == 32 ? impl
                 : IndexNormalizer(DType::Int(bits)).RewriteFunction(impl);
  Matcher matcher;
  const std::string difference = matcher.Difference(realize, desc->body());
  if (!difference.empty()) {
    return SiteError(
        site, absl::StrCat(site->Describe(),
                           " does not compute what the intrinsic computes: ",
                           difference));
  }

  // The buffers of the implementation are regions of those that match the
  // described ones.
  const Block& body = BodyOf(implementation)->block();
  BlockNode::Parts parts = realize->block()->parts();
  parts.match_buffers.clear();
  for (size_t i = 0; i < implementation->params().size(); ++i) {
    const int index = static_cast<int>(i);
    const Buffer buffer = implementation->BufferOf(index);
    const Buffer matched = matcher.Matched(desc->BufferOf(index));
    const absl::Span<const PrimExpr> begin = matcher.Begin(matched);
    const BufferRegion* region = nullptr;
    for (const auto regions : {body->reads(), body->writes()}) {
      for (const BufferRegion& r : regions) {
        if (region == nullptr && r->buffer() == buffer) region = &r;
      }
    }
    if (!matched.defined() || region == nullptr ||
        begin.size() < (*region)->region().size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", buffer->name(),
                       " of the intrinsic is neither read nor written"));
    }
    const size_t offset = begin.size() - (*region)->region().size();
    std::vector<Range> ranges;
    for (size_t k = 0; k < begin.size(); ++k) {
      const DType dtype = begin[k].dtype();
      ranges.push_back(
          {begin[k],
           k < offset ? MakeConst(dtype, 1)
                      : CastTo(dtype, (*region)->region()[k - offset].extent)});
    }
    parts.match_buffers.emplace_back(buffer,
                                     BufferRegion(matched, std::move(ranges)));
  }
  parts.body = body->body();
  if (!body->annotations().empty()) {
    std::vector<Dict::Entry> entries = body->annotations().Entries();
    // If both have a key, the value of the schedule stays.
    absl::c_move(parts.annotations.Entries(), std::back_inserter(entries));
    parts.annotations = Dict::Of(std::move(entries));
  }
  const Block block(std::move(parts), realize->block()->span());
  if (site->is_block()) return state.Replace(site, block);
  return state.Replace(
      site, BlockRealize(
                {realize->iter_values().begin(), realize->iter_values().end()},
                realize->predicate(), block, realize->span()));
}

}  // namespace baton::tir
