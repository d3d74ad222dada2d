// The recorded simplifications of expressions.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/text_file.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/simplify_table.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/script_printer.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

// Runs a table. `expected` are the rows that differ from the recorded result,
// with what they become here: `BEFORE => RESULT`.
void RunTable(const std::string& name, size_t least,
              const std::vector<std::string>& expected) {
  const absl::StatusOr<std::string> text =
      ReadTextFile(absl::StrCat("testing/loops/arith/", name, ".tsv"));
  ASSERT_TRUE(text.ok()) << text.status();
  const absl::StatusOr<std::vector<SimplifyRow>> rows =
      ReadSimplifyTable(*text);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_GE(rows->size(), least);
  const absl::StatusOr<Simplifier> simplifier = ParseSimplifier(name);
  ASSERT_TRUE(simplifier.ok()) << simplifier.status();
  std::vector<std::string> differ;
  for (const SimplifyRow& row : *rows) {
    ASSERT_TRUE(row.status.ok()) << row.status;
    const PrimExpr result = SimplifyWith(*simplifier, row.before);
    if (ExprDeepEqual(result, row.after)) continue;
    differ.push_back(
        absl::StrCat(AsScript(row.before), " => ", AsScript(result)));
    if (std::find(expected.begin(), expected.end(), differ.back()) ==
        expected.end()) {
      ADD_FAILURE() << differ.back() << "; recorded: " << AsScript(row.after);
    }
  }
  EXPECT_EQ(differ.size(), expected.size());
}

TEST(RecordedSimplification, RewriteSimplify) {
  // The reference's result is that of lanes that are not negative: for x = -1
  // the second lane is 1, and not -1.
  RunTable("rewrite_simplify", 245,
           {"T.truncmod(T.Ramp(x, 4, 4), T.Broadcast(2, 4)) => "
            "T.truncmod(T.Ramp(x, 4, 4), T.Broadcast(2, 4))"});
}

TEST(RecordedSimplification, CanonicalSimplify) {
  RunTable("canonical_simplify", 39, {});
}

TEST(RecordedSimplification, Simplify) { RunTable("simplify", 160, {}); }

}  // namespace
}  // namespace baton::tir
