#include "baton/base/printable.h"

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(PrintableTest, EscapesWhatControlsATerminal) {
  EXPECT_EQ(Printable("conv/1:0 \\ 'é' 漢 😀"), "conv/1:0 \\ 'é' 漢 😀");
  EXPECT_EQ(Printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(Printable("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(Printable(absl::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
  // CSI as one character; marks that turn the direction of writing.
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(Printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");
  EXPECT_EQ(Printable("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");
  EXPECT_EQ(Printable(""), "");
}

TEST(PrintableTest, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(Printable("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_TRUE(IsUtf8("é"));
  EXPECT_FALSE(IsUtf8("\xe9"));
}

TEST(PrintableTest, LinesOfMessagesStay) {
  EXPECT_EQ(PrintableLines("a\n\tb\x1b\r"), "a\n\tb\\x1b\\r");
}

}  // namespace
}  // namespace baton
