#include "baton/tools/opt_output.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/tools/files.h"
#include "baton/tools/input.h"
#include "baton/tools/opt.h"

namespace baton {
namespace {

constexpr char kStandardStream[] = "-";

// The module in the format of a library.
absl::StatusOr<ModuleWriter::Output> WriteAs(const std::string& format,
                                             const IRModule& module,
                                             const OptOptions& options) {
  const ModuleWriter* writer = ModuleWriters().Find(format);
  if (writer == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("this program cannot write ", format));
  }
  ModuleWriter::Options write = {.onnx_opset = options.onnx_opset,
                                 .llvm_target = options.llvm_target,
                                 .line_table = options.line_table,
                                 .kernel_costs = options.kernel_costs};
  if (options.onnx_external_data) {
    if (options.output.empty() || options.output == kStandardStream) {
      return absl::InvalidArgumentError(
          "--onnx_external_data: needs --output=FILE");
    }
    write.external_data =
        std::filesystem::path(options.output).filename().string() + ".data";
  }
  return writer->write(module, write);
}

// Puts files into `folder`, which is made if it is not there.
absl::Status WriteArtifacts(const std::string& folder,
                            const std::vector<relay::Artifact>& artifacts) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("--artifacts=", folder, ": ", error.message()));
  }
  for (const relay::Artifact& artifact : artifacts) {
    BATON_RETURN_IF_ERROR(WriteFileAtomically(
        absl::StrCat(folder, "/", artifact.name), artifact.bytes));
  }
  return absl::OkStatus();
}

absl::Status Emit(const OptOptions& options,
                  absl::Span<const absl::string_view> pieces,
                  std::ostream& out) {
  if (!options.output.empty() && options.output != kStandardStream) {
    return WriteFileAtomically(options.output, pieces);
  }
  for (const absl::string_view piece : pieces) {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  }
  out << std::flush;
  return out ? absl::OkStatus()
             : absl::UnavailableError("cannot write to standard output");
}

}  // namespace

std::string EmitOf(const OptOptions& options) {
  const bool is_given = options.emit != "text" ||
                        std::find(options.given.begin(), options.given.end(),
                                  "emit") != options.given.end();
  if (is_given) return options.emit;
  return absl::EndsWith(options.output, ".onnx")    ? "onnx"
         : absl::EndsWith(options.output, ".baton") ? "binary"
         : absl::EndsWith(options.output, ".exe")   ? "executable"
         : absl::EndsWith(options.output, ".ll")    ? "llvm"
                                                    : "text";
}

absl::StatusOr<OptOutput> OptOutput::Create(const OptOptions& options,
                                            size_t num_modules,
                                            const std::string& name) {
  OptOutput output(options);
  if (num_modules > 1 && (output.emit_ == "binary" || output.is_written())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--emit=", output.emit_, ": ",
        output.emit_ == "onnx"     ? "an ONNX"
        : output.emit_ == "binary" ? "a binary"
        : output.emit_ == "llvm"   ? "an LLVM"
                                   : "an executable",
        " file holds one module, but there are ", num_modules, " in ", name));
  }
  return output;
}

absl::Status OptOutput::Add(const IRModule& module) {
  if (!options_.artifacts.empty()) {
    BATON_ASSIGN_OR_RETURN(artifacts_.emplace_back(),
                           relay::ArtifactsOf(module));
  }
  if (emit_ == "none") return absl::OkStatus();
  if (emit_ == "binary") {
    BATON_ASSIGN_OR_RETURN(binary_, WriteBinary(module));
    return absl::OkStatus();
  }
  if (is_written()) {
    BATON_ASSIGN_OR_RETURN(written_, WriteAs(emit_, module, options_));
    return absl::OkStatus();
  }
  if (!is_first_) absl::StrAppend(&text_, kModuleSeparator, "\n");
  is_first_ = false;
  text_ += AsText(module, {.metadata = emit_ == "text"});
  if (text_.empty() || text_.back() != '\n') text_ += '\n';
  return absl::OkStatus();
}

bool OptOutput::lacks_artifacts() const {
  return !options_.artifacts.empty() &&
         std::all_of(artifacts_.begin(), artifacts_.end(),
                     [](const auto& of_module) { return of_module.empty(); });
}

std::string OptOutput::ArtifactFolder(size_t i) const {
  return artifacts_.size() > 1 ? absl::StrCat(options_.artifacts, "/", i + 1)
                               : options_.artifacts;
}

std::vector<std::string> OptOutput::ArtifactFiles() const {
  std::vector<std::string> files;
  for (size_t i = 0; i < artifacts_.size(); ++i) {
    for (const relay::Artifact& artifact : artifacts_[i]) {
      files.push_back(absl::StrCat(ArtifactFolder(i), "/", artifact.name));
    }
  }
  return files;
}

absl::Status OptOutput::Write(std::ostream& out) const {
  for (size_t i = 0; i < artifacts_.size(); ++i) {
    BATON_RETURN_IF_ERROR(WriteArtifacts(ArtifactFolder(i), artifacts_[i]));
  }
  if (emit_ == "none") return absl::OkStatus();
  if (!written_.external_pieces.empty()) {
    // --output is a file. The model and its data are of one run.
    return WriteFilesAtomically(
        {{options_.output + ".data", written_.external_pieces},
         {options_.output, written_.pieces}});
  }
  const absl::string_view whole = text_;
  return Emit(options_,
              emit_ == "binary" ? binary_.pieces()
              : is_written()    ? written_.pieces
                                : absl::MakeConstSpan(&whole, 1),
              out);
}

}  // namespace baton
