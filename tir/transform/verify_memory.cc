#include "baton/tir/transform/verify_memory.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

bool HasOwnMemory(DeviceType device) {
  switch (device) {
    case kCudaDevice:
    case kOpenClDevice:
    case kVulkanDevice:
    case kMetalDevice:
    case kRocmDevice:
    case kAoclDevice:
      return true;
    default:
      return false;
  }
}

class AccessChecker final : public Visitor {
 public:
  explicit AccessChecker(const PrimFunc& function) {
    for (const Buffer& buffer : function->buffers()) {
      passed_.Insert(buffer->data().get());
    }
    // The arguments of a packed function are in its first parameter.
    if (!function->params().empty())
      passed_.Insert(function->params()[0].get());
  }
  const absl::Status& status() const { return status_; }

 protected:
  void VisitLetStmt(const LetStmtNode* node) override {
    const auto* call = node->value().As<CallNode>();
    if (call != nullptr && call->op() == BATON_OP("tir.tvm_struct_get") &&
        !call->args().empty() && passed_.Contains(call->args()[0].get())) {
      passed_.Insert(node->var().get());
    }
    Visitor::VisitLetStmt(node);
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == "thread_extent" ||
        node->key() == "pipeline_exec_scope") {
      Visit(node->value());
      return;
    }
    Visitor::VisitAttrStmt(node);
  }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Check(node->buffer(), node->span());
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    Check(node->buffer(), node->span());
    Visitor::VisitBufferStore(node);
  }

 private:
  void Check(const Buffer& buffer, const Span& span) {
    if (!status_.ok() || !passed_.Contains(buffer->data().get())) return;
    status_ = ErrorAt(
        span, absl::StrCat("the host accesses ", buffer->name(),
                           ", memory of the device: a loop around is not "
                           "bound to threads"));
  }

  NodeSet passed_;
  absl::Status status_;
};

class DefinitionChecker final : public Visitor {
 public:
  const absl::Status& status() const { return status_; }

  void Check(const PrimFunc& function) {
    for (const Var& param : function->params()) Define(param, function->span());
    // Parts of buffers may be parameters, or parts of buffers before.
    for (const Var& var : function->defined()) defined_.Insert(var.get());
    Visit(function->body());
  }

 protected:
  void VisitLet(const LetNode* node) override {
    const auto [value, is_new] = lets_.TryEmplace(node->var().get());
    if (is_new) {
      *value = node->value();
      Define(node->var(), node->span());
    } else if (!ExprDeepEqual(*value, node->value())) {
      Fail(node->var(), node->span());
    }
    Visitor::VisitLet(node);
  }
  void VisitLetStmt(const LetStmtNode* node) override {
    Define(node->var(), node->span());
    Visitor::VisitLetStmt(node);
  }
  void VisitFor(const ForNode* node) override {
    Define(node->loop_var(), node->span());
    Visitor::VisitFor(node);
  }
  void VisitAllocate(const AllocateNode* node) override {
    Define(node->var(), node->span());
    Visitor::VisitAllocate(node);
  }

 private:
  void Define(const Var& var, const Span& span) {
    if (!defined_.Insert(var.get())) Fail(var, span);
  }
  void Fail(const Var& var, const Span& span) {
    if (!status_.ok()) return;
    status_ = ErrorAt(span, absl::StrCat("the variable ", var->name(),
                                         " is defined a second time"));
  }

  NodeSet defined_;
  NodeMap<PrimExpr> lets_;
  absl::Status status_;
};

}  // namespace

Pass VerifyMemory() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_ASSIGN_OR_RETURN(const Target target, RequiredTargetOf(function));
        if (CallingConvOf(function) != kDefaultConv ||
            !HasOwnMemory(DeviceTypeOf(target))) {
          return function;
        }
        AccessChecker checker(function);
        checker.Visit(function->body());
        if (!checker.status().ok()) return checker.status();
        return function;
      },
      {.name = "tir.VerifyMemory",
       .doc = "Checks that hosts do not access memory of devices.",
       .needs = {"tir.has_targets"},
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.VerifyMemory", VerifyMemory);

Pass VerifySSA() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        DefinitionChecker checker;
        checker.Check(function);
        if (!checker.status().ok()) return checker.status();
        return function;
      },
      {.name = "tir.VerifySSA",
       .doc = "Checks that each variable is defined once.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.VerifySSA", VerifySSA);

}  // namespace baton::tir
