// Blocks become intrinsics: results are those of the reference's tests, names
// apart.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/registry.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_text.h"
#include "baton/tir/schedule/tensor_intrin.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;

// A tile of a product of matrices.
const TensorIntrin& Mma() {
  static const auto& intrin = *new TensorIntrin{
      R"(@T.prim_func
def description(A: T.Buffer((16, 16), "float32", align=64, offset_factor=1), B: T.Buffer((16, 16), "float32", align=64, offset_factor=1), C: T.Buffer((16, 16), "float32", align=64, offset_factor=1)):
    with T.block("root"):
        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        for i, j, k in T.grid(16, 16, 16):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
)",
      R"(@T.prim_func
def implementation(A: T.Buffer((16, 16), "float32", align=64, offset_factor=1), B: T.Buffer((16, 16), "float32", align=64, offset_factor=1), C: T.Buffer((16, 16), "float32", align=64, offset_factor=1)):
    with T.block("root"):
        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.block_attr({"tile": 16})
        T.evaluate(T.tvm_mma_sync(C.data, C.elem_offset // 256, A.data, A.elem_offset // 256, B.data, B.elem_offset // 256, C.data, C.elem_offset // 256))
)"};
  return intrin;
}

PrimFunc Read(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return PrimFunc();
  return module->functions<PrimFunc>()[0].function;
}

absl::Status Tensorize(Schedule& schedule, absl::string_view block, int loop,
                       const TensorIntrin& intrin) {
  return schedule.Apply(
      {"tensorize",
       {{"block_or_loop", AttrMap{{"loop", loop}, {"of", std::string(block)}}},
        {"desc", intrin.description},
        {"impl", intrin.implementation}}});
}

void ExpectEqual(const PrimFunc& got, absl::string_view expected) {
  IRModule module;
  module.Set("main", got);
  EXPECT_TRUE(StructuralEqual(got, Read(expected)))
      << AsText(module) << "\nis not\n"
      << expected;
}

// `<16>` is a number of indices.
constexpr absl::string_view kTiled = R"(@T.prim_func
def main(A: T.Buffer((<128>, <128>), "float32"), B: T.Buffer((<128>, <128>), "float32"), C: T.Buffer((<128>, <128>), "float32")):
    for i, j, k, ii, ji, ki in T.grid(<8>, <8>, <8>, <16>, <16>, <16>):
        with T.block("update"):
            vi = T.axis.spatial(<128>, i * <16> + ii)
            vj = T.axis.spatial(<128>, j * <16> + ji)
            vk = T.axis.reduce(<128>, k * <16> + ki)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
)";

constexpr absl::string_view kTensorized = R"(@T.prim_func
def main(A: T.Buffer((<128>, <128>), "float32"), B: T.Buffer((<128>, <128>), "float32"), C: T.Buffer((<128>, <128>), "float32")):
    for i, j, k in T.grid(<8>, <8>, <8>):
        with T.block("update_o"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(C[vi * <16>:vi * <16> + <16>, vj * <16>:vj * <16> + <16>], A[vi * <16>:vi * <16> + <16>, vk * <16>:vk * <16> + <16>], B[vj * <16>:vj * <16> + <16>, vk * <16>:vk * <16> + <16>])
            T.writes(C[vi * <16>:vi * <16> + <16>, vj * <16>:vj * <16> + <16>])
            T.block_attr({"tile": 16})
            a = T.match_buffer(A[vi * <16>:vi * <16> + <16>, vk * <16>:vk * <16> + <16>], (<16>, <16>), offset_factor=1)
            b = T.match_buffer(B[vj * <16>:vj * <16> + <16>, vk * <16>:vk * <16> + <16>], (<16>, <16>), offset_factor=1)
            c = T.match_buffer(C[vi * <16>:vi * <16> + <16>, vj * <16>:vj * <16> + <16>], (<16>, <16>), offset_factor=1)
            T.evaluate(T.tvm_mma_sync(c.data, c.elem_offset // <256>, a.data, a.elem_offset // <256>, b.data, b.elem_offset // <256>, c.data, c.elem_offset // <256>))
)";

std::string With32Bits(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"<", ""}, {">", ""}});
}

TEST(TensorizeTest, ReplacesTheBodyOfALoop) {
  Schedule schedule(Read(With32Bits(kTiled)));
  const absl::Status status = Tensorize(schedule, "update", 3, Mma());
  ASSERT_TRUE(status.ok()) << status;
  ExpectEqual(schedule.function(), With32Bits(kTensorized));
}

TEST(TensorizeTest, IndicesMayHaveMoreBits) {
  const auto with_64_bits = [](absl::string_view text) {
    return absl::StrReplaceAll(text, {{"<", "T.int64("}, {">", ")"}});
  };
  Schedule schedule(Read(with_64_bits(kTiled)));
  const absl::Status status = Tensorize(schedule, "update", 3, Mma());
  ASSERT_TRUE(status.ok()) << status;
  ExpectEqual(schedule.function(), with_64_bits(kTensorized));
}

