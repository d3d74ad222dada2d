// PassRegistry: finds passes by name.
//
// A pass is a factory, declared in its header and registered beside its
// definition. The pass that it returns has a name, level, required passes,
// options, documentation, and promises that tests check (pass_info.h):
//
//   // fuse_ops.h
//   struct FuseOpsOptions {
//     int64_t fuse_opt_level = -1;
//     template <typename V>
//     static void VisitFields(V& v) {
//       v("fuse_opt_level", &FuseOpsOptions::fuse_opt_level,
//         "Level to fuse at; -1 for that of the context.");
//     }
//   };
//   Pass FuseOps(FuseOpsOptions options = {});
//
//   // fuse_ops.cc
//   Pass FuseOps(FuseOpsOptions options) {
//     return CreateFunctionPass(..., {.name = "FuseOps", ...}, options);
//   }
//   BATON_REGISTER_PASS(FuseOps);
//
// Linking the library suffices (its target has `alwayslink = True`). The
// registration provides pipelines as text, `--list_passes`, documentation, and
// the tests for all passes.

#ifndef BATON_TRANSFORM_PASS_REGISTRY_H_
#define BATON_TRANSFORM_PASS_REGISTRY_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"
#include "baton/transform/pass.h"

namespace baton {

// Makes passes of one name. Converts from a function, or a function object
// without options, of one of these forms, where O has a field list:
//   Pass Make();            absl::StatusOr<Pass> Make();
//   Pass Make(O options);   absl::StatusOr<Pass> Make(O options);
class PassFactory {
 public:
  template <typename O>
  PassFactory(Pass (*make)(O))  // NOLINT(google-explicit-constructor)
      : PassFactory(OptionsTag<std::decay_t<O>>(), make) {}
  template <typename O>
  PassFactory(absl::StatusOr<Pass> (*make)(O))  // NOLINT
      : PassFactory(OptionsTag<std::decay_t<O>>(), make) {}
  template <typename F>
  requires std::is_invocable_v<F&> PassFactory(
      F make)  // NOLINT(google-explicit-constructor)
      : make_([make](const void*) -> absl::StatusOr<Pass> { return make(); }) {}

  // Null if the pass takes no options.
  const FieldList* options() const { return options_; }

  // Makes a pass with the options `values`. Errors as those of
  // FieldList::Assign.
  absl::StatusOr<Pass> Create(const AttrMap& values) const;
  // Makes a pass with all options at their defaults, also required ones, for
  // reading its PassInfo.
  absl::StatusOr<Pass> Prototype() const;
  // OK if the option accepts the value.
  absl::Status CheckOption(const Field& field, const AttrValue& value) const;

 private:
  template <typename O>
  struct OptionsTag {};
  template <typename O, typename F>
  PassFactory(OptionsTag<O>, F make)
      : options_(&FieldsOf<O>()),
        new_options_(
            []() -> std::shared_ptr<void> { return std::make_shared<O>(); }),
        make_([make](const void* options) -> absl::StatusOr<Pass> {
          return make(*static_cast<const O*>(options));
        }) {}

  const FieldList* options_ = nullptr;
  std::shared_ptr<void> (*new_options_)() = nullptr;
  std::function<absl::StatusOr<Pass>(const void* options)> make_;
};

// Passes by name (base/registry.h). Thread-safe.
//
// A pass must be registered under the name in its PassInfo. Otherwise, looking
// the name up is an error.
class PassRegistry {
 public:
  // All linked passes.
  static PassRegistry& Global();

  PassRegistry();
  // An independent copy; a test can change it and pass it to a PassContext.
  PassRegistry(const PassRegistry& other) = default;
  PassRegistry& operator=(const PassRegistry&) = delete;

  // Adds a pass. If a name is registered twice, looking it up is an error,
  // which names both places.
  void Register(absl::string_view name, PassFactory factory,
                CodeLocation location = CodeLocation::Current());
  // Adds a pass or replaces the one of that name. The name in its PassInfo may
  // differ.
  void Override(absl::string_view name, PassFactory factory,
                CodeLocation location = CodeLocation::Current());

  bool Contains(absl::string_view name) const;
  // All names, sorted.
  std::vector<std::string> Names() const;
  // The errors of the registrations, one message for each name. Makes a pass
  // with each factory, with default options; if the factory fails, does not
  // check the name of its passes.
  std::vector<std::string> Errors() const;

  // The factory and the PassInfo of the pass `name`. Errors name the nearest
  // known passes.
  absl::StatusOr<PassFactory> Factory(absl::string_view name) const;
  absl::StatusOr<PassInfo> Info(absl::string_view name) const;
  // The pass `name` with default options; always the same pass.
  absl::StatusOr<Pass> Get(absl::string_view name) const;
  absl::StatusOr<Pass> Create(absl::string_view name,
                              const AttrMap& options) const;

 private:
  // A pass that the first look-up makes.
  struct Instance {
    std::mutex mutex;
    Pass pass;
  };
  struct Entry {
    PassFactory factory;
    bool is_override = false;
    std::shared_ptr<Instance> instance = std::make_shared<Instance>();
  };

  absl::StatusOr<const Entry*> Lookup(absl::string_view name) const;
  // Returns `pass`; an error if the name in its PassInfo is not `name`, under
  // which it is registered.
  absl::StatusOr<Pass> CheckName(absl::string_view name, const Entry& entry,
                                 absl::StatusOr<Pass> pass) const;

  Registry<Entry> entries_;
};

// The registry in which `context` looks passes up.
const PassRegistry& RegistryOf(const PassContext& context);

// Registers a factory under its own name, which must be the name of its passes.
// For a factory with another name (`CreateFuseOps`), write
// BATON_REGISTER_PASS_AS("FuseOps", CreateFuseOps).
#define BATON_REGISTER_PASS(factory) BATON_REGISTER_PASS_AS(#factory, factory)

// Registers a factory, or an expression that converts to PassFactory.
#define BATON_REGISTER_PASS_AS(name, ...)               \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_pass_registration_) =                       \
      (::baton::PassRegistry::Global().Register(name, __VA_ARGS__), true)

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_REGISTRY_H_
