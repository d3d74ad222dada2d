#include "baton/tir/transform/lower_tvm_builtin.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
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
#include "baton/tir/transform/arg_binder.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/wrapping_rewriter.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr DType kInt64 = DType::Int(64);
// Bytes of the largest memory on the stack, and the alignment of the runtime's.
constexpr int64_t kMaxStackBytes = 1024;
constexpr int64_t kRuntimeAlignment = 64;
// Codes of types of arguments.
enum ArgCode { kCodeTensorHandle = 7, kCodeString = 11 };

PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }

// Bytes of a vector; the narrow types of one lane take a byte.
int64_t VectorBytes(DType dtype) {
  return std::max<int64_t>(1, (dtype.bits() * dtype.lanes() + 7) / 8);
}

Stmt StructSet(const Var& handle, int64_t index, StructField field,
               PrimExpr value) {
  return Evaluate(Call(kInt32, BATON_OP("tir.tvm_struct_set"),
                       {handle, Int(index), Int(static_cast<int64_t>(field)),
                        std::move(value)}));
}

PrimExpr StackAlloca(absl::string_view kind, int64_t count) {
  return Call(kHandle, BATON_OP("tir.tvm_stack_alloca"),
              {StringImm(std::string(kind)), Int(count)});
}

Buffer StackBuffer(absl::string_view name, DType dtype, PrimExpr size) {
  BufferNode::Parts parts;
  parts.name = std::string(name);
  parts.data = Var::Pointer(parts.name, dtype, "");
  parts.dtype = dtype;
  parts.shape = {std::move(size)};
  return Buffer(std::move(parts));
}

// The address of the element at `offset`.
PrimExpr AddressOf(const Var& pointer, DType dtype, int64_t offset) {
  BufferNode::Parts parts;
  parts.name = pointer->name();
  parts.data = pointer;
  parts.dtype = dtype;
  parts.shape = {Int(offset + 1)};
  parts.elem_offset = Int(0);
  return Call(kHandle, BATON_OP("tir.address_of"),
              {BufferLoad(Buffer(std::move(parts)), {Int(offset)})});
}

// The fields of arrays are read by their addresses.
bool IsArrayAddress(const PrimExpr& e) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && call->op() == BATON_OP("tir.tvm_struct_get") &&
         call->args().size() == 3 &&
         IsConst(call->args()[2], static_cast<int64_t>(StructField::kArrAddr));
}

absl::string_view DeviceName(int64_t device_type) {
  switch (device_type) {
    case 1:
      return "cpu";
    case 2:
      return "cuda";
    case 3:
      return "cuda_host";
    case 4:
      return "opencl";
    case 5:
      return "aocl";
    case 6:
      return "sdaccel";
    case 7:
      return "vulkan";
    case 8:
      return "metal";
    case 9:
      return "vpi";
    case 10:
      return "rocm";
    case 11:
      return "rocm_host";
    case 12:
      return "ext_dev";
    case 13:
      return "cuda_managed";
    case 14:
      return "oneapi";
    case 15:
      return "webgpu";
    case 16:
      return "hexagon";
    default:
      return {};
  }
}

struct StackSizes {
  int64_t shape = -1;  // -1: no shape is made, not even an empty one
  int64_t array = 0;
  int64_t arg = 0;
};

class Lowerer final : public WrappingRewriter<Rewriter> {
 public:
  const absl::Status& status() const { return status_; }

  // Lowers a statement that has a stack of its own.
  Stmt WithStack(const Stmt& stmt) {
    // The first run finds how much stack is needed.
    if (measures_) return stmt;
    Stack stack;
    stack.max = MeasuredStack(stmt);
    Stmt body = stmt;
    if (stack.max.shape != -1) {
      stack.shape =
          StackBuffer("stack_shape", kInt64, IntImm(kInt64, stack.max.shape));
      body = DeclBuffer(stack.shape, std::move(body));
      body = LetStmt(stack.shape->data(), StackAlloca("shape", stack.max.shape),
                     std::move(body));
    }
    if (stack.max.array != 0) {
      body = LetStmt(stack.array, StackAlloca("array", stack.max.array),
                     std::move(body));
    }
    if (stack.max.arg != 0) {
      stack.tcode = StackBuffer("stack_tcode", kInt32,
                                IntImm(DType::UInt(64), stack.max.arg));
      body = LetStmt(stack.value, StackAlloca("arg_value", stack.max.arg),
                     std::move(body));
      body = DeclBuffer(stack.tcode, std::move(body));
      body = LetStmt(stack.tcode->data(),
                     StackAlloca("arg_tcode", stack.max.arg), std::move(body));
    }
    stacks_.push_back(std::move(stack));
    body = Rewrite(body);
    stacks_.pop_back();
    return body;
  }

