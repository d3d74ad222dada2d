#include "baton/tir/ir/intrinsics.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {
namespace {

using E = CallEffect;
using T = CallType;

// clang-format off
constexpr Intrinsic kIntrinsics[] = {
    {"exp", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"exp2", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"exp10", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"erf", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"tanh", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"sigmoid", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"sqrt", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"rsqrt", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"log", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"log2", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"log1p", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"log10", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"tan", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"cos", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"cosh", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"sin", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"sinh", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"asin", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"acos", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"atan", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"acosh", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"asinh", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"atanh", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"floor", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"ceil", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"round", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"nearbyint", E::kPure, T::kFirst, DType(), 1, false, nullptr},
    {"trunc", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"fabs", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"popcount", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"clz", E::kPure, T::kFixed, kInt32, 1, false, nullptr},
    {"atan2", E::kPure, T::kFirst, DType(), 2, false, nullptr},
    {"nextafter", E::kPure, T::kFirst, DType(), 2, false, nullptr},
    {"hypot", E::kPure, T::kFirst, DType(), 2, false, nullptr},
    {"copysign", E::kPure, T::kFirst, DType(), 2, false, nullptr},
    {"ldexp", E::kPure, T::kFirst, DType(), 2, false, nullptr},
    {"fmod", E::kPure, T::kFirst, DType(), 2, false, nullptr},
    {"pow", E::kPure, T::kFirst, DType(), 2, true, nullptr},
    {"bitwise_and", E::kPure, T::kFirst, DType(), 2, true, nullptr},
    {"bitwise_or", E::kPure, T::kFirst, DType(), 2, true, nullptr},
    {"bitwise_xor", E::kPure, T::kFirst, DType(), 2, true, nullptr},
    {"shift_left", E::kPure, T::kFirst, DType(), 2, true, nullptr},
    {"shift_right", E::kPure, T::kFirst, DType(), 2, true, nullptr},
    {"bitwise_not", E::kPure, T::kFirst, DType(), 1, true, nullptr},
    {"isnan", E::kPure, T::kBool, DType(), 1, false, nullptr},
    {"isnullptr", E::kPure, T::kFixed, DType::Bool(), 1, false, nullptr},
    {"fma", E::kPure, T::kFirst, DType(), 3, true, nullptr},
    {"if_then_else", E::kPure, T::kSecond, DType(), 3, false, nullptr},
    {"likely", E::kExprAnnotation, T::kFirst, DType(), 1, true, nullptr},
    {"assume", E::kEmbedInfo, T::kFixed, DType::Bool(), 1, false, nullptr},
    {"undef", E::kReadState, T::kFixed, kInt32, 0, false, nullptr},
    {"ret", E::kControlJump, T::kFirst, DType(), 1, false, nullptr},
    {"reinterpret", E::kPure, T::kGiven, DType(), 1, false, nullptr},
    {"type_annotation", E::kPure, T::kGiven, DType(), 0, false, nullptr},
    {"large_uint_imm", E::kPure, T::kGiven, DType(), 2, false, nullptr},
    {"address_of", E::kPure, T::kFixed, kHandle, 1, false, nullptr},
    {"q_multiply_shift", E::kPure, T::kFixed, kInt32, 4, true, nullptr},
    {"q_multiply_shift_per_axis", E::kPure, T::kFixed, kInt32, 7, true, nullptr},
    {"call_extern", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"call_pure_extern", E::kPure, T::kGiven, DType(), -1, false, nullptr},
    {"call_llvm_intrin", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"call_llvm_pure_intrin", E::kPure, T::kGiven, DType(), -1, false, nullptr},
    {"call_spirv_pure_glsl450", E::kPure, T::kGiven, DType(), -1, false, nullptr},
    {"prefetch", E::kOpaque, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_access_ptr", E::kSpecialCallArg, T::kFixed, kHandle, 5, false, nullptr},
    {"tvm_static_handle", E::kSpecialCallArg, T::kFixed, kHandle, 0, false, nullptr},
    {"tvm_context_id", E::kReadState, T::kFixed, kHandle, 0, false, nullptr},
    {"tvm_tuple", E::kEmbedInfo, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_struct_get", E::kReadState, T::kGivenEnd, DType(), 3, false, nullptr},
    {"tvm_struct_set", E::kUpdateState, T::kFixed, kInt32, 4, false, nullptr},
    {"lookup_param", E::kUpdateState, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_throw_last_error", E::kOpaque, T::kFixed, kHandle, 0, false, nullptr},
    {"tvm_stack_alloca", E::kOpaque, T::kFixed, kHandle, 2, false, nullptr},
    {"tvm_stack_make_shape", E::kOpaque, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_stack_make_array", E::kOpaque, T::kFixed, kHandle, 6, false, nullptr},
    {"tvm_call_packed", E::kOpaque, T::kFixed, kInt32, -1, false, "call_packed"},
    {"tvm_call_cpacked", E::kOpaque, T::kFixed, kInt32, -1, false, "call_cpacked"},
    {"tvm_call_trace_packed", E::kOpaque, T::kFixed, kInt32, -1, false, nullptr},
    {"tvm_check_return", E::kPure, T::kFixed, kInt32, 3, false, nullptr},
    {"tvm_thread_context", E::kOpaque, T::kFixed, kHandle, 1, false, nullptr},
    {"tvm_call_packed_lowered", E::kOpaque, T::kFixed, kInt32, -1, false, "call_packed_lowered"},
    {"tvm_call_cpacked_lowered", E::kOpaque, T::kFixed, kInt32, -1, false, "call_cpacked_lowered"},
    {"tvm_call_trace_packed_lowered", E::kOpaque, T::kFixed, kInt32, -1, false, nullptr},
    {"tvm_storage_sync", E::kOpaque, T::kFixed, kInt32, -1, false, nullptr},
    {"tvm_warp_shuffle", E::kOpaque, T::kSecond, DType(), 5, false, nullptr},
    {"tvm_warp_shuffle_up", E::kOpaque, T::kSecond, DType(), 5, false, nullptr},
    {"tvm_warp_shuffle_down", E::kOpaque, T::kSecond, DType(), 5, false, nullptr},
    {"tvm_warp_activemask", E::kOpaque, T::kFixed, DType::UInt(32), 0, false, nullptr},
    {"tvm_global_barrier_kinit", E::kOpaque, T::kFixed, kInt32, -1, false, nullptr},
    {"tvm_thread_allreduce", E::kOpaque, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_mma_sync", E::kOpaque, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_bmma_sync", E::kOpaque, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_fill_fragment", E::kOpaque, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_store_matrix_sync", E::kOpaque, T::kFixed, kHandle, -1, false, nullptr},
    {"tvm_load_matrix_sync", E::kReadState, T::kFixed, kHandle, -1, false, nullptr},
    {"ptx_mma", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"ptx_mma_sp", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"ptx_ldmatrix", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"ptx_cp_async", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"ptx_cp_async_bulk", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"mma_store", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"mma_fill", E::kOpaque, T::kGiven, DType(), -1, false, nullptr},
    {"ptx_ldg32", E::kOpaque, T::kFixed, DType(), 4, false, nullptr},
    {"ptx_commit_group", E::kOpaque, T::kFixed, DType(), -1, false, nullptr},
    {"ptx_wait_group", E::kOpaque, T::kFixed, DType(), -1, false, nullptr},
    {"ptx_cp_async_barrier", E::kOpaque, T::kFixed, DType(), -1, false, nullptr},
    {"ptx_init_barrier_thread_count", E::kOpaque, T::kFixed, DType(), -1, false, nullptr},
    {"ptx_arrive_barrier", E::kOpaque, T::kFixed, DType(), -1, false, nullptr},
    {"ptx_arrive_barrier_expect_tx", E::kOpaque, T::kFixed, DType(), -1, false, nullptr},
    {"ptx_wait_barrier", E::kOpaque, T::kFixed, DType(), -1, false, nullptr},
    {"create_barriers", E::kOpaque, T::kFixed, DType(), -1, false, nullptr},
    {"vectorhigh", E::kPure, T::kGiven, DType(), -1, false, nullptr},
    {"vectorlow", E::kPure, T::kGiven, DType(), -1, false, nullptr},
    {"vectorcombine", E::kPure, T::kGiven, DType(), -1, false, nullptr},
    {"atomic_add", E::kOpaque, T::kSecond, DType(), 2, false, nullptr},
    {"nd_mem_alloc_with_scope", E::kOpaque, T::kFixed, kHandle, -1, false, nullptr},
    {"texture2d_store", E::kOpaque, T::kFixed, kHandle, -1, true, nullptr},
    {"texture2d_load", E::kOpaque, T::kGiven, DType(), -1, true, nullptr},
    {"dma_copy", E::kOpaque, T::kFixed, kInt32, -1, false, nullptr},
    {"dma_wait", E::kOpaque, T::kFixed, kInt32, -1, false, nullptr},
    {"dma_start_group", E::kOpaque, T::kFixed, kInt32, -1, false, nullptr},
    {"dma_end_group", E::kOpaque, T::kFixed, kInt32, -1, false, nullptr},
    {"start_profile_intrinsic", E::kPure, T::kFixed, kHandle, -1, false, nullptr},
    {"end_profile_intrinsic", E::kPure, T::kFixed, kHandle, -1, false, nullptr},
    {"TVMBackendAllocWorkspace", E::kOpaque, T::kFixed, kHandle, 5, false, nullptr},
    {"TVMBackendFreeWorkspace", E::kOpaque, T::kFixed, kInt32, 3, false, nullptr},
};
// clang-format on

[[maybe_unused]] const bool registered = [] {
  for (const Intrinsic& intrinsic : kIntrinsics) {
    OpRegistration registration(absl::StrCat("tir.", intrinsic.name));
    registration
        .Describe(absl::StrCat("The intrinsic `T.",
                               intrinsic.script_name != nullptr
                                   ? intrinsic.script_name
                                   : intrinsic.name,
                               "` of functions of loops."))
        .Set(IntrinsicMap(), &intrinsic);
  }
  return true;
}();

}  // namespace

absl::Span<const Intrinsic> Intrinsics() { return kIntrinsics; }

OpProperty<const Intrinsic*>& IntrinsicMap() {
  static auto& map = *new OpProperty<const Intrinsic*>;
  return map;
}

const Intrinsic* IntrinsicOf(const Expr& op) {
  const auto* node = op.As<OpNode>();
  if (node == nullptr || node->index() < 0) return nullptr;
  const Intrinsic* const* found = IntrinsicMap().Get(*node);
  return found == nullptr ? nullptr : *found;
}

Op FindIntrinsic(absl::string_view script_name) {
  static const auto& renamed = *[] {
    auto* map = new FlatHashMap<absl::string_view, absl::string_view>;
    for (const Intrinsic& intrinsic : kIntrinsics) {
      if (intrinsic.script_name != nullptr) {
        (*map)[intrinsic.script_name] = intrinsic.name;
      }
    }
    return map;
  }();
  const auto found = renamed.find(script_name);
  const Op op = Op::Find(absl::StrCat(
      "tir.", found == renamed.end() ? script_name : found->second));
  return IntrinsicOf(op) == nullptr ? Op() : op;
}

absl::string_view ScriptName(const OpNode& op) {
  const Intrinsic* const* found =
      op.index() < 0 ? nullptr : IntrinsicMap().Get(op);
  if (found != nullptr && (*found)->script_name != nullptr) {
    return (*found)->script_name;
  }
  return absl::StripPrefix(op.name(), "tir.");
}

Op IntrinsicOp(absl::string_view name) {
  // Operators are never destroyed: a handle to one can be kept.
  static thread_local FlatHashMap<std::string, Op> known;
  Op& op = known[std::string(name)];
  if (!op.defined()) op = Op::FindOrStandIn(absl::StrCat("tir.", name));
  return op;
}

PrimExpr CallIntrinsic(absl::string_view name, std::vector<PrimExpr> args) {
  const Op& op = IntrinsicOp(name);
  const Intrinsic* intrinsic = IntrinsicOf(op);
  DType dtype;
  if (intrinsic != nullptr) {
    switch (intrinsic->type) {
      case CallType::kFirst:
        if (!args.empty()) dtype = args[0].dtype();
        break;
      case CallType::kSecond:
        if (args.size() > 1) dtype = args[1].dtype();
        break;
      case CallType::kBool:
        if (!args.empty()) {
          dtype = WithLanes(DType::Bool(), args[0].dtype().lanes());
        }
        break;
      case CallType::kFixed:
        dtype = intrinsic->dtype;
        break;
      case CallType::kGiven:
      case CallType::kGivenEnd:
        break;
    }
  }
  return Call(dtype, op, std::move(args));
}

}  // namespace baton::tir
