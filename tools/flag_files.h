// Files of flags: `--flagfile=FILE,FILE` on a command line, or in such a file.
//
//   # Comments and empty lines are skipped; every other line is one flag.
//   --passes=FoldConstant,ConvertLayout{desired_layouts={nn.conv2d:[NHWC]}}
//   --opt_level=3
//
// Nothing is quoted: a value goes on to the end of its line.

#ifndef BATON_TOOLS_FLAG_FILES_H_
#define BATON_TOOLS_FLAG_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace baton {

struct Argument {
  std::string text;
  std::string where;  // `FILE:LINE: `; empty on the command line
};

// The arguments, the name of the program not among them, with what the files
// hold in place of each `--flagfile` before `--`; and in place of Abseil's
// `--fromenv=NAME,NAME`, flags with the values that the environment has under
// FLAGS_NAME (`--tryfromenv`: those that are there). Errors: a file that cannot
// be read, one that includes itself, more than a thousand files, a line that is
// no flag, a variable that is not set.
absl::StatusOr<std::vector<Argument>> ExpandFlagFiles(
    absl::Span<const absl::string_view> args);

}  // namespace baton

#endif  // BATON_TOOLS_FLAG_FILES_H_
