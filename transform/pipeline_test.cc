#include "baton/transform/pipeline.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/registry.h"
#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

struct ConvertOptions {
  AttrMap layouts;
  int64_t depth = 1;
  bool strict = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("layouts", &ConvertOptions::layouts, "Layouts by operator.");
    v("depth", &ConvertOptions::depth, "How deep.");
    v("strict", &ConvertOptions::strict, "Whether to be strict.");
  }
};

absl::StatusOr<Pass> Convert(ConvertOptions options) {
  if (options.depth > 9) return absl::InvalidArgumentError("too deep");
  return CreateModulePass([](IRModule module, const PassContext& /*context*/)
                              -> absl::StatusOr<IRModule> { return module; },
                          {.name = "Convert"}, std::move(options));
}

PassRegistry Registry() {
  PassRegistry registry;
  registry.Register("AToB", toy::AToB);
  registry.Register("BToA", toy::BToA);
  registry.Register("InferType", toy::InferType);
  registry.Register("Convert", Convert);
  return registry;
}

// The text that `text` is printed back as.
std::string RoundTrip(const std::string& text) {
  const absl::StatusOr<Pass> pass = ParsePipeline(text, Registry());
  if (!pass.ok()) return pass.status().ToString();
  EXPECT_EQ(pass->name(), "sequential");
  EXPECT_EQ(pass->info().opt_level, 0);
  const std::string printed = PipelineToString(*pass).value();
  // Once printed, it stays.
  EXPECT_EQ(PipelineToString(*ParsePipeline(printed, Registry())).value(),
            printed);
  return printed;
}

std::string Error(const std::string& text) {
  return std::string(ParsePipeline(text, Registry()).status().message());
}

using ScopedPipeline = ScopedOverride<NamedPipeline>;

NamedPipeline OneStep(std::string items, int opt_level = 0) {
  return {.opt_level = opt_level, .steps = {{std::move(items), "A test."}}};
}

TEST(NamedPipelineTest, StandsForItsSteps) {
  const ScopedPipeline inner(&NamedPipelines(), "inner", OneStep("AToB", 3));
  const ScopedPipeline outer(
      &NamedPipelines(), "outer",
      {.opt_level = 1,
       .steps = {{"Convert{depth=2},inner", "A test."}, {"BToA", "Too."}}});
  EXPECT_EQ(RoundTrip("AToB,outer"),
            "AToB,Sequential{name=outer}(Convert{depth=2},"
            "Sequential{name=inner}(AToB),BToA)");
  const auto level = [](const std::string& text) {
    return OptLevelOf(ParsePipeline(text, Registry()).value());
  };
  EXPECT_EQ(level("FixedPoint(outer)"), 3);
  EXPECT_EQ(level("Sequential{name=outer}(AToB)"), 1);
  EXPECT_EQ(level("AToB"), 0);
}

TEST(NamedPipelineTest, Errors) {
  const ScopedPipeline bad(&NamedPipelines(), "bad", OneStep("AToB,AToC"));
  EXPECT_THAT(Error("BToA,bad"),
              HasSubstr("pipeline bad:1:6: error: unknown pass AToC; did you "
                        "mean \"AToB\"?\nAToB,AToC\n     ^~~~"));
  EXPECT_THAT(Error("bda"), HasSubstr("did you mean \"bad\"?"));
  EXPECT_THAT(Error("bad{x=1}"), HasSubstr("1:5: error: bad takes no options"));

  const ScopedPipeline one(&NamedPipelines(), "one", OneStep("AToB,two"));
  const ScopedPipeline two(&NamedPipelines(), "two", OneStep("one"));
  EXPECT_THAT(Error("one"),
              HasSubstr("pipeline two:1:1: error: a pipeline is a part of "
                        "itself: one > two > one"));
}

TEST(NamedPipelineTest, BadOnesAreRegistrationErrors) {
  const ScopedPipeline bad(&NamedPipelines(), "bad", OneStep("NoSuchPass"));
  EXPECT_THAT(std::string(RegistrationErrors().message()),
              HasSubstr("the pipeline bad ("));
  PassRegistry::Global().Override("taken", toy::AToB);
  const ScopedPipeline taken(&NamedPipelines(), "taken", OneStep(""));
  EXPECT_THAT(std::string(RegistrationErrors().message()),
              HasSubstr(") has the name of a pass"));
}

TEST(PipelineTest, RoundTrips) {
  for (const char* text :
       {"", "AToB", "AToB,BToA,AToB",
        "AToB,Convert{layouts={nn.conv2d:[NHWC,HWIO]}},AToB",
        "Convert{depth=3,strict=true}", "FixedPoint{limit=5}(AToB,BToA)",
        "FixedPoint(AToB)", "Sequential{name=mine,opt_level=3}(AToB)",
        "Sequential(AToB,FixedPoint(BToA,Sequential()))",
        "Sequential{required=[InferType]}(AToB)",
        "Sequential{name=\"two words\"}(AToB)"}) {
    EXPECT_EQ(RoundTrip(text), text);
  }
}

TEST(PipelineTest, DefaultsAndSpaceAreNotPrinted) {
  EXPECT_EQ(RoundTrip(" AToB ,\n\tBToA\n"), "AToB,BToA");
  EXPECT_EQ(RoundTrip("Convert{strict=false, depth = 1 }"), "Convert");
  EXPECT_EQ(RoundTrip("Convert { }"), "Convert");
  EXPECT_EQ(RoundTrip("FixedPoint {limit=10} ( AToB )"), "FixedPoint(AToB)");
  EXPECT_EQ(RoundTrip("Convert{strict=1,layouts={a=b}}"),
            "Convert{layouts={a:b},strict=true}");
}