 protected:
  Stmt Around(const StmtNode* node, RewriteFn rewrite) override {
    before_.emplace_back();
    Stmt result = rewrite();
    std::vector<Stmt> seq = std::move(before_.back());
    before_.pop_back();
    StackSizes& run = stacks_.back().run;
    if (run.shape != -1 || run.array != 0) {
      Fail(node->span(), "arrays and shapes must be arguments of packed calls");
      run = StackSizes();
    }
    if (seq.empty()) return result;
    AppendFlattened(result, seq);
    return MakeSeq(std::move(seq));
  }

  Stmt DoLetStmt(const LetStmtNode* node) override {
    const auto* call = node->value().As<CallNode>();
    if (call == nullptr ||
        call->op() != BATON_OP("tir.nd_mem_alloc_with_scope") ||
        call->args().empty()) {
      return Rewriter::VisitLetStmt(node);
    }
    const LetStmt let = DeviceMemory(node, call);
    return Rewriter::VisitLetStmt(let.get());
  }

  Stmt DoAllocate(const AllocateNode* node) override {
    const Stmt visited = Rewriter::VisitAllocate(node);
    const auto* alloc = visited.As<AllocateNode>();
    const auto* keep =
        alloc->annotations().Find("disable_lower_builtin").As<IntImmNode>();
    if (keep != nullptr && keep->value() != 0) return visited;
    const int64_t bytes = VectorBytes(alloc->dtype());
    const std::string& scope = alloc->var()->scope();
    if (device_type_.defined() && IsConst(device_type_, kCpuDevice) &&
        (scope.empty() || scope == "global") && FitsStack(*alloc, bytes)) {
      return visited;
    }
    PrimExpr total = IntImm(DType::UInt(64), bytes);
    for (const PrimExpr& extent : alloc->extents()) total = Mul(total, extent);
    if (!HasDevice(node->span())) return visited;
    const Var& pointer = alloc->var();
    const Stmt fail = ThrowLastError();
    const PrimExpr free = Call(
        kInt32, BATON_OP("tir.TVMBackendFreeWorkspace"),
        {CastTo(kInt32, device_type_), CastTo(kInt32, device_id_), pointer});
    Stmt body = alloc->body();
    Nest nest;
    while (const auto* declaration = body.As<DeclBufferNode>()) {
      nest.push_back(DeclBuffer(declaration->buffer(), NoOpStmt()));
      const Stmt inner = declaration->body();
      body = inner;
    }
    std::vector<Stmt> seq;
    AppendFlattened(body, seq);
    seq.push_back(IfThenElse(MakeBinary(BinaryOp::kNE, free, Int(0)), fail));
    body = MergeNest(nest, MakeSeq(std::move(seq)));
    seq = {IfThenElse(IsNull(pointer), fail)};
    AppendFlattened(body, seq);
    body = AttrStmt(pointer, "storage_alignment", Int(kRuntimeAlignment),
                    MakeSeq(std::move(seq)));
    return LetStmt(
        pointer,
        Call(kHandle, BATON_OP("tir.TVMBackendAllocWorkspace"),
             {CastTo(kInt32, device_type_), CastTo(kInt32, device_id_), total,
              Int(static_cast<int64_t>(alloc->dtype().code())),
              Int(alloc->dtype().bits())}),
        std::move(body), alloc->span());
  }

  Stmt DoAttrStmt(const AttrStmtNode* node) override {
    PrimExpr* part = nullptr;
    if (node->key() == "device_id") part = &device_id_;
    if (node->key() == "device_type") part = &device_type_;
    if (part == nullptr) return Rewriter::VisitAttrStmt(node);
    if (part->defined()) {
      Fail(node->span(),
           absl::StrCat("the attribute ", node->key(), " is given twice"));
    }
    *part = node->value();
    return Rewrite(node->body());
  }

