#include "baton/instrument/timing.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/ir/node_memory.h"
#include "baton/ir/type.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The profiles of the tutorial on pass instruments, with its very numbers.
class TimingTest : public ::testing::Test {
 protected:
  // A pass that takes so many microseconds, then runs what is inside it.
  Pass Work(std::string name, int64_t microseconds,
            std::vector<Pass> inside = {}) {
    return CreateModulePass(
        [this, microseconds, inside = std::move(inside)](
            IRModule module,
            const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
          now_ += microseconds * 1000;
          for (const Pass& pass : inside) {
            BATON_ASSIGN_OR_RETURN(module, pass(std::move(module)));
          }
          return module;
        },
        {.name = std::move(name)});
  }

  int64_t now_ = 123456789;
  std::ostringstream warnings_;
  const std::shared_ptr<PassTimingInstrument> timing_ =
      std::make_shared<PassTimingInstrument>(PassTimingInstrument::Options{
          .clock = [this] { return now_; }, .warnings = &warnings_});
};

TEST_F(TimingTest, Tutorial) {
  const IRModule module = toy::Module();
  const Pass infer_type = Work("InferType", 7168);
  const Pass fold_scale_axis =
      Work("FoldScaleAxis", 7,
           {Work("FoldConstant", 1701, {Work("InferType", 6534)})});
  std::string profile;
  ASSERT_TRUE(PassContext({.instruments = {timing_}})
                  .Run([&]() -> absl::Status {
                    BATON_RETURN_IF_ERROR(infer_type(module).status());
                    BATON_RETURN_IF_ERROR(fold_scale_axis(module).status());
                    BATON_ASSIGN_OR_RETURN(profile, timing_->Render());
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(profile,
            "InferType: 7168us [7168us] (46.52%; 46.52%)\n"
            "FoldScaleAxis: 8242us [7us] (53.48%; 53.48%)\n"
            "\tFoldConstant: 8235us [1701us] (53.44%; 99.92%)\n"
            "\t\tInferType: 6534us [6534us] (42.40%; 79.34%)\n");
  EXPECT_EQ(warnings_.str(), "");

  // Leaving the context cleared the profiles.
  EXPECT_EQ(timing_->Render().value(), "");
  EXPECT_EQ(warnings_.str(),
            "Warning: no passes have been profiled, did you enable pass "
            "profiling?\n");
}

TEST_F(TimingTest, DefaultContextClearsWhenOverridden) {
  const PassContext current = PassContext::Current();
  ASSERT_TRUE(current.OverrideInstruments({timing_}).ok());
  ASSERT_TRUE(Work("A", 1)(toy::Module()).ok());
  ASSERT_TRUE(Work("B", 3)(toy::Module()).ok());
  EXPECT_EQ(timing_->Render().value(),
            "A: 1us [1us] (25.00%; 25.00%)\n"
            "B: 3us [3us] (75.00%; 75.00%)\n");
  ASSERT_TRUE(current.OverrideInstruments({}).ok());
  EXPECT_EQ(timing_->Render().value(), "");
}

TEST_F(TimingTest, NoTimeAtAll) {
  ASSERT_TRUE(PassContext({.instruments = {timing_}})
                  .Run([&]() -> absl::Status {
                    BATON_RETURN_IF_ERROR(Work("A", 0)(toy::Module()).status());
                    EXPECT_EQ(timing_->Render().value(),
                              "A: 0us [0us] (0.00%; 0.00%)\n");
                    return absl::OkStatus();
                  })
                  .ok());
}

TEST_F(TimingTest, RenderInsideAPassIsAnError) {
  const Pass rude = CreateModulePass(
      [this](const IRModule& /*module*/, const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> { return timing_->Render().status(); },
      {.name = "Rude"});
  const absl::Status status = PassContext({.instruments = {timing_}}).Run([&] {
    return rude(toy::Module()).status();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot be read while a pass is running: Rude"));
}

// A report that cannot be made is an error of the run, not a text.
TEST_F(TimingTest, ReportInsideAPassIsAnError) {
  InstrumentReport report;
  const Pass rude = CreateModulePass(
      [&report](const IRModule& /*module*/, const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> { return report().status(); },
      {.name = "Rude"});
  for (const char* format : {"text", "json", "sums", "trace"}) {
    PassInstruments instruments;
    ASSERT_TRUE(AddInstruments({InstrumentPhase::kTime},
                               {{"timing", std::string(format)}},
                               {.pipeline = rude,
                                .in_report =
                                    [&report](InstrumentReport lines) {
                                      report = std::move(lines);
                                    }},
                               instruments)
                    .ok());
    const absl::Status status =
        PassContext({.instruments = instruments}).Run([&] {
          return rude(toy::Module()).status();
        });
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << format;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("cannot be read while a pass is running: Rude"));
  }
}

TEST_F(TimingTest, FailedPassesAreProfiledToo) {
  const Pass pass = Work("Outer", 2, {Work("Fine", 1), toy::Fails()});
  ASSERT_TRUE(PassContext({.instruments = {timing_}})
                  .Run([&]() -> absl::Status {
                    EXPECT_FALSE(pass(toy::Module()).ok());
                    BATON_ASSIGN_OR_RETURN(
                        const std::vector<PassProfile> profiles,
                        timing_->Profiles());
                    EXPECT_EQ(profiles.size(), 1);
                    EXPECT_TRUE(profiles[0].failed);
                    EXPECT_EQ(profiles[0].total, 3000);
                    EXPECT_EQ(profiles[0].self, 2000);
                    EXPECT_EQ(profiles[0].children.size(), 2);
                    EXPECT_FALSE(profiles[0].children[0].failed);
                    EXPECT_TRUE(profiles[0].children[1].failed);
                    return absl::OkStatus();
                  })
                  .ok());
}

TEST_F(TimingTest, Json) {
  const Pass odd = Work("a \"b\"\\\n", 2);
  ASSERT_TRUE(
      PassContext({.instruments = {timing_}})
          .Run([&]() -> absl::Status {
            EXPECT_EQ(timing_->RenderJson().value(),
                      "{\"version\":1,\"passes\":[]}\n");
            BATON_RETURN_IF_ERROR(
                Work("Outer", 1, {toy::AToB(), odd})(toy::Module()).status());
            BATON_RETURN_IF_ERROR(toy::InferType()(toy::Module()).status());
            EXPECT_EQ(
                timing_->RenderJson().value(),
                "{\"version\":1,\"passes\":["
                "{\"name\":\"Outer\",\"number\":1,\"depth\":0,"
                "\"total_us\":3.000,\"self_us\":1.000,\"changed\":true,"
                "\"children\":["
                "{\"name\":\"AToB\",\"number\":2,\"depth\":1,"
                "\"total_us\":0.000,\"self_us\":0.000,\"changed\":true,"
                "\"children\":["
                "{\"name\":\"InferType\",\"number\":3,\"depth\":2,"
                "\"total_us\":0.000,\"self_us\":0.000,\"changed\":true,"
                "\"children\":[]}]},"
                "{\"name\":\"a \\\"b\\\"\\\\\\u000a\",\"number\":4,\"depth\":1,"
                "\"total_us\":2.000,\"self_us\":2.000,\"changed\":false,"
                "\"children\":[]}]},"
                "{\"name\":\"InferType\",\"number\":5,\"depth\":0,"
                "\"total_us\":0.000,\"self_us\":0.000,\"changed\":false,"
                "\"children\":[]}]}\n");
            return absl::OkStatus();
          })
          .ok());
}

TEST_F(TimingTest, InTwoContextsAtOnce) {
  const Pass outer = CreateModulePass(
      [this](const IRModule& module, const PassContext& /*context*/) {
        return PassContext({.instruments = {timing_}}).Run([&] {
          return Work("Inner", 1)(module);
        });
      },
      {.name = "Outer"});
  ASSERT_TRUE(PassContext({.instruments = {timing_}})
                  .Run([&]() -> absl::Status {
                    BATON_RETURN_IF_ERROR(outer(toy::Module()).status());
                    EXPECT_EQ(timing_->Render().value(),
                              "Outer: 1us [0us] (100.00%; 100.00%)\n"
                              "\tInner: 1us [1us] (100.00%; 100.00%)\n");
                    return absl::OkStatus();
                  })
                  .ok());
}

TEST(TimingClockTest, TheRealClockGoesForward) {
  const auto timing = std::make_shared<PassTimingInstrument>();
  ASSERT_TRUE(PassContext({.instruments = {timing}})
                  .Run([&]() -> absl::Status {
                    BATON_RETURN_IF_ERROR(toy::AToB()(toy::Module()).status());
                    BATON_ASSIGN_OR_RETURN(
                        const std::vector<PassProfile> profiles,
                        timing->Profiles());
                    EXPECT_GT(profiles[0].total, 0);
                    EXPECT_GE(profiles[0].self, 0);
                    return absl::OkStatus();
                  })
                  .ok());
}

// Takes so many microseconds in each hook.
class SlowInstrument final : public PassInstrument {
 public:
  SlowInstrument(std::string name, int64_t microseconds, int64_t* now)
      : PassInstrument(std::move(name)),
        microseconds_(microseconds),
        now_(now) {}

  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& /*pass*/) override {
    *now_ += microseconds_ * 1000;
    return absl::OkStatus();
  }
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& /*pass*/) override {
    *now_ += microseconds_ * 1000;
    return absl::OkStatus();
  }

 private:
  const int64_t microseconds_;
  int64_t* const now_;
};

TEST_F(TimingTest, MeasuredInstrumentsHaveTimesOfTheirOwn) {
  const IRModule module = toy::Module();
  const Pass outer = Work("Outer", 10, {Work("Inner", 100)});
  const PassInstruments instruments = MeasureInstruments(
      {std::make_shared<SlowInstrument>("First", 1000, &now_), timing_,
       std::make_shared<SlowInstrument>("Checker \"2\"", 3000, &now_)},
      timing_);
  EXPECT_EQ(instruments[1], timing_);
  std::string text;
  std::string json;
  ASSERT_TRUE(PassContext({.instruments = instruments})
                  .Run([&]() -> absl::Status {
                    BATON_RETURN_IF_ERROR(outer(module).status());
                    BATON_ASSIGN_OR_RETURN(text, timing_->Render());
                    BATON_ASSIGN_OR_RETURN(json, timing_->RenderJson());
                    return absl::OkStatus();
                  })
                  .ok());
  // Entering the context, and three hooks for each of two passes.
  EXPECT_EQ(text,
            "Outer: 110us [10us] (100.00%; 100.00%)\n"
            "\tInner: 100us [100us] (90.91%; 90.91%)\n"
            "instrument First: 4000us (7 calls)\n"
            "instrument Checker \"2\": 12000us (7 calls)\n");
  EXPECT_THAT(json, HasSubstr("}],\"instruments\":[{\"name\":\"First\","
                              "\"total_us\":4000.000,\"calls\":7},{"
                              "\"name\":\"Checker \\\"2\\\"\","
                              "\"total_us\":12000.000,\"calls\":7}]}\n"));
}

// The rows of passes are the same with a checker as without: to the nanosecond,
// of a clock that only goes on where somebody works.
TEST_F(TimingTest, RowsOfPassesHoldNothingOfAChecker) {
  const IRModule module = toy::Module();
  const Pass outer =
      Work("Outer", 10, {Work("Inner", 100), toy::Fails(), Work("Never", 1)});
  const auto rows = [&](PassInstruments instruments) {
    std::string text;
    EXPECT_TRUE(PassContext({.instruments = std::move(instruments)})
                    .Run([&]() -> absl::Status {
                      EXPECT_FALSE(outer(module).ok());
                      BATON_ASSIGN_OR_RETURN(text, timing_->Render());
                      return absl::OkStatus();
                    })
                    .ok());
    return text;
  };
  const std::string without = rows({timing_});
  const std::string with = rows(MeasureInstruments(
      {std::make_shared<SlowInstrument>("Before", 77, &now_), timing_,
       std::make_shared<SlowInstrument>("Checker", 5000, &now_)},
      timing_));
  EXPECT_THAT(without, HasSubstr("\tInner: 100us [100us]"));
  EXPECT_EQ(with.substr(0, with.find("instrument ")), without);
  EXPECT_THAT(with, HasSubstr("instrument Checker: 20000us"));
}

// Notes when passes began and ended.
class ClockReader final : public PassInstrument {
 public:
  explicit ClockReader(const PassTimingInstrument* timing, int64_t* now)
      : PassInstrument("ClockReader"), timing_(*timing), now_(now) {}

  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& /*pass*/) override {
    return Read();
  }
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& /*pass*/) override {
    return Read();
  }

  std::vector<int64_t> times;

 private:
  absl::Status Read() {
    *now_ += 12345;
    times.push_back(timing_.PassClock() / 1000);
    *now_ += 54321;
    return absl::OkStatus();
  }
  const PassTimingInstrument& timing_;
  int64_t* const now_;
};

TEST_F(TimingTest, ThePassClockStandsStillInInstruments) {
  const IRModule module = toy::Module();
  const Pass outer = Work("Outer", 10, {Work("Inner", 100)});
  const auto reader = std::make_shared<ClockReader>(timing_.get(), &now_);
  const PassInstruments instruments = MeasureInstruments(
      {timing_, reader, std::make_shared<SlowInstrument>("Slow", 999, &now_)},
      timing_);
  now_ = 0;
  ASSERT_TRUE(PassContext({.instruments = instruments})
                  .Run([&] { return outer(module).status(); })
                  .ok());
  EXPECT_THAT(reader->times, ElementsAre(0, 10, 110, 110));
}

TEST_F(TimingTest, FunctionsAndThreads) {
  PassTimingInstrument::Options options = {.clock = [this] { return now_; },
                                           .functions = true};
  const auto timing = std::make_shared<PassTimingInstrument>(options);
  const Pass pass = toy::CreateFunctionPass(
      [this](toy::Function function, const IRModule& module,
             const PassContext& /*context*/) -> absl::StatusOr<toy::Function> {
        const bool is_main = module.Find("main") == function;
        now_ += is_main ? 1000 : 3000;
        return function;
      },
      {.name = "Look"});
  std::string text;
  std::string sums;
  std::string json;
  ASSERT_TRUE(PassContext({.instruments = {timing}})
                  .Run([&]() -> absl::Status {
                    BATON_RETURN_IF_ERROR(pass(toy::Module(3)).status());
                    BATON_ASSIGN_OR_RETURN(text, timing->Render());
                    BATON_ASSIGN_OR_RETURN(sums, timing->RenderSums());
                    BATON_ASSIGN_OR_RETURN(json, timing->RenderJson());
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_THAT(text, StartsWith("Look: 7us [7us] (100.00%; 100.00%)\n"
                               "\t@f1: 3us, thread 0\n"
                               "\t@f2: 3us, thread 0\n"
                               "\t@main: 1us, thread 0\n"));
  EXPECT_THAT(sums, HasSubstr("    time us  part  runs  function\n"
                              "          3 42.9%"));
  EXPECT_THAT(sums, HasSubstr("          7 100.0%"));
  EXPECT_THAT(sums, HasSubstr("  thread 0\n"));
  EXPECT_THAT(json, HasSubstr("\"functions\":[{\"name\":\"main\","
                              "\"total_us\":1.000,\"thread\":0},"));
}

TEST_F(TimingTest, EachThreadHasAnIndex) {
  const auto timing = std::make_shared<PassTimingInstrument>(
      PassTimingInstrument::Options{.functions = true});
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  const Pass pass = toy::CreateFunctionPass(
      [&](toy::Function function, const IRModule& /*module*/,
          const PassContext& /*context*/) -> absl::StatusOr<toy::Function> {
        ++inside;
        for (int i = 0; i < 5000 && !met; ++i) {
          if (inside > 1) met = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return function;
      },
      {.name = "Meet"});
  ASSERT_TRUE(
      PassContext({.config = {{"threads", 2}}, .instruments = {timing}})
          .Run([&]() -> absl::Status {
            BATON_RETURN_IF_ERROR(pass(toy::Module(2)).status());
            BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles,
                                   timing->Profiles());
            EXPECT_EQ(profiles[0].functions.size(), 2);
            EXPECT_NE(profiles[0].functions[0].thread,
                      profiles[0].functions[1].thread);
            BATON_ASSIGN_OR_RETURN(const std::vector<FunctionSum> threads,
                                   timing->ThreadSums());
            EXPECT_EQ(threads.size(), 2);
            return absl::OkStatus();
          })
          .ok());
}

// Makes so many nodes in each hook.
class NodesInHooks final : public PassInstrument {
 public:
  explicit NodesInHooks(int n) : PassInstrument("NodesInHooks"), n_(n) {}
  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& /*pass*/) override {
    for (int i = 0; i < n_; ++i) TupleType({});
    return absl::OkStatus();
  }

 private:
  const int n_;
};

TEST(TimingMemoryTest, NodesOfPassesAndNotOfInstruments) {
  const IRModule module = toy::Module(100);
  std::vector<PassMemory> measured;
  for (const int threads : {1, 2, 16}) {
    for (const int n : {0, 1000}) {
      const auto timing = std::make_shared<PassTimingInstrument>(
          PassTimingInstrument::Options{.memory = true});
      const PassInstruments instruments = MeasureInstruments(
          {timing, std::make_shared<NodesInHooks>(n)}, timing);
      ASSERT_TRUE(
          PassContext(
              {.config = {{"threads", threads}}, .instruments = instruments})
              .Run([&]() -> absl::Status {
                BATON_RETURN_IF_ERROR(
                    Sequential({toy::AToB(), toy::Nothing()})(module).status());
                BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles,
                                       timing->Profiles());
                const PassProfile& a_to_b = profiles[0].children[0];
                measured.push_back(*a_to_b.memory);
                EXPECT_EQ(profiles[0].children[1].memory->kept, 0);
                return absl::OkStatus();
              })
              .ok());
    }
  }
  for (const PassMemory& memory : measured) {
    // Calls, functions and the global variables' types, if nothing else.
    EXPECT_GE(memory.kept, 200);
#if BATON_POOLS_NODES
    EXPECT_GE(memory.nodes, memory.kept);
    EXPECT_EQ(memory.nodes, measured[0].nodes);
    EXPECT_EQ(memory.node_bytes, measured[0].node_bytes);
#endif
    EXPECT_EQ(memory.kept, measured[0].kept);
    EXPECT_EQ(memory.tensor_bytes, 0);
  }
}

// Without what depends on the clock and the schedule of threads.
std::string WithoutTimes(std::string trace) {
  RE2::GlobalReplace(&trace, "\"(ts|dur|tid)\":[\\d.-]+,?", "");
  RE2::GlobalReplace(&trace, ".*thread_name.*\n", "");
  RE2::GlobalReplace(&trace, ",?\"peak bytes\":[\\d-]+", "");
  return trace;
}

TEST(TimingTraceTest, IsTheSameOnAnyNumberOfThreadsButForTimes) {
  const IRModule module = toy::Module(40);
  std::vector<std::string> traces;
  for (const int threads : {1, 2, 16}) {
    const auto timing = std::make_shared<PassTimingInstrument>(
        PassTimingInstrument::Options{.memory = true, .trace = true});
    const PassInstruments instruments =
        MeasureInstruments({timing, std::make_shared<NodesInHooks>(1)}, timing);
    ASSERT_TRUE(PassContext({.config = {{"threads", threads}},
                             .instruments = instruments})
                    .Run([&]() -> absl::Status {
                      EXPECT_FALSE(
                          Sequential({toy::AToB(), toy::Fails()})(module).ok());
                      BATON_ASSIGN_OR_RETURN(const std::string trace,
                                             timing->RenderTrace());
                      traces.push_back(WithoutTimes(trace));
                      return absl::OkStatus();
                    })
                    .ok());
  }
  EXPECT_EQ(traces[1], traces[0]);
  EXPECT_EQ(traces[2], traces[0]);
  EXPECT_THAT(traces[0], StartsWith("{\"displayTimeUnit\":\"ns\","
                                    "\"traceEvents\":["));
  EXPECT_THAT(traces[0], HasSubstr("\"name\":\"AToB\",\"cat\":\"pass\""));
  EXPECT_THAT(traces[0], HasSubstr("\"name\":\"@f39\",\"cat\":\"function\""));
  EXPECT_THAT(traces[0], HasSubstr("\"name\":\"NodesInHooks RunBeforePass\","
                                   "\"cat\":\"instrument\""));
  EXPECT_THAT(traces[0],
              HasSubstr("\"ph\":\"C\",\"pid\":1,\"name\":\"bytes\""));
  EXPECT_THAT(traces[0], HasSubstr("\"failed\":1"));
}

TEST(TimingInstructionsTest, CountsOrSaysOnceThatItCannot) {
  std::ostringstream warnings;
  const auto timing =
      std::make_shared<PassTimingInstrument>(PassTimingInstrument::Options{
          .warnings = &warnings, .instructions = true});
  ASSERT_TRUE(PassContext({.instruments = {timing}})
                  .Run([&]() -> absl::Status {
                    BATON_RETURN_IF_ERROR(toy::AToB()(toy::Module()).status());
                    BATON_ASSIGN_OR_RETURN(
                        const std::vector<PassProfile> profiles,
                        timing->Profiles());
                    const bool counts = profiles[0].instructions.has_value();
                    EXPECT_EQ(counts, warnings.str().empty());
                    EXPECT_TRUE(!counts || *profiles[0].instructions > 1000);
                    return absl::OkStatus();
                  })
                  .ok());
  if (!warnings.str().empty()) {
    EXPECT_THAT(warnings.str(), StartsWith("Warning: perf_event_open"));
    EXPECT_EQ(absl::c_count(warnings.str(), '\n'), 1);
  }
}

TEST_F(TimingTest, ErrorsOfMeasuredInstrumentsAreTheSame) {
  std::vector<std::string> lines;
  const auto log = std::make_shared<toy::Log>("A", &lines);
  log->fails_in = "before";
  const absl::Status plain = PassContext({.instruments = {log}}).Run([&] {
    return toy::Nothing()(toy::Module()).status();
  });
  const absl::Status measured =
      PassContext({.instruments = MeasureInstruments({log, timing_}, timing_)})
          .Run([&] { return toy::Nothing()(toy::Module()).status(); });
  EXPECT_FALSE(plain.ok());
  EXPECT_EQ(measured, plain);
}

TEST_F(TimingTest, SumsUpTheExecutionsOfEachPass) {
  const IRModule module = toy::Module();
  const Pass a = Work("A", 5);
  const Pass b = Work("B", 1, {a, Work("B", 30)});
  std::string all;
  std::string long_ones;
  ASSERT_TRUE(PassContext({.instruments = {timing_}})
                  .Run([&]() -> absl::Status {
                    BATON_RETURN_IF_ERROR(a(module).status());
                    BATON_RETURN_IF_ERROR(b(module).status());
                    BATON_RETURN_IF_ERROR(Work("C", 59)(module).status());
                    BATON_ASSIGN_OR_RETURN(all, timing_->RenderSums());
                    BATON_ASSIGN_OR_RETURN(long_ones, timing_->RenderSums(35));
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(all,
            "    self us  part   total us  runs  pass\n"
            "         59 59.0%         59     1  C\n"
            "         31 31.0%         36     2  B\n"
            "         10 10.0%         10     2  A\n");
  EXPECT_EQ(long_ones,
            "    self us  part   total us  runs  pass\n"
            "         59 59.0%         59     1  C\n"
            "         41 41.0%         41     4  (2 others)\n");
}

}  // namespace
}  // namespace baton
