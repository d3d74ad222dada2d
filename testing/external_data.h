// Writes an ONNX model with external data.

#ifndef BATON_TESTING_EXTERNAL_DATA_H_
#define BATON_TESTING_EXTERNAL_DATA_H_

#include <string>

namespace baton::testing {

// Makes a new folder, in place of one that is there, with the file model.onnx:
// the sum of an input and 320 floats, which are in the file `data` of the
// folder. Returns the path of the model. A failure fails the test.
std::string WriteModelWithData(const std::string& folder,
                               const std::string& data);

}  // namespace baton::testing

#endif  // BATON_TESTING_EXTERNAL_DATA_H_
