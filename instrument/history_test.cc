#include "baton/instrument/history.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/checksum.h"
#include "baton/base/tensor.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/history_text.h"
#include "baton/instrument/history_trace.h"
#include "baton/instrument/provenance.h"
#include "baton/instrument/structural_diff.h"
#include "baton/ir/binary_layout.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node_map.h"
#include "baton/ir/origin.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Function;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;

IRModule Parse(absl::string_view text) {
  absl::StatusOr<IRModule> module = ParseModule(
      absl::StrCat("#[version = \"0.0.5\"]\n", text), "model.relay");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *module : IRModule();
}

constexpr char kProgram[] = R"(
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = nn.dense(%x, %w, units=None);
  %1 = add(1f, 2f);
  %2 = multiply(%0, %1);
  nn.relu(%2)
}
def @other(%y: Tensor[(2), float32]) {
  add(%y, add(3f, 4f))
}
)";

Pass Nothing() {
  return CreateModulePass(
      [](IRModule module, const PassContext&) -> absl::StatusOr<IRModule> {
        return module;
      },
      {.name = "Nothing"});
}

// Returns the module that it gives to a pass inside it.
Pass AddsAlias() {
  return CreateModulePass(
      [](IRModule module, const PassContext&) -> absl::StatusOr<IRModule> {
        module.Set("alias", module.Find("other"));
        return Nothing()(module);
      },
      {.name = "AddsAlias"});
}

Pass Fails() {
  return CreateModulePass(
      [](IRModule, const PassContext&) -> absl::StatusOr<IRModule> {
        return absl::InternalError("it went wrong");
      },
      {.name = "Fails"});
}

// A clock that goes on by a microsecond each time.
HistoryOptions WithClock(HistoryOptions options = {}) {
  options.clock = [now = std::make_shared<int64_t>(0)] { return *now += 1000; };
  return options;
}

HistoryOptions WithBudget(int64_t bytes) {
  HistoryOptions options;
  options.max_bytes = bytes;
  return WithClock(std::move(options));
}

struct Recorded {
  std::shared_ptr<HistoryRecorder> recorder;
  absl::StatusOr<IRModule> result;
};

Recorded Record(const IRModule& module, const Pass& pipeline,
                HistoryOptions options = WithClock(), int64_t threads = 1) {
  Recorded run = {.recorder = std::make_shared<HistoryRecorder>(options),
                  .result = absl::UnknownError("")};
  const PassContext context({.opt_level = 3,
                             .config = {{ThreadsConfig().name(), threads}},
                             .instruments = {run.recorder}});
  run.result = context.Run([&] { return pipeline(module); });
  return run;
}

Recorded Record(absl::string_view passes, HistoryOptions options = WithClock(),
                int64_t threads = 1) {
  const absl::StatusOr<Pass> pipeline =
      ParsePipeline(passes, PassRegistry::Global(), "passes");
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return Record(Parse(kProgram), *pipeline, std::move(options), threads);
}

std::string Bytes(const History& history,
                  const HistoryWriteOptions& options = {}) {
  const absl::StatusOr<HistoryBytes> bytes = WriteHistory(history, options);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? bytes->ToString() : "";
}

absl::StatusOr<History> ReadBack(absl::string_view bytes) {
  return ReadHistory(bytes, nullptr, "run.history");
}

TEST(HistoryTest, KeepsTheModuleAfterEachExecution) {
  const Recorded run = Record("InferType,FoldConstant,FuseOps");
  ASSERT_THAT(run.result, IsOk());
  const History& history = run.recorder->history();
  EXPECT_EQ(HistoryLog(history).substr(0, 57),
            "    #         us    self us     made  dropped       bytes");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule first, history.ModuleAfter(0));
  EXPECT_TRUE(StructuralEqual(first, Parse(kProgram)));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule last, history.ModuleAfter(1));
  EXPECT_TRUE(last.SameAs(*run.result));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule folded, history.ModuleAfter(3));
  EXPECT_THAT(AsText(folded), HasSubstr("multiply(%0, 3f"));
  EXPECT_THAT(history.ModuleAfter(99).status().message(),
              HasSubstr("there is no execution 99: the history has 1 to "));
}

