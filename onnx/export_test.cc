#include "baton/onnx/export.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/op.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/import.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"  // IWYU pragma: keep
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"

namespace baton {
namespace {

using relay::EvaluateFunction;
using relay::Function;

using ::baton::testing::IsOk;
using ::baton::testing::RunWithStack;
using ::baton::testing::SmallStackBytesOfThisBuild;
using ::baton::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

IRModule Module(const std::string& text) {
  absl::StatusOr<IRModule> module = ParseModule(text);
  EXPECT_THAT(module, IsOk());
  return module.ok() ? *std::move(module) : IRModule();
}

// `fn (...) ... { ... }` as `main`.
IRModule Main(const std::string& function) {
  return Module(absl::StrCat("#[version = \"0.0.5\"]\ndef @main", function));
}

::onnx::ModelProto Exported(const IRModule& module,
                            const OnnxExportOptions& options = {}) {
  ::onnx::ModelProto result;
  const absl::StatusOr<onnx::OnnxModel> model = ExportOnnx(module, options);
  EXPECT_THAT(model, IsOk());
  if (model.ok()) {
    EXPECT_TRUE(result.ParseFromString(model->ToString()));
  }
  return result;
}

std::vector<std::string> Ops(const ::onnx::GraphProto& graph) {
  std::vector<std::string> result;
  for (const ::onnx::NodeProto& node : graph.node()) {
    result.push_back(node.op_type());
  }
  return result;
}

// A model of opset 17 whose graph is `graph`, as text, imported.
IRModule Imported(const std::string& graph) {
  ::onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("ir_version: 8 opset_import { version: 17 } graph { ", graph,
                   " }"),
      &model));
  const auto bytes =
      std::make_shared<const std::string>(model.SerializeAsString());
  absl::StatusOr<IRModule> module = ImportOnnx(*bytes, bytes);
  EXPECT_THAT(module, IsOk());
  return module.ok() ? *std::move(module) : IRModule();
}

std::string Value(absl::string_view role, absl::string_view name,
                  absl::string_view dims) {
  return absl::StrCat(role, " { name: '", name,
                      "' type { tensor_type { elem_type: 1 shape { ", dims,
                      " } } } } ");
}

// Programs that run a detector need its labels.
TEST(ExportOnnxTest, MetadataIsKept) {
  const IRModule module = Imported(
      "node { op_type: 'Relu' input: 'x' output: 'y' }" +
      Value("input", "x", "dim { dim_value: 2 }") +
      "output { name: 'y' } }"
      "metadata_props { key: 'names' value: '{0: \\'a\\\\\"\\n\\303\\251\\'}' }"
      "metadata_props { key: 'stride' value: '32' ");
  for (const IRModule& same : {module, Module(AsText(module))}) {
    const ::onnx::ModelProto model = Exported(same);
    ASSERT_EQ(model.metadata_props_size(), 2);
    EXPECT_EQ(model.metadata_props(0).key(), "names");
    EXPECT_EQ(model.metadata_props(0).value(), "{0: 'a\\\"\n\303\251'}");
    EXPECT_EQ(model.metadata_props(1).key(), "stride");
    EXPECT_EQ(model.metadata_props(1).value(), "32");
  }
}

TEST(ExportOnnxTest, NamesAndNamesOfDimensionsAreKept) {
  const ::onnx::ModelProto model = Exported(Imported(
      "node { name: 'first' op_type: 'Relu' input: 'x:0' output: 'r, 1' }"
      "node { name: 'second' op_type: 'Mul' input: 'r, 1' input: 'w'"
      "  output: 'y/out' }"
      "initializer { name: 'w' dims: 2 data_type: 1 float_data: [1, 2] }" +
      Value("input", "x:0", "dim { dim_param: 'batch' } dim { dim_value: 2 }") +
      Value("output", "y/out", "")));
  const ::onnx::GraphProto& graph = model.graph();
  ASSERT_EQ(graph.node_size(), 2);
  EXPECT_EQ(graph.node(0).name(), "first");
  EXPECT_THAT(graph.node(0).input(), ElementsAre("x:0"));
  EXPECT_THAT(graph.node(0).output(), ElementsAre("r, 1"));
  EXPECT_EQ(graph.node(1).name(), "second");
  EXPECT_THAT(graph.node(1).input(), ElementsAre("r, 1", "w"));
  EXPECT_THAT(graph.node(1).output(), ElementsAre("y/out"));
  ASSERT_EQ(graph.initializer_size(), 1);
  EXPECT_EQ(graph.initializer(0).name(), "w");
  const auto& shape = graph.input(0).type().tensor_type().shape();
  EXPECT_EQ(shape.dim(0).dim_param(), "batch");
  EXPECT_EQ(shape.dim(1).dim_value(), 2);
  EXPECT_EQ(graph.output(0).type().tensor_type().shape().dim(0).dim_param(),
            "batch");
}

// A product of matrices with two axes in front becomes one of matrices with
// one, and ONNX's again.
TEST(ExportOnnxTest, ProductsKeepTheAxesInFront) {
  const std::string dims =
      "dim { dim_param: 'n' } dim { dim_value: 2 } dim { dim_param: 'm' } "
      "dim { dim_value: 4 }";
  const ::onnx::ModelProto model = Exported(
      Imported("node { op_type: 'Transpose' input: 'b' output: 't' attribute {"
               "  name: 'perm' type: INTS ints: [0, 1, 3, 2] } }"
               "node { op_type: 'MatMul' input: 'a' input: 't' output: 'y' }" +
               Value("input", "a", dims) + Value("input", "b", dims) +
               Value("output", "y", "")));
  EXPECT_THAT(Ops(model.graph()), ElementsAre("Transpose", "MatMul"));
}

// Parts whose extents are not known.
TEST(ExportOnnxTest, UnknownExtentsAreSplit) {
  const IRModule module = Imported(
      "node { op_type: 'Split' input: 'x' output: 'a' output: 'b' }"
      "node { op_type: 'Sub' input: 'a' input: 'b' output: 'y' }" +
      Value("input", "x", "dim { dim_param: 'n' }") + Value("output", "y", ""));
  ::onnx::ModelProto model = Exported(module);
  ASSERT_THAT(Ops(model.graph()), ElementsAre("Split", "Sub"));
  EXPECT_EQ(model.graph().node(0).input_size(), 1);
  EXPECT_EQ(model.graph().node(0).attribute_size(), 1);
  model = Exported(module, {.opset = 18});
  EXPECT_EQ(model.graph().node(0).attribute_size(), 2);
}

