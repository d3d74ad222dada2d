#include "baton/backend/cpu/padded_sizes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/graph.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

using relay::Value;

using ::baton::testing::IsOk;
using ::baton::testing::ParseTyped;
using ::testing::HasSubstr;

IRModule Parsed(const std::string& text) {
  return ParseTyped(absl::StrCat("#[version = \"0.0.5\"]\n", text));
}

class PaddedSizesTest : public ::testing::TestWithParam<const char*> {};

// Each program is run for inputs of which some, all, one and none are chosen.
TEST_P(PaddedSizesTest, ComputesWhatTheModelDoes) {
  const IRModule module = Parsed(GetParam());
  Diagnostics problems;
  const absl::StatusOr<PaddedModule> padded = PadToBounds(module, problems);
  ASSERT_THAT(padded, IsOk());
  ASSERT_FALSE(problems.has_errors()) << problems.ToString();
  EXPECT_FALSE(padded->sized_by_values.empty());
  EXPECT_THAT(BuildGraph(padded->module, "main").status(), IsOk());
  for (const std::vector<float>& elements :
       std::vector<std::vector<float>>{{1, 0, -1, 0, 0.5f, 2},
                                       {3, 2, 1, -1, -2, -3},
                                       {0, 0, 0, 0, 0, 7},
                                       {0, 0, 0, 0, 0, 0},
                                       {-0.0f, 5, 5, 0, 5, 0}}) {
    const Value x = *Tensor::FromValues<float>({2, 3}, elements);
    const auto want = relay::EvaluateFunction(module, "main", {x});
    ASSERT_THAT(want, IsOk());
    const auto got = relay::EvaluateFunction(padded->module, "main", {x});
    ASSERT_THAT(got, IsOk());
    const std::vector<Tensor> expected = relay::TensorsOf(*want);
    const std::vector<Tensor> results = relay::TensorsOf(*got);
    ASSERT_EQ(results.size(), expected.size() + padded->sized_by_values.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      // Padding may follow.
      EXPECT_TRUE(absl::StartsWith(results[i].bytes(), expected[i].bytes()))
          << "result " << i << ", " << expected[i].TypeToString();
    }
    for (size_t k = 0; k < padded->sized_by_values.size(); ++k) {
      const Tensor& extents = results[expected.size() + k];
      const auto shape =
          expected[static_cast<size_t>(padded->sized_by_values[k])].shape();
      EXPECT_EQ(std::vector<int64_t>(shape.begin(), shape.end()),
                std::vector<int64_t>(extents.span<int64_t>().begin(),
                                     extents.span<int64_t>().end()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, PaddedSizesTest,
    ::testing::Values(
        // Coordinates, by row and by column.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  (%0, cast(transpose(%0, axes=[1, 0]), dtype="int64"), exp(%x))
})",
        // A single result.
        R"(def @main(%x: Tensor[(2, 3), float32]) { argwhere(greater(%x, 0.7f)) })",
        // Chosen elements and rows, and what is computed of them.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  %1 = gather_nd(%x, transpose(%0, axes=[1, 0]));
  %2 = take(%0, 1i32, axis=1);
  %3 = take(reshape(%x, newshape=[-1]), %2, axis=0);
  %4 = multiply(add(%3, 1f), expand_dims(%1, axis=0));
  %5 = concatenate((expand_dims(%3, axis=1), expand_dims(%1, axis=1)), axis=1);
  %6 = split(%5, indices_or_sections=2, axis=1);
  (%4, %5, %6.1, nn.softmax(%5, axis=1), sum(%5, axis=[1]), stack((%3, %1), axis=0))
})",
        // Reductions of integers, and the largest, over what is chosen.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  %1 = take(%x, squeeze(argwhere(less(take(%x, 0i32, axis=0), 9f)), axis=[1]), axis=1);
  (%0, sum(%0, axis=[0]), prod(%0, axis=[0]), max(%1, axis=[1]), min(%1),
   argmax(%1, axis=[1]), argmin(%1, axis=[1]), any(greater(%1, 1f), axis=[1]), all(less(%1, 2f)))
})",
        // Division by padding, and indices that are chosen.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  %1 = add(strided_slice(%0, begin=[0, 0], end=[100, 1], strides=[1, 1], axes=None), 1i32);
  (floor_divide(100i32, %1), floor_mod(%0, %1),
   take(%x, squeeze(%1, axis=[1]), axis=0, mode="clip"),
   take(%x, subtract(squeeze(%1, axis=[1]), 1i32), axis=0, mode="fast"),
   one_hot(squeeze(%1, axis=[1]), 1f, 0f, depth=4, axis=-1, dtype="float32"))
})",
        // Slices from, to and by values, and as many of the largest.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = cast(floor(sum(%x)), dtype="int64");
  %1 = reshape(%0, newshape=[1]);
  %2 = reshape(subtract(-2i64, %0), newshape=[1]);
  %3 = reshape(add(multiply(abs(%0), -2i64), 7i64), newshape=[1]);
  %4 = reshape(%x, newshape=[6]);
  %5 = dyn.strided_slice(%4, %2, %1, %3, begin=None, end=None, strides=None, axes=None);
  %6 = dyn.strided_slice(%4, %1, %2, ones(shape=[1], dtype="int64"), begin=None, end=None, strides=None, axes=None);
  %7 = dyn.topk(%x, maximum(minimum(%0, 3i64), 1i64), k=None, dtype="int64");
  (%5, %6, %7.0, %7.1, dyn.strided_slice(%5, %1, %2, %3, begin=None, end=None, strides=None, axes=None))
})",
        // An empty list of axes means all of them.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  (%0, sum(%0, axis=[]), prod(%0, axis=[], exclude=True), max(%0, axis=[], keepdims=True))
})",
        // Numbers of elements over several axes.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = take(%x, squeeze(argwhere(less(take(%x, 0i32, axis=0), 2f)), axis=[1]), axis=1);
  %1 = stack((%0, negative(%0)), axis=0);
  (%0, argmax(%0), argmin(%0), argmax(%1, axis=[0, 2]), argmin(%1, axis=[1], exclude=True), argmin(%1, axis=[1, 2], keepdims=True))
})",
        // Indices of few bits, for more elements than they can count.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(concatenate((reshape(%x, newshape=[6]), ones(shape=[250], dtype="float32")), axis=0));
  %1 = abs(floor(%x));
  (%0, take(%0, cast(%1, dtype="int8"), axis=0, mode="clip"), take(%0, cast(%1, dtype="uint8"), axis=0, mode="wrap"),
   take(%0, cast(%1, dtype="int8"), axis=0, mode="fast"), take(%0, cast(negative(%1), dtype="int16"), axis=0, mode="wrap"))
})",
        // No indices into nothing.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  %1 = multiply(take(%0, 0i32, axis=1), 0i32);
  (take(%0, %1, axis=0, mode="fast"), take(%0, %1, axis=0, mode="clip"), take(%0, %1, axis=0, mode="wrap"))
})",
        // Exponents and shift amounts that would be negative for padding.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = subtract(argwhere(concatenate((zeros(shape=[1], dtype="float32"), reshape(%x, newshape=[6])), axis=0)), 1i32);
  (power(3i32, %0), left_shift(3i32, %0), right_shift(1000i32, %0), power(2f, cast(%0, dtype="float32")))
})",
        // As many of the largest, or all.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = subtract(minimum(cast(floor(sum(%x)), dtype="int64"), 3i64), 1i64);
  %1 = dyn.topk(%x, %0, k=None, dtype="int64");
  (%1.0, %1.1)
})",
        // Extents that no value decides, after all.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = reshape(cast(sum(%x), dtype="int64"), newshape=[1]);
  %1 = dyn.strided_slice(zeros(shape=[0, 3], dtype="float32"), %0, %0, ones(shape=[1], dtype="int64"), begin=None, end=None, strides=None, axes=None);
  (argwhere(%x), concatenate((%1, %x), axis=0), stack((%1, %1), axis=0), expand_dims(%1, axis=1),
   one_hot(cast(%1, dtype="int32"), 1f, 0f, depth=4, axis=-1, dtype="float32"))
})",
        // New tensors as large as what is found, and as twice as many.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  %1 = shape_of(%0, dtype="int64");
  %2 = take(%1, 0i64, axis=0);
  %3 = reshape(ndarray_size(%0, dtype="int64"), newshape=[1]);
  %4 = arange(0i64, %2, 1i64, start=0f, stop=0f, step=1f, dtype="int64");
  %5 = concatenate((full(2i64, shape=[1], dtype="int64"), strided_slice(%1, begin=[0], end=[1], strides=[1], axes=None)), axis=0);
  (%4, arange(9i64, subtract(5i64, multiply(%2, 2i64)), -3i64, start=0f, stop=0f, step=1f, dtype="int64"),
   add(%4, cast(take(%0, 1i32, axis=1), dtype="int64")), dyn.full(2.5f, %1, shape=None, dtype="float32"), dyn.zeros(%3, shape=None, dtype="int8"),
   dyn.ones(%5, shape=None, dtype="float32"), dyn.broadcast_to(take(%x, 0i32, axis=1), concatenate((%3, full(2i64, shape=[1], dtype="int64")), axis=0), shape=None),
   dyn.reshape(%0, concatenate((strided_slice(%1, begin=[0], end=[1], strides=[1], axes=None), full(2i64, shape=[1], dtype="int64"), full(1i64, shape=[1], dtype="int64")), axis=0), newshape=[]))
})",
        // The rounds of a loop stack and carry tensors.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  let %loop = fn (%i: int64, %n: int64, %s: Tensor[(2, 3), float32], %all: Tensor[(?, 2, 3), float32], %sums: Tensor[(?), int32]) -> (Tensor[(?), int32], Tensor[(2, 3), float32], Tensor[(?, 2, 3), float32]) {
    if (less(%i, %n)) {
      %0 = add(%s, 1f);
      %loop(add(%i, 1i64), %n, %0, concatenate((%all, expand_dims(%0, axis=0)), axis=0),
            concatenate((%sums, reshape(cast(sum(%s), dtype="int32"), newshape=[1])), axis=0))
    } else {
      (%sums, %s, %all)
    }
  };
  %1 = %loop(0i64, minimum(cast(floor(sum(%x)), dtype="int64"), 5i64), %x, zeros(shape=[0, 2, 3], dtype="float32"), zeros(shape=[0], dtype="int32"));
  (%1.1, exp(%1.2), add(%1.0, 1i32), %1.0)
})",
        // A condition that values decide, beside a constant bound; the counter
        // begins at 3 and is an int32.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  let %loop = fn (%go: bool, %all: Tensor[(?, 3), float32], %s: Tensor[(2, 3), float32], %i: int32) -> (Tensor[(?, 3), float32],) {
    if (logical_and(less_equal(%i, 6i32), %go)) {
      %0 = add(%s, 1f);
      %loop(less(sum(%0), 12f), concatenate((%all, take(%0, reshape(0i32, newshape=[1]), axis=0)), axis=0), %0, add(1i32, %i))
    } else {
      (%all,)
    }
  };
  %1 = %loop(less(min(%x), 0f), zeros(shape=[0, 3], dtype="float32"), %x, 3i32);
  (%1.0, argwhere(%x))
})",
        // Two choices, one after the other.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  %1 = concatenate((%0, argwhere(less(%x, 1f)), argwhere(ones(shape=[2, 2], dtype="float32"))), axis=0);
  %2 = argwhere(greater(%1, 0i32));
  (%1, %2, shape_of(%1, dtype="int64"), ndarray_size(%2, dtype="int32"))
})"));

