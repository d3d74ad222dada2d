// Command line of `baton-reduce`, for compilers with their own passes:
//
//   int main(int argc, char** argv) { return baton::ReduceMain(argc, argv); }

#ifndef BATON_TOOLS_REDUCE_MAIN_H_
#define BATON_TOOLS_REDUCE_MAIN_H_

namespace baton {

// Returns the exit code: 0, or 1 after an error, which is printed to standard
// error.
int ReduceMain(int argc, char** argv);

}  // namespace baton

#endif  // BATON_TOOLS_REDUCE_MAIN_H_
