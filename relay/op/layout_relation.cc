#include "baton/relay/op/layout_relation.h"

#include <utility>

#include "baton/base/status_macros.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {

const Layout& CanonicalLayout(int num_spatial) {
  static const auto* const kLayouts = new Layout[3]{
      *Layout::Parse("NCW"), *Layout::Parse("NCHW"), *Layout::Parse("NCDHW")};
  return kLayouts[num_spatial - 1];
}

absl::StatusOr<Type> InLayoutRel(
    TypeRelationContext& context, absl::string_view layout,
    const Layout& canonical,
    absl::FunctionRef<absl::Status(Dims& shape)> change, DType dtype) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  Layout storage;
  BATON_ASSIGN_OR_RETURN(
      const Layout* parsed,
      ParseLayout(context, "layout", layout, canonical, storage));
  BATON_ASSIGN_OR_RETURN(
      Dims shape, ConvertArgShape(context, 0, *data, *parsed, canonical));
  BATON_RETURN_IF_ERROR(change(shape));
  BATON_ASSIGN_OR_RETURN(const Dims stored, ToLayout(context, std::move(shape),
                                                     canonical, *parsed));
  return TensorLike(context, 0, stored,
                    dtype.is_void() ? data->dtype() : dtype);
}

}  // namespace baton::relay