  Stmt DoFor(const ForNode* node) override {
    if (node->for_kind() != ForKind::kParallel) {
      return Rewriter::VisitFor(node);
    }
    ForNode::Parts parts = node->parts();
    parts.min = Rewrite(node->min());
    parts.extent = Rewrite(node->extent());
    parts.body = WithStack(node->body());
    if (parts.min == node->min() && parts.extent == node->extent() &&
        parts.body == node->body()) {
      return For(node);
    }
    return For(std::move(parts), node->span());
  }

  PrimExpr VisitCall(const CallNode* node) override {
    const Expr& op = node->op();
    if (op == BATON_OP("tir.tvm_call_packed")) return PackedCall(node, true);
    if (op == BATON_OP("tir.tvm_call_cpacked")) return PackedCall(node, false);
    if (op == BATON_OP("tir.tvm_call_trace_packed")) return TraceCall(node);
    if (op == BATON_OP("tir.tvm_stack_make_shape")) return MakeShape(node);
    if (op == BATON_OP("tir.tvm_stack_make_array")) return MakeArray(node);
    if (op == BATON_OP("tir.tvm_context_id")) {
      return CallIntrinsicZero(node->dtype());
    }
    if (op == BATON_OP("tir.dma_copy")) return DeviceCall(node, "dma_copy");
    if (op == BATON_OP("tir.dma_wait")) return DeviceCall(node, "dma_wait");
    if (op == BATON_OP("tir.dma_start_group")) {
      return DeviceCall(node, "dma_start_group");
    }
    if (op == BATON_OP("tir.dma_end_group")) {
      return DeviceCall(node, "dma_end_group");
    }
    return Rewriter::VisitCall(node);
  }

 private:
  struct Stack {
    Buffer shape;
    Var array{"stack_array", kHandle};
    Var value{"stack_value", kHandle};
    Buffer tcode;
    StackSizes max;
    StackSizes run;  // in use where the rewrite is
  };

  StackSizes MeasuredStack(const Stmt& stmt) {
    Lowerer measure;
    measure.measures_ = true;
    measure.device_id_ = device_id_;
    measure.device_type_ = device_type_;
    Stack stack;
    stack.shape = StackBuffer("stack_shape", kInt64, IntImm(kInt64, 0));
    stack.tcode =
        StackBuffer("stack_tcode", kInt32, IntImm(DType::UInt(64), 0));
    measure.stacks_.push_back(std::move(stack));
    measure.Rewrite(stmt);
    if (status_.ok()) status_ = measure.status_;
    return measure.stacks_[0].max;
  }

  static bool FitsStack(const AllocateNode& alloc, int64_t bytes) {
    int64_t size = 1;
    for (const PrimExpr& extent : alloc.extents()) {
      const auto* imm = extent.As<IntImmNode>();
      if (imm == nullptr || imm->value() <= 0) return false;
      if (imm->value() >= kMaxStackBytes) return false;
      size *= imm->value();
      if (size * bytes >= kMaxStackBytes) return false;
    }
    return true;
  }

  static PrimExpr CallIntrinsicZero(DType dtype) {
    if (dtype != kHandle) return MakeConst(dtype, 0);
    return Call(kHandle, BATON_OP("tir.reinterpret"),
                {IntImm(DType::UInt(64), 0)});
  }
  static Stmt ThrowLastError() {
    return Evaluate(Call(kInt32, BATON_OP("tir.tvm_throw_last_error"), {}));
  }
  static PrimExpr IsNull(const Var& pointer) {
    return Call(DType::Bool(), BATON_OP("tir.isnullptr"), {pointer});
  }

  bool HasDevice(const Span& span) {
    if (device_type_.defined() && device_id_.defined()) return true;
    Fail(span,
         absl::StrCat("the attribute ",
                      device_type_.defined() ? "device_id" : "device_type",
                      " around the statement is missing"));
    return false;
  }
  PrimExpr DeviceMethod(absl::string_view method, const Span& span) {
    const auto* type =
        device_type_.defined() ? device_type_.As<IntImmNode>() : nullptr;
    const absl::string_view name =
        type == nullptr ? absl::string_view() : DeviceName(type->value());
    if (name.empty()) {
      Fail(span, absl::StrCat(method,
                              " needs an attribute device_type "
                              "around that names a device"));
    }
    return StringImm(absl::StrCat("device_api.", name, ".", method));
  }

  PrimExpr DeviceCall(const CallNode* node, absl::string_view method) {
    std::vector<PrimExpr> args = {DeviceMethod(method, node->span())};
    args.insert(args.end(), node->args().begin(), node->args().end());
    return Rewrite(Call(kInt32, BATON_OP("tir.tvm_call_packed"),
                        std::move(args), node->span()));
  }

