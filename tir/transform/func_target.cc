#include "baton/tir/transform/func_target.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/with_parts.h"

namespace baton::tir {

Target TargetOf(const PrimFunc& function) {
  const AttrValue* value = function->attrs().Find(kTargetAttr);
  if (value == nullptr) return {};
  const PrimExpr e = ExprOfAttr(*value);
  return Target(e.defined() ? e.As<TargetNode>() : nullptr);
}

absl::StatusOr<Target> RequiredTargetOf(const PrimFunc& function) {
  Target target = TargetOf(function);
  if (target.defined()) return target;
  return ErrorAt(function->span(),
                 "the function has no attribute `target`: run tir.BindTarget "
                 "first");
}

absl::StatusOr<int64_t> WarpSizeOf(const PrimFunc& function,
                                   const Target& target) {
  const PrimExpr size = target->config().Find("thread_warp_size");
  const auto* imm = size.As<IntImmNode>();
  if (imm == nullptr) return 1;
  if (imm->value() >= 1 && imm->value() <= 64) return imm->value();
  return ErrorAt(function->span(),
                 absl::StrCat("`thread_warp_size` of the target is ",
                              imm->value(), ", not from 1 to 64"));
}

Target HostOf(const Target& target) {
  const PrimExpr host = target->config().Find("host");
  if (!host.defined()) return {};
  if (const auto* node = host.As<TargetNode>()) return Target(node);
  const auto* dict = host.As<DictNode>();
  return dict == nullptr ? Target() : Target(Dict(dict));
}

Target WithoutHost(const Target& target) {
  if (!target->config().Find("host").defined()) return target;
  std::vector<Dict::Entry> entries = target->config().Entries();
  std::erase_if(entries,
                [](const Dict::Entry& entry) { return entry.first == "host"; });
  return Target(Dict::OfAll(std::move(entries)), target->span());
}

DeviceType DeviceTypeOf(const Target& target) {
  const PrimExpr kind = target->config().Find("kind");
  if (!kind.defined()) return kUnknownDevice;
  const auto* text = kind.As<StringImmNode>();
  if (text == nullptr) return kUnknownDevice;
  constexpr struct {
    absl::string_view kind;
    DeviceType device;
  } kDevices[] = {
      {"llvm", kCpuDevice},        {"c", kCpuDevice},
      {"stackvm", kCpuDevice},     {"hybrid", kCpuDevice},
      {"composite", kCpuDevice},   {"test", kCpuDevice},
      {"cuda", kCudaDevice},       {"nvptx", kCudaDevice},
      {"rocm", kRocmDevice},       {"opencl", kOpenClDevice},
      {"sdaccel", kOpenClDevice},  {"metal", kMetalDevice},
      {"vulkan", kVulkanDevice},   {"webgpu", kWebGpuDevice},
      {"aocl", kAoclDevice},       {"aocl_sw_emu", kAoclDevice},
      {"hexagon", kHexagonDevice}, {"ext_dev", kExtDevice},
  };
  for (const auto& entry : kDevices) {
    if (entry.kind == text->value()) return entry.device;
  }
  return kUnknownDevice;
}

bool EqualTargets(const Target& a, const Target& b) {
  return StructuralEqual(a, b);
}

bool IsHostFunc(const PrimFunc& function) {
  if (function->attrs().IsTrue(kIsHostFuncAttr)) return true;
  const Target target = TargetOf(function);
  if (!target.defined()) return false;
  const PrimExpr keys = target->config().Find("keys");
  const auto* list = keys.defined() ? keys.As<ListNode>() : nullptr;
  if (list == nullptr) return DeviceTypeOf(target) == kCpuDevice;
  for (const PrimExpr& key : list->items()) {
    const auto* text = key.As<StringImmNode>();
    if (text != nullptr && text->value() == "cpu") return true;
  }
  return false;
}

std::optional<std::string> GlobalSymbolOf(const PrimFunc& function) {
  const AttrValue* value = function->attrs().Find(kGlobalSymbol);
  const std::string* name =
      value == nullptr ? nullptr : value->As<std::string>();
  if (name == nullptr) return std::nullopt;
  return *name;
}

int CallingConvOf(const PrimFunc& function) {
  const AttrValue* value = function->attrs().Find(kCallingConvAttr);
  const int64_t* number = value == nullptr ? nullptr : value->As<int64_t>();
  return number == nullptr ? kDefaultConv : static_cast<int>(*number);
}

absl::StatusOr<std::optional<TargetAndHost>> TargetsOfLinked(
    const PrimFunc& function) {
  if (CallingConvOf(function) != kDefaultConv ||
      !GlobalSymbolOf(function).has_value()) {
    return std::nullopt;
  }
  BATON_ASSIGN_OR_RETURN(Target target, RequiredTargetOf(function));
  Target host = HostOf(target);
  if (!host.defined()) return std::nullopt;
  return TargetAndHost{.target = std::move(target), .host = std::move(host)};
}

PrimFunc WithAttr(const PrimFunc& function, absl::string_view name,
                  AttrValue value) {
  PrimFuncNode::Parts parts = function->parts();
  parts.attrs = parts.attrs.With(std::string(name), std::move(value));
  return WithParts(function, std::move(parts));
}

PrimFunc WithTarget(const PrimFunc& function, const Target& target) {
  AttrValue value;
  AttrOfExpr(target, value);
  return WithAttr(function, kTargetAttr, std::move(value));
}

}  // namespace baton::tir
