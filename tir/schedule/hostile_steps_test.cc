// Long schedules, and steps with numbers that fit nothing: errors with places.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;

// A chain of two blocks in two loops of an extent.
std::string Chain(absl::string_view extent) {
  return absl::StrReplaceAll(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    T.func_attr({"global_symbol": "main"})
    # with T.block("root"):
    B = T.alloc_buffer((8, 8))
    for i, j in T.grid(N, N):
        with T.block("B"):
            vi = T.axis.spatial(8, i % 8)
            vj = T.axis.spatial(8, j % 8)
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(N, N):
        with T.block("C"):
            vi = T.axis.spatial(8, i % 8)
            vj = T.axis.spatial(8, j % 8)
            T.reads(B[vi, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = B[vi, vj] + T.float32(1)
)",
                             {{"N", extent}});
}

PrimFunc Read(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module->functions<PrimFunc>()[0].function;
}

// The error of a step; empty if it is taken.
std::string ErrorOf(const PrimFunc& function, absl::string_view step) {
  const absl::StatusOr<Step> parsed = ParseStep(step);
  if (!parsed.ok()) return std::string(parsed.status().message());
  Schedule schedule(function);
  const absl::Status status = schedule.Apply(*parsed);
  if (status.ok()) return {};
  EXPECT_EQ(schedule.function(), function) << step;
  return std::string(status.message());
}

constexpr absl::string_view kOutside[] = {
    "-1", "99", "2147483648", "-9223372036854775808", "9223372036854775807"};

TEST(HostileStepsTest, IndicesOutOfRangeAreErrors) {
  const PrimFunc function = Read(Chain("8"));
  const absl::string_view steps[] = {
      R"json({"name": "parallel", "loop": {"loop": N, "of": "C"}})json",
      R"json({"name": "parallel", "loop": {"loop": 0, "of": {"block": "C", "index": N}}})json",
      R"json({"name": "fuse", "loops": [{"loop": 0, "of": "C"}, {"loop": N, "of": "C"}]})json",
      R"json({"name": "merge", "loops": [{"loop": 0, "of": "C"}, {"loop": N, "of": "B"}]})json",
      R"json({"name": "reorder", "ordered_loops": [{"loop": N, "of": "C"}, {"loop": 0, "of": "C"}]})json",
      R"json({"name": "cache_read", "block": {"block": "C"}, "read_buffer_index": N, "storage_scope": "global"})json",
      R"json({"name": "cache_write", "block": {"block": "C"}, "write_buffer_index": N, "storage_scope": "global"})json",
      R"json({"name": "cache_inplace", "block": {"block": "C"}, "read_buffer_index": N, "storage_scope": "global"})json",
      R"json({"name": "reindex", "block": {"block": "C"}, "buffer": ["read", N]})json",
      R"json({"name": "reindex_cache_read", "block": {"block": "C"}, "read_buffer_index": N, "storage_scope": "global", "index_map": "lambda i, j: (j, i)"})json",
      R"json({"name": "reindex_cache_write", "block": {"block": "C"}, "write_buffer_index": N, "storage_scope": "global", "index_map": "lambda i, j: (j, i)"
})json",
      R"json({"name": "read_at", "block": {"block": "C"}, "loop": {"loop": 0, "of": "C"}, "read_buffer_index": N, "storage_scope": "global"})json",
      R"json({"name": "write_at", "block": {"block": "C"}, "loop": {"loop": N, "of": "C"}, "write_buffer_index": 0, "storage_scope": "global"})json",
      R"json({"name": "compute_at", "block": {"block": "B"}, "loop": {"loop": N, "of": "C"}, "preserve_unit_loops": true})json",
      R"json({"name": "reverse_compute_at", "block": {"block": "C"}, "loop": {"loop": N, "of": "B"}, "preserve_unit_loops": true})json",
      R"json({"name": "set_scope", "block": {"block": "B"}, "buffer_index": N, "storage_scope": "local"})json",
      R"json({"name": "unsafe_set_dtype", "block": {"block": "B"}, "buffer_index": N, "dtype": "int8"})json",
      R"json({"name": "storage_align", "block": {"block": "B"}, "buffer_index": N, "axis": 0, "factor": 8, "offset": 0})json",
      R"json({"name": "set_axis_separator", "block": {"block": "B"}, "buffer": ["write", N], "axis_separators": [1]})json",
      R"json({"name": "transform_layout", "block": {"block": "B"}, "buffer": ["write", N], "index_map": "lambda i, j: (j, i)"
})json",
      R"json({"name": "reorder_block_iter_var", "block": {"block": "C"}, "new_order": [N, 0]})json",
      R"json({"name": "rolling_buffer", "block": {"block": "B"}, "write_buffer_index": N})json",
      R"json({"name": "rfactor", "loop": {"loop": 0, "of": "C"}, "factor_axis": N})json",
      R"json({"name": "decompose_reduction", "block": {"block": "C"}, "loop": {"loop": N, "of": "C"}})json",
      R"json({"name": "decompose_padding", "block": {"block": "C"}, "loop": {"loop": N, "of": "C"}})json",
      R"json({"name": "blockize", "target": {"loop": N, "of": "C"}})json",
      R"json({"name": "unsafe_hide_buffer_access", "block": "C", "buf_type": "read", "buf_index_array": [N]})json",
  };
  for (const absl::string_view step : steps) {
    for (const absl::string_view number : kOutside) {
      const std::string text = absl::StrReplaceAll(step, {{"N", number}});
      EXPECT_NE(ErrorOf(function, text), "") << text;
    }
  }
}