  PrimExpr MakeShape(const CallNode* node) {
    StackSizes& run = stacks_.back().run;
    if (run.shape == -1) run.shape = 0;
    const int64_t begin = run.shape;
    run.shape += static_cast<int64_t>(node->args().size());
    const PrimExpr visited = Rewriter::VisitCall(node);
    const Buffer& shape = stacks_.back().shape;
    int64_t index = begin;
    for (const PrimExpr& arg : visited.As<CallNode>()->args()) {
      before_.back().push_back(
          BufferStore(shape, CastTo(kInt64, arg), {Int(index++)}));
    }
    return AddressOf(shape->data(), kInt64, begin);
  }

  PrimExpr MakeArray(const CallNode* node) {
    if (node->args().size() != 6) {
      Fail(node->span(), "an array has 6 arguments");
      return Call(node);
    }
    const int64_t index = stacks_.back().run.array++;
    const PrimExpr visited = Rewriter::VisitCall(node);
    if (!HasDevice(node->span())) return visited;
    const auto args = visited.As<CallNode>()->args();
    const Var& array = stacks_.back().array;
    const auto set = [&](StructField field, const PrimExpr& value) {
      before_.back().push_back(StructSet(array, index, field, value));
    };
    const DType byte = DType::UInt(8);
    const DType dtype = args[4].dtype();
    set(StructField::kArrData, args[0]);
    set(StructField::kArrShape, args[1]);
    set(StructField::kArrStrides,
        IsZero(args[2]) ? CallIntrinsicZero(kHandle) : args[2]);
    set(StructField::kArrNDim, args[3]);
    set(StructField::kArrTypeCode,
        MakeConst(byte, static_cast<int64_t>(dtype.code())));
    set(StructField::kArrTypeBits, MakeConst(byte, dtype.bits()));
    set(StructField::kArrTypeLanes, MakeConst(DType::UInt(16), dtype.lanes()));
    const PrimExpr& offset = args[5];
    set(StructField::kArrByteOffset,
        CastTo(DType::UInt(64),
               IsZero(offset) ? offset
                              : Mul(offset, MakeConst(offset.dtype(),
                                                      VectorBytes(dtype)))));
    set(StructField::kArrDeviceId, CastTo(kInt32, device_id_));
    set(StructField::kArrDeviceType, CastTo(kInt32, device_type_));
    return StructGet(kHandle, array, static_cast<int>(index),
                     StructField::kArrAddr);
  }

  // Puts arguments on the stack from `begin` on.
  void PushArgs(absl::Span<const PrimExpr> args, int64_t begin,
                const Span& span) {
    const Stack& stack = stacks_.back();
    int64_t index = begin;
    for (PrimExpr arg : args) {
      const DType dtype = arg.dtype();
      DType passed = dtype;
      if (dtype != kHandle) {
        if (dtype.lanes() != 1 || !(dtype.is_integral() || dtype.is_float())) {
          Fail(span, absl::StrCat("a value of the type ", dtype.ToString(),
                                  " cannot be passed to a packed call"));
          return;
        }
        passed = dtype.is_float() ? DType::Float(64) : kInt64;
      }
      if (passed != dtype) arg = Cast(passed, arg);
      before_.back().push_back(
          StructSet(stack.value, index, StructField::kValueContent, arg));
      int64_t code = static_cast<int64_t>(passed.code());
      if (arg.As<StringImmNode>() != nullptr) code = kCodeString;
      if (IsArrayAddress(arg)) code = kCodeTensorHandle;
      before_.back().push_back(
          BufferStore(stack.tcode, Int(code), {Int(index++)}));
    }
  }
  void NoteStack() {
    if (!measures_) return;
    Stack& stack = stacks_.back();
    stack.max.shape = std::max(stack.max.shape, stack.run.shape);
    stack.max.array = std::max(stack.max.array, stack.run.array);
    stack.max.arg = std::max(stack.max.arg, stack.run.arg);
  }
  std::vector<PrimExpr> LoweredArgs(const PrimExpr& name, int64_t begin,
                                    int64_t args) const {
    const Stack& stack = stacks_.back();
    return {name, stack.value, stack.tcode->data(), Int(begin),
            Int(begin + args - 1)};
  }

