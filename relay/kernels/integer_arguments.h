// Reads integers from arguments of kernels.

#ifndef BATON_RELAY_KERNELS_INTEGER_ARGUMENTS_H_
#define BATON_RELAY_KERNELS_INTEGER_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// Returns the one element of a tensor of an integer type. An error says that
// the argument called `name` is something else.
inline absl::StatusOr<int64_t> IntegerArgument(absl::string_view name,
                                               const Value& argument) {
  const Tensor& tensor = argument.tensor();
  if (tensor.num_elements() != 1 || !tensor.dtype().is_integral()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " must be an integer, but is a ", tensor.TypeToString()));
  }
  return tensor.AtAsInt64(0);
}

// Returns the elements of a tensor, row-major.
inline std::vector<int64_t> Integers(const Tensor& tensor) {
  std::vector<int64_t> integers(static_cast<size_t>(tensor.num_elements()));
  for (size_t i = 0; i < integers.size(); ++i) {
    integers[i] = tensor.AtAsInt64(static_cast<int64_t>(i));
  }
  return integers;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_KERNELS_INTEGER_ARGUMENTS_H_
