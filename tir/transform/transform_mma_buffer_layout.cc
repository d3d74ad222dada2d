#include "baton/tir/transform/transform_mma_buffer_layout.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/buffer_map.h"
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

// The division of a matrix into tiles, and the part of a tile that a thread
// has.
struct Tile {
  absl::string_view scope;
  int64_t rows;
  int64_t columns;
  int64_t thread_rows;
  int64_t thread_columns;
};
constexpr Tile kTiles[] = {
    {"m16n8k8.matrixC", 16, 8, 2, 2},
    {"m16n8k8.matrixA", 32, 8, 4, 2},
    {"m16n8k8.matrixB", 8, 32, 1, 8},
};

class LayoutTransformer final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

 protected:
  // Regions stay as they are.
  Stmt VisitBlock(const BlockNode* node) override {
    BlockNode::Parts parts = node->parts();
    bool changed = false;
    for (Buffer& buffer : parts.alloc_buffers) {
      Buffer local = LocalBuffer(buffer);
      if (!local.defined()) continue;
      buffers_.Set(buffer, local);
      pointers_[buffer->data().get()] = local->data();
      buffer = std::move(local);
      changed = true;
    }
    parts.body = Rewrite(node->body());
    if (!changed && parts.body == node->body()) return Block(node);
    return Block(std::move(parts), node->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    const auto* store = result.As<BufferStoreNode>();
    const Buffer* local = buffers_.Find(store->buffer());
    if (local == nullptr) return result;
    return BufferStore(*local, store->value(),
                       Indices(store->buffer(), store->indices()),
                       store->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    const auto* load = result.As<BufferLoadNode>();
    const Buffer* local = buffers_.Find(load->buffer());
    if (local == nullptr) return result;
    return BufferLoad(*local, Indices(load->buffer(), load->indices()),
                      load->span());
  }
  PrimExpr VisitVar(const VarNode* node) override {
    const Var* pointer = pointers_.Find(node);
    return pointer == nullptr ? Var(node) : *pointer;
  }

 private:
  // Null if it stays.
  Buffer LocalBuffer(const Buffer& buffer) {
    for (const Tile& tile : kTiles) {
      if (buffer->scope() != tile.scope) continue;
      const auto shape = buffer->shape();
      const size_t rank = shape.size();
      const auto* rows = rank < 2 ? nullptr : shape[rank - 2].As<IntImmNode>();
      const auto* columns =
          rank < 2 ? nullptr : shape[rank - 1].As<IntImmNode>();
      if (rows == nullptr || columns == nullptr ||
          rows->value() % tile.rows != 0 ||
          columns->value() % tile.columns != 0) {
        Fail(buffer->span(), absl::StrCat("the shape of ", buffer->name(),
                                          " is no multiple of ", tile.rows,
                                          " x ", tile.columns));
        return {};
      }
      BufferNode::Parts parts;
      parts.name = buffer->name();
      parts.data = Var::Pointer(buffer->name(), buffer->dtype(), "local");
      parts.dtype = buffer->dtype();
      parts.shape.assign(shape.begin(), shape.end() - 2);
      for (const int64_t extent :
           {rows->value() / tile.rows, columns->value() / tile.columns,
            tile.thread_rows, tile.thread_columns}) {
        parts.shape.push_back(IntImm(kInt32, extent));
      }
      parts.axis_separators.assign(buffer->axis_separators().begin(),
                                   buffer->axis_separators().end());
      return Buffer(std::move(parts), buffer->span());
    }
    return {};
  }

  std::vector<PrimExpr> Indices(const Buffer& buffer,
                                absl::Span<const PrimExpr> indices) {
    if (buffer->scope() != "m16n8k8.matrixC") {
      return {indices.begin(), indices.end()};
    }
    if (indices.size() != 2) {
      Fail(buffer->span(), absl::StrCat("an access of ", buffer->name(),
                                        " has not two indices"));
      return {indices.begin(), indices.end()};
    }
    const auto div = [](const PrimExpr& a, int64_t b) {
      return MakeBinary(BinaryOp::kFloorDiv, a, IntImm(kInt32, b));
    };
    const auto mod = [](const PrimExpr& a, int64_t b) {
      return MakeBinary(BinaryOp::kFloorMod, a, IntImm(kInt32, b));
    };
    const PrimExpr& i = indices[0];
    const PrimExpr& j = indices[1];
    std::vector<PrimExpr> result = {div(div(i, 8), 2), div(j, 8),
                                    mod(div(i, 8), 2), mod(mod(j, 8), 2)};
    for (PrimExpr& index : result) index = analyzer_.Simplify(index);
    return result;
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  BufferMap buffers_;
  NodeMap<Var> pointers_;
  Analyzer analyzer_;
  absl::Status status_;
};

}  // namespace

Pass TransformMmaBufferLayout() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        LayoutTransformer transformer;
        PrimFunc result = transformer.RewriteBody(function);
        if (!transformer.status().ok()) return transformer.status();
        return result;
      },
      {.name = "tir.TransformMmaBufferLayout",
       .doc = "Gives each thread its part of the matrices of matrix "
              "instructions.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.TransformMmaBufferLayout",
                       TransformMmaBufferLayout);

}  // namespace baton::tir
