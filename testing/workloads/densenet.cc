// DenseNet, as the reference's `relay.testing.densenet` builds it: unlike in
// Huang et al., 2017, a layer takes the result of the layer before alone, and
// the results are concatenated at the end of their block.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
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

struct DenseNetOptions {
  int64_t densenet_size = 121;
  int64_t batch_size = 4;
  int64_t num_classes = 1000;
  std::vector<int64_t> image_shape = {3, 224, 224};
  DType dtype = DType::Float(32);

  static constexpr const char* kImageShapeDoc = kChannelsFirst;
  template <typename V>
  static void VisitFields(V& v) {
    v("densenet_size", &DenseNetOptions::densenet_size,
      "121, 161, 169 or 201 layers.");
    VisitImageFields<DenseNetOptions>(v);
  }
};

struct Architecture {
  int64_t stem_channels;
  int64_t growth_rate;      // channels of a layer
  std::vector<int> layers;  // per block
};

absl::StatusOr<Architecture> ArchitectureFor(int64_t size) {
  switch (size) {
    case 121:
      return Architecture{64, 32, {6, 12, 24, 16}};
    case 161:
      return Architecture{96, 48, {6, 12, 36, 24}};
    case 169:
      return Architecture{69, 32, {6, 12, 32, 32}};  // 69 in the reference
    case 201:
      return Architecture{64, 32, {6, 12, 48, 32}};
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("densenet_size=", size,
                       " is not supported; expected 121, 161, 169 or 201"));
  }
}

Expr DenseLayer(const Expr& data, const std::string& index,
                int64_t growth_rate) {
  Expr body = nn::Relu(BatchNorm(data, "batch_1_" + index));
  body = Conv2D(body, "conv2d_1_" + index,
                {.channels = 4 * growth_rate, .kernel_size = {1, 1}});
  body = nn::Relu(BatchNorm(body, "batch_2_" + index));
  return Conv2D(
      body, "conv2d_2_" + index,
      {.padding = {1, 1}, .channels = growth_rate, .kernel_size = {3, 3}});
}

absl::StatusOr<relay::Function> BuildDenseNet(const DenseNetOptions& options) {
  BATON_ASSIGN_OR_RETURN(const Architecture architecture,
                         ArchitectureFor(options.densenet_size));
  BATON_ASSIGN_OR_RETURN(const relay::Var data, ImageData(options));
  int64_t features = architecture.stem_channels;
  Expr body = Conv2D(data, "conv1",
                     {.strides = {2, 2},
                      .padding = {3, 3},
                      .channels = features,
                      .kernel_size = {7, 7}});
  body = nn::Relu(BatchNorm(body, "batch1"));
  body = nn::MaxPool2D(
      body, {.pool_size = {3, 3}, .strides = {2, 2}, .padding = {1, 1}});
  for (size_t block = 0; block < architecture.layers.size(); ++block) {
    std::vector<Expr> results;
    for (int i = 0; i < architecture.layers[block]; ++i) {
      body = DenseLayer(body, absl::StrCat(block, "_", i),
                        architecture.growth_rate);
      results.push_back(body);
    }
    body = relay::Concatenate(results, /*axis=*/1);
    features += architecture.layers[block] * architecture.growth_rate;
    if (block + 1 == architecture.layers.size()) break;
    features /= 2;
    body = nn::Relu(BatchNorm(body, absl::StrCat("batch_t_", block)));
    body = Conv2D(body, absl::StrCat("conv_t_", block),
                  {.channels = features, .kernel_size = {1, 1}});
    body = nn::AvgPool2D(body, {.pool_size = {2, 2}, .strides = {2, 2}});
  }
  body = nn::Relu(BatchNorm(body, "batch2"));
  body = nn::BatchFlatten(nn::AvgPool2D(body, {.pool_size = {7, 7}}));
  return FunctionOf(DenseAddBias(body, "dense", options.num_classes));
}

const WorkloadRegistration kDenseNet(
    "densenet", "DenseNet: blocks whose layers' results are concatenated.",
    BuildDenseNet);

}  // namespace
}  // namespace baton::testing
