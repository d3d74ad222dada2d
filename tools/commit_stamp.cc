// The commit that a program is built from. Bazel compiles this file when it
// links a program, and defines what build_defs/workspace_status.sh prints.

namespace baton {

#ifndef BUILD_SCM_REVISION
#define BUILD_SCM_REVISION "0"
#endif

// "0" if it is unknown.
extern const char kCommitStamp[];
const char kCommitStamp[] = BUILD_SCM_REVISION;

}  // namespace baton
