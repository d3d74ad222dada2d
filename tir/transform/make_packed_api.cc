#include "baton/tir/transform/make_packed_api.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/undefined_vars.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/arg_binder.h"
#include "baton/tir/transform/func_target.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr DType kInt64 = DType::Int(64);
constexpr DType kFloat64 = DType::Float(64);

// Codes of the types of arguments.
enum ArgType : int64_t {
  kArgInt = 0,
  kArgFloat = 2,
  kArgOpaqueHandle = 3,
  kArgNull = 4,
  kArgTensorHandle = 7,
  kArgArrayHandle = 13,
};

bool IsHandle(DType dtype) { return dtype.code() == DType::Code::kHandle; }

PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }

Stmt ReturnZero() {
  return Evaluate(Call(kInt32, BATON_OP("tir.ret"), {Int(0)}));
}

// The linked name of a function that needs the calling convention.
std::optional<std::string> SymbolOf(const PrimFunc& function) {
  if (CallingConvOf(function) != kDefaultConv) return std::nullopt;
  return GlobalSymbolOf(function);
}

// Stores returned values where the caller expects them.
class ReturnRewriter final : public Rewriter {
 public:
  ReturnRewriter(Var value, Var type)
      : value_(std::move(value)), type_(std::move(type)) {}
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitFor(const ForNode* node) override {
    const bool is_parallel = node->for_kind() == ForKind::kParallel;
    if (is_parallel) ++parallel_;
    Stmt result = Rewriter::VisitFor(node);
    if (is_parallel) --parallel_;
    return result;
  }
  Stmt VisitEvaluate(const EvaluateNode* node) override {
    const auto* call = node->value().As<CallNode>();
    if (call == nullptr || call->op() != BATON_OP("tir.ret")) {
      return Evaluate(node);
    }
    if (parallel_ > 0) {
      Fail(node->span(), "T.ret() must not be in a parallel loop");
    }
    if (call->args().size() != 1) {
      Fail(node->span(), "T.ret() takes one argument");
      return Evaluate(node);
    }
    const PrimExpr& value = call->args()[0];
    const DType dtype = value.dtype();
    const bool is_float = dtype.is_float();
    if (!is_float && !dtype.is_integral()) {
      Fail(node->span(),
           absl::StrCat("T.ret() cannot give a value of the type ",
                        dtype.ToString()));
      return Evaluate(node);
    }
    const DType stored = is_float ? kFloat64 : kInt64;
    return SeqStmt(
        {BufferStore(Element(value_, stored), Cast(stored, value), {Int(0)}),
         BufferStore(Element(type_, kInt32),
                     Int(is_float ? kArgFloat : kArgInt), {Int(0)}),
         ReturnZero()});
  }

 private:
  static Buffer Element(const Var& data, DType dtype) {
    BufferNode::Parts parts;
    parts.name = data->name();
    parts.data = data;
    parts.dtype = dtype;
    parts.shape = {Int(1)};
    parts.strides = {Int(1)};
    parts.elem_offset = Int(0);
    return Buffer(std::move(parts));
  }
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const Var value_;
  const Var type_;
  int parallel_ = 0;
  absl::Status status_;
};

// Calls functions with the calling convention through the runtime.
class CallRewriter final : public Rewriter {
 public:
  explicit CallRewriter(const IRModule& module) : module_(module) {}

 protected:
  PrimExpr VisitCall(const CallNode* node) override {
    const PrimExpr result = Rewriter::VisitCall(node);
    const auto* call = result.As<CallNode>();
    const auto* var = call->op().As<GlobalVarNode>();
    if (var == nullptr) return result;
    const PrimFunc callee = module_.Find<PrimFunc>(var->name());
    if (!callee.defined()) return result;
    const std::optional<std::string> symbol = SymbolOf(callee);
    if (!symbol.has_value()) return result;
    std::vector<PrimExpr> args = {StringImm(*symbol)};
    args.insert(args.end(), call->args().begin(), call->args().end());
    args.push_back(Call(kHandle, BATON_OP("tir.reinterpret"),
                        {IntImm(DType::UInt(64), 0)}));
    return Call(call->dtype(), BATON_OP("tir.tvm_call_cpacked"),
                std::move(args), call->span());
  }

