#include "baton/transform/pass_registry.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/registry.h"
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
  static auto* const kRegistry = [] {
    auto* registry = new PassRegistry;
    AddRegistrationCheck([registry] { return registry->Errors(); });
    return registry;
  }();
  return *kRegistry;
}

PassRegistry::PassRegistry() : entries_("pass") {}

void PassRegistry::Register(absl::string_view name, PassFactory factory,
                            CodeLocation location) {
  entries_.Register(name, Entry{std::move(factory)}, location);
}

void PassRegistry::Override(absl::string_view name, PassFactory factory,
                            CodeLocation location) {
  entries_.Override(name, Entry{std::move(factory), true}, location);
}

bool PassRegistry::Contains(absl::string_view name) const {
  return entries_.Contains(name);
}

std::vector<std::string> PassRegistry::Names() const {
  return entries_.Names();
}

std::vector<std::string> PassRegistry::Errors() const {
  std::vector<std::string> errors = entries_.Errors();
  for (const std::string& name : Names()) {
    const Entry* entry = entries_.Find(name);
    if (entry == nullptr) continue;  // among the errors already
    const absl::StatusOr<Pass> pass = entry->factory.Prototype();
    if (!pass.ok()) continue;
    const absl::Status status = CheckName(name, *entry, *pass).status();
    if (!status.ok()) errors.emplace_back(status.message());
  }
  return errors;
}

absl::StatusOr<const PassRegistry::Entry*> PassRegistry::Lookup(
    absl::string_view name) const {
  if (const Entry* entry = entries_.Find(name)) return entry;
  BATON_RETURN_IF_ERROR(entries_.CheckUnique(name));
  // With its options, the pass NAME may call itself NAME.PART; see CheckName().
  const size_t dot = name.rfind('.');
  if (dot != absl::string_view::npos) {
    if (const Entry* entry = entries_.Find(name.substr(0, dot))) return entry;
  }
  return absl::NotFoundError(
      absl::StrCat("unknown pass ", name, entries_.Suggestion(name)));
}

absl::StatusOr<Pass> PassRegistry::CheckName(absl::string_view name,
                                             const Entry& entry,
                                             absl::StatusOr<Pass> pass) const {
  if (!pass.ok()) return NameError(name, pass.status());
  if (entry.is_override || pass->name() == name) return pass;
  if (!entries_.Contains(name)) {
    return absl::NotFoundError(absl::StrCat(
        "unknown pass ", name, ": with these options it is ", pass->name()));
  }
  if (absl::StartsWith(pass->name(), absl::StrCat(name, "."))) return pass;
  return absl::FailedPreconditionError(absl::StrCat(
      "pass ", name, " is registered at ", entries_.LocationOf(name),
      " but calls itself \"", pass->name(), "\": the two names must agree"));
}

absl::StatusOr<PassFactory> PassRegistry::Factory(
    absl::string_view name) const {
  BATON_ASSIGN_OR_RETURN(const Entry* entry, Lookup(name));
  return entry->factory;
}

absl::StatusOr<PassInfo> PassRegistry::Info(absl::string_view name) const {
  BATON_ASSIGN_OR_RETURN(const Entry* entry, Lookup(name));
  if (!entries_.Contains(name)) {
    // The options with which the pass has that name are unknown.
    BATON_ASSIGN_OR_RETURN(const Pass pass, entry->factory.Prototype());
    PassInfo info = pass.info();
    info.name = std::string(name);
    return info;
  }
  BATON_ASSIGN_OR_RETURN(const Pass pass,
                         CheckName(name, *entry, entry->factory.Prototype()));
  return pass.info();
}

absl::StatusOr<Pass> PassRegistry::Get(absl::string_view name) const {
  BATON_ASSIGN_OR_RETURN(const Entry* entry, Lookup(name));
  if (!entries_.Contains(name)) {
    return CheckName(name, *entry, entry->factory.Create({}));
  }
  Instance& instance = *entry->instance;
  {
    const std::lock_guard<std::mutex> lock(instance.mutex);
    if (instance.pass.defined()) return instance.pass;
  }
  // The factory runs without the lock: it may use the registry.
  BATON_ASSIGN_OR_RETURN(Pass pass,
                         CheckName(name, *entry, entry->factory.Create({})));
  const std::lock_guard<std::mutex> lock(instance.mutex);
  if (!instance.pass.defined()) instance.pass = std::move(pass);
  return instance.pass;
}

absl::StatusOr<Pass> PassRegistry::Create(absl::string_view name,
                                          const AttrMap& options) const {
  BATON_ASSIGN_OR_RETURN(const Entry* entry, Lookup(name));
  return CheckName(name, *entry, entry->factory.Create(options));
}

const PassRegistry& RegistryOf(const PassContext& context) {
  return context.registry() != nullptr ? *context.registry()
                                       : PassRegistry::Global();
}

}  // namespace baton
