#include "baton/relay/ir/text_unique_names.h"

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace internal {
namespace {

size_t Add(UniqueNames& names, absl::string_view name) {
  names.Begin().append(name.data(), name.size());
  return names.Finish();
}

TEST(UniqueNamesTest, ANameThatIsTakenGetsTheFirstFreeNumber) {
  UniqueNames names;
  EXPECT_EQ(names[Add(names, "%x")], "%x");
  EXPECT_EQ(names[Add(names, "%x2")], "%x2");
  EXPECT_EQ(names[Add(names, "%x")], "%x1");
  EXPECT_EQ(names[Add(names, "%x")], "%x3");
  EXPECT_EQ(names[Add(names, "%x1")], "%x11");
  EXPECT_EQ(names[Add(names, "")], "");
  EXPECT_EQ(names[Add(names, "")], "1");
  EXPECT_EQ(names[0], "%x");
}

TEST(UniqueNamesTest, ManyNamesAreAllDifferent) {
  UniqueNames names;
  absl::flat_hash_set<std::string> seen;
  for (int i = 0; i < 3000; ++i) {
    const absl::string_view text =
        names[Add(names, absl::StrCat("%v", i % 999))];
    EXPECT_TRUE(seen.insert(std::string(text)).second) << text;
  }
  for (size_t i = 0; i < 999; ++i) {
    EXPECT_EQ(names[i], absl::StrCat("%v", i));
  }
}

}  // namespace
}  // namespace internal
}  // namespace baton::relay
