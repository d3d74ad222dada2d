#include "baton/base/checksum.h"

#include <string>

#include "gtest/gtest.h"

namespace baton {
namespace {

// As the reference implementation of xxHash has it.
TEST(ChecksumTest, IsXxh64) {
  EXPECT_EQ(Checksum(""), 0xef46db3751d8e999u);
  EXPECT_EQ(Checksum("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(Checksum("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(Checksum("Nobody inspects the spammish repetition"),
            0xfbcea83c8a378bf1u);
}

TEST(ChecksumTest, EveryBitMatters) {
  std::string bytes(77, 'x');
  const auto whole = Checksum(bytes);
  for (char& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      EXPECT_NE(Checksum(bytes), whole);
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
}

}  // namespace
}  // namespace baton
