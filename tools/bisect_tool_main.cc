#include "baton/tools/bisect_main.h"

int main(int argc, char** argv) { return baton::BisectMain(argc, argv); }