TEST(HostileStepsTest, FactorsThatOverflowAreErrors) {
  const PrimFunc function = Read(Chain("8"));
  const auto split = [&](absl::string_view factors) {
    return ErrorOf(function,
                   absl::StrCat("{\"name\": \"split\", \"loop\": {\"loop\": 0, "
                                "\"of\": \"C\"}, \"factors\": [",
                                factors, "]}"));
  };
  EXPECT_THAT(split("0, 8"), HasSubstr("factors must be positive"));
  EXPECT_THAT(split("-8, -1"), HasSubstr("factors must be positive"));
  for (const absl::string_view factors :
       {"100000, 100000", "null, 65536, 65536", "4294967297, 8",
        "null, 4503599627370496", "4503599627370496, 2",
        "4294967296, 4294967296", "null, 2147483647",
        "65536, 65536, 65536, 65536, 65536", "null, 4611686018427387904",
        "9223372036854775807, 2", "9223372036854775807, null"}) {
    EXPECT_THAT(split(factors), HasSubstr(":13:5: error")) << factors;
    EXPECT_THAT(split(factors), HasSubstr("overflow")) << factors;
  }
}

TEST(HostileStepsTest, PaddingThatOverflowsIsAnError) {
  const PrimFunc function = Read(R"(@T.prim_func
def main(A: T.Buffer((2147483646,), "float32"), B: T.Buffer((2147483646,), "float32")):
    for i in range(2147483646):
        with T.block("B"):
            vi = T.axis.spatial(2147483646, i)
            B[vi] = A[vi]
)");
  const auto pad = [&](absl::string_view padding) {
    return ErrorOf(
        function,
        absl::StrCat(R"({"name": "pad_einsum", "block": "B", "padding": [)",
                     padding, "]}"));
  };
  EXPECT_THAT(pad("1073741824"), HasSubstr("overflows int32"));
  EXPECT_THAT(pad("4611686018427387905"), HasSubstr("too large"));
  EXPECT_THAT(
      ErrorOf(
          function,
          R"({"name": "set_axis_separator", "block": "B", "buffer": "B", "axis_separators": [4611686018427387905]})"),
      HasSubstr("too large"));
}

TEST(HostileStepsTest, ExtentsThatOverflowAreErrors) {
  for (const absl::string_view extent :
       {"2147483647", "T.int64(4611686018427387904)",
        "T.int64(9223372036854775807)"}) {
    const PrimFunc function = Read(Chain(extent));
    EXPECT_THAT(
        ErrorOf(
            function,
            R"json({"name": "fuse", "loops": [{"loop": 0, "of": "C"}, {"loop": 1, "of": "C"}]})json"),
        HasSubstr("overflow"))
        << extent;
    EXPECT_THAT(
        ErrorOf(
            function,
            R"json({"name": "split", "loop": {"loop": 0, "of": "C"}, "factors": [2, 2]})json"),
        HasSubstr("not provably as large"))
        << extent;
  }
}

