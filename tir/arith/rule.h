// Rewrite rules as text, compiled to a form that matches fast.
//
//   x - y + y -> x
//   x // c1 // c2 -> x // (c1 * c2) if c1 > 0 && c2 > 0
//   x - (y - z) => x + z - y
//
// A line is a rule: a pattern, what replaces it, and a condition. `=>` says
// that the result is simplified again. Names stand for parts, the same name for
// equal parts:
//
//   x y z b1 b2 s1 s2   any expression
//   c1 c2 c3            an integer constant
//   f1                  a floating-point constant
//   lanes               a number of lanes
//
// `//` and `%` round down, `div` and `mod` truncate. Other functions: min, max,
// select, ramp, broadcast. A number in a result has the type of the operand
// beside it; without one, that of the whole. Conditions compute with constants,
// and with what is proved: `ge(x, 0)` (x is at least 0), `zero(x - y)` (it is
// 0), `reads(x)` (x has no effect but that it may read memory), `ordered(x)`
// (of two values of x's type one is less, or both are equal: they are no
// floats, which may be NaN).

#ifndef BATON_TIR_ARITH_RULE_H_
#define BATON_TIR_ARITH_RULE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// True if of two values of the type one is less, or both are equal: no floats,
// which may be NaN.
constexpr bool IsOrdered(DType dtype) {
  return !dtype.is_float() && !IsFloat8(dtype);
}

// Proves the `ge` and `zero` of conditions.
class RuleProver {
 public:
  virtual ~RuleProver() = default;
  virtual bool ProveGreaterEqual(const PrimExpr& e, int64_t bound) = 0;
  virtual bool ProveZero(const PrimExpr& e) = 0;
};

class RuleSet {
 public:
  // The names of parts, as indices of values.
  enum Slot : uint8_t { kX, kY, kZ, kB1, kB2, kS1, kS2, kC1, kC2, kC3, kF1 };
  static constexpr int kNumSlots = 11;

  // Parses rules, a line each; empty lines are skipped.
  static absl::StatusOr<RuleSet> Parse(absl::string_view text);

  // Replaces `e` by the first rule that matches, whose condition holds, and
  // whose constants are in the range of their type; null if there is none.
  // `again` is true after a rule with `=>`.
  PrimExpr Apply(const PrimExpr& e, RuleProver& prover, bool& again) const;

  size_t size() const { return rules_.size(); }
  const std::string& text(size_t rule) const { return rules_[rule].text; }

  // For checks of rules: the slots in the pattern of a rule, as bits, those
  // that are truth values, and the values of both sides in one lane.
  unsigned SlotsOf(size_t rule) const;
  unsigned TruthSlotsOf(size_t rule) const;
  struct Sides {
    bool defined = false;  // false: divides by zero, or the condition is false
    bool result_defined = false;
    int64_t pattern = 0;
    int64_t result = 0;
  };
  Sides Evaluate(size_t rule, absl::Span<const int64_t> slots, int lane) const;

 private:
  enum class Kind : uint8_t {
    kSlot,
    kConst,
    kFloat,
    kLiteral,
    kTruth,
    kBinary,
    kNot,
    kNegate,
    kSelect,
    kRamp,
    kBroadcast,
    kGreaterEqual,
    kZero,
    kReads,
    kOrdered,
  };
  // Nodes are stored in prefix order.
  struct Node {
    Kind kind = Kind::kLiteral;
    uint8_t slot = 0;  // a Slot or a BinaryOp
    int64_t value = 0;
  };
  struct Rule {
    uint32_t left;  // classes of nodes that the left operand may have, as bits
    uint32_t right;
    uint32_t pattern;
    uint32_t result;
    uint32_t condition;  // 0: none
    bool again;
    std::string text;
  };
  struct Binding;
  struct Evaluation;
  class Parser;

  static int ArityOf(const Node& node);
  static void Skip(const Node*& p);
  bool Match(const Node*& p, const PrimExpr& e, Binding& binding) const;
  PrimExpr Build(const Node*& p, const Binding& binding, DType type) const;
  bool Check(const Node*& p, const Binding& binding, RuleProver& prover,
             int64_t& value) const;

  std::vector<Node> nodes_;
  std::vector<Rule> rules_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_RULE_H_
