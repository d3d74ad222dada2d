// Imports damaged models: each is refused, or is a valid model.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/onnx/import.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"

namespace baton {
namespace {

using ::baton::testing::StatusIs;
using ::testing::HasSubstr;

std::string Bytes(const std::string& graph) {
  ::onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat(
          "ir_version: 8 opset_import { version: 17 } graph { name: 'g' ",
          graph,
          "input { name: 'x' type { tensor_type { elem_type: 1 shape {"
          "  dim { dim_value: 1 } dim { dim_value: 2 } dim { dim_value: 6 }"
          "  dim { dim_value: 6 } } } } } output { name: 'y' } }"),
      &model));
  return model.SerializeAsString();
}

std::vector<std::string> Models() {
  return {
      Bytes("node { op_type: 'Conv' input: 'x' input: 'w' output: 'c'"
            "  attribute { name: 'strides' type: INTS ints: [2, 2] }"
            "  attribute { name: 'pads' type: INTS ints: [1, 1, 1, 1] } }"
            "node { op_type: 'MaxPool' input: 'c' output: 'p' output: 'i'"
            "  attribute { name: 'kernel_shape' type: INTS ints: [2, 2] } }"
            "node { op_type: 'Flatten' input: 'p' output: 'y' }"
            "initializer { name: 'w' dims: [1, 2, 1, 1] data_type: 1"
            "  float_data: [1, 2] }"),
      Bytes("node { op_type: 'Shape' input: 'x' output: 's' }"
            "node { op_type: 'Slice' input: 's' input: 'a' input: 'b'"
            "  output: 't' }"
            "node { op_type: 'ConstantOfShape' input: 't' output: 'o' }"
            "node { op_type: 'Resize' input: 'x' input: '' input: 'r'"
            "  output: 'z' attribute { name: 'mode' type: STRING s: 'linear' }"
            "}"
            "node { op_type: 'Einsum' input: 'z' output: 'e'"
            "  attribute { name: 'equation' type: STRING s: 'abcc->abc' } }"
            "node { op_type: 'Pad' input: 'e' input: 'q' output: 'y' }"
            "initializer { name: 'a' dims: 1 data_type: 7 int64_data: 1 }"
            "initializer { name: 'b' dims: 1 data_type: 7 int64_data: 3 }"
            "initializer { name: 'r' dims: 4 data_type: 1"
            "  float_data: [1, 1, 2, 2] }"
            "initializer { name: 'q' dims: 6 data_type: 7"
            "  int64_data: [0, 0, 1, 0, 0, 1] }"),
      Bytes("node { op_type: 'Constant' output: 'm' attribute {"
            "  name: 'value_int' type: INT i: 3 } }"
            "node { op_type: 'Loop' input: 'm' input: '' input: 'x'"
            "  output: 'y' attribute { name: 'body' type: GRAPH g {"
            "    node { op_type: 'Relu' input: 'v' output: 'w' }"
            "    node { op_type: 'Identity' input: 'c' output: 'd' }"
            "    input { name: 'i' } input { name: 'c' } input { name: 'v' }"
            "    output { name: 'd' } output { name: 'w' } } } }"),
  };
}

TEST(DamageTest, ModelsAreWhole) {
  for (const std::string& bytes : Models()) {
    const auto module = ImportOnnx(bytes, nullptr);
    EXPECT_TRUE(module.ok()) << module.status().message();
  }
}

TEST(DamageTest, DamagedModelsAreImportedOrRefused) {
  const int rounds = testing::LongOrShort(7000, 3000);
  std::mt19937 random(1);
  int imported = 0;
  int refused = 0;
  for (const std::string& bytes : Models()) {
    for (int round = 0; round < rounds; ++round) {
      auto damaged = std::make_shared<std::string>(bytes);
      for (uint32_t k = 0; k <= random() % 3; ++k) {
        const size_t at = random() % damaged->size();
        switch (random() % 4) {
          case 0:
            (*damaged)[at] = static_cast<char>(random());
            break;
          case 1:
            (*damaged)[at] =
                static_cast<char>((*damaged)[at] ^ 1 << random() % 8);
            break;
          case 2:
            damaged->erase(at, 1 + random() % 4);
            break;
          default:
            damaged->insert(
                at, damaged->substr(random() % damaged->size(), random() % 8));
            break;
        }
        if (damaged->empty()) break;
      }
      ++(ImportOnnx(*damaged, damaged).ok() ? imported : refused);
    }
  }
  EXPECT_GT(imported, 100);
  EXPECT_GT(refused, 100);
}

