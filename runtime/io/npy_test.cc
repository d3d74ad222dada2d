#include "baton/runtime/io/npy.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;

// As numpy.save writes an array.
std::string Npy(absl::string_view descr, absl::string_view order,
                absl::string_view shape, absl::string_view data) {
  std::string header =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", order,
                   ", 'shape': ", shape, ", }");
  header.append(117 - header.size(), ' ');
  header.push_back('\n');
  return absl::StrCat(absl::string_view("\x93NUMPY\1\0", 8),
                      std::string(1, static_cast<char>(header.size())),
                      absl::string_view("\0", 1), header, data);
}

TEST(NpyTest, ArraysAreRead) {
  const auto matrix = ReadNpy(
      Npy("<i2", "False", "(2, 1)", absl::string_view("\1\0\xff\xff", 4)));
  ASSERT_THAT(matrix, IsOk());
  EXPECT_EQ(*matrix,
            *Tensor::FromValues<int16_t>({2, 1}, {int16_t{1}, int16_t{-1}}));
  const auto scalar = ReadNpy(Npy("|b1", "False", "()", "\1"));
  ASSERT_THAT(scalar, IsOk());
  EXPECT_EQ(*scalar, Tensor::Scalar<bool>(true));
}

TEST(NpyTest, TheFirstAxisMayBeTheInnermost) {
  const auto array =
      ReadNpy(Npy("|u1", "True", "(2, 3, 2)", "\1\2\3\4\5\6\7\10\11\12\13\14"));
  ASSERT_THAT(array, IsOk());
  EXPECT_EQ(*array, *Tensor::FromValues<uint8_t>(
                        {2, 3, 2}, {1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12}));
  const auto flags =
      ReadNpy(Npy("|b1", "True", "(2, 2)", absl::string_view("\0\2\1\0", 4)));
  ASSERT_THAT(flags, IsOk());
  EXPECT_EQ(*flags,
            *Tensor::FromValues<bool>({2, 2}, {false, true, true, false}));
}

TEST(NpyTest, OtherArraysAreRefused) {
  EXPECT_THAT(ReadNpy(Npy(">i2", "False", "(1,)", "ab")).status(),
              StatusIs(absl::StatusCode::kUnimplemented, "arrays of '>i2'"));
  EXPECT_THAT(ReadNpy(Npy("<i2", "False", "(1000000000,)", "ab")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "2000000000"));
  EXPECT_THAT(ReadNpy("no array").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "no .npy file"));
}

NamedTensors Several() {
  return {{"x", *Tensor::FromValues<float>({2, 2}, {1, 2, 3, 4})},
          {"y", Tensor::Scalar<uint8_t>(7)},
          {"z", *Tensor::Zeros(DType::Float(64), {0, 3})}};
}

TEST(NpzTest, WhatIsWrittenIsRead) {
  const auto bytes = WriteNpz(Several());
  ASSERT_THAT(bytes, IsOk());
  const auto read = ReadNpz(*bytes);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(*read, Several());
}

TEST(NpzTest, NamesAreUtf8) {
  const Tensor x = Tensor::Scalar<uint8_t>(7);
  const auto flags_of = [&](const std::string& name) {
    const auto bytes = WriteNpz({{name, x}});
    EXPECT_THAT(bytes, IsOk());
    EXPECT_THAT(ReadNpz(*bytes), IsOk());
    return bytes.ok() ? static_cast<int>((*bytes)[7]) : -1;
  };
  EXPECT_EQ(flags_of("x"), 0);
  EXPECT_EQ(flags_of("\xc3\xa9"), 8);  // bit 11: UTF-8
  // Bytes that are no UTF-8 are escaped.
  EXPECT_EQ(flags_of("\xe9"), 0);
  const auto read = ReadNpz(*WriteNpz({{"\xe9", x}}));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ((*read)[0].first, "\\xe9");
}

