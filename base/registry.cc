#include "baton/base/registry.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"

namespace baton {
namespace {

struct Checks {
  std::mutex mutex;
  std::vector<std::function<std::vector<std::string>()>> list;
};

Checks& GlobalChecks() {
  static auto* const kChecks = new Checks;
  return *kChecks;
}

}  // namespace

std::string CodeLocation::ToString() const {
  return absl::StrCat(file, ":", line);
}

absl::Status RegistrationErrors() {
  Checks& checks = GlobalChecks();
  // A check may register more, so it runs without the lock.
  std::vector<std::function<std::vector<std::string>()>> list;
  {
    const std::lock_guard<std::mutex> lock(checks.mutex);
    list = checks.list;
  }
  std::vector<std::string> errors;
  for (const auto& check : list) {
    for (std::string& error : check()) errors.push_back(std::move(error));
  }
  if (errors.empty()) return absl::OkStatus();
  // The order of linking does not show.
  std::sort(errors.begin(), errors.end());
  return absl::FailedPreconditionError(absl::StrJoin(errors, "\n"));
}

void AddRegistrationCheck(std::function<std::vector<std::string>()> check) {
  Checks& checks = GlobalChecks();
  const std::lock_guard<std::mutex> lock(checks.mutex);
  checks.list.push_back(std::move(check));
}

namespace internal {

struct RegistryBase::Table {
  using Index = FlatHashMap<std::string, EntryPtr>;

  void ForgetIndex() { index.store(nullptr, std::memory_order_release); }

  std::mutex mutex;
  std::map<std::string, EntryPtr, std::less<>> entries;
  // The entries as look-ups read them, without a lock; null until the first
  // look-up after a change. Former indexes stay alive: look-ups on other
  // threads may still read them.
  std::atomic<const Index*> index{nullptr};
  std::vector<std::unique_ptr<const Index>> indexes;
};

RegistryBase::RegistryBase(std::string kind)
    : kind_(std::move(kind)), table_(std::make_unique<Table>()) {}

RegistryBase::RegistryBase(const RegistryBase& other)
    : kind_(other.kind_), table_(std::make_unique<Table>()) {
  const std::lock_guard<std::mutex> lock(other.table_->mutex);
  table_->entries = other.table_->entries;
}

RegistryBase::~RegistryBase() = default;

bool RegistryBase::Add(absl::string_view name, Entry entry, EqualFn equal) {
  const std::lock_guard<std::mutex> lock(table_->mutex);
  const auto it = table_->entries.find(name);
  if (it == table_->entries.end()) {
    table_->entries.emplace(std::string(name),
                            std::make_shared<const Entry>(std::move(entry)));
    table_->ForgetIndex();
    return true;
  }
  if (equal != nullptr && equal(it->second->value.get(), entry.value.get())) {
    return true;
  }
  Entry refusing = *it->second;
  refusing.refused.push_back(entry.location);
  it->second = std::make_shared<const Entry>(std::move(refusing));
  table_->ForgetIndex();
  return false;
}

RegistryBase::EntryPtr RegistryBase::Exchange(absl::string_view name,
                                              EntryPtr entry) {
  const std::lock_guard<std::mutex> lock(table_->mutex);
  EntryPtr former;
  const auto it = table_->entries.find(name);
  if (it != table_->entries.end()) {
    former = std::move(it->second);
    if (entry != nullptr) {
      it->second = std::move(entry);
    } else {
      table_->entries.erase(it);
    }
  } else if (entry != nullptr) {
    table_->entries.emplace(std::string(name), std::move(entry));
  }
  table_->ForgetIndex();
  return former;
}

const RegistryBase::Entry* RegistryBase::FindEntry(
    absl::string_view name) const {
  const Table::Index* index = table_->index.load(std::memory_order_acquire);
  if (index == nullptr) {
    const std::lock_guard<std::mutex> lock(table_->mutex);
    index = table_->index.load(std::memory_order_relaxed);
    if (index == nullptr) {
      table_->indexes.push_back(std::make_unique<const Table::Index>(
          table_->entries.begin(), table_->entries.end()));
      index = table_->indexes.back().get();
      table_->index.store(index, std::memory_order_release);
    }
  }
  const auto it = index->find(name);
  return it == index->end() ? nullptr : it->second.get();
}

std::string RegistryBase::DuplicateError(absl::string_view name,
                                         const Entry& entry) const {
  std::vector<std::string> places = {entry.location.ToString()};
  for (const CodeLocation& location : entry.refused) {
    places.push_back(location.ToString());
  }
  // The order of linking does not show.
  std::sort(places.begin(), places.end());
  const std::string last = std::move(places.back());
  places.pop_back();
  return absl::StrCat(
      kind_, " ", name, " is registered ",
      places.size() == 1 ? "twice" : absl::StrCat(places.size() + 1, " times"),
      ": ", absl::StrJoin(places, ", "), " and ", last);
}

absl::StatusOr<const void*> RegistryBase::GetValue(
    absl::string_view name) const {
  const Entry* entry = FindEntry(name);
  if (entry == nullptr) return UnknownError(name);
  if (!entry->refused.empty()) {
    return absl::AlreadyExistsError(DuplicateError(name, *entry));
  }
  return entry->value.get();
}

absl::StatusOr<std::vector<const void*>> RegistryBase::Values() const {
  if (absl::Status status = Check(); !status.ok()) return status;
  std::vector<const void*> values;
  for (const std::string& name : Names()) {
    // Null if another thread has just taken the entry away.
    if (const void* value = FindValue(name)) values.push_back(value);
  }
  return values;
}

bool RegistryBase::Contains(absl::string_view name) const {
  return FindEntry(name) != nullptr;
}

std::vector<std::string> RegistryBase::Names() const {
  const std::lock_guard<std::mutex> lock(table_->mutex);
  std::vector<std::string> names;
  names.reserve(table_->entries.size());
  for (const auto& [name, entry] : table_->entries) names.push_back(name);
  return names;
}

absl::Status RegistryBase::CheckUnique(absl::string_view name) const {
  const Entry* entry = FindEntry(name);
  return entry == nullptr || entry->refused.empty()
             ? absl::OkStatus()
             : absl::AlreadyExistsError(DuplicateError(name, *entry));
}

std::vector<std::string> RegistryBase::Errors() const {
  const std::lock_guard<std::mutex> lock(table_->mutex);
  std::vector<std::string> errors;
  for (const auto& [name, entry] : table_->entries) {
    if (!entry->refused.empty()) errors.push_back(DuplicateError(name, *entry));
  }
  return errors;
}

absl::Status RegistryBase::Check() const {
  const std::vector<std::string> errors = Errors();
  return errors.empty() ? absl::OkStatus()
                        : absl::AlreadyExistsError(absl::StrJoin(errors, "\n"));
}

std::string RegistryBase::LocationOf(absl::string_view name) const {
  const Entry* entry = FindEntry(name);
  return entry == nullptr ? "" : entry->location.ToString();
}

absl::Status RegistryBase::UnknownError(absl::string_view name) const {
  return absl::NotFoundError(
      absl::StrCat("unknown ", kind_, " \"", name, "\"", Suggestion(name)));
}

std::string RegistryBase::Suggestion(absl::string_view name) const {
  return DidYouMean(name, Names());
}

}  // namespace internal
}  // namespace baton
