#include "baton/base/fields.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/near_names.h"
#include "baton/base/stable_hash.h"

namespace baton {
namespace internal {

template struct FieldOpsOf<bool>;
template struct FieldOpsOf<int>;
template struct FieldOpsOf<int64_t>;
template struct FieldOpsOf<double>;
template struct FieldOpsOf<std::string>;
template struct FieldOpsOf<DType>;

void AddField(const char* name, const char* doc, bool required,
              const void* object, const void* value, const FieldOps* ops,
              std::vector<Field>& fields) {
  const auto offset = static_cast<size_t>(static_cast<const char*>(value) -
                                          static_cast<const char*>(object));
  fields.emplace_back(name, doc, required, offset, ops);
}

}  // namespace internal

const Field* FieldList::Find(absl::string_view name) const {
  for (const Field& field : fields_) {
    if (field.name() == name) return &field;
  }
  return nullptr;
}

bool FieldList::Equal(const void* a, const void* b) const {
  if (a == b) return true;
  for (const Field& field : fields_) {
    if (!field.Equal(a, b)) return false;
  }
  return true;
}

uint64_t FieldList::Hash(const void* object) const {
  StableHash hash(fields_.size());
  for (const Field& field : fields_) {
    hash.Add(field.Get(object).Hash());
  }
  return hash.value();
}

absl::Status FieldList::Assign(const AttrMap& values, void* object) const {
  std::vector<const Field*> given;
  for (const auto& [name, value] : values) {
    const Field* field = Find(name);
    if (field == nullptr) {
      std::vector<std::string> known;
      for (const Field& f : fields_) {
        known.push_back(f.name());
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown name \"", name, "\"", DidYouMean(name, known),
          known.empty()
              ? "; none is known"
              : absl::StrCat("; known: ", absl::StrJoin(known, ", "))));
    }
    for (const Field* earlier : given) {
      if (earlier == field) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", name, "\" is given twice"));
      }
    }
    given.push_back(field);
    if (absl::Status status = field->Set(object, value); !status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(name, ": ", status.message()));
    }
  }
  std::vector<std::string> missing;
  for (const Field& field : fields_) {
    if (field.required() &&
        std::find(given.begin(), given.end(), &field) == given.end()) {
      missing.push_back(absl::StrCat("\"", field.name(), "\" is missing"));
    }
  }
  if (!missing.empty()) {
    return absl::InvalidArgumentError(absl::StrJoin(missing, ", "));
  }
  return absl::OkStatus();
}

AttrMap FieldList::NonDefault(const void* object) const {
  AttrMap result;
  for (const Field& field : fields_) {
    if (!IsDefault(field, object)) {
      result.emplace_back(field.name(), field.Get(object));
    }
  }
  return result;
}

}  // namespace baton