 private:
  const IRModule& module_;
};

// Makes one function.
class Packer {
 public:
  Packer(const PrimFunc& function, std::string name, const Target& target)
      : function_(function), name_(std::move(name)), target_(target) {}

  absl::StatusOr<PrimFunc> Run(const Target& host) {
    const auto params = function_->params();
    BufferNode::Parts types;
    types.name = "arg_type_ids";
    types.data = Var::Pointer("arg_type_ids", kInt32, "");
    types.dtype = kInt32;
    types.shape = {Int(static_cast<int64_t>(params.size()))};
    const Buffer type_ids(std::move(types));
    const Var args("args", kHandle);
    const Var num_args("num_args", kInt32);
    const Var out_value = Var::Pointer("out_ret_value", DType(), "");
    const Var out_type = Var::Pointer("out_ret_tcode", kInt32, "");
    Var resource("resource_handle", kHandle);
    const Var device_id("dev_id", kInt32);
    const PrimExpr device_type = Int(DeviceTypeOf(target_));

    Nest init = {DeclBuffer(type_ids, NoOpStmt())};
    Nest checks;
    ArgBinder binder;
    std::vector<std::pair<Var, PrimExpr>> values;
    int64_t expected_args = static_cast<int64_t>(params.size());
    for (size_t i = 0; i < params.size(); ++i) {
      const Var& param = params[i];
      if (param->name() == "device_api_context") {
        --expected_args;
        resource = param;
        continue;
      }
      values.emplace_back(param, ValueOf(args, param->dtype(), i));
      const Var code(absl::StrCat(param->name(), ".code"), kInt32);
      init.push_back(
          LetStmt(code, BufferLoad(type_ids, {Int(static_cast<int64_t>(i))}),
                  NoOpStmt()));
      BATON_RETURN_IF_ERROR(CheckType(param, code, i, checks));
    }
    for (const auto& [param, value] : values) {
      binder.Bind(param, value, absl::StrCat(name_, ".", param->name()));
    }
    Nest declarations;
    for (size_t i = 0; i < params.size(); ++i) {
      const Buffer buffer = function_->BufferOf(static_cast<int>(i));
      if (!buffer.defined() || params[i] == resource) continue;
      binder.BindArray(buffer, device_type, device_id, params[i],
                       absl::StrCat(name_, ".", params[i]->name()));
      declarations.push_back(DeclBuffer(buffer, NoOpStmt()));
    }
    BATON_RETURN_IF_ERROR(binder.status());

    ReturnRewriter returns(out_value, out_type);
    Stmt body = returns.Rewrite(function_->body());
    BATON_RETURN_IF_ERROR(returns.status());
    body = AttrStmt(Int(0), "compute_scope",
                    StringImm(absl::StrCat(name_, "_compute_")), body);
    std::vector<Stmt> seq;
    if (binder.IsBound(device_id)) {
      const StringImm device("default");
      checks.push_back(AttrStmt(device, "device_id", device_id, NoOpStmt()));
      checks.push_back(
          AttrStmt(device, "device_type", device_type, NoOpStmt()));
      if (DeviceTypeOf(target_) != kCpuDevice) {
        seq.push_back(Evaluate(
            Call(kInt32, BATON_OP("tir.tvm_call_packed"),
                 {StringImm("__tvm_set_device"), device_type, device_id})));
      }
    }
    seq.push_back(std::move(body));
    seq.push_back(ReturnZero());
    body = MakeSeq(std::move(seq));
    body = MergeNest(declarations, std::move(body));
    body = MergeNest(binder.asserts(), std::move(body));
    body = MergeNest(checks, std::move(body));
    body = MergeNest(binder.definitions(), std::move(body));
    body = MergeNest(init, std::move(body));
    body = AssertStmt(
        MakeBinary(BinaryOp::kEQ, num_args, Int(expected_args)),
        StringImm(absl::StrCat(name_, ": num_args should be ", expected_args)),
        std::move(body));

    PrimFuncNode::Parts parts = function_->parts();
    parts.params = {args,      type_ids->data(), num_args,
                    out_value, out_type,         resource};
    parts.buffers.clear();
    parts.ret_type = kInt32;
    parts.body = std::move(body);
    const std::vector<Var> undefined = UndefinedVars(parts.body, parts.params);
    if (!undefined.empty()) {
      return ErrorAt(
          function_->span(),
          absl::StrCat("function ", name_, " uses the variable ",
                       undefined[0]->name(), ", which no argument gives"));
    }
    PrimFunc result(std::move(parts), function_->span());
    result =
        WithAttr(result, kCallingConvAttr, static_cast<int64_t>(kCPackedFunc));
    return WithTarget(result, host);
  }

