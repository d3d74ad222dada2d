// Pass: a function from module to module that the pass manager runs.
//
//   absl::StatusOr<IRModule> result = FoldConstant()(module);
//
// When it runs a pass, the pass manager calls the instruments of the current
// PassContext, records the nesting of passes, converts exceptions of user code
// to errors, and adds the enclosing passes to errors (pass_error.h). The
// argument module never changes; a pass without effect returns the same module
// (IRModule::SameAs).
//
// CreateFunctionPass (function_pass.h), CreateModulePass (module_pass.h),
// Sequential and FixedPoint (sequential.h) make passes; so do a PassRegistry,
// by name, and pipeline.h, from text. Running a pass does not change its state:
// a pass may run on many threads at once.

#ifndef BATON_TRANSFORM_PASS_H_
#define BATON_TRANSFORM_PASS_H_

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// The options with which a pass was created: a struct with a field list, or
// nothing. See FunctionOption for options that are functions.
class PassOptions {
 public:
  PassOptions() = default;
  template <typename T>
  requires requires(internal::FieldCollector<T>& v) { T::VisitFields(v); }
  PassOptions(T options)  // NOLINT(google-explicit-constructor)
      : fields_(&FieldsOf<T>()),
        object_(std::make_shared<const T>(std::move(options))) {}

  // Null if the pass takes no options.
  const FieldList* fields() const { return fields_; }
  const void* object() const { return object_.get(); }

  // The options that differ from their defaults, in the order of the field
  // list. An option that is a function has no text and is an error.
  absl::StatusOr<AttrMap> Values() const;

 private:
  const FieldList* fields_ = nullptr;
  std::shared_ptr<const void> object_;
};

// The implementation of a Pass. Derive from it if neither CreateFunctionPass
// nor CreateModulePass fits.
class PassImpl {
 public:
  explicit PassImpl(PassInfo info, PassOptions options = {})
      : info_(std::move(info)), options_(std::move(options)) {}
  PassImpl(const PassImpl&) = delete;
  PassImpl& operator=(const PassImpl&) = delete;
  virtual ~PassImpl() = default;

  const PassInfo& info() const { return info_; }
  const PassOptions& options() const { return options_; }

  // The keyword and the passes, for a pass whose text in a pipeline is a
  // keyword and a list of passes in parentheses. Empty for passes that are
  // written by name.
  virtual absl::string_view list_keyword() const { return {}; }
  virtual absl::Span<const class Pass> listed_passes() const { return {}; }

 private:
  friend class Pass;
  virtual absl::StatusOr<IRModule> RunImpl(
      IRModule module, const PassContext& context) const = 0;

  PassInfo info_;
  PassOptions options_;
};

// Handles are cheap, shared and immutable.
class Pass {
 public:
  Pass() = default;  // null: running it is an error
  explicit Pass(std::shared_ptr<const PassImpl> impl)
      : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  const PassImpl& impl() const { return *impl_; }
  const PassInfo& info() const { return impl_->info(); }
  const std::string& name() const { return info().name; }

  // Runs the pass in the current context, even if the context's level is lower.
  absl::StatusOr<IRModule> Run(IRModule module) const;
  absl::StatusOr<IRModule> operator()(IRModule module) const {
    return Run(std::move(module));
  }

  // The text of the pass in a pipeline: `FuseOps{fuse_opt_level=2}`. An error
  // if an option is a function.
  absl::StatusOr<std::string> ToString() const;

  // Returns this pass as one that sequences run even where its level is above that
  // of the context. It can be disabled by name.
  Pass AtAnyLevel() const;
  bool runs_at_any_level() const { return runs_at_any_level_; }

 private:
  absl::StatusOr<IRModule> RunHere(IRModule module) const;
  absl::StatusOr<IRModule> RunBody(IRModule module,
                                   const PassContext& context) const;
  absl::StatusOr<IRModule> RunInstrumented(IRModule module,
                                           const PassContext& context,
                                           PassExecution& execution,
                                           internal::ThreadState& state) const;

  std::shared_ptr<const PassImpl> impl_;
  bool runs_at_any_level_ = false;
};

// True if a sequence in `context` runs `pass`: PassContext::PassEnabled(), and
// Pass::AtAnyLevel().
bool IsEnabled(const Pass& pass, const PassContext& context);

// An option that is a function. Only C++ code can set it, since it has no text.
// Two options are equal if one is a copy of the other.
template <typename Signature>
class FunctionOption {
 public:
  FunctionOption() = default;
  template <typename F>
  requires std::is_convertible_v<F, std::function<Signature>> FunctionOption(
      F function)  // NOLINT(google-explicit-constructor)
      : function_(std::make_shared<const std::function<Signature>>(
            std::move(function))) {}

  explicit operator bool() const { return function_ != nullptr; }
  template <typename... Args>
  auto operator()(Args&&... args) const {
    return (*function_)(std::forward<Args>(args)...);
  }
  friend bool operator==(const FunctionOption& a, const FunctionOption& b) {
    return a.function_ == b.function_;
  }

 private:
  std::shared_ptr<const std::function<Signature>> function_;
};

template <typename Signature>
struct AttrTraits<FunctionOption<Signature>> {
  static std::string Name() { return "function"; }
  static AttrValue ToValue(const FunctionOption<Signature>& /*value*/) {
    return {};
  }
  static absl::Status FromValue(const AttrValue& /*value*/,
                                FunctionOption<Signature>* /*out*/) {
    return absl::InvalidArgumentError(
        "this option is a function: it can be set from C++ only");
  }
};

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_H_
