#include "baton/relay/ir/text_name_table.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace internal {
namespace {

class Named {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

TEST(NameTableTest, FindsNamesOfAllLengths) {
  std::vector<Named> nodes;
  std::string name;
  for (int i = 0; i < 40; ++i) {
    nodes.emplace_back(name);
    name.push_back('a');
  }
  NameTable<Named> table;
  EXPECT_EQ(table.Find("a"), nullptr);
  for (const Named& node : nodes) table.Push(&node);
  for (const Named& node : nodes) EXPECT_EQ(table.Find(node.name()), &node);
  EXPECT_EQ(table.Find("b"), nullptr);
  EXPECT_EQ(table.Find(name), nullptr);
}

TEST(NameTableTest, TheLastBindingCountsUntilItIsTakenBack) {
  const Named outer("x");
  const Named inner("x");
  const Named other("y");
  NameTable<Named> table;
  table.Push(&outer);
  table.Push(&inner);
  table.Push(&other);
  EXPECT_EQ(table.Find("x"), &inner);
  table.Shrink(1);
  EXPECT_EQ(table.Find("x"), &outer);
  EXPECT_EQ(table.Find("y"), nullptr);
  table.Shrink(0);
  EXPECT_EQ(table.Find("x"), nullptr);
  EXPECT_EQ(table.size(), 0u);
}

// Names that share buckets, hidden ones among them, in a table that grows.
TEST(NameTableTest, ScopesOpenAndCloseWhileTheTableGrows) {
  std::vector<Named> nodes;
  for (int i = 0; i < 5000; ++i) nodes.emplace_back(absl::StrCat("v", i % 900));
  NameTable<Named> table;
  const auto last = [&](uint32_t bound, int name) {
    const Named* node = nullptr;
    for (uint32_t i = name; i < bound; i += 900) node = &nodes[i];
    return node;
  };
  for (const Named& node : nodes) table.Push(&node);
  for (const uint32_t bound : {5000u, 4999u, 3000u, 2999u, 901u, 450u, 3u}) {
    table.Shrink(bound);
    for (int name = 0; name < 900; ++name) {
      ASSERT_EQ(table.Find(absl::StrCat("v", name)), last(bound, name));
    }
  }
  for (size_t i = table.size(); i < nodes.size(); ++i) table.Push(&nodes[i]);
  for (int name = 0; name < 900; ++name) {
    ASSERT_EQ(table.Find(absl::StrCat("v", name)), last(5000, name));
  }
}

}  // namespace
}  // namespace internal
}  // namespace baton::relay
