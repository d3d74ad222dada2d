// The command line of `baton-reduce`, for compilers with passes of their own:
//
//   int main(int argc, char** argv) { return baton::ReduceMain(argc, argv); }

#ifndef BATON_TOOLS_REDUCE_MAIN_H_
#define BATON_TOOLS_REDUCE_MAIN_H_

namespace baton {

// Exit code 0: reduced; 1: an error, said on standard error.
int ReduceMain(int argc, char** argv);

}  // namespace baton

#endif  // BATON_TOOLS_REDUCE_MAIN_H_
