// Registers Relay's node classes.

#include "baton/ir/node_class.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/node_kind.h"

namespace baton::relay {

BATON_REGISTER_NODE_LEVEL("relay", kRelayLevel, BATON_RELAY_NODES)

}  // namespace baton::relay
