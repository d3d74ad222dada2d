#include "baton/relay/pattern/attr_values.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {
namespace {

// The fields of a call's attributes and the object that has them; both null if
// the operator has none.
struct FieldsAndObject {
  const FieldList* fields = nullptr;
  const void* object = nullptr;
};
FieldsAndObject FieldsOf(const CallNode& call) {
  if (call.attrs().defined()) {
    return {&call.attrs()->fields(), call.attrs()->object()};
  }
  const OpNode* op = call.op_node();
  if (op == nullptr || op->attrs_type() == nullptr) return {};
  const FieldList& fields = op->attrs_type()->fields();
  return {&fields, fields.default_object()};
}

}  // namespace

AttrMap AttrsOf(const CallNode& call) {
  AttrMap values;
  const auto [fields, object] = FieldsOf(call);
  if (fields == nullptr) return values;
  for (const Field& field : fields->fields()) {
    values.emplace_back(field.name(), field.Get(object));
  }
  return values;
}

std::optional<AttrValue> AttrOf(const CallNode& call, absl::string_view name) {
  const auto [fields, object] = FieldsOf(call);
  const Field* field = fields == nullptr ? nullptr : fields->Find(name);
  if (field == nullptr) return std::nullopt;
  return field->Get(object);
}

std::optional<double> NumberOf(const AttrValue& value) {
  if (const auto* b = value.As<bool>()) return *b;
  if (const auto* i = value.As<int64_t>()) return static_cast<double>(*i);
  if (const auto* d = value.As<double>()) return *d;
  return std::nullopt;
}

bool SameValue(const AttrValue& a, const AttrValue& b) {
  if (a == b) return true;
  if (const std::optional<double> x = NumberOf(a)) return x == NumberOf(b);
  const auto* list_a = a.As<AttrList>();
  const auto* list_b = b.As<AttrList>();
  if (list_a != nullptr && list_b != nullptr) {
    return list_a->size() == list_b->size() &&
           std::equal(list_a->begin(), list_a->end(), list_b->begin(),
                      SameValue);
  }
  const auto text = [](const AttrValue& value) -> std::optional<std::string> {
    if (const auto* s = value.As<std::string>()) return *s;
    if (const auto* dtype = value.As<DType>()) return dtype->ToString();
    return std::nullopt;
  };
  const std::optional<std::string> s = text(a);
  return s.has_value() && s == text(b);
}

}  // namespace baton::relay