// Ends below zero count from the end there.
TEST(ExportOnnxTest, UnknownExtentsAreSliced) {
  for (const char* slice : {"begin=[-4], end=[-1], strides=[1], axes=[0]",
                            "begin=[-1], end=[-3], strides=[-2], axes=[0]"}) {
    const IRModule module = Main(absl::StrCat(
        "(%x: Tensor[(?), float32]) { strided_slice(%x, ", slice, ") }"));
    const auto bytes = std::make_shared<const std::string>(
        Exported(module).SerializeAsString());
    const absl::StatusOr<IRModule> again = ImportOnnx(*bytes, bytes);
    ASSERT_THAT(again, IsOk());
    EXPECT_THAT(AsText(*again), HasSubstr(slice));
  }
}

TEST(ExportOnnxTest, OfSeveralNodesTheLastHasTheName) {
  const ::onnx::ModelProto model = Exported(Imported(
      "node { name: 'plus' op_type: 'Softplus' input: 'x' output: 'p' }"
      "node { name: 'last' op_type: 'Relu' input: 'p' output: 'y' }" +
      Value("input", "x", "dim { dim_value: 2 }") + Value("output", "y", "")));
  const ::onnx::GraphProto& graph = model.graph();
  ASSERT_GE(graph.node_size(), 3);
  const ::onnx::NodeProto& plus = graph.node(graph.node_size() - 2);
  EXPECT_EQ(plus.name(), "plus");
  EXPECT_THAT(plus.output(), ElementsAre("p"));
  EXPECT_EQ(graph.node(0).name().substr(0, 5), "plus/");
}

// Checks that the exported model, imported again, gives the results of the
// module.
void ExpectSameResults(const IRModule& module,
                       const std::vector<baton::relay::Value>& args) {
  const absl::StatusOr<onnx::OnnxModel> model =
      ExportOnnx(module, {.opset = 17});
  ASSERT_THAT(model, IsOk());
  const auto bytes = std::make_shared<const std::string>(model->ToString());
  const absl::StatusOr<IRModule> again = ImportOnnx(*bytes, bytes);
  ASSERT_THAT(again, IsOk());
  const auto want = EvaluateFunction(module, "main", args);
  ASSERT_THAT(want, IsOk());
  const auto got = EvaluateFunction(*again, "main", args);
  ASSERT_THAT(got, IsOk());
  std::vector<Tensor> wanted;
  std::vector<const baton::relay::Value*> work = {&*want};
  while (!work.empty()) {
    const baton::relay::Value* next = work.back();
    work.pop_back();
    if (next->is_tensor()) {
      wanted.push_back(next->tensor());
      continue;
    }
    for (size_t i = next->fields().size(); i-- > 0;) {
      work.push_back(&next->fields()[i]);
    }
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Tensor& tensor =
        got->is_tensor() ? got->tensor() : got->fields()[i].tensor();
    ASSERT_EQ(tensor.shape(), wanted[i].shape());
    ASSERT_EQ(tensor.dtype(), wanted[i].dtype());
    const DType dtype = tensor.dtype();
    const double relative = dtype.is_float() && dtype.bits() < 32 ? 1e-2 : 0;
    for (int64_t k = 0; k < tensor.num_elements(); ++k) {
      const double a = tensor.AtAsDouble(k);
      const double b = wanted[i].AtAsDouble(k);
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)) ||
                  std::abs(a - b) <= 1e-5 + relative * std::abs(b))
          << a << " is not " << b;
    }
  }
}

void ExpectSameResults(const IRModule& module) {
  const auto args = relay::RandomInputs(module.Find<Function>("main"), 1);
  ASSERT_THAT(args, IsOk());
  ExpectSameResults(module, *args);
}

TEST(ExportOnnxTest, WhatIsResizedGivesTheSameResults) {
  for (const char* call : {
           "nn.upsampling(%x, scale_h=2f, scale_w=3f)",
           "nn.upsampling(%x, scale_h=1.5f, scale_w=2f, method=\"bilinear\")",
           "nn.upsampling(%x, scale_h=2f, scale_w=2f, layout=\"NHWC\","
           " method=\"bilinear\", align_corners=True)",
           "image.resize2d(%x, size=[3, 7], roi=[0f, 0f, 0f, 0f])",
           "nn.adaptive_avg_pool2d(%x, output_size=[2, 1])",
       }) {
    SCOPED_TRACE(call);
    ExpectSameResults(Main(
        absl::StrCat("(%x: Tensor[(1, 2, 4, 4), float32]) { ", call, " }")));
  }
  for (const char* call : {
           "nn.upsampling3d(%x, scale_d=2f, scale_h=2f, scale_w=1f,"
           " method=\"trilinear\")",
           "image.resize3d(%x, size=[3, 2, 5], roi=[0f, 0f, 0f, 0f, 0f, 0f])",
           "nn.adaptive_avg_pool3d(%x, output_size=[1, 1, 1])",
           "nn.adaptive_max_pool3d(%x, output_size=[2, 1, 2])",
       }) {
    SCOPED_TRACE(call);
    ExpectSameResults(Main(
        absl::StrCat("(%x: Tensor[(1, 2, 4, 4, 4), float32]) { ", call, " }")));
  }
  for (const char* call : {
           "image.resize1d(%x, size=[7], roi=[0f, 0f])",
           "nn.adaptive_avg_pool1d(%x, output_size=[2])",
       }) {
    SCOPED_TRACE(call);
    ExpectSameResults(
        Main(absl::StrCat("(%x: Tensor[(1, 2, 4), float32]) { ", call, " }")));
  }
  EXPECT_THAT(ExportOnnx(Main("(%x: Tensor[(1, 2, 4, 4), float32]) {"
                              " nn.upsampling(%x, scale_h=1.5f, scale_w=2f) }"))
                  .status(),
              StatusIs(absl::StatusCode::kUnimplemented, "integers"));
}

// Operators of one or two tensors and without attributes, of each element type:
// what can be computed is written so that it gives the same, or is refused.
TEST(ExportOnnxTest, EachElementTypeIsTheSameOrRefused) {
  int num_same = 0;
  for (const OpNode* op : OpRegistry::Global().List()) {
    if (onnx::OnnxExporters().Get(*op) == nullptr) continue;
    for (const char* dtype :
         {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16",
          "uint32", "uint64", "float16", "bfloat16", "float32", "float64"}) {
      for (const bool is_binary : {false, true}) {
        const std::string type = absl::StrCat("Tensor[(2, 3), ", dtype, "]");
        const std::string text =
            absl::StrCat("#[version = \"0.0.5\"]\ndef @main(%x: ", type,
                         is_binary ? absl::StrCat(", %y: ", type) : "", ") { ",
                         op->name(), is_binary ? "(%x, %y)" : "(%x)", " }");
        absl::StatusOr<IRModule> module = ParseModule(text);
        if (!module.ok()) continue;
        module = relay::InferTypes(*std::move(module));
        if (!module.ok()) continue;
        const Function main = module->Find<Function>("main");
        if (main->body()->tensor_type() == nullptr) continue;
        const auto args = relay::RandomInputs(main, 1);
        if (!args.ok() || !EvaluateFunction(*module, "main", *args).ok()) {
          continue;
        }
        if (absl::IsUnimplemented(ExportOnnx(*module).status())) continue;
        SCOPED_TRACE(text);
        ExpectSameResults(*module, *args);
        ++num_same;
      }
    }
  }
  EXPECT_GT(num_same, 400);
}

