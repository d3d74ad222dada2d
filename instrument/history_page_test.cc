#include "baton/instrument/history_page.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/history_trace.h"
#include "baton/instrument/node_text.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/pass_log.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::google::protobuf::Struct;
using ::google::protobuf::Value;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;

constexpr char kProgram[] = R"(#[version = "0.0.5"]
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

constexpr char kLoops[] = R"(
@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), B: T.Buffer((16,), "float32")):
    for i, j in T.grid(16, 8):
        with T.block("sum"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(A[vi, vj])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]
)";

HistoryOptions WithClock() {
  HistoryOptions options;
  options.clock = [now = std::make_shared<int64_t>(0)] { return *now += 1000; };
  return options;
}

std::shared_ptr<HistoryRecorder> Record(const IRModule& module,
                                        const Pass& pipeline,
                                        int64_t threads = 1) {
  auto recorder = std::make_shared<HistoryRecorder>(WithClock());
  const PassContext context({.opt_level = 3,
                             .config = {{ThreadsConfig().name(), threads}},
                             .instruments = {recorder}});
  context.Run([&] { return pipeline(module); }).status().IgnoreError();
  return recorder;
}

std::shared_ptr<HistoryRecorder> Record(absl::string_view passes,
                                        int64_t threads = 1,
                                        absl::string_view program = kProgram) {
  const absl::StatusOr<Pass> pipeline =
      ParsePipeline(passes, PassRegistry::Global(), "passes");
  EXPECT_THAT(pipeline, IsOk());
  const absl::StatusOr<IRModule> module = ParseModule(program, "model.relay");
  EXPECT_THAT(module, IsOk());
  return Record(*module, *pipeline, threads);
}

Pass Does(const std::string& name, const std::string& remark,
          const std::string& error) {
  return CreateModulePass(
      [remark, error](IRModule module,
                      const PassContext&) -> absl::StatusOr<IRModule> {
        LogRemark({.kind = RemarkKind::kMissed, .reason = remark});
        if (!error.empty()) return absl::InternalError(error);
        return module;
      },
      {.name = name});
}

Struct ParseJson(const std::string& json) {
  Struct result;
  const auto status =
      ::google::protobuf::util::JsonStringToMessage(json, &result);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return result;
}

const Value& At(const Struct& object, const std::string& field) {
  const auto found = object.fields().find(field);
  EXPECT_TRUE(found != object.fields().end()) << field;
  static const auto* const kNone = new Value;
  return found == object.fields().end() ? *kNone : found->second;
}

int Size(const Struct& object, const std::string& field) {
  return At(object, field).list_value().values_size();
}

TEST(HistoryPageTest, DataHoldEveryNodeOnce) {
  const auto run = Record("InferType,FoldConstant,FuseOps");
  const History& history = run->history();
  const HistoryPageData page = PageDataOf(history);
  const Struct data = ParseJson(page.content);
  const int nodes = Size(data, "kinds");
  EXPECT_GT(nodes, 20);
  for (const char* field : {"titles", "types", "attrs", "num_args"}) {
    EXPECT_EQ(Size(data, field), nodes) << field;
  }
  EXPECT_EQ(Size(data, "states"), history.states.size());
  EXPECT_EQ(Size(data, "executions"), history.executions.size());
  EXPECT_GT(Size(data, "remarks"), 0);
  EXPECT_GT(Size(data, "diffs"), 0);
  // Each state begins where those before it end.
  double last = 0;
  for (const Value& state : At(data, "states").list_value().values()) {
    const double begin = At(state.struct_value(), "begin").number_value();
    EXPECT_GE(begin, last);
    last = begin;
  }
  EXPECT_LE(last, nodes);
  // A run in which nothing changes holds the nodes of one state.
  const Struct once =
      ParseJson(PageDataOf(Record("InferType")->history()).content);
  const Struct thrice = ParseJson(
      PageDataOf(Record("InferType,InferType,InferType")->history()).content);
  EXPECT_EQ(Size(once, "kinds"), Size(thrice, "kinds"));
  EXPECT_LT(Size(once, "executions"), Size(thrice, "executions"));
}

