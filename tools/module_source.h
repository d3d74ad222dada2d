// Reads the modules that a command line names: files of all formats, standard
// input, built-in workloads.

#ifndef BATON_TOOLS_MODULE_SOURCE_H_
#define BATON_TOOLS_MODULE_SOURCE_H_

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/tools/files.h"
#include "baton/tools/input.h"

namespace baton {

// A file, and the flags that say how to read it.
struct ModuleSource {
  FileContent content;
  std::string name;          // for messages
  std::string path;          // empty for standard input
  std::string input_shapes;  // --input_shapes
  std::string input_values;  // --input_values
  // The sizes of symbolic dimensions, by name; only for ONNX files.
  std::map<std::string, int64_t> dims;
  bool split = false;  // --split_input_file
  // Tensors whose values and shapes the import of an ONNX model may use; the
  // import records those that it used. May be null.
  TensorsAtHand* at_hand = nullptr;
  bool keeps_weights = false;  // OnnxImportOptions::keeps_weights
  // Receives the names of the dimensions of each parameter of `main`. May be
  // null.
  std::vector<std::vector<std::string>>* param_dims = nullptr;
};

// Reads the file `path`, or `in` if it is `-`. The error for a file that does
// not exist suggests similar files and workloads.
absl::StatusOr<ModuleSource> OpenModule(const std::string& path,
                                        std::istream& in);

struct ModulesRead {
  std::vector<InputModule> modules;
  // The comments at the beginning, which may be the head of a reproducer
  // (reproducer.h).
  std::string head;
  // The paths of further files that were read, such as the external data of an
  // ONNX file.
  std::vector<std::string> further_files;
};

// Reads the modules of `source`. Adds errors in syntax and types of a text to
// `diagnostics`. Other errors: the format is not supported; a flag does not
// suit the format.
absl::StatusOr<ModulesRead> ReadModules(const ModuleSource& source,
                                        Diagnostics& diagnostics);

// A workload: `resnet{num_layers=18}`. If `bind_params`, its weights are
// constants.
absl::StatusOr<IRModule> MakeWorkload(const std::string& spec,
                                      bool bind_params);

// Gives the parameters of `main` these shapes, by name, as --input_shapes does;
// a negative number is an unknown dimension. Types that were inferred from
// other shapes are dropped. The error of an unknown name suggests similar ones;
// it is also an error if the types of the result contradict each other.
absl::StatusOr<IRModule> WithInputShapes(
    const IRModule& module,
    const std::map<std::string, std::vector<int64_t>>& shapes);

}  // namespace baton

#endif  // BATON_TOOLS_MODULE_SOURCE_H_
