// Compares ResNet-18 after each pass with the text that the reference prints
// for it; and tests the origins of all nodes of the run. golden/README.md
// describes how each golden was made.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_recorder.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/testing/blame.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace baton::testing {
namespace {

using relay::Function;

using ::testing::IsEmpty;

// The parts of the text that may differ from the golden.
enum class Tolerance {
  kNothing,
  kNewNames,  // numbers in the names of variables that the pass made
  kTypes,     // comments with types
};

struct Case {
  const char* golden;  // the name ends in `.bound` if weights are bound first
  // A sequence; one pass alone is called by itself, so that what it requires
  // does not run first.
  const char* passes;
  bool changes = true;
  Tolerance tolerance = Tolerance::kNothing;
  int opt_level = 3;
};

// Numbers `%x1`, `%x_7` and the like, which ResNet-18 has no variables named
// as, by the order in which they appear.
std::string RenumberNewNames(absl::string_view text) {
  static const LazyRE2 kName = {R"(%(x(_?[0-9]+)?)\b)"};
  std::string result;
  absl::flat_hash_map<std::string, size_t> numbers;
  re2::StringPiece rest(text.data(), text.size());
  const char* copied = text.data();
  re2::StringPiece name;
  while (RE2::FindAndConsume(&rest, *kName, &name)) {
    result.append(copied, name.data() - copied);
    const size_t number =
        numbers.emplace(std::string(name), numbers.size()).first->second;
    absl::StrAppend(&result, "new", number);
    copied = name.data() + name.size();
  }
  result.append(copied, text.data() + text.size() - copied);
  return result;
}

std::string WithoutTypes(std::string text) {
  RE2::GlobalReplace(&text, R"( /\* ty=[^*]*\*/)", "");
  return text;
}

::testing::AssertionResult Matches(std::string text, const std::string& name,
                                   Tolerance tolerance) {
  switch (tolerance) {
    case Tolerance::kNothing:
      break;
    case Tolerance::kNewNames:
      return SameText(RenumberNewNames(text),
                      RenumberNewNames(ReadGolden(name)));
    case Tolerance::kTypes:
      return SameText(WithoutTypes(std::move(text)),
                      WithoutTypes(ReadGolden(name)));
  }
  return MatchesGolden(text, name);
}

class ResNetPassTest : public ::testing::TestWithParam<Case> {
 protected:
  static const Workload& ResNet18() {
    static const auto* const kWorkload =
        new absl::StatusOr<Workload>(GetWorkload("resnet"));
    return **kWorkload;
  }
};

absl::StatusOr<IRModule> RunPipeline(const IRModule& module,
                                     const std::string& text, int opt_level = 3,
                                     PassInstruments instruments = {}) {
  BATON_ASSIGN_OR_RETURN(Pass pipeline, ParsePipeline(text));
  const auto passes = pipeline.impl().listed_passes();
  if (passes.size() == 1) pipeline = Pass(passes[0]);
  return PassContext(
             {.opt_level = opt_level, .instruments = std::move(instruments)})
      .Run([&] { return pipeline(module); });
}

TEST_P(ResNetPassTest, PrintsAsTheReference) {
  const std::string golden = GetParam().golden;
  IRModule module = ResNet18().module;
  if (absl::EndsWith(golden, ".bound")) {
    BATON_ASSERT_OK_AND_ASSIGN(
        Function bound, relay::BindParamsByName(module.Find<Function>("main"),
                                                ResNet18().params));
    module.Set("main", std::move(bound));
    BATON_ASSERT_OK_AND_ASSIGN(module, RunPipeline(module, "InferType"));
  }
  const std::string before = ToText(module);
  const auto recorder = std::make_shared<HistoryRecorder>();
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule after,
      RunPipeline(module, GetParam().passes, GetParam().opt_level, {recorder}));
  std::string text = AsText(after, {.metadata = false});
  // The files end in a line feed, which the reference's text may lack.
  if (text.back() != '\n') text += '\n';
  EXPECT_TRUE(Matches(text, absl::StrCat("resnet18_passes/", golden, ".relay"),
                      GetParam().tolerance));
  EXPECT_THAT(CheckWellFormed(after), IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const History read,
                             WrittenAndRead(recorder->history()));
  for (const History* history : {&recorder->history(), &read}) {
    BATON_ASSERT_OK_AND_ASSIGN(const BlameGaps blame,
                               FindBlameGaps(*history, false));
    EXPECT_THAT(blame.gaps, IsEmpty());
    EXPECT_EQ(blame.nodes > 0, GetParam().changes);
  }
  EXPECT_EQ(ToText(module), before) << "the input was touched";
  EXPECT_EQ(!StructuralEqual(after, module), GetParam().changes);
  if (!GetParam().changes) {
    EXPECT_TRUE(after.SameAs(module))
        << "nothing changed, and yet it is another module";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Goldens, ResNetPassTest,
    ::testing::Values(
        Case{"FoldConstant", "FoldConstant", false},
        Case{"FoldConstant.bound", "FoldConstant", false},
        Case{"SimplifyInference", "SimplifyInference"},
        Case{"FoldScaleAxis", "InferType,SimplifyInference,FoldScaleAxis"},
        Case{"FoldScaleAxis.bound",
             "InferType,SimplifyInference,FoldScaleAxis"},
        Case{"CanonicalizeOps", "InferType,CanonicalizeOps"},
        Case{"CombineParallelConv2D",
             "CombineParallelConv2d{min_num_branches=2}", false,
             Tolerance::kNothing, 4},
        Case{"SimplifyExpr", "SimplifyExpr", false},
        Case{"EliminateCommonSubexpr", "EliminateCommonSubexpr", false},
        Case{"FuseOps", "SimplifyInference,FuseOps{fuse_opt_level=2}"},
        Case{"FuseOps0", "SimplifyInference,FuseOps{fuse_opt_level=0}"},
        Case{"DefuseOps",
             "SimplifyInference,FuseOps{fuse_opt_level=2},DefuseOps"},
        Case{"ToANormalForm", "ToANormalForm", true, Tolerance::kNewNames},
        // The reference makes all nodes anew, and they have no types.
        Case{"ToBasicBlockNormalForm", "ToBasicBlockNormalForm", false,
             Tolerance::kTypes},
        Case{"ConvertLayout",
             "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}}"},
        Case{"ConvertLayout.bound",
             "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}}"},
        Case{"TutorialSequence.bound",
             "FoldConstant,ConvertLayout{desired_layouts={nn.conv2d:[NHWC,"
             "HWIO]}},FoldConstant"}),
    [](const auto& info) {
      std::string name = info.param.golden;
      for (char& c : name) c = c == '.' ? '_' : c;
      return name;
    });

// At most twice the text of the last state. Weights do not count: of most, a
// file has a checksum only.
TEST(ResNetHistoryTest, FilesAreSmall) {
  BATON_ASSERT_OK_AND_ASSIGN(const Workload workload, GetWorkload("resnet"));
  for (const bool bound : {false, true}) {
    IRModule module = workload.module;
    if (bound) {
      BATON_ASSERT_OK_AND_ASSIGN(
          Function main, relay::BindParamsByName(module.Find<Function>("main"),
                                                 workload.params));
      module.Set("main", std::move(main));
    }
    const auto recorder = std::make_shared<HistoryRecorder>();
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule after,
                               RunPipeline(module, "O3", 3, {recorder}));
    BATON_ASSERT_OK_AND_ASSIGN(const HistoryBytes bytes,
                               WriteHistory(recorder->history()));
    EXPECT_LE(bytes.ToString().size(),
              2 * AsText(after, {.metadata = false}).size());
  }
}

}  // namespace
}  // namespace baton::testing