// As ExpectSameResults, bit for bit, of a function with one tensor as result.
void ExpectSameBits(const IRModule& module,
                    const std::vector<baton::relay::Value>& args) {
  const absl::StatusOr<onnx::OnnxModel> model =
      ExportOnnx(module, {.opset = 17});
  ASSERT_THAT(model, IsOk());
  const auto bytes = std::make_shared<const std::string>(model->ToString());
  const absl::StatusOr<IRModule> again = ImportOnnx(*bytes, bytes);
  ASSERT_THAT(again, IsOk());
  const auto want = EvaluateFunction(module, "main", args);
  ASSERT_THAT(want, IsOk());
  const auto got = EvaluateFunction(*again, "main", args);
  ASSERT_THAT(got, IsOk());
  const Tensor& a = want->tensor();
  const Tensor& b = got->tensor();
  ASSERT_EQ(a.TypeToString(), b.TypeToString());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const bool both_nan =
        std::isnan(a.AtAsDouble(i)) && std::isnan(b.AtAsDouble(i));
    EXPECT_TRUE(both_nan || (a.AtAsDouble(i) == b.AtAsDouble(i) &&
                             a.AtAsInt64(i) == b.AtAsInt64(i)))
        << a.AtAsDouble(i) << " " << b.AtAsDouble(i) << " at " << i;
  }
}

TEST(ExportOnnxTest, IndicesBelowZeroAreWhatTheOperatorTakesThemFor) {
  const Tensor x = *Tensor::FromValues<float>({4}, {1, 2, 3, 4});
  const Tensor indices = *Tensor::FromValues<int64_t>({3}, {-1, -4, 2});
  const Tensor beyond = *Tensor::FromValues<int64_t>({4}, {-1, -9, 2, 9});
  const Tensor unsigned_indices = *Tensor::FromValues<uint64_t>(
      {3}, {1, ~uint64_t{0}, (uint64_t{1} << 63) + 1});
  for (const char* extent : {"4", "?"}) {
    SCOPED_TRACE(extent);
    const auto of = [&](const char* type, const char* call) {
      return Main(absl::StrCat("(%x: Tensor[(", extent,
                               "), float32], %i: Tensor[", type, "]) { ", call,
                               " }"));
    };
    // gather's indices count from the end, take's are the nearest.
    if (std::string(extent) == "4") {
      ExpectSameBits(of("(3), int64", "gather(%x, %i, axis=0)"), {x, indices});
    }
    ExpectSameBits(of("(4), int64", "take(%x, %i, axis=0)"), {x, beyond});
    ExpectSameBits(of("(4), int64", "take(%x, %i)"), {x, beyond});
    ExpectSameBits(of("(3), uint64", "take(%x, %i, axis=0)"),
                   {x, unsigned_indices});
  }
  ExpectSameBits(Main("(%x: Tensor[(4), float32]) {"
                      " gather(%x, reshape(-1, newshape=[1]), axis=0) }"),
                 {x});
}

TEST(ExportOnnxTest, SlicesThatBeginBeforeTheFirstElement) {
  const Tensor x = *Tensor::FromValues<float>({3}, {1, 2, 3});
  for (const char* slice : {"begin=[-10], end=[-11], strides=[-1]",
                            "begin=[-10], end=[-20], strides=[-3]",
                            "begin=[-3], end=[-11], strides=[-1]",
                            "begin=[5], end=[9], strides=[1]",
                            "begin=[-10], end=[-9], strides=[1]"}) {
    ExpectSameBits(
        Main(absl::StrCat("(%x: Tensor[(3), float32]) { strided_slice(%x, ",
                          slice, ", axes=[0]) }")),
        {x});
  }
}

TEST(ExportOnnxTest, ExtentsOfNothingAreThoseOfTheArguments) {
  const Tensor x = *Tensor::Zeros(DType::Float(32), {0, 2, 3});
  const Tensor y = *Tensor::Zeros(DType::Float(32), {0, 2, 4});
  ExpectSameBits(Main("(%x: Tensor[(?, ?, ?), float32],"
                      " %y: Tensor[(0, 2, 4), float32]) {"
                      " reshape_like(%x, %y, lhs_end=2, rhs_end=2) }"),
                 {x, y});
  ExpectSameBits(Main("(%x: Tensor[(0, ?, ?), float32]) {"
                      " reshape(%x, newshape=[0, -3]) }"),
                 {x});
}

TEST(ExportOnnxTest, PoolsOfNothingAreImportedAgain) {
  const IRModule module =
      Imported(absl::StrCat("name: 'g' node { op_type: 'AveragePool' input: 'x'"
                            " output: 'y' attribute { name: 'kernel_shape'"
                            " type: INTS ints: 2 ints: 2 }"
                            " attribute { name: 'auto_pad' type: STRING"
                            " s: 'SAME_UPPER' } } ",
                            Value("input", "x",
                                  "dim { dim_param: 'N' } dim { dim_value: 3 }"
                                  " dim { dim_value: 4 } dim { dim_value: 0 }"),
                            "output { name: 'y' } "));
  const absl::StatusOr<onnx::OnnxModel> model = ExportOnnx(module);
  ASSERT_THAT(model, IsOk());
  const auto bytes = std::make_shared<const std::string>(model->ToString());
  EXPECT_THAT(ImportOnnx(*bytes, bytes), IsOk());
}

// ONNX Runtime mistakes the count of such windows.
TEST(ExportOnnxTest, PaddingBehindPoolsIsDataFromOpset19On) {
  const auto ops = [](const char* padding, int opset) {
    return Ops(Exported(Main(absl::StrCat(
                            "(%x: Tensor[(1, 1, 6, 6), float32]) {"
                            " nn.avg_pool2d(%x, pool_size=[3, 3], padding=[",
                            padding, "], count_include_pad=True) }")),
                        {.opset = opset})
                   .graph());
  };
  EXPECT_THAT(ops("0, 0, 1, 1", 18), ElementsAre("AveragePool"));
  EXPECT_THAT(ops("0, 0, 1, 1", 19), ElementsAre("Pad", "AveragePool"));
  EXPECT_THAT(ops("1, 0, 1, 0", 21), ElementsAre("Pad", "AveragePool"));
  EXPECT_THAT(ops("1, 1, 1, 1", 21), ElementsAre("AveragePool"));
  EXPECT_THAT(ops("0, 1, 0, 1", 21), ElementsAre("AveragePool"));
}

