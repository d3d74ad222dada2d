// ResNet with pre-activation (He et al., 2016, "Identity Mappings in Deep
// Residual Networks"), as the reference's `relay.testing.resnet` builds it.
//
// Registered as the workload `resnet`. Images higher than 28 pixels take four
// stages and 18, 34, 50, 101, 152, 200 or 269 layers; smaller ones (CIFAR) take
// three stages and 6n + 2 layers, or 9n + 2 from 164 on. The stem is a 7x7
// convolution with pooling above 32 pixels, a 3x3 convolution up to there.

#ifndef BATON_TESTING_WORKLOADS_RESNET_H_
#define BATON_TESTING_WORKLOADS_RESNET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"

namespace baton::testing {

struct ResNetOptions {
  int64_t num_layers = 18;
  int64_t batch_size = 1;
  int64_t num_classes = 1000;
  // Channels, height, width; or height, width, channels with NHWC.
  std::vector<int64_t> image_shape = {3, 224, 224};
  std::string layout = "NCHW";

  template <typename V>
  static void VisitFields(V& v) {
    v("num_layers", &ResNetOptions::num_layers,
      "18, 34, 50, 101, 152, 200 or 269; for small images 6n+2 or 9n+2.");
    v("batch_size", &ResNetOptions::batch_size, "Images at a time.");
    v("num_classes", &ResNetOptions::num_classes, "Size of the output.");
    v("image_shape", &ResNetOptions::image_shape,
      "[channels,height,width], or [height,width,channels] with NHWC.");
    v("layout", &ResNetOptions::layout, "NCHW or NHWC.");
  }
};

// The network, untyped: its parameters but the image have no annotations.
absl::StatusOr<Function> BuildResNet(const ResNetOptions& options);

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_RESNET_H_
