#include "baton/tools/simplify_lines.h"

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/tir/arith/simplify_table.h"

namespace baton {

absl::StatusOr<bool> RunSimplify(const SimplifyOptions& options, bool given,
                                 std::ostream& out) {
  if (options.simplify.empty()) {
    if (!given) return false;
    return absl::InvalidArgumentError("--simplifier needs --simplify");
  }
  BATON_ASSIGN_OR_RETURN(const tir::Simplifier simplifier,
                         tir::ParseSimplifier(options.simplifier));
  BATON_ASSIGN_OR_RETURN(const std::string text,
                         ReadTextFile(options.simplify));
  const absl::StatusOr<std::string> result =
      tir::SimplifyTable(text, simplifier);
  if (!result.ok()) {
    return absl::Status(
        result.status().code(),
        absl::StrCat(options.simplify, ": ", result.status().message()));
  }
  out << *result;
  return true;
}

}  // namespace baton
