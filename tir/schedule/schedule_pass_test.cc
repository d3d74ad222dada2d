#include "baton/tir/schedule/schedule_pass.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::string_view kFunction = R"(@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("A"):
            vi = T.axis.spatial(16, i)
            A[vi] = T.float32(1)
)";
constexpr char kSplit[] =
    R"({"factors": [4, 4], "loop": {"loop": 0, "of": "A"}, "name": "split"})";
constexpr char kUnroll[] =
    R"({"loop": {"loop": 1, "of": "A"}, "name": "unroll"})";
constexpr char kNoLoop[] =
    R"({"loop": {"loop": 7, "of": "A"}, "name": "unroll"})";

IRModule Module() { return ParseModule(kFunction).value(); }

// Notes the passes that run, and the text of each.
class Names : public PassInstrument {
 public:
  Names() : PassInstrument("names") {}
  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& execution) override {
    names.push_back(execution.info().name);
    texts.push_back(execution.pass().ToString().value());
    return absl::OkStatus();
  }
  std::vector<std::string> names;
  std::vector<std::string> texts;
};

TEST(SchedulePassTest, StepsAreExecutions) {
  const auto names = std::make_shared<Names>();
  const Pass schedule = SchedulePass({.steps = {kSplit, kUnroll}});
  const PassContext context({.instruments = {names}});
  const absl::StatusOr<IRModule> after =
      context.Run([&] { return schedule(Module()); });
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_THAT(AsText(*after), HasSubstr("for i_1 in T.unroll(4)"));
  EXPECT_THAT(names->names, ElementsAre("tir.Schedule", "tir.Schedule.split",
                                        "tir.Schedule.unroll"));
  // The text of an execution runs it again.
  const Pass split = ParsePipeline(names->texts[1]).value();
  const Pass unroll = ParsePipeline(names->texts[2]).value();
  EXPECT_EQ(AsText(unroll(split(Module()).value()).value()), AsText(*after));
}

TEST(SchedulePassTest, ErrorsNameTheStep) {
  const absl::Status status =
      SchedulePass({.steps = {kSplit, kNoLoop}})(Module()).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("tir.Schedule.unroll:"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("there is no loop 7: block A has 2 loops around it"));
  EXPECT_THAT(
      std::string(SchedulePass({.steps = {"{"}})(Module()).status().message()),
      HasSubstr("a step is no JSON"));
  EXPECT_EQ(ParsePipeline("tir.Schedule.fuse{steps=[]}").ok(), false);
}

TEST(SchedulePassTest, NoStepsChangeNothing) {
  const IRModule module = Module();
  EXPECT_TRUE(SchedulePass({})(module).value().SameAs(module));
}

}  // namespace
}  // namespace baton::tir