TEST(ExportOnnxTest, UpdatesHaveTheShapeOfTheIndices) {
  const auto status = [](const char* updates) {
    return ExportOnnx(
               Main(absl::StrCat(
                   "(%x: Tensor[(4), float32], %i: Tensor[(3), int64],"
                   " %u: Tensor[",
                   updates, ", float32]) { scatter_elements(%x, %i, %u) }")))
        .status();
  };
  EXPECT_THAT(status("(3)"), IsOk());
  EXPECT_THAT(status("(?)"), IsOk());
  for (const char* updates : {"(2)", "()", "(3, 1)"}) {
    EXPECT_THAT(status(updates), StatusIs(absl::StatusCode::kUnimplemented,
                                          "at indices of the shape"))
        << updates;
  }
}

TEST(ExportOnnxTest, RemaindersOfFloatsAreExact) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {1e9, 123456789, 5, -5, 3e38, -3e38,
                                 7,   -7,        7, -7, 0.5,  inf,
                                 1,   -6,        6, 5,  1e9,  -1e9};
  const std::vector<double> y = {7, 0.1, inf, inf,  .5,    .75,
                                 3, 3,   -3,  -3,   1e-30, 2,
                                 0, 3,   -3,  -inf, 1e-9,  1e-9};
  const auto size = static_cast<int64_t>(x.size());
  const std::vector<float> fx(x.begin(), x.end());
  const std::vector<float> fy(y.begin(), y.end());
  for (const char* op : {"floor_mod", "trunc_mod", "mod"}) {
    for (const int bits : {32, 64}) {
      SCOPED_TRACE(absl::StrCat(op, bits));
      const std::string type =
          absl::StrCat("Tensor[(", size, "), float", bits, "]");
      const IRModule module = Main(absl::StrCat("(%x: ", type, ", %y: ", type,
                                                ") { ", op, "(%x, %y) }"));
      if (bits == 32) {
        ExpectSameBits(module, {*Tensor::FromValues<float>({size}, fx),
                                *Tensor::FromValues<float>({size}, fy)});
      } else {
        ExpectSameBits(module, {*Tensor::FromValues<double>({size}, x),
                                *Tensor::FromValues<double>({size}, y)});
      }
    }
  }
}

TEST(ExportOnnxTest, IntegersNearTheEndsOfTheirTypesAreKept) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const Tensor x = *Tensor::FromValues<int64_t>(
      {5}, {kMax, kMin, kMax - 1, kMin + 1, (int64_t{1} << 53) + 1});
  const auto clip = [](const char* dtype, const char* bounds) {
    return Main(absl::StrCat("(%x: Tensor[(5), ", dtype, "]) { clip(%x, ",
                             bounds, ") }"));
  };
  for (const char* bounds :
       {"a_min=0f, a_max=9223372036854775807f",
        "a_min=-9223372036854775808f, a_max=9e18f", "a_min=-1e30f, a_max=1e30f",
        "a_min=-1.5f, a_max=1.5f"}) {
    SCOPED_TRACE(bounds);
    ExpectSameBits(clip("int64", bounds), {x});
  }
  const Tensor u = *Tensor::FromValues<uint64_t>(
      {5}, {0, ~uint64_t{0}, ~uint64_t{0} - 1, uint64_t{1} << 63, 7});
  for (const char* bounds :
       {"a_min=3f, a_max=1.8446744073709552e19f", "a_min=-3f, a_max=9.3e18f"}) {
    SCOPED_TRACE(bounds);
    ExpectSameBits(clip("uint64", bounds), {u});
  }
  ExpectSameBits(Main("(%x: Tensor[(5), int64]) {"
                      " nn.pad(%x, 9223372036854775807i64,"
                      " pad_width=[[0, 1]]) }"),
                 {x});
}

TEST(ExportOnnxTest, RepeatsOfSeveralAxesAreOneNode) {
  const auto of = [](const std::string& type) {
    return Main(absl::StrCat("(%x: Tensor[", type,
                             "]) {"
                             " %0 = repeat(%x, repeats=2, axis=2);"
                             " %1 = repeat(%0, repeats=3, axis=-1);"
                             " repeat(%1, repeats=2, axis=2) }"));
  };
  for (const char* type : {"(1, 2, 3, 4), float32", "(1, ?, ?, 4), float32",
                           "(1, ?, ?, ?), int8"}) {
    EXPECT_THAT(Ops(Exported(of(type)).graph()), ElementsAre("Resize")) << type;
  }
  ExpectSameResults(of("(1, 2, 3, 4), float32"));
  ExpectSameResults(of("(1, 2, 3, 4), int64"));
  // A call in the middle has another use: the node of the last is made of it.
  const IRModule used = Main(
      "(%x: Tensor[(1, 2, 3, 4), float32]) {"
      " %0 = repeat(%x, repeats=2, axis=2); %1 = repeat(%0, repeats=3, axis=3);"
      " %2 = repeat(%1, repeats=2, axis=1); (%0, abs(%1), %2) }");
  EXPECT_THAT(Ops(Exported(used).graph()),
              ElementsAre("Gather", "Resize", "Abs", "Resize"));
  ExpectSameResults(used);
}

TEST(ExportOnnxTest, RegionsAreTwoOperands) {
  for (const char* op : {"roi_align", "roi_align_half_pixel"}) {
    for (const char* rest : {"", ", sample_ratio=2", ", layout=\"NHWC\""}) {
      SCOPED_TRACE(absl::StrCat(op, rest));
      const IRModule module = Main(absl::StrCat(
          "(%x: Tensor[(2, 3, 4, 5), float32], %r: Tensor[(6, 5), float32]) {"
          " %0 = abs(%r); %1 = minimum(%0, 1f); vision.",
          op, "(%x, %1, pooled_size=[2, 3], spatial_scale=2f", rest, ") }"));
      ExpectSameResults(module);
    }
  }
  const IRModule module = Main(
      "(%x: Tensor[(2, 3, 4, 5), float32], %r: Tensor[(6, 5), float32]) {"
      " vision.roi_align_half_pixel(%x, %r, pooled_size=[2, 3],"
      " spatial_scale=2f) }");
  EXPECT_THAT(ExportOnnx(module, {.opset = 15}).status(),
              StatusIs(absl::StatusCode::kUnimplemented, "opset 16"));
}

TEST(ExportOnnxTest, ComputedPadding) {
  const IRModule module = Main(
      "(%x: Tensor[(2, 3), float32], %w: Tensor[(2, 2), int32]) {"
      " %0 = minimum(maximum(%w, -1), 2);"
      " dyn.nn.pad(%x, %0, 7f, pad_width=[]) }");
  EXPECT_THAT(Ops(Exported(module).graph()), Contains("Pad"));
  ExpectSameResults(module);
}

