// Cases in the layout of ONNX's backend tests: a folder with model.onnx, and in
// test_data_set_0, test_data_set_1 ... the files input_N.pb and output_N.pb.

#ifndef BATON_TESTING_ONNX_BACKEND_H_
#define BATON_TESTING_ONNX_BACKEND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace baton {

enum class OnnxOutcome {
  kPass,
  kUnsupported,  // the importer or the exporter says that it does not
                 // support the model
  kWrong,        // anything else: an error, another result
};

struct OnnxCaseResult {
  OnnxOutcome outcome = OnnxOutcome::kPass;
  // Why, unless it passes.
  std::string message;
  // The inputs that had to be known when the model was imported.
  std::vector<std::string> known_inputs;
  // The model that OnnxCaseOptions::round_trip wrote.
  std::string written;
};

struct OnnxCaseOptions {
  double rtol = 1e-3;
  double atol = 1e-7;
  // A pipeline that is run at level 3 before the model is evaluated.
  std::string passes;
  // Whether the module is written as ONNX and read again before that is done.
  bool round_trip = false;
  // Whether dimensions that the model does not know stay so. Else it is
  // imported again with the shapes of the inputs if it is not supported.
  bool keep_dimensions = false;
  // The version of ONNX's operators that is written.
  int opset = 17;
};

// Imports, infers, evaluates and compares.
OnnxCaseResult RunOnnxCase(const std::string& folder,
                           const OnnxCaseOptions& options = {});

}  // namespace baton

#endif  // BATON_TESTING_ONNX_BACKEND_H_