TEST(HistoryPageTest, OperandsComeBeforeThoseThatTakeThem) {
  const auto run = Record("InferType,FoldConstant,ToANormalForm,FuseOps");
  const Struct data = ParseJson(PageDataOf(run->history()).content);
  int next = 0;
  const auto& args = At(data, "args").list_value();
  const auto& counts = At(data, "num_args").list_value();
  for (int node = 0; node < counts.values_size(); ++node) {
    for (int i = 0; i < counts.values(node).number_value(); ++i) {
      const double difference = args.values(next++).number_value();
      EXPECT_GT(difference, 0) << node;
      EXPECT_LE(difference, node);
    }
  }
  EXPECT_EQ(next, args.values_size());
}

TEST(HistoryPageTest, NodesHaveTypesAttributesAndPlaces) {
  const auto run = Record("InferType,FoldConstant");
  const std::string content = PageDataOf(run->history()).content;
  EXPECT_THAT(content, HasSubstr("\"Tensor[(2, 3), float32]\""));
  EXPECT_THAT(content, HasSubstr("\"nn.dense\""));
  EXPECT_THAT(content, HasSubstr("\"model.relay\""));
  const Struct data = ParseJson(content);
  const Struct& places = At(data, "places").struct_value();
  EXPECT_GT(Size(places, "nodes"), 5);
  EXPECT_EQ(Size(places, "nodes"), Size(places, "lines"));
}

TEST(HistoryPageTest, NodesHaveOrigins) {
  const auto run = Record("InferType,FoldConstant,FuseOps");
  const Struct data = ParseJson(PageDataOf(run->history()).content);
  const Struct& origins = At(data, "origins").struct_value();
  const auto& made = At(origins, "made").list_value();
  const auto& counts = At(origins, "num_from").list_value();
  const auto& from = At(origins, "from").list_value();
  EXPECT_GT(made.values_size(), 0);
  ASSERT_EQ(counts.values_size(), made.values_size());
  const int nodes = Size(data, "kinds");
  double node = 0;
  int next = 0;
  for (int i = 0; i < made.values_size(); ++i) {
    node += made.values(i).number_value();
    EXPECT_LT(node, nodes);
    for (int k = 0; k < counts.values(i).number_value(); ++k) {
      const double source = node - from.values(next++).number_value();
      EXPECT_GE(source, 0);
      EXPECT_LT(source, nodes);
      EXPECT_NE(source, node);
    }
  }
  EXPECT_EQ(next, from.values_size());
}

// The names and nodes of the functions of a state.
const Struct& StateOf(const Struct& data, int state) {
  return At(data, "states").list_value().values(state).struct_value();
}

std::string StringAt(const Struct& data, double index) {
  return At(data, "strings")
      .list_value()
      .values(static_cast<int>(index))
      .string_value();
}