// Bounds that are scalars.
TEST(ExportOnnxTest, AMaximumInAMinimumIsAClip) {
  const IRModule module = Main(
      "(%x: Tensor[(5), float32], %a: float32, %b: float32) {"
      " minimum(maximum(%x, %a), %b) }");
  EXPECT_THAT(Ops(Exported(module).graph()), ElementsAre("Clip"));
  ExpectSameResults(module);
  const IRModule other = Main(
      "(%x: Tensor[(5), float32], %a: Tensor[(5), float32]) {"
      " minimum(maximum(%x, %a), 1f) }");
  EXPECT_THAT(Ops(Exported(other).graph()), ElementsAre("Max", "Min"));
}

TEST(ExportOnnxTest, DifferentElementsArePaddedAgain) {
  for (const char* attrs :
       {"sorted=False, return_counts=True", "sorted=True"}) {
    SCOPED_TRACE(attrs);
    ExpectSameResults(Main(
        absl::StrCat("(%x: Tensor[(5), int64]) { %0 = cast(greater(cast(%x,"
                     " dtype=\"float32\"), 0f), dtype=\"int64\");"
                     " %1 = unique(%0, ",
                     attrs, "); (%1.2, %1.3, %1.1) }")));
  }
}

TEST(ExportOnnxTest, TuplesInTuplesAreTheirTensors) {
  const IRModule module = Main(
      "(%x: Tensor[(2), float32]) {"
      " %0 = (nn.relu(%x), ());"
      " %1 = (%0, (exp(%x), (tanh(%x), %0)), sigmoid(%x));"
      " %2 = %1.1; %3 = %2.1; %4 = %3.1;"
      " ((%3.0, %4.0), add(%1.2, %2.0)) }");
  EXPECT_EQ(Exported(module).graph().output_size(), 3);
  ExpectSameResults(module);
}

TEST(ExportOnnxTest, LetsAreSharing) {
  // As many as the table of values holds before it grows, and more.
  std::string body;
  for (int i = 0; i < 300; ++i) {
    absl::StrAppend(&body, "let %v", i, " = tanh(%",
                    i == 0 ? "x" : absl::StrCat("v", i - 1), ");\n");
  }
  const ::onnx::ModelProto model = Exported(
      Main(absl::StrCat("(%x: Tensor[(2), float32]) {", body, "%v299 }")));
  EXPECT_EQ(model.graph().node_size(), 300);
}

// ONNX Runtime has no means of integers, and none of float64.
TEST(ExportOnnxTest, MeansOfIntegersAreQuotientsOfSums) {
  const ::onnx::ModelProto model =
      Exported(Main("(%x: Tensor[(1, 1, 4, 4), int32]) {"
                    " nn.avg_pool2d(%x, pool_size=[2, 2]) }"));
  EXPECT_THAT(Ops(model.graph()),
              ElementsAre("Cast", "Slice", "Slice", "Add", "Slice", "Slice",
                          "Add", "Div", "Cast"));
  for (const char* pool :
       {"nn.avg_pool2d(%x, pool_size=[2, 3], strides=[2, 1])",
        "nn.avg_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1])",
        "nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, "
        "1], ceil_mode=True)",
        "nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, "
        "1], ceil_mode=True, count_include_pad=True)",
        "nn.global_avg_pool2d(%x)",
        "nn.adaptive_avg_pool2d(%x, output_size=[3])"}) {
    SCOPED_TRACE(pool);
    ExpectSameResults(
        Main(absl::StrCat("(%x: Tensor[(2, 1, 6, 6), int32]) { ", pool, " }")));
  }
}

TEST(ExportOnnxTest, CeilModeIsPaddingOfMeansBeforeOpset19) {
  const IRModule module = Main(
      "(%x: Tensor[(1, 1, 6, 5), float32]) {"
      " nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2],"
      " padding=[0, 0, 0, 0], ceil_mode=True) }");
  ExpectSameResults(module);
  const ::onnx::ModelProto model = Exported(module);
  ASSERT_EQ(model.graph().node_size(), 1);
  for (const auto& attribute : model.graph().node(0).attribute()) {
    EXPECT_NE(attribute.name(), "ceil_mode");
    if (attribute.name() == "pads") {
      EXPECT_THAT(attribute.ints(), ElementsAre(0, 0, 1, 0));
    }
  }
}

TEST(ExportOnnxTest, RunningProductsAreReductions) {
  for (const char* product :
       {"cumprod(%x, axis=1)", "cumprod(%x, axis=-1, exclusive=True)",
        "cumprod(%x, axis=0, dtype=\"float32\")",
        "cumprod(reshape(%x, newshape=[-1]))"}) {
    for (const char* type : {"float32", "int8"}) {
      SCOPED_TRACE(absl::StrCat(product, type));
      ExpectSameResults(Main(
          absl::StrCat("(%x: Tensor[(3, 4), ", type, "]) { ", product, " }")));
    }
  }
}

// ONNX reduces them in int32, in which the extremum of nothing is another.
TEST(ExportOnnxTest, ExtremaOfNothingAreThoseOfTheNarrowType) {
  for (const char* type : {"int8", "uint8"}) {
    for (const char* op : {"max", "min"}) {
      SCOPED_TRACE(absl::StrCat(op, type));
      ExpectSameResults(Main(absl::StrCat("(%x: Tensor[(2, 0), ", type, "]) { ",
                                          op, "(%x, axis=[1]) }")));
    }
  }
  for (const char* op : {"any", "all"}) {
    SCOPED_TRACE(op);
    ExpectSameResults(Main(
        absl::StrCat("(%x: Tensor[(2, 0), bool]) { ", op, "(%x, axis=[1]) }")));
  }
}

TEST(ExportOnnxTest, AConvolutionOfBytesWithItsScalesIsOneNode) {
  const auto conv = [](const std::string& scale) {
    return Main(absl::StrCat(
        "(%x: Tensor[(1, 2, 5, 5), uint8], %w: Tensor[(3, 2, 3, 3), int8],"
        " %b: Tensor[(3), int32]) {"
        " %0 = qnn.conv2d(%x, %w, 7, 0, 0.5f, 0.25f, padding=[1, 1, 1, 1],"
        "   channels=3, kernel_size=[3, 3], out_dtype=\"int32\");"
        " %1 = nn.bias_add(%0, %b);"
        " %2 = qnn.dequantize(%1, ",
        scale,
        ", 0, out_dtype=\"float32\");"
        " qnn.quantize(%2, 0.75f, 3, out_dtype=\"uint8\") }"));
  };
  EXPECT_THAT(Ops(Exported(conv("0.125f")).graph()),
              ElementsAre("QLinearConv"));
  ExpectSameResults(conv("0.125f"));
  // The scale of the sums is another one.
  EXPECT_THAT(Ops(Exported(conv("0.25f")).graph()),
              Not(Contains("QLinearConv")));
}

