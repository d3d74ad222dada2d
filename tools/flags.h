// Forwards to baton/base/flags.h until version 0.3.

#ifndef BATON_TOOLS_FLAGS_H_
#define BATON_TOOLS_FLAGS_H_

#include "baton/base/flags.h"  // IWYU pragma: export

#endif  // BATON_TOOLS_FLAGS_H_
