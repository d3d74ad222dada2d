#include "baton/tir/arith/rule.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::tir {
namespace {

constexpr absl::string_view kSlotNames[] = {"x",  "y",  "z",  "b1", "b2", "s1",
                                            "s2", "c1", "c2", "c3", "f1"};

// The class of a node, by which rules are excluded before they are matched.
int ClassOf(const PrimExpr& e) {
  switch (e->kind().To<TirKind>()) {
    case TirKind::kBinary:
      return static_cast<int>(e.As<BinaryNode>()->op());
    case TirKind::kIntImm:
      return 17;
    case TirKind::kSelect:
      return 18;
    case TirKind::kBroadcast:
      return 19;
    case TirKind::kRamp:
      return 20;
    case TirKind::kNot:
      return 21;
    default:
      return 22;
  }
}
constexpr uint32_t kAnyClass = ~uint32_t{0};

}  // namespace

// The parts that a pattern matched. Lanes are those of the whole.
struct RuleSet::Binding {
  const PrimExpr* parts[kNumSlots] = {};
  int lanes = 1;
  // True if the pattern is a comparison or joins some: values that wrap around
  // are then not what the rule says.
  bool is_condition = false;
  // True if Build() joined constants whose sum or product is out of range.
  mutable bool wraps = false;
};

int RuleSet::ArityOf(const Node& node) {
  switch (node.kind) {
    case Kind::kBinary:
    case Kind::kRamp:
    case Kind::kGreaterEqual:
      return 2;
    case Kind::kSelect:
      return 3;
    case Kind::kNot:
    case Kind::kNegate:
    case Kind::kBroadcast:
    case Kind::kZero:
    case Kind::kReads:
    case Kind::kOrdered:
      return 1;
    default:
      return 0;
  }
}

// --- Parsing -----------------------------------------------------------------

class RuleSet::Parser {
 public:
  Parser(absl::string_view text, std::vector<Node>& nodes)
      : text_(text), nodes_(nodes) {
    Advance();
  }

  // Appends the nodes of an expression.
  absl::Status Expression() {
    Tree tree;
    BATON_RETURN_IF_ERROR(Level(0, tree));
    Flatten(tree);
    return absl::OkStatus();
  }
  absl::string_view token() const { return token_; }
  void Advance() {
    text_ = absl::StripLeadingAsciiWhitespace(text_);
    size_t n = text_.empty() ? 0 : 1;
    if (n == 1 && absl::ascii_isalnum(text_[0])) {
      while (n < text_.size() && absl::ascii_isalnum(text_[n])) ++n;
    } else if (n == 1) {
      for (absl::string_view two :
           {"//", "->", "=>", "==", "!=", "<=", ">=", "&&", "||"}) {
        if (text_.substr(0, 2) == two) n = 2;
      }
    }
    token_ = text_.substr(0, n);
    text_.remove_prefix(n);
  }

 private:
  struct Tree {
    Node node;
    std::vector<Tree> parts;
  };
  struct Operator {
    absl::string_view token;
    int level;
    BinaryOp op;
  };
  static constexpr Operator kOperators[] = {
      {"||", 0, BinaryOp::kOr},      {"&&", 1, BinaryOp::kAnd},
      {"==", 2, BinaryOp::kEQ},      {"!=", 2, BinaryOp::kNE},
      {"<", 2, BinaryOp::kLT},       {"<=", 2, BinaryOp::kLE},
      {">", 2, BinaryOp::kGT},       {">=", 2, BinaryOp::kGE},
      {"+", 3, BinaryOp::kAdd},      {"-", 3, BinaryOp::kSub},
      {"*", 4, BinaryOp::kMul},      {"//", 4, BinaryOp::kFloorDiv},
      {"%", 4, BinaryOp::kFloorMod},
  };

  absl::Status Level(int level, Tree& tree) {
    if (level > 4) return Unary(tree);
    BATON_RETURN_IF_ERROR(Level(level + 1, tree));
    while (true) {
      const Operator* found = nullptr;
      for (const Operator& op : kOperators) {
        if (op.level == level && op.token == token_) found = &op;
      }
      if (found == nullptr) return absl::OkStatus();
      Advance();
      Tree whole{.node = BinaryOf(found->op)};
      whole.parts.resize(2);
      whole.parts[0] = std::move(tree);
      BATON_RETURN_IF_ERROR(Level(level + 1, whole.parts[1]));
      tree = std::move(whole);
    }
  }

  static Node BinaryOf(BinaryOp op) {
    return {Kind::kBinary, static_cast<uint8_t>(op), 0};
  }

