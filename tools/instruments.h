// Forwards to baton/instrument/instrument_registry.h until the next minor
// version.

#ifndef BATON_TOOLS_INSTRUMENTS_H_
#define BATON_TOOLS_INSTRUMENTS_H_

#include "baton/instrument/instrument_registry.h"  // IWYU pragma: export

#endif  // BATON_TOOLS_INSTRUMENTS_H_
