// Workloads: registered networks to compile, selected by a short text.
//
//   GetWorkload("resnet{num_layers=50,layout=NHWC}")
//
// A workload is one registration: a name, options with a field list, and a
// function that builds the network. The registration provides the text form,
// errors that name the candidates, and `baton-opt --list_workloads`.

#ifndef BATON_TESTING_WORKLOADS_WORKLOAD_H_
#define BATON_TESTING_WORKLOADS_WORKLOAD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/registry.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton::testing {

// A network with its weights.
struct Workload {
  IRModule module;  // typed; its entry is `main`
  // The weights of `main`, in the order of its parameters.
  std::vector<std::pair<std::string, Tensor>> params;
};

// The registration of a workload.
struct WorkloadInfo {
  std::string name;
  std::string doc;
  const FieldList* options;  // never null
};

// Builds the workload that `spec` names, weights included.
absl::StatusOr<Workload> GetWorkload(absl::string_view spec);
// Builds only the network, typed; no weights are made.
absl::StatusOr<IRModule> GetWorkloadModule(absl::string_view spec);

// Sorted by name. An error if a name was registered twice.
absl::StatusOr<std::vector<WorkloadInfo>> ListWorkloads();

// Makes weights for the parameters of a typed network, except the inputs:
// parameters called `data`, and those with integer elements. Xavier uniform for
// names that end in `weight`, one for `gamma` and `var`, zero for `beta`,
// `mean` and `bias`; drawn in parameter order from NumPy's generator.
absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> InitializeWeights(
    const relay::Function& network, uint32_t seed);

// Makes the typed module of a network whose parameters may lack annotations.
absl::StatusOr<IRModule> ModuleOf(const relay::Function& network);

// Registers a workload (base/registry.h). `build` receives options of type O
// and returns the network; InitializeWeights makes its weights.
class WorkloadRegistration {
 public:
  template <typename O>
  WorkloadRegistration(absl::string_view name, absl::string_view doc,
                       absl::StatusOr<relay::Function> (*build)(const O&),
                       CodeLocation location = CodeLocation::Current())
      : WorkloadRegistration(
            name, doc, &FieldsOf<O>(),
            [build](const AttrMap& values) -> absl::StatusOr<relay::Function> {
              O options;
              absl::Status status = FieldsOf<O>().Assign(values, &options);
              if (!status.ok()) return status;
              return build(options);
            },
            location) {}

 private:
  using Builder =
      std::function<absl::StatusOr<relay::Function>(const AttrMap&)>;
  WorkloadRegistration(absl::string_view name, absl::string_view doc,
                       const FieldList* options, Builder build,
                       CodeLocation location);
};

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_WORKLOAD_H_
