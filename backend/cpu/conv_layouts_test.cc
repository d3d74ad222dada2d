// The table of costs decides the layouts of convolutions, and no bit of their
// results.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/bound_weights.h"
#include "baton/backend/cpu/evaluator_test_util.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/executable_file.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/ir/module.h"
#include "baton/runtime/executor/plan.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kFast = 1e3;
constexpr double kSlow = 1e-6;

// A pointwise convolution, between two softmax over the channels, which are
// computed on planar maps.
constexpr char kPointwise[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 37, 9, 11), float32], %w: Tensor[(40, 37, 1, 1), float32],
          %wb: Tensor[(40), float32]) {
  %0 = nn.softmax(%x, axis=1);
  %1 = nn.conv2d(%0, %w, channels=40, kernel_size=[1, 1]);
  nn.softmax(nn.relu(nn.bias_add(%1, %wb)), axis=1)
})";

TEST(ConvLayoutsTest, TheTableDecides) {
  EXPECT_THAT(
      CheckProgram(kPointwise, CostsWith({{"conv.pointwise", kFast},
                                          {"conv.planar.pointwise", kSlow},
                                          {"matmul.batch", kSlow}})),
      ElementsAre("softmax", "to_blocked16",
                  "conv.blocked16.pointwise+bias+clip", "to_planar",
                  "softmax"));
  EXPECT_THAT(
      CheckProgram(kPointwise, CostsWith({{"conv.pointwise", kSlow},
                                          {"conv.planar.pointwise", kFast},
                                          {"matmul.batch", kSlow}})),
      ElementsAre("softmax", "conv.blocked16.first+bias+clip", "to_planar",
                  "softmax"));
  EXPECT_THAT(
      CheckProgram(kPointwise, CostsWith({{"conv.pointwise", kSlow},
                                          {"conv.planar.pointwise", kSlow},
                                          {"matmul.batch", kFast},
                                          {"matmul.batch.pack", kFast}})),
      AllOf(Contains("matmul.batch"), Not(Contains(HasSubstr("conv."))),
            Not(Contains("to_blocked16")), Not(Contains("to_planar"))));
  // Conversions count: each convolution by itself is faster on blocks.
  EXPECT_THAT(CheckProgram(kPointwise, CostsWith({{"to_blocked16", kSlow},
                                                  {"to_planar", kSlow}})),
              AllOf(Contains("matmul.batch"), Not(Contains("to_blocked16")),
                    Not(Contains("to_planar"))));
}

// Planar data with any number of channels, and windows with padding, strides
// and dilation.
TEST(ConvLayoutsTest, PlanarDataOfManyChannels) {
  const auto costs = CostsWith({{"conv", kSlow},
                                {"conv.pointwise", kSlow},
                                {"conv.planar", kFast},
                                {"conv.planar.pointwise", kFast},
                                {"matmul.batch", kSlow}});
  for (const char* attrs :
       {"padding=[1, 1, 1, 1]", "padding=[0, 2, 1, 0], strides=[2, 1]",
        "dilation=[2, 3], padding=[2, 3, 2, 3]", "strides=[1, 3]"}) {
    for (const int channels : {3, 16, 33, 150}) {
      const std::string text =
          absl::StrCat("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, ",
                       channels, ", 13, 12), float32], %w: Tensor[(24, ",
                       channels, ", 3, 3), float32]) {\n  nn.conv2d(%x, %w, ",
                       attrs, ", channels=24, kernel_size=[3, 3])\n}");
      EXPECT_THAT(CheckProgram(text, costs),
                  ElementsAre("conv.blocked16.first", "to_planar"))
          << text;
    }
  }
}

// A convolution of one position is a product of matrices, with an epilogue.
TEST(ConvLayoutsTest, OnePositionAsRows) {
  const auto costs = [](double rows) {
    return CostsWith({{"conv.pointwise", 0.01},
                      {"conv.planar.pointwise", 0.01},
                      {"matmul", rows}});
  };
  for (const int batch : {1, 3}) {
    for (const auto& [in, out] : {std::pair(32, 48), std::pair(7, 20)}) {
      const std::string text = absl::StrCat(
          "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(", batch, ", ", in,
          ", 7, 5), float32], %w: Tensor[(", out, ", ", in,
          ", 1, 1), float32], %wb: Tensor[(", out, "), float32], %w1: Tensor[(",
          in, ", ", out, ", 1, 1), float32]) {\n",
          "  %0 = nn.global_avg_pool2d(%x);\n"
          "  %1 = nn.conv2d(%0, %w, channels=",
          out,
          ", kernel_size=[1, 1]);\n"
          "  %2 = nn.relu(nn.bias_add(%1, %wb));\n"
          "  %3 = sigmoid(nn.conv2d(%2, %w1, channels=",
          in,
          ", kernel_size=[1, 1]));\n"
          "  multiply(%x, add(%3, %0))\n}");
      EXPECT_THAT(CheckProgram(text, costs(kFast)),
                  AllOf(Contains(HasSubstr("matmul")),
                        Not(Contains(HasSubstr("conv.")))))
          << text;
      EXPECT_THAT(CheckProgram(text, costs(kSlow)),
                  AllOf(Not(Contains(HasSubstr("matmul"))),
                        Contains(HasSubstr("conv."))))
          << text;
    }
  }
}

