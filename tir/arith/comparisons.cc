#include "baton/tir/arith/comparisons.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/expr_key.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::tir {
namespace {

CompareResult Reverse(CompareResult op) {
  switch (op) {
    case CompareResult::kLT:
      return CompareResult::kGT;
    case CompareResult::kLE:
      return CompareResult::kGE;
    case CompareResult::kGT:
      return CompareResult::kLT;
    case CompareResult::kGE:
      return CompareResult::kLE;
    default:
      return op;
  }
}

}  // namespace

Comparisons::Comparison Comparisons::Comparison::Of(Key left, Key right,
                                                    int64_t offset,
                                                    CompareResult op) {
  if (op == CompareResult::kLT) {
    return {left, right, WrappedSub(offset, 1), CompareResult::kLE};
  }
  if (op == CompareResult::kGT) {
    return {left, right, WrappedAdd(offset, 1), CompareResult::kGE};
  }
  return {left, right, offset, op};
}

std::optional<Comparisons::Comparison> Comparisons::Comparison::WithLeft(
    Key key) const {
  if (key == left) return *this;
  if (key == right) {
    return Comparison{right, left, WrappedSub(0, offset), Reverse(op)};
  }
  return std::nullopt;
}

bool Comparisons::Comparison::Implies(const Comparison& other) const {
  if (op == other.op && offset == other.offset) return true;
  const bool at_most = op == CompareResult::kEQ || op == CompareResult::kLE;
  const bool at_least = op == CompareResult::kEQ || op == CompareResult::kGE;
  switch (other.op) {
    case CompareResult::kLE:
      return at_most && offset <= other.offset;
    case CompareResult::kGE:
      return at_least && offset >= other.offset;
    case CompareResult::kNE:
      return (op == CompareResult::kEQ && offset != other.offset) ||
             (op == CompareResult::kLE && offset < other.offset) ||
             (op == CompareResult::kGE && offset > other.offset);
    default:
      return false;
  }
}

Comparisons::Sides Comparisons::SplitOffsets(const PrimExpr& a,
                                             const PrimExpr& b) {
  const auto split = [](const PrimExpr& e) -> std::pair<PrimExpr, int64_t> {
    if (const auto* binary = e.As<BinaryNode>()) {
      const auto* c = binary->b().As<IntImmNode>();
      if (c != nullptr && binary->op() == BinaryOp::kAdd) {
        return {binary->a(), c->value()};
      }
      if (c != nullptr && binary->op() == BinaryOp::kSub) {
        return {binary->a(), WrappedSub(0, c->value())};
      }
    }
    if (const auto* c = e.As<IntImmNode>()) {
      return {IntImm(kInt32, 0), c->value()};
    }
    return {e, 0};
  };
  const auto [left, left_offset] = split(a);
  const auto [right, right_offset] = split(b);
  return {left, right, WrappedSub(right_offset, left_offset)};
}

std::optional<Comparisons::Key> Comparisons::FindKey(const PrimExpr& e) const {
  const auto it = keys_.find(ExprKey{e});
  if (it == keys_.end()) return std::nullopt;
  return it->second;
}

Comparisons::Key Comparisons::KeyOf(const PrimExpr& e) {
  return keys_.try_emplace(ExprKey{e}, static_cast<Key>(keys_.size()))
      .first->second;
}

void Comparisons::Append(const PrimExpr& comparison, List& list) {
  const auto* node = comparison.As<BinaryNode>();
  if (node == nullptr || !IsComparison(node->op())) return;
  if (node->a().Is<IntImmNode>() && node->b().Is<IntImmNode>()) return;
  CompareResult op = CompareResult::kUnknown;
  switch (node->op()) {
    case BinaryOp::kLE:
      op = CompareResult::kLE;
      break;
    case BinaryOp::kGE:
      op = CompareResult::kGE;
      break;
    case BinaryOp::kLT:
      op = CompareResult::kLT;
      break;
    case BinaryOp::kGT:
      op = CompareResult::kGT;
      break;
    case BinaryOp::kEQ:
      op = CompareResult::kEQ;
      break;
    default:
      op = CompareResult::kNE;
      break;
  }
  const Sides sides = SplitOffsets(node->a(), node->b());
  const Key left = KeyOf(sides.a);
  const Key right = KeyOf(sides.b);
  list.Append(Comparison::Of(left, right, sides.offset, op));
  if (&list == &known_) leaves_.Append(known_);
}

void Comparisons::Add(const PrimExpr& condition, List& list) {
  if (!IsPure(condition)) return;
  for (const PrimExpr& part : ExtractConstraints(condition, false)) {
    Append(part, list);
  }
}