TEST(HistoryTest, SaysWhatEachExecutionDid) {
  const Recorded run = Record("InferType,FoldConstant");
  ASSERT_THAT(run.result, IsOk());
  EXPECT_EQ(
      HistoryLog(run.recorder->history()),
      "    #         us    self us     made  dropped       bytes  in "
      "tensors\n"
      "    1          7          3       16       15        -136          "
      "-8  Sequential(InferType,FoldConstant) @main @other\n"
      "    2          1          1       22       15        +336          "
      "+0    InferType @main @other\n"
      "    3          3          2       11       17        -472          "
      "-8    FoldConstant @main @other\n"
      "    4          1          1       11        7        +224          "
      "+0      InferType @main @other\n");
}

TEST(HistoryTest, SaysWhatWasMeasuredOfMemory) {
  const Recorded run = Record("InferType,FoldConstant");
  ASSERT_THAT(run.result, IsOk());
  run.recorder->SetMemory(3, {.nodes = 30,
                              .node_bytes = 2000,
                              .kept = 11,
                              .tensor_bytes = 8,
                              .peak_bytes = 12'300'000});
  run.recorder->SetMemory(99, {});  // there is none
  const History& history = run.recorder->history();
  const std::string log = HistoryLog(history);
  EXPECT_THAT(log, HasSubstr("in tensors  garbage  peak MB\n"));
  EXPECT_THAT(log, HasSubstr("-8       19     12.3    FoldConstant"));
  EXPECT_THAT(log, HasSubstr("+0        ?        ?    InferType"));
  EXPECT_THAT(HistoryTrace(history), HasSubstr("\"nodes made\":30"));
  BATON_ASSERT_OK_AND_ASSIGN(const History read, ReadBack(Bytes(history)));
  EXPECT_EQ(HistoryLog(read), log);
  EXPECT_EQ(HistoryTrace(read), HistoryTrace(history));
}

TEST(HistoryTest, FailuresAndWhatRanBeforeThem) {
  const Recorded run = Record(Parse(kProgram), Fails());
  ASSERT_FALSE(run.result.ok());
  const std::string log = HistoryLog(run.recorder->history());
  EXPECT_THAT(log, HasSubstr("Fails failed: "));
  EXPECT_THAT(log, HasSubstr("it went wrong"));
  EXPECT_THAT(run.recorder->history().ModuleAfter(1).status().message(),
              HasSubstr("execution 1 (Fails) failed"));
}

// As a process that dies asks for it.
TEST(HistoryTest, PassesThatDidNotEndTookTheTimeUntilThen) {
  const auto recorder = std::make_shared<HistoryRecorder>(WithClock());
  std::vector<int64_t> totals;
  const Pass asks = CreateModulePass(
      [&](IRModule module, const PassContext&) -> absl::StatusOr<IRModule> {
        for (const HistoryExecution& e :
             recorder->history(/*signal=*/6).executions) {
          totals.push_back(e.total);
        }
        return module;
      },
      {.name = "Asks"});
  const PassContext context({.instruments = {recorder}});
  const Pass pipeline = Sequential({Sequential({asks})});
  EXPECT_THAT(context.Run([&] { return pipeline(Parse(kProgram)); }), IsOk());
  // The totals of the outer pass, the inner one, and the function that reads
  // them.
  EXPECT_THAT(totals, ElementsAre(3000, 2000, 1000));
}

TEST(HistoryTest, EnteringAContextBeginsANewOne) {
  const auto recorder = std::make_shared<HistoryRecorder>(WithClock());
  const PassContext context({.instruments = {recorder}});
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(context.Run([&] { return Nothing()(Parse(kProgram)); }),
                IsOk());
    EXPECT_EQ(recorder->history().executions.size(), 1);
  }
}

