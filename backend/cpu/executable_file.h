// Writes compiled models to files, and maps them back.
//
//   BATON_ASSIGN_OR_RETURN(const ExecutableFile file,
//                          WriteExecutable(module, {.version = "0.1.0"}));
//   for (absl::string_view piece : file.pieces()) out << piece;
//
//   BATON_ASSIGN_OR_RETURN(MappedExecutable model,
//                          ReadExecutable(bytes, owner, "M.exe",
//                                         {.version = "0.1.0"}));
//
// A file has a header (versions, commit, needs of the processor, checksums),
// the module after the pipeline, the packed constants and the origins of its
// calls. The module's constants and the packed ones are used in place, so
// processes that map one file share them. Reading makes the plan anew, without
// passes and without packing.

#ifndef BATON_BACKEND_CPU_EXECUTABLE_FILE_H_
#define BATON_BACKEND_CPU_EXECUTABLE_FILE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"

namespace baton {

// The content of a file, in pieces: tensors are not copied.
class ExecutableFile {
 public:
  // The pieces, in order. They are valid during the lifetime of this object.
  absl::Span<const absl::string_view> pieces() const { return pieces_; }
  std::string ToString() const;

 private:
  friend class ExecutableWriter;
  std::unique_ptr<const std::string> header_;
  BinaryModule module_;
  BinaryModule packed_;
  std::unique_ptr<const std::string> names_;
  std::unique_ptr<const std::string> padding_;
  std::vector<absl::string_view> pieces_;
};

struct WriteExecutableOptions {
  CompileOptions compile;
  // The version of the program that writes. A program of another version
  // refuses the file.
  std::string version;
  // Its commit, for messages.
  std::string commit;
  // Returns the name in the model's file of the call at a span; null if calls
  // have no names.
  std::function<std::string(const Span&)> origin_of;
  // The names of the results of the function, in order.
  std::vector<std::string> output_names;
};

// Compiles a typed module, as Compile does.
absl::StatusOr<ExecutableFile> WriteExecutable(
    IRModule module, const WriteExecutableOptions& options);

// True if `bytes` begins like a file of WriteExecutable.
bool IsExecutable(absl::string_view bytes);

struct ReadExecutableOptions {
  int max_threads = 1;  // see CompileOptions
  // The version of this program, which must be that in the file.
  std::string version;
  // True if `bytes` are a mapped file: pages that are read only to check them
  // are released.
  bool is_mapped = false;
  bool keep_graph = false;  // see CompileOptions
  bool use_amx = true;      // see CompileOptions
};

struct MappedExecutable {
  Executable executable;
  // The module after the pipeline.
  IRModule module;
  std::vector<std::string> output_names;
};

// Reads `bytes`, which `owner` keeps alive; messages name them `name`. Errors:
// the bytes are damaged, the file has another version, the processor lacks
// instructions that the kernels need, or the file's module compiles to another
// plan or to other packed constants now.
absl::StatusOr<MappedExecutable> ReadExecutable(
    absl::string_view bytes, std::shared_ptr<const void> owner,
    absl::string_view name, const ReadExecutableOptions& options);

}  // namespace baton

#endif  // BATON_BACKEND_CPU_EXECUTABLE_FILE_H_
