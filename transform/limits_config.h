// The settings limits.*: limits of the sizes that a program may request
// (base/limits.h).

#ifndef BATON_TRANSFORM_LIMITS_CONFIG_H_
#define BATON_TRANSFORM_LIMITS_CONFIG_H_

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/limits.h"

namespace baton {

// The limits in `config`; defaults for those that are not set.
Limits LimitsOf(const AttrMap& config);

// True if LimitsOf() reads the setting `name`.
bool IsLimit(absl::string_view name);

}  // namespace baton

#endif  // BATON_TRANSFORM_LIMITS_CONFIG_H_
