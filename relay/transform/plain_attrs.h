// The attributes of functions that are made of others and compute something
// else.

#ifndef BATON_RELAY_TRANSFORM_PLAIN_ATTRS_H_
#define BATON_RELAY_TRANSFORM_PLAIN_ATTRS_H_

#include "baton/ir/attrs.h"

namespace baton::relay {

// `attrs` without those that say that the function is one operator, that
// another compiler takes it, or what that made of it.
DictAttrs PlainAttrs(DictAttrs attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_PLAIN_ATTRS_H_
