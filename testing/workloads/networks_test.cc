// Tests the networks: their texts against the reference; their parameters
// against published numbers; and the results of small ones.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/golden.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/sha256.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::Function;

using ::testing::HasSubstr;

// The texts that the reference's own tests print, which are recorded with the
// conformance cases: the given section of a file.
TEST(NetworksTest, PrintAsRecorded) {
  static constexpr struct {
    const char* spec;
    const char* file;
    int section;
  } kRecorded[] = {
      {"dcgan", "parse/048496aa41.relay", 1},
      {"squeezenet{version=\"1.1\"}", "InferType/95568f611a.relay", 2},
      {"lstm{iterations=5,num_hidden=4}", "ToMixedPrecision/b5fb4fa405.relay",
       1},
  };
  for (const auto& recorded : kRecorded) {
    SCOPED_TRACE(recorded.spec);
    const std::string file = ReadFileOrFail(
        RunfilePath(absl::StrCat("testing/conformance/", recorded.file)));
    const std::vector<std::string> sections =
        absl::StrSplit(file, "// -----\n");
    ASSERT_GT(sections.size(), recorded.section);
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               GetWorkloadModule(recorded.spec));
    EXPECT_TRUE(SameText(AsText(module, {.metadata = false}),
                         sections[recorded.section]));
  }
}

// The texts of the networks that the reference's Python makes. Its functions
// were run with a stand-in for its `relay` that writes each call down as text,
// with every attribute that is passed; that was parsed, inferred and printed
// here.
TEST(NetworksTest, AreThoseOfTheReferencesPython) {
  static constexpr struct {
    const char* spec;
    size_t parameters;  // without the input
    const char* sha256;
  } kTexts[] = {
      {"mobilenet", 137,
       "ecb68288ccf6776ed2d032d565e439004c04f8db6fee01f75bac69dc65dd4b10"},
      {"mobilenet{layout=NHWC,image_shape=[224,224,3]}", 137,
       "9904726611e2ba87be2b1d4520e04134a4819ede58aaf7eb0edf8d9538a9cd69"},
      {"mobilenet{batch_size=2,num_classes=10,image_shape=[3,64,64],"
       "dtype=float16}",
       137, "770de7e82a75dd3b40cc919c0cb5638be4aee85ac2f348f0c8c5ec3fcae698f7"},
      {"vgg", 22,
       "c750dfa63df25afcf24a70ca5b5f6c885eb13acb840123ebb3310a19025fb3ef"},
      {"vgg{num_layers=13}", 26,
       "0b2c4b2ab2185db478a76239fe16111ca94b4cf506ce4f3a7e2242395e1cef6a"},
      {"vgg{num_layers=16,batch_norm=true}", 84,
       "afe2a324d8eb88a382937019641e7bcb0eb1bff6ef749fc2b6d156ab0137e48c"},
      {"vgg{num_layers=19}", 38,
       "7e23c2858e1be904d3c1de3622d04a0f549e342baaa68cfc665d740c05c136e1"},
      {"squeezenet", 52,
       "0677f751093ca8a3376e99007fe3c26ccd718ac226206eeb62c1ba5428386144"},
      {"densenet", 606,
       "3af0a3e31443b2d9d7d3ea285f04fc862e5d37b8f203ed0fcdd5d87b7e6c165e"},
      {"densenet{densenet_size=161}", 806,
       "039bc18731bdc087a14b7c5737aaa09c46b84f4971ea40c7809b5ded6bc95fd9"},
      {"densenet{densenet_size=169}", 846,
       "2177a8d123efaae8dc55af5fbffcc6dac141148b65d83ccc8e411f1137e8fd61"},
      {"densenet{densenet_size=201}", 1006,
       "f4832d23ec1b126de51be2821700b4a117eebbf3206a776c26087c177edfd57a"},
      {"inception_v3", 472,
       "9d86e976b8615eadcd1211d1b90fb6d3e03a957ea17851e5b6360725bc64ec39"},
      {"mlp", 6,
       "bd82ac9c23b8450d5632157dcbfccb7cedcb06e849838dfebea10ac6f6a8dd5a"},
      {"dqn", 10,
       "6d2415fa14bd05316c7d19701dd7511d70271723fdff9f76b8982e0662e2f92e"},
      {"dqn{layout=NHWC,image_shape=[84,84,4]}", 10,
       "8a37aa3f90b8c1c3bcf5e32017a12dbbc81c3e5a7e5ee2bb04db5c16c9554d26"},
      {"resnet{num_layers=50}", 259,
       "7e0b66831611fef6d179372f46049205f200f9e45487b89182669a570eff3179"},
      {"resnet{num_layers=20,image_shape=[3,28,28],num_classes=10}", 104,
       "9240ba9aacc3d4c3b41a61ec70f29f4388c5dae89c51dcf8c5912fa2da8669af"},
      {"resnet{num_layers=164,image_shape=[28,28,3],num_classes=10,"
       "layout=NHWC}",
       824, "8627ba6a24c77018c0a5b29ab6fb490ec5c9140b521ce40bb26c12ad2fcb5676"},
      {"resnet{image_shape=[3,32,32],num_classes=10}", 95,
       "91c8f825ff0d69fa200da2d091331804e1e2d862d3c4f0f64a077043688006a8"},
      {"resnet{image_shape=[224,224,3],layout=NHWC}", 99,
       "2d47dc0de49651aa64e3ba61657f3fe047a0ed194cf631572c4354e1ffd51513"},
      {"resnet_3d", 99,
       "35e9eeb19e3611963c8a4eadc4a1e63c698c20e3feddc919df5431abd1470f35"},
      {"resnet_3d{num_layers=50}", 259,
       "5f59c104f96fcfa4ec75bda8ef42a846f81f62f54cd761d78b8bd1f927c92c8a"},
      {"resnet_3d{image_shape=[16,112,112,3],layout=NDHWC}", 99,
       "426f303262ff9707fd93f0492bbeced20fee9c38953804eb21339202f978ac35"},
      {"resnet_3d{num_layers=20,image_shape=[3,16,28,28]}", 104,
       "c4bf41f8068044dae6fe9447b185c8a90a5c64cbbe1d25faf5ae50d4866d4e19"},
  };
  for (const auto& want : kTexts) {
    SCOPED_TRACE(want.spec);
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               GetWorkloadModule(want.spec));
    EXPECT_EQ(module.Find<Function>("main")->params().size(),
              want.parameters + 1);
    Sha256 sha;
    sha.Update(AsText(module, {.metadata = false}));
    EXPECT_EQ(sha.Digest(), want.sha256);
  }
}

