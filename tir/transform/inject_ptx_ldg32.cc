#include "baton/tir/transform/inject_ptx_ldg32.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
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

Buffer LocalBuffer(std::string name, DType dtype, int64_t extent) {
  BufferNode::Parts parts;
  parts.data = Var::Pointer(name, dtype, "local");
  parts.name = std::move(name);
  parts.dtype = dtype;
  parts.shape = {IntImm(kInt32, extent)};
  return Buffer(std::move(parts));
}

class LoadInjector final : public Rewriter {
 public:
  // `around`: the allocation whose statements may use the buffers.
  explicit LoadInjector(const AllocateNode* around) : around_(around) {}

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    if (node != around_) return Rewriter::VisitAllocate(node);
    inside_ = true;
    Stmt result = Rewriter::VisitAllocate(node);
    inside_ = false;
    if (result.get() == node) return result;
    for (const Buffer& buffer : {addr_, predicate_}) {
      result = Allocate(buffer->data(), buffer->dtype(), {buffer->shape()[0]},
                        IntImm::Bool(true), {}, std::move(result));
    }
    return result;
  }

  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const auto* call = node->value().As<CallNode>();
    if (!inside_ || call == nullptr ||
        call->op() != BATON_OP("tir.if_then_else") ||
        call->args().size() != 3) {
      return BufferStore(node);
    }
    PrimExpr predicate = call->args()[0];
    PrimExpr other = call->args()[2];
    const auto* load = call->args()[1].As<BufferLoadNode>();
    if (load == nullptr) {
      load = call->args()[2].As<BufferLoadNode>();
      other = call->args()[1];
      predicate = Not(std::move(predicate));
    }
    // The instruction loads from global memory to a register, after the other
    // value is stored.
    if (load == nullptr || load->buffer()->scope() != "global" ||
        node->buffer()->scope() != "local" ||
        load->buffer()->data() == node->buffer()->data() ||
        !IsWord(load->dtype()) || !IsPlace(load->indices()) ||
        !IsPlace(node->indices()) || predicate.dtype() != DType::Bool()) {
      return BufferStore(node);
    }
    const PrimExpr zero = IntImm(kInt32, 0);
    const PrimExpr one = IntImm(kInt32, 1);
    const PrimExpr target = BufferLoad(addr_, {one});
    return SeqStmt(
        {BufferStore(addr_, load->indices()[0], {zero}),
         BufferStore(addr_, node->indices()[0], {one}),
         BufferStore(predicate_, std::move(predicate), {zero}),
         BufferStore(node->buffer(), std::move(other), {target}, node->span()),
         Evaluate(Call(
             node->buffer()->dtype(), BATON_OP("tir.ptx_ldg32"),
             {node->buffer()->data(), BufferLoad(predicate_, {zero}),
              BufferLoad(load->buffer(), {BufferLoad(addr_, {zero})}), target},
             node->span()))});
  }

 private:
  static bool IsWord(DType dtype) {
    return dtype.bits() == 32 && dtype.lanes() == 1;
  }
  static bool IsPlace(absl::Span<const PrimExpr> indices) {
    return indices.size() == 1 && indices[0].dtype() == kInt32;
  }

  const AllocateNode* const around_;
  bool inside_ = false;
  const Buffer addr_ = LocalBuffer("addr", kInt32, 2);
  const Buffer predicate_ = LocalBuffer("predicate", DType::Bool(), 1);
};

// The first allocation, children first.
class InnerAllocation final : public Visitor {
 public:
  const AllocateNode* found = nullptr;

 protected:
  void VisitAllocate(const AllocateNode* node) override {
    if (found != nullptr) return;
    Visitor::VisitAllocate(node);
    if (found == nullptr) found = node;
  }
};

}  // namespace

Pass InjectPTXLDG32() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        InnerAllocation finder;
        finder.Visit(function->body());
        return LoadInjector(finder.found).RewriteBody(function);
      },
      {.name = "tir.InjectPTXLDG32",
       .doc = "Makes conditional loads instructions with a predicate."});
}
BATON_REGISTER_PASS_AS("tir.InjectPTXLDG32", InjectPTXLDG32);

}  // namespace baton::tir