// Rows and groups of rows keep their order.
TEST(PaddedSizesTest, ReshapesAroundThePaddedAxis) {
  const IRModule module = Parsed(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  %1 = reshape(%0, newshape=[-1]);
  (%1, reshape(%1, newshape=[-1, 2]), reshape(%0, newshape=[1, -1, 2, 1]))
})");
  Diagnostics problems;
  const absl::StatusOr<PaddedModule> padded = PadToBounds(module, problems);
  ASSERT_THAT(padded, IsOk());
  ASSERT_FALSE(problems.has_errors()) << problems.ToString();
  const Value x = *Tensor::FromValues<float>({2, 3}, {0, 1, 0, 0, 1, 1});
  const auto got = relay::EvaluateFunction(padded->module, "main", {x});
  ASSERT_THAT(got, IsOk());
  const std::vector<Tensor> results = relay::TensorsOf(*got);
  ASSERT_EQ(results.size(), 6u);
  EXPECT_EQ(results[3].span<int64_t>()[0], 6);
  EXPECT_EQ(results[4].span<int64_t>()[0], 3);
  EXPECT_EQ(results[5].span<int64_t>()[1], 3);
}

TEST(PaddedSizesTest, KnownSizesStay) {
  const IRModule module =
      Parsed("def @main(%x: Tensor[(2, 3), float32]) { exp(%x) }");
  Diagnostics problems;
  const absl::StatusOr<PaddedModule> padded = PadToBounds(module, problems);
  ASSERT_THAT(padded, IsOk());
  EXPECT_TRUE(padded->sized_by_values.empty());
  EXPECT_EQ(padded->module.Find("main"), module.Find("main"));
}

