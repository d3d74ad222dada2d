#include "baton/base/target.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace baton {
namespace {

constexpr absl::string_view kCpu = "-mcpu=";
constexpr absl::string_view kFeatures = "-mattr=";
constexpr absl::string_view kVectorBits = "-vector-width=";
constexpr absl::string_view kThreads = "-num-cores=";

}  // namespace

absl::StatusOr<Target> Target::Parse(absl::string_view text) {
  Target target;
  for (absl::string_view word :
       absl::StrSplit(text, ' ', absl::SkipWhitespace())) {
    const absl::string_view option = word;
    const bool is_option = option[0] == '-';
    if (target.kind.empty() == is_option) {
      return absl::InvalidArgumentError(
          absl::StrCat("target `", text, "`: expected ",
                       is_option ? "a kind such as `llvm` first"
                                 : "an option such as -mcpu=",
                       ", found `", option, "`"));
    }
    int* number = nullptr;
    if (!is_option) {
      target.kind = std::string(option);
    } else if (absl::ConsumePrefix(&word, kCpu)) {
      target.cpu = std::string(word);
    } else if (absl::ConsumePrefix(&word, kFeatures)) {
      for (const absl::string_view feature :
           absl::StrSplit(word, ',', absl::SkipEmpty())) {
        if (feature.size() < 2 || (feature[0] != '+' && feature[0] != '-')) {
          return absl::InvalidArgumentError(
              absl::StrCat("target `", text, "`: expected +NAME or -NAME in ",
                           kFeatures, ", found `", feature, "`"));
        }
        target.features.emplace_back(feature);
      }
    } else if (absl::ConsumePrefix(&word, kVectorBits)) {
      number = &target.vector_bits;
    } else if (absl::ConsumePrefix(&word, kThreads)) {
      number = &target.threads;
    } else {
      target.options.emplace_back(option);
    }
    if (number != nullptr &&
        (!absl::SimpleAtoi(word, number) || *number <= 0)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "target `", text, "`: expected a positive number in `", option, "`"));
    }
  }
  return target;
}

std::string Target::ToString() const {
  std::string text = kind;
  if (!cpu.empty()) absl::StrAppend(&text, " ", kCpu, cpu);
  if (!features.empty()) {
    absl::StrAppend(&text, " ", kFeatures, absl::StrJoin(features, ","));
  }
  if (vector_bits > 0) absl::StrAppend(&text, " ", kVectorBits, vector_bits);
  if (threads > 0) absl::StrAppend(&text, " ", kThreads, threads);
  for (const std::string& option : options) absl::StrAppend(&text, " ", option);
  return text;
}

bool Target::HasFeature(absl::string_view name) const {
  for (auto feature = features.rbegin(); feature != features.rend();
       ++feature) {
    if (absl::string_view(*feature).substr(1) == name) {
      return feature->front() == '+';
    }
  }
  return false;
}

}  // namespace baton
