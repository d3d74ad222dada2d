#include "baton/testing/workloads/resnet.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/status_macros.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/workloads/workload.h"

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

// Layers that make their weights as variables without annotation: inference
// finds their types.
class Layers {
 public:
  explicit Layers(const std::string& layout)
      : layout_(layout),
        kernel_layout_(layout == "NCHW" ? "OIHW" : "HWIO"),
        channel_axis_(static_cast<int>(layout.find('C'))) {}

  const std::string& layout() const { return layout_; }

  Expr BatchNorm(const Expr& data, const std::string& name,
                 bool scale = true) const {
    return TupleGetItem(
        nn::BatchNorm(data, Var(name + "_gamma"), Var(name + "_beta"),
                      Var(name + "_moving_mean"), Var(name + "_moving_var"),
                      {.axis = channel_axis_, .epsilon = 2e-5, .scale = scale}),
        0);
  }

  Expr Conv2D(const Expr& data, const std::string& name, int64_t channels,
              int64_t kernel, int64_t stride, int64_t padding) const {
    return nn::Conv2D(data, Var(name + "_weight"),
                      {.strides = {stride, stride},
                       .padding = {padding, padding},
                       .channels = channels,
                       .kernel_size = {kernel, kernel},
                       .data_layout = layout_,
                       .kernel_layout = kernel_layout_});
  }

  Expr DenseWithBias(const Expr& data, const std::string& name,
                     int64_t units) const {
    return nn::BiasAdd(nn::Dense(data, Var(name + "_weight"), {.units = units}),
                       Var(name + "_bias"), /*axis=*/-1);
  }

  Expr ResidualUnit(const Expr& data, const std::string& name, int64_t channels,
                    int64_t stride, bool same_shape, bool bottleneck) const {
    const Expr act1 = nn::Relu(BatchNorm(data, name + "_bn1"));
    Expr body;
    if (bottleneck) {
      const int64_t inner = channels / 4;
      body = Conv2D(act1, name + "_conv1", inner, 1, stride, 0);
      body = nn::Relu(BatchNorm(body, name + "_bn2"));
      body = Conv2D(body, name + "_conv2", inner, 3, 1, 1);
      body = nn::Relu(BatchNorm(body, name + "_bn3"));
      body = Conv2D(body, name + "_conv3", channels, 1, 1, 0);
    } else {
      body = Conv2D(act1, name + "_conv1", channels, 3, stride, 1);
      body = nn::Relu(BatchNorm(body, name + "_bn2"));
      body = Conv2D(body, name + "_conv2", channels, 3, 1, 1);
    }
    const Expr shortcut =
        same_shape ? data : Conv2D(act1, name + "_sc", channels, 1, stride, 0);
    return Add(body, shortcut);
  }

 private:
  std::string layout_;
  std::string kernel_layout_;
  int channel_axis_;
};

absl::Status Check(const ResNetOptions& options) {
  if (options.layout != "NCHW" && options.layout != "NHWC") {
    return absl::InvalidArgumentError(
        absl::StrCat("layout=\"", options.layout,
                     "\" is not supported; expected NCHW or "
                     "NHWC"));
  }
  if (options.image_shape.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("image_shape must have three dimensions, found ",
                     options.image_shape.size()));
  }
  for (int64_t d : options.image_shape) {
    if (d < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("image_shape has the dimension ", d));
    }
  }
  if (options.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "batch_size must be positive, found ", options.batch_size));
  }
  if (options.num_classes < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "num_classes must be positive, found ", options.num_classes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Function> BuildResNet(const ResNetOptions& options) {
  BATON_RETURN_IF_ERROR(Check(options));
  const int64_t height = options.image_shape[options.layout == "NCHW" ? 1 : 0];
  BATON_ASSIGN_OR_RETURN(const Architecture architecture,
                         ArchitectureFor(options.num_layers, height));
  const Layers layers(options.layout);

  Dims data_shape = {options.batch_size};
  data_shape.insert(data_shape.end(), options.image_shape.begin(),
                    options.image_shape.end());
  const Var data("data", TensorType(data_shape, DType::Float(32)));

  Expr body = layers.BatchNorm(data, "bn_data", /*scale=*/false);
  if (height <= 32) {
    body = layers.Conv2D(body, "conv0", architecture.channels[0], 3, 1, 1);
  } else {
    body = layers.Conv2D(body, "conv0", architecture.channels[0], 7, 2, 3);
    body = nn::Relu(layers.BatchNorm(body, "bn0"));
    body = nn::MaxPool2D(body, {.pool_size = {3, 3},
                                .strides = {2, 2},
                                .padding = {1, 1},
                                .layout = layers.layout()});
  }
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
  body = nn::GlobalAvgPool2D(body, {.layout = layers.layout()});
  body =
      layers.DenseWithBias(nn::BatchFlatten(body), "fc1", options.num_classes);
  body = nn::Softmax(body);
  return Function(FreeVars(body), body);
}

namespace {

const WorkloadRegistration kResNet("resnet",
                                   "Residual network with pre-activation.",
                                   BuildResNet);

}  // namespace
}  // namespace baton::testing
