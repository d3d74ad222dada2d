// The vision transformer (Dosovitskiy et al., 2021). The reference has no such
// network; the default shapes are those of ViT-B/16.

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
#include "baton/testing/workloads/transformer.h"
#include "baton/testing/workloads/workload.h"

namespace baton::testing {
namespace {

using relay::Add;
using relay::Reshape;
using relay::Var;
namespace nn = relay::nn;

struct VitOptions {
  int64_t num_layers = 12;
  int64_t hidden_size = 768;
  int64_t num_heads = 12;
  int64_t intermediate_size = 3072;
  int64_t patch_size = 16;
  int64_t batch_size = 1;
  int64_t num_classes = 1000;
  std::vector<int64_t> image_shape = {3, 224, 224};
  DType dtype = DType::Float(32);

  static constexpr const char* kImageShapeDoc = kChannelsFirst;
  template <typename V>
  static void VisitFields(V& v) {
    VisitTransformerFields<VitOptions>(v);
    v("patch_size", &VitOptions::patch_size,
      "Height and width of a patch; divides those of the image.");
    VisitImageFields<VitOptions>(v);
  }
};

// The patches of the images after a token for the class, and their positions:
// [batch_size * sequence_length, hidden_size].
Expr Embedding(const Var& data, const VitOptions& options,
               const TransformerConfig& config) {
  const int64_t batch = config.batch_size, length = config.sequence_length;
  const int64_t hidden = config.hidden_size;
  Expr patches =
      Conv2D(data, "patch_embedding",
             {.strides = {options.patch_size, options.patch_size},
              .channels = hidden,
              .kernel_size = {options.patch_size, options.patch_size}});
  patches =
      Reshape(AddBias(patches, "patch_embedding"), {batch, hidden, length - 1});
  patches = relay::Transpose(patches, std::vector<int64_t>{0, 2, 1});
  const Var class_token("class_token_weight",
                        TensorType({1, 1, hidden}, config.dtype));
  const Expr tokens = relay::Concatenate(
      {relay::BroadcastTo(class_token, {batch, 1, hidden}), patches},
      /*axis=*/1);
  const Var positions("position_embedding_weight",
                      TensorType({1, length, hidden}, config.dtype));
  return Reshape(Add(tokens, positions), {batch * length, hidden});
}

absl::StatusOr<relay::Function> BuildVit(const VitOptions& options) {
  BATON_ASSIGN_OR_RETURN(const Var data, ImageData(options));
  BATON_RETURN_IF_ERROR(CheckPositive("patch_size", options.patch_size));
  const int64_t height = options.image_shape[1], width = options.image_shape[2];
  if (height % options.patch_size != 0 || width % options.patch_size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("patch_size=", options.patch_size,
                     " does not divide an image of ", height, "x", width));
  }
  const TransformerConfig config = {
      .batch_size = options.batch_size,
      .sequence_length =
          (height / options.patch_size) * (width / options.patch_size) + 1,
      .hidden_size = options.hidden_size,
      .num_heads = options.num_heads,
      .intermediate_size = options.intermediate_size,
      .epsilon = 1e-6,
      .dtype = options.dtype,
  };
  BATON_RETURN_IF_ERROR(CheckTransformer(config));
  BATON_RETURN_IF_ERROR(CheckPositive("num_layers", options.num_layers));

  Expr body = Embedding(data, options, config);
  for (int64_t i = 0; i < options.num_layers; ++i) {
    const std::string name = absl::StrCat("layer", i);
    Expr normalized = LayerNorm(body, name + "_attention_norm", config);
    body = Add(body, SelfAttention(normalized, name + "_attention",
                                   /*mask=*/Expr(), config));
    normalized = LayerNorm(body, name + "_output_norm", config);
    body = Add(body, FeedForward(normalized, name, config));
  }
  body = FirstOfSequence(LayerNorm(body, "norm", config), config);
  return FunctionOf(
      nn::Softmax(DenseAddBias(body, "head", options.num_classes)));
}

const WorkloadRegistration kVit(
    "vit", "Vision transformer: an encoder over the patches of an image.",
    BuildVit);

}  // namespace
}  // namespace baton::testing
