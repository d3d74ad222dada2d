#include "baton/transform/value_promise.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/transform/pass_info.h"

namespace baton {

bool Keeps(const PassInfo& info, absl::string_view law) {
  return std::none_of(
      info.waivers.begin(), info.waivers.end(),
      [law](const LawWaiver& waiver) { return waiver.law == law; });
}

ValuePromise ValuePromiseOf(const PassInfo& info) {
  if (!Keeps(info, "precision")) return ValuePromise::kPrecisionChanging;
  if (!Keeps(info, "values")) return ValuePromise::kOther;
  if (!info.exact) return ValuePromise::kReassociating;
  return Keeps(info, "special_values") ? ValuePromise::kBitExact
                                       : ValuePromise::kExactButSpecial;
}

absl::string_view ToString(ValuePromise promise) {
  switch (promise) {
    case ValuePromise::kBitExact:
      return "bit-exact";
    case ValuePromise::kExactButSpecial:
      return "exact but for NaN, infinity and zero";
    case ValuePromise::kReassociating:
      return "reassociating";
    case ValuePromise::kPrecisionChanging:
      return "precision-changing";
    case ValuePromise::kOther:
      return "computes something else";
  }
  return "";
}

std::string ValuePromiseText(const PassInfo& info) {
  const ValuePromise promise = ValuePromiseOf(info);
  std::string text(ToString(promise));
  if (Keeps(info, "values") && (promise == ValuePromise::kReassociating ||
                                promise == ValuePromise::kPrecisionChanging)) {
    absl::StrAppend(&text, ", within ", info.tolerance,
                    " of the largest element");
  }
  return text;
}

}  // namespace baton
