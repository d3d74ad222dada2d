// Where libraries are between the program that writes them and the test that
// reads them (written_library.h).

#ifndef BATON_TOOLS_WRITTEN_FOLDER_H_
#define BATON_TOOLS_WRITTEN_FOLDER_H_

#include <string>

#include "baton/tools/compile_options.h"

namespace baton {

// The variable of the environment with the folder that holds all libraries of a
// test.
inline constexpr char kWrittenFolders[] = "BATON_WRITTEN_LIBRARIES";

// The folder in `root` of the library that the running test case asks for now:
// named by the test case, by `options.output_dir` and by how often the case has
// asked for a library there.
std::string NextWrittenFolder(const std::string& root,
                              const LibraryOptions& options);

// Beside a folder of NextWrittenFolder: the message of a library that could not
// be written.
std::string MessageFileOf(const std::string& written_folder);

// Makes `to`, which may be there, hold copies of all files of `from`, which
// their owner may write.
void CopyFolder(const std::string& from, const std::string& to);

}  // namespace baton

#endif  // BATON_TOOLS_WRITTEN_FOLDER_H_