TEST(HistoryTest, TimesMayBeThoseOfAnotherRun) {
  const std::string passes = "InferType,FoldConstant";
  HistoryOptions slow;
  slow.clock = [now = std::make_shared<int64_t>(0)] {
    return *now += 5'000'000;
  };
  const Recorded measured = Record(passes);
  const Recorded run = Record(passes, slow);
  const std::string log = HistoryLog(measured.recorder->history());
  EXPECT_NE(HistoryLog(run.recorder->history()), log);
  run.recorder->SetTimes(measured.recorder->history().executions);
  EXPECT_EQ(HistoryLog(run.recorder->history()), log);

  // One that failed only there has the time of what ran inside it.
  const Recorded well =
      Record(Parse(kProgram), Sequential({Nothing(), Nothing(), Nothing()}));
  const Recorded failed = Record(
      Parse(kProgram), Sequential({Nothing(), Fails(), Nothing()}), slow);
  failed.recorder->SetTimes(well.recorder->history().executions);
  const std::vector<HistoryExecution>& now =
      failed.recorder->history().executions;
  const std::vector<HistoryExecution>& then =
      well.recorder->history().executions;
  ASSERT_EQ(now.size(), 3);
  ASSERT_EQ(then.size(), 4);
  for (const int i : {1, 2}) {
    EXPECT_EQ(now[i].start, then[i].start);
    EXPECT_EQ(now[i].total, then[i].total);
  }
  EXPECT_EQ(now[0].total, then[2].start + then[2].total - then[0].start);
  EXPECT_LT(now[0].total, then[0].total);
}

TEST(HistoryTest, ARunMayEndWhereAnExecutionBegins) {
  HistoryOptions options = WithClock();
  options.stop_before = 3;
  const Recorded run = Record("InferType,FoldConstant,FuseOps", options);
  EXPECT_TRUE(absl::IsCancelled(run.result.status())) << run.result.status();
  const History& history = run.recorder->history();
  ASSERT_EQ(history.executions.size(), 3);
  EXPECT_EQ(history.executions[2].number, 3);
  EXPECT_EQ(history.executions[2].after, -1);
  EXPECT_EQ(run.recorder->passes()[2].name(), history.executions[2].pass);
  // Nothing listens any more.
  EXPECT_EQ(internal::log_listeners, nullptr);
}

TEST(HistoryTest, OldStatesKeepToTheirBudget) {
  const Recorded all = Record("InferType,FoldConstant,ToANormalForm,FuseOps");
  const Recorded some =
      Record("InferType,FoldConstant,ToANormalForm,FuseOps", WithBudget(6000));
  const Recorded none =
      Record("InferType,FoldConstant,ToANormalForm,FuseOps", WithBudget(0));
  const auto count = [](const Recorded& run) {
    int n = 0;
    for (const auto& state : run.recorder->history().states) n += state.kept;
    return n;
  };
  EXPECT_EQ(count(none), 2);
  EXPECT_GT(count(some), 2);
  EXPECT_LT(count(some), count(all));
  EXPECT_EQ(count(all), all.recorder->history().states.size());
  ASSERT_THAT(none.recorder->history().ModuleAfter(0), IsOk());
  ASSERT_THAT(none.recorder->history().ModuleAfter(1), IsOk());
  EXPECT_THAT(none.recorder->history().ModuleAfter(2).status().message(),
              HasSubstr("was not kept: the history has a budget"));
  // The kept states are those that would be kept without a limit.
  BATON_ASSERT_OK_AND_ASSIGN(const History read,
                             ReadBack(Bytes(some.recorder->history())));
  EXPECT_EQ(count(some), [&read] {
    int n = 0;
    for (const auto& state : read.states) n += state.kept;
    return n;
  }());
  // The last state may be one that a pass inside another was given first.
  BATON_ASSERT_OK_AND_ASSIGN(
      const Pass infer,
      ParsePipeline("InferType", PassRegistry::Global(), "passes"));
  EXPECT_EQ(count(Record(Parse(kProgram), Sequential({infer, AddsAlias()}),
                         WithBudget(0))),
            2);
}

