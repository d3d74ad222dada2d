#include "baton/testing/parse_typed.h"

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {

IRModule ParseTyped(absl::string_view text) {
  const auto parse = [&]() -> absl::StatusOr<IRModule> {
    BATON_ASSIGN_OR_RETURN(const IRModule module, ParseModule(text));
    return relay::InferTypes(module);
  };
  const absl::StatusOr<IRModule> module = parse();
  EXPECT_THAT(module, IsOk()) << text;
  return module.ok() ? *module : IRModule();
}

}  // namespace baton::testing
