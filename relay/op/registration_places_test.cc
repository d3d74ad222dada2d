// Errors name the line that registers an operator, also where a helper shared
// by a family of operators does it.

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/registry.h"
#include "baton/ir/op.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

TEST(RegistrationPlacesTest, EachOperatorHasALineOfItsOwn) {
  std::vector<std::string> names;
  for (const OpNode* op : OpRegistry::Global().List()) {
    names.push_back(op->name());
  }
  ASSERT_GT(names.size(), 200u);
  absl::flat_hash_map<std::string, std::string> name_at;
  for (const std::string& name : names) {
    // Sorts behind every file of the repository.
    OpRegistration(name, {"~/again.cc", 1}).Describe("Refused.");
    const std::string message(
        OpRegistry::Global().Get(name).status().message());
    absl::string_view place = message;
    ASSERT_TRUE(absl::ConsumePrefix(
        &place, absl::StrCat("operator ", name, " is registered twice: ")))
        << message;
    ASSERT_TRUE(absl::ConsumeSuffix(&place, " and ~/again.cc:1")) << message;
    EXPECT_TRUE(absl::StrContains(place, "relay/op/")) << message;
    const auto [it, is_new] = name_at.emplace(place, name);
    EXPECT_TRUE(is_new) << name << " and " << it->second << " are both at "
                        << place;
  }
}

}  // namespace
}  // namespace baton::relay
