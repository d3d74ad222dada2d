#include "baton/tir/arith/simplify_table.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/script_printer.h"
#include "baton/tir/ir/script_reader.h"

namespace baton::tir {
namespace {

// Reads `x: T.int32, y: T.int64`.
absl::StatusOr<std::vector<Var>> ParseVariables(absl::string_view text) {
  std::vector<Var> vars;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    const std::vector<absl::string_view> fields =
        absl::StrSplit(part, absl::MaxSplits(':', 1));
    if (fields.size() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("the variable `", part, "` has no type"));
    }
    absl::string_view type = absl::StripAsciiWhitespace(fields[1]);
    absl::ConsumePrefix(&type, "T.");
    if (type == "boolean") type = "bool";
    BATON_ASSIGN_OR_RETURN(const DType dtype, DType::Parse(type));
    vars.emplace_back(std::string(absl::StripAsciiWhitespace(fields[0])),
                      dtype);
  }
  return vars;
}

}  // namespace

absl::StatusOr<Simplifier> ParseSimplifier(absl::string_view name) {
  if (name == "rewrite_simplify") return Simplifier::kRewriteSimplify;
  if (name == "canonical_simplify") return Simplifier::kCanonicalSimplify;
  if (name == "simplify") return Simplifier::kSimplify;
  return absl::InvalidArgumentError(absl::StrCat(
      "`", name,
      "` is none of rewrite_simplify, canonical_simplify, simplify"));
}

PrimExpr SimplifyWith(Simplifier simplifier, const PrimExpr& e) {
  Analyzer analyzer;
  switch (simplifier) {
    case Simplifier::kRewriteSimplify:
      return analyzer.RewriteSimplify(e);
    case Simplifier::kCanonicalSimplify:
      return analyzer.CanonicalSimplify(e);
    default:
      return analyzer.Simplify(e);
  }
}

absl::StatusOr<std::vector<SimplifyRow>> ReadSimplifyTable(
    absl::string_view text) {
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  for (absl::string_view& line : lines) absl::ConsumeSuffix(&line, "\r");
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.empty()) {
    return absl::InvalidArgumentError("the table has no line of names");
  }
  const std::vector<absl::string_view> names = absl::StrSplit(lines[0], '\t');
  const auto column = [&](absl::string_view name) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) -
                               names.begin());
  };
  const size_t before = column("before");
  const size_t variables = column("variables");
  const size_t after = column("after");
  for (const absl::string_view name : {"before", "variables"}) {
    if (column(name) == names.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the first line of the table has no column `", name, "`"));
    }
  }
  std::vector<SimplifyRow> rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(lines[i], '\t');
    SimplifyRow row;
    row.status = [&]() -> absl::Status {
      if (fields.size() <= std::max(before, variables)) {
        return absl::InvalidArgumentError(
            absl::StrCat("line ", i + 1, " has too few columns"));
      }
      BATON_ASSIGN_OR_RETURN(const std::vector<Var> vars,
                             ParseVariables(fields[variables]));
      BATON_ASSIGN_OR_RETURN(row.before, ParseScriptExpr(fields[before], vars));
      if (after < fields.size()) {
        BATON_ASSIGN_OR_RETURN(row.after, ParseScriptExpr(fields[after], vars));
      }
      return absl::OkStatus();
    }();
    rows.push_back(row);
  }
  return rows;
}

absl::StatusOr<std::string> SimplifyTable(absl::string_view text,
                                          Simplifier simplifier) {
  BATON_ASSIGN_OR_RETURN(const std::vector<SimplifyRow> rows,
                         ReadSimplifyTable(text));
  std::string result;
  for (const SimplifyRow& row : rows) {
    if (row.status.ok()) {
      absl::StrAppend(&result, AsScript(SimplifyWith(simplifier, row.before)),
                      "\n");
    } else {
      absl::StrAppend(&result, "error: ",
                      absl::StrReplaceAll(row.status.message(), {{"\n", " "}}),
                      "\n");
    }
  }
  return result;
}

}  // namespace baton::tir
