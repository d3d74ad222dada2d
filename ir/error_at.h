// Makes an error at a place in a program, for code that stops at the first
// error.

#ifndef BATON_IR_ERROR_AT_H_
#define BATON_IR_ERROR_AT_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/span.h"

namespace baton {

// InvalidArgument with the rendered diagnostic as its message; `span` is null
// if the place is unknown.
inline absl::Status ErrorAt(const Span& span, std::string message) {
  Diagnostics diagnostics;
  diagnostics.Error(span, std::move(message));
  return diagnostics.ToStatus();
}

}  // namespace baton

#endif  // BATON_IR_ERROR_AT_H_