// The elements of all weights.
int64_t CountElements(const IRModule& module) {
  int64_t count = 0;
  for (const relay::Var& param : module.Find<Function>("main")->params()) {
    const TensorTypeNode* type = param->tensor_type();
    if (param->name() == "data" || !type->dtype().is_float()) continue;
    int64_t elements = 1;
    const auto dims = ConstDims(type->shape());
    if (!dims.has_value()) return -1;
    for (int64_t d : *dims) elements *= d;
    count += elements;
  }
  return count;
}

// A normalization of n channels has 2n trained parameters, a mean and a
// variance of n elements each, and the reference has `gamma` even where it is
// not used.
TEST(NetworksTest, HaveThePublishedNumberOfParameters) {
  static constexpr struct {
    const char* spec;
    int64_t parameters;
  } kPublished[] = {
      {"vgg", 132'863'336},
      {"vgg{num_layers=13}", 133'047'848},
      {"vgg{num_layers=16}", 138'357'544},
      {"vgg{num_layers=19}", 143'667'240},
      {"vgg{num_layers=16,batch_norm=true}", 138'365'992 + 2 * 4224},
      {"squeezenet", 1'248'424},
      {"squeezenet{version=\"1.1\"}", 1'235'496},
      {"mobilenet", 4'231'976 + 2 * 10'944},
      {"inception_v3", 23'834'568 + 2 * 17'216},
      {"bert", 109'482'240},
      {"vit", 86'567'656},
  };
  for (const auto& published : kPublished) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               GetWorkloadModule(published.spec));
    EXPECT_EQ(CountElements(module), published.parameters) << published.spec;
  }
}

std::string TypeOf(const IRModule& module) {
  return module.Find<Function>("main")->body()->type().ToString();
}

