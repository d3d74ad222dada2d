// Libraries for tests of generated code, which run again only if that code is
// another.
//
// Such a test has two programs of one source. The first has the compiler, and
// writes the libraries as an action of the build; the second is the test, has no
// compiler, and reads them. After a change of a pass the first runs again, which
// takes a second; if all libraries are the same bytes, Bazel has the results of
// the second.
//
// baton_code_test of build_defs/baton_cc.bzl makes both. They run the test cases in one order. The first goes as far as it can without
// a run of what it has written: a test asks MayRunPrograms behind the last
// library.

#ifndef BATON_TOOLS_WRITTEN_LIBRARY_H_
#define BATON_TOOLS_WRITTEN_LIBRARY_H_

#include "absl/status/status.h"
#include "baton/tools/compile_options.h"

namespace baton {

// Puts the library of a model into `options.output_dir`, which is inside of the
// test's folder, and so is `options.shared_dir`, inside of the former, if it is
// given. Fails as CompileLibrary does, and, in the program that reads, if the
// other has not come here.
absl::Status WriteLibrary(const LibraryOptions& options);

// False in the program that only writes libraries.
bool MayRunPrograms();

// True in the program with the compiler, which alone can write any library.
bool HasCompiler();

}  // namespace baton

#endif  // BATON_TOOLS_WRITTEN_LIBRARY_H_