TEST(PipelineTest, Runs) {
  EXPECT_EQ(
      toy::Ops(ParsePipeline("AToB", Registry())->Run(toy::Module()).value()),
      "b");
  EXPECT_EQ(toy::Ops(ParsePipeline("FixedPoint(AToB)", Registry())
                         ->Run(toy::Module())
                         .value()),
            "b");
}

TEST(PipelineTest, SinglePassIsASequential) {
  const Pass pass = ParsePipeline("AToB", Registry()).value();
  EXPECT_EQ(pass.impl().listed_passes().size(), 1);
  EXPECT_EQ(PipelineToString(toy::AToB()).value(), "AToB");
}

TEST(PipelineTest, NamedSequentialKeepsItsName) {
  EXPECT_EQ(
      PipelineToString(Sequential({toy::AToB()}, {.name = "mine"})).value(),
      "Sequential{name=mine}(AToB)");
}

TEST(PipelineTest, UnknownPass) {
  EXPECT_EQ(Error("AToB,InferTipe"),
            "pipeline:1:6: error: unknown pass InferTipe; did you mean "
            "\"InferType\"?\n"
            "AToB,InferTipe\n"
            "     ^~~~~~~~~");
  EXPECT_THAT(Error("FixPoint(AToB)"), HasSubstr("\"FixedPoint\""));
}

TEST(PipelineTest, OptionErrorsPointAtTheOption) {
  EXPECT_EQ(Error("AToB,Convert{strict=true,dept=3}"),
            "pipeline:1:26: error: Convert has no option dept; did you mean "
            "\"depth\"? (known: layouts, depth, strict)\n"
            "AToB,Convert{strict=true,dept=3}\n"
            "                         ^~~~");
  EXPECT_EQ(Error("Convert{depth=deep}"),
            "pipeline:1:15: error: Convert: depth: expected an integer, found "
            "deep\n"
            "Convert{depth=deep}\n"
            "              ^~~~");
  EXPECT_EQ(Error("Convert{depth=10}"),
            "pipeline:1:1: error: Convert: too deep\n"
            "Convert{depth=10}\n"
            "^~~~~~~");
  EXPECT_THAT(Error("AToB{x=1}"), HasSubstr("AToB takes no options"));
  EXPECT_THAT(Error("FixedPoint{limit=many}(AToB)"),
              HasSubstr("pipeline:1:18: error: FixedPoint: limit: expected"));
  EXPECT_THAT(Error("Sequential{level=1}(AToB)"),
              HasSubstr("Sequential has no option level"));
}

TEST(PipelineTest, SyntaxErrors) {
  EXPECT_EQ(Error("AToB,"),
            "pipeline:1:6: error: expected the name of a pass\n"
            "AToB,\n"
            "     ^");
  EXPECT_THAT(Error(",AToB"), HasSubstr("pipeline:1:1: "));
  EXPECT_THAT(Error("AToB BToA"),
              HasSubstr("pipeline:1:6: error: expected \",\" or the end"));
  EXPECT_THAT(Error("AToB)"), HasSubstr("expected \",\" or the end"));
  EXPECT_THAT(Error("AToB(BToA)"), HasSubstr("expected \",\" or the end"));
  EXPECT_THAT(Error("Sequential"),
              HasSubstr("expected \"(\" and the passes of Sequential"));
  EXPECT_THAT(Error("FixedPoint(AToB"), HasSubstr("expected \",\" or \")\""));
  EXPECT_THAT(Error("Convert{depth=1"), HasSubstr("expected \",\" or \"}\""));
  EXPECT_THAT(Error("Convert{depth:1}"), HasSubstr("expected \"=\""));
  EXPECT_THAT(Error("Convert{depth=1,depth=2}"),
              HasSubstr("depth is given twice"));
}

TEST(PipelineTest, ErrorsOnLaterLines) {
  EXPECT_EQ(ParsePipeline("AToB,\n  Nope,\nBToA", Registry(), "--passes")
                .status()
                .message(),
            "--passes:2:3: error: unknown pass Nope\n"
            "  Nope,\n"
            "  ^~~~");
}

TEST(PipelineTest, HostileDepth) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "FixedPoint(";
  EXPECT_THAT(Error(text), HasSubstr("nested more than 100 brackets deep"));
  text.clear();
  for (int i = 0; i < 50; ++i) text += "Sequential(";
  EXPECT_EQ(Error(text + "AToB" + std::string(50, ')')), "");
  // Options count as well.
  EXPECT_THAT(Error(text + "Convert{layouts=" + std::string(100000, '[')),
              HasSubstr("nested more than 100 brackets deep"));
}

TEST(PipelineTest, LongPipeline) {
  std::string text = "AToB";
  for (int i = 0; i < 20000; ++i) text += ",BToA";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST(PipelineTest, PassRegisteredTwice) {
  PassRegistry registry = Registry();
  registry.Register("AToB", toy::BToA, {"b.cc", 1});
  EXPECT_THAT(std::string(ParsePipeline("AToB", registry).status().message()),
              HasSubstr("pass AToB is registered twice: b.cc:1 and "));
}

}  // namespace
}  // namespace baton