TEST(HistoryTest, FilesHoldAll) {
  const Recorded run = Record("InferType,FoldConstant,ToANormalForm,FuseOps");
  const History& history = run.recorder->history();
  BATON_ASSERT_OK_AND_ASSIGN(const History read, ReadBack(Bytes(history)));
  EXPECT_EQ(HistoryLog(read), HistoryLog(history));
  for (const HistoryExecution& execution : history.executions) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule want,
                               history.ModuleAfter(execution.number));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule is,
                               read.ModuleAfter(execution.number));
    EXPECT_EQ(AsText(is), AsText(want));
  }
  // Nodes that states share are the same again.
  EXPECT_TRUE(
      DiffStructure(read.states[0].module, read.states[0].module).empty());
  BATON_ASSERT_OK_AND_ASSIGN(const StructuralDiff diff,
                             HistoryDiff(read, 2, 3, ""));
  EXPECT_EQ(StructuralDiffText(diff),
            StructuralDiffText(*HistoryDiff(history, 2, 3, "")));
  BATON_ASSERT_OK_AND_ASSIGN(const StructuralDiff other,
                             HistoryDiff(read, 2, 3, "other"));
  for (const NodeChange& change : other.changes) {
    EXPECT_EQ(change.function, "other");
  }
  EXPECT_FALSE(other.changes.empty());
  EXPECT_FALSE(HistoryDiff(read, 2, 3, "nobody").ok());
  // Places of the text.
  ASSERT_FALSE(read.places.empty());
  bool found = false;
  for (const auto& [node, place] : read.places) {
    const auto* call = node.As<relay::CallNode>();
    if (call == nullptr || call->op_node()->name() != "nn.relu") continue;
    EXPECT_EQ(PlaceText(place), "model.relay:7:3");
    found = true;
  }
  EXPECT_TRUE(found);
}

// A committed file of each version, of the same run.
TEST(HistoryTest, FilesOfAllVersionsAreRead) {
  const Recorded run = Record("InferType,FoldConstant,FuseOps");
  const History& history = run.recorder->history();
  for (const int version : {1, 2}) {
    const std::string bytes = testing::ReadFileOrFail(testing::RunfilePath(
        absl::StrCat("instrument/testdata/version_", version, ".history")));
    EXPECT_EQ(bytes[8], version);
    BATON_ASSERT_OK_AND_ASSIGN(const History read, ReadBack(bytes));
    ASSERT_EQ(read.executions.size(), history.executions.size());
    for (const HistoryExecution& execution : history.executions) {
      const int64_t number = execution.number;
      EXPECT_EQ(*HistoryShow(read, number, ""),
                *HistoryShow(history, number, ""));
      EXPECT_EQ(BlameText(*HistoryBlame(read, number, {})),
                BlameText(*HistoryBlame(history, number, {})));
      EXPECT_EQ(*HistoryWhy(read, number, {}),
                *HistoryWhy(*ReadBack(Bytes(history)), number, {}));
    }
  }
}

TEST(HistoryTest, WritingWhatWasReadGivesTheSameBytes) {
  const Recorded run = Record("InferType,FoldConstant,ToANormalForm,FuseOps");
  const std::string bytes = Bytes(run.recorder->history());
  BATON_ASSERT_OK_AND_ASSIGN(const History read, ReadBack(bytes));
  EXPECT_EQ(Bytes(read), bytes);
}

TEST(HistoryTest, ThreadsMakeNoDifference) {
  const std::string one =
      Bytes(Record("InferType,FoldConstant,FuseOps").recorder->history());
  for (const int64_t threads : {2, 16}) {
    const Recorded run =
        Record("InferType,FoldConstant,FuseOps", WithClock(), threads);
    EXPECT_EQ(Bytes(run.recorder->history()), one) << threads;
  }
}

TEST(HistoryTest, LargeTensorsAreKeptByChecksum) {
  IRModule module;
  const auto function = [](float first) {
    std::vector<float> values(1000, 1.0f);
    values[0] = first;
    return Function(
        {}, relay::Constant(*Tensor::FromValues<float>({1000}, values)));
  };
  module.Set("one", function(1));
  module.Set("same", function(1));
  module.Set("other", function(2));
  const Recorded run = Record(module, Nothing());
  const std::string bytes = Bytes(run.recorder->history());
  EXPECT_LT(bytes.size(), 2000);
  BATON_ASSERT_OK_AND_ASSIGN(const History read, ReadBack(bytes));
  EXPECT_EQ(read.left_out_tensors, 3);
  const IRModule& back = read.states[0].module;
  EXPECT_TRUE(StructuralEqual(back.Find("one"), back.Find("same")));
  EXPECT_FALSE(StructuralEqual(back.Find("one"), back.Find("other")));

  const std::string whole =
      Bytes(run.recorder->history(), {.max_tensor_bytes = UINT64_MAX});
  EXPECT_GT(whole.size(), 12000);
  BATON_ASSERT_OK_AND_ASSIGN(const History all, ReadBack(whole));
  EXPECT_EQ(all.left_out_tensors, 0);
  EXPECT_TRUE(StructuralEqual(all.states[0].module, module));
}

