// baton-compile: makes a C++ library of a model.

#include <iostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/tools/command_line.h"
#include "baton/tools/compile.h"
#include "baton/tools/tool_main.h"

namespace baton {
namespace {

constexpr char kUsage[] =
    "Makes a C++ library of a model: sources that include <cstddef> and "
    "<cstdint>,\nand its weights as an object.\n\n"
    "  baton-compile MODEL [flags]    MODEL: a text, .baton or .onnx file\n\n";

absl::Status Main(const std::vector<absl::string_view>& args) {
  LibraryOptions options;
  BATON_ASSIGN_OR_RETURN(
      const ParsedCommandLine line,
      ReadCommandLine("baton-compile", kUsage, args, std::cout, &options));
  if (line.is_answered) return absl::OkStatus();
  BATON_RETURN_IF_ERROR(CheckNumArguments(line.arguments, 1));
  if (line.arguments.empty()) {
    return absl::InvalidArgumentError(
        "nothing to do: give a model (see --help)");
  }
  options.model = line.arguments[0];
  return CompileLibrary(options, std::cout, &std::cerr);
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  return baton::RunTool("baton-compile", [argc, argv] {
    const absl::Status status =
        baton::Main({argv + (argc > 0 ? 1 : 0), argv + argc});
    if (status.ok()) return 0;
    std::cerr << "baton-compile: " << baton::PrintableLines(status.message())
              << "\n";
    return 1;
  });
}
