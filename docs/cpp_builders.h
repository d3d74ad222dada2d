// Finds, in the sources, the C++ functions that build calls of each operator.

#ifndef BATON_DOCS_CPP_BUILDERS_H_
#define BATON_DOCS_CPP_BUILDERS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace baton::docs {

// A source file in a folder of operators.
struct OpSource {
  std::string path;  // relay/op/tensor/elementwise.cc
  std::string text;
  std::string header;  // the text of the header of the same name
};

// A function that builds calls of an operator.
struct OpBuilder {
  std::string name;    // nn::Conv2D, in namespace baton::relay
  std::string header;  // baton/relay/op/nn/conv.h
  std::string target;  // //relay/op/nn:conv
};

// The builders of each operator, by the name of the operator. A builder is a
// function that returns an Expr, that a header declares, and that names the
// operator with BATON_OP, directly or through a function of the same file that
// the header does not declare.
std::map<std::string, std::vector<OpBuilder>> FindBuilders(
    absl::Span<const OpSource> sources);

}  // namespace baton::docs

#endif  // BATON_DOCS_CPP_BUILDERS_H_