 private:
  // The argument of that index.
  static PrimExpr ValueOf(const Var& args, DType dtype, size_t index) {
    DType passed = dtype;
    if (!IsHandle(dtype)) passed = dtype.is_float() ? kFloat64 : kInt64;
    PrimExpr value = StructGet(passed, args, static_cast<int>(index),
                               StructField::kValueContent);
    return passed == dtype ? value : Cast(dtype, value);
  }

  absl::Status CheckType(const Var& param, const Var& code, size_t index,
                         Nest& checks) const {
    const auto is = [&code](ArgType type) {
      return MakeBinary(BinaryOp::kEQ, code, Int(type));
    };
    const auto either = [](const PrimExpr& a, const PrimExpr& b) {
      return MakeBinary(BinaryOp::kOr, a, b);
    };
    const DType dtype = param->dtype();
    PrimExpr condition;
    std::string kind;
    if (IsHandle(dtype)) {
      condition =
          either(either(either(is(kArgOpaqueHandle), is(kArgArrayHandle)),
                        is(kArgTensorHandle)),
                 is(kArgNull));
      kind = "pointer";
    } else if (dtype.is_integral()) {
      condition = is(kArgInt);
      kind = "int";
    } else if (dtype.is_float()) {
      condition = is(kArgFloat);
      kind = "float";
    } else {
      return ErrorAt(
          param->span(),
          absl::StrCat("parameter ", param->name(), " has the type ",
                       dtype.ToString(), ", which cannot be passed"));
    }
    checks.push_back(
        AssertStmt(condition,
                   StringImm(absl::StrCat(name_, ": Expect arg[", index,
                                          "] to be ", kind)),
                   NoOpStmt()));
    return absl::OkStatus();
  }

  const PrimFunc function_;
  const std::string name_;
  const Target target_;
};

absl::StatusOr<PrimFunc> Packed(const PrimFunc& function) {
  BATON_ASSIGN_OR_RETURN(const std::optional<TargetAndHost> targets,
                         TargetsOfLinked(function));
  if (!targets.has_value()) return function;
  return Packer(function, *GlobalSymbolOf(function), targets->target)
      .Run(targets->host);
}

}  // namespace

Pass MakePackedAPI() {
  return CreateModulePass(
      [](IRModule module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        std::vector<PrimFunc> functions;
        for (const auto& definition : module.functions<PrimFunc>()) {
          BATON_ASSIGN_OR_RETURN(
              PrimFunc packed,
              Packed(CallRewriter(module).RewriteBody(definition.function)));
          functions.push_back(std::move(packed));
        }
        return module.WithFunctions(functions);
      },
      {.name = "tir.MakePackedAPI",
       .doc = "Gives functions the calling convention of the runtime.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.MakePackedAPI", MakePackedAPI);

}  // namespace baton::tir
