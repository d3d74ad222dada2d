// Reads and writes the devices of the parameters of a function
// (virtual_device.h), for code that makes one function out of another.
//
// In TVM a device is a field of the variable and moves with it. Here the
// devices are a list in the function's attributes. Code that adds or drops
// parameters makes the attributes of the new function with these functions.

#ifndef BATON_RELAY_IR_PARAM_DEVICES_H_
#define BATON_RELAY_IR_PARAM_DEVICES_H_

#include <cstddef>

#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/ir/attrs.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The devices of the parameters, None where unknown; empty if the function has
// no such list.
absl::Span<const AttrValue> ParamDevices(const FunctionNode& function);

// Returns `attrs` with the devices `devices`; without the list if all devices
// are unknown, since a list of Nones and no list have the same text.
DictAttrs WithParamDevices(const DictAttrs& attrs, AttrList devices);

// The attributes of `function` for a function with the parameters `params`.
// Parameters of `function` keep their devices; other parameters have none.
DictAttrs AttrsWithParams(const FunctionNode& function,
                          absl::Span<const Var> params);

// As above, for a function whose first parameters correspond to those of
// `function`, in order, and which may have fewer or more parameters.
DictAttrs AttrsWithNumParams(const FunctionNode& function, size_t num_params);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_PARAM_DEVICES_H_
