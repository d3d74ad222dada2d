// Forwards to baton/ir/type_relation.h until version 0.3.

#ifndef BATON_RELAY_IR_TYPE_RELATION_H_
#define BATON_RELAY_IR_TYPE_RELATION_H_

#include "baton/ir/type_relation.h"  // IWYU pragma: export

#endif  // BATON_RELAY_IR_TYPE_RELATION_H_
