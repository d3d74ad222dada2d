// Source texts, positions in them, and messages that show a position.

#ifndef BATON_BASE_SOURCE_H_
#define BATON_BASE_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton {

// A named text: a file, standard input, a string in a test.
class Source {
 public:
  // `first_line`: the number of the first line, if `text` is a part of a longer
  // text.
  Source(std::string name, std::string text, int first_line = 1);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

  struct Position {
    int line;    // counted from the number of the first line
    int column;  // from 1, in bytes
  };
  Position PositionOf(int64_t offset) const;
  // Returns line `line`, from 1, without its line feed; empty if there is none.
  absl::string_view Line(int line) const;

 private:
  std::string name_;
  std::string text_;
  int first_line_;
  std::vector<int64_t> line_starts_;
};

// `NAME:LINE:COLUMN: SEVERITY: MESSAGE`, the line, and below it a mark under
// the bytes [begin, end) of the source, as far as they are on that line:
//
//   model.relay:3:8: error: nn.dense: weight has 3 columns, data has 4
//     %1 = nn.dense(%0, %w);
//          ^~~~~~~~~~~~~~~~
//
// If the line is long, the message shows only the part around the mark.
std::string LocatedMessage(const Source& source, int64_t begin, int64_t end,
                           absl::string_view severity,
                           absl::string_view message);

}  // namespace baton

#endif  // BATON_BASE_SOURCE_H_