TEST(NetworksTest, TransformersHaveTheShapesOfTheirPapers) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule bert, GetWorkloadModule("bert"));
  EXPECT_EQ(TypeOf(bert),
            "(Tensor[(1, 128, 768), float32], Tensor[(1, 768), float32])");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule vit, GetWorkloadModule("vit"));
  EXPECT_EQ(TypeOf(vit), "Tensor[(1, 1000), float32]");
  EXPECT_THAT(AsText(vit, {.metadata = false}),
              HasSubstr("Tensor[(12, 197, 197), float32]"));
}

constexpr char kSmallBert[] =
    "bert{num_layers=2,hidden_size=8,num_heads=2,intermediate_size=16,"
    "vocab_size=50,max_position_embeddings=8,sequence_length=6,batch_size=2";
constexpr char kSmallVit[] =
    "vit{num_layers=2,hidden_size=8,num_heads=2,intermediate_size=16,"
    "patch_size=4,image_shape=[3,8,12],num_classes=5,batch_size=2";

std::vector<std::string> SmallNetworks() {
  return {"mobilenet{alpha=0.125,image_shape=[3,32,32],num_classes=5}",
          "mobilenet{alpha=0.125,is_shallow=true,image_shape=[32,32,3],"
          "num_classes=5,layout=NHWC}",
          "squeezenet{image_shape=[3,32,32],num_classes=5}",
          "squeezenet{version=\"1.1\",image_shape=[3,32,32],num_classes=5}",
          "dcgan{ngf=2,random_len=5}",
          "dcgan{ngf=2,random_len=5,layout=NHWC}",
          "mlp{batch_size=2}",
          "mlp{dtype=float64}",
          "mlp{dtype=float16}",
          "dqn{num_actions=4}",
          "dqn{num_actions=4,layout=NHWC,image_shape=[84,84,4]}",
          "lstm{iterations=3,num_hidden=4,batch_size=2}",
          "resnet{num_layers=8,image_shape=[3,16,16],num_classes=5}",
          "resnet{num_layers=8,image_shape=[16,16,3],num_classes=5,"
          "layout=NHWC}",
          "resnet_3d{num_layers=8,image_shape=[3,4,16,16],num_classes=5}",
          absl::StrCat(kSmallBert, "}"),
          absl::StrCat(kSmallVit, "}")};
}

TEST(NetworksTest, SurviveTextAndBinary) {
  for (const std::string& spec : SmallNetworks()) {
    SCOPED_TRACE(spec);
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, GetWorkloadModule(spec));
    EXPECT_THAT(CheckRoundTrip(module, /*typed=*/true), IsOk());
    EXPECT_THAT(CheckBinaryRoundTrip(module), IsOk());
  }
}

// `main` with the weights of the workload; random inputs, but for those given
// by name.
absl::StatusOr<relay::Value> RunWorkload(
    const std::string& spec, const std::map<std::string, Tensor>& inputs = {}) {
  BATON_ASSIGN_OR_RETURN(const Workload workload, GetWorkload(spec));
  const Function main = workload.module.Find<Function>("main");
  BATON_ASSIGN_OR_RETURN(std::vector<relay::Value> arguments,
                         relay::RandomInputs(main, /*seed=*/1));
  size_t next = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = main->params()[i]->name();
    if (next < workload.params.size() && workload.params[next].first == name) {
      arguments[i] = workload.params[next++].second;
    } else if (const auto it = inputs.find(name); it != inputs.end()) {
      arguments[i] = it->second;
    }
  }
  EXPECT_EQ(next, workload.params.size()) << spec;
  return relay::EvaluateFunction(workload.module, "main", arguments);
}

TEST(NetworksTest, SmallOnesAreEvaluated) {
  for (const std::string& spec : SmallNetworks()) {
    SCOPED_TRACE(spec);
    BATON_ASSERT_OK_AND_ASSIGN(const relay::Value value, RunWorkload(spec));
    const Tensor output =
        value.is_tuple() ? value.fields()[0].tensor() : value.tensor();
    double sum = 0;
    for (int64_t i = 0; i < output.num_elements(); ++i) {
      ASSERT_TRUE(std::isfinite(output.AtAsDouble(i)));
      sum += output.AtAsDouble(i);
    }
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, GetWorkloadModule(spec));
    if (relay::IsCallTo(module.Find<Function>("main")->body(),
                        BATON_OP("nn.softmax"))) {
      EXPECT_NEAR(sum, static_cast<double>(output.shape()[0]),
                  output.dtype() == DType::Float(16) ? 1e-2 : 1e-5);
    }
  }
}

