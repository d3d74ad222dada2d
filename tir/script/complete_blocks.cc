#include "baton/tir/script/complete_blocks.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "baton/ir/span.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/script_parser.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

class Completer final : public Rewriter {
 public:
  explicit Completer(std::vector<Span>* unclear) : unclear_(*unclear) {}

  void AddBuffer(const Buffer& buffer) { buffers_.Set(buffer->data(), buffer); }

 private:
  Stmt VisitBlock(const BlockNode* node) override {
    for (const Buffer& buffer : node->alloc_buffers()) AddBuffer(buffer);
    for (const MatchRegion& match : node->match_buffers()) {
      AddBuffer(match->buffer());
    }
    const bool is_root = is_root_;
    is_root_ = false;
    Stmt rewritten = Rewriter::VisitBlock(node);
    is_root_ = is_root;
    // Outside of the block its own buffers are unknown.
    for (const Buffer& buffer : node->alloc_buffers()) {
      buffers_.Erase(buffer->data().get());
    }
    for (const MatchRegion& match : node->match_buffers()) {
      buffers_.Erase(match->buffer()->data().get());
    }
    const PrimExpr mark = node->annotations().Find(kDetectAccess);
    const auto* mask = mark.As<IntImmNode>();
    if (mask == nullptr) return rewritten;
    const auto* block = rewritten.As<BlockNode>();
    BlockNode::Parts parts = block->parts();
    if (!is_root) {
      AccessRegions regions = FindBlockAccessRegions(Block(block), buffers_);
      if (!regions.opaque.empty()) unclear_.push_back(node->span());
      if ((mask->value() & kDetectReads) != 0) {
        parts.reads = std::move(regions.reads);
      }
      if ((mask->value() & kDetectWrites) != 0) {
        parts.writes = std::move(regions.writes);
      }
    }
    std::vector<Dict::Entry> entries;
    const DictNode* dict = node->annotations().get();
    for (size_t i = 0; i < dict->keys().size(); ++i) {
      if (dict->keys()[i] == kDetectAccess) continue;
      entries.emplace_back(dict->keys()[i], dict->values()[i]);
    }
    parts.annotations = Dict::Of(std::move(entries));
    return Block(std::move(parts), block->span());
  }

  std::vector<Span>& unclear_;
  BuffersByPointer buffers_;
  bool is_root_ = true;
};

}  // namespace

PrimFunc CompleteBlocks(const PrimFunc& function, std::vector<Span>* unclear) {
  Completer completer(unclear);
  for (const Buffer& buffer : function->buffers()) completer.AddBuffer(buffer);
  return completer.RewriteBody(function);
}

}  // namespace baton::tir
