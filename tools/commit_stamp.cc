// The commit that a program is built from. Bazel compiles this file when it
// links a program, with what build_defs/workspace_status.sh prints as macros.

namespace baton {

#ifndef BATON_COMMIT
#define BATON_COMMIT "unknown"
#endif

extern const char kCommitStamp[];
const char kCommitStamp[] = BATON_COMMIT;

}  // namespace baton
