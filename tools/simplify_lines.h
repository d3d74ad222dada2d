// `baton-opt --simplify`: simplifies the expressions of a table.

#ifndef BATON_TOOLS_SIMPLIFY_LINES_H_
#define BATON_TOOLS_SIMPLIFY_LINES_H_

#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "baton/tools/flags.h"
#include "baton/tools/run_options.h"

namespace baton {

struct SimplifyOptions {
  std::string simplify;
  std::string simplifier = "simplify";

  template <typename V>
  static void VisitFields(V& v) {
    v("simplify", &SimplifyOptions::simplify,
      FlagSpec{.help = "Simplifies the integer expressions in a table.",
               .value = "FILE.tsv",
               .group = kListFlags});
    v("simplifier", &SimplifyOptions::simplifier,
      FlagSpec{
          .help = "rewrite_simplify, canonical_simplify or simplify.",
          .value = "NAME",
          .group = kListFlags,
          .choices = {"rewrite_simplify", "canonical_simplify", "simplify"}});
  }
};

// Writes the simplified expressions, a line each. False if the options name no
// table. A `simplifier` that was `given` without a table is an error.
absl::StatusOr<bool> RunSimplify(const SimplifyOptions& options, bool given,
                                 std::ostream& out);

}  // namespace baton

#endif  // BATON_TOOLS_SIMPLIFY_LINES_H_
