#include "baton/relay/transform/capture_post_dfs_index_in_spans.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

// The places in @main after the pass, by number; empty where an operator is.
std::vector<std::string> Places(absl::string_view text) {
  const IRModule module =
      RunChecked(CapturePostDfsIndexInSpans(), ParseTyped(text));
  std::vector<std::string> places;
  PostOrderVisit(module.Find("main"), [&](const ExprNode* node) {
    const Span& span = node->span();
    if (!span.defined() || span->source().name() != "index") return;
    const size_t line =
        static_cast<size_t>(span->source().PositionOf(span->begin()).line);
    if (places.size() <= line) places.resize(line + 1);
    places[line] = span->source().text().substr(span->begin(),
                                                span->end() - span->begin());
  });
  return places;
}

// The numbers are those of the reference's test of the pass.
TEST(CapturePostDfsIndexInSpansTest, NumbersCalleesBeforeArguments) {
  EXPECT_THAT(
      Places(R"(
    def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {
      %0 = nn.dense(%x, %y, units=2);
      %1 = fn (%a: Tensor[(2, 3), float32], %b: Tensor[(2, 3), float32],
               Primitive=1) {
        %2 = fn (%c: Tensor[(2, 3), float32], %d: Tensor[(2, 3), float32]) {
          multiply(%c, %d)
        };
        %2(%a, %b)
      };
      (add(%0, 1f), %1(%y, %x))
    })"),
      ::testing::ElementsAre(
          "index:0:17", "index:1:17", "", "", "index:4:6", "index:5:6",
          "index:6:17", "index:7:14", "index:8:14", "index:9:12", "index:10:12",
          "", "index:12:13", "index:13:14", "index:14:15", "index:15:16",
          "index:16:17", "index:17:18", "index:18:-1"));
}

// A value is before the variable that it flows into. What is not used flows
// nowhere.
TEST(CapturePostDfsIndexInSpansTest, Lets) {
  EXPECT_THAT(Places(R"(
    def @main(%x: int32, %y: int32) {
      let %a = negative(%x);
      let %b = add(%a, %a);
      subtract(%b, %a)
    })"),
              ::testing::ElementsAre("index:0:3", "index:1:-1", "", "index:3:4",
                                     "index:4:9", "", "index:6:7", "index:7:9",
                                     "", "index:9:10", "index:10:11",
                                     "index:11:12", "index:12:-1"));
}

// A call of a function in its own definition does not use the definition.
TEST(CapturePostDfsIndexInSpansTest, Recursion) {
  EXPECT_THAT(Places(R"(
    def @main(%x: int32) {
      let %f = fn (%n: int32) -> int32 {
        if (equal(%n, 0)) { %n } else { %f(%n) }
      };
      %f(%x)
    })"),
              ::testing::ElementsAre("index:0:9", "index:1:6", "", "index:3:4",
                                     "index:4:6", "index:5:6", "index:6:7",
                                     "index:7:8", "index:8:9", "index:9:10",
                                     "index:10:11", "index:11:-1"));
}

}  // namespace
}  // namespace baton::relay
