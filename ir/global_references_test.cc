#include "baton/ir/global_references.h"

#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/testing/script_level.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using script::Script;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

IRModule Scripts() {
  IRModule module;
  const auto define = [&module](const std::string& name,
                                const std::vector<std::string>& calls) {
    std::vector<GlobalVar> vars;
    for (const std::string& call : calls) vars.emplace_back(call);
    module.Set(name, Script(vars));
  };
  define("main", {"b", "a", "b"});
  define("a", {"missing", "main"});
  define("b", {"c"});
  define("c", {});
  define("alone", {"alone"});
  return module;
}

TEST(GlobalReferencesTest, Reachable) {
  const IRModule module = Scripts();
  EXPECT_THAT(ReachableFunctions(module, {"b", "b"}), ElementsAre("b", "c"));
  EXPECT_THAT(ReachableFunctions(module, {"alone", "c"}),
              ElementsAre("alone", "c"));
  EXPECT_THAT(ReachableFunctions(module, {}), IsEmpty());
  const std::vector<std::string> all = ReachableFunctions(module, {"main"});
  EXPECT_EQ(all[0], "main");
  EXPECT_THAT(
      all, ::testing::UnorderedElementsAre("main", "a", "b", "c", "missing"));
}

TEST(GlobalReferencesTest, StopsWhereThePredicateHolds) {
  int asked = 0;
  const auto is_b = [&asked](const std::string& name) {
    ++asked;
    return name == "b";
  };
  const IRModule module = Scripts();
  EXPECT_TRUE(AnyGlobalReference(module.Find("main"), is_b));
  EXPECT_LE(asked, 3);
  EXPECT_FALSE(AnyGlobalReference(module.Find("c"), is_b));
}

}  // namespace
}  // namespace baton
