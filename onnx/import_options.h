// Options of the import of ONNX models.

#ifndef BATON_ONNX_IMPORT_OPTIONS_H_
#define BATON_ONNX_IMPORT_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"

namespace baton {

// The parts of OnnxImportOptions::values_at_hand that the import used.
struct OnnxValuesUsed {
  // Inputs that became constants, and inputs of which only the shape was taken:
  // by name, in the order of the model.
  std::vector<std::string> values;
  std::vector<std::string> shapes;
  // The names of the dimensions of each parameter of `main` in the model, empty
  // where there is none, also of parameters whose shapes were taken.
  std::vector<std::vector<std::string>> dims;
};

struct OnnxImportOptions {
  // The name of the model in messages.
  std::string name = "model.onnx";
  // The folder of the model, with its external data. If empty, there is none.
  std::string folder;
  // The target of links: if the model's file in `folder` is a link, the folder
  // of the final file. Links to external data may lead there as well.
  std::string target_folder;
  // True if the bytes are a mapped file: pages are released when their data has
  // been copied.
  bool is_mapped = false;
  // Receives the paths of the files of external data that are read, unless null;
  // a path may be there several times.
  std::vector<std::string>* external_files = nullptr;
  // Shapes of inputs, by name, which replace those of the model; a negative
  // number leaves a dimension unknown.
  FlatHashMap<std::string, std::vector<int64_t>> input_shapes;
  // Sizes of dimensions with names, in all inputs without an entry in
  // `input_shapes`. A name may be a formula of these, as `past + 1` is
  // (dim_names.h). A name that no input has is an error.
  FlatHashMap<std::string, int64_t> dims;
  // Inputs that become constants, by name, for example inputs on which shapes
  // or branches depend. Element type and shape must agree with the model.
  FlatHashMap<std::string, Tensor> input_values;
  // Values that inputs are going to have, by name. An input on which the graph
  // depends (axes, shapes, conditions) becomes a constant if the import fails
  // otherwise; of other inputs at most the shape is taken. A value that differs
  // from that of `input_values` is an error.
  FlatHashMap<std::string, Tensor> values_at_hand;
  // The values that inputs which are sequences or optionals are going to have,
  // by name. The import uses only the types of their tensors. A sequence
  // becomes a parameter for each tensor, NAME_0, NAME_1, ... An optional
  // becomes the parameter of its tensor, or those of its sequence; one without
  // a value becomes no parameter.
  struct Parts {
    std::vector<Tensor> tensors;
    bool is_sequence = false;  // an optional of a sequence that has a value
  };
  FlatHashMap<std::string, Parts> parts_at_hand;
  // If true, takes the shapes of all values at hand whose inputs have unknown
  // dimensions, whether the import needs them or not: for a module that runs
  // with these shapes only. If all shapes are constant then, small lists of
  // integers and of bools become constants, too. A value that does not fit the
  // model's shape is an error.
  bool takes_all_shapes = false;
  // Is set to what was taken, unless null.
  OnnxValuesUsed* used = nullptr;
  // If true, products with a constant matrix become nn.matmul, which takes it
  // as it is, not nn.dense of its transpose: for a module that runs, where the
  // transpose would take as much memory again.
  bool keeps_weights = false;
};

}  // namespace baton

#endif  // BATON_ONNX_IMPORT_OPTIONS_H_
