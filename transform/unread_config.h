// UnreadConfig: finds the settings of a context that no pass has read.

#ifndef BATON_TRANSFORM_UNREAD_CONFIG_H_
#define BATON_TRANSFORM_UNREAD_CONFIG_H_

#include <string>
#include <vector>

#include "baton/transform/pass_context.h"

namespace baton {

// The names of the settings in the config of `context` that no pass has read
// (PassContext::Get), in order. The limits that a context has (limits.*) apply
// without being read, and are not among them.
std::vector<std::string> UnreadConfig(const PassContext& context);

}  // namespace baton

#endif  // BATON_TRANSFORM_UNREAD_CONFIG_H_
