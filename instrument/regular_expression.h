// Compiles regular expressions from users.

#ifndef BATON_INSTRUMENT_REGULAR_EXPRESSION_H_
#define BATON_INSTRUMENT_REGULAR_EXPRESSION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "re2/re2.h"

namespace baton::internal {

// Compiles `text`; the result is never null. The error contains `text`.
inline absl::StatusOr<std::unique_ptr<const re2::RE2>> CompileRegularExpression(
    const std::string& text) {
  auto compiled =
      std::make_unique<const re2::RE2>(text, re2::RE2::CannedOptions::Quiet);
  if (compiled->ok()) return compiled;
  return absl::InvalidArgumentError(
      absl::StrCat("regular expression ", text, ": ", compiled->error()));
}

}  // namespace baton::internal

#endif  // BATON_INSTRUMENT_REGULAR_EXPRESSION_H_
