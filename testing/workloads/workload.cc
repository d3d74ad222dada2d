#include "baton/testing/workloads/workload.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/value_text.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/testing/workloads/numpy_random.h"

namespace baton::testing {
namespace {

using relay::Function;

struct Entry {
  WorkloadInfo info;
  std::function<absl::StatusOr<Function>(const AttrMap&)> build;
};

Registry<Entry>& Workloads() {
  static auto& kRegistry = *Registry<Entry>::NewGlobal("workload");
  return kRegistry;
}

absl::StatusOr<Function> BuildNetwork(absl::string_view spec) {
  BATON_ASSIGN_OR_RETURN(const NameAndOptions parsed,
                         ParseNameAndOptions(spec, "workload"));
  BATON_ASSIGN_OR_RETURN(const Entry* entry, Workloads().Get(parsed.name));
  absl::StatusOr<Function> network = entry->build(parsed.options);
  if (network.ok()) return network;
  return absl::Status(
      network.status().code(),
      absl::StrCat("workload ", parsed.name, ": ", network.status().message()));
}

// Xavier uniform, average of fan-in and fan-out, magnitude 3; the first two
// dimensions count as output and input whatever the layout, as in the
// reference. The window alone counts for a name that contains "depthwise".
absl::StatusOr<Tensor> XavierUniform(absl::string_view name, DType dtype,
                                     absl::Span<const int64_t> shape,
                                     NumpyRandom& random) {
  if (shape.size() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("weight ", name, " has fewer than two dimensions"));
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor weight,
                         MutableTensor::Create(dtype, shape));
  double window = 1;
  for (size_t i = 2; i < shape.size(); ++i) {
    window *= static_cast<double>(shape[i]);
  }
  const double fan_in = static_cast<double>(shape[1]) * window;
  const double fan_out = static_cast<double>(shape[0]) * window;
  const double factor =
      absl::StrContains(name, "depthwise") ? window : (fan_in + fan_out) / 2.0;
  const double scale = std::sqrt(3.0 / factor);
  VisitDType(dtype, [&]<typename T>() {
    for (T& w : weight.span<T>()) {
      w = static_cast<T>(random.Uniform(-scale, scale));
    }
  });
  return std::move(weight).Freeze();
}

}  // namespace

WorkloadRegistration::WorkloadRegistration(absl::string_view name,
                                           absl::string_view doc,
                                           const FieldList* options,
                                           Builder build,
                                           CodeLocation location) {
  Workloads().Register(
      name,
      Entry{{std::string(name), std::string(doc), options}, std::move(build)},
      location);
}

absl::StatusOr<std::vector<WorkloadInfo>> ListWorkloads() {
  BATON_ASSIGN_OR_RETURN(const std::vector<const Entry*> entries,
                         Workloads().List());
  std::vector<WorkloadInfo> result;
  for (const Entry* entry : entries) result.push_back(entry->info);
  return result;
}

absl::StatusOr<IRModule> ModuleOf(const Function& network) {
  return relay::InferTypes(relay::ModuleFromExpr(network));
}

absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> InitializeWeights(
    const Function& network, uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<std::pair<std::string, Tensor>> params;
  for (const relay::Var& param : network->params()) {
    const std::string& name = param->name();
    const TensorTypeNode* type = param->tensor_type();
    if (name == "data" || (type != nullptr && !type->dtype().is_float())) {
      continue;
    }
    const auto shape =
        type == nullptr ? std::nullopt : ConstDims(type->shape());
    if (!shape.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter %", name, " has no static tensor type"));
    }
    absl::StatusOr<Tensor> value;
    if (absl::EndsWith(name, "weight")) {
      value = XavierUniform(name, type->dtype(), *shape, random);
    } else if (absl::EndsWith(name, "gamma") || absl::EndsWith(name, "var")) {
      value = Tensor::Ones(type->dtype(), *shape);
    } else if (absl::EndsWith(name, "beta") || absl::EndsWith(name, "mean") ||
               absl::EndsWith(name, "bias")) {
      value = Tensor::Zeros(type->dtype(), *shape);
    } else {
      value = absl::InvalidArgumentError(absl::StrCat(
          "parameter %", name, " has a name that says nothing of its value"));
    }
    if (!value.ok()) return value.status();
    params.emplace_back(name, *std::move(value));
  }
  return params;
}

absl::StatusOr<IRModule> GetWorkloadModule(absl::string_view spec) {
  BATON_ASSIGN_OR_RETURN(const Function network, BuildNetwork(spec));
  return ModuleOf(network);
}

absl::StatusOr<Workload> GetWorkload(absl::string_view spec) {
  Workload workload;
  BATON_ASSIGN_OR_RETURN(workload.module, GetWorkloadModule(spec));
  BATON_ASSIGN_OR_RETURN(
      workload.params,
      InitializeWeights(workload.module.Find<Function>("main"), /*seed=*/0));
  return workload;
}

}  // namespace baton::testing