TEST(HistoryPageTest, Loops) {
  const auto run = Record(
      "tir.LowerInitBlock,tir.ConvertBlocksToOpaque,tir.LowerOpaqueBlock", 1,
      kLoops);
  const History& history = run->history();
  const Struct data = ParseJson(PageDataOf(history).content);
  // Before, and after each pass; the function of each is a node of its own with
  // all that is in it.
  ASSERT_EQ(Size(data, "states"), 4);
  const int nodes = Size(data, "kinds");
  double last = -1;
  for (int state = 0; state < 4; ++state) {
    const auto& functions = At(StateOf(data, state), "functions").list_value();
    ASSERT_EQ(functions.values_size(), 2) << state;
    EXPECT_EQ(StringAt(data, functions.values(0).number_value()), "main");
    const double node = functions.values(1).number_value();
    EXPECT_GT(node, last) << state;
    EXPECT_LT(node, nodes) << state;
    last = node;
  }
  const auto titles_of = [&](int state) {
    std::string titles;
    const int begin =
        static_cast<int>(At(StateOf(data, state), "begin").number_value());
    const int end =
        state == 3 ? nodes
                   : static_cast<int>(
                         At(StateOf(data, state + 1), "begin").number_value());
    for (int node = begin; node < end; ++node) {
      absl::StrAppend(
          &titles,
          StringAt(data,
                   At(data, "titles").list_value().values(node).number_value()),
          ";");
    }
    return titles;
  };
  EXPECT_THAT(titles_of(0), HasSubstr("block sum;"));
  EXPECT_THAT(titles_of(0), Not(HasSubstr("IfThenElse;")));
  EXPECT_THAT(titles_of(1), HasSubstr("IfThenElse;"));
  EXPECT_THAT(titles_of(3), Not(HasSubstr("block sum;")));
  // The difference is lines of text.
  const auto& diffs = At(data, "diffs").list_value();
  std::string lines;
  for (const Value& diff : diffs.values()) {
    if (At(diff.struct_value(), "before").number_value() != 0 ||
        At(diff.struct_value(), "after").number_value() != 1) {
      continue;
    }
    const auto& changes = At(diff.struct_value(), "changes").list_value();
    ASSERT_EQ(changes.values_size(), 1);
    const auto& change = changes.values(0).list_value();
    EXPECT_EQ(change.values(0).number_value(), 3);  // changed
    EXPECT_EQ(StringAt(data, change.values(1).number_value()), "main");
    lines = StringAt(data, change.values(8).number_value());
  }
  EXPECT_THAT(lines, HasSubstr("-                with T.init():\n"
                               "+                if vj == 0:\n"));
  EXPECT_THAT(PageDataOf(history).content, HasSubstr("\"model.relay\""));
}

// A remark about a node of a function of loops.
TEST(HistoryPageTest, RemarksAboutLoops) {
  const Pass pass = CreateModulePass(
      [](IRModule module, const PassContext&) -> absl::StatusOr<IRModule> {
        const BaseFunc main = module.Find("main");
        VisitAtAnyLevel(main, [&](const ExprNode* node) {
          if (NodeText::Head(Expr(node)) != "For") return;
          LogRemark({.kind = RemarkKind::kMissed,
                     .node = Expr(node),
                     .reason = "the loop is too short"});
        });
        return module;
      },
      {.name = "Shorten"});
  const absl::StatusOr<IRModule> module = ParseModule(kLoops, "model.relay");
  ASSERT_THAT(module, IsOk());
  const auto run = Record(*module, pass);
  const Struct data = ParseJson(PageDataOf(run->history()).content);
  const auto& remarks = At(data, "remarks").list_value();
  ASSERT_EQ(remarks.values_size(), 2);
  for (const Value& value : remarks.values()) {
    const auto& remark = value.list_value();
    const int node = static_cast<int>(remark.values(2).number_value());
    ASSERT_GE(node, 0);
    EXPECT_EQ(
        StringAt(data,
                 At(data, "titles").list_value().values(node).number_value()),
        "For");
    EXPECT_EQ(StringAt(data, remark.values(3).number_value()),
              "the loop is too short");
  }
}

TEST(HistoryPageTest, AFileTellsWhatTheRunTells) {
  const auto run = Record("InferType,FoldConstant,FuseOps");
  const absl::StatusOr<HistoryBytes> bytes = WriteHistory(run->history());
  ASSERT_THAT(bytes, IsOk());
  const std::string text = bytes->ToString();
  BATON_ASSERT_OK_AND_ASSIGN(const History read,
                             ReadHistory(text, nullptr, "run.history"));
  const HistoryPageData page = PageDataOf(read);
  EXPECT_EQ(page.times, PageDataOf(run->history()).times);
  BATON_ASSERT_OK_AND_ASSIGN(const History again,
                             ReadHistory(text, nullptr, "run.history"));
  EXPECT_EQ(page.content, PageDataOf(again).content);
  EXPECT_EQ(Size(ParseJson(page.content), "kinds"),
            Size(ParseJson(PageDataOf(run->history()).content), "kinds"));
}

TEST(HistoryPageTest, ThreadsMakeNoDifference) {
  constexpr char kPasses[] = "InferType,FoldConstant,SimplifyInference,FuseOps";
  const auto run = Record(kPasses);
  const std::string page = PageDataOf(run->history()).content;
  const std::string trace = HistoryTrace(run->history());
  for (const int64_t threads : {2, 16}) {
    const auto other = Record(kPasses, threads);
    EXPECT_EQ(PageDataOf(other->history()).content, page) << threads;
    EXPECT_EQ(HistoryTrace(other->history()), trace) << threads;
  }
}

