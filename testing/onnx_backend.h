// Runs cases in the layout of ONNX's backend tests: a folder with model.onnx,
// and in test_data_set_0, test_data_set_1 ... the files input_N.pb and
// output_N.pb.

#ifndef BATON_TESTING_ONNX_BACKEND_H_
#define BATON_TESTING_ONNX_BACKEND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace baton {

struct OnnxCase {
  // The path of its folder, and the last part of it.
  std::string path;
  std::string name;
  // The folder of external data; empty if there is none.
  std::string data_folder;
  // By the paths in the folder: model.onnx, test_data_set_0/input_0.pb.
  std::map<std::string, std::shared_ptr<const std::string>> files;
};

// The case in a folder with model.onnx, or the cases in the folders of another
// one; sorted by their paths.
absl::StatusOr<std::vector<OnnxCase>> ReadOnnxCases(const std::string& folder);

// The cases in folders of an archive of tar.
absl::StatusOr<std::vector<OnnxCase>> ReadOnnxCases(
    const std::string& archive, const std::vector<std::string>& folders);

// The outcome of a case.
enum class OnnxOutcome {
  kPass,
  kUnsupported,  // the importer or the exporter reports that it does not
                 // support the model
  kWrong,        // any other error, or a wrong result
};

// The result of RunOnnxCase.
struct OnnxCaseResult {
  OnnxOutcome outcome = OnnxOutcome::kPass;
  // The reason, unless the case passes.
  std::string message;
  // The inputs whose values were needed when the model was imported.
  std::vector<std::string> known_inputs;
  // The model that OnnxCaseOptions::round_trip exported.
  std::string written;
};

struct OnnxCaseOptions {
  double rtol = 1e-3;
  double atol = 1e-7;
  // A pipeline to run at level 3 before the evaluation.
  std::string passes;
  // If true, exports the module to ONNX and imports it again before the
  // evaluation.
  bool round_trip = false;
  // If true, dimensions that the model does not specify stay unknown. If false
  // and the model is not supported, imports it again with the shapes of the
  // inputs.
  bool keep_dimensions = false;
  // The version of ONNX's operators to export.
  int opset = 17;
};

// Imports the model, infers types, evaluates it, and compares the results.
OnnxCaseResult RunOnnxCase(const OnnxCase& test,
                           const OnnxCaseOptions& options = {});

}  // namespace baton

#endif  // BATON_TESTING_ONNX_BACKEND_H_