void Comparisons::List::Append(const Comparison& comparison) {
  const int i = static_cast<int>(list.size());
  list.push_back(comparison);
  of_key.resize(std::max<size_t>(
      of_key.size(), std::max(comparison.left, comparison.right) + 1));
  of_key[comparison.left].push_back(i);
  if (comparison.right != comparison.left) {
    of_key[comparison.right].push_back(i);
  }
}

absl::Span<const int> Comparisons::List::Of(Key key) const {
  return static_cast<size_t>(key) < of_key.size()
             ? absl::Span<const int>(of_key[key])
             : absl::Span<const int>();
}

void Comparisons::Leaves::Append(const List& known) {
  const Comparison& added = known.list.back();
  if (added.left == added.right) return;
  const size_t size = known.of_key.size();
  only_.resize(std::max(only_.size(), size), kNone);
  with_branching_.resize(only_.size());
  Connect(added.left, added.right, known);
  Connect(added.right, added.left, known);
}

void Comparisons::Leaves::Connect(Key key, Key other, const List& known) {
  const auto add = [&](int i) {
    const Comparison& comparison = known.list[i];
    const Key to = comparison.left == key ? comparison.right : comparison.left;
    if (to != key) with_branching_[to].push_back(i);
  };
  Key& only = only_[key];
  if (only == kSeveral) {
    add(static_cast<int>(known.list.size()) - 1);
  } else if (only == kNone) {
    only = other;
  } else if (only != other) {
    only = kSeveral;
    for (const int i : known.of_key[key]) add(i);
  }
}

absl::Span<const int> Comparisons::Leaves::WithBranching(Key key) const {
  return static_cast<size_t>(key) < with_branching_.size()
             ? absl::Span<const int>(with_branching_[key])
             : absl::Span<const int>();
}

bool Comparisons::Leaves::IsLeafOf(Key leaf, Key key) const {
  return static_cast<size_t>(leaf) < only_.size() && only_[leaf] == key;
}

void Comparisons::Leave(size_t size) {
  for (; scoped_.list.size() > size; scoped_.list.pop_back()) {
    const Comparison& comparison = scoped_.list.back();
    scoped_.of_key[comparison.left].pop_back();
    if (comparison.right != comparison.left) {
      scoped_.of_key[comparison.right].pop_back();
    }
  }
}

void Comparisons::Bind(const Var& var, const Range& range) {
  if (const Range* previous = ranges_.Find(var)) {
    if (ExprDeepEqual(range.min, previous->min) &&
        ExprDeepEqual(range.extent, previous->extent)) {
      return;
    }
    if (const std::optional<Key> key = FindKey(var)) {
      for (const int i : known_.Of(*key)) {
        Comparison& known = known_.list[i];
        if (known.left == *key) known.op = CompareResult::kUnknown;
      }
    }
  }
  ranges_.Set(var, range);
  if (IsOne(range.extent)) {
    Add(MakeBinary(BinaryOp::kEQ, var, range.min), known_);
    return;
  }
  Add(MakeBinary(BinaryOp::kGE, var, range.min), known_);
  Add(MakeBinary(BinaryOp::kLT, var, tir::Add(range.min, range.extent)),
      known_);
}

template <typename Fn>
void Comparisons::ForEachWithLeft(Key key, Fn fn) const {
  for (const int i : known_.Of(key)) {
    const Comparison& known = known_.list[i];
    if (known.op == CompareResult::kUnknown) continue;  // replaced
    if (const auto turned = known.WithLeft(key)) fn(*turned);
  }
  const absl::Span<const int> scoped = scoped_.Of(key);
  for (const int i : scoped.last(std::min(scoped.size(), kMaxScoped))) {
    if (const auto turned = scoped_.list[i].WithLeft(key)) fn(*turned);
  }
}

// Looks from the side that has fewer comparisons.
template <typename Fn>
void Comparisons::ForEachBetween(Key left, Key right, Fn fn) const {
  const bool from_left = known_.Of(left).size() + scoped_.Of(left).size() <=
                         known_.Of(right).size() + scoped_.Of(right).size();
  ForEachWithLeft(from_left ? left : right, [&](const Comparison& known) {
    if (known.right != (from_left ? right : left)) return;
    fn(from_left ? known : *known.WithLeft(left));
  });
}

// As ForEachWithLeft, without those from which nothing about `goal` follows:
// with keys that are compared with no other one.
template <typename Fn>
void Comparisons::ForEachOnTheWay(Key key, Key goal, Fn fn) const {
  const auto turn = [&](const Comparison& known) {
    if (known.op == CompareResult::kUnknown) return;  // replaced
    if (const auto turned = known.WithLeft(key)) fn(*turned);
  };
  for (const int i : leaves_.WithBranching(key)) turn(known_.list[i]);
  const auto turn_leaf = [&](Key leaf) {
    if (!leaves_.IsLeafOf(leaf, key)) return;
    for (const int i : known_.Of(leaf)) turn(known_.list[i]);
  };
  turn_leaf(goal);
  // Leaves that conditions in scope compare with others; each once.
  const std::vector<Comparison>& scoped = scoped_.list;
  const size_t first = scoped.size() - std::min(scoped.size(), kMaxScoped);
  for (size_t i = first; i < scoped.size(); ++i) {
    for (const Key leaf : {scoped[i].left, scoped[i].right}) {
      if (leaf != goal && leaf != key &&
          scoped_.Of(leaf).back() == static_cast<int>(i)) {
        turn_leaf(leaf);
      }
    }
  }
  const absl::Span<const int> of_key = scoped_.Of(key);
  for (const int i : of_key.last(std::min(of_key.size(), kMaxScoped))) {
    turn(scoped_.list[i]);
  }
}

