#include "baton/base/near_names.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(NearestNamesTest, ByEdits) {
  const std::vector<std::string> names = {
      "FoldConstant", "FuseOps", "DefuseOps", "nn.conv2d", "nn.conv1d"};
  using Names = std::vector<std::string>;
  EXPECT_EQ(NearestNames("FoldConstnat", names), (Names{"FoldConstant"}));
  EXPECT_EQ(NearestNames("fuseops", names), (Names{"FuseOps", "DefuseOps"}));
  EXPECT_EQ(NearestNames("conv2d", names), (Names{"nn.conv2d"}));
  EXPECT_EQ(NearestNames("nn.conv3d", names),
            (Names{"nn.conv1d", "nn.conv2d"}));
  EXPECT_EQ(NearestNames("Unrelated", names), Names());
  EXPECT_EQ(NearestNames("", names), Names());
  EXPECT_EQ(NearestNames(std::string(100000, 'x'), names), Names());
}

TEST(NearestNamesTest, OfLongNames) {
  using Names = std::vector<std::string>;
  const std::string name = std::string(60, 'a') + std::string(60, 'b');
  const Names names = {name + "cde", name.substr(5), "x" + name,
                       std::string(120, 'a'), "ba" + name.substr(2)};
  EXPECT_EQ(
      NearestNames(name, names, 9),
      (Names{"ba" + name.substr(2), "x" + name, name + "cde", name.substr(5)}));
}

TEST(NearestNamesTest, AsAQuestion) {
  EXPECT_EQ(DidYouMean("ab", {"abc", "abd", "abe", "xyz"}),
            "; did you mean \"abc\", \"abd\" or \"abe\"?");
  EXPECT_EQ(DidYouMean("main", {"man"}), "; did you mean \"man\"?");
  EXPECT_EQ(DidYouMean("main", {"other"}), "");
}

}  // namespace
}  // namespace baton
