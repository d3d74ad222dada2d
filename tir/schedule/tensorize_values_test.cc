// The step `tensorize` keeps what functions compute.

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "baton/base/dtype.h"
#include "baton/base/registry.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/interpreter/scalar.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_text.h"
#include "baton/tir/schedule/tensor_intrin.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

PrimFunc Read(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text, "tensorize.tir");
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? module->functions<PrimFunc>()[0].function : PrimFunc();
}

// Integers of the whole range of int8 and of bytes up to `most_byte`; small ones
// of other types.
Tensor RandomTensor(const Buffer& buffer, int64_t most_byte,
                    std::mt19937& random) {
  std::vector<int64_t> shape;
  for (const PrimExpr& extent : buffer->shape()) {
    shape.push_back(extent.As<IntImmNode>()->value());
  }
  const DType dtype = buffer.dtype();
  MutableTensor tensor = MutableTensor::Create(dtype, shape).value();
  auto* bytes = static_cast<char*>(tensor.data());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    int64_t number = static_cast<int64_t>(random() % 256) - 128;
    if (dtype == DType::UInt(8)) {
      number = static_cast<int64_t>(random() % (most_byte + 1));
    } else if (dtype.bits() != 8) {
      number %= 100;
    }
    StoreScalar(dtype, ConvertScalar({.i = number}, DType::Int(64), dtype),
                bytes + i * ElementBytes(dtype));
  }
  return std::move(tensor).Freeze();
}

// The contents of all buffers after a run; empty after an error. Vectors may be
// loaded across the ends of axes.
std::vector<std::string> Run(const PrimFunc& function, int64_t most_byte,
                             uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Argument> arguments;
  for (const Buffer& buffer : function->buffers()) {
    arguments.emplace_back(RandomTensor(buffer, most_byte, random));
  }
  const absl::StatusOr<std::vector<Tensor>> results =
      Interpret(function, arguments, {.spare_bytes = 64});
  EXPECT_TRUE(results.ok()) << results.status();
  std::vector<std::string> contents;
  if (!results.ok()) return contents;
  for (const Tensor& result : *results) contents.emplace_back(result.bytes());
  return contents;
}

bool SameValues(const PrimFunc& a, const PrimFunc& b, int64_t most_byte = 255) {
  bool same = true;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<std::string> was = Run(a, most_byte, seed);
    same = same && !was.empty() && was == Run(b, most_byte, seed);
  }
  return same;
}

// The function after the step that replaces what `site` has.
PrimFunc Tensorized(const PrimFunc& function, absl::string_view site,
                    absl::string_view intrinsic) {
  Schedule schedule(function);
  const absl::StatusOr<Step> step =
      ParseStep(absl::StrCat(R"({"name": "tensorize", "block_or_loop": )", site,
                             R"(, "tensor_intrin": ")", intrinsic, R"("})"));
  EXPECT_TRUE(step.ok()) << step.status();
  const absl::Status status = schedule.Apply(*step);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_NE(schedule.function(), function);
  return schedule.function();
}

struct Dot {
  absl::string_view intrinsic;
  int lanes;
  absl::string_view a;
  absl::string_view b;
  absl::string_view sum;
  // Larger bytes in `a` saturate what the instruction sums.
  int64_t most_byte = 255;
};

constexpr Dot kDots[] = {
    {"dot_16x4_vnni", 16, "uint8", "int8", "int32"},
    {"dot_16x4_avx512", 16, "uint8", "int8", "int32", 127},
    {"dot_4x4_i8i8s32_neon", 4, "int8", "int8", "int32"},
    {"dot_4x4_i8i8s32_sdot", 4, "int8", "int8", "int32"},
    {"dot_4x4_u8u8u32_udot", 4, "uint8", "uint8", "uint32"},
    {"dot_4x4_u8u8i32_hdot", 4, "uint8", "uint8", "int32"},
};

