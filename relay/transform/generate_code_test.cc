#include "baton/relay/transform/generate_code.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass_context.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::ParseTyped;
using ::baton::testing::StatusIs;
using ::testing::SizeIs;

using Override = ScopedOverride<CodeGenerator>;

// Makes that of every function, under its symbol and `suffix`.
CodeGenerator Makes(std::string bytes, std::string suffix = ".c") {
  return {
      .doc = "For tests.",
      .generate = [=](const Function&,
                      const std::string& symbol) -> absl::StatusOr<Artifact> {
        return Artifact{absl::StrCat(symbol, suffix), bytes};
      }};
}

constexpr char kModule[] = R"(
    def @main(%x: float32) -> float32 { add(@acme_0(%x), @other_0(%x)) }
    def @acme_0(%y: float32, Compiler="acme", global_symbol="acme_0")
        -> float32 { exp(%y) }
    def @other_0(%y: float32, Compiler="other", global_symbol="other_0")
        -> float32 { log(%y) })";

const GenerateCodeOptions kAcme = {.compilers = {"acme"}};

TEST(GenerateCodeTest, CodeIsPartOfTheModuleAndItsFiles) {
  std::string bytes = "int main;\n\"\\";
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  const Override acme(&CodeGenerators(), "acme", Makes(bytes));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             GenerateCode(kAcme)(ParseTyped(kModule)));
  const auto check = [&](const IRModule& read) {
    EXPECT_TRUE(StructuralEqual(read, module));
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Artifact> artifacts,
                               ArtifactsOf(read));
    ASSERT_THAT(artifacts, SizeIs(1));
    EXPECT_EQ(artifacts[0].name, "acme_0.c");
    EXPECT_EQ(artifacts[0].bytes, bytes);
  };
  check(module);
  BATON_ASSERT_OK_AND_ASSIGN(const BinaryModule file, WriteBinary(module));
  BATON_ASSERT_OK_AND_ASSIGN(const BinaryContent binary,
                             ReadBinary(file.ToString(), nullptr, "test"));
  check(binary.module);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule text, ParseModule(AsText(module)));
  check(text);
}

TEST(GenerateCodeTest, TheSameCodeLeavesTheModule) {
  const Override acme(&CodeGenerators(), "acme", Makes("code"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             GenerateCode(kAcme)(ParseTyped(kModule)));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, GenerateCode(kAcme)(module));
  EXPECT_TRUE(again.SameAs(module));
}

TEST(GenerateCodeTest, AsksTheGeneratorOfEachCompiler) {
  const Override acme(&CodeGenerators(), "acme", Makes("a"));
  EXPECT_THAT(GenerateCode()(ParseTyped(kModule)),
              StatusIs(absl::StatusCode::kNotFound,
                       "code for @other_0: unknown code generator \"other\""));
  const Override other(&CodeGenerators(), "other", Makes("b"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             GenerateCode()(ParseTyped(kModule)));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Artifact> artifacts,
                             ArtifactsOf(module));
  ASSERT_THAT(artifacts, SizeIs(2));
  EXPECT_EQ(artifacts[1].bytes, "b");
  EXPECT_THAT(GenerateCode({.compilers = {"acne"}})(ParseTyped(kModule)),
              StatusIs(absl::StatusCode::kNotFound, "acme"));
}

TEST(GenerateCodeTest, NamesTheFunctionWhoseCodeIsWrong) {
  const auto generate = [](CodeGenerator generator,
                           const char* text = kModule) {
    const Override acme(&CodeGenerators(), "acme", std::move(generator));
    return GenerateCode(kAcme)(ParseTyped(text)).status();
  };
  const auto fails = [](const Function&,
                        const std::string&) -> absl::StatusOr<Artifact> {
    return absl::UnimplementedError("no exp here");
  };
  const auto throws = [](const Function&,
                         const std::string&) -> absl::StatusOr<Artifact> {
    throw std::runtime_error("no licence");
  };
  EXPECT_THAT(generate({.generate = fails}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "code for @acme_0: no exp here"));
  EXPECT_THAT(generate({.generate = throws}),
              StatusIs(absl::StatusCode::kInternal,
                       "code for @acme_0: an exception: no licence"));
  EXPECT_THAT(generate({}),
              StatusIs(absl::StatusCode::kUnimplemented, "makes no code"));
  EXPECT_THAT(generate(Makes("", "/../x")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "code for @acme_0: the artifact's name \"acme_0/../x\" "
                       "is not that of a file"));
  EXPECT_THAT(generate(Makes(""), R"(
      def @f(%x: int32, Compiler="acme") { %x })"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "code for @f: the function has no attribute "
                       "global_symbol"));
  EXPECT_THAT(generate(Makes(""), R"(
      def @f(%x: int32, Compiler="acme", global_symbol="same") { %x }
      def @g(%x: int32, Compiler="acme", global_symbol="same") { %x })"),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       "code for @g: the artifact same.c is that of @f "
                       "already"));
}

TEST(GenerateCodeTest, LimitsTheCodeOfAModule) {
  const Override acme(&CodeGenerators(), "acme", Makes(std::string(60, 'a')));
  const Override other(&CodeGenerators(), "other", Makes(std::string(50, 'b')));
  const PassContext context(
      {.config = {{"relay.GenerateCode.max_bytes", int64_t{100}}}});
  EXPECT_THAT(context.Run([] { return GenerateCode()(ParseTyped(kModule)); }),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "code for @other_0: 50 bytes are more than the setting "
                       "relay.GenerateCode.max_bytes (100) allows"));
}

}  // namespace
}  // namespace baton::relay