TEST(HistoryTest, FindsTheExecutionAfterWhichAConditionHolds) {
  const Recorded run = Record("InferType,FoldConstant,FuseOps");
  const absl::StatusOr<History> read = ReadBack(Bytes(run.recorder->history()));
  ASSERT_THAT(read, IsOk());
  for (const History* history : {&run.recorder->history(), &*read}) {
    const auto find = [history](const HistoryCondition& condition) {
      return HistoryFind(*history, condition).value_or("an error");
    };
    EXPECT_EQ(find({.text = "Primitive"}), "#6 FuseOps\n");
    EXPECT_EQ(find({.text = "add.1f, 2f"}), "It holds from the beginning.\n");
    EXPECT_EQ(find({.has = "nn.conv2d"}), "It never holds.\n");
    EXPECT_EQ(find({.lacks = "multiply"}), "It never holds.\n");
    EXPECT_EQ(find({.lacks = "nn.softmax"}), "It holds from the beginning.\n");
    EXPECT_EQ(find({}), "an error");
    EXPECT_EQ(find({.has = "("}), "an error");
  }
}

TEST(HistoryTest, TellsWhatPassesSaidOfNodes) {
  const Recorded run = Record("InferType,FoldConstant,FuseOps");
  const History& history = run.recorder->history();
  const absl::StatusOr<History> read = ReadBack(Bytes(history));
  ASSERT_THAT(read, IsOk());
  const auto why = [](const History& of, int64_t number,
                      const NodeSelection& selection) {
    return HistoryWhy(of, number, selection).value_or("an error");
  };
  const std::string all = why(history, 1, {});
  EXPECT_THAT(all, HasSubstr(" FoldConstant @"));
  EXPECT_THAT(all, HasSubstr(" FuseOps @main"));
  EXPECT_EQ(why(history, 3, {}), why(history, 3, {.op = "add"}));
  EXPECT_EQ(why(history, 3, {.op = "nn.dense"}), "");
  EXPECT_NE(why(history, 6, {}), "");
  EXPECT_THAT(all, HasSubstr(why(history, 6, {})));
  EXPECT_EQ(why(history, 6, {.number = 99}), "");
  EXPECT_EQ(why(history, 99, {}), "an error");
  EXPECT_EQ(why(history, 1, {.op = "("}), "an error");
  // Places are of text, which the file does not have.
  EXPECT_EQ(why(*read, 1, {}), all);
}

TEST(HistoryTest, TellsWhereNodesComeFrom) {
  const Recorded run = Record("InferType,FoldConstant,FuseOps");
  const History& history = run.recorder->history();
  const absl::StatusOr<History> read = ReadBack(Bytes(history));
  ASSERT_THAT(read, IsOk());
  for (const History* of : {&history, &*read}) {
    const auto blame = [of](int64_t number, const NodeSelection& selection) {
      const auto nodes = HistoryBlame(*of, number, selection);
      return nodes.ok() ? BlameText(*nodes) : "an error";
    };
    EXPECT_EQ(blame(0, {.op = "nn.relu"}),
              "@main nn.relu\n"
              "  model.relay:7:3: nn.relu\n");
    EXPECT_EQ(blame(3, {.op = "multiply"}),
              "@main %1 = multiply\n"
              "  #4 InferType made %1 = multiply from %1 = multiply\n"
              "  #3 FoldConstant made %1 = multiply from %2 = multiply\n"
              "  #2 InferType made %2 = multiply from %2 = multiply\n"
              "  model.relay:6:8: %2 = multiply\n");
    EXPECT_EQ(blame(3, {.number = 1}), blame(3, {.op = "multiply"}));
    // The origins go through fusion, and through a constant that replaced a
    // call.
    EXPECT_THAT(blame(1, {.op = "nn.relu"}),
                HasSubstr("  #6 FuseOps made nn.relu from nn.relu\n"));
    EXPECT_THAT(blame(3, {}), HasSubstr("  #3 FoldConstant made 3 from %1 = "
                                        "add\n"));
    EXPECT_EQ(blame(1, {.number = 99}), "");
    EXPECT_EQ(blame(99, {}), "an error");
    EXPECT_EQ(blame(1, {.op = "("}), "an error");
  }
}

