// Library of `baton-compile`: compiles a model to a C++ library.

#ifndef BATON_TOOLS_COMPILE_H_
#define BATON_TOOLS_COMPILE_H_

#include <ostream>

#include "absl/status/status.h"
#include "baton/tools/compile_options.h"

namespace baton {

// Writes the files of the library, and their names to `out`. `notes`, if not
// null, receives a line for each setting of --config that no pass has read.
absl::Status CompileLibrary(const LibraryOptions& options, std::ostream& out,
                            std::ostream* notes = nullptr);

}  // namespace baton

#endif  // BATON_TOOLS_COMPILE_H_
