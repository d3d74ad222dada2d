// The generator of DCGAN (Radford et al., 2016), as the reference's
// `relay.testing.dcgan` builds it.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

struct DcganOptions {
  int64_t batch_size = 1;
  std::vector<int64_t> oshape = {3, 64, 64};
  int64_t ngf = 128;
  int64_t random_len = 100;
  DType dtype = DType::Float(32);
  std::string layout = "NCHW";

  template <typename V>
  static void VisitFields(V& v) {
    using O = DcganOptions;
    v("batch_size", &O::batch_size, "Images at a time.");
    v("oshape", &O::oshape,
      "[channels,64,64] of an image, in this order with NHWC, too.");
    v("ngf", &O::ngf, "Channels of the last hidden layer.");
    v("random_len", &O::random_len, "Length of the code of an image.");
    v("dtype", &O::dtype, "float16, float32 or float64.");
    v("layout", &O::layout, "NCHW or NHWC.");
  }
};

absl::Status Check(const DcganOptions& options) {
  BATON_RETURN_IF_ERROR(CheckLayout(options.layout, {"NCHW", "NHWC"}));
  BATON_RETURN_IF_ERROR(CheckDType(options.dtype));
  BATON_RETURN_IF_ERROR(CheckPositive("batch_size", options.batch_size));
  BATON_RETURN_IF_ERROR(CheckPositive("ngf", options.ngf));
  BATON_RETURN_IF_ERROR(CheckPositive("random_len", options.random_len));
  if (options.oshape.size() != 3 || options.oshape[0] < 1 ||
      options.oshape[1] != 64 || options.oshape[2] != 64) {
    return absl::InvalidArgumentError("oshape must be [channels,64,64]");
  }
  return absl::OkStatus();
}

absl::StatusOr<relay::Function> BuildDcgan(const DcganOptions& options) {
  BATON_RETURN_IF_ERROR(Check(options));
  const std::string& layout = options.layout;
  // Doubles height and width.
  const auto deconv = [&](const Expr& data, const std::string& name,
                          int64_t channels) {
    return Conv2DTranspose(
        data, name,
        {.channels = channels,
         .kernel_size = {4, 4},
         .strides = {2, 2},
         .padding = {1, 1},
         .data_layout = layout,
         .kernel_layout = layout == "NCHW" ? "IOHW" : "HWOI"});
  };

  const relay::Var data(
      "data",
      TensorType({options.batch_size, options.random_len}, options.dtype));
  int64_t channels = options.ngf * 8;
  Expr body = nn::Relu(Dense(data, "dense", 4 * 4 * channels));
  body = relay::Reshape(body, layout == "NCHW"
                                  ? std::vector<int64_t>{-1, channels, 4, 4}
                                  : std::vector<int64_t>{-1, 4, 4, channels});
  for (const std::string name : {"g2", "g3", "g4"}) {
    channels /= 2;
    body = deconv(body, name + "_deconv", channels);
    // The reference's epsilon is larger by 1e-12, which no text shows.
    body = nn::Relu(BatchNorm(body, name + "_batch_norm",
                              {.axis = ChannelAxis(layout), .scale = false}));
  }
  body = deconv(body, "g5_deconv", options.oshape[0]);
  return FunctionOf(relay::Tanh(body));
}

const WorkloadRegistration kDcgan(
    "dcgan", "The generator of DCGAN: images of 64x64 from random codes.",
    BuildDcgan);

}  // namespace
}  // namespace baton::testing