TEST(HistoryTest, OriginsAreKnownThoughStatesWentAway) {
  const std::string passes = "InferType,FoldConstant,ToANormalForm,FuseOps";
  const Recorded run = Record(passes, WithBudget(0));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<NodeBlame> nodes,
                             HistoryBlame(run.recorder->history(), 1, {}));
  EXPECT_FALSE(nodes.empty());
  for (const NodeBlame& node : nodes) {
    EXPECT_FALSE(node.sources.empty()) << node.node;
    for (const NodeBlame::Source& source : node.sources) {
      EXPECT_THAT(source.place, HasSubstr("model.relay:"));
    }
  }
}

// A pass that tells of a node that it drops, and then makes another one at its
// address, which is field 0 of the new body of @main. `make` makes either.
Pass ReusesAnAddress(
    const std::function<Expr(const Expr& x)>& make,
    const std::function<void(const Expr& node, const Expr& body)>& tell) {
  return CreateModulePass(
      [make, tell](IRModule module,
                   const PassContext&) -> absl::StatusOr<IRModule> {
        const auto main = module.Find<Function>("main");
        const Expr x = main->params()[0];
        Expr node = make(x);
        const ExprNode* const address = node.get();
        LogOrigin(node, x.get());
        node = Expr();
        node = make(x);
        if (node.get() != address) return absl::InternalError("elsewhere");
        tell(node, main->body());
        const relay::Tuple body({node});
        LogOrigin(body, main->body().get());
        const Function changed({main->params().begin(), main->params().end()},
                               body);
        LogOrigin(changed, main.get());
        module.Set(module.FindGlobalVar("main"), changed);
        return module;
      },
      {.name = "ReusesAnAddress"});
}

// The origins of the node that ReusesAnAddress() makes.
std::vector<const ExprNode*> FromAtReusedAddress(
    const std::function<Expr(const Expr& x)>& make,
    const std::function<void(const Expr& node, const Expr& body)>& tell,
    const ExprNode** body) {
  const IRModule module = Parse(kProgram);
  *body = module.Find<Function>("main")->body().get();
  const Recorded run = Record(module, ReusesAnAddress(make, tell));
  EXPECT_THAT(run.result, IsOk());
  if (!run.result.ok()) return {};
  const Provenance provenance(run.recorder->history());
  const Expr changed = run.result->Find<Function>("main")->body();
  return provenance.MakingOf(changed.As<relay::TupleNode>()->fields()[0].get())
      .from;
}

TEST(HistoryTest, ANodeOfWhichNothingIsToldHasNoOriginOfADeadOne) {
  const ExprNode* body = nullptr;
  const std::vector<const ExprNode*> from = FromAtReusedAddress(
      [](const Expr& x) {
        return relay::Tuple({x, x});
      },
      [](const Expr& /*node*/, const Expr& /*body*/) {}, &body);
  EXPECT_THAT(from, ElementsAre(body));
}

TEST(HistoryTest, AHashedNodeHasNoOriginOfADeadOne) {
  const ExprNode* body = nullptr;
  const std::vector<const ExprNode*> from =
      FromAtReusedAddress([](const Expr& x) { return Function({}, x); },
                          [](const Expr& node, const Expr& old) {
                            StructuralHash(node);
                            LogOrigin(node, old.get());
                          },
                          &body);
  EXPECT_THAT(from, ElementsAre(body));
}

// Many nodes have no recorded origin, so that each takes that of its user.
TEST(HistoryTest, WhatMadeNodesIsFoundInLinearTime) {
  const int num_calls = testing::LongOrShort(300'000, 30'000);
  const relay::Var x("x", {4});
  const auto chain = [&] {
    Expr body = x;
    for (int i = 0; i < num_calls; ++i)
      body = relay::Call(Op::Find("exp"), {body});
    return body;
  };
  IRModule module;
  module.Set("main", Function({x}, chain()));
  for (const bool says_of_the_last : {false, true}) {
    const Pass rebuilds = CreateModulePass(
        [&](IRModule given, const PassContext&) -> absl::StatusOr<IRModule> {
          const auto main = given.Find<Function>("main");
          const Function now({x}, chain());
          if (says_of_the_last) LogOrigin(now, main.get());
          given.Set(given.FindGlobalVar("main"), now);
          return given;
        },
        {.name = "Rebuilds"});
    const Recorded run = Record(module, rebuilds);
    ASSERT_THAT(run.result, IsOk());
    const Provenance provenance(run.recorder->history());
    int64_t from = 0;
    relay::PostOrderVisit(run.result->Find<Function>("main"),
                          [&](const ExprNode* node) {
                            from += provenance.MakingOf(node).from.size();
                          });
    // The last call, the function and x, if anything.
    EXPECT_EQ(from, says_of_the_last ? num_calls + 1 : 0);
  }
}

