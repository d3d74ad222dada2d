// Modules from the file that a tool is given, and formats of other libraries.

#ifndef BATON_TOOLS_INPUT_H_
#define BATON_TOOLS_INPUT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/registry.h"
#include "baton/base/source.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/tools/files.h"
#include "baton/tools/npy.h"

namespace baton {

// The line that separates modules, in input and in output.
inline constexpr absl::string_view kModuleSeparator = "// -----";

struct InputModule {
  IRModule module;  // as written: text has no types that inference finds
  int line = 1;     // of the input, where the module's text begins
};

// The text, or with `split` each stretch of it between lines that are
// kModuleSeparator, with line numbers of the whole.
std::vector<std::shared_ptr<const Source>> SourcesOf(std::string text,
                                                     const std::string& name,
                                                     bool split);

// Reads the module of one. Errors in syntax and types go to `diagnostics`.
InputModule ParseInput(const std::shared_ptr<const Source>& source,
                       Diagnostics& diagnostics);

// Reads a module, or with `split` one from each stretch of text between lines
// that are kModuleSeparator. Errors in syntax and types go to `diagnostics`,
// with line numbers of the whole text, which they call `name`. A function that
// refers to one with an error in it is not checked for types.
std::vector<InputModule> ParseModules(std::string text, const std::string& name,
                                      bool split, Diagnostics& diagnostics);

enum class InputFormat { kText, kBinary, kOnnx };

// The format of what was read from `name`: binary if it begins as binary files
// do or has a NUL near the beginning; so is an empty file whose name ends in
// `.baton`. ONNX if it begins with the version of ONNX's IR, as all writers
// write it, or if the name ends in `.onnx`.
InputFormat FormatOf(absl::string_view content, absl::string_view name);

// What is to be the value of an input.
struct InputValue {
  std::vector<int64_t> shape;  // of rank 0 or 1
  std::vector<double> elements;
};

// Tensors that a model is going to be run with.
struct TensorsAtHand {
  // By the names of the inputs, or in their order.
  NamedTensors tensors;

  // The reader sets these: the inputs whose values it took, and those whose
  // shapes it took.
  std::vector<std::string> values_used = {};
  std::vector<std::string> shapes_used = {};
};

// Reads modules of a format that a library knows.
struct ModuleReader {
  struct Input {
    FileContent content;
    std::string name;  // for messages
    std::string path;  // of the file; empty if it is none
    // Shapes of inputs, by name, as `--input_shapes` gives them; a number below
    // zero is a dimension that is not known.
    std::map<std::string, std::vector<int64_t>> input_shapes;
    // Inputs that become constants, by name: `--input_values`.
    std::map<std::string, InputValue> input_values;
    // What the module may depend on, or null. The reader names the tensors.
    TensorsAtHand* at_hand = nullptr;
  };
  absl::StatusOr<IRModule> (*read)(const Input& input) = nullptr;
};

// By format: "onnx".
Registry<ModuleReader>& ModuleReaders();

// What a file is that is none of these, by its first bytes: "a zip archive".
// Empty if they do not tell.
absl::string_view ForeignKindOf(absl::string_view content);

// Writes modules in a format that a library knows.
struct ModuleWriter {
  struct Options {
    int onnx_opset = 17;
    // The name of the file beside the output where large tensors go; empty:
    // into the output.
    std::string external_data;
  };
  // The content of files, in pieces that live as long as `owner`.
  struct Output {
    std::shared_ptr<const void> owner;
    absl::Span<const absl::string_view> pieces;
    absl::Span<const absl::string_view> external_pieces;
  };
  absl::StatusOr<Output> (*write)(const IRModule& module,
                                  const Options& options) = nullptr;
};

// By format: "onnx".
Registry<ModuleWriter>& ModuleWriters();

// `x:[1,3,224,224],y:[1]`.
absl::StatusOr<std::map<std::string, std::vector<int64_t>>> ParseInputShapes(
    absl::string_view text);

// `rate:16000,sizes:[2,3]`.
absl::StatusOr<std::map<std::string, InputValue>> ParseInputValues(
    absl::string_view text);

// The module in a binary file, after the checks that it is well-formed and that
// its types, if it has any, are those that inference finds.
absl::StatusOr<BinaryContent> ReadBinaryModule(const FileContent& content,
                                               absl::string_view name);

}  // namespace baton

#endif  // BATON_TOOLS_INPUT_H_
