#include "baton/relay/transform/fast_math.h"

#include "baton/relay/transform/rewrite.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

Pass FastMath() {
  return OwnRulesPass(
      {.name = "FastMath",
       .opt_level = 4,
       .required = {"InferType"},
       .doc = "Replaces exponentials and their like by operators that may be "
              "approximate.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false,
       .waivers = {{"precision", "Functions may be approximated."}}});
}
BATON_REGISTER_PASS(FastMath);

}  // namespace baton::relay
