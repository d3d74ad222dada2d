#include "baton/ir/op.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/near_names.h"

namespace baton {

OpRegistry& OpRegistry::Global() {
  static auto* const kRegistry = new OpRegistry;
  return *kRegistry;
}

OpNode& OpRegistry::Declare(absl::string_view name) {
  OpNode*& slot = by_name_[std::string(name)];
  if (slot == nullptr) {
    slot = new OpNode(std::string(name), static_cast<int>(ops_.size()));
    internal::NodeAccess::MakeImmortal(slot);
    ops_.push_back(slot);
  }
  return *slot;
}

const OpNode* OpRegistry::Find(absl::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::vector<const OpNode*> OpRegistry::List() const {
  std::vector<const OpNode*> result(ops_.begin(), ops_.end());
  std::sort(result.begin(), result.end(), [](const OpNode* a, const OpNode* b) {
    return a->name() < b->name();
  });
  return result;
}

std::vector<std::string> OpRegistry::Suggest(absl::string_view name) const {
  std::vector<std::string> names;
  for (const OpNode* op : List()) names.push_back(op->name());
  return NearestNames(name, names);
}

Op Op::Find(absl::string_view name) {
  return Op(OpRegistry::Global().Find(name));
}

absl::StatusOr<Op> Op::Get(absl::string_view name) {
  if (const OpNode* op = OpRegistry::Global().Find(name)) return Op(op);
  std::vector<std::string> names;
  for (const OpNode* op : OpRegistry::Global().List()) {
    names.push_back(op->name());
  }
  return absl::NotFoundError(
      absl::StrCat("unknown operator \"", name, "\"", DidYouMean(name, names)));
}

}  // namespace baton
