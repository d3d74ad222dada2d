// Type relations that are stated in one layout and hold in all layouts to which
// it can be converted.

#ifndef BATON_RELAY_OP_LAYOUT_RELATION_H_
#define BATON_RELAY_OP_LAYOUT_RELATION_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"

namespace baton::relay {

// NCW, NCHW or NCDHW.
const Layout& CanonicalLayout(int num_spatial);

// Converts the shape of argument 0 from `layout` to `canonical`, lets `change`
// turn it into the shape of the result, and converts that back to `layout`. The
// result's element type is `dtype`, or that of the argument if void.
absl::StatusOr<Type> InLayoutRel(
    TypeRelationContext& context, absl::string_view layout,
    const Layout& canonical,
    absl::FunctionRef<absl::Status(Dims& shape)> change, DType dtype = DType());

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_LAYOUT_RELATION_H_
