#include "baton/backend/cpu/rearrangement.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/graph.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/testing/parse_typed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

using ::testing::ElementsAre;

Graph GraphOf(absl::string_view body) {
  const IRModule module = testing::ParseTyped(
      absl::StrCat("#[version = \"0.0.5\"]\ndef @main", body));
  absl::StatusOr<Graph> graph = BuildGraph(module, "main");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

// The rules of common operators give what their kernels give.
void ExpectAsTheKernel(absl::string_view body) {
  SCOPED_TRACE(body);
  const Graph graph = GraphOf(body);
  ASSERT_FALSE(graph.nodes.empty());
  for (const GraphNode& node : graph.nodes) {
    const auto got = RearrangementsOf(node, graph);
    const auto want = RearrangementsByKernel(node, graph);
    ASSERT_EQ(got.has_value(), want.has_value()) << node.op_name();
    if (!got.has_value()) continue;
    ASSERT_EQ(got->size(), want->size());
    for (size_t i = 0; i < got->size(); ++i) {
      EXPECT_EQ((*got)[i].base, (*want)[i].base);
      EXPECT_EQ((*got)[i].dims, (*want)[i].dims);
      EXPECT_EQ((*got)[i].strides, (*want)[i].strides);
    }
  }
}

TEST(RearrangementTest, OfCommonOperators) {
  for (const char* body : {
           "(%x: Tensor[(2, 3, 5), int8]) { transpose(%x, axes=None) }",
           "(%x: Tensor[(2, 3, 5), bool]) { transpose(%x, axes=[1, 2, 0]) }",
           "(%x: Tensor[(1, 3, 5), int64]) { transpose(%x, axes=[-1, 0, 1]) }",
           "(%x: Tensor[(4, 1, 6), float32]) { transpose(%x, axes=[1, 0, 2]) }",
           "(%x: Tensor[(7), float32]) { transpose(%x, axes=[0]) }",
           "(%x: Tensor[(6, 4), float32]) { split(%x, "
           "indices_or_sections=3) }",
           "(%x: Tensor[(6, 4), float32]) { split(%x, "
           "indices_or_sections=[1, 3], axis=-1) }",
           "(%x: Tensor[(6, 4), float32]) { split(%x, "
           "indices_or_sections=[2, 4]) }",
           "(%x: Tensor[(3, 1), float32]) { broadcast_to(%x, "
           "shape=[2, 3, 4]) }",
           "(%x: Tensor[(1), float32]) { broadcast_to(%x, shape=[5]) }",
           "(%x: Tensor[(3, 2), float32]) { broadcast_to(%x, shape=[3, 2]) }",
           "(%x: Tensor[(3, 2), float32]) { repeat(%x, repeats=2, axis=1) }",
           "(%x: Tensor[(3, 2), float32]) { tile(%x, reps=[2, 1]) }",
           "(%x: Tensor[(3, 2), float32]) { tile(%x, reps=[1, 1]) }",
           "(%x: Tensor[(3, 1), float32]) { tile(%x, reps=[4]) }",
           "(%x: Tensor[(3, 1), float32]) { tile(%x, reps=[2, 1, 4]) }",
           "(%x: Tensor[(3, 2), float32]) { tile(%x, reps=[2, 1, 1]) }",
           "(%x: Tensor[(3, 1), float32]) { repeat(%x, repeats=3, axis=-1) }",
           "(%x: Tensor[(3, 1), float32]) { repeat(%x, repeats=3, axis=0) }",
           "(%x: Tensor[(3, 2), float32]) { repeat(%x, repeats=1, axis=0) }",
           "(%x: Tensor[(3, 2), float32]) { reverse(%x, axis=0) }",
           "(%x: Tensor[(3, 2, 4), float32]) { reverse(%x, axis=-2) }",
           "(%x: Tensor[(3, 1, 4), float32]) { reverse(%x, axis=1) }",
           "(%x: Tensor[(3, 0), float32]) { transpose(%x, axes=[1, 0]) }",
           "(%x: Tensor[(3, 2), float32]) { tanh(%x) }",
       }) {
    ExpectAsTheKernel(body);
  }
}

TEST(RearrangementTest, OfSlices) {
  std::mt19937 random(5);
  const auto number = [&random](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 100; ++i) {
    const int64_t shape[] = {number(1, 5), number(1, 7), number(1, 9)};
    std::vector<int64_t> begin, end, strides;
    for (const int64_t extent : shape) {
      int64_t stride = number(1, 3);
      if (number(0, 19) == 0) stride = int64_t{1} << 62;
      const int64_t first = number(0, extent - 1);
      const int64_t last = number(first, extent - 1);
      const bool is_reversed = number(0, 2) == 0;
      strides.push_back(is_reversed ? -stride : stride);
      begin.push_back(is_reversed ? last : first);
      // Before the first element.
      end.push_back(!is_reversed ? last + 1
                    : first == 0 ? -extent - 1
                                 : first - 1);
    }
    ExpectAsTheKernel(absl::StrCat(
        "(%x: Tensor[(", absl::StrJoin(shape, ", "),
        "), float32]) { strided_slice(%x, begin=[", absl::StrJoin(begin, ", "),
        "], end=[", absl::StrJoin(end, ", "), "], strides=[",
        absl::StrJoin(strides, ", "), "], axes=[0, 1, 2]) }"));
  }
  ExpectAsTheKernel(
      "(%x: Tensor[(4, 6), float32]) { strided_slice(%x, begin=[1], end=[-1], "
      "strides=[1], axes=[1]) }");
  ExpectAsTheKernel(
      "(%x: Tensor[(4, 6), float32]) { strided_slice(%x, begin=[1, 2], "
      "end=[2, -1], strides=[1, 1], axes=[0, 1], slice_mode=\"size\") }");
}

// A call that no typed program has: its begin would be outside of the argument.
TEST(RearrangementTest, NoneOfASliceOfRepeatedAxes) {
  Graph graph = GraphOf(
      "(%x: Tensor[(8, 4), float32]) { strided_slice(%x, begin=[5], end=[6], "
      "strides=[1], axes=[0]) }");
  ASSERT_EQ(graph.nodes.size(), 1);
  GraphNode& node = graph.nodes[0];
  ASSERT_TRUE(RearrangementsOf(node, graph).has_value());
  using Ints = std::vector<int64_t>;
  for (const Ints& axes : {Ints{0, 0}, Ints{0, -2}}) {
    relay::StridedSliceAttrs attrs{.begin = Ints{5, 5},
                                   .end = Ints{6, 6},
                                   .strides = Ints{1, 1},
                                   .axes = axes};
    node.call =
        relay::Call(node.call->op(), node.call->args(),
                    Attrs::Make(std::move(attrs)), {}, node.call->type());
    EXPECT_FALSE(RearrangementsOf(node, graph).has_value());
    EXPECT_FALSE(RearrangementsByKernel(node, graph).has_value());
  }
}

TEST(RearrangementTest, NeedsNoMemoryForLargeTensors) {
  // A kernel would fill gigabytes.
  const Graph graph = GraphOf(
      "(%x: Tensor[(2, 1000, 1000000), int8]) { transpose(%x, "
      "axes=[1, 0, 2]) }");
  const auto found = RearrangementsOf(graph.nodes[0], graph);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT((*found)[0].dims, ElementsAre(1000, 2, 1000000));
  EXPECT_THAT((*found)[0].strides, ElementsAre(1000000, 1000000000, 1));
}

}  // namespace
}  // namespace baton::cpu
