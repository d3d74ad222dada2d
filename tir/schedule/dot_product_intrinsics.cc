// Intrinsics for tensors that processors have: products of vectors of four
// bytes, summed in 32 bits. Names and statements are those of the reference.
//
//   C[i] = C[i] + A[0] * B[i, 0] + ... + A[3] * B[i, 3]    for i < lanes

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "baton/tir/schedule/tensor_intrin.h"

namespace baton::tir {
namespace {

struct DotProduct {
  int lanes;
  absl::string_view a;  // types of elements
  absl::string_view b;
  absl::string_view sum;
};

std::string Signature(const DotProduct& dot, absl::string_view name) {
  return absl::Substitute(
      R"(@T.prim_func
def $0(A: T.Buffer((4,), "$2", offset_factor=1), B: T.Buffer(($1, 4), "$3", offset_factor=1), C: T.Buffer(($1,), "$4", offset_factor=1)):
    with T.block("root"):
        T.reads(C[0:$1], A[0:4], B[0:$1, 0:4])
        T.writes(C[0:$1])
)",
      name, dot.lanes, dot.a, dot.b, dot.sum);
}

std::string Description(const DotProduct& dot) {
  return absl::StrCat(Signature(dot, "description"),
                      absl::Substitute(R"(        for i, k in T.grid($0, 4):
            with T.block("update"):
                vi, vk = T.axis.remap("SR", [i, k])
                C[vi] = C[vi] + T.Cast("$1", A[vk]) * T.Cast("$1", B[vi, vk])
)",
                                       dot.lanes, dot.sum));
}

// `body` is indented by 8 columns.
TensorIntrin Intrin(const DotProduct& dot, absl::string_view body) {
  return {Description(dot),
          absl::StrCat(Signature(dot, "implementation"), body)};
}

constexpr DotProduct kUnsignedBySigned16 = {16, "uint8", "int8", "int32"};

// `instruction` is the name after `llvm.aarch64.neon.`.
TensorIntrin ArmDot(absl::string_view type, absl::string_view sum,
                    absl::string_view instruction) {
  return Intrin({4, type, type, sum}, absl::Substitute(
                                          R"(        a_x4: T.$0x4 = A[0:4]
        a_x1: T.$1 = T.reinterpret("$1", a_x4)
        a_x1x4: T.$1x4 = T.Broadcast(a_x1, 4)
        a: T.$0x16 = T.reinterpret("$0x16", a_x1x4)
        b: T.$0x16 = B.vload([0, 0], "$0x16")
        c: T.$1x4 = C[0:4]
        C[0:4] = T.call_llvm_pure_intrin("$1x4", "llvm.aarch64.neon.$2", T.uint32(3), c, a, b)
)",
                                          type, sum, instruction));
}

// One sum of four products, of threads of a graphics processor.
TensorIntrin ThreadDot(absl::string_view value) {
  const auto function = [](absl::string_view name, absl::string_view body) {
    return absl::Substitute(
        R"(@T.prim_func
def $0(A: T.Buffer((4,), "int8", scope="shared", align=4, offset_factor=1), B: T.Buffer((4,), "int8", scope="shared", align=4, offset_factor=1), C: T.Buffer((1,), "int32", scope="local", align=4, offset_factor=1)):
    with T.block("root"):
        T.reads(C[0], A[0:4], B[0:4])
        T.writes(C[0])
$1)",
        name, body);
  };
  return {function("description", R"(        for i in range(4):
            with T.block("update"):
                vi = T.axis.reduce(4, i)
                C[0] = C[0] + T.Cast("int32", A[vi]) * T.Cast("int32", B[vi])
)"),
          function("implementation",
                   absl::StrCat("        C[0] = C[0] + ", value, "\n"))};
}

[[maybe_unused]] const bool registered = [] {
  auto& registry = TensorIntrinRegistry();
  registry.Register("dot_16x4_vnni", Intrin(kUnsignedBySigned16,
                                            R"(        a_x4: T.uint8x4 = A[0:4]
        a: T.int32 = T.reinterpret("int32", a_x4)
        b_x64: T.int8x64 = B.vload([0, 0], "int8x64")
        b: T.int32x16 = T.reinterpret("int32x16", b_x64)
        c: T.int32x16 = C[0:16]
        C[0:16] = T.call_llvm_pure_intrin("int32x16", "llvm.x86.avx512.vpdpbusd.512", T.uint32(3), c, T.Broadcast(a, 16), b)
)"));
  registry.Register("dot_16x4_avx512",
                    Intrin(kUnsignedBySigned16,
                           R"(        a_x4: T.uint8x4 = A[0:4]
        a_x1: T.int32 = T.reinterpret("int32", a_x4)
        a_x16: T.int32x16 = T.Broadcast(a_x1, 16)
        a: T.uint8x64 = T.reinterpret("uint8x64", a_x16)
        b: T.int8x64 = B.vload([0, 0], "int8x64")
        pairs: T.int16x32 = T.call_llvm_pure_intrin("int16x32", "llvm.x86.avx512.pmaddubs.w.512", T.uint32(2), a, b)
        C[0:16] = C[0:16] + T.call_llvm_pure_intrin("int32x16", "llvm.x86.avx512.pmaddw.d.512", T.uint32(2), pairs, T.Broadcast(T.int16(1), 32))
)"));
  registry.Register("dot_4x4_i8i8s32_neon",
                    Intrin({4, "int8", "int8", "int32"},
                           R"(        a_x4: T.int8x4 = A[0:4]
        a_x1: T.int32 = T.reinterpret("int32", a_x4)
        a_x2: T.int32x2 = T.Broadcast(a_x1, 2)
        a: T.int8x8 = T.reinterpret("int8x8", a_x2)
        b: T.int8x16 = B.vload([0, 0], "int8x16")
        b_low: T.int8x8 = T.vectorlow("int8x8", b)
        low: T.int16x8 = T.call_llvm_pure_intrin("int16x8", "llvm.aarch64.neon.smull.v8i16", T.uint32(2), a, b_low)
        low_pairs: T.int32x4 = T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.saddlp.v4i32.v8i16", T.uint32(1), low)
        b_high: T.int8x8 = T.vectorhigh("int8x8", b)
        high: T.int16x8 = T.call_llvm_pure_intrin("int16x8", "llvm.aarch64.neon.smull.v8i16", T.uint32(2), a, b_high)
        high_pairs: T.int32x4 = T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.saddlp.v4i32.v8i16", T.uint32(1), high)
        C[0:4] = C[0:4] + T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.addp.v4i32", T.uint32(2), low_pairs, high_pairs)
)"));
  registry.Register("dot_4x4_i8i8s32_sdot",
                    ArmDot("int8", "int32", "sdot.v4i32.v16i8"));
  registry.Register("dot_4x4_u8u8u32_udot",
                    ArmDot("uint8", "uint32", "udot.v4u32.v16u8"));
  registry.Register("dot_4x4_u8u8i32_hdot",
                    ArmDot("uint8", "int32", "udot.v4u32.v16u8"));
  registry.Register(
      "dp4a",
      ThreadDot(R"(T.call_pure_extern("int32", "__dp4a", A[0:4], B[0:4], 0))"));
  registry.Register(
      "sdot4",
      ThreadDot(
          R"(T.call_llvm_pure_intrin("int32", "llvm.amdgcn.sdot4", T.uint32(4), T.reinterpret("int32", A[0:4]), T.reinterpret("int32", B[0:4]), 0, T.bool(True)))"));
  return true;
}();

}  // namespace
}  // namespace baton::tir
