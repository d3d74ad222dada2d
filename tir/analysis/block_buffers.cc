#include "baton/tir/analysis/block_buffers.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

class DimAlignCollector final : public Visitor {
 public:
  FlatHashMap<const VarNode*, std::vector<DimAlign>> Take() {
    return std::move(aligns_);
  }

  void VisitBlock(const BlockNode* block) override {
    for (const DimAlign& align :
         DimAlignsOf(block->annotations().Find(kBufferDimAlign))) {
      const auto i = static_cast<size_t>(align.buffer_index);
      if (align.buffer_index < 0 || i >= block->writes().size()) continue;
      aligns_[block->writes()[i]->buffer()->data().get()].push_back(align);
    }
    Visitor::VisitBlock(block);
  }
  void VisitAllocate(const AllocateNode* allocate) override {
    for (const DimAlign& align :
         DimAlignsOf(allocate->annotations().Find(kBufferDimAlign))) {
      aligns_[allocate->var().get()].push_back(align);
    }
    Visitor::VisitAllocate(allocate);
  }

 private:
  FlatHashMap<const VarNode*, std::vector<DimAlign>> aligns_;
};

}  // namespace

std::vector<DimAlign> DimAlignsOf(const PrimExpr& annotation) {
  std::vector<DimAlign> result;
  const auto* list = annotation.As<ListNode>();
  if (list == nullptr) return result;
  for (const PrimExpr& item : list->items()) {
    const auto* entry = item.As<ListNode>();
    if (entry == nullptr || entry->items().size() != 4) continue;
    int64_t values[4];
    bool complete = true;
    for (size_t i = 0; i < 4; ++i) {
      const auto* imm = entry->items()[i].As<IntImmNode>();
      complete = complete && imm != nullptr;
      if (imm != nullptr) values[i] = imm->value();
    }
    if (!complete) continue;
    result.push_back({values[0], values[1], values[2], values[3]});
  }
  return result;
}

PrimExpr MakeDimAligns(absl::Span<const DimAlign> aligns) {
  std::vector<PrimExpr> items;
  for (const DimAlign& align : aligns) {
    items.push_back(
        List({IntImm(kInt32, align.buffer_index), IntImm(kInt32, align.axis),
              IntImm(kInt32, align.factor), IntImm(kInt32, align.offset)}));
  }
  return List(std::move(items));
}

FlatHashMap<const VarNode*, std::vector<DimAlign>> CollectDimAligns(
    const Stmt& body) {
  DimAlignCollector collector;
  collector.Visit(body);
  return collector.Take();
}

std::vector<PrimExpr> AllocationShape(const Buffer& buffer) {
  std::vector<PrimExpr> shape(buffer->shape().begin(), buffer->shape().end());
  for (size_t i = 1; i < buffer->strides().size() && i < shape.size(); ++i) {
    shape[i] = MakeBinary(BinaryOp::kDiv, buffer->strides()[i - 1],
                          buffer->strides()[i]);
  }
  return shape;
}

std::vector<Range> FullRegion(const Buffer& buffer) {
  std::vector<Range> region;
  for (const PrimExpr& extent : buffer->shape()) {
    region.push_back({IntImm(extent.dtype(), 0), extent});
  }
  return region;
}

std::vector<PrimExpr> SourceIndices(const BufferRegion& source,
                                    absl::Span<const PrimExpr> indices) {
  const absl::Span<const Range> region = source->region();
  const size_t offset = region.size() - indices.size();
  std::vector<PrimExpr> result;
  for (size_t i = 0; i < region.size(); ++i) {
    result.push_back(i < offset ? region[i].min
                                : Add(region[i].min, indices[i - offset]));
  }
  return result;
}

std::vector<Range> SourceRegion(const BufferRegion& source,
                                absl::Span<const Range> region) {
  const absl::Span<const Range> outer = source->region();
  const size_t offset = outer.size() - region.size();
  std::vector<Range> result;
  for (size_t i = 0; i < outer.size(); ++i) {
    if (i < offset) {
      result.push_back({outer[i].min, IntImm(outer[i].min.dtype(), 1)});
    } else {
      result.push_back({Add(outer[i].min, region[i - offset].min),
                        region[i - offset].extent});
    }
  }
  return result;
}

}  // namespace baton::tir
