// Builders of calls of the operators on tensors of any shape, and their
// attributes.
//
//   Expr y = Add(x, Const(2.0f));
//   Expr z = Reshape(Transpose(y, {1, 0}), {-1});

#ifndef BATON_RELAY_OP_TENSOR_H_
#define BATON_RELAY_OP_TENSOR_H_

#include "baton/relay/ir/constant.h"            // IWYU pragma: export
#include "baton/relay/op/device/device.h"       // IWYU pragma: export
#include "baton/relay/op/tensor/create.h"       // IWYU pragma: export
#include "baton/relay/op/tensor/elementwise.h"  // IWYU pragma: export
#include "baton/relay/op/tensor/indexing.h"     // IWYU pragma: export
#include "baton/relay/op/tensor/reduce.h"       // IWYU pragma: export
#include "baton/relay/op/tensor/sequence.h"     // IWYU pragma: export
#include "baton/relay/op/tensor/shape.h"        // IWYU pragma: export

#endif  // BATON_RELAY_OP_TENSOR_H_
