// Plans of random networks give the bits of the evaluator, for all widths of
// vectors, as the networks are and after the passes `onnx,O3`.
//
// BATON_LONG_TESTS=1 and 2 take more networks; BATON_PROGRAMS=N takes N of each
// kind, from seed BATON_FIRST_SEED on.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "baton/backend/cpu/bound_weights.h"
#include "baton/backend/cpu/bounded_executable.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/cpu/evaluator_test_util.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/random_network.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

using kernels::blocked::Width;

struct Kind {
  const char* name;
  RandomNetworkOptions options;
};

class RandomNetworksTest : public ::testing::TestWithParam<Kind> {};

struct NamedWidth {
  Width width;
  int bits;
};
constexpr NamedWidth kWidths[] = {{Width::k512, 512},
                                  {Width::k256, 256},
                                  {Width::k128, 128},
                                  {Width::kHalves512, 256}};

// The widths that the processor has, the widest first.
std::vector<NamedWidth> Widths() {
  std::vector<NamedWidth> widths;
  for (const NamedWidth& width : kWidths) {
    if (kernels::blocked::IsSupported(width.width)) widths.push_back(width);
  }
  return widths;
}

TEST_P(RandomNetworksTest, GiveTheBitsOfTheEvaluator) {
  const uint32_t first = testing::TestSetting("BATON_FIRST_SEED", 0);
  const uint32_t count = testing::TestSetting(
      "BATON_PROGRAMS", testing::NightlyLongOrShort(1000, 400, 18));
  const std::vector<NamedWidth> widths = Widths();
  std::map<std::string, int> forms;
  for (uint32_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    BATON_ASSERT_OK_AND_ASSIGN(const RandomNetwork network,
                               MakeRandomNetwork(seed, GetParam().options));
    for (const std::string& form : network.forms) ++forms[form];
    const bool is_optimized = seed % 3 == 2;
    SCOPED_TRACE(absl::StrCat(
        "seed ", seed, is_optimized ? " after onnx,O3\n" : "\n", network.text));
    const bool has_special_weights = seed % 5 == 4;
    BATON_ASSERT_OK_AND_ASSIGN(IRModule module,
                               WithWeights(network.text, has_special_weights));
    if (is_optimized) {
      BATON_ASSERT_OK_AND_ASSIGN(module, RunNamedPipeline("onnx,O3", module));
      BATON_ASSERT_OK_AND_ASSIGN(module, relay::InferTypes(module));
    }
    CompileOptions options;
    options.max_threads = seed % 2 == 0 ? 16 : 2;
    // Other costs are other layouts.
    if (seed % 4 != 0) options.costs = RandomCosts(seed);
    const NamedWidth* width = nullptr;
    if (!widths.empty()) {
      width = &widths[seed / 3 % widths.size()];
      options.width = width->width;
    }
    BATON_ASSERT_OK_AND_ASSIGN(const Executable model,
                               Compile(module, options));
    EXPECT_EQ(model.evaluated_part(), nullptr);
    for (const bool special : {false, true}) {
      SCOPED_TRACE(special ? "special numbers" : "plain numbers");
      ExpectSameAsEvaluator(module, model, seed, special,
                            width == nullptr ? 0 : width->bits);
    }
  }
  // The generator writes all that it has.
  if (count < 400) return;
  for (const std::string& form : RandomNetworkForms(GetParam().options)) {
    EXPECT_GT(forms[form], 0) << form;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RandomNetworksTest,
    ::testing::Values(
        Kind{"Maps", {.spatial_dims = 2, .size = 24}},
        Kind{"Signals", {.spatial_dims = 1, .size = 20}},
        Kind{"Volumes", {.spatial_dims = 3}},
        Kind{"Rows", {.spatial_dims = 0, .size = 20}},
        Kind{"BytesOfMaps", {.spatial_dims = 2, .has_bytes = true, .size = 24}},
        Kind{"BytesOfSignals", {.spatial_dims = 1, .has_bytes = true}},
        Kind{"BytesOfRows", {.spatial_dims = 0, .has_bytes = true}},
        Kind{"Halves", {.spatial_dims = 2, .float_type = "float16"}},
        Kind{"ShortHalves", {.spatial_dims = 2, .float_type = "bfloat16"}}),
    [](const ::testing::TestParamInfo<Kind>& info) {
      return std::string(info.param.name);
    });

// `text` with a symbolic dimension n in place of the first extent of %x, which
// `batch` becomes.
std::string WithBatch(const std::string& text, int64_t& batch) {
  const size_t begin = text.find("%x: Tensor[(") + 12;
  const size_t end = text.find(',', begin);
  EXPECT_TRUE(absl::SimpleAtoi(text.substr(begin, end - begin), &batch));
  return absl::StrCat(text.substr(0, begin), "meta[tir.Var][0]",
                      text.substr(end), kMetadataOfN);
}

// Networks that can be typed so: a reshape to numbers, for example, cannot.
TEST(RandomBoundedNetworksTest, AnyBatchGivesTheBitsOfTheEvaluator) {
  const uint32_t first = testing::TestSetting("BATON_FIRST_SEED", 0);
  const uint32_t count = testing::TestSetting(
      "BATON_PROGRAMS", testing::NightlyLongOrShort(2000, 700, 45));
  uint32_t compared = 0;
  for (uint32_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    BATON_ASSERT_OK_AND_ASSIGN(
        const RandomNetwork network,
        MakeRandomNetwork(seed, {.spatial_dims = static_cast<int>(seed % 3),
                                 .has_bytes = seed % 5 == 0,
                                 .size = 10}));
    int64_t batch = 0;
    const std::string text = WithBatch(network.text, batch);
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
    const absl::StatusOr<IRModule> module = WithWeights(text);
    if (!module.ok()) continue;
    // Some numbers of attributes are too large for smaller batches.
    BATON_ASSERT_OK_AND_ASSIGN(
        const std::vector<DimBound> bounds,
        ParseDimBounds(absl::StrCat("n=", batch, "..", batch + 2)));
    const absl::StatusOr<BoundedExecutable> model = BoundedExecutable::Compile(
        *module, bounds,
        {.max_threads = 2,
         .allow_evaluated_part = false,
         .costs = seed % 2 == 0 ? nullptr : RandomCosts(seed)});
    if (!model.ok()) {
      EXPECT_FALSE(absl::IsInternal(model.status())) << model.status();
      continue;
    }
    ++compared;
    for (const int64_t n : {batch + 1, batch + 2, batch}) {
      SCOPED_TRACE(absl::StrCat("n = ", n));
      // The module with this extent, of which the evaluator is the oracle.
      const absl::StatusOr<IRModule> fixed = WithWeights(
          absl::StrReplaceAll(text.substr(0, text.find("#[metadata")),
                              {{"meta[tir.Var][0]", absl::StrCat(n)}}));
      // The numbers of an attribute may be those of one size.
      if (!fixed.ok()) continue;
      const absl::StatusOr<Executable> at = model->At({n});
      if (absl::IsUnimplemented(at.status())) continue;
      ASSERT_TRUE(at.ok()) << at.status();
      ExpectSameAsEvaluator(*fixed, *at, seed, /*special=*/n == batch);
    }
  }
  std::printf("%u of %u networks compared\n", compared, count);
  EXPECT_GT(compared, count / 50);
}

}  // namespace
}  // namespace baton::cpu
