// Reference pages of the passes, pipelines, operators and options in this
// binary.
//
// Each page is Markdown with one section for each entry, sorted by name.

#ifndef BATON_DOCS_REFERENCE_H_
#define BATON_DOCS_REFERENCE_H_

#include <map>
#include <string>
#include <vector>

#include "baton/docs/cpp_builders.h"
#include "baton/transform/pass_registry.h"

namespace baton::docs {

// Passes: level, required passes, options, promises.
std::string PassReference(
    const PassRegistry& registry = PassRegistry::Global());

// Named pipelines: the passes of each pipeline, with reasons.
std::string PipelineReference();

// Operators: arguments, attributes, properties that passes use, and the C++
// functions that build calls of the operator.
std::string OperatorReference(
    const std::map<std::string, std::vector<OpBuilder>>& builders = {});

// Other options: settings of a PassContext, lists of passes in the text of a
// pipeline, workloads.
std::string OptionReference();

}  // namespace baton::docs

#endif  // BATON_DOCS_REFERENCE_H_
