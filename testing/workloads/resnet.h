// ResNet with pre-activation (He et al., 2016, "Identity Mappings in Deep
// Residual Networks"), as TVM's `relay.testing.resnet` builds it, and over
// three spatial axes, as `relay.testing.resnet_3d` does.
//
// Registered as the workloads `resnet` and `resnet_3d`. Images higher than 28
// pixels take four stages and 18, 34, 50, 101, 152, 200 or 269 layers; smaller
// ones (CIFAR) take three stages and 6n + 2 layers, or 9n + 2 from 164 on. The
// stem is a 7x7 convolution above 32 pixels, with pooling over two axes, and a
// 3x3 convolution up to there.

#ifndef BATON_TESTING_WORKLOADS_RESNET_H_
#define BATON_TESTING_WORKLOADS_RESNET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/workloads/options.h"

namespace baton::testing {

struct ResNetOptions {
  int64_t num_layers = 18;
  int64_t batch_size = 1;
  int64_t num_classes = 1000;
  // Channels, height, width; or height, width, channels with NHWC.
  std::vector<int64_t> image_shape = {3, 224, 224};
  std::string layout = "NCHW";
  DType dtype = DType::Float(32);

  static constexpr const char* kImageShapeDoc = kAnyLayout;
  template <typename V>
  static void VisitFields(V& v) {
    v("num_layers", &ResNetOptions::num_layers,
      "18, 34, 50, 101, 152, 200 or 269; for small images 6n+2 or 9n+2.");
    VisitImageFields<ResNetOptions>(v);
    v("layout", &ResNetOptions::layout, "NCHW or NHWC.");
  }
};

struct ResNet3DOptions {
  int64_t num_layers = 18;
  int64_t batch_size = 1;
  int64_t num_classes = 1000;
  // Channels, depth, height, width; or depth, height, width, channels with
  // NDHWC.
  std::vector<int64_t> image_shape = {3, 16, 112, 112};
  std::string layout = "NCDHW";
  DType dtype = DType::Float(32);

  static constexpr char kImageShapeDoc[] =
      "[channels,depth,height,width], or [depth,height,width,channels] with "
      "NDHWC.";
  template <typename V>
  static void VisitFields(V& v) {
    v("num_layers", &ResNet3DOptions::num_layers,
      "18, 34, 50, 101, 152, 200 or 269; for small images 6n+2 or 9n+2.");
    VisitImageFields<ResNet3DOptions>(v);
    v("layout", &ResNet3DOptions::layout, "NCDHW or NDHWC.");
  }
};

// Builds the networks, untyped: only the parameter for the image has an
// annotation.
absl::StatusOr<relay::Function> BuildResNet(const ResNetOptions& options);
absl::StatusOr<relay::Function> BuildResNet3D(const ResNet3DOptions& options);

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_RESNET_H_
