#include "baton/base/hash_table.h"

#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

// A key that takes memory to be copied, and cannot get it when told so.
struct Fussy {
  static inline int copies_left = 1 << 30;

  explicit Fussy(int value) : value(value) {}
  Fussy(const Fussy& other) : value(other.value) {
    if (copies_left-- <= 0) throw std::bad_alloc();
  }
  Fussy(Fussy&& other) noexcept : value(other.value) {}
  Fussy& operator=(const Fussy&) = default;
  friend bool operator==(const Fussy& a, const Fussy& b) {
    return a.value == b.value;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Fussy& fussy) {
    return H::combine(std::move(h), fussy.value);
  }

  int value;
};

TEST(HashTableTest, IsATable) {
  FlatHashMap<std::string, int> map = {{"a", 1}, {"b", 2}};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(map.try_emplace(absl::StrCat(i), i).second);
    EXPECT_FALSE(map.emplace(absl::StrCat(i), -i).second);
    EXPECT_FALSE(map.insert({absl::StrCat(i), -i}).second);
  }
  EXPECT_EQ(map.size(), 1002u);
  EXPECT_EQ(map[absl::string_view("17")], 17);
  EXPECT_EQ(map["new"], 0);
  map.insert_or_assign("17", 18);
  map.insert_or_assign("18x", 19);
  EXPECT_EQ(map.at("17"), 18);
  EXPECT_EQ(map.at("18x"), 19);

  FlatHashMap<std::string, int> copy = map;
  FlatHashMap<std::string, int> moved = std::move(map);
  EXPECT_EQ(copy, moved);
  copy.clear();
  EXPECT_TRUE(copy.empty());
  copy = moved;
  EXPECT_EQ(copy, moved);

  const std::vector<int> values = {1, 2, 3, 2, 1};
  FlatHashSet<int> set(values.begin(), values.end());
  EXPECT_EQ(set.size(), 3u);
  EXPECT_FALSE(set.insert(3).second);
  EXPECT_TRUE(set.emplace(4).second);
}

// Places of erased elements are found again: the table does not grow.
TEST(HashTableTest, ErasedElementsMakeRoom) {
  FlatHashSet<int> set;
  for (int i = 0; i < 100000; ++i) {
    EXPECT_TRUE(set.insert(i).second);
    if (i >= 10) {
      EXPECT_EQ(set.erase(i - 10), 1u);
    }
  }
  EXPECT_EQ(set.size(), 10u);
  EXPECT_LE(set.bucket_count(), 63u);
}

TEST(HashTableTest, StaysWholeWhenAnElementCannotBeMade) {
  FlatHashMap<Fussy, std::string> map;
  FlatHashSet<Fussy> set;
  for (int i = 0; i < 100; ++i) {
    const Fussy key(i);
    Fussy::copies_left = 0;
    EXPECT_THROW(map.try_emplace(key, "x"), std::bad_alloc);
    EXPECT_THROW(map[key], std::bad_alloc);
    EXPECT_THROW(set.insert(key), std::bad_alloc);
    Fussy::copies_left = 1 << 30;
    EXPECT_EQ(map.size(), static_cast<size_t>(i));
    EXPECT_TRUE(map.try_emplace(key, absl::StrCat(i)).second);
    EXPECT_TRUE(set.insert(key).second);
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(map.at(Fussy(i)), absl::StrCat(i));
    EXPECT_TRUE(set.contains(Fussy(i)));
  }
}

}  // namespace
}  // namespace baton
