#include "baton/tir/transform/remove_weight_layout_rewrite_block.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr char kAnnotation[] = "meta_schedule.layout_rewrite_preproc";

// A block that copies a buffer into another layout.
struct LayoutRewrite {
  Buffer from;
  Buffer to;
  std::vector<Var> vars;          // the indices of the load
  std::vector<PrimExpr> indices;  // of the store
};

class BlockRemover final : public Rewriter {
 public:
  const std::vector<LayoutRewrite>& rewrites() const { return rewrites_; }
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitBlock(const BlockNode* node) override {
    const Stmt visited = Rewriter::VisitBlock(node);
    const auto* block = visited.As<BlockNode>();
    BlockNode::Parts parts = block->parts();
    if (!IsOne(block->annotations().Find(kAnnotation))) {
      const size_t count = parts.alloc_buffers.size();
      std::erase_if(parts.alloc_buffers, [this](const Buffer& buffer) {
        return rewritten_.Contains(buffer.get());
      });
      if (parts.alloc_buffers.size() == count) return visited;
      return Block(std::move(parts), block->span());
    }
    const auto* store = block->body().As<BufferStoreNode>();
    const auto* load =
        store == nullptr ? nullptr : store->value().As<BufferLoadNode>();
    if (load == nullptr || !parts.alloc_buffers.empty() ||
        !parts.match_buffers.empty()) {
      return Fail(block,
                  "a block that rewrites a layout does not copy one "
                  "buffer to another");
    }
    LayoutRewrite rewrite = {load->buffer(), store->buffer(), {}, {}};
    for (const PrimExpr& index : load->indices()) {
      const auto* var = index.As<VarNode>();
      if (var == nullptr) {
        return Fail(block,
                    "a block that rewrites a layout loads at an index "
                    "that is no variable");
      }
      rewrite.vars.push_back(Var(var));
    }
    rewrite.indices.assign(store->indices().begin(), store->indices().end());
    rewritten_.Insert(store->buffer().get());
    rewrites_.push_back(std::move(rewrite));
    parts.body = Evaluate(IntImm(kInt32, 0));
    parts.reads.clear();
    parts.writes.clear();
    return Block(std::move(parts), block->span());
  }

 private:
  Stmt Fail(const BlockNode* block, std::string message) {
    if (status_.ok()) status_ = ErrorAt(block->span(), std::move(message));
    return Block(block);
  }

  std::vector<LayoutRewrite> rewrites_;
  NodeSet rewritten_;
  absl::Status status_;
};

// The offset of the element at `index` of an array of that shape.
int64_t OffsetAt(absl::Span<const int64_t> index,
                 absl::Span<const int64_t> shape) {
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    offset = offset * shape[i] + index[i];
  return offset;
}

// The array whose element at the rewritten indices is that of `data`; elements
// that none is rewritten to are zero.
absl::StatusOr<Tensor> RewrittenData(const Tensor& data,
                                     const LayoutRewrite& rewrite,
                                     const std::vector<int64_t>& shape) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(data.dtype(), shape));
  char* const target = static_cast<char*>(result.data());
  const char* const source = static_cast<const char*>(data.data());
  const size_t bytes = static_cast<size_t>(data.dtype().bytes());
  const std::vector<int64_t> from(data.shape().begin(), data.shape().end());
  if (from.size() != rewrite.vars.size()) {
    return absl::InvalidArgumentError(
        "a constant has another rank than the indices of its rewrite");
  }
  Analyzer analyzer;
  std::vector<int64_t> index(from.size(), 0);
  std::vector<int64_t> to(shape.size(), 0);
  for (int64_t n = 0; n < data.num_elements(); ++n) {
    NodeMap<PrimExpr> values;
    for (size_t i = 0; i < index.size(); ++i) {
      values[rewrite.vars[i].get()] =
          IntImm(rewrite.vars[i]->dtype(), index[i]);
    }
    for (size_t i = 0; i < to.size(); ++i) {
      const PrimExpr value =
          analyzer.Simplify(Substitute(rewrite.indices[i], values));
      const auto* imm = value.As<IntImmNode>();
      if (imm == nullptr || imm->value() < 0 || imm->value() >= shape[i]) {
        return absl::InvalidArgumentError(
            "an index of a constant's rewrite is out of its bounds");
      }
      to[i] = imm->value();
    }
    std::memcpy(target + static_cast<size_t>(OffsetAt(to, shape)) * bytes,
                source + static_cast<size_t>(n) * bytes, bytes);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < from[i]) break;
      index[i] = 0;
    }
  }
  return std::move(result).Freeze();
}

