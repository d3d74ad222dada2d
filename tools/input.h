// Modules from the text that a tool is given.

#ifndef BATON_TOOLS_INPUT_H_
#define BATON_TOOLS_INPUT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"

namespace baton {

// The line that separates modules, in input and in output.
inline constexpr absl::string_view kModuleSeparator = "// -----";

struct InputModule {
  IRModule module;  // as written: without the types that inference finds
  int line = 1;     // of the input, where the module's text begins
};

// Reads a module, or with `split` one from each stretch of text between lines
// that are kModuleSeparator. What is wrong with the syntax or the types of any
// of them goes to `diagnostics`, with the line numbers of the whole; `name` is
// the text's name there. A function that refers to one with an error in it is
// not checked for types.
std::vector<InputModule> ParseModules(std::string text, const std::string& name,
                                      bool split, Diagnostics& diagnostics);

enum class InputFormat { kText, kBinary };

// The format of what was read from `name`: binary if the name ends in `.baton`
// or there is a NUL near the beginning.
InputFormat FormatOf(absl::string_view content, absl::string_view name);

}  // namespace baton

#endif  // BATON_TOOLS_INPUT_H_