// In each iteration of three loops, one product of a vector and a matrix.
TEST(TensorizeValuesTest, TilesOfProductsKeepValues) {
  for (const Dot& dot : kDots) {
    SCOPED_TRACE(dot.intrinsic);
    const PrimFunc function = Read(absl::Substitute(
        R"(@T.prim_func
def main(A: T.Buffer((3, 8), "$1"), B: T.Buffer((2, 2, $0, 4), "$2"), C: T.Buffer((3, $4), "$3")):
    for i, jo, ko, ji, ki in T.grid(3, 2, 2, $0, 4):
        with T.block("dot"):
            vi, vjo, vko, vji, vki = T.axis.remap("SSRSR", [i, jo, ko, ji, ki])
            C[vi, vjo * $0 + vji] = C[vi, vjo * $0 + vji] + T.Cast("$3", A[vi, vko * 4 + vki]) * T.Cast("$3", B[vjo, vko, vji, vki])
)",
        dot.lanes, dot.a, dot.b, dot.sum, 2 * dot.lanes));
    const PrimFunc after =
        Tensorized(function, R"({"loop": 3, "of": "dot"})", dot.intrinsic);
    EXPECT_TRUE(SameValues(function, after, dot.most_byte));
  }
}

// Every registered intrinsic computes what its description says.
TEST(TensorizeValuesTest, RegisteredIntrinsicsKeepValues) {
  const std::vector<std::string> names = TensorIntrinRegistry().Names();
  EXPECT_EQ(names.size(), 8u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const absl::StatusOr<PrimFunc> description =
        TensorIntrinRegistry().Find(name)->Description();
    ASSERT_TRUE(description.ok()) << description.status();
    EXPECT_TRUE(SameValues(
        *description, Tensorized(*description, R"({"block": "root"})", name),
        absl::StrContains(name, "avx512") ? 127 : 255));
  }
}

// A product of tiles that a user registers: by rows, and with a sum in a
// variable.
TensorIntrin Tile(absl::string_view update) {
  const auto function = [](absl::string_view body) {
    return absl::StrCat(
        R"(@T.prim_func
def tile(A: T.Buffer((4, 4), "float32", offset_factor=1, strides=("sa", 1)), B: T.Buffer((4, 4), "float32", offset_factor=1, strides=("sb", 1)), C: T.Buffer((4, 4), "float32", offset_factor=1, strides=("sc", 1))):
    with T.block("root"):
        T.reads(C[0:4, 0:4], A[0:4, 0:4], B[0:4, 0:4])
        T.writes(C[0:4, 0:4])
)",
        body);
  };
  return {function(R"(        for i, j, k in T.grid(4, 4, 4):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"),
          function(absl::StrCat("        for k, i in T.grid(4, 4):\n"
                                "            a: T.float32 = A[i, k]\n"
                                "            C[i, 0:4] = ",
                                update, "\n"))};
}

constexpr absl::string_view kProduct = R"(@T.prim_func
def main(A: T.Buffer((8, 12), "float32"), B: T.Buffer((12, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    for i, j, k, ii, ji, ki in T.grid(2, 2, 3, 4, 4, 4):
        with T.block("update"):
            vi = T.axis.spatial(8, i * 4 + ii)
            vj = T.axis.spatial(8, j * 4 + ji)
            vk = T.axis.reduce(12, k * 4 + ki)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

TEST(TensorizeValuesTest, IntrinsicsOfUsersKeepValues) {
  const PrimFunc function = Read(kProduct);
  const TensorIntrin right = Tile("C[i, 0:4] + T.Broadcast(a, 4) * B[k, 0:4]");
  const ScopedOverride<TensorIntrin> tile(&TensorIntrinRegistry(), "user_tile",
                                          right);
  const PrimFunc after =
      Tensorized(function, R"({"loop": 3, "of": "update"})", "user_tile");
  EXPECT_TRUE(SameValues(function, after));
}

// An intrinsic whose implementation computes something else is found.
TEST(TensorizeValuesTest, WrongIntrinsicsOfUsersDiffer) {
  const PrimFunc function = Read(kProduct);
  const TensorIntrin wrong = Tile("C[i, 0:4] + T.Broadcast(a, 4) * B[i, 0:4]");
  const ScopedOverride<TensorIntrin> tile(&TensorIntrinRegistry(), "user_tile",
                                          wrong);
  const PrimFunc after =
      Tensorized(function, R"({"loop": 3, "of": "update"})", "user_tile");
  EXPECT_FALSE(SameValues(function, after));
}

}  // namespace
}  // namespace baton::tir
