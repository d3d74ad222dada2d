#include "baton/tir/transform/bind_target.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/with_parts.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr char kHost[] = "host";

Target HostByDefault() {
  return Target(Dict::OfAll({{"keys", List({StringImm("cpu")})},
                             {"kind", StringImm("llvm")},
                             {"tag", StringImm("")}}));
}

Target WithHost(const Target& target, const Target& host) {
  std::vector<Dict::Entry> entries = target->config().Entries();
  entries.emplace_back(kHost, host->config());
  return Target(Dict::OfAll(std::move(entries)), target->span());
}

PrimFunc WithoutHostMark(const PrimFunc& function) {
  if (function->attrs().Find(kIsHostFuncAttr) == nullptr) return function;
  PrimFuncNode::Parts parts = function->parts();
  parts.attrs = parts.attrs.Without(kIsHostFuncAttr);
  return WithParts(function, std::move(parts));
}

PrimFunc Bound(const PrimFunc& function, const Target& target) {
  const bool is_exposed = GlobalSymbolOf(function).has_value();
  const Target host = HostOf(target);
  const Target own = TargetOf(function);
  if (own.defined()) {
    if (host.defined() && !HostOf(own).defined() && is_exposed) {
      return WithTarget(function, WithHost(own, host));
    }
    return function;
  }
  if (function->attrs().IsTrue(kIsHostFuncAttr)) {
    const Target its_host = host.defined() ? host : HostByDefault();
    return WithTarget(function, WithHost(its_host, its_host));
  }
  return WithTarget(function, is_exposed ? target : WithoutHost(target));
}

bool IsSet(const AttrValue& value) {
  if (const auto* flag = value.As<bool>()) return *flag;
  if (const auto* number = value.As<int64_t>()) return *number != 0;
  return !value.is_none();
}

}  // namespace

Pass BindTarget(BindTargetOptions options) {
  return CreatePrimFuncPass(
      [options](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        const PrimExpr config = ExprOfAttr(AttrValue(options.target));
        const auto* dict = config.defined() ? config.As<DictNode>() : nullptr;
        if (dict == nullptr || !dict->Find("kind").defined()) {
          return absl::InvalidArgumentError("the target has no entry `kind`");
        }
        return WithoutHostMark(Bound(function, Target(Dict(dict))));
      },
      {.name = "tir.BindTarget",
       .doc = "Says which target functions run on.",
       .establishes = {"tir.has_targets"},
       .idempotent = true,
       .examples = {"target={kind:llvm,keys:[cpu],tag:\"\"}"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.BindTarget", BindTarget);

namespace {

absl::StatusOr<IRModule> Filtered(
    IRModule module, const std::function<bool(const PrimFunc&)>& condition) {
  std::vector<std::string> removed;
  for (const auto& [var, function] : module.functions<PrimFunc>()) {
    if (!condition(function)) removed.push_back(var->name());
  }
  for (const std::string& name : removed) module.Remove(name);
  return module;
}

}  // namespace

Pass Filter(std::function<bool(const PrimFunc&)> condition) {
  return CreateModulePass(
      [condition = std::move(condition)](
          IRModule module,
          const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        return Filtered(std::move(module), condition);
      },
      {.name = "tir.FilterBy",
       .doc = "Removes functions that a condition is false for.",
       .idempotent = true});
}

Pass FilterByAttr(FilterOptions options) {
  return CreateModulePass(
      [options](IRModule module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        return Filtered(std::move(module), [&](const PrimFunc& function) {
          const AttrValue* value = function->attrs().Find(options.attr);
          if (value == nullptr) return false;
          return options.value.is_none() ? IsSet(*value)
                                         : *value == options.value;
        });
      },
      {.name = "tir.Filter",
       .doc = "Removes functions of loops without an attribute.",
       .idempotent = true,
       .examples = {"attr=global_symbol", "attr=calling_conv, value=2"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.Filter", FilterByAttr);

}  // namespace baton::tir
