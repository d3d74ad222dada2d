#include "baton/instrument/print_ir_instrument.h"

#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

// The output while `pass` runs.
std::string Print(const Pass& pass, PrintIrOptions options) {
  std::ostringstream out;
  options.out = &out;
  options.text.types = false;
  auto instrument = PrintIrInstrument::Create(std::move(options));
  EXPECT_TRUE(instrument.ok()) << instrument.status();
  EXPECT_TRUE(PassContext({.instruments = {*instrument}})
                  .Run([&] { return pass(toy::Module()); })
                  .ok());
  return out.str();
}

constexpr char kModuleA[] =
    "def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
    "  toy.a(%x)\n"
    "}\n";
constexpr char kModuleB[] =
    "def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
    "  toy.b(%x)\n"
    "}\n";

TEST(PrintIrTest, BeforeAndAfterMatchingPasses) {
  EXPECT_EQ(Print(Sequential({toy::AToB(), toy::Nothing()}),
                  {.before = "A.*", .after = "InferType|AToB"}),
            absl::StrCat("// IR before #2 AToB, in #1 sequential\n", kModuleA,
                         "\n",  //
                         "// IR after #3 InferType, in #2 AToB, in #1 "
                         "sequential\n",
                         kModuleB, "\n",  //
                         "// IR after #2 AToB, in #1 sequential\n", kModuleB,
                         "\n",  //
                         "// IR after #5 InferType, in #4 Nothing, in #1 "
                         "sequential\n",
                         kModuleB, "\n"));
}

TEST(PrintIrTest, TheWholeNameMustMatch) {
  EXPECT_EQ(Print(toy::AToB(), {.before = "To"}), "");
  EXPECT_EQ(Print(toy::AToB(), {}), "");
}

TEST(PrintIrTest, IllFormedExpression) {
  const absl::Status status =
      PrintIrInstrument::Create({.after = "a("}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a("));
}

TEST(PrintIrTest, ChangedFull) {
  EXPECT_EQ(
      Print(Sequential({toy::Nothing(), toy::AToB()}),
            {.changed = PrintIrOptions::Changed::kFull}),
      absl::StrCat("// IR after #4 AToB, in #1 sequential\n", kModuleB, "\n"));
}

TEST(PrintIrTest, ChangedDiff) {
  EXPECT_EQ(Print(toy::AToB(), {.changed = PrintIrOptions::Changed::kDiff}),
            "// IR changed by #1 AToB\n"
            "--- @main\n"
            "+++ @main\n"
            "@@ -1,3 +1,3 @@\n"
            " def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
            "-  toy.a(%x)\n"
            "+  toy.b(%x)\n"
            " }\n"
            "\n");
}

TEST(PrintIrTest, DiffOfTheFunctionsThatChanged) {
  const Pass pass = CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        IRModule result = module;
        result.Remove("f1");
        result.Set("f3", module.Find<relay::Function>("f2"));
        result.Set("main",
                   toy::Wrap(module.Find<relay::Function>("main"), "toy.b"));
        return result;
      },
      {.name = "Mix"});
  std::ostringstream out;
  const auto instrument =
      PrintIrInstrument::Create({.changed = PrintIrOptions::Changed::kDiff,
                                 .text = {.version = false, .types = false},
                                 .out = &out});
  ASSERT_TRUE(instrument.ok());
  EXPECT_TRUE(PassContext({.instruments = {*instrument}})
                  .Run([&] { return pass(toy::Module(3)); })
                  .ok());
  const std::string head =
      "(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n";
  EXPECT_EQ(out.str(), absl::StrCat("// IR changed by #1 Mix\n"
                                    "--- @main\n"
                                    "+++ @main\n"
                                    "@@ -1,3 +1,4 @@\n"
                                    " def @main",
                                    head,
                                    "-  toy.a(%x)\n"
                                    "+  %0 = toy.a(%x);\n"
                                    "+  toy.b(%0)\n"
                                    " }\n"
                                    "--- @f1\n"
                                    "+++ @f1\n"
                                    "@@ -1,3 +0,0 @@\n"
                                    "-def @f1",
                                    head,
                                    "-  toy.a(%x)\n"
                                    "-}\n"
                                    "--- @f3\n"
                                    "+++ @f3\n"
                                    "@@ -0,0 +1,3 @@\n"
                                    "+def @f3",
                                    head,
                                    "+  toy.a(%x)\n"
                                    "+}\n"
                                    "\n"));
}

}  // namespace
}  // namespace baton
