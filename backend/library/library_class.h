// The class of a compiled model, as `--cpp_class` names it.

#ifndef BATON_BACKEND_LIBRARY_LIBRARY_CLASS_H_
#define BATON_BACKEND_LIBRARY_LIBRARY_CLASS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace baton {

// The namespaces and the name of a class.
struct ClassName {
  std::vector<std::string> namespaces;
  std::string name;
};

// Parses `acme::Mlp`. An error, which names the flag, if a part is no
// identifier, or if the header of the model or the library of C has the name.
absl::StatusOr<ClassName> ParseClass(const std::string& text);

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_LIBRARY_CLASS_H_
