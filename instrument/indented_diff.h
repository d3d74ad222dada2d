// Compares two texts in which indentation shows what belongs to what, such as
// scripts of loops. Finds the lines that a change dropped, made, moved or
// altered.
//
//   for i in range(16):             for i in T.parallel(16):
//       B[i] = A[i]                     for j in range(4):
//                                           B[i] = A[i]
//
//   ~ for i in range(16): -> for i in T.parallel(16):
//   + for j in range(4): under for i in T.parallel(16):

#ifndef BATON_INSTRUMENT_INDENTED_DIFF_H_
#define BATON_INSTRUMENT_INDENTED_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton {

enum class ChangeKind : uint8_t { kDropped, kMade, kMoved, kChanged };

// The change of one line. Texts of lines have no indentation.
struct LineChange {
  using Kind = ChangeKind;
  Kind kind;
  // `before` is empty if the line was made; `after` is empty if it was dropped.
  std::string before = {};
  std::string after = {};
  // The line to which the line belongs: of the first text if the line was
  // dropped, else of the second. Empty for lines that are not indented.
  std::string under = {};
  // For a moved line: the line to which it belonged.
  std::string from = {};
  // For dropped and made lines: the number of lines below it, all of which were
  // dropped or made with it, and which have no changes of their own.
  int below = 0;
};

// Returns the changes: dropped lines in the order of `before`, then the others
// in the order of `after`. Ignores empty lines. A line does not move because a
// line around it was dropped or made. Takes time linear in the length of the
// texts, but for the sorting of lines that belong to one line.
std::vector<LineChange> DiffIndented(absl::string_view before,
                                     absl::string_view after);

// One line, without a line feed, that begins with a sign and with `where`:
//
//   - @main for j in range(4): under for i in range(16):, and 2 lines below it
//   ~ @main B[i] = A[i] -> B[i] = A[i] * 2
//   > @main B[i] = A[i] from for i in range(16): to for j in range(4):
std::string LineChangeText(const LineChange& change,
                           absl::string_view where = "");

}  // namespace baton

#endif  // BATON_INSTRUMENT_INDENTED_DIFF_H_
