// GenerateCode: generates code of functions for external compilers with the
// registered code generators (relay/runtime/code_generator.h).

#ifndef BATON_RELAY_TRANSFORM_GENERATE_CODE_H_
#define BATON_RELAY_TRANSFORM_GENERATE_CODE_H_

#include <string>
#include <vector>

#include "baton/transform/pass.h"

namespace baton::relay {

struct GenerateCodeOptions {
  std::vector<std::string> compilers;

  template <typename V>
  static void VisitFields(V& v) {
    v("compilers", &GenerateCodeOptions::compilers,
      "Names of the compilers whose functions get code; all if empty.");
  }
};

// A module pass of level 0, which requires InferType. Stores the code in the
// attributes `artifact_name` and `artifact` of the functions. Errors name the
// function: those of GenerateCodeOf and ArtifactsOf; more code than the setting
// `relay.GenerateCode.max_bytes` allows.
Pass GenerateCode(GenerateCodeOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_GENERATE_CODE_H_
