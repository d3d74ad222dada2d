// Compares texts line by line.
//
//   std::string diff = DiffLines("a\nb\n", "a\nc\n");
//
//   @@ -1,2 +1,2 @@
//    a
//   -b
//   +c

#ifndef BATON_INSTRUMENT_LINE_DIFF_H_
#define BATON_INSTRUMENT_LINE_DIFF_H_

#include <string>

#include "absl/strings/string_view.h"

namespace baton {

// The difference of two texts in the unified format, without the lines that
// name files. Shows up to three common lines around each group of changed
// lines. Empty if all lines are equal.
std::string DiffLines(absl::string_view before, absl::string_view after);

}  // namespace baton

#endif  // BATON_INSTRUMENT_LINE_DIFF_H_
