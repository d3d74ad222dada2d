#include "baton/testing/external_data.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/onnx/export.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "gtest/gtest.h"

namespace baton::testing {

std::string WriteModelWithData(const std::string& folder,
                               const std::string& data) {
  constexpr int kElements = 320;
  const std::string model = folder + "/model.onnx";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::vector<float> values(kElements, 0.5F);
  const absl::StatusOr<Tensor> weight =
      Tensor::FromValues<float>({kElements}, values);
  EXPECT_TRUE(weight.ok()) << weight.status();
  if (!weight.ok()) return model;
  const relay::Var x("x", {kElements});
  const absl::StatusOr<IRModule> module =
      relay::InferTypes(relay::ModuleFromExpr(
          relay::Function({x}, relay::Add(x, relay::Constant(*weight)))));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return model;
  const auto written = ExportOnnx(*module, {.external_data = data});
  EXPECT_TRUE(written.ok()) << written.status();
  if (!written.ok()) return model;
  const auto write = [](const std::string& path,
                        absl::Span<const absl::string_view> pieces) {
    std::ofstream file(path, std::ios::binary);
    for (const absl::string_view piece : pieces) file << piece;
  };
  write(model, written->pieces());
  write(folder + "/" + data, written->external_pieces());
  return model;
}

}  // namespace baton::testing
