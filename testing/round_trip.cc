#include "baton/testing/round_trip.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "re2/re2.h"

namespace baton::testing {

namespace {

absl::Status SameText(const std::string& text, const std::string& text_again) {
  if (text_again == text) return absl::OkStatus();
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  const std::vector<absl::string_view> others =
      absl::StrSplit(text_again, '\n');
  const auto line = static_cast<size_t>(
      std::mismatch(lines.begin(), lines.end(), others.begin(), others.end())
          .first -
      lines.begin());
  return absl::InternalError(
      absl::StrCat("printed again, line ", line + 1, " is\n",
                   line < others.size() ? others[line] : "", "\nand was\n",
                   line < lines.size() ? lines[line] : ""));
}

// The text, without the numbers of computed dimensions. Inference computes such
// a dimension anew for each type; equal ones then are two in the metadata.
std::string WithoutDimNumbers(const IRModule& module) {
  static const RE2& number = *new RE2(
      R"((meta\[tir\.(?:Add|Sub|Mul|Div|Mod|FloorDiv|FloorMod|Min|Max|Cast)\])\[\d+\])");
  std::string text =
      AsText(module, {.metadata = false, .note_omitted_metadata = false});
  RE2::GlobalReplace(&text, number, "\\1");
  return text;
}

// True if inference succeeds and adds nothing. An error if no verifier for a
// function of the module is linked.
absl::StatusOr<bool> LacksNoTypes(const IRModule& module) {
  const absl::StatusOr<IRModule> typed = InferTypesOfAllKinds(module);
  if (absl::IsFailedPrecondition(typed.status())) return typed.status();
  return typed.ok() && typed->SameAs(module);
}

}  // namespace

absl::Status CheckRoundTrip(const IRModule& module, bool typed) {
  const std::string text = AsText(module);
  BATON_ASSIGN_OR_RETURN(IRModule again, ParseModule(text, "printed"));
  if (std::optional<std::string> difference =
          FirstDifference(again, module, {.map_free_vars = true})) {
    return absl::InternalError(
        absl::StrCat("printed and parsed, it differs: ", *difference));
  }
  if (typed) {
    BATON_ASSIGN_OR_RETURN(again, InferTypesOfAllKinds(again));
  }
  const std::string text_again = AsText(again);
  if (!typed || text_again == text) {
    BATON_RETURN_IF_ERROR(SameText(text, text_again));
  } else {
    BATON_RETURN_IF_ERROR(
        SameText(WithoutDimNumbers(module), WithoutDimNumbers(again)));
  }
  return CheckBinaryRoundTrip(module);
}

absl::Status CheckBinaryRoundTrip(const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const BinaryModule binary, WriteBinary(module));
  const std::string bytes = binary.ToString();
  BATON_ASSIGN_OR_RETURN(const BinaryContent read,
                         ReadBinary(bytes, nullptr, "written"));
  if (std::optional<std::string> difference =
          FirstDifference(read.module, module, {.map_free_vars = true})) {
    return absl::InternalError(
        absl::StrCat("written and read, it differs: ", *difference));
  }
  BATON_RETURN_IF_ERROR(SameText(AsText(module), AsText(read.module)));
  BATON_ASSIGN_OR_RETURN(const BinaryModule again, WriteBinary(read.module));
  if (again.ToString() != bytes) {
    return absl::InternalError("written again, it has other bytes");
  }
  BATON_ASSIGN_OR_RETURN(const bool is_typed, LacksNoTypes(module));
  BATON_ASSIGN_OR_RETURN(const bool is_typed_again, LacksNoTypes(read.module));
  if (is_typed && !is_typed_again) {
    return absl::InternalError("written and read, it lacks types");
  }
  return absl::OkStatus();
}

}  // namespace baton::testing
