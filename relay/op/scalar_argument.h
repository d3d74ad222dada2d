// Reads kernel arguments that are a single number.

#ifndef BATON_RELAY_OP_SCALAR_ARGUMENT_H_
#define BATON_RELAY_OP_SCALAR_ARGUMENT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// The only element of a tensor of an integer type. `name` is the name of the
// argument in the error for any other value.
inline absl::StatusOr<int64_t> IntegerArgument(absl::string_view name,
                                               const Value& argument) {
  const Tensor& tensor = argument.tensor();
  if (tensor.num_elements() != 1 || !tensor.dtype().is_integral()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " must be an integer, but is a ", tensor.TypeToString()));
  }
  return tensor.AtAsInt64(0);
}

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_SCALAR_ARGUMENT_H_