  absl::Status Unary(Tree& tree) {
    if (token_ == "!" || token_ == "-") {
      tree.node = {token_ == "!" ? Kind::kNot : Kind::kNegate, 0, 0};
      Advance();
      tree.parts.resize(1);
      return Unary(tree.parts[0]);
    }
    if (token_ == "(") {
      Advance();
      BATON_RETURN_IF_ERROR(Level(0, tree));
      return Expect(")");
    }
    const absl::string_view name = token_;
    Advance();
    if (!name.empty() && absl::ascii_isdigit(name[0])) {
      tree.node = {Kind::kLiteral, 0, 0};
      for (const char digit : name) {
        tree.node.value = 10 * tree.node.value + (digit - '0');
      }
      return absl::OkStatus();
    }
    if (name == "true" || name == "false") {
      tree.node = {Kind::kTruth, 0, name == "true" ? 1 : 0};
      return absl::OkStatus();
    }
    for (size_t i = 0; i < std::size(kSlotNames); ++i) {
      if (kSlotNames[i] != name) continue;
      const Kind kind = i == kF1   ? Kind::kFloat
                        : i >= kC1 ? Kind::kConst
                                   : Kind::kSlot;
      tree.node = {kind, static_cast<uint8_t>(i), 0};
      return absl::OkStatus();
    }
    return Function(name, tree);
  }

  absl::Status Function(absl::string_view name, Tree& tree) {
    struct Known {
      absl::string_view name;
      Node node;
      size_t arity;
    };
    const Known known[] = {
        {"min", BinaryOf(BinaryOp::kMin), 2},
        {"max", BinaryOf(BinaryOp::kMax), 2},
        {"div", BinaryOf(BinaryOp::kDiv), 2},
        {"mod", BinaryOf(BinaryOp::kMod), 2},
        {"select", {Kind::kSelect, 0, 0}, 3},
        {"ramp", {Kind::kRamp, 0, 0}, 2},
        {"broadcast", {Kind::kBroadcast, 0, 0}, 1},
        {"ge", {Kind::kGreaterEqual, 0, 0}, 2},
        {"zero", {Kind::kZero, 0, 0}, 1},
        {"reads", {Kind::kReads, 0, 0}, 1},
        {"ordered", {Kind::kOrdered, 0, 0}, 1},
    };
    for (const Known& function : known) {
      if (function.name != name) continue;
      tree.node = function.node;
      tree.parts.resize(function.arity);
      BATON_RETURN_IF_ERROR(Expect("("));
      for (size_t i = 0; i < function.arity; ++i) {
        if (i > 0) BATON_RETURN_IF_ERROR(Expect(","));
        BATON_RETURN_IF_ERROR(Level(0, tree.parts[i]));
      }
      // Lanes of ramps and broadcasts are those of the whole.
      if (token_ == ",") {
        Advance();
        BATON_RETURN_IF_ERROR(Expect("lanes"));
      }
      return Expect(")");
    }
    return absl::InvalidArgumentError(
        absl::StrCat("unknown name `", name, "`"));
  }

  absl::Status Expect(absl::string_view token) {
    if (token_ != token) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected `", token, "`, not `", token_, "`"));
    }
    Advance();
    return absl::OkStatus();
  }

  void Flatten(const Tree& tree) {
    nodes_.push_back(tree.node);
    for (const Tree& part : tree.parts) Flatten(part);
  }

  absl::string_view text_;
  absl::string_view token_;
  std::vector<Node>& nodes_;
};