TEST(ExportOnnxTest, ConvolutionsTakeZeroPointsThatAreComputed) {
  // As many channels as take two convolutions in float32.
  ExpectSameResults(
      Main("(%x: Tensor[(1, 40, 4, 4), uint8], %w: Tensor[(2, 40, 3, 3), int8],"
           " %a: uint8, %z: Tensor[(2), int8]) {"
           " %0 = subtract(cast(%x, dtype=\"int32\"), cast(%a, "
           "dtype=\"int32\"));"
           " %1 = expand_dims(cast(%z, dtype=\"int32\"), axis=1, "
           "num_newaxis=3);"
           " %2 = subtract(cast(%w, dtype=\"int32\"), %1);"
           " nn.conv2d(%0, %2, channels=2, kernel_size=[3, 3], "
           "out_dtype=\"int32\") }"));
}

TEST(ExportOnnxTest, ProductsTakeZeroPointsThatAreComputed) {
  const IRModule module = Main(R"((%x: Tensor[(2, 3), uint8], %z: uint8,
    %w: Tensor[(4, 3), int8]) {
  %0 = subtract(cast(%x, dtype="int32"), cast(%z, dtype="int32"));
  nn.dense(%0, cast(%w, dtype="int32"), units=None, out_dtype="int32")
})");
  const ::onnx::ModelProto model = Exported(module);
  EXPECT_THAT(Ops(model.graph()), ElementsAre("Transpose", "MatMulInteger"));
  EXPECT_EQ(model.graph().node(1).input(2), "z");
  // Clipped numbers, cast to bytes and on to int32, become this.
  const IRModule clipped = Main(R"((%x: Tensor[(2, 3), float32], %z: uint8,
    %w: Tensor[(4, 3), int8]) {
  %0 = cast(clip(round(%x), a_min=0f, a_max=255f), dtype="int32");
  %1 = subtract(%0, cast(%z, dtype="int32"));
  nn.dense(%1, cast(%w, dtype="int32"), units=None, out_dtype="int32")
})");
  EXPECT_THAT(
      Ops(Exported(clipped).graph()),
      ElementsAre("Round", "Clip", "Cast", "Transpose", "MatMulInteger"));
}

// A difference of bytes wraps, which no zero point does.
TEST(ExportOnnxTest, DifferencesThatWrapStayDifferences) {
  for (const char* dtype : {"uint8", "int8"}) {
    ExpectSameResults(Main(absl::StrCat(
        "(%x: Tensor[(2, 3), ", dtype, "], %z: ", dtype,
        ", %w: Tensor[(4, 3), ", dtype,
        "]) { nn.dense(subtract(%x, %z), %w, units=None, out_dtype=\"int32\") "
        "}")));
  }
}

TEST(ExportOnnxTest, TakesOfBatchesAreGathersOfThem) {
  for (const char* axis : {"1", "2", "3"}) {
    ExpectSameResults(Main(absl::StrCat(
        "(%x: Tensor[(2, 3, 4, 5), float32], %i: Tensor[(2, 6, 2), int64]) {"
        " take(%x, %i, batch_dims=1, axis=",
        axis, ") }")));
  }
  ExpectSameResults(
      Main("(%x: Tensor[(2, 3, 4), float32], %i: Tensor[(2, 3), int64]) {"
           " take(%x, %i, batch_dims=2, axis=2) }"));
  // Indices are clipped; those of ONNX count from the end if they are negative.
  const IRModule clipped = Main(
      "(%x: Tensor[(2, 3, 4), float32], %i: Tensor[(2, 2), int64]) {"
      " take(%x, %i, batch_dims=1, axis=1) }");
  auto args = relay::RandomInputs(clipped.Find<Function>("main"), 1);
  ASSERT_THAT(args, IsOk());
  (*args)[1] = *Tensor::FromValues<int64_t>({2, 2}, {-1, 0, 9, 2});
  ExpectSameResults(clipped, *args);
}

TEST(ExportOnnxTest, ScaleAndZeroPointHaveOneShape) {
  const ::onnx::ModelProto model = Exported(
      Main("(%x: Tensor[(1, 3, 2), float32], %z: Tensor[(3), int32]) {"
           " qnn.quantize(%x, 0.5f, %z, out_dtype=\"uint8\", axis=1) }"));
  EXPECT_THAT(Ops(model.graph()),
              ElementsAre("Expand", "Cast", "QuantizeLinear"));
  EXPECT_EQ(model.graph().node(2).attribute(0).name(), "axis");
}

TEST(ExportOnnxTest, AnEmptyListOfAxesStandsForAll) {
  for (const char* axes : {"axis=[]", "axis=[], exclude=True"}) {
    const ::onnx::ModelProto model =
        Exported(Main(absl::StrCat("(%x: Tensor[(2, 3), float32]) { sum(%x, ",
                                   axes, ", keepdims=True) }")));
    EXPECT_THAT(Ops(model.graph()), ElementsAre("ReduceSum")) << axes;
    EXPECT_THAT(model.graph().initializer(0).dims(), ElementsAre(2)) << axes;
  }
}

TEST(ExportOnnxTest, TheOpsetDecidesAboutFormAndVersion) {
  const IRModule module = Main(
      "(%x: Tensor[(2, 3), float32]) { max(%x, axis=[1], keepdims=True) }");
  const ::onnx::ModelProto old = Exported(module, {.opset = 13});
  EXPECT_EQ(old.opset_import(0).version(), 13);
  EXPECT_EQ(old.ir_version(), 7);
  EXPECT_EQ(old.graph().node(0).input_size(), 1);
  const ::onnx::ModelProto recent = Exported(module, {.opset = 21});
  EXPECT_EQ(recent.ir_version(), 10);
  EXPECT_EQ(recent.graph().node(0).input_size(), 2);
  EXPECT_THAT(ExportOnnx(module, {.opset = 12}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "13 to 21"));
}

