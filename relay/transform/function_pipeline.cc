#include "baton/relay/transform/function_pipeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/global_references.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_list.h"
#include "baton/transform/sequential.h"

namespace baton::relay {
namespace {

// Makes the modules of single functions. The functions of `module` must not
// change meanwhile.
class FunctionModules {
 public:
  FunctionModules(const IRModule& module, const PassContext& context)
      : module_(module), skipped_(module.size()), callees_(module.size()) {
    const auto definitions = module.functions();
    FlatHashMap<absl::string_view, int> by_name;
    for (int i = 0; i < module.size(); ++i) {
      by_name.emplace(definitions[i].var->name(), i);
      indices_.emplace(definitions[i].function.get(), i);
    }
    ParallelFor(context, module.size(), [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        const BaseFunc& function = definitions[i].function;
        const auto* relay = function.As<FunctionNode>();
        skipped_[i] =
            relay == nullptr
                ? function
                : Function(relay).WithAttr(attr::kSkipOptimization, int64_t{1});
        AnyGlobalReference(function, [&](const std::string& name) {
          const auto callee = by_name.find(name);
          if (callee != by_name.end()) callees_[i].push_back(callee->second);
          return false;
        });
      }
    });
  }

  // The first of the functions that are the node `function`.
  int IndexOf(const BaseFunc& function) const {
    return indices_.find(function.get())->second;
  }

  // Function `i` and those that it refers to, in the order of the module.
  IRModule ModuleOf(int i) const {
    std::vector<int> members = {i};
    FlatHashSet<int> known = {i};
    for (size_t k = 0; k < members.size(); ++k) {
      for (const int callee : callees_[members[k]]) {
        if (known.insert(callee).second) members.push_back(callee);
      }
    }
    std::sort(members.begin(), members.end());
    IRModule result;
    for (const int member : members) {
      const IRModule::Definition& definition = module_.functions()[member];
      result.Set(definition.var,
                 member == i ? definition.function : skipped_[member]);
    }
    for (const TypeDefinition& type : module_.types()) result.SetType(type);
    return result;
  }

 private:
  const IRModule& module_;
  std::vector<BaseFunc> skipped_;  // the functions, marked so that passes skip
  std::vector<std::vector<int>> callees_;
  FlatHashMap<const Node*, int> indices_;
};

// OK if `pass` rewrites one function at a time.
absl::Status CheckWorksOnFunctions(const Pass& pass) {
  std::vector<Pass> pending = {pass};
  while (!pending.empty()) {
    const Pass part = std::move(pending.back());
    pending.pop_back();
    if (!part.defined()) {
      return absl::InvalidArgumentError("a pass of the list is null");
    }
    if (part.info().granularity == PassGranularity::kFunction ||
        part.name() == RelayFunctions().FinishingPass().name()) {
      continue;
    }
    const absl::Span<const Pass> parts = baton::internal::PartsOf(part);
    if (part.info().granularity != PassGranularity::kSequence ||
        (parts.empty() && part.impl().list_keyword().empty())) {
      return absl::InvalidArgumentError(absl::StrCat(
          part.name(), " works on a whole module, not on one function"));
    }
    pending.insert(pending.end(), parts.begin(), parts.end());
  }
  return absl::OkStatus();
}

class FunctionPipelinePass final : public PassImpl {
 public:
  FunctionPipelinePass(std::vector<Pass> passes, PassInfo info)
      : PassImpl(std::move(info)), passes_(std::move(passes)) {}

  absl::string_view list_keyword() const override { return "Function"; }
  absl::Span<const Pass> listed_passes() const override { return passes_; }

 private:
  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    for (const Pass& pass : passes_) {
      BATON_RETURN_IF_ERROR(CheckWorksOnFunctions(pass));
    }
    const FunctionModules modules(module, context);
    return baton::internal::TransformFunctions(
        module, context, info().name,
        [&](const BaseFunc& function, const IRModule& /*all*/,
            BaseFunc& result) -> absl::Status {
          const auto* node = function.As<FunctionNode>();
          if (node == nullptr ||
              !RelayFunctions().SkipReason(Function(node)).empty()) {
            return absl::OkStatus();
          }
          const int i = modules.IndexOf(function);
          BATON_ASSIGN_OR_RETURN(const IRModule changed,
                                 baton::internal::RunInSequence(
                                     passes_, modules.ModuleOf(i), context));
          const std::string& name = module.functions()[i].var->name();
          BATON_ASSIGN_OR_RETURN(BaseFunc after, changed.Lookup(name));
          if (after != function) result = std::move(after);
          return absl::OkStatus();
        });
  }

  const std::vector<Pass> passes_;
};

constexpr char kDoc[] =
    "Runs all of its passes on one function, then on the next.";

struct NoOptions {
  template <typename V>
  static void VisitFields(V& /*v*/) {}
};

[[maybe_unused]] const bool kRegistered = PassListKinds().Register(
    "Function",
    PassListKindOf<NoOptions>(
        kDoc, [](std::vector<Pass> passes, NoOptions) -> absl::StatusOr<Pass> {
          for (const Pass& pass : passes) {
            BATON_RETURN_IF_ERROR(CheckWorksOnFunctions(pass));
          }
          return FunctionPipeline(std::move(passes));
        }));

}  // namespace

Pass FunctionPipeline(std::vector<Pass> passes) {
  PassInfo info{.name = "Function",
                .doc = kDoc,
                .always_run = true,
                .granularity = PassGranularity::kFunction};
  baton::internal::PromiseLike(passes, info);
  return Pass(std::make_shared<const FunctionPipelinePass>(std::move(passes),
                                                           std::move(info)));
}

}  // namespace baton::relay