// All calls are named, but not what depends on them.
TEST(PaddedSizesTest, NamesWhatHasNoBounds) {
  const IRModule module = Parsed(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = arange(0f, sum(%x), 1f, start=0f, stop=0f, step=1f, dtype="float32");
  %1 = argwhere(%x);
  (exp(%0), sum(cast(%1, dtype="float32"), axis=[0]), if (less(sum(%x), 0f)) { %1 } else { %1 })
})");
  Diagnostics problems;
  ASSERT_THAT(PadToBounds(module, problems), IsOk());
  const std::string text = problems.ToString();
  EXPECT_THAT(text, HasSubstr("values decide how large the result of arange "
                              "is, Tensor[(?), float32]: it has no bound"));
  EXPECT_THAT(text, HasSubstr("sum cannot compute with padding behind it"));
  EXPECT_THAT(text, HasSubstr("a branch, a loop or a function"));
}

// A reason for each loop whose results have no bound.
TEST(PaddedSizesTest, NamesLoopsWithoutABound) {
  for (const auto& [limit, added, result, reason] :
       std::vector<std::array<const char*, 4>>{
           {"cast(sum(%x), dtype=\"int64\")", "expand_dims(%s, axis=0)",
            "(%all, %s)",
            "its number of rounds has no bound: a Loop of ONNX has one if its "
            "input M is a constant"},
           {"100000000i64", "expand_dims(%s, axis=0)", "(%all, %s)",
            "its number of rounds has no bound"},
           {"10000000i64", "expand_dims(%s, axis=0)", "(%all, %s)",
            "10000000 rounds may stack more than 16777216 elements"},
           {"5i64", "expand_dims(add(%s, sum(%all)), axis=0)", "(%all, %s)",
            "it computes with %all, to which its rounds add"},
           {"5i64", "expand_dims(%s, axis=0)", "(exp(%all), %s)",
            "it computes with %all, to which its rounds add"},
           {"5i64", "stack((%s, %s), axis=0)", "(%all, %s)",
            "a round changes the size of %all"},
           {"5i64",
            "expand_dims(multiply(%s, cast(sum(argwhere(%s), axis=[0, 1]), "
            "dtype=\"float32\")), axis=0)",
            "(%all, %s)",
            "in a round, values decide how large the result of argwhere is"},
       }) {
    SCOPED_TRACE(absl::StrCat(limit, " ", added, " ", result));
    const IRModule module = Parsed(absl::StrCat(
        R"(
def @main(%x: Tensor[(2, 3), float32]) {
  let %loop = fn (%i: int64, %n: int64, %s: Tensor[(2, 3), float32], %all: Tensor[(?, 2, 3), float32]) -> (Tensor[(?, 2, 3), float32], Tensor[(2, 3), float32]) {
    if (less(%i, %n)) {
      %loop(add(%i, 1i64), %n, exp(%s), concatenate((%all, )",
        added, R"(), axis=0))
    } else { )",
        result, R"( }
  };
  %loop(0i64, )",
        limit, R"(, %x, zeros(shape=[0, 2, 3], dtype="float32"))
})"));
    Diagnostics problems;
    ASSERT_THAT(PadToBounds(module, problems), IsOk());
    EXPECT_EQ(problems.num_errors(), 1) << problems.ToString();
    EXPECT_THAT(problems.ToString(),
                HasSubstr(absl::StrCat("values decide how large the results of "
                                       "a loop are: they have no bound (",
                                       reason)));
  }
}

// An empty list of axes means all of them.
TEST(PaddedSizesTest, NamesSumsOfFloats) {
  const IRModule module = Parsed(R"(
def @main(%x: Tensor[(2, 3), float32]) { sum(cast(argwhere(%x), dtype="float32"), axis=[]) })");
  Diagnostics problems;
  ASSERT_THAT(PadToBounds(module, problems), IsOk());
  EXPECT_EQ(problems.num_errors(), 1) << problems.ToString();
  EXPECT_THAT(problems.ToString(),
              HasSubstr("values decide over how many elements it computes"));
}

TEST(PaddedSizesTest, NamesLayoutsThatDoNotBeginWithTheBatch) {
  const IRModule module = Parsed(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = reshape(cast(argwhere(%x), dtype="float32"), newshape=[-1, 2, 1, 1]);
  (nn.max_pool2d(%0, pool_size=[2, 1], strides=[1, 1], padding=[0, 0, 0, 0], layout="HWCN"),
   nn.conv2d(%0, ones(shape=[1, 1, 2, 1], dtype="float32"), padding=[0, 0, 0, 0], channels=1, kernel_size=[2, 1], data_layout="HWCN", kernel_layout="OIHW"),
   image.resize2d(%0, size=[2, 2], roi=[0f, 0f, 0f, 0f], layout="NHWC"))
})");
  Diagnostics problems;
  ASSERT_THAT(PadToBounds(module, problems), IsOk());
  EXPECT_EQ(problems.num_errors(), 2) << problems.ToString();
  EXPECT_THAT(problems.ToString(),
              HasSubstr("its layout does not begin with the batch"));
}

// A module whose inputs have no sizes stays as it is: --dims gives them sizes.
TEST(PaddedSizesTest, LeavesInputsWithoutSizes) {
  const IRModule module = Parsed(R"(
def @main(%x: Tensor[(?, 3), float32]) { @f(%x) }
def @f(%x: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] { exp(%x) })");
  Diagnostics problems;
  const absl::StatusOr<PaddedModule> padded = PadToBounds(module, problems);
  ASSERT_THAT(padded, IsOk());
  EXPECT_FALSE(problems.has_errors()) << problems.ToString();
  EXPECT_EQ(padded->module.Find("main"), module.Find("main"));
}

// A fault that depends on how many elements are found is kept.
TEST(PaddedSizesTest, FailsWhereTheModelFails) {
  for (const char* const result :
       {"reshape(%0, newshape=[-1, 6])", "argmax(%0, axis=[0])",
        "dyn.topk(%1, add(ndarray_size(%0, dtype=\"int64\"), 5i64), k=None, "
        "ret_type=\"values\")",
        "dyn.reshape(%0, concatenate((full(1i64, shape=[1], dtype=\"int64\"), "
        "shape_of(%0, dtype=\"int64\")), axis=0), newshape=[])",
        "dyn.full(1f, subtract(shape_of(%0, dtype=\"int64\"), 2i64), "
        "shape=None, dtype=\"float32\")",
        "dyn.broadcast_to(%1, reshape(ndarray_size(%0, dtype=\"int64\"), "
        "newshape=[1]), shape=None)",
        "take(%0, 2i32, axis=0, mode=\"fast\")",
        "take(%0, 2i32, axis=0, mode=\"clip\")",
        "take(%0, 2i32, axis=0, mode=\"wrap\")"}) {
    SCOPED_TRACE(result);
    const IRModule module = Parsed(absl::StrCat(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = argwhere(%x);
  %1 = reshape(%x, newshape=[6]);
  (%0, )",
                                                result, ")\n}"));
    Diagnostics problems;
    const absl::StatusOr<PaddedModule> padded = PadToBounds(module, problems);
    ASSERT_THAT(padded, IsOk());
    ASSERT_FALSE(problems.has_errors()) << problems.ToString();
    int num_failures = 0;
    for (int count = 0; count <= 6; ++count) {
      std::vector<float> elements(6, 0);
      std::fill_n(elements.begin(), count, 1.0f);
      const Value x = *Tensor::FromValues<float>({2, 3}, elements);
      const bool fails = !relay::EvaluateFunction(module, "main", {x}).ok();
      EXPECT_EQ(!relay::EvaluateFunction(padded->module, "main", {x}).ok(),
                fails)
          << count;
      num_failures += fails ? 1 : 0;
    }
    EXPECT_GT(num_failures, 0);
  }
}

// Results of the model and of the padded one for `inputs`: both fail, or the
// extents and elements are equal.
void ExpectSame(const IRModule& module, const PaddedModule& padded,
                const std::vector<Value>& inputs) {
  const auto want = relay::EvaluateFunction(module, "main", inputs);
  const auto got = relay::EvaluateFunction(padded.module, "main", inputs);
  ASSERT_EQ(got.ok(), want.ok()) << got.status() << want.status();
  if (!want.ok()) return;
  const std::vector<Tensor> expected = relay::TensorsOf(*want);
  const std::vector<Tensor> results = relay::TensorsOf(*got);
  ASSERT_EQ(results.size(), expected.size() + padded.sized_by_values.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(absl::StartsWith(results[i].bytes(), expected[i].bytes()));
  }
  for (size_t k = 0; k < padded.sized_by_values.size(); ++k) {
    const auto shape =
        expected[static_cast<size_t>(padded.sized_by_values[k])].shape();
    const auto extents = results[expected.size() + k].span<int64_t>();
    EXPECT_EQ(std::vector<int64_t>(shape.begin(), shape.end()),
              std::vector<int64_t>(extents.begin(), extents.end()));
  }
}

// A result of one or two int64 numbers.
struct NumberCase {
  const char* result;
  std::vector<int64_t> numbers;
  bool fails_for_some = false;
};

// Sizes are computed of `%n`, a number.
TEST(PaddedSizesTest, ComputesSizesOfNumbers) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (
      const NumberCase& test : std::vector<NumberCase>{
          // Not all numbers of uint64 are those of int64.
          {R"(dyn.full(2.5f, minimum(cast(cast(%n, dtype="uint64"), dtype="int64"), full(9i64, shape=[1], dtype="int64")), shape=None, dtype="float32"))",
           {kLeast, -1, 0, 5, 12},
           true},
          {R"(dyn.full(2.5f, floor_mod(cast(%n, dtype="int64"), full(7i64, shape=[1], dtype="int64")), shape=None, dtype="float32"))",
           {-1, 0, 5, 12}},
          // `full` changes numbers.
          {R"(dyn.full(2.5f, cast(full(take(%n, 0i64, axis=0), shape=[1], dtype="int8"), dtype="int64"), shape=None, dtype="float32"))",
           {300, 44, 0, 200},
           true},
          {R"(dyn.zeros(full(take(%n, 0i64, axis=0), shape=[1], dtype="int8"), shape=None, dtype="float32"))",
           {300, 44, 0, 200},
           true},
          // The extent of the axis itself, or the number of elements.
          {R"(dyn.reshape(%0, concatenate((multiply(floor_mod(%n, full(3i64, shape=[1], dtype="int64")), strided_slice(%1, begin=[0], end=[1], strides=[1], axes=None)), full(2i64, shape=[1], dtype="int64")), axis=0), newshape=[]))",
           {0, 1, 2},
           true},
          {R"(dyn.reshape(%0, concatenate((multiply(floor_mod(%n, full(3i64, shape=[1], dtype="int64")), strided_slice(%1, begin=[0], end=[1], strides=[1], axes=None)), full(1i64, shape=[1], dtype="int64")), axis=0), newshape=[]))",
           {0, 1, 2},
           true},
          {R"(dyn.reshape(expand_dims(take(%0, 1i32, axis=1), axis=0), multiply(floor_mod(%n, full(2i64, shape=[1], dtype="int64")), strided_slice(%1, begin=[0], end=[1], strides=[1], axes=None)), newshape=[]))",
           {0, 1},
           true},
          {R"(dyn.reshape(%0, concatenate((full(0i64, shape=[1], dtype="int64"), full(1i64, shape=[1], dtype="int64")), axis=0), newshape=[]))",
           {0},
           true},
      }) {
    SCOPED_TRACE(test.result);
    const IRModule module = Parsed(absl::StrCat(R"(
def @main(%x: Tensor[(2, 3), float32], %n: Tensor[(1), int64]) {
  %0 = argwhere(%x);
  %1 = shape_of(%0, dtype="int64");
  (%0, )",
                                                test.result, ")\n}"));
    Diagnostics problems;
    const absl::StatusOr<PaddedModule> padded = PadToBounds(module, problems);
    ASSERT_THAT(padded, IsOk());
    EXPECT_FALSE(problems.has_errors()) << problems.ToString();
    if (problems.has_errors()) continue;
    bool some_fail = false;
    for (const int64_t number : test.numbers) {
      for (int count = 0; count <= 6; ++count) {
        SCOPED_TRACE(absl::StrCat(number, ", ", count, " elements"));
        std::vector<float> elements(6, 0);
        std::fill_n(elements.begin(), count, 1.0f);
        const std::vector<Value> inputs = {
            *Tensor::FromValues<float>({2, 3}, elements),
            *Tensor::FromValues<int64_t>({1}, {number})};
        ExpectSame(module, *padded, inputs);
        some_fail |= !relay::EvaluateFunction(module, "main", inputs).ok();
      }
    }
    EXPECT_EQ(some_fail, test.fails_for_some);
  }
}

// Results that are not sure to have a bound, and what a rule does not compute.
TEST(PaddedSizesTest, RefusesWhatMayHaveNoBound) {
  for (
      const auto& [result, reason] :
      std::vector<std::pair<const char*, const char*>>{
          {R"(dyn.full(2.5f, cast(floor_divide(cast(%n, dtype="uint64"), cast(full(1099511627776i64, shape=[1], dtype="int64"), dtype="uint64")), dtype="int64"), shape=None, dtype="float32"))",
           "it may have more than"},
          {R"(arange(cast(%m, dtype="uint64"), cast(floor_mod(%m, 9i64), dtype="uint64"), cast(1i64, dtype="uint64"), start=0f, stop=0f, step=1f, dtype="uint64"))",
           "its numbers may be out of range of int64"},
          // int64 does not hold the difference.
          {R"(arange(%m, negative(%m), 4611686018427387904i64, start=0f, stop=0f, step=1f, dtype="int64"))",
           "may be far apart"},
          {R"(arange(9i64, floor_mod(%m, 9i64), -9223372036854775808i64, start=0f, stop=0f, step=1f, dtype="int64"))",
           "its step"},
          // An axis of size 1 that may have none is one of the operand.
          {R"(dyn.broadcast_to(zeros(shape=[1, 16777216], dtype="int8"), concatenate((floor_mod(%n, full(256i64, shape=[1], dtype="int64")), floor_mod(%n, full(2i64, shape=[1], dtype="int64"))), axis=0), shape=None))",
           "it may have more than"},
          {R"(dyn.reshape(argwhere(%x), concatenate((full(0i64, shape=[1], dtype="int64"), full(2i64, shape=[1], dtype="int64")), axis=0), newshape=[], allowzero=True))",
           "its result has no elements"},
          // 2^66 elements and a few.
          {R"(dyn.reshape(argwhere(%x), concatenate((full(7i64, shape=[1], dtype="int64"), full(7905747460161236407i64, shape=[1], dtype="int64"), shape_of(argwhere(%x), dtype="int64")), axis=0), newshape=[]))",
           "it may have more"},
      }) {
    SCOPED_TRACE(result);
    const IRModule module = Parsed(absl::StrCat(R"(
def @main(%x: Tensor[(2, 3), float32], %n: Tensor[(1), int64], %m: int64) {
  )",
                                                result, "\n}"));
    Diagnostics problems;
    ASSERT_THAT(PadToBounds(module, problems), IsOk());
    EXPECT_EQ(problems.num_errors(), 1) << problems.ToString();
    EXPECT_THAT(problems.ToString(), HasSubstr(reason));
  }
}

TEST(PaddedSizesTest, NamesWhatIsInFunctions) {
  const IRModule module = Parsed(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  let %f = fn (%y: Tensor[(2, 3), float32]) { sum(argwhere(%y)) };
  (argwhere(%x), %f(%x), @count(%x))
}
def @count(%x: Tensor[(2, 3), float32]) -> int32 { sum(argwhere(%x), axis=[0, 1]) })");
  Diagnostics problems;
  ASSERT_THAT(PadToBounds(module, problems), IsOk());
  EXPECT_EQ(problems.num_errors(), 2) << problems.ToString();
  EXPECT_THAT(problems.ToString(), HasSubstr("in a function that is called"));
}

}  // namespace
}  // namespace baton::cpu
