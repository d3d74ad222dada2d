// All builders of operator calls.

#ifndef BATON_RELAY_OP_BUILDERS_H_
#define BATON_RELAY_OP_BUILDERS_H_

#include "baton/relay/op/nn.h"      // IWYU pragma: export
#include "baton/relay/op/tensor.h"  // IWYU pragma: export

#endif  // BATON_RELAY_OP_BUILDERS_H_
