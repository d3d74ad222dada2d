#include "baton/docs/reference.h"

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/transform/config.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::docs {
namespace {

using ::testing::HasSubstr;

struct ToyOptions {
  int64_t limit = 3;
  std::string mode = "a|b";
  std::string target;

  template <typename V>
  static void VisitFields(V& v) {
    v("limit", &ToyOptions::limit, "How far.");
    v("mode", &ToyOptions::mode, "This | that.");
    v("target", &ToyOptions::target, "Where to.", kRequired);
  }
  static constexpr char kTypeKey[] = "toy.attrs.ToyAttrs";
};

absl::StatusOr<IRModule> Nothing(const IRModule& module,
                                 const PassContext& /*context*/) {
  return module;
}

Pass Toy(ToyOptions options) {
  return CreateModulePass(Nothing,
                          {.name = "Toy",
                           .opt_level = 2,
                           .required = {"A", "b.B_1", "C"},
                           .doc = "One line.\n\nAnd more.",
                           .idempotent = true},
                          options);
}

Pass Loose() {
  return CreateModulePass(Nothing, {.name = "Loose",
                                    .doc = "Loses bits.",
                                    .exact = false,
                                    .tolerance = 0.5,
                                    .waivers = {{"effects", "It forgets."}}});
}

TEST(ReferenceTest, Passes) {
  PassRegistry registry;
  registry.Register("Toy", Toy);
  registry.Register("Loose", Loose);
  EXPECT_THAT(
      PassReference(registry),
      ::testing::EndsWith(
          "\n## Loose\n\nLoses bits.\n\n"
          "Level 0, module pass. Values: reassociating, within 0.5 of the "
          "largest element.\n\n"
          "It does not keep the law `effects`: It forgets.\n"
          "\n## Toy\n\nOne line.\n\nAnd more.\n\n"
          "Level 2, module pass; requires [A](#a), [b.B_1](#bb_1) and "
          "[C](#c). Values: bit-exact. Run on its own result, it changes "
          "nothing.\n\n"
          "| option | type | default | is |\n|---|---|---|---|\n"
          "| `limit` | int | `3` | How far. |\n"
          "| `mode` | string | `\"a\\|b\"` | This \\| that. |\n"
          "| `target` | string | must be given | Where to. |\n"));
}

TEST(ReferenceTest, PassesThatCannotBeMade) {
  PassRegistry registry;
  registry.Register("Toy", Toy);
  registry.Register("Toy", Toy);
  EXPECT_THAT(PassReference(registry), HasSubstr("\n## Toy\n\nError: "));
}

BATON_REGISTER_OP("toy.op_1")
    .Describe("Plays.")
    .Arguments({{"a", "The | first."}, {"b", "The second."}})
    .TakesAttrs<ToyOptions>();
BATON_REGISTER_OP("toy.op_2").Describe("Takes all.").Variadic();

TEST(ReferenceTest, Operators) {
  EXPECT_THAT(OperatorReference(),
              HasSubstr("\n## toy.op_1\n\nPlays.\n\n    toy.op_1(a, b)\n\n"
                        "Properties: **no kernel**; fusion: opaque.\n\n"
                        "| argument | is |\n|---|---|\n"
                        "| `a` | The \\| first. |\n| `b` | The second. |\n\n"
                        "Attributes: `toy.attrs.ToyAttrs`.\n\n"
                        "| attribute | type | default | is |\n"
                        "|---|---|---|---|\n"
                        "| `limit` | int | `3` | How far. |\n"));
  EXPECT_THAT(OperatorReference(), HasSubstr("    toy.op_2(...)\n"));
  EXPECT_THAT(OperatorReference(), HasSubstr("have no kernel."));
}

BATON_REGISTER_CONFIG(kDepth, int64_t, "toy.depth", 256, "How deep.");

TEST(ReferenceTest, Options) {
  EXPECT_THAT(OptionReference(),
              HasSubstr("\n| `toy.depth` | int | `256` | How deep. |\n"));
  EXPECT_THAT(OptionReference(), HasSubstr("\n| `limit` | int | `10` | "));
}

}  // namespace
}  // namespace baton::docs