absl::StatusOr<RuleSet> RuleSet::Parse(absl::string_view text) {
  RuleSet set;
  set.nodes_.emplace_back();  // index 0 is none
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    const auto in_line = [line](absl::Status status) {
      return absl::InvalidArgumentError(
          absl::StrCat(status.message(), " in the rule `", line, "`"));
    };
    Rule rule{.left = kAnyClass, .right = kAnyClass};
    rule.text = std::string(line);
    Parser parser(line, set.nodes_);
    rule.pattern = set.nodes_.size();
    if (absl::Status s = parser.Expression(); !s.ok()) return in_line(s);
    rule.again = parser.token() == "=>";
    if (!rule.again && parser.token() != "->") {
      return in_line(absl::InvalidArgumentError("expected `->` or `=>`"));
    }
    parser.Advance();
    rule.result = set.nodes_.size();
    if (absl::Status s = parser.Expression(); !s.ok()) return in_line(s);
    rule.condition = 0;
    if (parser.token() == "if") {
      parser.Advance();
      rule.condition = set.nodes_.size();
      if (absl::Status s = parser.Expression(); !s.ok()) return in_line(s);
    }
    if (!parser.token().empty()) {
      return in_line(absl::InvalidArgumentError("text after the end"));
    }
    if (set.nodes_[rule.pattern].kind == Kind::kBinary) {
      const auto classes = [](const Node& node) -> uint32_t {
        switch (node.kind) {
          case Kind::kBinary:
            return uint32_t{1} << node.slot;
          case Kind::kConst:
          case Kind::kLiteral:
            return uint32_t{1} << 17;
          case Kind::kSelect:
            return uint32_t{1} << 18;
          case Kind::kBroadcast:
            return uint32_t{1} << 19;
          case Kind::kRamp:
            return uint32_t{1} << 20;
          case Kind::kNot:
            return uint32_t{1} << 21;
          default:
            return kAnyClass;
        }
      };
      const size_t left = rule.pattern + 1;
      size_t right = left;
      for (int open = 1; open > 0; --open) {
        open += ArityOf(set.nodes_[right++]);
      }
      rule.left = classes(set.nodes_[left]);
      rule.right = classes(set.nodes_[right]);
    }
    set.rules_.push_back(std::move(rule));
  }
  return set;
}

// --- Matching ----------------------------------------------------------------

bool RuleSet::Match(const Node*& p, const PrimExpr& e, Binding& binding) const {
  const Node& node = *p++;
  switch (node.kind) {
    case Kind::kSlot: {
      const PrimExpr*& part = binding.parts[node.slot];
      if (part != nullptr) return *part == e || ExprDeepEqual(*part, e);
      part = &e;
      return true;
    }
    case Kind::kConst: {
      const auto* imm = e.As<IntImmNode>();
      // Large integers of 64 bits without a sign have negative numbers here.
      if (imm == nullptr || (imm->value() < 0 && e.dtype().is_uint())) {
        return false;
      }
      const PrimExpr*& part = binding.parts[node.slot];
      if (part != nullptr) {
        return part->As<IntImmNode>()->value() == imm->value();
      }
      part = &e;
      return true;
    }
    case Kind::kFloat:
      if (!e.Is<FloatImmNode>()) return false;
      binding.parts[node.slot] = &e;
      return true;
    case Kind::kLiteral:
      return IsConst(e, node.value);
    case Kind::kBinary: {
      const auto* binary = AsBinary(e, static_cast<BinaryOp>(node.slot));
      return binary != nullptr &&
             (!binding.is_condition || IsLogical(binary->op()) ||
              !IsModular(binary->dtype())) &&
             Match(p, binary->a(), binding) && Match(p, binary->b(), binding);
    }
    case Kind::kNot: {
      const auto* negation = e.As<NotNode>();
      return negation != nullptr && Match(p, negation->a(), binding);
    }
    case Kind::kSelect: {
      const auto* select = e.As<SelectNode>();
      return select != nullptr && Match(p, select->condition(), binding) &&
             Match(p, select->true_value(), binding) &&
             Match(p, select->false_value(), binding);
    }
    case Kind::kRamp: {
      const auto* ramp = e.As<RampNode>();
      return ramp != nullptr &&
             (!binding.is_condition || !IsModular(ramp->dtype())) &&
             Match(p, ramp->base(), binding) &&
             Match(p, ramp->stride(), binding);
    }
    case Kind::kBroadcast: {
      const auto* broadcast = e.As<BroadcastNode>();
      return broadcast != nullptr && Match(p, broadcast->value(), binding);
    }
    default:
      return false;
  }
}

