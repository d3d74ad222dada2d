// VGG (Simonyan and Zisserman, 2015), as the reference's `relay.testing.vgg`
// builds it.

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

struct VggOptions {
  int64_t num_layers = 11;
  bool batch_norm = false;
  int64_t batch_size = 1;
  int64_t num_classes = 1000;
  std::vector<int64_t> image_shape = {3, 224, 224};
  DType dtype = DType::Float(32);

  static constexpr const char* kImageShapeDoc = kChannelsFirst;
  template <typename V>
  static void VisitFields(V& v) {
    using O = VggOptions;
    v("num_layers", &O::num_layers, "11, 13, 16 or 19.");
    v("batch_norm", &O::batch_norm, "Normalize after each convolution.");
    VisitImageFields<O>(v);
  }
};

// The convolutions of each of the five stages.
absl::StatusOr<std::vector<int>> StagesFor(int64_t num_layers) {
  switch (num_layers) {
    case 11:
      return std::vector<int>{1, 1, 2, 2, 2};
    case 13:
      return std::vector<int>{2, 2, 2, 2, 2};
    case 16:
      return std::vector<int>{2, 2, 3, 3, 3};
    case 19:
      return std::vector<int>{2, 2, 4, 4, 4};
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("num_layers=", num_layers,
                       " is not supported; expected 11, 13, 16 or 19"));
  }
}

absl::StatusOr<relay::Function> BuildVgg(const VggOptions& options) {
  BATON_ASSIGN_OR_RETURN(const std::vector<int> stages,
                         StagesFor(options.num_layers));
  BATON_ASSIGN_OR_RETURN(const relay::Var data, ImageData(options));
  static constexpr int64_t kChannels[] = {64, 128, 256, 512, 512};

  Expr body = data;
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    for (int i = 1; i <= stages[stage]; ++i) {
      const std::string place = absl::StrCat(stage + 1, "_", i);
      body = Conv2D(body, "conv" + place,
                    {.padding = {1, 1},
                     .channels = kChannels[stage],
                     .kernel_size = {3, 3}});
      body = AddBias(body, "conv" + place);
      if (options.batch_norm) body = BatchNorm(body, "bn" + place);
      body = nn::Relu(body);
    }
    body = nn::MaxPool2D(body, {.pool_size = {2, 2}, .strides = {2, 2}});
  }
  body = nn::BatchFlatten(body);
  for (const char* name : {"fc6", "fc7"}) {
    body = nn::Dropout(nn::Relu(DenseAddBias(body, name, 4096)), 0.5);
  }
  body = DenseAddBias(body, "fc8", options.num_classes);
  return FunctionOf(nn::Softmax(body));
}

const WorkloadRegistration kVgg(
    "vgg", "VGG: stages of 3x3 convolutions, three dense layers.", BuildVgg);

}  // namespace
}  // namespace baton::testing
