#include "baton/tir/transform/lower_match_buffer.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/block_buffers.h"
#include "baton/tir/analysis/buffer_offset.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

std::vector<PrimExpr> ListOf(absl::Span<const PrimExpr> list) {
  return {list.begin(), list.end()};
}

class MatchLowerer final : public Rewriter {
 public:
  absl::StatusOr<PrimFunc> Lower(const PrimFunc& function) {
    for (const Var& param : function->params()) {
      if (param.dtype() != kHandle) values_[param.get()] = param;
    }
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

  Stmt VisitBlock(const BlockNode* block) override {
    for (const MatchRegion& match : block->match_buffers()) Define(match);
    const Stmt changed = Rewriter::VisitBlock(block);
    const auto* result = changed.As<BlockNode>();
    std::vector<BufferRegion> reads = Sources(result->reads());
    std::vector<BufferRegion> writes = Sources(result->writes());
    if (block->match_buffers().empty() &&
        absl::MakeConstSpan(reads) == result->reads() &&
        absl::MakeConstSpan(writes) == result->writes()) {
      return changed;
    }
    BlockNode::Parts parts = result->parts();
    parts.match_buffers.clear();
    parts.reads = std::move(reads);
    parts.writes = std::move(writes);
    return Block(std::move(parts), block->span());
  }

  Stmt VisitFor(const ForNode* loop) override {
    analyzer_.Bind(loop->loop_var(), Range{loop->min(), loop->extent()});
    return Rewriter::VisitFor(loop);
  }

  PrimExpr VisitVar(const VarNode* var) override {
    const PrimExpr* value = values_.Find(var);
    return value == nullptr ? Var(var) : *value;
  }

  Stmt VisitBufferStore(const BufferStoreNode* store) override {
    const BufferRegion* source = sources_.Find(store->buffer().get());
    if (source == nullptr) return Rewriter::VisitBufferStore(store);
    std::vector<PrimExpr> indices = ListOf(store->indices());
    PrimExpr value = Rewrite(store->value());
    RewriteAll(indices);
    if (!CheckRank(store->buffer(), indices.size(), store->span())) {
      return BufferStore(store);
    }
    return BufferStore((*source)->buffer(), std::move(value),
                       SourceIndices(*source, indices), store->span());
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    const BufferRegion* source = sources_.Find(load->buffer().get());
    if (source == nullptr) return Rewriter::VisitBufferLoad(load);
    std::vector<PrimExpr> indices = ListOf(load->indices());
    RewriteAll(indices);
    if (!CheckRank(load->buffer(), indices.size(), load->span())) {
      return BufferLoad(load);
    }
    return BufferLoad((*source)->buffer(), SourceIndices(*source, indices),
                      load->span());
  }

 private:
  bool CheckRank(const Buffer& buffer, size_t rank, const Span& span) {
    if (rank == buffer->shape().size()) return true;
    Fail(span, absl::StrCat("an access of buffer ", buffer->name(), " has ",
                            rank, " indices, but the buffer has ",
                            buffer->shape().size(), " axes"));
    return false;
  }

  BufferRegion SourceOf(const BufferRegion& region) const {
    const BufferRegion* source = sources_.Find(region->buffer().get());
    if (source == nullptr ||
        (*source)->region().size() < region->region().size()) {
      return region;
    }
    return BufferRegion((*source)->buffer(),
                        SourceRegion(*source, region->region()),
                        region->span());
  }

  std::vector<BufferRegion> Sources(
      absl::Span<const BufferRegion> regions) const {
    std::vector<BufferRegion> result;
    for (const BufferRegion& region : regions) {
      result.push_back(SourceOf(region));
    }
    return result;
  }

  void Define(const MatchRegion& match) {
    const Buffer& buffer = match->buffer();
    const BufferRegion source = SourceOf(match->source());
    const Buffer& origin = source->buffer();
    span_ = match->span();
    name_ = buffer->name();
    if (buffer->scope() != origin->scope()) {
      return Fail(span_,
                  absl::StrCat("buffer ", name_, " of scope ", buffer->scope(),
                               " matches one of scope ", origin->scope()));
    }
    if (buffer.dtype() != origin.dtype()) {
      return Fail(
          span_,
          absl::StrCat("buffer ", name_, " of ", buffer.dtype().ToString(),
                       " matches one of ", origin.dtype().ToString()));
    }
    if (IsZero(buffer->elem_offset()) && !IsZero(origin->elem_offset())) {
      return Fail(span_, absl::StrCat("buffer ", name_,
                                      " without an offset matches one with "
                                      "an offset"));
    }
    const absl::Span<const Range> region = source->region();
    const size_t rank = buffer->shape().size();
    if (region.size() < rank) {
      return Fail(span_, absl::StrCat("buffer ", name_,
                                      " has more axes than "
                                      "the region that it matches"));
    }
    const size_t offset = region.size() - rank;
    for (size_t i = 0; i < offset; ++i) {
      if (!analyzer_.CanProveEqual(region[i].extent,
                                   IntImm(region[i].extent.dtype(), 1))) {
        return Fail(span_, absl::StrCat("buffer ", name_,
                                        " has no axis for a range of the "
                                        "region with several elements"));
      }
    }
    sources_[buffer.get()] = source;
    kept_.push_back(match);
    Bind(buffer->data(), origin->data(), "pointer");
    BindOffset(buffer, source);
    BindStrides(buffer, origin, offset);
    for (size_t i = 0; i < rank; ++i) {
      Bind(buffer->shape()[i], region[i + offset].extent, "shape");
    }
  }

  void BindOffset(const Buffer& buffer, const BufferRegion& source) {
    std::vector<PrimExpr> begin;
    for (const Range& range : source->region()) begin.push_back(range.min);
    const std::vector<PrimExpr> start = ElementOffset(source->buffer(), begin);
    const PrimExpr& offset = buffer->elem_offset();
    if (start.size() != 1) {
      Bind(offset, IntImm(offset.dtype(), 0), "offset");
      return;
    }
    Bind(offset, start[0], "offset");
    if (analyzer_.CanProve(MakeBinary(
            BinaryOp::kEQ,
            MakeBinary(BinaryOp::kMod, offset,
                       IntImm(offset.dtype(), buffer->offset_factor())),
            IntImm(offset.dtype(), 0)))) {
      return;
    }
    Fail(span_,
         absl::StrCat("the offset of buffer ", name_, " is not a multiple of ",
                      buffer->offset_factor()));
  }

  void BindStrides(const Buffer& buffer, const Buffer& origin, size_t offset) {
    const size_t rank = buffer->strides().size();
    if (rank == 0 || rank != buffer->shape().size()) return;
    const DType dtype = buffer->strides().back().dtype();
    if (!dtype.is_integral()) {
      return Fail(span_,
                  absl::StrCat("the strides of buffer ", name_,
                               " are no integers, but ", dtype.ToString()));
    }
    PrimExpr stride = IntImm(dtype, 1);
    for (size_t i = rank; i-- > 0;) {
      Bind(buffer->strides()[i],
           origin->strides().empty() ? stride : origin->strides()[i + offset],
           "strides");
      stride = Mul(stride, origin->shape()[i + offset]);
    }
  }

  // Gives `part` of the buffer that value, or proves that it has it.
  void Bind(const PrimExpr& part, const PrimExpr& given,
            absl::string_view what) {
    if (!status_.ok()) return;
    if (part.dtype() != given.dtype()) {
      return Fail(
          span_, absl::StrCat("the ", what, " of buffer ", name_, " is ",
                              part.dtype().ToString(), ", in the region it is ",
                              given.dtype().ToString()));
    }
    PrimExpr value = Substitute(given, values_);
    PrimExpr known = part;
    if (const auto* var = part.As<VarNode>()) {
      const auto [entry, is_new] = values_.TryEmplace(var);
      if (is_new) {
        *entry = value;
        if (value.dtype() != kHandle) analyzer_.Bind(Var(var), value);
        return;
      }
      known = *entry;
    }
    if (known == value || analyzer_.CanProveEqual(known, value)) return;
    Fail(span_, absl::StrCat("the ", what, " of buffer ", name_,
                             " is not that of the region"));
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  NodeMap<BufferRegion> sources_;
  std::vector<MatchRegion> kept_;  // keys of `sources_`
  NodeMap<PrimExpr> values_;
  Analyzer analyzer_;
  // The place of the match that is being defined.
  Span span_;
  std::string name_;
  absl::Status status_;
};

}  // namespace

Pass LowerMatchBuffer() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return MatchLowerer().Lower(function);
      },
      {.name = "tir.LowerMatchBuffer",
       .doc = "Replaces buffers that match a region of another one by the "
              "region.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.LowerMatchBuffer", LowerMatchBuffer);

}  // namespace baton::tir
