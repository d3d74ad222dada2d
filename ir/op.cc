#include "baton/ir/op.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/registry.h"

namespace baton {

struct OpRegistry::Declarations {
  struct Declared {
    OpNode* node;
    std::vector<CodeLocation> extensions;
  };

  // The node of that name, registered or only extended so far; made if there is
  // none.
  Declared& Declare(absl::string_view name);

  std::mutex mutex;
  FlatHashMap<std::string, Declared> declared;
  // The places in the code that set properties, by map and operator.
  FlatHashMap<std::pair<const void*, const OpNode*>, CodeLocation> set;
  std::vector<std::string> set_twice;  // messages
};

OpRegistry::OpRegistry()
    : registered_("operator"),
      declarations_(std::make_unique<Declarations>()) {}

OpRegistry& OpRegistry::Global() {
  static auto* const kRegistry = [] {
    auto* registry = new OpRegistry;
    AddRegistrationCheck([registry] { return registry->Errors(); });
    return registry;
  }();
  return *kRegistry;
}

OpRegistry::Declarations::Declared& OpRegistry::Declarations::Declare(
    absl::string_view name) {
  Declared& declared = this->declared[std::string(name)];
  if (declared.node == nullptr) {
    declared.node = new OpNode(std::string(name),
                               static_cast<int>(this->declared.size()) - 1);
    internal::NodeAccess::MakeImmortal(declared.node);
  }
  return declared;
}

OpNode* OpRegistry::Register(absl::string_view name, CodeLocation location) {
  const std::lock_guard<std::mutex> lock(declarations_->mutex);
  OpNode* const node = declarations_->Declare(name).node;
  return registered_.Register(name, node, location) ? node : nullptr;
}

OpNode* OpRegistry::Extend(absl::string_view name, CodeLocation location) {
  const std::lock_guard<std::mutex> lock(declarations_->mutex);
  Declarations::Declared& declared = declarations_->Declare(name);
  declared.extensions.push_back(location);
  return declared.node;
}

bool OpRegistry::MaySet(const void* map, const OpNode* op,
                        CodeLocation location) {
  const std::lock_guard<std::mutex> lock(declarations_->mutex);
  const auto [it, is_new] = declarations_->set.try_emplace({map, op}, location);
  if (is_new) return true;
  const std::string place = location.ToString();
  const std::string first = it->second.ToString();
  // One registration may set a property again: the last one counts.
  if (place == first) return true;
  // The order of linking does not show.
  declarations_->set_twice.push_back(absl::StrCat(
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
  const std::lock_guard<std::mutex> lock(declarations_->mutex);
  errors.insert(errors.end(), declarations_->set_twice.begin(),
                declarations_->set_twice.end());
  for (const auto& [name, declared] : declarations_->declared) {
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
  // Each name has one stand-in, so repeated look-ups of an unknown name need no
  // more memory.
  static std::mutex& mutex = *new std::mutex;
  static auto& stand_ins = *new FlatHashMap<std::string, OpNode*>;
  const std::lock_guard<std::mutex> lock(mutex);
  OpNode*& stand_in = stand_ins[std::string(name)];
  if (stand_in == nullptr) {
    stand_in = new OpNode(std::string(name), /*index=*/-1);
    internal::NodeAccess::MakeImmortal(stand_in);
  }
  return Op(stand_in);
}

absl::StatusOr<Op> Op::Get(absl::string_view name) {
  absl::StatusOr<const OpNode*> op = OpRegistry::Global().Get(name);
  if (!op.ok()) return op.status();
  return Op(*op);
}

}  // namespace baton
