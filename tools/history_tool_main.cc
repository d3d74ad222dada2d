#include "baton/tools/history_main.h"

int main(int argc, char** argv) { return baton::HistoryMain(argc, argv); }
