// ONNX in.

#ifndef BATON_ONNX_IMPORT_H_
#define BATON_ONNX_IMPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"

namespace baton {

// Says what the import took of OnnxImportOptions::values_at_hand.
struct OnnxValuesUsed {
  // Inputs that became constants, and inputs of which only the shape was taken:
  // by name, in the order of the model.
  std::vector<std::string> values;
  std::vector<std::string> shapes;
};

struct OnnxImportOptions {
  // What messages call the model.
  std::string name = "model.onnx";
  // The model's folder: its external data is there. Empty: there is none.
  std::string folder;
  // The folder of the file that the model is if `folder` has a link to it, all
  // links followed: links to external data may lead there as well.
  std::string target_folder;
  // Whether the bytes are a mapped file: pages are let go when their data has
  // been copied.
  bool is_mapped = false;
  // Shapes of inputs, by name, in place of those that the model says; a number
  // below zero leaves a dimension unknown.
  FlatHashMap<std::string, std::vector<int64_t>> input_shapes;
  // Inputs that become constants, by name, such as those on which shapes or
  // branches depend: of the element type and a shape that the model says.
  FlatHashMap<std::string, Tensor> input_values;
  // Values that inputs are going to have, by name. An input on which the graph
  // depends (axes, shapes, conditions) becomes a constant if the import fails
  // otherwise; of other inputs at most the shape is taken. A value that differs
  // from that of `input_values` is an error.
  FlatHashMap<std::string, Tensor> values_at_hand;
  // Is set to what was taken, unless null.
  OnnxValuesUsed* used = nullptr;
};

// The model in `bytes`, which `owner` keeps alive; where the constants' data is
// aligned, it is used in place.
//
// `main` has a parameter for each input that is no initializer, in order, and
// returns the output, or a tuple of several. It is typed. Every expression has
// the place of its ONNX node: the node's name in a listing of the graph, one
// node a line. A dimension with a name is a symbolic one, a dimension
// without anything is unknown. Shapes that are computed from known shapes are
// constants.
//
// Errors: InvalidArgument for what is no valid model, with a place where there
// is one; Unimplemented for operators that have no converter, all of them in
// one message, and for what a converter does not support.
absl::StatusOr<IRModule> ImportOnnx(absl::string_view bytes,
                                    std::shared_ptr<const void> owner,
                                    const OnnxImportOptions& options = {});

}  // namespace baton

#endif  // BATON_ONNX_IMPORT_H_
