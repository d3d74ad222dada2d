#include "baton/transform/pass_registry.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"

namespace baton {
namespace {

absl::Status NameError(absl::string_view name, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("pass ", name, ": ", status.message()));
}

absl::StatusOr<Pass> CheckDefined(absl::StatusOr<Pass> pass) {
  if (pass.ok() && !pass->defined()) {
    return absl::InternalError("its factory returned a null pass");
  }
  return pass;
}

}  // namespace

absl::StatusOr<Pass> PassFactory::Create(const AttrMap& values) const {
  if (options_ == nullptr) {
    if (!values.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown option ", values.front().first, ": it takes no options"));
    }
    return Prototype();
  }
  const std::shared_ptr<void> options = new_options_();
  BATON_RETURN_IF_ERROR(options_->Assign(values, options.get()));
  return CheckDefined(internal::CatchExceptions(
      "its factory", [&] { return make_(options.get()); }));
}

absl::StatusOr<Pass> PassFactory::Prototype() const {
  return CheckDefined(internal::CatchExceptions("its factory", [&] {
    return make_(options_ == nullptr ? nullptr : options_->default_object());
  }));
}

absl::Status PassFactory::CheckOption(const Field& field,
                                      const AttrValue& value) const {
  return field.Set(new_options_().get(), value);
}

PassRegistry& PassRegistry::Global() {
  static auto* const registry = new PassRegistry;
  return *registry;
}

PassRegistry::PassRegistry(const PassRegistry& other) {
  const std::lock_guard<std::mutex> lock(other.mutex_);
  entries_ = other.entries_;
}

void PassRegistry::Register(absl::string_view name, PassFactory factory,
                            absl::string_view where) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = entries_.find(name);
  if (it != entries_.end()) {
    it->second.other_place =
        std::string(where.empty() ? "another place" : where);
    return;
  }
  entries_.emplace(std::string(name),
                   Entry{std::move(factory),
                         std::string(where.empty() ? "one place" : where),
                         "",
                         {}});
}

void PassRegistry::Override(absl::string_view name, PassFactory factory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.insert_or_assign(std::string(name),
                            Entry{std::move(factory), "an override", "", {}});
}

bool PassRegistry::Contains(absl::string_view name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.find(name) != entries_.end();
}

std::vector<std::string> PassRegistry::Names() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

absl::StatusOr<PassRegistry::Entry> PassRegistry::Lookup(
    absl::string_view name) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = entries_.find(name);
    if (it != entries_.end()) {
      const Entry& entry = it->second;
      if (entry.other_place.empty()) return entry;
      return absl::AlreadyExistsError(
          absl::StrCat("pass ", name, " is registered twice: ", entry.where,
                       " and ", entry.other_place));
    }
  }
  return absl::NotFoundError(
      absl::StrCat("unknown pass ", name, DidYouMean(name, Names())));
}

absl::StatusOr<PassFactory> PassRegistry::Factory(
    absl::string_view name) const {
  BATON_ASSIGN_OR_RETURN(Entry entry, Lookup(name));
  return std::move(entry.factory);
}

absl::StatusOr<PassInfo> PassRegistry::Info(absl::string_view name) const {
  BATON_ASSIGN_OR_RETURN(const Entry entry, Lookup(name));
  const absl::StatusOr<Pass> pass = entry.factory.Prototype();
  if (!pass.ok()) return NameError(name, pass.status());
  return pass->info();
}

absl::StatusOr<Pass> PassRegistry::Get(absl::string_view name) const {
  {
    // The usual case, without a copy of the entry.
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = entries_.find(name);
    if (it != entries_.end() && it->second.instance.defined() &&
        it->second.other_place.empty()) {
      return it->second.instance;
    }
  }
  // The factory runs without the lock: it may use the registry.
  absl::StatusOr<Pass> pass = Create(name, {});
  if (!pass.ok()) return pass;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = entries_.find(name);
  if (it == entries_.end()) return pass;
  if (!it->second.instance.defined()) it->second.instance = *pass;
  return it->second.instance;
}

absl::StatusOr<Pass> PassRegistry::Create(absl::string_view name,
                                          const AttrMap& options) const {
  BATON_ASSIGN_OR_RETURN(const Entry entry, Lookup(name));
  absl::StatusOr<Pass> pass = entry.factory.Create(options);
  if (!pass.ok()) return NameError(name, pass.status());
  return pass;
}

const PassRegistry& RegistryOf(const PassContext& context) {
  return context.registry() != nullptr ? *context.registry()
                                       : PassRegistry::Global();
}

}  // namespace baton
