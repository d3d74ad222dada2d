// UseHardSwish: puts acme.hard_swish in place of the arithmetic that it does.

#ifndef ACME_USE_HARD_SWISH_H_
#define ACME_USE_HARD_SWISH_H_

#include <cstdint>

#include "baton/transform/pass.h"

namespace acme {

struct UseHardSwishOptions {
  int64_t min_elements = 1;

  template <typename V>
  static void VisitFields(V& v) {
    v("min_elements", &UseHardSwishOptions::min_elements,
      "Smaller tensors, and those of unknown size, are left alone.");
  }
};

// `multiply(x, divide(clip(add(x, 3), 0, 6), 6))` and
// `divide(multiply(x, clip(add(x, 3), 0, 6)), 6)`, with operands in any order,
// become `acme.hard_swish(x)`. Their results may differ in the last bits.
baton::Pass UseHardSwish(UseHardSwishOptions options = {});

}  // namespace acme

#endif  // ACME_USE_HARD_SWISH_H_
