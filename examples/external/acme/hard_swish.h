// acme.hard_swish: x * clip(x + 3, 0, 6) / 6.

#ifndef ACME_HARD_SWISH_H_
#define ACME_HARD_SWISH_H_

#include "baton/relay/ir/expr.h"

namespace acme {

// A call of the operator.
baton::Expr HardSwish(baton::Expr data);

}  // namespace acme

#endif  // ACME_HARD_SWISH_H_
