// QuantizeAnnotate, QuantizeCalibrate, QuantizeRealize: quantize a float model.
//
//   QuantizeAnnotate    puts simulated_quantize before operators that compute
//                       faster with integers
//   QuantizeCalibrate   sets the scales, from the ranges of the tensors
//   QuantizeRealize     replaces them by qnn.quantize and qnn.dequantize
//
// FakeQuantizationToInteger then computes the operators between these with
// integers. The whole pipeline, which docs/baton_opt.md describes:
//
//   SimplifyInference,FoldConstant,FoldScaleAxis,CanonicalizeOps,FoldConstant,
//   QuantizeAnnotate,QuantizeCalibrate{mode=max,random_inputs=8},
//   QuantizeRealize,FakeQuantizationToInteger{use_qat=true},quantized
//
// An annotation is a call of relay.op.annotation.simulated_quantize (data,
// scale, lowest, highest). While its scale is 0, its result is the data.
//
// Reference behaviour: python/tvm/relay/quantize of TVM. Summands of products
// stay real numbers here: FakeQuantizationToInteger converts them to 32 bits.

#ifndef BATON_RELAY_TRANSFORM_QUANTIZE_H_
#define BATON_RELAY_TRANSFORM_QUANTIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/fields.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/runtime/dataset.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// The role of an operator in annotation.
enum class QuantizationRole {
  kProduct,      // a product of data and a constant weight: quantizes both
  kConv2D,       // as kProduct, unless its number is in skip_conv_layers
  kDense,        // as kProduct, unless skip_dense_layer
  kAdd,          // two operands, one of which is quantized; a constant is not
                 // quantized
  kMultiply,     // as kAdd, but a constant is a weight
  kFollow,       // computes the same function of integers as of real numbers
  kWindow,       // as kFollow, with 8-bit data
  kConcatenate,  // a tuple: if one field is quantized, all are
  kStop,         // operators after it are not quantized
};
OpProperty<QuantizationRole>& QuantizationRoles();

struct QuantizeAnnotateOptions {
  std::vector<int64_t> skip_conv_layers = {0};
  bool skip_dense_layer = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("skip_conv_layers", &QuantizeAnnotateOptions::skip_conv_layers,
      "The numbers, from 0 on, of the calls of nn.conv2d that stay real.");
    v("skip_dense_layer", &QuantizeAnnotateOptions::skip_dense_layer,
      "Whether calls of nn.dense stay real.");
  }
};

// A function pass of level 1, which requires InferType. The annotations have no
// effect until they are calibrated.
Pass QuantizeAnnotate(QuantizeAnnotateOptions options = {});

struct QuantizeCalibrateOptions {
  std::string mode = "global_scale";
  double global_scale = 8.0;
  std::string weight_scale = "power2";
  double percentile = 0.99999;
  std::vector<double> ranges;
  int64_t random_inputs = 0;
  int64_t seed = 0;
  std::vector<std::string> dataset;

  template <typename V>
  static void VisitFields(V& v) {
    v("mode", &QuantizeCalibrateOptions::mode,
      "The range of tensors other than weights: global_scale; max, the largest "
      "magnitude recorded; percentile, the magnitude that this part of all "
      "elements recorded does not exceed; or kl_divergence, beyond which "
      "clipping loses least of what was recorded.");
    v("global_scale", &QuantizeCalibrateOptions::global_scale,
      "The range for mode=global_scale.");
    v("weight_scale", &QuantizeCalibrateOptions::weight_scale,
      "The range of weights: max, the largest magnitude; or power2, the next "
      "power of two.");
    v("percentile", &QuantizeCalibrateOptions::percentile,
      "The part of all elements for mode=percentile.");
    v("ranges", &QuantizeCalibrateOptions::ranges,
      "Ranges recorded before, one for each annotation of @main that is not "
      "of a weight, in the order of evaluation. Takes the place of a mode.");
    v("random_inputs", &QuantizeCalibrateOptions::random_inputs,
      "The number of random inputs to record on, if no others are given.");
    v("seed", &QuantizeCalibrateOptions::seed, "Seed of the random inputs.");
    v("dataset", &QuantizeCalibrateOptions::dataset,
      "Files to record on: each the arguments of one evaluation, as baton-run "
      "reads --inputs (.npz, or a folder of .npy or .pb); or folders of them.");
  }
};

// Arguments of @main, a list for each evaluation.
using QuantizationInputs = Dataset;

// A module pass of level 1. Sets the scales of the annotations of @main that
// have none. Modes other than global_scale evaluate @main on `inputs`; if
// `inputs` is empty, on the inputs that the options name.
Pass QuantizeCalibrate(QuantizeCalibrateOptions options = {},
                       QuantizationInputs inputs = {});

// The ranges that a mode other than global_scale finds by evaluating @main of a
// typed module on `inputs`; values for the option `ranges`.
absl::StatusOr<std::vector<double>> RecordRanges(
    const IRModule& module, const QuantizeCalibrateOptions& options,
    absl::Span<const std::vector<Value>> inputs);

// A function pass of level 1, which requires InferType. Replaces an annotation
// by qnn.dequantize of qnn.quantize to int8; keeps an annotation without a
// scale.
Pass QuantizeRealize();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_QUANTIZE_H_
