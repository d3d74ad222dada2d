// The devices of the parameters of a function (virtual_device.h), where one
// function is made out of another.
//
// In the reference a device is a field of the variable, which goes wherever
// that goes. Here it is in a list beside the parameters: what adds or drops
// parameters takes the attributes of the new function from here.

#ifndef BATON_RELAY_IR_PARAM_DEVICES_H_
#define BATON_RELAY_IR_PARAM_DEVICES_H_

#include <cstddef>

#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/ir/attrs.h"
#include "baton/relay/ir/expr.h"

namespace baton {

// The devices of the parameters, None where one is not known; empty if the
// function does not say them.
absl::Span<const AttrValue> ParamDevices(const FunctionNode& function);

// `attrs`, with these devices of the parameters; without any if none is known:
// a list that says nothing and no list are the same text.
DictAttrs WithParamDevices(const DictAttrs& attrs, AttrList devices);

// The attributes of `function` for a function of the parameters `params`:
// those that are parameters of `function` keep their devices, others have none.
DictAttrs AttrsWithParams(const FunctionNode& function,
                          absl::Span<const Var> params);

// The same for a function whose first parameters stand for those of `function`,
// in order, and which may have fewer, or more.
DictAttrs AttrsWithNumParams(const FunctionNode& function, size_t num_params);

}  // namespace baton

#endif  // BATON_RELAY_IR_PARAM_DEVICES_H_
