// Inception v3 (Szegedy et al., 2016), as the reference's
// `relay.testing.inception_v3` builds it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
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

struct InceptionV3Options {
  int64_t batch_size = 1;
  int64_t num_classes = 1000;
  std::vector<int64_t> image_shape = {3, 299, 299};
  DType dtype = DType::Float(32);

  static constexpr const char* kImageShapeDoc = kChannelsFirst;
  template <typename V>
  static void VisitFields(V& v) {
    VisitImageFields<InceptionV3Options>(v);
  }
};

struct Conv {
  int64_t channels;
  Dims kernel = {1, 1};
  Dims padding = {0, 0};
  int64_t stride = 1;
};

// Convolution, normalization, relu.
Expr Unit(const Expr& data, const std::string& name, const Conv& conv) {
  const Expr result = Conv2D(data, name + "_conv1",
                             {.strides = {conv.stride, conv.stride},
                              .padding = conv.padding,
                              .channels = conv.channels,
                              .kernel_size = conv.kernel});
  return nn::Relu(
      BatchNorm(result, name + "_bn", {.epsilon = 2e-5, .scale = false}));
}

// Units one after the other: NAME_conv, NAME_conv_1, NAME_conv_2, ...
Expr Tower(Expr data, const std::string& name, absl::Span<const Conv> convs) {
  std::string unit = name + "_conv";
  for (size_t i = 0; i < convs.size(); ++i) {
    data = Unit(data, i == 0 ? unit : absl::StrCat(unit, "_", i), convs[i]);
  }
  return data;
}

Expr MaxPool(const Expr& data, int64_t stride, int64_t padding) {
  return nn::MaxPool2D(data, {.pool_size = {3, 3},
                              .strides = {stride, stride},
                              .padding = {padding, padding}});
}

// Keeps height and width.
Expr AvgPool(const Expr& data) {
  return nn::AvgPool2D(data, {.pool_size = {3, 3},
                              .strides = {1, 1},
                              .padding = {1, 1},
                              .count_include_pad = true});
}

// The modules, by the names of the reference. What is a parameter differs among
// the uses of a module.

Expr Inception7A(const Expr& data, const std::string& name,
                 int64_t projection) {
  return relay::Concatenate(
      {Unit(data, name + "_conv", {64}),
       Tower(data, name + "_tower", {{48}, {64, {5, 5}, {2, 2}}}),
       Tower(data, name + "_tower_1",
             {{64}, {96, {3, 3}, {1, 1}}, {96, {3, 3}, {1, 1}}}),
       Tower(AvgPool(data), name + "_tower_2", {{projection}})},
      /*axis=*/1);
}

Expr Inception7B(const Expr& data, const std::string& name) {
  return relay::Concatenate(
      {Unit(data, name + "_conv", {384, {3, 3}, {0, 0}, 2}),
       Tower(data, name + "_tower",
             {{64}, {96, {3, 3}, {1, 1}}, {96, {3, 3}, {0, 0}, 2}}),
       MaxPool(data, /*stride=*/2, /*padding=*/0)},
      /*axis=*/1);
}

Expr Inception7C(const Expr& data, const std::string& name, int64_t inner) {
  const Conv row = {inner, {1, 7}, {0, 3}}, column = {inner, {7, 1}, {3, 0}};
  return relay::Concatenate(
      {Unit(data, name + "_conv", {192}),
       Tower(data, name + "_tower", {{inner}, row, {192, {7, 1}, {3, 0}}}),
       Tower(data, name + "_tower_1",
             {{inner}, column, row, column, {192, {1, 7}, {0, 3}}}),
       Tower(AvgPool(data), name + "_tower_2", {{192}})},
      /*axis=*/1);
}

Expr Inception7D(const Expr& data, const std::string& name) {
  return relay::Concatenate(
      {Tower(data, name + "_tower", {{192}, {320, {3, 3}, {0, 0}, 2}}),
       Tower(data, name + "_tower_1",
             {{192},
              {192, {1, 7}, {0, 3}},
              {192, {7, 1}, {3, 0}},
              {192, {3, 3}, {0, 0}, 2}}),
       MaxPool(data, /*stride=*/2, /*padding=*/0)},
      /*axis=*/1);
}

Expr Inception7E(const Expr& data, const std::string& name,
                 const Expr& pooled) {
  const Conv row = {384, {1, 3}, {0, 1}}, column = {384, {3, 1}, {1, 0}};
  const Expr tower = Tower(data, name + "_tower", {{384}});
  const Expr tower_1 =
      Tower(data, name + "_tower_1", {{448}, {384, {3, 3}, {1, 1}}});
  return relay::Concatenate(
      {Unit(data, name + "_conv", {320}),
       Unit(tower, name + "_tower_mixed_conv", row),
       Unit(tower, name + "_tower_mixed_conv_1", column),
       Unit(tower_1, name + "_tower_1_mixed_conv", row),
       Unit(tower_1, name + "_tower_1_mixed_conv_1", column),
       Tower(pooled, name + "_tower_2", {{192}})},
      /*axis=*/1);
}

absl::StatusOr<relay::Function> BuildInceptionV3(
    const InceptionV3Options& options) {
  BATON_ASSIGN_OR_RETURN(const relay::Var data, ImageData(options));
  Expr body = Unit(data, "conv", {32, {3, 3}, {0, 0}, 2});
  body = Unit(body, "conv_1", {32, {3, 3}});
  body = Unit(body, "conv_2", {64, {3, 3}, {1, 1}});
  body = MaxPool(body, /*stride=*/2, /*padding=*/0);
  body = Unit(body, "conv_3", {80});
  body = Unit(body, "conv_4", {192, {3, 3}});
  body = MaxPool(body, /*stride=*/2, /*padding=*/0);

  body = Inception7A(body, "mixed", /*projection=*/32);
  body = Inception7A(body, "mixed_1", /*projection=*/64);
  body = Inception7A(body, "mixed_2", /*projection=*/64);
  body = Inception7B(body, "mixed_3");
  body = Inception7C(body, "mixed_4", /*inner=*/128);
  body = Inception7C(body, "mixed_5", /*inner=*/160);
  body = Inception7C(body, "mixed_6", /*inner=*/160);
  body = Inception7C(body, "mixed_7", /*inner=*/192);
  body = Inception7D(body, "mixed_8");
  body = Inception7E(body, "mixed_9", AvgPool(body));
  body =
      Inception7E(body, "mixed_10", MaxPool(body, /*stride=*/1, /*padding=*/1));

  body = nn::AvgPool2D(body, {.pool_size = {8, 8}, .count_include_pad = true});
  body = Dense(nn::BatchFlatten(body), "fc1", options.num_classes);
  body = AddBias(body, "fc2", /*axis=*/-1);  // fc2 in the reference
  return FunctionOf(nn::Softmax(body));
}

const WorkloadRegistration kInceptionV3(
    "inception_v3", "Inception v3: towers of convolutions side by side.",
    BuildInceptionV3);

}  // namespace
}  // namespace baton::testing
