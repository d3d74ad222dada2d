// Type relations that are stated in one layout and apply in every layout that
// can be converted to it.

#ifndef BATON_RELAY_OP_LAYOUT_RELATION_H_
#define BATON_RELAY_OP_LAYOUT_RELATION_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"

namespace baton::relay {

// NCW, NCHW or NCDHW.
const Layout& CanonicalLayout(int num_spatial);

// Converts the shape of argument 0 from `layout` to `canonical`, calls `change`
// to turn it into the shape of the result, and converts that shape back to
// `layout`. The element type of the result is `dtype`; if `dtype` is void, it
// is that of the argument.
absl::StatusOr<Type> InLayoutRel(
    TypeRelationContext& context, absl::string_view layout,
    const Layout& canonical,
    absl::FunctionRef<absl::Status(Dims& shape)> change, DType dtype = DType());

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_LAYOUT_RELATION_H_