TEST(HistoryTest, AnOriginTakes16Bytes) {
  std::string program = "def @main(%x: Tensor[(2), float32]) {\n";
  constexpr int kCalls = 1000;
  for (int i = 0; i < kCalls; ++i) {
    absl::StrAppend(&program, "  %", i, " = ",
                    i % 2 == 0 ? "exp" : "nn.softmax", "(",
                    i == 0 ? "%x" : absl::StrCat("%", i - 1), ");\n");
  }
  absl::StrAppend(&program, "  %", kCalls - 1, "\n}\n");
  BATON_ASSERT_OK_AND_ASSIGN(
      const Pass passes,
      ParsePipeline("InferType,EliminateCommonSubexpr,SimplifyInference,"
                    "FuseOps,DeadCodeElimination"));
  const Recorded run = Record(Parse(program), passes);
  const History& history = run.recorder->history();
  const Provenance provenance(history);
  int64_t made = 0;
  NodeSet seen;
  for (const HistoryState& state : history.states) {
    for (const auto& definition : state.module.functions()) {
      relay::PostOrderVisit(definition.function, [&](const ExprNode* node) {
        if (HasOrigin(node) && provenance.FirstStateOf(node) > 0 &&
            seen.Insert(node)) {
          ++made;
        }
      });
    }
  }
  EXPECT_GE(made, 3 * kCalls);  // calls, functions, parameters
  const size_t bytes = history.origins.size() * sizeof(Origin) +
                       history.origins.runs().size() * sizeof(OriginLog::Run);
  EXPECT_LE(static_cast<double>(bytes) / static_cast<double>(made), 16.5);
}

TEST(HistoryTest, BlameAsJson) {
  EXPECT_EQ(BlameJson({}), "[\n]");
  EXPECT_EQ(
      BlameJson({{.function = "main",
                  .node = "%1 = nn.relu",
                  .steps = {{.execution = 2,
                             .pass = "InferType",
                             .node = "%1 = nn.relu",
                             .from = {"%0 = nn.relu", "\"x\""}}},
                  .sources = {{.place = "m:1:2", .node = "%0 = nn.relu"}}}}),
      "[\n"
      R"({"function":"main","node":"%1 = nn.relu","steps":[{"execution":2,)"
      R"("pass":"InferType","node":"%1 = nn.relu",)"
      R"("from":["%0 = nn.relu","\"x\""]}],)"
      R"("sources":[{"place":"m:1:2","node":"%0 = nn.relu"}]})"
      "\n]");
}

TEST(HistoryTest, OtherVersionsAreNamed) {
  std::string bytes = Bytes(Record("InferType").recorder->history());
  const auto error_of = [&bytes](uint32_t version) {
    internal::BinaryHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.version = version;
    header.checksum = Checksum({reinterpret_cast<const char*>(&header),
                                offsetof(internal::BinaryHeader, checksum)});
    std::memcpy(bytes.data(), &header, sizeof(header));
    return std::string(ReadBack(bytes).status().message());
  };
  EXPECT_EQ(error_of(0), "run.history: there is no format 0 of histories");
  EXPECT_EQ(error_of(3),
            "run.history: the file has format 3, but this program knows none "
            "newer than 2");
}

TEST(HistoryTest, DamagedFilesAreRefused) {
  const std::string bytes =
      Bytes(Record("InferType,FoldConstant").recorder->history());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadBack(bytes.substr(0, size)).ok()) << size;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 0x10;
    // Bytes between the message and the modules mean nothing.
    const absl::StatusOr<History> read = ReadBack(damaged);
    if (read.ok()) {
      EXPECT_EQ(bytes[i], 0) << i;
    }
  }
  EXPECT_THAT(ReadBack("text").status().message(),
              HasSubstr("run.history: this is no history"));
  EXPECT_THAT(ReadBack(bytes.substr(0, 100)).status().message(),
              HasSubstr("it was cut off"));
}

}  // namespace
}  // namespace baton
