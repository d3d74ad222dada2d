// The deep Q-network of Mnih et al., 2015, as the reference's
// `relay.testing.dqn` builds it.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/workloads/layers.h"
#include "baton/testing/workloads/options.h"
#include "baton/testing/workloads/workload.h"

namespace baton::testing {
namespace {

namespace nn = relay::nn;

struct DqnOptions {
  int64_t batch_size = 1;
  int64_t num_actions = 18;
  std::vector<int64_t> image_shape = {4, 84, 84};
  DType dtype = DType::Float(32);
  std::string layout = "NCHW";

  template <typename V>
  static void VisitFields(V& v) {
    using O = DqnOptions;
    v("batch_size", &O::batch_size, "States at a time.");
    v("num_actions", &O::num_actions, "Size of the output.");
    v("image_shape", &O::image_shape, kAnyLayout);
    v("dtype", &O::dtype, "float16, float32 or float64.");
    v("layout", &O::layout, "NCHW or NHWC.");
  }
};

absl::StatusOr<relay::Function> BuildDqn(const DqnOptions& options) {
  const std::string& layout = options.layout;
  BATON_RETURN_IF_ERROR(CheckLayout(layout, {"NCHW", "NHWC"}));
  BATON_RETURN_IF_ERROR(CheckPositive("num_actions", options.num_actions));
  BATON_ASSIGN_OR_RETURN(const relay::Var data,
                         ImageData(options.batch_size, options.image_shape,
                                   options.dtype, /*image_rank=*/3));
  static constexpr struct {
    const char* name;
    int64_t channels, kernel, stride;
  } kConvolutions[] = {
      {"conv1", 32, 8, 4}, {"conv2", 64, 4, 2}, {"conv3", 64, 3, 1}};

  Expr body = data;
  for (const auto& [name, channels, kernel, stride] : kConvolutions) {
    body = Conv2D(body, name,
                  {.strides = {stride, stride},
                   .channels = channels,
                   .kernel_size = {kernel, kernel},
                   .data_layout = layout,
                   .kernel_layout = KernelLayout(layout)});
    body = nn::Relu(AddBias(body, name, ChannelAxis(layout)));
  }
  body = nn::Relu(DenseAddBias(nn::BatchFlatten(body), "dense1", 512));
  return FunctionOf(DenseAddBias(body, "dense2", options.num_actions));
}

const WorkloadRegistration kDqn(
    "dqn", "Deep Q-network: the value of each action in a state of a game.",
    BuildDqn);

}  // namespace
}  // namespace baton::testing
