// Registers the node classes of the level of loops.

#include "baton/ir/node_class.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

BATON_REGISTER_NODE_LEVEL("tir", kNodeLevel, BATON_TIR_NODES)

}  // namespace baton::tir
