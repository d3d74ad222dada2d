// Flag files: `--flagfile=FILE,FILE` on a command line, or in such a file.
//
//   # Comments and empty lines are skipped; every other line is one flag.
//   --passes=FoldConstant,ConvertLayout{desired_layouts={nn.conv2d:[NHWC]}}
//   --opt_level=3
//
// There is no quoting: a value ends at the end of its line.

#ifndef BATON_TOOLS_FLAG_FILES_H_
#define BATON_TOOLS_FLAG_FILES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/flags.h"

namespace baton {

// Expands the arguments, which exclude the name of the program. Replaces each
// `--flagfile` before `--` by the contents of its files, and Abseil's
// `--fromenv=NAME,NAME` by flags with the values of the environment variables
// FLAGS_NAME (`--tryfromenv`: only those that are set). Errors: a file that
// cannot be read or includes itself, more than a thousand files, a line that is
// not a flag, a variable that is not set.
absl::StatusOr<std::vector<Argument>> ExpandFlagFiles(
    absl::Span<const absl::string_view> args);

}  // namespace baton

#endif  // BATON_TOOLS_FLAG_FILES_H_
