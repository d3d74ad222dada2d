// ONNX files as input and output of the tools.

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/onnx/export.h"
#include "baton/onnx/graph.h"
#include "baton/onnx/import.h"
#include "baton/tools/input.h"

namespace baton {
namespace {

absl::StatusOr<IRModule> ReadOnnx(const ModuleReader::Input& input) {
  OnnxImportOptions options;
  options.name = input.name;
  if (!input.path.empty()) {
    namespace fs = std::filesystem;
    // The current folder is not "", which stands for none.
    const fs::path folder = fs::path(input.path).parent_path();
    options.folder = folder.empty() ? "." : folder.string();
    std::error_code error;
    const fs::path target = fs::canonical(input.path, error);
    if (!error) options.target_folder = target.parent_path().string();
  }
  options.is_mapped = input.content.is_mapped;
  for (const auto& [name, shape] : input.input_shapes) {
    options.input_shapes.emplace(name, shape);
  }
  return ImportOnnx(input.content.bytes, input.content.owner, options);
}

absl::StatusOr<ModuleWriter::Output> WriteOnnx(
    const IRModule& module, const ModuleWriter::Options& options) {
  BATON_ASSIGN_OR_RETURN(
      onnx::OnnxModel model,
      ExportOnnx(module, {.opset = options.onnx_opset,
                          .external_data = options.external_data}));
  const auto owner = std::make_shared<onnx::OnnxModel>(std::move(model));
  return ModuleWriter::Output{owner, owner->pieces(), owner->external_pieces()};
}

[[maybe_unused]] const bool registered =
    ModuleReaders().Register("onnx", {.read = ReadOnnx}) &&
    ModuleWriters().Register("onnx", {.write = WriteOnnx});

}  // namespace
}  // namespace baton
