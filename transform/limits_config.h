// The settings limits.*: upper bounds on what a program may ask for
// (base/limits.h).

#ifndef BATON_TRANSFORM_LIMITS_CONFIG_H_
#define BATON_TRANSFORM_LIMITS_CONFIG_H_

#include "baton/base/attr_value.h"
#include "baton/base/limits.h"

namespace baton {

// The limits that `config` sets; the defaults for the others.
Limits LimitsOf(const AttrMap& config);

}  // namespace baton

#endif  // BATON_TRANSFORM_LIMITS_CONFIG_H_
