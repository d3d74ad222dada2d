// Tests functions of Relay and of another level in one text.

#include "baton/ir/module_text.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/testing/script_level.h"
#include "baton/relay/ir/expr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using script::Script;
using ::testing::HasSubstr;

// The text as it is printed: names are unique in a module, and numbers go on,
// over functions of other kinds; one metadata section is last.
constexpr absl::string_view kText = R"(#[version = "0.0.5"]
type List {
  Nil,
}

record Point {
  x,
}

def @a(%x: int32) {
  @run(%x)
}

script @run {
  @a;
  @z;
}

def @z(%x1: int32) {
  %0 = (%x1, %x1);
  (%0, %0, meta[relay.Constant][0])
}

#[metadata]
)";

constexpr absl::string_view kMetadata = R"({
  "root": 1,
  "nodes": [
    {"type_key": ""},
    {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
    {"type_key": "Array", "data": [3]},
    {"type_key": "relay.Constant",
     "attrs": {"data": "0", "virtual_device_": "0", "span": "0"}}
  ],
  "b64ndarrays": [
    "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAAgAQACAAAAAAAAAAgAAAAAAAAAAQAAAAIAAAA="
  ]
}
)";

std::string ErrorOf(absl::string_view text) {
  return std::string(ParseModule(text).status().message());
}

TEST(ModuleTextTest, LevelsStandSideBySide) {
  const absl::StatusOr<IRModule> module =
      ParseModule(std::string(kText) + std::string(kMetadata));
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string text = AsText(*module);
  EXPECT_EQ(text.substr(0, kText.size()), kText);
  const absl::StatusOr<IRModule> again = ParseModule(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(AsText(*again), text);
}

TEST(ModuleTextTest, LevelsShareTheNamesOfFunctions) {
  const IRModule module = *ParseModule(R"(
      def @a() { @run() }
      script @run { @a; })");
  const Call call(module.Find<Function>("a")->body().As<CallNode>());
  EXPECT_EQ(call->op(), module.FindGlobalVar("run"));
  EXPECT_EQ(module.Find<Script>("run")->calls()[0], module.FindGlobalVar("a"));
  EXPECT_THAT(ErrorOf("def @f() { 1 }\nscript @f { }"),
              HasSubstr("2:8: error: @f is defined twice"));
  EXPECT_THAT(ErrorOf("type T { A, }\nrecord T { }"),
              HasSubstr("2:8: error: type T is defined twice"));
}

TEST(ModuleTextTest, AMistakeEndsWhereTheNextDefinitionBegins) {
  Diagnostics diagnostics;
  const IRModule module = ParseModule(
      "def @a() { let %x = ;\n"
      "script @run { @b; }\n"
      "def @b() { 1 }\n"
      "script @odd { } }\n"
      "def @c() { 2 }",
      "input", diagnostics);
  EXPECT_EQ(diagnostics.num_errors(), 3) << diagnostics.ToString();
  EXPECT_THAT(diagnostics.ToString(), HasSubstr("1:21: error"));
  EXPECT_THAT(diagnostics.ToString(),
              HasSubstr("2:1: error: expected an expression"));
  EXPECT_THAT(diagnostics.ToString(), HasSubstr("4:17: error"));
  EXPECT_EQ(ToText(module),
            "def @b() {\n  1\n}\n\ndef @c() {\n  2\n}\n\nscript @odd {\n}\n\n"
            "script @run {\n  @b;\n}\n");
}

TEST(ModuleTextTest, AllKeywordsAreKnown) {
  EXPECT_THAT(ErrorOf("fn_of @f { }"),
              HasSubstr("no definition begins with `fn_of`, known are `def`, "
                        "`extern`, `record`, `script`, `type`"));
}

// A keyword of another level is a name in an expression.
TEST(ModuleTextTest, AnExpressionAloneIsRelays) {
  EXPECT_EQ(ToText(*ParseModule("(1, 2)")), "def @main() {\n  (1, 2)\n}\n");
  EXPECT_THAT(ErrorOf("script(1)"), HasSubstr("unknown operator `script`"));
}

}  // namespace
}  // namespace baton::relay