PrimExpr RuleSet::Build(const Node*& p, const Binding& binding,
                        DType type) const {
  const Node& node = *p++;
  switch (node.kind) {
    case Kind::kSlot:
    case Kind::kConst:
    case Kind::kFloat:
      return *binding.parts[node.slot];
    case Kind::kLiteral:
    case Kind::kTruth:
      return MakeConst(type, node.value);
    case Kind::kBinary: {
      const auto op = static_cast<BinaryOp>(node.slot);
      PrimExpr a;
      PrimExpr b;
      if (p->kind == Kind::kLiteral) {
        const int64_t value = (p++)->value;
        b = Build(p, binding, type);
        a = MakeConst(b.dtype(), value);
      } else {
        a = Build(p, binding, type);
        if (p->kind == Kind::kLiteral) {
          b = MakeConst(a.dtype(), (p++)->value);
        } else {
          b = Build(p, binding, type);
        }
      }
      binding.wraps = binding.wraps || FoldWraps(op, a, b);
      PrimExpr folded = TryFold(op, a, b);
      if (folded.defined()) return folded;
      return Binary(op, std::move(a), std::move(b));
    }
    case Kind::kNot:
      return Not(Build(p, binding, type));
    case Kind::kSelect: {
      PrimExpr condition = Build(p, binding, type);
      PrimExpr true_value = Build(p, binding, type);
      PrimExpr false_value = Build(p, binding, type);
      return Select(std::move(condition), std::move(true_value),
                    std::move(false_value));
    }
    case Kind::kRamp: {
      PrimExpr base = Build(p, binding, WithLanes(type, 1));
      PrimExpr stride = Build(p, binding, WithLanes(type, 1));
      return Ramp(std::move(base), std::move(stride), binding.lanes);
    }
    case Kind::kBroadcast: {
      PrimExpr value = Build(p, binding, WithLanes(type, 1));
      return Broadcast(std::move(value), binding.lanes);
    }
    default:
      return {};
  }
}

// Moves behind the expression that begins at `p`.
void RuleSet::Skip(const Node*& p) {
  for (int open = 1; open > 0; --open) open += ArityOf(*p++);
}

// False if the value is not defined: a division by zero, or out of range.
bool RuleSet::Check(const Node*& p, const Binding& binding, RuleProver& prover,
                    int64_t& value) const {
  const Node& node = *p++;
  switch (node.kind) {
    case Kind::kConst:
      value = binding.parts[node.slot]->As<IntImmNode>()->value();
      return true;
    case Kind::kFloat:
      value =
          binding.parts[node.slot]->As<FloatImmNode>()->value() == 0 ? 0 : 1;
      return true;
    case Kind::kLiteral:
    case Kind::kTruth:
      value = node.value;
      return true;
    case Kind::kNegate:
      return Check(p, binding, prover, value) &&
             !__builtin_sub_overflow(0, value, &value);
    case Kind::kGreaterEqual: {
      const PrimExpr e = Build(p, binding, kInt32);
      int64_t bound = 0;
      if (!Check(p, binding, prover, bound)) return false;
      value = prover.ProveGreaterEqual(e, bound) ? 1 : 0;
      return true;
    }
    case Kind::kZero:
      value = prover.ProveZero(Build(p, binding, kInt32)) ? 1 : 0;
      return true;
    case Kind::kReads:
      value = IsReadOnly(Build(p, binding, kInt32)) ? 1 : 0;
      return true;
    case Kind::kOrdered:
      value = IsOrdered(Build(p, binding, kInt32).dtype()) ? 1 : 0;
      return true;
    case Kind::kBinary: {
      const auto op = static_cast<BinaryOp>(node.slot);
      int64_t a = 0;
      if (!Check(p, binding, prover, a)) return false;
      // The right side of what is decided is not proved.
      if ((op == BinaryOp::kAnd && a == 0) || (op == BinaryOp::kOr && a != 0)) {
        Skip(p);
        value = a != 0 ? 1 : 0;
        return true;
      }
      int64_t b = 0;
      if (!Check(p, binding, prover, b)) return false;
      if (op == BinaryOp::kAdd) return !__builtin_add_overflow(a, b, &value);
      if (op == BinaryOp::kSub) return !__builtin_sub_overflow(a, b, &value);
      if (op == BinaryOp::kMul) return !__builtin_mul_overflow(a, b, &value);
      return EvaluateBinary(op, a, b, value);
    }
    default:
      return false;
  }
}

PrimExpr RuleSet::Apply(const PrimExpr& e, RuleProver& prover,
                        bool& again) const {
  int left = 31;
  int right = 31;
  bool is_condition = false;
  if (const auto* binary = e.As<BinaryNode>()) {
    is_condition = IsLogical(binary->op());
    left = ClassOf(binary->a());
    right = ClassOf(binary->b());
  }
  for (const Rule& rule : rules_) {
    if (((rule.left >> left) & (rule.right >> right) & 1) == 0) continue;
    Binding binding;
    binding.is_condition = is_condition;
    const Node* p = &nodes_[rule.pattern];
    if (!Match(p, e, binding)) continue;
    binding.lanes = e.dtype().lanes();
    if (rule.condition != 0) {
      int64_t value = 0;
      p = &nodes_[rule.condition];
      if (!Check(p, binding, prover, value) || value == 0) continue;
    }
    p = &nodes_[rule.result];
    PrimExpr result = Build(p, binding, e.dtype());
    if (binding.wraps) continue;
    again = rule.again;
    return result;
  }
  return {};
}

