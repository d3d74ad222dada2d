#include "baton/ir/module_text.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/module.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/testing/script_level.h"
#include "baton/ir/type.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {

// A level without text.
enum class MuteKind : uint16_t { kMute = NodeKind::Id(13, 0) };
constexpr NodeSort SortOf(MuteKind /*kind*/) { return NodeSort::kFunction; }

class MuteNode final : public BaseFuncNode {
 public:
  BATON_NODE(Mute, BaseFuncNode, MuteKind::kMute)
  MuteNode() : BaseFuncNode(kKind) {}
  static constexpr auto Fields() {
    return field::List(field::Attrs<1, &MuteNode::attrs_>("attrs"));
  }
};

class Mute : public BaseFunc {
 public:
  BATON_HANDLE(Mute, BaseFunc, MuteNode)
  static Mute New() { return Mute(new MuteNode); }
};

#define BATON_MUTE_NODES(X) X(0, Mute, kFunction)
BATON_REGISTER_NODE_LEVEL("mute", 13, BATON_MUTE_NODES)

namespace {

using script::Record;
using script::Script;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::string_view kText = R"(#[version = "0.0.5"]
record Point {
  x,
  type,
}

script @first {
  @second;
  @second;
}

script @second {
}
)";

TEST(ModuleTextTest, AnotherLevelIsReadAndWritten) {
  const absl::StatusOr<IRModule> module = ParseModule(kText);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(AsText(*module), kText);
  EXPECT_EQ(module->functions()[0].var->name(), "first");
  EXPECT_EQ(module->FindType<Record>("Point")->fields().size(), 2);
  std::ostringstream os;
  AsText(*module, os);
  EXPECT_EQ(os.str(), kText);
  EXPECT_EQ(ToText(*module), kText.substr(kText.find("record")));
}

TEST(ModuleTextTest, AFunctionIsOneVariableForAllThatNameIt) {
  const IRModule module = *ParseModule(kText);
  const auto first = module.Find<Script>("first");
  EXPECT_EQ(first->calls()[0], module.FindGlobalVar("second"));
  EXPECT_EQ(first->calls()[1], module.FindGlobalVar("second"));
}

TEST(ModuleTextTest, DefinitionsAreSortedByName) {
  const std::vector<GlobalVar> kNoCalls;
  IRModule module;
  module.Set("b", Script(kNoCalls));
  module.Set("a", Script(kNoCalls));
  module.SetType(Record(GlobalTypeVar("Z"), {}));
  EXPECT_EQ(ToText(module),
            "record Z {\n}\n\nscript @a {\n}\n\nscript @b {\n}\n");
}

TEST(ModuleTextTest, VersionAloneIsAnEmptyModule) {
  EXPECT_EQ(AsText(IRModule()), "#[version = \"0.0.5\"]\n");
  const absl::StatusOr<IRModule> module = ParseModule(AsText(IRModule()));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->size(), 0);
}

std::string ErrorOf(absl::string_view text) {
  return std::string(ParseModule(text).status().message());
}

TEST(ModuleTextTest, UnknownKeywordIsAnErrorThatListsThose) {
  EXPECT_THAT(ErrorOf("\n scrip @f {}"),
              HasSubstr("input:2:2: error: no definition begins with `scrip`, "
                        "known are `record`, `script`; did you mean "
                        "\"script\"?"));
  EXPECT_THAT(ErrorOf("script @g {}\n loop x {}"),
              HasSubstr("input:2:2: error: no definition begins with `loop`"));
  // Relay is not linked.
  EXPECT_THAT(ErrorOf("def @f() { 1 }"),
              HasSubstr("1:1: error: no definition begins with `def`, known"));
  EXPECT_THAT(ErrorOf("1"), HasSubstr("1:1: error: expected a definition"));
  EXPECT_THAT(ErrorOf("script @f {}\n#[metadata]\n{}"),
              HasSubstr("2:1: error: this program links nothing that reads"));
}

TEST(ModuleTextTest, ReadingGoesOnAfterAMistake) {
  Diagnostics diagnostics;
  const IRModule module = ParseModule(R"(
      script @a { @b }
      def @x() { script }
      script @c { @d; }
      script odd { }
      } loose
      script @b { }
      script @c { }
  )",
                                      "input", diagnostics);
  const std::string text = diagnostics.ToString();
  EXPECT_THAT(text, HasSubstr("2:22: error: expected `;`, found `}`"));
  EXPECT_THAT(text, HasSubstr("3:7: error: no definition begins with `def`"));
  EXPECT_THAT(text, HasSubstr("4:19: error: the module has no function @d"));
  EXPECT_THAT(text, HasSubstr("5:14: error: expected a global name"));
  EXPECT_THAT(text, Not(HasSubstr("6:")));
  EXPECT_THAT(text, HasSubstr("8:14: error: @c is defined twice"));
  EXPECT_EQ(diagnostics.num_errors(), 5) << text;
  EXPECT_EQ(ToText(module), "script @b {\n}\n\nscript @c {\n  @d;\n}\n");
}

TEST(ModuleTextTest, AFunctionWithoutTextIsShownButCannotBeRead) {
  IRModule module;
  module.Set("f", Mute::New());
  module.Set("g", Script({GlobalVar("f")}));
  const std::string text = AsText(module, {.version = false});
  EXPECT_EQ(text,
            "unprintable @f  // Mute: this program links no text for it\n\n"
            "script @g {\n  @f;\n}\n");
  EXPECT_THAT(ErrorOf(text), HasSubstr("no definition begins with "
                                       "`unprintable`"));
  EXPECT_THAT(ErrorOf(text), HasSubstr("// Mute: this program links no text"));
}

class OtherReader final : public FunctionTextReader {
 public:
  explicit OtherReader(TextInput* /*input*/) {}
  bool ParseDefinition(absl::string_view /*keyword*/,
                       IRModule* /*module*/) override {
    // Does not even pass its keyword.
    return false;
  }
};

TEST(ModuleTextTest, AReaderThatReadsNothingDoesNotStopReading) {
  const ScopedOverride<TextReaderFactory> scope(
      &TextReaders(), "script", &internal::MakeTextReader<OtherReader>);
  const IRModule module = *ParseModule("script @f {} record R {}");
  EXPECT_EQ(ToText(module), "record R {\n}\n");
}

TEST(ModuleTextTest, AKeywordHasOneReader) {
  Registry<TextReaderFactory> readers(TextReaders());
  EXPECT_FALSE(
      readers.Register("script", &internal::MakeTextReader<OtherReader>));
  EXPECT_THAT(std::string(readers.CheckUnique("script").message()),
              HasSubstr("script_level.cc:"));
}

TEST(ModuleTextTest, KindsHaveTheirLevelInTheirKey) {
  EXPECT_EQ(QualifiedNodeKindName(script::ScriptNode::kKind), "script.Script");
  EXPECT_TRUE(TextWriters().Contains("script.Record"));
}

}  // namespace
}  // namespace baton
