// MobileNet (Howard et al., 2017), as the reference's
// `relay.testing.mobilenet` builds it.

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

struct MobileNetOptions {
  double alpha = 1;
  bool is_shallow = false;
  int64_t batch_size = 1;
  int64_t num_classes = 1000;
  std::vector<int64_t> image_shape = {3, 224, 224};
  DType dtype = DType::Float(32);
  std::string layout = "NCHW";

  static constexpr const char* kImageShapeDoc = kAnyLayout;
  template <typename V>
  static void VisitFields(V& v) {
    using O = MobileNetOptions;
    v("alpha", &O::alpha, "Multiplies the number of channels.");
    v("is_shallow", &O::is_shallow, "8 separable blocks in place of 13.");
    VisitImageFields<O>(v);
    v("layout", &O::layout, "NCHW or NHWC.");
  }
};

struct Block {
  int64_t channels;  // of its result, for alpha = 1
  bool downsample;
};

std::vector<Block> BlocksOf(const MobileNetOptions& options) {
  std::vector<Block> blocks = {{64, false}, {128, true},  {128, false},
                               {256, true}, {256, false}, {512, true}};
  if (options.is_shallow) {
    blocks.insert(blocks.end(), {{1024, true}, {1024, true}});
  } else {
    blocks.insert(blocks.end(), 5, {512, false});
    blocks.insert(blocks.end(), {{1024, true}, {1024, false}});
  }
  return blocks;
}

absl::StatusOr<relay::Function> BuildMobileNet(
    const MobileNetOptions& options) {
  const std::string& layout = options.layout;
  BATON_RETURN_IF_ERROR(CheckLayout(layout, {"NCHW", "NHWC"}));
  if (!(options.alpha * 32 >= 1 && options.alpha <= 1024)) {
    return absl::InvalidArgumentError(
        absl::StrCat("alpha must be from 1/32 to 1024, found ", options.alpha));
  }
  BATON_ASSIGN_OR_RETURN(const relay::Var data, ImageData(options));
  const auto scaled = [&](int64_t channels) {
    return static_cast<int64_t>(static_cast<double>(channels) * options.alpha);
  };
  const int channel_axis = ChannelAxis(layout);

  int64_t channels = scaled(32);
  Expr body = Conv2D(data, "conv_block_1_conv",
                     {.strides = {2, 2},
                      .padding = {1, 1},
                      .channels = channels,
                      .kernel_size = {3, 3},
                      .data_layout = layout,
                      .kernel_layout = KernelLayout(layout)});
  // On axis 1 in NHWC, too: the reference does not pass the axis here.
  body = nn::Relu(BatchNorm(body, "conv_block_1_bn"));

  int index = 0;
  for (const Block& block : BlocksOf(options)) {
    const std::string name = absl::StrCat("separable_conv_block_", ++index);
    const int64_t stride = block.downsample ? 2 : 1;
    const TensorType weight(
        layout == "NCHW" ? Dims{channels, 1, 3, 3} : Dims{3, 3, channels, 1},
        options.dtype);
    body = nn::Conv2D(body, relay::Var(name + "_weight", weight),
                      {.strides = {stride, stride},
                       .padding = {1, 1},
                       .groups = static_cast<int>(channels),
                       .channels = channels,
                       .kernel_size = {3, 3},
                       .data_layout = layout,
                       .kernel_layout = DepthwiseKernelLayout(layout)});
    body = nn::Relu(BatchNorm(body, name + "_bn1", {.axis = channel_axis}));
    channels = scaled(block.channels);
    body = Conv2D(body, name + "_conv2",
                  {.channels = channels,
                   .kernel_size = {1, 1},
                   .data_layout = layout,
                   .kernel_layout = KernelLayout(layout)});
    body = nn::Relu(BatchNorm(body, name + "_bn2", {.axis = channel_axis}));
  }
  body = nn::BatchFlatten(nn::GlobalAvgPool2D(body, {.layout = layout}));
  body = AddBias(Dense(body, "fc", options.num_classes), "fc");
  return FunctionOf(nn::Softmax(body));
}

const WorkloadRegistration kMobileNet(
    "mobilenet", "MobileNet: depthwise separable convolutions.",
    BuildMobileNet);

}  // namespace
}  // namespace baton::testing
