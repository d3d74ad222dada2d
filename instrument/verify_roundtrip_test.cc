#include "baton/instrument/verify_roundtrip.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using testing::IsOk;
using testing::StatusIs;

absl::Status Check(const Pass& pass) {
  return PassContext(
             {.instruments = {std::make_shared<VerifyRoundtripInstrument>()}})
      .Run([&] {
        return pass(*ParseModule("def @main(%x: float32) { tanh(%x) }"));
      })
      .status();
}

TEST(VerifyRoundtripTest, GoodPasses) {
  EXPECT_THAT(Check(toy::Replace("tanh", "exp", {.name = "Good"})), IsOk());
  EXPECT_THAT(Check(toy::Nothing()), IsOk());
}

TEST(VerifyRoundtripTest, NamesThePass) {
  // Two functions of one name in the text.
  const Pass wrong = CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        IRModule result = module;
        result.Set("a b", module.Find("main"));
        result.Set("a_b", module.Find("main"));
        return result;
      },
      {.name = "Wrong"});
  EXPECT_THAT(Check(wrong), StatusIs(absl::StatusCode::kInternal,
                                     "the result of pass Wrong, as text, "));
}

}  // namespace
}  // namespace baton
