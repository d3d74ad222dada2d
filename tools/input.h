// Reads and writes modules in files, in all formats.

#ifndef BATON_TOOLS_INPUT_H_
#define BATON_TOOLS_INPUT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/registry.h"
#include "baton/base/source.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/files.h"

namespace baton {

// The line that separates modules, in input and in output.
inline constexpr absl::string_view kModuleSeparator = "// -----";

// One module of an input.
struct InputModule {
  IRModule module;  // as written: text has no inferred types
  int line = 1;     // of the input, at the beginning of the module
};

// Splits `text` at lines that are kModuleSeparator, if `split`; otherwise
// returns one source. Line numbers are those of the whole text.
std::vector<std::shared_ptr<const Source>> SourcesOf(std::string text,
                                                     const std::string& name,
                                                     bool split);

// Parses the module of one source. Adds errors in syntax and types to
// `diagnostics`.
InputModule ParseInput(const std::shared_ptr<const Source>& source,
                       Diagnostics& diagnostics);

// Parses a module, or if `split` one from each part of the text between lines
// that are kModuleSeparator. Adds errors in syntax and types to `diagnostics`,
// with line numbers of the whole text, which messages name `name`. A function
// that refers to one with an error is not type-checked.
std::vector<InputModule> ParseModules(std::string text, const std::string& name,
                                      bool split, Diagnostics& diagnostics);

enum class InputFormat { kText, kBinary, kOnnx };

// The format of `content`, read from `name`. Binary: it begins like a binary
// file or has a NUL near the beginning behind bytes that are no text, or it is
// empty and the name ends in `.baton`. ONNX: it begins with the version of
// ONNX's IR, as all writers write it, or the name ends in `.onnx`.
InputFormat FormatOf(absl::string_view content, absl::string_view name);

// The value for an input of a model.
struct InputValue {
  std::vector<int64_t> shape;  // of rank 0 or 1
  // Integers as they are written: not all are doubles.
  std::vector<std::variant<int64_t, double>> elements;
};

// Tensors with which a model will run, so that its import may use their values
// and shapes.
struct TensorsAtHand {
  // By the names of the inputs, or in their order.
  NamedTensors tensors;
  // The number of tensors of each input, in order, if the files say which
  // tensors make up one input (a sequence or an optional).
  std::vector<TensorPart> parts = {};
  // Inputs that are outputs of the previous run (--state). If there are fewer
  // tensors than inputs, these inputs have none.
  std::vector<std::string> kept = {};
  // The module runs with the shapes of these tensors only: see
  // OnnxImportOptions::takes_all_shapes.
  bool takes_all_shapes = false;

  // The reader sets these: the inputs whose values it took, and those whose
  // shapes it took.
  std::vector<std::string> values_used = {};
  std::vector<std::string> shapes_used = {};
};

// Reads modules of a format that a library registers.
struct ModuleReader {
  struct Input {
    FileContent content;
    std::string name;  // for messages
    std::string path;  // empty if the content is not from a file
    // Shapes of inputs, by name, from `--input_shapes`; a negative number is an
    // unknown dimension.
    std::map<std::string, std::vector<int64_t>> input_shapes;
    // The sizes of symbolic dimensions, by name.
    std::map<std::string, int64_t> dims;
    // Inputs that become constants, by name: `--input_values`.
    std::map<std::string, InputValue> input_values;
    // Tensors whose values and shapes the import may use, or null. The reader
    // records which of them it used.
    TensorsAtHand* at_hand = nullptr;
    // OnnxImportOptions::keeps_weights.
    bool keeps_weights = false;
    // Is set to the names that the file has for the dimensions of the
    // parameters of main (OnnxValuesUsed::dims), unless null.
    std::vector<std::vector<std::string>>* param_dims = nullptr;
    // Receives the paths of further files that are read, such as external data,
    // unless null.
    std::vector<std::string>* further_files = nullptr;
  };
  absl::StatusOr<IRModule> (*read)(const Input& input) = nullptr;
};

// The readers by format: "onnx".
Registry<ModuleReader>& ModuleReaders();

// The kind of a file in an unsupported format, by its first bytes: "a zip
// archive". Empty if it is not recognized.
absl::string_view ForeignKindOf(absl::string_view content);

// Writes modules in a format that a library registers.
struct ModuleWriter {
  struct Options {
    int onnx_opset = 17;
    // The name of the file beside the output for large tensors; if empty, they
    // are in the output.
    std::string external_data;
    // For LLVM: the target of functions that have none, such as
    // `llvm -mcpu=haswell`, and whether instructions have places.
    std::string llvm_target;
    bool line_table = false;
    // For executables: the file with the table of the costs of kernels; empty
    // for the built-in table.
    std::string kernel_costs;
  };
  // The content of files, in pieces that are valid as long as `owner`.
  struct Output {
    std::shared_ptr<const void> owner;
    absl::Span<const absl::string_view> pieces;
    absl::Span<const absl::string_view> external_pieces;
  };
  absl::StatusOr<Output> (*write)(const IRModule& module,
                                  const Options& options) = nullptr;
};

// The writers by format: "onnx", "llvm".
Registry<ModuleWriter>& ModuleWriters();

// Parses `x:[1,3,224,224],y:[1]`.
absl::StatusOr<std::map<std::string, std::vector<int64_t>>> ParseInputShapes(
    absl::string_view text);

// Parses `rate:16000,sizes:[2,3]`.
absl::StatusOr<std::map<std::string, InputValue>> ParseInputValues(
    absl::string_view text);

// Reads the module in a binary file. Checks that it is well-formed and that its
// types, if it has any, are those that inference finds.
absl::StatusOr<BinaryContent> ReadBinaryModule(const FileContent& content,
                                               absl::string_view name);

}  // namespace baton

#endif  // BATON_TOOLS_INPUT_H_