// Tokens that the mask leaves out have no influence on the others.
TEST(NetworksTest, BertHeedsTheMask) {
  const std::string spec = absl::StrCat(kSmallBert, "}");
  const auto ints = [](const std::vector<int32_t>& values) {
    return Tensor::FromValues<int32_t>({2, 6}, values).value();
  };
  const Tensor segments = ints({0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0});
  const Tensor all = ints({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  const Tensor masked = ints({1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1});
  const Tensor tokens = ints({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor others = ints({1, 2, 3, 4, 40, 41, 7, 8, 9, 10, 11, 12});
  const auto pooled = [&](const Tensor& data, const Tensor& mask) {
    return RunWorkload(
               spec,
               {{"data", data}, {"segment_ids", segments}, {"mask", mask}})
        .value()
        .fields()[1]
        .tensor();
  };
  EXPECT_EQ(pooled(tokens, masked), pooled(others, masked));
  EXPECT_FALSE(pooled(tokens, all) == pooled(others, all));
}

// All are drawn as doubles and then rounded.
TEST(NetworksTest, WeightsOfOtherElementTypes) {
  BATON_ASSERT_OK_AND_ASSIGN(const Workload wide,
                             GetWorkload("mlp{dtype=float64}"));
  for (const char* spec : {"mlp", "mlp{dtype=float16}"}) {
    BATON_ASSERT_OK_AND_ASSIGN(const Workload workload, GetWorkload(spec));
    ASSERT_EQ(workload.params.size(), wide.params.size());
    for (size_t i = 0; i < wide.params.size(); ++i) {
      const Tensor& weight = workload.params[i].second;
      VisitDType(weight.dtype(), [&]<typename T>() {
        for (int64_t j = 0; j < weight.num_elements(); ++j) {
          ASSERT_EQ(weight.AtAsDouble(j),
                    static_cast<double>(
                        static_cast<T>(wide.params[i].second.AtAsDouble(j))));
        }
      });
    }
  }
}

TEST(NetworksTest, BadOptionsAreNamed) {
  static constexpr struct {
    const char* spec;
    const char* message;
  } kBad[] = {
      {"vgg{num_layers=12}", "11, 13, 16 or 19"},
      {"vgg{dtype=int8}", "float16, float32 or float64"},
      {"squeezenet{version=\"2\"}", "1.0 or 1.1"},
      {"densenet{densenet_size=100}", "121, 161, 169 or 201"},
      {"mobilenet{alpha=0.01}", "alpha"},
      {"mobilenet{layout=NCWH}", "NCHW or NHWC"},
      {"mlp{image_shape=[28,28]}", "image_shape"},
      {"dqn{num_actions=0}", "num_actions"},
      {"dqn{layout=HW}", "NCHW or NHWC"},
      {"dcgan{oshape=[3,32,32]}", "[channels,64,64]"},
      {"lstm{iterations=0}", "iterations"},
      {"resnet_3d{image_shape=[3,112,112]}", "image_shape"},
      {"resnet_3d{layout=NCHW}", "NCDHW or NDHWC"},
      {"resnet_3d{num_layers=17}", "18, 34, 50"},
      {"inception_v3{image_shape=[3,16,16]}", "nn."},
      {"bert{num_heads=5}", "does not divide hidden_size=768"},
      {"bert{sequence_length=600}", "max_position_embeddings=512"},
      {"vit{patch_size=15}", "does not divide an image of 224x224"},
      {"vit{num_layers=0}", "num_layers"},
  };
  for (const auto& bad : kBad) {
    EXPECT_THAT(GetWorkloadModule(bad.spec).status().message(),
                HasSubstr(bad.message))
        << bad.spec;
  }
}

}  // namespace
}  // namespace baton::testing