TEST(HistoryPageTest, ATraceHasExecutionsAndWhatStatesHold) {
  const auto run = Record("InferType,FoldConstant");
  const Struct trace = ParseJson(HistoryTrace(run->history()));
  int slices = 0;
  int counters = 0;
  for (const Value& event : At(trace, "traceEvents").list_value().values()) {
    const std::string phase = At(event.struct_value(), "ph").string_value();
    if (phase == "X") ++slices;
    if (phase == "C") ++counters;
  }
  EXPECT_EQ(slices, run->history().executions.size());
  EXPECT_GE(counters, 2 * run->history().states.size());
}

TEST(HistoryPageTest, NoNameEndsTheScript) {
  const std::string hostile = absl::StrCat(
      "</script><script>alert(1)</script><!-- \"'\\ \x01\x7F\xFF\xC3 "
      "{{script}} ",
      std::string(10000, 'n'));
  IRModule module;
  const relay::Var x(hostile, {2});
  module.Set(
      hostile,
      relay::Function(
          {x}, relay::Tuple({x, relay::Constant(Tensor::Scalar(1.0f))})));
  const auto run = Record(module, Does(hostile, hostile, hostile));
  const HistoryPageData page = PageDataOf(run->history());
  EXPECT_THAT(page.content, Not(HasSubstr("<")));
  const Struct data = ParseJson(page.content);
  bool found = false;
  for (const Value& string : At(data, "strings").list_value().values()) {
    found =
        found || absl::StrContains(string.string_value(), "</script><script>");
  }
  EXPECT_TRUE(found);
  const std::string html = HistoryPage(run->history(), hostile);
  size_t scripts = 0;
  for (size_t at = html.find("</script"); at != std::string::npos;
       at = html.find("</script", at + 1)) {
    ++scripts;
  }
  // The content, the times, a profile, a library, and what shows them.
  EXPECT_EQ(scripts, 5);
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(html, HasSubstr("<title>&lt;/script&gt;"));
  // The places of the parts are filled, and what is put in stays as it is.
  EXPECT_THAT(html, Not(HasSubstr("{{style}}")));
  EXPECT_THAT(html, HasSubstr("{{script}} nnn"));
}

TEST(HistoryPageTest, AHistoryWithoutAnything) {
  const HistoryPageData page = PageDataOf(History());
  EXPECT_EQ(Size(ParseJson(page.content), "states"), 0);
  EXPECT_EQ(page.times, "{\"start\":[],\"total\":[],\"peak\":[]}");
}

TEST(HistoryPageTest, AProfileIsAScriptOfData) {
  const std::string html =
      HistoryPage(History(), "run.history", R"({"calls":["</script>"]})");
  EXPECT_THAT(html,
              HasSubstr("id=\"profile\">{\"calls\":[\"\\u003c/script>\"]}<"));
  EXPECT_THAT(HistoryPage(History(), "run.history"),
              HasSubstr("id=\"profile\">null<"));
}

TEST(HistoryPageTest, ALibraryIsAScriptOfData) {
  const std::string html =
      HistoryPage(History(), "run.history", "", R"({"model":"</script>"})");
  EXPECT_THAT(html,
              HasSubstr("id=\"library\">{\"model\":\"\\u003c/script>\"}<"));
  EXPECT_THAT(html, HasSubstr("id=\"profile\">null<"));
  EXPECT_THAT(HistoryPage(History(), "run.history"),
              HasSubstr("id=\"library\">null<"));
}

TEST(HistoryPageTest, ThePageNeedsNothingElse) {
  const std::string html =
      HistoryPage(Record("InferType")->history(), "run.history");
  EXPECT_THAT(html, HasSubstr("<title>run.history</title>"));
  for (const char* other :
       {"src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest"}) {
    EXPECT_THAT(html, Not(HasSubstr(other)));
  }
}

}  // namespace
}  // namespace baton