// --- Checks of rules ---------------------------------------------------------

struct RuleSet::Evaluation {
  absl::Span<const int64_t> slots;
  int lane;

  bool Value(const Node*& p, int64_t& value) const {
    const Node& node = *p++;
    switch (node.kind) {
      case Kind::kSlot:
      case Kind::kConst:
      case Kind::kFloat:
        value = slots[node.slot];
        return true;
      case Kind::kLiteral:
      case Kind::kTruth:
        value = node.value;
        return true;
      case Kind::kNot:
        if (!Value(p, value)) return false;
        value = value == 0 ? 1 : 0;
        return true;
      case Kind::kNegate:
        if (!Value(p, value)) return false;
        value = -value;
        return true;
      case Kind::kSelect: {
        int64_t condition = 0;
        int64_t other = 0;
        if (!Value(p, condition) || !Value(p, value) || !Value(p, other)) {
          return false;
        }
        if (condition == 0) value = other;
        return true;
      }
      case Kind::kRamp: {
        int64_t stride = 0;
        if (!Value(p, value) || !Value(p, stride)) return false;
        value += stride * lane;
        return true;
      }
      case Kind::kBroadcast:
        return Value(p, value);
      case Kind::kReads:
      case Kind::kOrdered:
        if (!Value(p, value)) return false;
        value = 1;
        return true;
      case Kind::kZero:
        if (!Value(p, value)) return false;
        value = value == 0 ? 1 : 0;
        return true;
      case Kind::kGreaterEqual: {
        int64_t bound = 0;
        if (!Value(p, value) || !Value(p, bound)) return false;
        value = value >= bound ? 1 : 0;
        return true;
      }
      case Kind::kBinary: {
        const auto op = static_cast<BinaryOp>(node.slot);
        int64_t a = 0;
        int64_t b = 0;
        if (!Value(p, a)) return false;
        if ((op == BinaryOp::kAnd && a == 0) ||
            (op == BinaryOp::kOr && a != 0)) {
          Skip(p);
          value = a != 0 ? 1 : 0;
          return true;
        }
        return Value(p, b) && EvaluateBinary(op, a, b, value);
      }
    }
    return false;
  }
};

RuleSet::Sides RuleSet::Evaluate(size_t rule, absl::Span<const int64_t> slots,
                                 int lane) const {
  const Evaluation evaluation{slots, lane};
  Sides sides;
  const Rule& r = rules_[rule];
  if (r.condition != 0) {
    const Node* p = &nodes_[r.condition];
    int64_t holds = 0;
    if (!evaluation.Value(p, holds) || holds == 0) return sides;
  }
  const Node* p = &nodes_[r.pattern];
  if (!evaluation.Value(p, sides.pattern)) return sides;
  sides.defined = true;
  p = &nodes_[r.result];
  sides.result_defined = evaluation.Value(p, sides.result);
  return sides;
}

unsigned RuleSet::SlotsOf(size_t rule) const {
  unsigned slots = 0;
  for (size_t i = rules_[rule].pattern; i < rules_[rule].result; ++i) {
    const Kind kind = nodes_[i].kind;
    if (kind == Kind::kSlot || kind == Kind::kConst || kind == Kind::kFloat) {
      slots |= 1u << nodes_[i].slot;
    }
  }
  return slots;
}

unsigned RuleSet::TruthSlotsOf(size_t rule) const {
  unsigned slots = 0;
  const auto visit = [&](const auto& self, size_t& i, bool truth) -> void {
    const Node& node = nodes_[i++];
    switch (node.kind) {
      case Kind::kSlot:
        if (truth) slots |= 1u << node.slot;
        return;
      case Kind::kBinary: {
        const auto op = static_cast<BinaryOp>(node.slot);
        const bool inside = op == BinaryOp::kAnd || op == BinaryOp::kOr;
        self(self, i, inside);
        self(self, i, inside);
        return;
      }
      case Kind::kNot:
        self(self, i, true);
        return;
      case Kind::kSelect:
        self(self, i, true);
        self(self, i, truth);
        self(self, i, truth);
        return;
      case Kind::kRamp:
        self(self, i, false);
        self(self, i, false);
        return;
      case Kind::kNegate:
      case Kind::kBroadcast:
        self(self, i, truth);
        return;
      default:
        return;
    }
  };
  size_t i = rules_[rule].pattern;
  visit(visit, i, false);
  i = rules_[rule].result;
  visit(visit, i, false);
  return slots;
}

}  // namespace baton::tir
