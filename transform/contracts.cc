#include "baton/transform/contracts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/transform/module_property.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_list.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton {
namespace {

// Follows a pipeline in the order in which it runs. With `insert`, adds passes
// where properties or required passes are missing; otherwise a missing property
// is an error.
class ContractWalker {
 public:
  ContractWalker(const IRModule& module, const PassContext& context,
                 bool insert)
      : module_(module), context_(context), insert_(insert) {}

  absl::StatusOr<Pass> Visit(const Pass& pass) {
    std::vector<Pass> passes;
    BATON_RETURN_IF_ERROR(VisitItem(pass, passes));
    return passes.size() == 1 ? passes[0] : Sequential(std::move(passes));
  }

 private:
  // A property of the program at the current pass.
  struct Known {
    bool holds;
    std::string why_not;  // ends the sentence "P needs F, which ..."
    std::string invalidated_by = {};  // a pass; empty if the program lacks it

    friend bool operator==(const Known&, const Known&) = default;
  };

  // Appends `pass` and, before it, the passes that it lacks.
  absl::Status VisitItem(const Pass& pass, std::vector<Pass>& result) {
    if (!pass.defined() || !IsEnabled(pass, context_)) {
      result.push_back(pass);
      return absl::OkStatus();
    }
    for (const std::string& name : pass.info().required) {
      BATON_ASSIGN_OR_RETURN(const Pass required,
                             RegistryOf(context_).Get(name));
      BATON_RETURN_IF_ERROR(Provide(required, result));
      Leave(required);
    }
    const absl::Span<const Pass> parts = pass.impl().listed_passes();
    if (parts.empty()) {
      BATON_RETURN_IF_ERROR(ProvideForms(pass, result));
      result.push_back(pass);
      Leave(pass);
      return absl::OkStatus();
    }
    const auto ran_before = ran_;
    const auto known_before = known_;
    std::vector<Pass> complete;
    for (const Pass& part : parts) {
      BATON_RETURN_IF_ERROR(VisitItem(part, complete));
    }
    const bool changed =
        !std::equal(parts.begin(), parts.end(), complete.begin(),
                    complete.end(), [](const Pass& a, const Pass& b) {
                      return a.defined() == b.defined() &&
                             (!a.defined() || &a.impl() == &b.impl());
                    });
    Pass list = pass;
    if (changed) {
      BATON_ASSIGN_OR_RETURN(list, WithPasses(pass, complete));
    }
    BATON_ASSIGN_OR_RETURN(const PassListKind* kind,
                           PassListKinds().Get(pass.impl().list_keyword()));
    // A round that leaves what it began with has no second one that differs.
    // (In lists inside of lists, each would double the work.)
    if (kind->repeats && (ran_ != ran_before || known_ != known_before)) {
      // The second round begins with what the first one leaves.
      std::vector<Pass> second;
      for (const Pass& part : complete) {
        BATON_RETURN_IF_ERROR(VisitItem(part, second));
      }
      if (second.size() != complete.size()) {
        BATON_ASSIGN_OR_RETURN(list, WithPasses(pass, second));
      }
    }
    result.push_back(std::move(list));
    return absl::OkStatus();
  }

  // Before `required`, which a Sequential runs: what it lacks itself.
  absl::Status Provide(const Pass& required, std::vector<Pass>& result) {
    if (insert_) {
      for (const std::string& name : required.info().required) {
        if (ran_.contains(name)) continue;
        BATON_RETURN_IF_ERROR(Insert(name, result));
      }
    }
    return ProvideForms(required, result);
  }

  absl::Status ProvideForms(const Pass& pass, std::vector<Pass>& result) {
    for (const std::string& property : pass.info().needs) {
      BATON_ASSIGN_OR_RETURN(const Known known, Find(property));
      if (known.holds) continue;
      const std::vector<std::string> makers = PassesThatEstablish(property);
      if (insert_ && !makers.empty()) {
        BATON_RETURN_IF_ERROR(Insert(makers[0], result));
        continue;
      }
      return absl::FailedPreconditionError(absl::StrCat(
          pass.name(), " needs ", property, ", which ", known.why_not,
          !makers.empty()
              ? absl::StrCat("; insert ", absl::StrJoin(makers, " or "))
          : known.invalidated_by.empty()
              ? "; no pass that is enabled establishes it"
              : absl::StrCat("; put ", pass.name(), " before ",
                             known.invalidated_by)));
    }
    return absl::OkStatus();
  }

  absl::Status Insert(const std::string& name, std::vector<Pass>& result) {
    if (++num_inserted_ > kMaxInserted) {
      return absl::FailedPreconditionError(
          absl::StrCat("the contracts of passes need more than ", kMaxInserted,
                       " more passes, the last of them ", name));
    }
    BATON_ASSIGN_OR_RETURN(const Pass pass, RegistryOf(context_).Get(name));
    return VisitItem(pass, result);
  }

  // After `pass` has run.
  void Leave(const Pass& pass) {
    ran_.insert(pass.name());
    for (const std::string& property : pass.info().invalidates) {
      known_[property] = {
          false, absl::StrCat(pass.name(), " before it may invalidate"),
          pass.name()};
    }
    for (const std::string& property : pass.info().establishes) {
      known_[property] = {true, ""};
    }
  }

  absl::StatusOr<Known> Find(const std::string& name) {
    const auto it = known_.find(name);
    if (it != known_.end()) return it->second;
    BATON_ASSIGN_OR_RETURN(const ModuleProperty* property,
                           ModuleProperties().Get(name));
    const absl::Status status = property->check(module_);
    const Known known = {
        status.ok(),
        absl::StrCat("the program does not have (", status.message(), ")")};
    known_[name] = known;
    return known;
  }

  std::vector<std::string> PassesThatEstablish(
      const std::string& property) const {
    std::vector<std::string> result;
    const PassRegistry& registry = RegistryOf(context_);
    for (const std::string& name : registry.Names()) {
      const absl::StatusOr<PassInfo> info = registry.Info(name);
      if (info.ok() && context_.PassEnabled(*info) &&
          std::find(info->establishes.begin(), info->establishes.end(),
                    property) != info->establishes.end()) {
        result.push_back(name);
      }
    }
    return result;
  }

  static constexpr int kMaxInserted = 1000;

  const IRModule& module_;
  const PassContext& context_;
  const bool insert_;
  int num_inserted_ = 0;
  FlatHashSet<std::string> ran_;
  FlatHashMap<std::string, Known> known_;
};

}  // namespace

absl::Status CheckContracts(const Pass& pipeline, const IRModule& module,
                            const PassContext& context) {
  return ContractWalker(module, context, /*insert=*/false)
      .Visit(pipeline)
      .status();
}

absl::StatusOr<Pass> InsertRequired(const Pass& pipeline,
                                    const IRModule& module,
                                    const PassContext& context) {
  return ContractWalker(module, context, /*insert=*/true).Visit(pipeline);
}

}  // namespace baton