// Whatever the extents, steps end, with an error or a result.
TEST(HostileStepsTest, StepsEndForAllExtents) {
  const absl::string_view steps[] = {
      R"json({"name": "split", "loop": {"loop": 0, "of": "C"}, "factors": [null, 4]})json",
      R"json({"name": "fuse", "loops": [{"loop": 0, "of": "C"}, {"loop": 1, "of": "C"}]})json",
      R"json({"name": "reorder", "ordered_loops": [{"loop": 1, "of": "C"}, {"loop": 0, "of": "C"}]})json",
      R"json({"name": "merge", "loops": [{"loop": 0, "of": "B"}, {"loop": 0, "of": "C"}]})json",
      R"json({"name": "blockize", "target": {"loop": 1, "of": "C"}})json",
      R"json({"name": "compute_at", "block": {"block": "B"}, "loop": {"loop": 0, "of": "C"}, "preserve_unit_loops": true})json",
      R"json({"name": "reverse_compute_at", "block": {"block": "C"}, "loop": {"loop": 0, "of": "B"}, "preserve_unit_loops": true})json",
      R"json({"name": "compute_inline", "block": {"block": "B"}})json",
      R"json({"name": "reverse_compute_inline", "block": {"block": "C"}})json",
      R"json({"name": "cache_read", "block": {"block": "C"}, "read_buffer_index": 0, "storage_scope": "global"})json",
      R"json({"name": "cache_write", "block": {"block": "C"}, "write_buffer_index": 0, "storage_scope": "global"})json",
      R"json({"name": "cache_index", "block": {"block": "C"}, "storage_scope": "global", "cse_thresh": 0})json",
      R"json({"name": "reindex", "block": {"block": "C"}, "buffer": ["read", 0]})json",
      R"json({"name": "read_at", "block": {"block": "C"}, "loop": {"loop": 0, "of": "C"}, "read_buffer_index": 0, "storage_scope": "global"})json",
      R"json({"name": "write_at", "block": {"block": "C"}, "loop": {"loop": 0, "of": "C"}, "write_buffer_index": 0, "storage_scope": "global"})json",
      R"json({"name": "pad_einsum", "block": {"block": "C"}, "padding": [9223372036854775807, 9223372036854775807]})json",
      R"json({"name": "transform_block_layout", "block": {"block": "C"}, "index_map": "lambda i, j: (i * 4611686018427387904 + j,)"})json",
      R"json({"name": "transform_layout", "block": {"block": "B"}, "buffer": ["write", 0], "index_map": "lambda i, j: (i * 4611686018427387904 + j,)"})json",
      R"json({"name": "storage_align", "block": {"block": "B"}, "buffer_index": 0, "axis": 0, "factor": 9223372036854775807, "offset": -9223372036854775808})json",
      R"json({"name": "vectorize", "loop": {"loop": 1, "of": "C"}})json",
      R"json({"name": "unroll", "loop": {"loop": 1, "of": "C"}})json",
  };
  for (const absl::string_view extent :
       {"0", "1", "2147483647", "T.int64(4611686018427387904)",
        "T.int64(9223372036854775807)"}) {
    const PrimFunc function = Read(Chain(extent));
    for (const absl::string_view step : steps) {
      const std::string error = ErrorOf(function, step);
      const absl::StatusOr<IRModule> module =
          [&]() -> absl::StatusOr<IRModule> {
        Schedule schedule(function);
        const absl::Status status = schedule.Apply(ParseStep(step).value());
        if (!status.ok()) return status;
        IRModule result;
        result.Set("main", schedule.function());
        return ParseModule(AsText(result));
      }();
      EXPECT_EQ(module.ok(), error.empty()) << step << module.status();
    }
  }
}

TEST(HostileStepsTest, TakesTenThousandSteps) {
  Schedule schedule(Read(Chain("8")));
  const Step annotate =
      ParseStep(
          R"json({"name": "annotate", "block_or_loop": {"block": "C"}, "ann_key": "k", "ann_val": 1})json")
          .value();
  const Step unannotate =
      ParseStep(
          R"json({"name": "unannotate", "block_or_loop": {"block": "C"}, "ann_key": "k"})json")
          .value();
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(schedule.Apply(annotate).ok()) << i;
    ASSERT_TRUE(schedule.Apply(unannotate).ok()) << i;
  }
  EXPECT_EQ(schedule.trace().size(), 10'000);
  Schedule again(Read(Chain("8")));
  const absl::StatusOr<std::vector<Step>> steps =
      ParseSteps(schedule.TraceText());
  ASSERT_TRUE(steps.ok()) << steps.status();
  for (const Step& step : *steps) ASSERT_TRUE(again.Apply(step).ok());
  IRModule a;
  IRModule b;
  a.Set("main", schedule.function());
  b.Set("main", again.function());
  EXPECT_EQ(AsText(a), AsText(b));
}

// Loops in loops, a thousand of them.
TEST(HostileStepsTest, NestsDeeply) {
  Schedule schedule(Read(Chain("8")));
  const Step add =
      ParseStep(
          R"json({"name": "add_unit_loop", "block_or_loop": {"block": "C"}})json")
          .value();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(schedule.Apply(add).ok()) << i;
  EXPECT_EQ(
      ErrorOf(
          schedule.function(),
          R"json({"name": "unroll", "loop": {"loop": 1001, "of": "C"}})json"),
      "");
  EXPECT_THAT(
      ErrorOf(
          schedule.function(),
          R"json({"name": "unroll", "loop": {"loop": 1002, "of": "C"}})json"),
      HasSubstr("1002"));
}

}  // namespace
}  // namespace baton::tir
