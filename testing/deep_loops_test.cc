// Compares, hashes, verifies, stores, prints, reads and runs functions of deep
// loops in a small stack. Passes: loops_laws_test.cc.

#include "baton/testing/deep_loops.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/testing/loops_values.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/tir/ir/function.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

// The depth; more in the long form of tests (docs/write_a_test.md).
int Depth() { return IsLongTest() ? 100'000 : 10'000; }

IRModule ModuleOf(const tir::PrimFunc& function) {
  IRModule module;
  module.Set("main", function);
  return module;
}

// Calls `check` for each function, in a small stack.
template <typename Fn>
void ForEachFunction(int depth, const Fn& check) {
  RunWithStack(SmallStackBytesOfThisBuild(), [&] {
    for (const absl::string_view kind : KindsOfDeepLoops()) {
      SCOPED_TRACE(kind);
      check(kind, DeepLoops(kind, depth));
    }
  });
}

TEST(DeepLoopsTest, VerifyCompareHash) {
  ForEachFunction(
      Depth(), [](absl::string_view kind, const tir::PrimFunc& function) {
        const IRModule module = ModuleOf(function);
        const IRModule other = ModuleOf(DeepLoops(kind, Depth()));
        EXPECT_THAT(CheckWellFormed(module), IsOk());
        EXPECT_TRUE(StructuralEqual(module, other, {.map_free_vars = true}));
        EXPECT_EQ(StructuralHash(module), StructuralHash(other));
      });
}

TEST(DeepLoopsTest, Binary) {
  ForEachFunction(Depth(), [](absl::string_view /*kind*/,
                              const tir::PrimFunc& function) {
    const IRModule module = ModuleOf(function);
    BATON_ASSERT_OK_AND_ASSIGN(const BinaryModule binary, WriteBinary(module));
    BATON_ASSERT_OK_AND_ASSIGN(
        const BinaryContent read,
        ReadBinary(binary.ToString(), nullptr, "deep.baton"));
    EXPECT_TRUE(StructuralEqual(module, read.module, {.map_free_vars = true}));
  });
}

TEST(DeepLoopsTest, Text) {
  // The text of nested branches is indented, so that it is quadratic in the
  // depth.
  ForEachFunction(
      1'000, [](absl::string_view kind, const tir::PrimFunc& function) {
        const IRModule module = ModuleOf(function);
        const std::string text = AsText(module);
        BATON_ASSERT_OK_AND_ASSIGN(const IRModule read, ParseModule(text));
        // Blocks below blocks get what they read and write.
        if (kind != "blocks") {
          EXPECT_EQ(AsText(read), text);
        }
      });
}

TEST(DeepLoopsTest, Interpret) {
  ForEachFunction(
      Depth(), [](absl::string_view kind, const tir::PrimFunc& function) {
        const absl::StatusOr<std::vector<Tensor>> result =
            RunOnSmallIntegers(function, {.check_initialized = false,
                                          .check_regions = false,
                                          .max_steps = 5'000'000});
        const bool repeats = kind == "loops" || kind == "guards" ||
                             kind == "triangles" || kind == "whiles";
        if (kind == "assertions") return;  // They need not hold.
        if (repeats && absl::IsResourceExhausted(result.status())) return;
        EXPECT_THAT(result.status(), IsOk());
      });
}

}  // namespace
}  // namespace baton::testing
