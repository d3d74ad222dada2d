#include "baton/testing/workloads/resnet.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/status_macros.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/workloads/layers.h"
#include "baton/testing/workloads/options.h"

namespace baton::testing {
namespace {

using relay::Add;
namespace nn = relay::nn;

// The residual stages of a network.
struct Architecture {
  std::vector<int64_t> units;     // per stage
  std::vector<int64_t> channels;  // of the stem, then per stage
  bool bottleneck;
};

absl::StatusOr<Architecture> ArchitectureFor(int64_t num_layers,
                                             int64_t height) {
  if (height <= 28) {
    if (num_layers >= 164 && (num_layers - 2) % 9 == 0) {
      const int64_t n = (num_layers - 2) / 9;
      return Architecture{{n, n, n}, {16, 64, 128, 256}, true};
    }
    if (num_layers >= 8 && num_layers < 164 && (num_layers - 2) % 6 == 0) {
      const int64_t n = (num_layers - 2) / 6;
      return Architecture{{n, n, n}, {16, 16, 32, 64}, false};
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "num_layers=", num_layers, " is not supported for images of height ",
        height, "; expected 6n+2 below 164, or 9n+2 from 164 on"));
  }
  static constexpr struct {
    int64_t num_layers;
    int64_t units[4];
  } kDepths[] = {{18, {2, 2, 2, 2}},   {34, {3, 4, 6, 3}},
                 {50, {3, 4, 6, 3}},   {101, {3, 4, 23, 3}},
                 {152, {3, 8, 36, 3}}, {200, {3, 24, 36, 3}},
                 {269, {3, 30, 48, 8}}};
  std::vector<int64_t> supported;
  for (const auto& depth : kDepths) {
    supported.push_back(depth.num_layers);
    if (depth.num_layers != num_layers) continue;
    Architecture result;
    result.units.assign(depth.units, depth.units + 4);
    result.bottleneck = num_layers >= 50;
    result.channels = result.bottleneck
                          ? std::vector<int64_t>{64, 256, 512, 1024, 2048}
                          : std::vector<int64_t>{64, 64, 128, 256, 512};
    return result;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("num_layers=", num_layers, " is not supported; expected ",
                   absl::StrJoin(supported, ", ")));
}

// The layers of a network over two or three spatial axes.
class Layers {
 public:
  explicit Layers(const std::string& layout)
      : layout_(layout),
        kernel_layout_(KernelLayout(layout)),
        rank_(static_cast<int>(layout.size()) - 2),
        // Over three axes the reference does not pass the axis.
        channel_axis_(rank_ == 2 ? ChannelAxis(layout) : 1) {}

  Expr BatchNorm(const Expr& data, const std::string& name,
                 bool scale = true) const {
    return testing::BatchNorm(
        data, name, {.axis = channel_axis_, .epsilon = 2e-5, .scale = scale});
  }

  Expr Conv(const Expr& data, const std::string& name, int64_t channels,
            int64_t kernel, int64_t stride, int64_t padding) const {
    return Conv(data, name, channels, Dims(rank_, kernel), Dims(rank_, stride),
                Dims(rank_, padding));
  }

  Expr Stem(const Expr& data, int64_t height, int64_t channels) const {
    if (height <= 32) return Conv(data, "conv0", channels, 3, 1, 1);
    if (rank_ == 3) {
      const Expr body =
          Conv(data, "conv0", channels, {3, 7, 7}, {1, 2, 2}, {1, 3, 3});
      return nn::Relu(BatchNorm(body, "bn0"));
    }
    const Expr body = Conv(data, "conv0", channels, 7, 2, 3);
    return nn::MaxPool2D(nn::Relu(BatchNorm(body, "bn0")), {.pool_size = {3, 3},
                                                            .strides = {2, 2},
                                                            .padding = {1, 1},
                                                            .layout = layout_});
  }

