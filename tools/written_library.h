// Libraries for tests of generated code, which run again only if that code is
// another.
//
// baton_code_test (build_defs/baton_cc.bzl) makes two programs of the sources of
// the test. One, the writer, has the compiler: an action of the build runs it,
// and it writes the libraries. The other, the test, has no compiler and reads
// them. After a change of a pass, Bazel runs the writer again, which takes a
// second; if it writes the same bytes as before, Bazel keeps the result of the
// test.
//
// The action writes the libraries of the short form of tests. In the long form
// the writer is run as a test of its own, which asks for more of them: cases ask
// IsLongForm.
//
// Both run the test cases in the same order. In the writer a case must end
// before it runs a library: it returns where MayRunPrograms is false, behind the
// last library that it asks for.

#ifndef BATON_TOOLS_WRITTEN_LIBRARY_H_
#define BATON_TOOLS_WRITTEN_LIBRARY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "baton/testing/test_settings.h"
#include "baton/tools/compile_options.h"

namespace baton {

// Puts the library of a model into `options.output_dir`, which is inside of the
// test's folder, and so is `options.shared_dir`, inside of the former, if it is
// given. Fails as CompileLibrary does, and, in the program that reads, if the
// other has not come here.
absl::Status WriteLibrary(const LibraryOptions& options);

// The text of RandomProgram() (testing/random_program.h) of networks, for the
// model of a library. Empty in the program that reads libraries, which does not
// link random_program.
std::string TextOfRandomNetwork(uint32_t seed, int size);

// False in the program that only writes libraries.
bool MayRunPrograms();

// True in the program with the compiler, which alone can write any library.
bool HasCompiler();

// True in the long form of tests, which only the program with the compiler has.
inline bool IsLongForm() { return HasCompiler() && testing::IsLongTest(); }

}  // namespace baton

#endif  // BATON_TOOLS_WRITTEN_LIBRARY_H_
