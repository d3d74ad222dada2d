#include "baton/tir/transform/inject_ptx_async_copy.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
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

// The first element of a vector of consecutive elements; null if there is none.
PrimExpr BaseOfLoad(const PrimExpr& index) {
  const auto* ramp = index.As<RampNode>();
  return ramp == nullptr ? PrimExpr() : ramp->base();
}
PrimExpr BaseOfStore(const PrimExpr& index) {
  if (const auto* ramp = index.As<RampNode>()) return ramp->base();
  // Merged shared memory adds an offset to the ramp.
  const BinaryNode* sum = AsBinary(index, BinaryOp::kAdd);
  const auto* ramp = sum == nullptr ? nullptr : sum->a().As<RampNode>();
  const auto* offset = sum == nullptr ? nullptr : sum->b().As<BroadcastNode>();
  if (ramp == nullptr || offset == nullptr) return {};
  return Binary(BinaryOp::kAdd, ramp->base(), offset->value());
}

bool IsFloatZero(const PrimExpr& e) {
  const auto* broadcast = e.As<BroadcastNode>();
  const auto* imm = broadcast == nullptr
                        ? e.As<FloatImmNode>()
                        : broadcast->value().As<FloatImmNode>();
  return imm != nullptr && imm->value() == 0;
}

class CopyInjector final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() != "async_scope") return Rewriter::VisitAttrStmt(node);
    if (in_async_) Fail(node->span(), "nested asynchronous scopes");
    in_async_ = true;
    Stmt body = Rewrite(node->body());
    in_async_ = false;
    return body;
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const absl::string_view scope = node->buffer()->scope();
    if (in_async_ && (scope == "shared" || scope == "shared.dyn")) {
      Stmt copy;
      if (const auto* load = node->value().As<BufferLoadNode>()) {
        copy = Copy(load, node, PrimExpr());
      } else if (const auto* call = node->value().As<CallNode>()) {
        if (call->op() == BATON_OP("tir.if_then_else") &&
            call->args().size() == 3 && IsFloatZero(call->args()[2])) {
          if (const auto* value = call->args()[1].As<BufferLoadNode>()) {
            copy = Copy(value, node, call->args()[0]);
          }
        }
      }
      if (copy.defined()) return copy;
    }
    return Rewriter::VisitBufferStore(node);
  }

 private:
  // Null if no instruction copies that.
  Stmt Copy(const BufferLoadNode* load, const BufferStoreNode* store,
            const PrimExpr& predicate) {
    const Buffer& from = load->buffer();
    const Buffer& to = store->buffer();
    if (from->scope() != "global") return {};
    if (load->indices().size() != 1 || store->indices().size() != 1 ||
        load->indices()[0].dtype().lanes() !=
            store->indices()[0].dtype().lanes()) {
      Fail(store->span(),
           "memory of an asynchronous copy must have one axis; "
           "tir.FlattenBuffer flattens it");
      return {};
    }
    const int lanes = load->indices()[0].dtype().lanes();
    const int64_t bytes = lanes * ((from->dtype().bits() + 7) / 8);
    if (bytes != 4 && bytes != 8 && bytes != 16) return {};
    const DType from_element = from->data()->element();
    const DType to_element = to->data()->element();
    int64_t factor = 1;
    if (from_element != to_element) {
      // Indices of merged shared memory, whose elements are bytes, count those
      // of the value.
      if (to->scope() != "shared.dyn" || to_element != DType::UInt(8)) {
        Fail(
            store->span(),
            "both pointers of an asynchronous copy must have one element type");
        return {};
      }
      factor = (from_element.bits() + 7) / 8;
    }
    PrimExpr source = load->indices()[0];
    PrimExpr target = store->indices()[0];
    if (lanes != 1) {
      source = BaseOfLoad(source);
      target = BaseOfStore(target);
      if (!source.defined() || !target.defined()) return {};
    }
    std::vector<PrimExpr> args = {
        to->data(),
        Binary(BinaryOp::kMul, target, MakeConst(target.dtype(), factor)),
        from->data(), source, IntImm(kInt32, bytes)};
    if (predicate.defined()) args.push_back(predicate);
    return Evaluate(
        Call(to->dtype(), BATON_OP("tir.ptx_cp_async"), std::move(args)),
        store->span());
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  bool in_async_ = false;
  absl::Status status_;
};

}  // namespace

Pass InjectPTXAsyncCopy() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        CopyInjector injector;
        PrimFunc result = injector.RewriteBody(function);
        if (!injector.status().ok()) return injector.status();
        return result;
      },
      {.name = "tir.InjectPTXAsyncCopy",
       .doc = "Copies from global to shared memory without waiting.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.InjectPTXAsyncCopy", InjectPTXAsyncCopy);

}  // namespace baton::tir
