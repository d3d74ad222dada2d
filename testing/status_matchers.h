// GoogleTest matchers for absl::Status and absl::StatusOr.
//
//   EXPECT_THAT(pass(module), IsOk());
//   EXPECT_THAT(ParsePipeline("FuseOp"), StatusIs(kNotFound, "FuseOps"));
//   BATON_ASSERT_OK_AND_ASSIGN(IRModule result, pass(module));

#ifndef BATON_TESTING_STATUS_MATCHERS_H_
#define BATON_TESTING_STATUS_MATCHERS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/base/macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {

inline const absl::Status& GetStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << GetStatus(arg).ToString();
  return GetStatus(arg).ok();
}

// Matches the code, and a part of the message.
MATCHER_P2(StatusIs, code, substring,
           absl::StrCat("has code ", absl::StatusCodeToString(code),
                        " and a message with \"", substring, "\"")) {
  *result_listener << GetStatus(arg).ToString();
  return GetStatus(arg).code() == code &&
         absl::StrContains(GetStatus(arg).message(), substring);
}

#define BATON_ASSERT_OK_AND_ASSIGN(lhs, expr)                                \
  BATON_ASSERT_OK_AND_ASSIGN_IMPL_(BATON_CONCAT(baton_status_or_, __LINE__), \
                                   lhs, expr)
#define BATON_ASSERT_OK_AND_ASSIGN_IMPL_(var, lhs, expr) \
  auto var = (expr);                                     \
  ASSERT_TRUE(var.ok()) << var.status();                 \
  lhs = *std::move(var)

}  // namespace baton::testing

#endif  // BATON_TESTING_STATUS_MATCHERS_H_
