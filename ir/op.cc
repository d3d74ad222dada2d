#include "baton/ir/op.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/near_names.h"
#include "baton/base/registry.h"

namespace baton {

OpRegistry& OpRegistry::Global() {
  static auto* const kRegistry = [] {
    auto* registry = new OpRegistry;
    AddRegistrationCheck([registry] { return registry->Errors(); });
    return registry;
  }();
  return *kRegistry;
}

OpRegistry::Declared& OpRegistry::Declare(absl::string_view name) {
  Declared& declared = declared_[std::string(name)];
  if (declared.node == nullptr) {
    declared.node =
        new OpNode(std::string(name), static_cast<int>(declared_.size()) - 1);
    internal::NodeAccess::MakeImmortal(declared.node);
  }
  return declared;
}

OpNode* OpRegistry::Register(absl::string_view name, CodeLocation location) {
  const std::lock_guard<std::mutex> lock(mutex_);
  OpNode* const node = Declare(name).node;
  return registered_.Register(name, node, location) ? node : nullptr;
}

OpNode* OpRegistry::Extend(absl::string_view name, CodeLocation location) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Declared& declared = Declare(name);
  declared.extensions.push_back(location);
  return declared.node;
}

bool OpRegistry::MaySet(const void* map, const OpNode* op,
                        CodeLocation location) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [it, is_new] = set_.try_emplace({map, op}, location);
  const std::string place = location.ToString();
  const std::string first = it->second.ToString();
  // One registration may set a property again: the last one counts.
  if (is_new || place == first) return true;
  // The order of linking does not show.
  set_twice_.push_back(absl::StrCat(
      "operator ", op->name(), ": one of its properties is set twice: ",
      std::min(first, place), " and ", std::max(first, place)));
  return false;
}

absl::StatusOr<const OpNode*> OpRegistry::Get(absl::string_view name) const {
  absl::StatusOr<const OpNode* const*> op = registered_.Get(name);
  if (!op.ok()) return op.status();
  return **op;
}

std::vector<const OpNode*> OpRegistry::List() const {
  std::vector<const OpNode*> result;
  for (const std::string& name : registered_.Names()) {
    if (const OpNode* op = Find(name)) result.push_back(op);
  }
  return result;
}

std::vector<std::string> OpRegistry::Suggest(absl::string_view name) const {
  return NearestNames(name, registered_.Names());
}

std::vector<std::string> OpRegistry::Errors() const {
  std::vector<std::string> errors = registered_.Errors();
  const std::lock_guard<std::mutex> lock(mutex_);
  errors.insert(errors.end(), set_twice_.begin(), set_twice_.end());
  for (const auto& [name, declared] : declared_) {
    if (registered_.Contains(name)) continue;
    std::vector<std::string> places;
    for (const CodeLocation& location : declared.extensions) {
      places.push_back(location.ToString());
    }
    std::sort(places.begin(), places.end());
    errors.push_back(absl::StrCat(
        "operator ", name, " is extended at ", absl::StrJoin(places, ", "),
        " but registered nowhere", registered_.Suggestion(name)));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

Op Op::Find(absl::string_view name) {
  return Op(OpRegistry::Global().Find(name));
}

Op Op::FindOrStandIn(absl::string_view name) {
  if (const OpNode* op = OpRegistry::Global().Find(name)) return Op(op);
  auto* stand_in = new OpNode(std::string(name), /*index=*/-1);
  internal::NodeAccess::MakeImmortal(stand_in);
  return Op(stand_in);
}

absl::StatusOr<Op> Op::Get(absl::string_view name) {
  absl::StatusOr<const OpNode*> op = OpRegistry::Global().Get(name);
  if (!op.ok()) return op.status();
  return Op(*op);
}

}  // namespace baton
