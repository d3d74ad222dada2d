// Lists the tensors of a value.

#ifndef BATON_RELAY_RUNTIME_VALUE_TENSORS_H_
#define BATON_RELAY_RUNTIME_VALUE_TENSORS_H_

#include <vector>

#include "baton/base/tensor.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// The tensors of `value`, or of its fields at any depth, in order. Functions,
// references and data types inside have none.
std::vector<Tensor> TensorsOf(const Value& value);

// True if `value` is a tensor, or a tuple that has tensors only, at any depth.
bool HasOnlyTensors(const Value& value);

}  // namespace baton::relay

#endif  // BATON_RELAY_RUNTIME_VALUE_TENSORS_H_
