// ONNX files as input of the tools.

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/onnx/import.h"
#include "baton/tools/input.h"

namespace baton {
namespace {

absl::StatusOr<IRModule> ReadOnnx(const ModuleReader::Input& input) {
  OnnxImportOptions options;
  options.name = input.name;
  options.folder = input.folder;
  for (const auto& [name, shape] : input.input_shapes) {
    options.input_shapes.emplace(name, shape);
  }
  return ImportOnnx(input.content.bytes, input.content.owner, options);
}

[[maybe_unused]] const bool registered =
    ModuleReaders().Register("onnx", {.read = ReadOnnx});

}  // namespace
}  // namespace baton