// The comparisons of `left` with `right` that follow by way of others.
std::vector<Comparisons::Comparison> Comparisons::Follow(Key left,
                                                         Key right) const {
  std::set<Key> seen;
  std::set<Key> pending;
  std::map<Key, std::vector<Comparison>> of_left;
  const auto declare = [&](const Comparison& comparison) {
    std::vector<Comparison>& list = of_left[comparison.right];
    for (const Comparison& previous : list) {
      if (previous.Implies(comparison)) return;
    }
    if (comparison.right != right && seen.insert(comparison.right).second) {
      pending.insert(comparison.right);
    }
    for (Comparison& previous : list) {
      if (!comparison.Implies(previous)) continue;
      previous = comparison;
      return;
    }
    list.push_back(comparison);
  };
  ForEachOnTheWay(left, right, declare);
  size_t followed = 0;
  while (!pending.empty() && followed < kMaxFollowed) {
    const Key middle = *pending.begin();
    pending.erase(pending.begin());
    const std::vector<Comparison> to_middle = of_left[middle];
    std::vector<Comparison> found;
    ForEachOnTheWay(middle, right, [&](const Comparison& next) {
      if (next.right == left) return;
      ++followed;
      for (const Comparison& first : to_middle) {
        CompareResult op = CompareResult::kUnknown;
        if (first.op == CompareResult::kEQ) {
          op = next.op;
        } else if (next.op == CompareResult::kEQ) {
          op = first.op;
        } else if (first.op == next.op && (first.op == CompareResult::kLE ||
                                           first.op == CompareResult::kGE)) {
          op = first.op;
        }
        if (op == CompareResult::kUnknown) continue;
        found.push_back(Comparison::Of(
            left, next.right, WrappedAdd(first.offset, next.offset), op));
      }
    });
    for (const Comparison& comparison : found) declare(comparison);
  }
  const auto it = of_left.find(right);
  return it != of_left.end() ? it->second : std::vector<Comparison>();
}

CompareResult Comparisons::TryCompare(const PrimExpr& a, const PrimExpr& b,
                                      bool propagate) const {
  if (!a.dtype().is_int() || !b.dtype().is_int()) {
    return CompareResult::kUnknown;
  }
  const auto* x = a.As<IntImmNode>();
  const auto* y = b.As<IntImmNode>();
  if (x != nullptr && y != nullptr) {
    if (x->value() == y->value()) return CompareResult::kEQ;
    return x->value() < y->value() ? CompareResult::kLT : CompareResult::kGT;
  }
  if (known_.list.empty() && scoped_.list.empty()) {
    return CompareResult::kUnknown;
  }
  const Sides sides = SplitOffsets(a, b);
  const std::optional<Key> left = FindKey(sides.a);
  if (!left.has_value()) return CompareResult::kUnknown;
  const std::optional<Key> right = FindKey(sides.b);
  if (!right.has_value()) return CompareResult::kUnknown;

  CompareResult result = CompareResult::kUnknown;
  const auto merge = [&](const Comparison& known) {
    switch (known.op) {
      case CompareResult::kEQ:
        result = result & (sides.offset == known.offset ? CompareResult::kEQ
                                                        : CompareResult::kNE);
        break;
      case CompareResult::kLE:
        if (known.offset < sides.offset) {
          result = result & CompareResult::kLT;
        } else if (known.offset == sides.offset) {
          result = result & CompareResult::kLE;
        }
        break;
      case CompareResult::kGE:
        if (known.offset > sides.offset) {
          result = result & CompareResult::kGT;
        } else if (known.offset == sides.offset) {
          result = result & CompareResult::kGE;
        }
        break;
      case CompareResult::kNE:
        if (known.offset == sides.offset) result = result & CompareResult::kNE;
        break;
      default:
        break;
    }
  };
  if (!propagate) {
    ForEachBetween(*left, *right, merge);
    return result;
  }
  for (const Comparison& known : Follow(*left, *right)) merge(known);
  for (const Comparison& known : Follow(*right, *left)) {
    merge(*known.WithLeft(*left));
  }
  return result;
}

}  // namespace baton::tir