TEST(ExportOnnxTest, NormalFormsAndFunctionsAreUndone) {
  const std::vector<std::string> wanted = {"Relu", "Exp", "Add"};
  EXPECT_EQ(Ops(Exported(Main("(%x: Tensor[(2), float32]) {"
                              "  let %a = nn.relu(%x);"
                              "  let %unused = tanh(%a);"
                              "  let %b = exp(%a);"
                              "  add(%a, %b) }"))
                    .graph()),
            wanted);
  EXPECT_EQ(Ops(Exported(Main("(%x: Tensor[(2), float32]) {"
                              "  %0 = fn (%p: Tensor[(2), float32],"
                              "           Primitive=1) {"
                              "    %1 = nn.relu(%p); add(%1, exp(%1)) };"
                              "  %0(%x) }"))
                    .graph()),
            wanted);
  EXPECT_EQ(Ops(Exported(Module("#[version = \"0.0.5\"]\n"
                                "def @f(%p: Tensor[(2), float32]) { exp(%p) }\n"
                                "def @main(%x: Tensor[(2), float32]) {"
                                "  %0 = nn.relu(%x); add(%0, @f(%0)) }"))
                    .graph()),
            wanted);
}

TEST(ExportOnnxTest, AdditionsBecomeOperandsOfProducts) {
  EXPECT_THAT(
      Ops(Exported(Main("(%x: Tensor[(1, 3, 8, 8), float32],"
                        " %w: Tensor[(4, 3, 3, 3), float32],"
                        " %b: Tensor[(4), float32]) {"
                        "  nn.bias_add(nn.conv2d(%x, %w, padding=[1, 1]), %b)"
                        "}"))
              .graph()),
      ElementsAre("Conv"));
  EXPECT_THAT(Ops(Exported(Main("(%x: Tensor[(2, 3), float32],"
                                " %w: Tensor[(4, 3), float32],"
                                " %b: Tensor[(4), float32]) {"
                                "  add(%b, nn.dense(%x, %w, units=4)) }"))
                      .graph()),
              ElementsAre("Gemm"));
  // Its result is needed without the addition, too.
  EXPECT_THAT(Ops(Exported(Main("(%x: Tensor[(2, 3), float32],"
                                " %w: Tensor[(4, 3), float32],"
                                " %b: Tensor[(4), float32]) {"
                                "  %0 = nn.dense(%x, %w, units=4);"
                                "  (add(%b, %0), %0) }"))
                      .graph()),
              ElementsAre("Gemm", "Add"));
}

TEST(ExportOnnxTest, OtherLayoutsAreTransposesOrRefused) {
  EXPECT_THAT(
      Ops(Exported(Main("(%x: Tensor[(1, 8, 8, 3), float32],"
                        " %w: Tensor[(3, 3, 3, 4), float32]) {"
                        "  nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3],"
                        "    data_layout=\"NHWC\", kernel_layout=\"HWIO\") }"))
              .graph()),
      ElementsAre("Transpose", "Transpose", "Conv", "Transpose"));
  EXPECT_THAT(ExportOnnx(Main("(%x: Tensor[(1, 32, 4, 4), float32]) {\n"
                              "  layout_transform(%x, src_layout=\"NCHW\","
                              "    dst_layout=\"NCHW16c\") }"))
                  .status(),
              StatusIs(absl::StatusCode::kUnimplemented, "layout_transform"));
}

TEST(ExportOnnxTest, BranchesAreGraphs) {
  const ::onnx::ModelProto model =
      Exported(Main("(%c: bool, %x: Tensor[(2), float32]) {"
                    "  %0 = nn.relu(%x);"
                    "  %1 = if (%c) { exp(%0) } else { %x };"
                    "  add(%0, %1) }"));
  EXPECT_THAT(Ops(model.graph()), ElementsAre("Relu", "If", "Add"));
  const ::onnx::NodeProto& branch = model.graph().node(1);
  EXPECT_THAT(Ops(branch.attribute(0).g()), ElementsAre("Exp"));
  EXPECT_THAT(Ops(branch.attribute(1).g()), ElementsAre("Identity"));
}

// The only Loop of a graph.
::onnx::NodeProto LoopIn(const ::onnx::GraphProto& graph) {
  std::vector<::onnx::NodeProto> loops;
  for (const ::onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "Loop") loops.push_back(node);
  }
  EXPECT_EQ(loops.size(), 1u);
  return loops.empty() ? ::onnx::NodeProto() : loops[0];
}

TEST(ExportOnnxTest, FunctionsThatCallThemselvesAreLoops) {
  // A counter with a limit, a value that no round changes, one that is carried
  // and one to which each round adds an element.
  const IRModule module = Main(
      "(%n: int64, %x: Tensor[(2), float32], %step: Tensor[(2), float32]) {"
      "  let %f = fn (%i: int64, %limit: int64, %v: Tensor[(2), float32],"
      "      %by: Tensor[(2), float32], %all: Tensor[(?, 2), float32])"
      "      -> (Tensor[(2), float32], Tensor[(?, 2), float32]) {"
      "    if (less(%i, %limit)) {"
      "      %0 = add(%v, %by);"
      "      %1 = expand_dims(%0, axis=0);"
      "      %2 = (%all, %1);"
      "      %f(add(%i, 1i64), %limit, %0, %by, concatenate(%2))"
      "    } else { (%v, %all) }"
      "  };"
      "  %f(0i64, %n, %x, %step, zeros(shape=[0, 2], dtype=\"float32\"))"
      "}");
  const ::onnx::ModelProto model = Exported(module);
  const ::onnx::NodeProto loop = LoopIn(model.graph());
  EXPECT_THAT(loop.input(), ElementsAre("n", "", "x"));
  EXPECT_EQ(loop.output_size(), 2);
  const ::onnx::GraphProto& body = loop.attribute(0).g();
  EXPECT_EQ(body.input_size(), 3);
  EXPECT_EQ(body.output_size(), 3);
  EXPECT_EQ(body.output(2).type().tensor_type().shape().dim_size(), 1);
  const std::vector<std::string> ops = Ops(body);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "Concat"), 0);
  for (const int64_t rounds : {0, 1, 3}) {
    ExpectSameResults(module, {Tensor::Scalar<int64_t>(rounds),
                               *Tensor::FromValues<float>({2}, {1.0f, 2.0f}),
                               *Tensor::FromValues<float>({2}, {0.5f, -1.0f})});
  }
}

TEST(ExportOnnxTest, LoopsEndForAnyReason) {
  // A condition that is computed, which ends the loop if it is true; the number
  // of rounds is a result, and all values change.
  const IRModule module = Main(
      "(%x: Tensor[(2), float32], %most: float32) {"
      "  let %f = fn (%i: int64, %v: Tensor[(2), float32], %most1: float32)"
      "      -> (int64, Tensor[(2), float32]) {"
      "    %0 = max(%v);"
      "    if (greater(%0, %most1)) { (%i, multiply(%v, %0)) }"
      "    else { %f(add(%i, 1i64), add(%v, %v), multiply(%most1, 1.5f)) }"
      "  };"
      "  %f(0i64, %x, %most)"
      "}");
  const ::onnx::NodeProto loop = LoopIn(Exported(module).graph());
  EXPECT_EQ(loop.input(0), "");
  EXPECT_EQ(loop.input_size(), 5);
  for (const float most : {0.5f, 3.0f, 100.0f}) {
    ExpectSameResults(module, {*Tensor::FromValues<float>({2}, {1.0f, 0.25f}),
                               Tensor::Scalar<float>(most)});
  }
}