// Two convolutions in a row are planar together, or not at all: to change one
// of them alone takes a conversion more.
TEST(ConvLayoutsTest, TheLeastTotalDecides) {
  constexpr char kText[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 64, 8, 8), float32], %w: Tensor[(64, 64, 1, 1), float32],
          %w1: Tensor[(64, 64, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, channels=64, kernel_size=[1, 1]);
  nn.conv2d(%0, %w1, channels=64, kernel_size=[1, 1])
})";
  // Conversions of 8 * 4096 bytes take 1 us each. A convolution on blocks takes
  // 0.1 us, a planar one `planar_us`.
  const double flops = 2.0 * 64 * 64 * 64;
  const auto kernels = [&](double planar_us) {
    return CheckProgram(kText,
                        CostsWith({{"peak", 1},
                                   {"step", 1e-9},
                                   {"memory", 1e9},
                                   {"to_blocked16", 32.768},
                                   {"to_planar", 32.768},
                                   {"conv.pointwise", flops / 100},
                                   {"conv.planar.pointwise", kSlow},
                                   {"matmul.batch", flops / (planar_us * 1000)},
                                   {"matmul.batch.pack", 1e9}}));
  };
  EXPECT_THAT(kernels(1.09), ElementsAre("matmul.batch", "matmul.batch"));
  EXPECT_THAT(kernels(1.12),
              ElementsAre("to_blocked16", "conv.blocked16.pointwise",
                          "conv.blocked16.pointwise", "to_planar"));
}

std::vector<executor::Candidate> LayoutsOf(const Executable& model,
                                           absl::string_view kernel) {
  for (const executor::StepNote& note : model.plan().notes) {
    if (note.kernel == kernel) return note.candidates;
  }
  return {};
}

TEST(ConvLayoutsTest, PlansHaveTheCandidates) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, WithWeights(kPointwise));
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto costs = RandomCosts(seed);
    BATON_ASSERT_OK_AND_ASSIGN(const Executable model,
                               Compile(module, {.costs = costs}));
    EXPECT_EQ(model.plan().costs, costs->machine());
    std::vector<executor::Candidate> layouts;
    for (const executor::StepNote& note : model.plan().notes) {
      if (!note.candidates.empty()) layouts = note.candidates;
    }
    ASSERT_EQ(layouts.size(), 3) << seed;
    for (const executor::Candidate& layout : layouts) {
      EXPECT_GE(layout.cost_ns, layouts[0].cost_ns) << layout.layout;
    }
  }
  // The chosen layout is first, with the conversions that it needs.
  BATON_ASSERT_OK_AND_ASSIGN(
      const Executable model,
      Compile(module, {.costs = CostsWith({{"conv.pointwise", kFast},
                                           {"conv.planar.pointwise", kSlow},
                                           {"matmul.batch", kSlow}})}));
  const std::vector<executor::Candidate> layouts =
      LayoutsOf(model, "conv.blocked16.pointwise+bias+clip");
  ASSERT_EQ(layouts.size(), 3);
  EXPECT_EQ(layouts[0].layout, "blocked");
  double steps = 0;
  for (size_t i = 1; i < 4; ++i) steps += model.plan().steps[i].cost_ns;
  EXPECT_NEAR(layouts[0].cost_ns, steps, 1);
}

// The table decides what is packed: a file of an executable has it.
TEST(ConvLayoutsTest, FilesKeepTheTable) {
  constexpr char kText[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 32, 1, 1), float32], %w: Tensor[(40, 32, 1, 1), float32]) {
  nn.conv2d(%x, %w, channels=40, kernel_size=[1, 1])
})";
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, WithWeights(kText));
  for (const auto& [row, kernel] :
       {std::pair("matmul", "matmul.vector"),
        std::pair("conv.pointwise", "conv.blocked16.pointwise"),
        std::pair("conv.planar.pointwise", "conv.blocked16.first")}) {
    std::vector<std::pair<std::string, double>> speeds = {
        {"conv.pointwise", kSlow},
        {"conv.planar.pointwise", kSlow},
        {"matmul", kSlow}};
    speeds.emplace_back(row, kFast);
    WriteExecutableOptions options;
    options.compile.costs = CostsWith(speeds);
    options.version = "test";
    BATON_ASSERT_OK_AND_ASSIGN(const ExecutableFile file,
                               WriteExecutable(module, options));
    const auto bytes = std::make_shared<const std::string>(file.ToString());
    BATON_ASSERT_OK_AND_ASSIGN(
        const MappedExecutable read,
        ReadExecutable(*bytes, bytes, "M.exe", {.version = "test"}));
    EXPECT_EQ(read.executable.plan().notes[0].kernel, kernel);
    ExpectSameAsEvaluator(module, read.executable, 1, false);
  }
}

}  // namespace
}  // namespace baton::cpu
