// OptOutput: the results of baton-opt, in all formats.

#ifndef BATON_TOOLS_OPT_OUTPUT_H_
#define BATON_TOOLS_OPT_OUTPUT_H_

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/tools/input.h"
#include "baton/tools/opt.h"

namespace baton {

// The format of the result: --emit, or the format of the extension of --output.
std::string EmitOf(const OptOptions& options);

// Collects results, and writes them at the end: an error leaves files as they
// were.
class OptOutput {
 public:
  // An error if the format cannot hold `num_modules` modules of `name`.
  static absl::StatusOr<OptOutput> Create(const OptOptions& options,
                                          size_t num_modules,
                                          const std::string& name);

  // Adds the result of the next module.
  absl::Status Add(const IRModule& module);

  // True if --artifacts is given and no module has any.
  bool lacks_artifacts() const;

  // The files that --artifacts asks for.
  std::vector<std::string> ArtifactFiles() const;

  // Writes artifacts and results; those without a file go to `out`.
  absl::Status Write(std::ostream& out) const;

 private:
  explicit OptOutput(const OptOptions& options)
      : options_(options), emit_(EmitOf(options)) {}

  // True if the format is that of a registered writer.
  bool is_written() const {
    return emit_ == "onnx" || emit_ == "executable" || emit_ == "llvm";
  }

  // The folder for the artifacts of the i-th module.
  std::string ArtifactFolder(size_t i) const;

  const OptOptions& options_;
  std::string emit_;
  bool is_first_ = true;
  std::string text_;
  BinaryModule binary_;
  ModuleWriter::Output written_;
  std::vector<std::vector<relay::Artifact>> artifacts_;  // by module
};

}  // namespace baton

#endif  // BATON_TOOLS_OPT_OUTPUT_H_
