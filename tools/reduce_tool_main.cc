#include "baton/tools/reduce_main.h"

int main(int argc, char** argv) { return baton::ReduceMain(argc, argv); }
