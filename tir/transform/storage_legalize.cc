#include "baton/tir/transform/storage_legalize.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/float_bits.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

using TypePredicate = bool (*)(DType dtype);

class StorageLegalizer final : public Rewriter {
 public:
  explicit StorageLegalizer(TypePredicate matches) : matches_(matches) {}

  absl::StatusOr<PrimFunc> Run(const PrimFunc& function) {
    if (!function->buffers().empty()) {
      return ErrorAt(function->span(),
                     "the function has buffers of parameters: run "
                     "tir.MakePackedAPI or tir.MakeUnpackedAPI before");
    }
    PrimFuncNode::Parts parts = function->parts();
    for (Var& param : parts.params) param = Define(param);
    parts.body = Rewrite(function->body());
    if (!status_.ok()) return status_;
    if (parts.body == function->body() && !changed_vars_) return function;
    return PrimFunc(std::move(parts), function->span());
  }

 protected:
  PrimExpr VisitVar(const VarNode* node) override {
    const Var* var = vars_.Find(node);
    return var == nullptr ? Var(node) : *var;
  }
  PrimExpr VisitLet(const LetNode* node) override {
    PrimExpr value = Rewrite(node->value());
    const Var var = Define(node->var());
    PrimExpr body = Rewrite(node->body());
    if (value == node->value() && var == node->var() && body == node->body()) {
      return Let(node);
    }
    return Let(var, std::move(value), std::move(body), node->span());
  }
  Stmt VisitLetStmt(const LetStmtNode* node) override {
    PrimExpr value = Rewrite(node->value());
    const Var var = Define(node->var());
    Stmt body = Rewrite(node->body());
    if (value == node->value() && var == node->var() && body == node->body()) {
      return LetStmt(node);
    }
    return LetStmt(var, std::move(value), std::move(body), node->span());
  }
  Stmt VisitAllocate(const AllocateNode* node) override {
    Var var = node->var();
    if (matches_(node->dtype())) {
      var = Var::Pointer(var->name(), BitsDType(node->dtype()), var->scope(),
                         var->span());
      vars_[node->var().get()] = var;
    }
    Stmt result = Rewriter::VisitAllocate(node);
    if (var == node->var()) return result;
    const auto* alloc = result.As<AllocateNode>();
    return Allocate(var, BitsDType(node->dtype()),
                    {alloc->extents().begin(), alloc->extents().end()},
                    alloc->condition(), alloc->annotations(), alloc->body(),
                    alloc->span());
  }
  Stmt VisitDeclBuffer(const DeclBufferNode* node) override {
    const Buffer& buffer = node->buffer();
    if (matches_(buffer->dtype()) && !vars_.Contains(buffer->data().get())) {
      // A view of memory of another type.
      BufferNode::Parts parts = buffer->parts();
      parts.dtype = BitsDType(buffer->dtype());
      buffers_.Set(buffer, Buffer(std::move(parts), buffer->span()));
    }
    return Rewriter::VisitDeclBuffer(node);
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    const auto* store = result.As<BufferStoreNode>();
    if (!matches_(store->value().dtype())) return result;
    const auto* call = store->value().As<CallNode>();
    PrimExpr value;
    if (call != nullptr && call->op() == BATON_OP("tir.reinterpret")) {
      value = Reinterpreted(BitsDType(call->dtype()), call->args()[0]);
    } else {
      Fail(node->span(),
           absl::StrCat("a computed value of the type ",
                        store->value().dtype().ToString(),
                        " cannot be stored to ", node->buffer()->name()));
      return result;
    }
    return BufferStore(store->buffer(), std::move(value),
                       {store->indices().begin(), store->indices().end()},
                       store->span());
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    Stmt result = Rewriter::VisitAttrStmt(node);
    if (node->node().As<VarNode>() == nullptr &&
        node->node().As<BufferNode>() == nullptr) {
      return result;
    }
    PrimExpr subject = Rewrite(node->node());
    if (subject == node->node()) return result;
    const auto* attr = result.As<AttrStmtNode>();
    return AttrStmt(std::move(subject), attr->key(), attr->value(),
                    attr->body(), attr->span());
  }
  PrimExpr VisitCall(const CallNode* node) override {
    if (node->op() != BATON_OP("tir.reinterpret") || node->args().size() != 1) {
      return Rewriter::VisitCall(node);
    }
    PrimExpr value = Rewrite(node->args()[0]);
    if (value.dtype() == node->dtype()) return value;
    if (matches_(node->dtype())) {
      return Reinterpreted(BitsDType(node->dtype()), value);
    }
    if (value == node->args()[0]) return Call(node);
    return Reinterpreted(node->dtype(), value);
  }
  Buffer RewriteBuffer(const Buffer& buffer) override {
    if (const Buffer* made = buffers_.Find(buffer)) return *made;
    const Var* var = vars_.Find(buffer->data().get());
    if (var == nullptr) {
      if (matches_(buffer->dtype())) {
        Fail(buffer->span(),
             absl::StrCat("the memory of buffer ", buffer->name(),
                          " is defined nowhere, or with another type"));
      }
      return buffer;
    }
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      parts.data = *var;
      if (matches_(buffer->dtype())) parts.dtype = BitsDType(buffer->dtype());
    });
  }

 private:
  // The variable in place of `var`, which is defined here.
  Var Define(const Var& var) {
    if (!var->typed_pointer() || !matches_(var->element())) return var;
    Var changed = Var::Pointer(var->name(), BitsDType(var->element()),
                               var->scope(), var->span());
    vars_[var.get()] = changed;
    changed_vars_ = true;
    return changed;
  }
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const TypePredicate matches_;
  NodeMap<Var> vars_;
  bool changed_vars_ = false;
  BufferMap buffers_;
  absl::Status status_;
};

Pass LegalizeStorage(std::string name, std::string doc, TypePredicate matches) {
  return CreatePrimFuncPass(
      [matches](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) {
        return StorageLegalizer(matches).Run(function);
      },
      {.name = std::move(name), .doc = std::move(doc), .idempotent = true});
}

}  // namespace

Pass BF16StorageLegalize() {
  return LegalizeStorage("tir.BF16StorageLegalize",
                         "Stores bfloat16 values as integers.", IsBFloat16);
}
BATON_REGISTER_PASS_AS("tir.BF16StorageLegalize", BF16StorageLegalize);

Pass FP8StorageLegalize() {
  return LegalizeStorage("tir.FP8StorageLegalize",
                         "Stores floating-point values of eight bits as "
                         "integers.",
                         IsFloat8);
}
BATON_REGISTER_PASS_AS("tir.FP8StorageLegalize", FP8StorageLegalize);

}  // namespace baton::tir