// Rewrites constants, and loads from what was copied from them.
class ConstantRewriter final : public Rewriter {
 public:
  ConstantRewriter(const std::vector<LayoutRewrite>& rewrites,
                   const NodeSet& constants, bool keeps_order)
      : rewrites_(rewrites), keeps_order_(keeps_order) {
    for (const LayoutRewrite& rewrite : rewrites) {
      if (constants.Contains(rewrite.from->data().get())) {
        pointers_[rewrite.to->data().get()] = rewrite.from->data();
      }
    }
  }
  const absl::Status& status() const { return status_; }

 protected:
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Var* pointer = pointers_.Find(buffer->data().get());
    if (pointer == nullptr) return buffer;
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      parts.data = *pointer;
      parts.name = (*pointer)->name();
    });
  }
  Stmt VisitAllocateConst(const AllocateConstNode* node) override {
    const Stmt visited = Rewriter::VisitAllocateConst(node);
    const auto* alloc = visited.As<AllocateConstNode>();
    for (const LayoutRewrite& rewrite : rewrites_) {
      if (rewrite.from->data() != node->var()) continue;
      std::vector<int64_t> shape;
      int64_t count = 1;
      for (const PrimExpr& extent : rewrite.to->shape()) {
        const auto* imm = extent.As<IntImmNode>();
        if (imm == nullptr || imm->value() <= 0 ||
            __builtin_mul_overflow(count, imm->value(), &count) ||
            count > kMaxElements) {
          return Fail(alloc,
                      "the shape of a constant's rewrite is not "
                      "constant, or too large");
        }
        shape.push_back(imm->value());
      }
      absl::StatusOr<Tensor> data =
          keeps_order_ ? alloc->data().Reshaped(shape)
                       : RewrittenData(alloc->data(), rewrite, shape);
      if (!data.ok()) return Fail(alloc, std::string(data.status().message()));
      std::vector<PrimExpr> extents;
      for (const int64_t extent : shape) {
        extents.push_back(IntImm(kInt32, extent));
      }
      return AllocateConst(alloc->var(), alloc->dtype(), std::move(extents),
                           *std::move(data), alloc->annotations(),
                           alloc->body(), alloc->span());
    }
    return visited;
  }

 private:
  static constexpr int64_t kMaxElements = int64_t{1} << 28;

  Stmt Fail(const AllocateConstNode* alloc, std::string message) {
    if (status_.ok()) status_ = ErrorAt(alloc->span(), std::move(message));
    return AllocateConst(alloc);
  }

  const std::vector<LayoutRewrite>& rewrites_;
  const bool keeps_order_;
  NodeMap<Var> pointers_;
  BufferMap buffers_;
  absl::Status status_;
};

class ConstantFinder final : public Visitor {
 public:
  const NodeSet& pointers() const { return pointers_; }

 protected:
  void VisitAllocateConst(const AllocateConstNode* node) override {
    pointers_.Insert(node->var().get());
    Visitor::VisitAllocateConst(node);
  }

 private:
  NodeSet pointers_;
};

}  // namespace

Pass RemoveWeightLayoutRewriteBlock(
    RemoveWeightLayoutRewriteBlockOptions options) {
  return CreatePrimFuncPass(
      [options](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BlockRemover remover;
        Stmt body = remover.Rewrite(function->body());
        if (!remover.status().ok()) return remover.status();
        if (remover.rewrites().empty()) return function;
        ConstantFinder finder;
        finder.Visit(function->body());
        ConstantRewriter rewriter(remover.rewrites(), finder.pointers(),
                                  options.skip_ndarray_rewrite);
        PrimFuncNode::Parts parts = function->parts();
        parts.body = rewriter.Rewrite(body);
        if (!rewriter.status().ok()) return rewriter.status();
        for (ParamBuffer& param : parts.buffers) {
          for (const LayoutRewrite& rewrite : remover.rewrites()) {
            if (rewrite.from == param.buffer) {
              param.buffer = rewrite.to;
              break;
            }
          }
        }
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.RemoveWeightLayoutRewriteBlock",
       .doc = "Takes weights in the layout that a block would rewrite them to.",
       .waivers = {{"values", "Callers pass other weights."}},
       .examples = {"skip_ndarray_rewrite=true"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.RemoveWeightLayoutRewriteBlock",
                       RemoveWeightLayoutRewriteBlock);

}  // namespace baton::tir