  // `by_name`: the first argument is looked up; else there is a last one for
  // the called function's resources.
  PrimExpr PackedCall(const CallNode* node, bool by_name) {
    const int64_t args = static_cast<int64_t>(node->args().size());
    const int64_t count = by_name ? args : args - 1;
    if (count < 1) {
      Fail(node->span(), "a packed call must name a function");
      return Call(node);
    }
    const StackSizes outer = stacks_.back().run;
    stacks_.back().run.arg += count;
    const PrimExpr visited = Rewriter::VisitCall(node);
    const auto values = visited.As<CallNode>()->args();
    PushArgs(values.subspan(1, count - 1), outer.arg, node->span());
    NoteStack();
    stacks_.back().run = outer;
    std::vector<PrimExpr> lowered = LoweredArgs(values[0], outer.arg, args);
    if (by_name) {
      return Call(node->dtype(), BATON_OP("tir.tvm_call_packed_lowered"),
                  std::move(lowered), node->span());
    }
    const auto* resource = values[count].As<VarNode>();
    lowered.push_back(resource != nullptr
                          ? PrimExpr(StringImm(resource->name()))
                          : values[count]);
    return Call(node->dtype(), BATON_OP("tir.tvm_call_cpacked_lowered"),
                std::move(lowered), node->span());
  }

  PrimExpr TraceCall(const CallNode* node) {
    const int64_t args = static_cast<int64_t>(node->args().size());
    if (args < 1) {
      Fail(node->span(), "a packed call must name a function");
      return Call(node);
    }
    const StackSizes outer = stacks_.back().run;
    stacks_.back().run.arg += args;
    const PrimExpr visited = Rewriter::VisitCall(node);
    const auto values = visited.As<CallNode>()->args();
    for (const PrimExpr& value : values.subspan(1)) {
      if (IsArrayAddress(value)) Fail(node->span(), "a trace takes no arrays");
    }
    PushArgs(values.subspan(1), outer.arg, node->span());
    NoteStack();
    stacks_.back().run = outer;
    // Calls in the traced value may use the rest of the stack.
    stacks_.back().run.arg = outer.arg + args - 1;
    std::vector<PrimExpr> lowered = LoweredArgs(values[0], outer.arg, args);
    lowered.push_back(values[args - 1]);
    return Call(node->dtype(), BATON_OP("tir.tvm_call_trace_packed_lowered"),
                std::move(lowered), node->span());
  }

  LetStmt DeviceMemory(const LetStmtNode* let, const CallNode* call) {
    const Var& pointer = let->var();
    if (!HasDevice(let->span())) return LetStmt(let);
    const PrimExpr free =
        Call(kInt32, BATON_OP("tir.tvm_call_packed"),
             {DeviceMethod("free_nd", let->span()), device_type_, device_id_,
              call->args()[0], pointer});
    std::vector<Stmt> seq = {IfThenElse(IsNull(pointer), ThrowLastError())};
    AppendFlattened(let->body(), seq);
    seq.push_back(
        IfThenElse(MakeBinary(BinaryOp::kNE, free, Int(0)), ThrowLastError()));
    std::vector<PrimExpr> args = {
        DeviceMethod("alloc_nd", let->span()), device_type_, device_id_,
        Int(static_cast<int64_t>(pointer->element().code())),
        Int(pointer->element().bits())};
    args.insert(args.end(), call->args().begin(), call->args().end());
    return LetStmt(pointer,
                   Call(pointer->dtype(), BATON_OP("tir.tvm_call_packed"),
                        std::move(args), call->span()),
                   MakeSeq(std::move(seq)), let->span());
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  bool measures_ = false;
  PrimExpr device_type_;
  PrimExpr device_id_;
  std::vector<Stack> stacks_;
  // Statements before each of those that are rewritten.
  std::vector<std::vector<Stmt>> before_;
  absl::Status status_;
};

}  // namespace

Pass LowerTVMBuiltin() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (!IsHostFunc(function)) return function;
        Lowerer lowerer;
        Stmt body = lowerer.WithStack(function->body());
        if (!lowerer.status().ok()) return lowerer.status();
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = std::move(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.LowerTVMBuiltin",
       .doc = "Makes calls of the runtime what code generators can emit."});
}
BATON_REGISTER_PASS_AS("tir.LowerTVMBuiltin", LowerTVMBuiltin);

}  // namespace baton::tir