TEST(NpzTest, NamesThatDoNotFitAreErrors) {
  const Tensor x = Tensor::Scalar<uint8_t>(7);
  EXPECT_THAT(WriteNpz({{std::string(65531, 'x'), x}}), IsOk());
  EXPECT_THAT(
      WriteNpz({{std::string(65532, 'x'), x}}).status(),
      StatusIs(absl::StatusCode::kUnimplemented, "at most 65531 bytes"));
  // One result that is given twice is one array.
  const auto twice = ReadNpz(*WriteNpz({{"x", x}, {"x", x}}));
  ASSERT_THAT(twice, IsOk());
  EXPECT_EQ(twice->size(), 1u);
  EXPECT_THAT(
      WriteNpz({{"x", x}, {"x", Tensor::Scalar<uint8_t>(8)}}).status(),
      StatusIs(absl::StatusCode::kUnimplemented, "no two arrays of one name"));
  std::string same = *WriteNpz({{"x", x}, {"y", x}});
  for (size_t at = 0; (at = same.find("y.npy", at)) != std::string::npos;) {
    same[at] = 'x';
  }
  EXPECT_THAT(
      ReadNpz(same).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "there are two arrays 'x'"));
}

// An archive of numpy.savez_compressed, in base 64: `x` and `zeros`.
constexpr char kCompressed[] =
    "UEsDBC0AAAAIAAAAIQBTdBzS//////////8FABQAeC5ucHkBABAAmAAAAAAAAABaAAAA"
    "AAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loG6TZqKuo6Cell9UUpSYF59flJIKEndLzClO"
    "BYoXZyQWpAL5GkY6CsaaOgq1CmQDLgaGA/YMQIKBwcGBgaEBiBcA8QEHAFBLAwQtAAAA"
    "CAAAACEAiLYfmv//////////CQAUAHplcm9zLm5weQEAEADAHwAAAAAAAGoAAAAAAAAA"
    "7cgxDoIwGEDhunqKbr8mHepmiDMbhIWBiTS2RhNCSWtYDKfwwpYrOL9ve+/b9k03HNSq"
    "PuJDvieptNxeVzFaHjG9k5vHmHzYf+2mHMrPT7eE0qeLtdacjd70v44KAAAAAAAAAAAA"
    "AACoH1BLAQItAy0AAAAIAAAAIQBTdBzSWgAAAJgAAAAFAAAAAAAAAAAAAACAAQAAAAB4"
    "Lm5weVBLAQItAy0AAAAIAAAAIQCIth+aagAAAMAfAAAJAAAAAAAAAAAAAACAAZEAAAB6"
    "ZXJvcy5ucHlQSwUGAAAAAAIAAgBqAAAANgEAAAAA";

std::string Compressed() {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(kCompressed, &bytes));
  return bytes;
}

NamedTensors CompressedTensors() {
  return {{"x", *Tensor::FromValues<float>({2, 3}, {1.5, -2, 3, 4, 5, 6})},
          {"zeros", *Tensor::Zeros(DType::Int(64), {1000})}};
}

TEST(NpzTest, CompressedArchivesAreRead) {
  const auto read = ReadNpz(Compressed());
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(*read, CompressedTensors());
  std::string other = Compressed();
  other[other.rfind("PK\1\2") + 10] = 12;  // bzip2
  EXPECT_THAT(
      ReadNpz(other).status(),
      StatusIs(absl::StatusCode::kUnimplemented, "compressed by method 12"));
}

TEST(NpzTest, DamagedArchivesAreErrors) {
  const auto written = WriteNpz(Several());
  ASSERT_THAT(written, IsOk());
  for (const std::string& bytes : {*written, Compressed()}) {
    for (size_t size = 0; size + 1 < bytes.size(); ++size) {
      EXPECT_FALSE(ReadNpz(bytes.substr(bytes.size() - size)).ok()) << size;
    }
    // No byte makes it read what is not there.
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
      (void)ReadNpz(damaged);
    }
  }
  // A compressed content has a checksum.
  const std::string bytes = Compressed();
  const size_t directory = bytes.find("PK\1\2");
  for (size_t i = bytes.find("x.npy") + 30; i < bytes.find("zeros.npy") - 60;
       ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_FALSE(ReadNpz(damaged).ok()) << i;
  }
  // Sizes of gigabytes are not believed.
  std::string large = bytes;
  for (int i = 24; i < 28; ++i) large[directory + i] = '\x7f';
  EXPECT_THAT(ReadNpz(large).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "is damaged"));
}

}  // namespace
}  // namespace baton
