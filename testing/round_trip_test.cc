// Tests the text laws on every golden, every workload, and the results of every
// registered pass for a workload. (conformance_test tests them on the
// conformance cases.)

#include "baton/testing/round_trip.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::InferTypes;

using ::testing::HasSubstr;

std::vector<std::string> Goldens() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           RunfilePath("testing/golden"))) {
    if (entry.path().extension() == ".relay") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(RoundTripTest, Goldens) {
  const std::vector<std::string> paths = Goldens();
  EXPECT_GE(paths.size(), 27);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const std::string text = ReadFileOrFail(path);
    const absl::StatusOr<IRModule> untyped = ParseModule(text, path);
    // Recorded without its metadata section, a golden with constants cannot
    // be read, and says so.
    if (absl::StrContains(text, "meta[") &&
        !absl::StrContains(text, "#[metadata]")) {
      EXPECT_THAT(untyped.status().message(),
                  HasSubstr("the text has no metadata section"));
      continue;
    }
    ASSERT_THAT(untyped, IsOk());
    EXPECT_THAT(CheckRoundTrip(*untyped, /*typed=*/false), IsOk());
    const absl::StatusOr<IRModule> typed = InferTypes(*untyped);
    ASSERT_THAT(typed, IsOk());
    EXPECT_THAT(CheckRoundTrip(*typed, /*typed=*/true), IsOk());
  }
}

// Inference makes each of them anew; ToANormalForm's lets share theirs.
TEST(RoundTripTest, ComputedDimensions) {
  // A program whose types have products of a symbolic dimension.
  const absl::StatusOr<ConformanceCase> recorded = ParseConformanceCase(
      "InferType", "521e343bad",
      ReadFileOrFail(
          RunfilePath("testing/conformance/InferType/521e343bad.relay")));
  ASSERT_THAT(recorded, IsOk());
  const absl::StatusOr<IRModule> untyped = ParseModule(recorded->before);
  ASSERT_THAT(untyped, IsOk());
  absl::StatusOr<IRModule> module = InferTypes(*untyped);
  ASSERT_THAT(module, IsOk());
  module = PassRegistry::Global().Get("ToANormalForm")->Run(*module);
  ASSERT_THAT(module, IsOk());
  module = InferTypes(*module);
  ASSERT_THAT(module, IsOk());
  EXPECT_THAT(CheckRoundTrip(*module, /*typed=*/true), IsOk());
}

TEST(RoundTripTest, Workloads) {
  for (const char* spec :
       {"resnet{num_layers=18}", "resnet{num_layers=34}",
        "resnet{num_layers=50}", "resnet{num_layers=101,batch_size=8}",
        "resnet{num_layers=152}", "resnet{num_layers=50,layout=NHWC}",
        "resnet{num_layers=20,image_shape=[3,28,28],num_classes=10}"}) {
    SCOPED_TRACE(spec);
    const absl::StatusOr<IRModule> module = GetWorkloadModule(spec);
    ASSERT_THAT(module, IsOk());
    EXPECT_THAT(CheckRoundTrip(*module, /*typed=*/true), IsOk());
  }
}

// Small, so that its weights go through text quickly.
IRModule BoundWorkload() {
  const absl::StatusOr<Workload> workload =
      GetWorkload("resnet{num_layers=8,image_shape=[3,28,28],num_classes=10}");
  EXPECT_THAT(workload, IsOk());
  const absl::StatusOr<relay::Function> bound = relay::BindParamsByName(
      workload->module.Find<relay::Function>("main"), workload->params);
  EXPECT_THAT(bound, IsOk());
  return *InferTypes(relay::ModuleFromExpr(*bound));
}

TEST(RoundTripTest, OutputsOfPasses) {
  const IRModule free =
      *GetWorkloadModule("resnet{num_layers=18,image_shape=[3,224,224]}");
  const IRModule bound = BoundWorkload();
  int run = 0;
  for (const std::string& name : PassRegistry::Global().Names()) {
    SCOPED_TRACE(name);
    const absl::StatusOr<Pass> pass = PassRegistry::Global().Get(name);
    if (!pass.ok()) continue;  // it has an option that must be given
    for (const IRModule& module : {free, bound}) {
      const absl::StatusOr<IRModule> result = pass->Run(module);
      if (!result.ok() && MayRefuse(*pass)) continue;
      ASSERT_THAT(result, IsOk());
      // The result of a module pass may lack types.
      const absl::StatusOr<IRModule> typed = InferTypes(*result);
      ASSERT_THAT(typed, IsOk());
      EXPECT_THAT(CheckRoundTrip(*typed, /*typed=*/true), IsOk());
      ++run;
    }
  }
  EXPECT_GE(run, 2 * 12);
}

}  // namespace
}  // namespace baton::testing
