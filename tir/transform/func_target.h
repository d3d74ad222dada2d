// Targets of functions: attributes `target`, and their hosts.
//
//   const Target target = TargetOf(function);
//   if (target.defined() && HostOf(target).defined()) ...

#ifndef BATON_TIR_TRANSFORM_FUNC_TARGET_H_
#define BATON_TIR_TRANSFORM_FUNC_TARGET_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

// Names of attributes of functions.
inline constexpr absl::string_view kTargetAttr = "target";
inline constexpr absl::string_view kCallingConvAttr = "calling_conv";
inline constexpr absl::string_view kIsEntryFunc = "tir.is_entry_func";
inline constexpr absl::string_view kIsGlobalFunc = "tir.is_global_func";
inline constexpr absl::string_view kIsHostFuncAttr = "tir.is_host_func";

// The calling convention of a function: the values of `calling_conv`.
enum CallingConv {
  kDefaultConv = 0,
  kCPackedFunc = 1,
  kDeviceKernelLaunch = 2
};

// Codes of the kinds of devices that targets run on.
enum DeviceType {
  kUnknownDevice = 0,
  kCpuDevice = 1,
  kCudaDevice = 2,
  kOpenClDevice = 4,
  kAoclDevice = 5,
  kVulkanDevice = 7,
  kMetalDevice = 8,
  kRocmDevice = 10,
  kExtDevice = 12,
  kWebGpuDevice = 15,
  kHexagonDevice = 16,
};

// Null if the function has none.
Target TargetOf(const PrimFunc& function);
// An error with the function's place if it has none.
absl::StatusOr<Target> RequiredTargetOf(const PrimFunc& function);
// The number of threads of a warp of `target`, which is that of `function`; 1
// if it gives none. An error with the function's place if it is not from 1 to
// 64.
absl::StatusOr<int64_t> WarpSizeOf(const PrimFunc& function,
                                   const Target& target);
// The host of `target`: the target of the code that launches its functions.
// Null if there is none.
Target HostOf(const Target& target);
Target WithoutHost(const Target& target);
DeviceType DeviceTypeOf(const Target& target);
bool EqualTargets(const Target& a, const Target& b);

// True for a function that runs on the host: its attribute `tir.is_host_func`
// is true, or its target has the key `cpu`.
bool IsHostFunc(const PrimFunc& function);

// The linked name of a function; nullopt for a private one.
std::optional<std::string> GlobalSymbolOf(const PrimFunc& function);
// The value of `calling_conv`.
int CallingConvOf(const PrimFunc& function);

struct TargetAndHost {
  Target target;
  Target host;
};
// The targets of a function that others call by its linked name. nullopt for a
// function that stays as it is: a private one, one with a calling convention,
// one whose target has no host. An error with the function's place if it has no
// target.
absl::StatusOr<std::optional<TargetAndHost>> TargetsOfLinked(
    const PrimFunc& function);

PrimFunc WithAttr(const PrimFunc& function, absl::string_view name,
                  AttrValue value);
PrimFunc WithTarget(const PrimFunc& function, const Target& target);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_FUNC_TARGET_H_
