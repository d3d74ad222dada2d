#include "baton/ir/packed_records.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

// A field that has a length of at most 127.
std::string Record(int field, absl::string_view bytes) {
  std::string record = {static_cast<char>(field << 3 | 2),
                        static_cast<char>(bytes.size())};
  absl::StrAppend(&record, bytes);
  return record;
}

void ExpectKept(absl::string_view message) {
  const absl::StatusOr<std::string> back = UnpackRecords(PackRecords(message));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, message);
}

// Records of a few fields and sizes, whose bytes differ in places.
std::string SomeMessage(uint32_t seed, int records) {
  std::mt19937 random(seed);
  std::string bytes(100, 'x');
  std::string message;
  for (int i = 0; i < records; ++i) {
    for (int k = 0; k < 3; ++k) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    message += Record(1 + static_cast<int>(random() % 3),
                      bytes.substr(0, random() % 5 * random() % 100));
  }
  return message;
}

TEST(PackedRecordsTest, KeepsMessages) {
  ExpectKept("");
  ExpectKept(Record(1, ""));
  ExpectKept(Record(1, "") + Record(1, "") + Record(2, ""));
  ExpectKept(Record(1, "abc") + Record(2, "abc") + Record(1, "abd"));
  for (const size_t size : {7, 8, 9, 127}) {
    std::string bytes(size, 'a');
    std::string message = Record(4, bytes);
    for (size_t i = 0; i < size; ++i) {
      bytes[i] = 'b';
      message += Record(4, bytes);
    }
    ExpectKept(message);
  }
  for (uint32_t seed = 0; seed < 100; ++seed) ExpectKept(SomeMessage(seed, 50));
}

TEST(PackedRecordsTest, KeepsBytesThatAreNoMessage) {
  const std::string message = Record(1, "abc");
  ExpectKept("text");
  ExpectKept(message + "\x08\x01");  // a number
  ExpectKept(message +
             "\x0a\x05"
             "abc");                                     // cut off
  ExpectKept(message + std::string("\x8a\x00\x00", 3));  // in too many bytes
  ExpectKept(message + std::string("\x0a\x80\x00", 3));
  ExpectKept(message + std::string(20, '\xff'));
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = SomeMessage(static_cast<uint32_t>(i), 5);
    for (int k = 0; k < 3 && !bytes.empty(); ++k) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    ExpectKept(bytes);
  }
}

TEST(PackedRecordsTest, AlikeRecordsTakeWhatDiffers) {
  std::string message;
  std::string bytes = "a record of forty bytes, one of them new";
  for (int i = 0; i < 100; ++i) {
    bytes[static_cast<size_t>(i) % 40] = static_cast<char>('0' + i % 7);
    message += Record(4, bytes);
  }
  // The first whole; of others their kind, a bit for each byte, one byte.
  EXPECT_EQ(PackRecords(message).size(), 43 + 99 * (1 + 5 + 1));
  // Records that differ take one byte more.
  const std::string other = Record(4, std::string(40, '#'));
  EXPECT_EQ(PackRecords(Record(4, bytes) + other).size(), 2 * 43);
}

TEST(PackedRecordsTest, DamageIsAnErrorOrOtherBytes) {
  const std::string packed = PackRecords(SomeMessage(1, 60));
  for (size_t size = 0; size < packed.size(); ++size) {
    static_cast<void>(UnpackRecords(packed.substr(0, size)));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = packed;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const absl::StatusOr<std::string> back = UnpackRecords(damaged);
    if (back.ok()) {
      EXPECT_LT(back->size(), 12 * damaged.size());
    }
  }
  const auto error = [](absl::string_view bytes) {
    return std::string(UnpackRecords(bytes).status().message());
  };
  const std::string one = PackRecords(Record(1, "abc"));
  EXPECT_THAT(error("\x80"), HasSubstr("packed byte 0: a number"));
  EXPECT_THAT(error(one.substr(0, 4)), HasSubstr("packed byte 0: bytes that"));
  EXPECT_THAT(error(one + "\x05"), HasSubstr("there was no record of kind 3"));
  EXPECT_THAT(error(one + "\x02"), HasSubstr("a record that is cut off"));
  EXPECT_THAT(error(one + "\x02\x03z"), HasSubstr("differences are cut off"));
  // A fourth byte of three.
  EXPECT_THAT(error(one + "\x02\x08z"), HasSubstr("differences"));
}

}  // namespace
}  // namespace baton
