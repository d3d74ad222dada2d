// Early return on error, for functions that return absl::Status or
// absl::StatusOr.
//
//   BATON_RETURN_IF_ERROR(Check(x));
//   BATON_ASSIGN_OR_RETURN(Tensor t, Fold(call));

#ifndef BATON_BASE_STATUS_MACROS_H_
#define BATON_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "baton/base/macros.h"

#define BATON_RETURN_IF_ERROR(expr)                                 \
  do {                                                              \
    if (absl::Status baton_status_ = (expr); !baton_status_.ok()) { \
      return baton_status_;                                         \
    }                                                               \
  } while (false)

// Assigns the value of `expr`, a StatusOr, to `lhs`, or returns its error.
// Expands to several statements: use it inside of braces only.
#define BATON_ASSIGN_OR_RETURN(lhs, expr)                                     \
  BATON_ASSIGN_OR_RETURN_IMPL_(BATON_CONCAT(baton_status_or_, __LINE__), lhs, \
                               expr)

#define BATON_ASSIGN_OR_RETURN_IMPL_(var, lhs, expr) \
  auto var = (expr);                                 \
  if (!var.ok()) return std::move(var).status();     \
  lhs = *std::move(var)

#endif  // BATON_BASE_STATUS_MACROS_H_
