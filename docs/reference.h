// Reference pages, made from what is registered in this binary.
//
// All are Markdown with a section for each thing, sorted by name.

#ifndef BATON_DOCS_REFERENCE_H_
#define BATON_DOCS_REFERENCE_H_

#include <map>
#include <string>
#include <vector>

#include "baton/docs/builders.h"
#include "baton/transform/pass_registry.h"

namespace baton::docs {

// Passes: level, required passes, options, promises.
std::string PassReference(
    const PassRegistry& registry = PassRegistry::Global());

// Named pipelines: what is in them, and why.
std::string PipelineReference();

// Operators: arguments, attributes, what passes know of them, and the C++
// functions that build calls of them.
std::string OperatorReference(
    const std::map<std::string, std::vector<OpBuilder>>& builders = {});

// What else has options: settings of a PassContext, lists of passes in a
// pipeline's text, workloads.
std::string OptionReference();

}  // namespace baton::docs

#endif  // BATON_DOCS_REFERENCE_H_
