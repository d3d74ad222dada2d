#include "baton/tir/transform/split_host_device.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/tir/transform/func_target.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Finds the variables and buffers that a statement uses and does not define.
// Extents of threads do not count: the launch has them.
class UseFinder final : public Visitor {
 public:
  std::vector<Var> vars;
  std::vector<Buffer> buffers;

 protected:
  void VisitVar(const VarNode* node) override { Use(Var(node)); }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    UseBuffer(node->buffer());
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    UseBuffer(node->buffer());
    Visitor::VisitBufferStore(node);
  }
  void VisitDeclBuffer(const DeclBufferNode* node) override {
    known_.Insert(node->buffer().get());
    UseParts(node->buffer());
    Visitor::VisitDeclBuffer(node);
  }
  void VisitAllocate(const AllocateNode* node) override {
    known_.Insert(node->var().get());
    Visitor::VisitAllocate(node);
  }
  void VisitAllocateConst(const AllocateConstNode* node) override {
    known_.Insert(node->var().get());
    Visitor::VisitAllocateConst(node);
  }
  void VisitFor(const ForNode* node) override {
    known_.Insert(node->loop_var().get());
    Visitor::VisitFor(node);
  }
  void VisitLetStmt(const LetStmtNode* node) override {
    known_.Insert(node->var().get());
    Visitor::VisitLetStmt(node);
  }
  void VisitLet(const LetNode* node) override {
    Visit(node->value());
    known_.Insert(node->var().get());
    Visit(node->body());
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* thread = node->node().As<IterVarNode>();
    if (node->key() != "thread_extent" || thread == nullptr) {
      return Visitor::VisitAttrStmt(node);
    }
    known_.Insert(thread->var().get());
    Visit(node->body());
  }

 private:
  void Use(const Var& var) {
    if (known_.Insert(var.get())) vars.push_back(var);
  }
  void UseBuffer(const Buffer& buffer) {
    if (known_.Insert(buffer.get())) buffers.push_back(buffer);
    UseParts(buffer);
  }
  void UseParts(const Buffer& buffer) {
    Use(buffer->data());
    VisitAll(buffer->shape());
    VisitAll(buffer->strides());
  }

  NodeSet known_;  // defined or found
};

class Splitter final : public Rewriter {
 public:
  Splitter(IRModule& module, std::string kernel_name)
      : module_(module), kernel_name_(std::move(kernel_name)) {}

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* target = node->node().As<TargetNode>();
    if (node->key() != kTargetAttr || target == nullptr) {
      return Rewriter::VisitAttrStmt(node);
    }
    return CallOfKernel(node->body(), WithoutHost(Target(target)));
  }

 private:
  Stmt CallOfKernel(const Stmt& stmt, const Target& device) {
    UseFinder finder;
    finder.Visit(stmt);
    std::stable_sort(
        finder.vars.begin(), finder.vars.end(), [](const Var& a, const Var& b) {
          const auto key = [](const Var& var) {
            const bool is_scalar = var->dtype().code() != DType::Code::kHandle;
            return std::make_tuple(is_scalar, absl::string_view(var->name()));
          };
          return key(a) < key(b);
        });
    const DeviceType type = DeviceTypeOf(device);
    const bool returns_errors =
        type == kCpuDevice || type == kExtDevice || type == kHexagonDevice;
    const IntImm success(kInt32, 0);
    Stmt body = stmt;
    if (returns_errors) {
      std::vector<Stmt> seq;
      AppendFlattened(stmt, seq);
      seq.push_back(Evaluate(Call(kInt32, BATON_OP("tir.ret"), {success})));
      body = MakeSeq(std::move(seq));
    }
    for (const Buffer& buffer : finder.buffers) {
      body = DeclBuffer(buffer, std::move(body));
    }
    PrimFunc kernel({.params = finder.vars,
                     .buffers = {},
                     .ret_type = returns_errors ? DType(kInt32) : DType(),
                     .body = std::move(body),
                     .attrs = DictAttrs(AttrMap{{"tir.noalias", true},
                                                {"tir.is_global_func", true}})},
                    stmt->span());
    LogOrigins(kernel, stmt.get());
    const GlobalVar var(FreshName());
    module_.Set(var, WithTarget(kernel, device));

    const std::vector<PrimExpr> args(finder.vars.begin(), finder.vars.end());
    if (!returns_errors) return Evaluate(Call(DType(), var, args));
    const Var code("kernel_error_code", kInt32);
    return LetStmt(code, Call(kInt32, var, args),
                   AssertStmt(MakeBinary(BinaryOp::kEQ, code, success),
                              StringImm("Error executing compute kernel"),
                              Evaluate(IntImm(kInt32, 0))));
  }

  std::string FreshName() const {
    std::string name = kernel_name_;
    for (int i = 1; module_.Find(name).defined(); ++i) {
      name = absl::StrCat(kernel_name_, "_", i);
    }
    return name;
  }

  IRModule& module_;
  const std::string kernel_name_;
};

}  // namespace

Pass SplitHostDevice() {
  return CreateModulePass(
      [](IRModule module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        IRModule result = module;
        for (const auto& definition : module.functions<PrimFunc>()) {
          const std::string prefix = GlobalSymbolOf(definition.function)
                                         .value_or(definition.var->name());
          Splitter splitter(result, absl::StrCat(prefix, "_kernel"));
          PrimFunc host = splitter.RewriteBody(definition.function);
          if (host != definition.function) result.Set(definition.var, host);
        }
        return ConvertSSA(result);
      },
      {.name = "tir.SplitHostDevice",
       .doc = "Makes a function of each statement that runs on a device.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.SplitHostDevice", SplitHostDevice);

}  // namespace baton::tir
