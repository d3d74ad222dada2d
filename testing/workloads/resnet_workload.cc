#include "baton/testing/workloads/resnet.h"
#include "baton/testing/workloads/workload.h"

namespace baton::testing {
namespace {

const WorkloadRegistration kResNet("resnet",
                                   "Residual network with pre-activation.",
                                   BuildResNet);
const WorkloadRegistration kResNet3D(
    "resnet_3d", "Residual network over three spatial axes, for videos.",
    BuildResNet3D);

}  // namespace
}  // namespace baton::testing
