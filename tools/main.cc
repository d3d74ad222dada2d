#include "baton/tools/opt_main.h"

int main(int argc, char** argv) { return baton::OptMain(argc, argv); }
