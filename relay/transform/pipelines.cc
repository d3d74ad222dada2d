// Registers the named pipelines over Relay: O0 to O3, onnx and quantized.

#include "absl/strings/str_cat.h"
#include "baton/transform/pipeline.h"

namespace baton::relay {
namespace {

// A step of what the reference's `relay.build` applies for any target
// (GetPassPrefix and OptimizeImpl), and the first level at which it does.
//
// Left out are SplitArgs, PlanDevices and AnnotateMemoryScope, which do nothing
// without a target, and CombineParallelConv2d, CombineParallelDense,
// CombineParallelBatchMatmul and FastMath, whose level is 4: the reference runs
// them only if it is asked for that level.
struct BuildStep {
  int level;
  const char* items;
  const char* reason;
};

constexpr BuildStep kBuildSteps[] = {
    {1, "RemoveUnusedFunctions",
     "What @main does not reach need not be compiled."},
    {1, "ToBasicBlockNormalForm",
     "What branches and closures share is computed once, before them; later "
     "passes may take a scope for a graph."},
    {1, "qnn.Legalize,qnn.CanonicalizeOps",
     "Writes quantized operators as integer arithmetic, which later passes "
     "know."},
    {1, "Legalize", "Writes what a target lacks as what it has."},
    {0, "SimplifyInference",
     "Makes scales and shifts of normalizations, which the passes below fold; "
     "drops dropout."},
    {3, "EliminateCommonSubexpr",
     "What is computed twice is computed once, before constants are made of "
     "it."},
    {2, "FoldConstant", "Computes what weights alone decide."},
    {3, "FoldScaleAxis",
     "Moves the scales that SimplifyInference made into weights."},
    {0, "SimplifyExpr{signed_zeros=true}",
     "Removes pairs of casts, reshapes and transposes, and arithmetic with "
     "zero and one."},
    {3, "CanonicalizeCast",
     "Lets each use of a widening cast fuse with a cast of its own."},
    {3, "CanonicalizeOps", "Writes nn.bias_add as add, which fuses."},
    {0, "FlattenAtrousConv",
     "Makes one dilated convolution of space_to_batch_nd, nn.conv2d and "
     "batch_to_space_nd."},
    {3, "AlterOpLayout",
     "Lets a target choose layouts; it has no rules of its own."},
    {0, "SimplifyExprPostAlterOp{signed_zeros=true}",
     "Removes conversions between layouts that undo each other."},
    {2, "FoldConstant", "Computes what the steps since then made of weights."},
    {1, "FuseOps", "Groups what one kernel computes."},
    {1, "InlineGlobals",
     "Functions that are marked Inline are for the compiler, not for the "
     "program that runs."},
};

NamedPipeline BuildPipeline(int level) {
  NamedPipeline pipeline{
      .doc = absl::StrCat("What the reference's build applies at level ", level,
                          ", for any target."),
      .opt_level = level,
      .not_idempotent =
          level < 1 ? ""
                    : "ToBasicBlockNormalForm puts lets whose values call "
                      "primitive functions behind those whose values do not."};
  for (const BuildStep& step : kBuildSteps) {
    if (step.level > level) continue;
    pipeline.steps.push_back({step.items, step.reason});
  }
  if (level == 0) {
    pipeline.steps.push_back(
        {"FuseOps{fuse_opt_level=0}",
         "Makes a primitive function of each call, whatever the context's "
         "level."});
  }
  return pipeline;
}

BATON_REGISTER_PIPELINE("O0", BuildPipeline(0));
BATON_REGISTER_PIPELINE("O1", BuildPipeline(1));
BATON_REGISTER_PIPELINE("O2", BuildPipeline(2));
BATON_REGISTER_PIPELINE("O3", BuildPipeline(3));

BATON_REGISTER_PIPELINE(
    "onnx",
    {.doc = "Cleans up a model that was imported from ONNX.",
     .opt_level = 3,
     .steps =
         {{"DynamicToStatic",
           "Operators whose shapes are operands become static where those "
           "operands can be computed."},
          {"SimplifyInference",
           "Normalizations become scales and shifts; dropout goes."},
          {"FoldConstant{max_elements=134217728,max_growth=268435456,"
           "keep_fills=true}",
           "Computes the shape arithmetic that is left, and weights that are "
           "computed from others. What is filled with one value stays so."},
          {"FoldExplicitPadding",
           "An exporter writes a Pad before a convolution that could pad."},
          {"DequantizeProducts",
           "Quantized models compute in integers, as their authors mean it."},
          {"CanonicalizeOps",
           "Writes biases as additions, which merge with others."},
          {"FoldScaleAxis", "Scales go into weights."},
          {"SimplifyExpr{signed_zeros=true}",
           "Removes casts, reshapes and transposes that undo each other."},
          {"FoldScaleAxis",
           "Models from Caffe scale twice: the normalization and a layer of "
           "its own."},
          {"EliminateCommonSubexpr",
           "Exporters write a node again for each use."},
          {"FoldConstant{max_elements=134217728,max_growth=268435456,"
           "keep_fills=true}",
           "Computes what the steps since then made of weights."},
          {"DeadCodeElimination",
           "Drops the lets of branches and loops that nothing needs now."}},
     .not_idempotent =
         "A third scale behind a convolution takes a third FoldScaleAxis."});

BATON_REGISTER_PIPELINE(
    "quantized",
    {.doc = "Makes a model with qnn.quantize and qnn.dequantize around its "
            "operators compute in integers.",
     .opt_level = 3,
     .steps =
         {{"SimplifyInference",
           "Normalizations become additions and products, which have a form "
           "in integers."},
          {"FoldConstant",
           "Computes scales and zero points; FakeQuantizationToInteger needs "
           "them as constants. Quantized weights stay as they are."},
          {"FoldExplicitPadding",
           "Padding behind qnn.dequantize is padding with a zero point."},
          {"FakeQuantizationToInteger",
           "Computes in integers the calls between qnn.dequantize and "
           "qnn.quantize."},
          {"FoldConstant{fold_qnn=true}",
           "Quantizes weights now, not at each run."},
          {"SimplifyExpr{signed_zeros=true}",
           "Removes requantizations that change nothing."},
          {"EliminateCommonSubexpr",
           "What several operators quantize is quantized once."},
          {"DeadCodeElimination", "Drops what only the floats needed."}},
     .not_idempotent = "SimplifyExpr may find more after lets were removed and "
                       "equal calls merged."});

}  // namespace
}  // namespace baton::relay