TEST(TensorizeTest, ReplacesABlock) {
  Schedule schedule(Read(With32Bits(kTiled)));
  const BlockRef update = schedule.GetBlock("update").value();
  const LoopRef loop = schedule.GetLoops(update).value()[3];
  ASSERT_TRUE(schedule.Blockize(loop).ok());
  const absl::Status status =
      schedule.Apply({"tensorize",
                      {{"block_or_loop", AttrMap{{"block", "update_o"}}},
                       {"desc", Mma().description},
                       {"impl", Mma().implementation}}});
  ASSERT_TRUE(status.ok()) << status;
  ExpectEqual(schedule.function(), With32Bits(kTensorized));
}

TEST(TensorizeTest, BuffersMayHaveFurtherAxes) {
  const auto with_axis = [](std::string text) {
    return absl::StrReplaceAll(text, {{"((128", "((4, 128"},
                                      {"for i,", "for n, i,"},
                                      {"T.grid(", "T.grid(4, "},
                                      {"            vi = ",
                                       "            vn = T.axis.spatial(4, n)\n"
                                       "            vi = "},
                                      {"vi, vj, vk = ", "vn, vi, vj, vk = "},
                                      {"SSR", "SSSR"},
                                      {"[i, j, k]", "[n, i, j, k]"},
                                      {"A[", "A[vn, "},
                                      {"B[", "B[vn, "},
                                      {"C[", "C[vn, "}});
  };
  Schedule schedule(Read(with_axis(With32Bits(kTiled))));
  const absl::Status status = Tensorize(schedule, "update", 4, Mma());
  ASSERT_TRUE(status.ok()) << status;
  ExpectEqual(schedule.function(), with_axis(With32Bits(kTensorized)));
}

TEST(TensorizeTest, NamesAreRegistered) {
  ScopedOverride<TensorIntrin> mma(&TensorIntrinRegistry(), "test_mma", Mma());
  Schedule schedule(Read(With32Bits(kTiled)));
  const auto tensorize = [&](absl::string_view name) {
    return schedule.Apply(
        ParseStep(absl::StrCat(
                      R"({"name": "tensorize", "block_or_loop": {"loop": 3, )"
                      R"("of": "update"}, "tensor_intrin": ")",
                      name, R"("})"))
            .value());
  };
  EXPECT_THAT(std::string(tensorize("test_mm").message()),
              HasSubstr("unknown tensor intrinsic \"test_mm\""));
  ASSERT_TRUE(tensorize("test_mma").ok());
  ExpectEqual(schedule.function(), With32Bits(kTensorized));
}

TEST(TensorizeTest, TheIntrinsicsOfProcessorsApply) {
  const auto registered = TensorIntrinRegistry().List();
  ASSERT_TRUE(registered.ok());
  EXPECT_EQ(registered->size(), 8u);
  for (const TensorIntrin* intrin : *registered) {
    const absl::StatusOr<PrimFunc> description = intrin->Description();
    ASSERT_TRUE(description.ok()) << description.status();
    // The description itself computes what it describes.
    Schedule schedule(*description);
    const absl::Status status =
        schedule.Apply({"tensorize",
                        {{"block_or_loop", AttrMap{{"block", "root"}}},
                         {"desc", intrin->description},
                         {"impl", intrin->implementation}}});
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_NE(schedule.function(), *description);
  }
}

TEST(TensorizeTest, DifferencesAreErrors) {
  const auto mistake = [](absl::string_view from, absl::string_view to,
                          int loop = 3) {
    Schedule schedule(
        Read(absl::StrReplaceAll(With32Bits(kTiled), {{from, to}})));
    const PrimFunc before = schedule.function();
    const std::string message(
        Tensorize(schedule, "update", loop, Mma()).message());
    EXPECT_EQ(schedule.function(), before);
    return message;
  };
  EXPECT_THAT(mistake("A[vi, vk] *", "A[vi, vk] -"),
              HasSubstr("an operation differs"));
  EXPECT_THAT(mistake("B[vj, vk]", "B[vk, vj]"),
              HasSubstr("the region of buffer B differs"));
  EXPECT_THAT(mistake("A: T.Buffer((128, 128), \"float32\")",
                      "A: T.Buffer((128, 128), \"float16\")"),
              HasSubstr("buffer A (float16, global) is not A (float32, "
                        "global) of the intrinsic"));
  EXPECT_THAT(mistake("", "", 2), HasSubstr("differs"));
}

TEST(TensorizeTest, IntrinsicsHaveARule) {
  TensorIntrin two_blocks = Mma();
  two_blocks.implementation =
      absl::StrReplaceAll(Mma().implementation,
                          {{"    with T.block(\"root\"):\n", "    if True:\n"},
                           {"        T.reads", "        # T.reads"},
                           {"        T.writes", "        # T.writes"},
                           {"        T.block_attr", "        # T.block_attr"}});
  Schedule schedule(Read(With32Bits(kTiled)));
  EXPECT_THAT(
      std::string(Tensorize(schedule, "update", 3, two_blocks).message()),
      HasSubstr("the body of an intrinsic is a block without variables"));
}

}  // namespace
}  // namespace baton::tir