  Expr ResidualUnit(const Expr& data, const std::string& name, int64_t channels,
                    int64_t stride, bool same_shape, bool bottleneck) const {
    const Expr act1 = nn::Relu(BatchNorm(data, name + "_bn1"));
    Expr body;
    if (bottleneck) {
      const int64_t inner = channels / 4;
      body = Conv(act1, name + "_conv1", inner, 1, stride, 0);
      body = nn::Relu(BatchNorm(body, name + "_bn2"));
      body = Conv(body, name + "_conv2", inner, 3, 1, 1);
      body = nn::Relu(BatchNorm(body, name + "_bn3"));
      body = Conv(body, name + "_conv3", channels, 1, 1, 0);
    } else {
      body = Conv(act1, name + "_conv1", channels, 3, stride, 1);
      body = nn::Relu(BatchNorm(body, name + "_bn2"));
      body = Conv(body, name + "_conv2", channels, 3, 1, 1);
    }
    const Expr shortcut =
        same_shape ? data : Conv(act1, name + "_sc", channels, 1, stride, 0);
    return Add(body, shortcut);
  }

  Expr GlobalAvgPool(const Expr& data) const {
    if (rank_ == 2) return nn::GlobalAvgPool2D(data, {.layout = layout_});
    return relay::Call(BATON_OP("nn.adaptive_avg_pool3d"), {data},
                       Attrs::Make(relay::AdaptivePool3DAttrs{
                           .output_size = {1, 1, 1}, .layout = layout_}));
  }

 private:
  Expr Conv(const Expr& data, const std::string& name, int64_t channels,
            Dims kernel, Dims strides, Dims padding) const {
    if (rank_ == 3) {
      return Conv3D(data, name,
                    {.strides = std::move(strides),
                     .padding = std::move(padding),
                     .channels = channels,
                     .kernel_size = std::move(kernel),
                     .data_layout = layout_,
                     .kernel_layout = kernel_layout_});
    }
    return Conv2D(data, name,
                  {.strides = std::move(strides),
                   .padding = std::move(padding),
                   .channels = channels,
                   .kernel_size = std::move(kernel),
                   .data_layout = layout_,
                   .kernel_layout = kernel_layout_});
  }

  std::string layout_;
  std::string kernel_layout_;
  int rank_;
  int channel_axis_;
};

// Over two or three spatial axes. The options are checked but for num_layers.
absl::StatusOr<relay::Function> Build(const relay::Var& data,
                                      const std::string& layout, int64_t height,
                                      int64_t num_layers, int64_t num_classes) {
  BATON_ASSIGN_OR_RETURN(const Architecture architecture,
                         ArchitectureFor(num_layers, height));
  const Layers layers(layout);
  Expr body = layers.BatchNorm(data, "bn_data", /*scale=*/false);
  body = layers.Stem(body, height, architecture.channels[0]);
  for (size_t stage = 0; stage < architecture.units.size(); ++stage) {
    for (int64_t unit = 0; unit < architecture.units[stage]; ++unit) {
      body = layers.ResidualUnit(
          body, absl::StrCat("stage", stage + 1, "_unit", unit + 1),
          architecture.channels[stage + 1],
          /*stride=*/unit == 0 && stage != 0 ? 2 : 1,
          /*same_shape=*/unit != 0, architecture.bottleneck);
    }
  }
  body = nn::Relu(layers.BatchNorm(body, "bn1"));
  body = nn::BatchFlatten(layers.GlobalAvgPool(body));
  return FunctionOf(nn::Softmax(DenseAddBias(body, "fc1", num_classes)));
}

}  // namespace

absl::StatusOr<relay::Function> BuildResNet(const ResNetOptions& options) {
  BATON_RETURN_IF_ERROR(CheckLayout(options.layout, {"NCHW", "NHWC"}));
  BATON_ASSIGN_OR_RETURN(const relay::Var data, ImageData(options));
  const int64_t height = options.image_shape[options.layout == "NCHW" ? 1 : 0];
  return Build(data, options.layout, height, options.num_layers,
               options.num_classes);
}

absl::StatusOr<relay::Function> BuildResNet3D(const ResNet3DOptions& options) {
  BATON_RETURN_IF_ERROR(CheckLayout(options.layout, {"NCDHW", "NDHWC"}));
  BATON_ASSIGN_OR_RETURN(const relay::Var data,
                         ImageData(options, /*image_rank=*/4));
  const int64_t height = options.image_shape[options.layout == "NCDHW" ? 2 : 1];
  return Build(data, options.layout, height, options.num_layers,
               options.num_classes);
}

}  // namespace baton::testing
