// Registry: named entries that libraries add before main() runs: passes,
// operators, attribute types, settings, workloads.
//
//   Registry<Codec>& CodecRegistry() {
//     static auto& registry = *Registry<Codec>::NewGlobal("codec");
//     return registry;
//   }
//   ...
//   CodecRegistry().Register("gzip", Codec(...));
//   BATON_ASSIGN_OR_RETURN(const Codec* codec, CodecRegistry().Get("gzip"));
//
// A registry records the source location of each registration. It rejects a
// second entry of the same name: from then on Get() of that name and List()
// return an error with all locations, whatever the order of linking. Nothing
// aborts while the program starts; main() must check RegistrationErrors() once.

#ifndef BATON_BASE_REGISTRY_H_
#define BATON_BASE_REGISTRY_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// A line of C++ source.
struct CodeLocation {
  // The caller's line; as a default argument, the line of the call that uses
  // it.
  static constexpr CodeLocation Current(const char* file = __builtin_FILE(),
                                        int line = __builtin_LINE()) {
    return {file, line};
  }

  const char* file;  // never freed
  int line;

  std::string ToString() const;  // `FILE:LINE`
};

// OK if all registrations of this process are valid; otherwise
// FailedPrecondition, with a line for each invalid one.
absl::Status RegistrationErrors();

// Adds a check to RegistrationErrors(), for errors that one registry alone
// cannot find. `check` returns one message for each error.
void AddRegistrationCheck(std::function<std::vector<std::string>()> check);

namespace internal {

// The part of Registry that does not depend on the type of its entries.
class RegistryBase {
 public:
  bool Contains(absl::string_view name) const;
  // All names, sorted, including those with several entries.
  std::vector<std::string> Names() const;

  // An AlreadyExists error if several entries of that name were registered.
  absl::Status CheckUnique(absl::string_view name) const;
  // CheckUnique of all names.
  absl::Status Check() const;
  // The errors of Check(), one message for each name.
  std::vector<std::string> Errors() const;

  // The place of the registration, `FILE:LINE`; empty if there is none.
  std::string LocationOf(absl::string_view name) const;

  // The NotFound error `unknown KIND "NAME"; did you mean "X"?`.
  absl::Status UnknownError(absl::string_view name) const;
  // `; did you mean "X"?`, or empty if no known name resembles `name`.
  std::string Suggestion(absl::string_view name) const;

 protected:
  struct Entry {
    std::shared_ptr<const void> value;
    CodeLocation location;
    std::vector<CodeLocation> refused;  // later entries of the same name
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  using EqualFn = bool (*)(const void* a, const void* b);

  explicit RegistryBase(std::string kind);
  RegistryBase(const RegistryBase& other);
  RegistryBase& operator=(const RegistryBase&) = delete;
  ~RegistryBase();

  // Returns false if the entry was rejected. `equal` compares two values: an
  // entry whose value equals the registered one is not rejected. If `equal` is
  // null, every second entry is.
  bool Add(absl::string_view name, Entry entry, EqualFn equal);
  // Replaces the entry of that name by `entry`, or removes it if `entry` is
  // null. Returns the previous entry.
  EntryPtr Exchange(absl::string_view name, EntryPtr entry);
  // Null if there is no entry of that name.
  const Entry* FindEntry(absl::string_view name) const;
  // The value of the only entry of that name; null if there is none or several.
  const void* FindValue(absl::string_view name) const {
    const Entry* entry = FindEntry(name);
    return entry == nullptr || !entry->refused.empty() ? nullptr
                                                       : entry->value.get();
  }
  absl::StatusOr<const void*> GetValue(absl::string_view name) const;
  absl::StatusOr<std::vector<const void*>> Values() const;

 private:
  // The entries, their index and lock: behind a pointer, since most sources
  // include this header and few look at a table.
  struct Table;

  std::string DuplicateError(absl::string_view name, const Entry& entry) const;

  std::string kind_;
  std::unique_ptr<Table> table_;
};

}  // namespace internal

// Thread-safe; a look-up takes no lock. Registries are written while the
// program starts, and by tests. Replaced entries are kept as long as the
// registry.
template <typename T>
class Registry : public internal::RegistryBase {
 public:
  // `kind` is the word for an entry in errors: "pass", "setting".
  explicit Registry(std::string kind) : RegistryBase(std::move(kind)) {}
  // An independent copy, which shares the entries. For tests, which replace
  // entries.
  Registry(const Registry& other) = default;

  // Makes a registry that is never destroyed and whose errors are included in
  // RegistrationErrors().
  static Registry* NewGlobal(std::string kind) {
    auto* const registry = new Registry(std::move(kind));
    AddRegistrationCheck([registry] { return registry->Errors(); });
    return registry;
  }

  // Adds an entry. If there is an entry of that name, refuses the new one and
  // returns false; the name is an error from then on.
  bool Register(absl::string_view name, T value,
                CodeLocation location = CodeLocation::Current()) {
    return Add(name, Entry{Share(std::move(value)), location, {}}, nullptr);
  }
  // As Register, but registering an equal value again has no effect and is not
  // an error.
  bool RegisterSame(absl::string_view name, T value,
                    CodeLocation location = CodeLocation::Current()) {
    return Add(name, Entry{Share(std::move(value)), location, {}},
               [](const void* a, const void* b) {
                 return *static_cast<const T*>(a) == *static_cast<const T*>(b);
               });
  }
  // Adds an entry, or replaces all entries of that name.
  void Override(absl::string_view name, T value,
                CodeLocation location = CodeLocation::Current()) {
    Exchange(name, std::make_shared<const Entry>(
                       Entry{Share(std::move(value)), location, {}}));
  }

  // The entry of that name; null if there is none or several were registered.
  // Valid as long as the registry.
  const T* Find(absl::string_view name) const {
    return static_cast<const T*>(FindValue(name));
  }
  // As Find; errors are those of CheckUnique() and UnknownError().
  absl::StatusOr<const T*> Get(absl::string_view name) const {
    absl::StatusOr<const void*> value = GetValue(name);
    if (!value.ok()) return value.status();
    return static_cast<const T*>(*value);
  }
  // All entries, sorted by name. The error is that of Check().
  absl::StatusOr<std::vector<const T*>> List() const {
    absl::StatusOr<std::vector<const void*>> values = Values();
    if (!values.ok()) return values.status();
    std::vector<const T*> result;
    for (const void* value : *values) {
      result.push_back(static_cast<const T*>(value));
    }
    return result;
  }

 private:
  template <typename U>
  friend class ScopedOverride;

  static std::shared_ptr<const void> Share(T value) {
    return std::make_shared<const T>(std::move(value));
  }
};

// Overrides an entry during its lifetime; the destructor restores the previous
// entry, including its errors. For tests.
template <typename T>
class ScopedOverride {
 public:
  ScopedOverride(Registry<T>* registry, absl::string_view name, T value,
                 CodeLocation location = CodeLocation::Current())
      : registry_(registry),
        name_(name),
        former_(registry->Exchange(
            name,
            std::make_shared<const typename Registry<T>::Entry>(
                typename Registry<T>::Entry{
                    Registry<T>::Share(std::move(value)), location, {}}))) {}
  ScopedOverride(const ScopedOverride&) = delete;
  ScopedOverride& operator=(const ScopedOverride&) = delete;
  ~ScopedOverride() { registry_->Exchange(name_, std::move(former_)); }

 private:
  Registry<T>* registry_;
  std::string name_;
  typename Registry<T>::EntryPtr former_;
};

}  // namespace baton

#endif  // BATON_BASE_REGISTRY_H_
