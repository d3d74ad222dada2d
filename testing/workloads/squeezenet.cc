// SqueezeNet (Iandola et al., 2016), as the reference's
// `relay.testing.squeezenet` builds it.

#include <cstdint>
#include <string>
#include <utility>
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

struct SqueezeNetOptions {
  std::string version = "1.0";
  int64_t batch_size = 1;
  int64_t num_classes = 1000;
  std::vector<int64_t> image_shape = {3, 224, 224};
  DType dtype = DType::Float(32);

  static constexpr const char* kImageShapeDoc = kChannelsFirst;
  template <typename V>
  static void VisitFields(V& v) {
    v("version", &SqueezeNetOptions::version, "\"1.0\" or \"1.1\".");
    VisitImageFields<SqueezeNetOptions>(v);
  }
};

Expr ConvRelu(const Expr& data, const std::string& name,
              relay::Conv2DAttrs attrs) {
  return nn::Relu(AddBias(Conv2D(data, name, std::move(attrs)), name));
}

Expr MaxPool(const Expr& data) {
  return nn::MaxPool2D(data, {.pool_size = {3, 3}, .strides = {2, 2}});
}

// A fire module: 1x1 convolutions to few channels, then 1x1 and 3x3
// convolutions to many, side by side.
Expr Fire(const Expr& data, const std::string& name, int64_t squeezed,
          int64_t expanded) {
  const Expr input = ConvRelu(data, name + "_input_conv",
                              {.channels = squeezed, .kernel_size = {1, 1}});
  const Expr left = ConvRelu(input, name + "_left_conv",
                             {.channels = expanded, .kernel_size = {1, 1}});
  const Expr right = ConvRelu(
      input, name + "_right_conv",
      {.padding = {1, 1}, .channels = expanded, .kernel_size = {3, 3}});
  return relay::Concatenate({left, right}, /*axis=*/1);
}

absl::StatusOr<relay::Function> BuildSqueezeNet(
    const SqueezeNetOptions& options) {
  const bool v10 = options.version == "1.0";
  if (!v10 && options.version != "1.1") {
    return absl::InvalidArgumentError(
        absl::StrCat("version=\"", options.version,
                     "\" is not supported; expected 1.0 or 1.1"));
  }
  BATON_ASSIGN_OR_RETURN(const relay::Var data, ImageData(options));
  Expr body = v10 ? ConvRelu(data, "conv1",
                             {.strides = {2, 2},
                              .padding = {3, 3},
                              .channels = 96,
                              .kernel_size = {7, 7}})
                  : ConvRelu(data, "conv1",
                             {.strides = {2, 2},
                              .padding = {1, 1},
                              .channels = 64,
                              .kernel_size = {3, 3}});
  body = MaxPool(body);
  static constexpr struct {
    int64_t squeezed, expanded;
    bool pool_v10, pool_v11;  // whether pooling follows
  } kFires[] = {
      {16, 64, false, false}, {16, 64, false, true},   {32, 128, true, false},
      {32, 128, false, true}, {48, 192, false, false}, {48, 192, false, false},
      {64, 256, true, false}, {64, 256, false, false},
  };
  int index = 0;
  for (const auto& fire : kFires) {
    body =
        Fire(body, absl::StrCat("fire", ++index), fire.squeezed, fire.expanded);
    if (v10 ? fire.pool_v10 : fire.pool_v11) body = MaxPool(body);
  }
  body = ConvRelu(nn::Dropout(body, 0.5), "conv_final",
                  {.channels = options.num_classes, .kernel_size = {1, 1}});
  body = nn::BatchFlatten(nn::GlobalAvgPool2D(body));
  return FunctionOf(nn::Softmax(body));
}

const WorkloadRegistration kSqueezeNet("squeezenet",
                                       "SqueezeNet: fire modules.",
                                       BuildSqueezeNet);

}  // namespace
}  // namespace baton::testing