TEST(ExportOnnxTest, LoopsCanBeInLoopsAndBranches) {
  const IRModule module = Main(
      "(%n: int64, %m: int64, %c: bool, %x: float32) {"
      "  let %f = fn (%i: int64, %v: float32) -> float32 {"
      "    if (less(%i, %n)) {"
      "      let %g = fn (%k: int64, %w: float32) -> float32 {"
      "        if (less(%k, add(%m, %i))) {"
      "          %g(add(%k, 1i64), add(multiply(%w, 2f), %v))"
      "        } else { %w }"
      "      };"
      "      %f(add(%i, 1i64), subtract(%g(0i64, %v), 1f))"
      "    } else { %v }"
      "  };"
      "  if (%c) { %f(0i64, %x) } else { negative(%x) }"
      "}");
  for (const bool condition : {true, false}) {
    ExpectSameResults(
        module, {Tensor::Scalar<int64_t>(3), Tensor::Scalar<int64_t>(1),
                 Tensor::Scalar<bool>(condition), Tensor::Scalar<float>(2)});
  }
}

TEST(ExportOnnxTest, VeryManyLoopsAreRefused) {
  std::string text =
      "(%x: float32) {\n"
      "  let %f0 = fn (%i: int64, %v: float32) -> float32 {\n"
      "    if (less(%i, 2i64)) { %f0(add(%i, 1i64), add(%v, 1f)) }\n"
      "    else { %v } };\n";
  constexpr int kFunctions = 20;
  for (int k = 1; k < kFunctions; ++k) {
    absl::StrAppend(&text, "  let %f", k,
                    " = fn (%i: int64, %v: float32) -> float32 {\n"
                    "    if (less(%i, 2i64)) {\n      %f",
                    k, "(add(%i, 1i64), add(%f", k - 1, "(0i64, %v), %f", k - 1,
                    "(0i64, negative(%v)))) } else { %v } };\n");
  }
  absl::StrAppend(&text, "  %f", kFunctions - 1, "(0i64, %x) }");
  EXPECT_THAT(ExportOnnx(Main(text)).status(),
              StatusIs(absl::StatusCode::kUnimplemented, "too many loops"));
}

TEST(ExportOnnxTest, OtherFunctionsThatCallThemselvesAreRefusedWithTheirPlace) {
  const absl::Status status =
      ExportOnnx(Main("(%n: int64, %x: float32) {\n"
                      "  let %f = fn (%i: int64, %v: float32) -> float32 {\n"
                      "    if (less(%i, 3i64)) {\n"
                      "      negative(%f(add(%i, 1i64), %v))\n"
                      "    } else { %v }\n"
                      "  };\n"
                      "  %f(%n, %x) }"))
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnimplemented,
                               "calls itself elsewhere than at the end"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(":8:"));
}

TEST(ExportOnnxTest, OutputsThatAreInputsOrEqualAreDifferentValues) {
  const ::onnx::ModelProto model = Exported(
      Main("(%x: Tensor[(2), float32]) { %0 = nn.relu(%x); (%0, %0, %x) }"));
  EXPECT_THAT(Ops(model.graph()), ElementsAre("Relu", "Identity", "Identity"));
  EXPECT_EQ(model.graph().output(0).name(), "output_0");
  EXPECT_EQ(model.graph().output(2).name(), "output_2");
}

TEST(ExportOnnxTest, AllThatHasNoFormIsInOneError) {
  const absl::Status status =
      ExportOnnx(Main("(%x: Tensor[(2), float32]) {\n"
                      "  %0 = reinterpret(%x, dtype=\"int32\");\n"
                      "  nn.relu(invert_permutation(%0)) }"))
          .status();
  EXPECT_THAT(status, ::testing::Not(IsOk()));
  const absl::Status both =
      ExportOnnx(Main("(%x: Tensor[(2, 2), float32]) {\n"
                      "  %0 = reinterpret(%x, dtype=\"int32\");\n"
                      "  add(%0, reinterpret(exp(%x), dtype=\"int32\")) }"))
          .status();
  EXPECT_THAT(both, StatusIs(absl::StatusCode::kUnimplemented, "reinterpret"));
  EXPECT_THAT(std::string(both.message()),
              AllOf(HasSubstr(":3:"), HasSubstr(":4:")));
}

TEST(ExportOnnxTest, TheSameModuleGivesTheSameBytes) {
  const IRModule module = Main(
      "(%x: Tensor[(1, 3, 8, 8), float32],"
      " %w: Tensor[(4, 3, 3, 3), float32]) {"
      "  %0 = nn.conv2d(%x, %w);"
      "  (nn.softmax(%0), mean(%0, axis=[2, 3]), clip(%0, a_min=0f, a_max=6f)) "
      "}");
  const auto first = ExportOnnx(module);
  const auto second = ExportOnnx(module);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(first->ToString(), second->ToString());
}

TEST(ExportOnnxTest, LargeTensorsCanBeExternalData) {
  const IRModule module = Imported(
      "node { op_type: 'Mul' input: 'x' input: 'w' output: 'y' }"
      "initializer { name: 'w' dims: 4 data_type: 1"
      "  float_data: [1, 2, 3, 4] }" +
      Value("input", "x", "dim { dim_value: 4 }") + Value("output", "y", ""));
  const auto model =
      ExportOnnx(module, {.external_data = "w.data", .external_bytes = 16});
  ASSERT_THAT(model, IsOk());
  const std::string folder = ::testing::TempDir();
  std::ofstream data(folder + "/w.data", std::ios::binary);
  for (absl::string_view piece : model->external_pieces()) data << piece;
  data.close();
  const auto bytes = std::make_shared<const std::string>(model->ToString());
  EXPECT_THAT(ImportOnnx(*bytes, bytes, {.folder = folder}), IsOk());
  EXPECT_THAT(ImportOnnx(*bytes, bytes).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "w.data"));
}

TEST(ExportOnnxTest, LongChainsNeedLittleStack) {
  relay::Var x("x", {2});
  Expr chain = x;
  const int length = testing::LongOrShort(1'000'000, 100'000);
  for (int i = 0; i < length; ++i) chain = relay::Tanh(chain);
  const IRModule module = relay::ModuleFromExpr(Function({x}, chain));
  chain = Expr();
  RunWithStack(SmallStackBytesOfThisBuild(),
               [&] { EXPECT_THAT(ExportOnnx(module), IsOk()); });
}

}  // namespace
}  // namespace baton
