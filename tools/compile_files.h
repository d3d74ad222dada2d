// Files of `baton-compile`: the objects that it reads, the folders and files
// that it writes.

#ifndef BATON_TOOLS_COMPILE_FILES_H_
#define BATON_TOOLS_COMPILE_FILES_H_

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/library/compile_model.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tools/compile_options.h"

namespace baton {

// The objects of `paths`, those in archives too.
absl::StatusOr<std::vector<CompileModelOptions::Object>> ReadObjects(
    const std::string& paths);

// The bytes of the file of `object`.
absl::StatusOr<std::string> ObjectText(const tir::ElfObject& object);

// `folder` without slashes at its end.
std::string WithoutEndSlashes(std::string folder);

// An error if files could not be written to the folder of a flag, or it could
// not be made, in a folder that is there or in `made_before`: compiling may
// take long, and this is known before.
absl::Status CheckFolder(absl::string_view flag, const std::string& folder,
                         const std::string& made_before = "");

// Writes the files of all folders, or none, and their names to `out`. Skips
// folders with an empty path, and files that have the content already. An error
// if a file would replace one that the flags of `options` read, or one of
// `further_files`, the paths of others that were read.
absl::Status WriteFiles(
    const LibraryOptions& options, absl::Span<const std::string> further_files,
    absl::Span<
        const std::pair<std::string, const std::vector<CompiledModel::File>*>>
        folders,
    std::ostream& out);

}  // namespace baton

#endif  // BATON_TOOLS_COMPILE_FILES_H_