std::string Refusal(const std::string& graph) {
  const auto module = ImportOnnx(Bytes(graph), nullptr);
  return module.ok() ? "imported" : std::string(module.status().message());
}

TEST(DamageTest, HostileNumbersAreRefused) {
  // The matrix of a transform would have more elements than a number can say.
  EXPECT_THAT(
      Refusal("node { op_type: 'DFT' input: 'big' output: 'y' }"
              "input { name: 'big' type { tensor_type { elem_type: 1 shape {"
              "  dim { dim_value: 1 } dim { dim_value: 4294967296 }"
              "  dim { dim_value: 1 } } } } }"),
      HasSubstr("the transform is too long"));
  // An axis that the data does not have.
  EXPECT_THAT(
      Refusal("node { op_type: 'LRN' input: 'v' output: 'y'"
              "  attribute { name: 'size' type: INT i: 3 } }"
              "input { name: 'v' type { tensor_type { elem_type: 1 shape {"
              "  dim { dim_value: 4 } } } } }"),
      HasSubstr("data without channels"));
  // Steps from far outside of the data to its edge.
  EXPECT_THAT(
      Refusal("node { op_type: 'MaxPool' input: 'x' output: 'y' output: 'i'"
              "  attribute { name: 'kernel_shape' type: INTS"
              "    ints: [1000000000000, 1] }"
              "  attribute { name: 'pads' type: INTS"
              "    ints: [1000000000000, 0, 1000000000000, 0] } }"),
      HasSubstr("is not supported for such large windows"));
}

TEST(DamageTest, EmptyOptionalsAreNoResultsOfRounds) {
  EXPECT_THAT(
      Refusal("node { op_type: 'Scan' input: 'x' output: 'y' attribute {"
              "  name: 'num_scan_inputs' type: INT i: 1 } attribute {"
              "  name: 'body' type: GRAPH g {"
              "    node { op_type: 'Optional' output: 'o' }"
              "    input { name: 'e' } output { name: 'o' } } } }"),
      HasSubstr("empty optional"));
}

TEST(DamageTest, FunctionsThatUnfoldWithoutEndAreRefused) {
  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(
      Bytes("node { op_type: 'F0' domain: 'f' input: 'x' output: 'y' }")));
  ::onnx::OperatorSetIdProto opset;
  opset.set_domain("f");
  opset.set_version(1);
  *model.add_opset_import() = opset;
  ::onnx::OperatorSetIdProto own;
  own.set_version(17);
  // Each calls the next one twice.
  constexpr int kDepth = 40;
  for (int i = 0; i < kDepth; ++i) {
    ::onnx::FunctionProto* function = model.add_functions();
    function->set_name(absl::StrCat("F", i));
    function->set_domain("f");
    function->add_input("a");
    function->add_output("c");
    *function->add_opset_import() = opset;
    *function->add_opset_import() = own;
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"a", "b"},
                                                          {"b", "c"}}) {
      ::onnx::NodeProto* node = function->add_node();
      const bool is_last = i + 1 == kDepth;
      node->set_domain(is_last ? "" : "f");
      node->set_op_type(is_last ? "Relu" : absl::StrCat("F", i + 1));
      node->add_input(from);
      node->add_output(to);
    }
  }
  EXPECT_THAT(
      ImportOnnx(model.SerializeAsString(), nullptr).status(),
      StatusIs(absl::StatusCode::kUnimplemented, "unfold to more than"));
}

}  // namespace
}  // namespace baton
