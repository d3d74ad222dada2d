// The rewrite rules of RewriteSimplify(), as data: see rule.h for their text.

#ifndef BATON_TIR_ARITH_REWRITE_RULES_H_
#define BATON_TIR_ARITH_REWRITE_RULES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "baton/tir/arith/rule.h"

namespace baton::tir {

// Sets of rules. The name consists of the operation at the root of the rules
// and of the values that they hold for: Vector; Index, scalar integers whose
// arithmetic does not overflow; Float; Any. kFloorDivNested joins two
// quotients.
enum class RewriteRules : uint8_t {
  kAddVector,
  kAddIndex,
  kAddAny,
  kSubVector,
  kSubIndex,
  kSubFloat,
  kSubAny,
  kMulVector,
  kMulIndex,
  kDivVector,
  kDivIndex,
  kModVector,
  kModIndex,
  kFloorDivVector,
  kFloorDivNested,
  kFloorDivIndex,
  kFloorModVector,
  kFloorModIndex,
  kMinVector,
  kMinIndex,
  kMinAny,
  kMaxVector,
  kMaxIndex,
  kMaxAny,
  kEqVector,
  kEqIndex,
  kLtVector,
  kLtIndex,
  kNotVector,
  kNotAny,
  kAndVector,
  kAndAny,
  kOrVector,
  kOrAny,
  kSelectAny,
};
constexpr int NumValuesOf(RewriteRules /*rules*/) { return 35; }

// The text of a set of rules.
absl::string_view RewriteRulesText(RewriteRules rules);
// The compiled set of rules.
const RuleSet& RewriteRuleSet(RewriteRules rules);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_REWRITE_RULES_H_
