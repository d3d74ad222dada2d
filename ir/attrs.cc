#include "baton/ir/attrs.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"

namespace baton {

absl::StatusOr<Attrs> AttrsType::FromValues(const AttrMap& values) const {
  AttrsNode* node = create_();
  Attrs attrs(node);
  if (absl::Status status = fields_->Assign(values, node->object_);
      !status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(type_key_, ": ", status.message()));
  }
  return attrs;
}

bool AttrsEqual(const Attrs& a, const Attrs& b) {
  if (a == b) return true;
  if (!a.defined() || !b.defined()) return false;
  return &a->type() == &b->type() &&
         a->fields().Equal(a->object(), b->object());
}

const AttrValue* DictAttrsNode::Find(absl::string_view name) const {
  for (const auto& [key, value] : entries_) {
    if (key == name) return &value;
  }
  return nullptr;
}

const AttrMap& DictAttrs::entries() const {
  static const AttrMap* const kEmpty = new AttrMap;
  return node_ == nullptr ? *kEmpty : get()->entries();
}

bool DictAttrs::IsTrue(absl::string_view name) const {
  const AttrValue* value = Find(name);
  if (value == nullptr) return false;
  if (const bool* b = value->As<bool>()) return *b;
  if (const int64_t* i = value->As<int64_t>()) return *i != 0;
  if (const double* d = value->As<double>()) return *d != 0;
  return false;
}

DictAttrs DictAttrs::With(std::string name, AttrValue value) const {
  AttrMap entries = this->entries();
  for (auto& [key, old] : entries) {
    if (key == name) {
      old = std::move(value);
      return DictAttrs(std::move(entries));
    }
  }
  entries.emplace_back(std::move(name), std::move(value));
  return DictAttrs(std::move(entries));
}

DictAttrs DictAttrs::Without(absl::string_view name) const {
  if (Find(name) == nullptr) return *this;
  AttrMap entries;
  for (const auto& entry : this->entries()) {
    if (entry.first != name) entries.push_back(entry);
  }
  return DictAttrs(std::move(entries));
}

bool DictAttrsEqual(const DictAttrs& a, const DictAttrs& b) {
  if (a == b) return true;
  const AttrMap& entries = a.entries();
  if (entries.size() != b.entries().size()) return false;
  for (const auto& [name, value] : entries) {
    const AttrValue* other = b.Find(name);
    if (other == nullptr || *other != value) return false;
  }
  return true;
}

}  // namespace baton
