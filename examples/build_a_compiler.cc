// The example of docs/build_a_compiler.md: baton-opt with a pass and an
// operator of our own. All of it is in the BUILD file.

// [main]
#include "baton/tools/opt_main.h"

int main(int argc, char** argv) { return baton::OptMain(argc, argv); }
// [/main]
