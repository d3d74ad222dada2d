#include "baton/ir/node_compare.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/stable_hash.h"
#include "baton/ir/attrs.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/ir/type.h"

namespace baton::internal {
namespace {

// True if every field has its default value, so that leaving the attributes
// out would mean the same where `implied` are meant.
bool AreDefaults(const Attrs& attrs, const AttrsType* implied) {
  if (!attrs.defined()) return true;
  if (implied != &attrs->type()) return false;
  for (const Field& field : attrs->fields().fields()) {
    if (!attrs->fields().IsDefault(field, attrs->object())) return false;
  }
  return true;
}

const AttrValue* FindIn(const AttrMap& map, absl::string_view name) {
  for (const auto& [key, value] : map) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::atomic<uint64_t>& MemoOf(const Node* node) {
  return NodeAccess::Memo(node);
}

}  // namespace

std::string DescribeNode(const Node* node) {
  return node == nullptr ? "nothing" : ClassOf(node).describe(node);
}

// --- Equality ----------------------------------------------------------------

int NodeComparator::AddStep(int parent, DifferencePlace place) {
  if (place.field == nullptr) return parent;
  steps_.push_back({parent, place});
  return static_cast<int>(steps_.size()) - 1;
}

bool NodeComparator::Differ(int step, DifferencePlace place,
                            absl::string_view a, absl::string_view b) {
  if (!trace_) return false;
  std::vector<const DifferencePlace*> places;
  if (place.field != nullptr) places.push_back(&place);
  for (; step >= 0; step = steps_[step].parent) {
    places.push_back(&steps_[step].place);
  }
  std::reverse(places.begin(), places.end());
  std::string path;
  constexpr size_t kEnds = 12;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i == kEnds && places.size() > 2 * kEnds + 1) {
      absl::StrAppend(&path, ".<", places.size() - 2 * kEnds, " steps>");
      i = places.size() - kEnds;
    }
    const DifferencePlace& at = *places[i];
    absl::StrAppend(&path, path.empty() ? "" : ".", at.field);
    if (at.index >= 0) absl::StrAppend(&path, "[", at.index, "]");
    if (at.part != nullptr) absl::StrAppend(&path, ".", at.part);
  }
  if (path.empty()) path = "root";
  difference_ = absl::StrCat(path, ": ", a, " is not ", b);
  return false;
}

bool NodeComparator::DifferInNode(int step, DifferencePlace place,
                                  const Node* a, const Node* b) {
  if (!trace_) return false;
  const std::string x = DescribeNode(a);
  std::string y = DescribeNode(b);
  if (x == y && a != nullptr && a->kind().Is(NodeSort::kLeafExpr) &&
      ClassOf(a).identity != NodeIdentity::kVariable) {
    y += " of other values";
  }
  return Differ(step, place, x, y);
}

bool NodeComparator::DifferInSize(int step, const char* field, size_t a,
                                  size_t b) {
  if (!trace_) return false;
  const std::string name = absl::StrCat("number of ", field);
  return Differ(step, {name.c_str()}, absl::StrCat(a), absl::StrCat(b));
}

bool NodeComparator::DifferInSharing(int step, const Node* a) {
  if (!trace_) return false;
  return Differ(step, {}, DescribeNode(a),
                "shared with the same uses in the other program");
}

bool NodeComparator::Match(const Node* a, const Node* b, bool* known) {
  *known = false;
  // A node with one holder is reached but once.
  if (a->unique() && b->unique()) return true;
  const auto [match, is_new] = lhs_.TryEmplace(a);
  if (!is_new) {
    *known = true;
    return *match == b;
  }
  *match = b;
  const auto [back, back_is_new] = rhs_.TryEmplace(b);
  if (back_is_new) *back = a;
  return back_is_new;
}

bool NodeComparator::WasMet(const Node* a, const Node* b) {
  if (a->unique() && b->unique()) return false;
  const Node*& last = met_[a];
  if (last == b) return true;
  last = b;
  return false;
}

bool NodeComparator::Compare(const Node* a, const Node* b) {
  stack_.push_back({a, b, -1});
  while (!stack_.empty()) {
    const Task task = stack_.back();
    stack_.pop_back();
    if (!Expand(task)) return false;
  }
  return true;
}

bool NodeComparator::Expand(const Task& task) {
  const Node* a = task.a;
  const Node* b = task.b;
  if (a == nullptr || b == nullptr) {
    return a == b || DifferInNode(task.step, {}, a, b);
  }
  if (a->kind() != b->kind()) return DifferInNode(task.step, {}, a, b);
  const NodeClass& node_class = ClassOf(a);
  switch (node_class.identity) {
    case NodeIdentity::kGraph:
    case NodeIdentity::kValue:
      if (a == b && IsLeaf(a->kind())) return true;
      return node_class.compare(a, b, *this, task.step);
    case NodeIdentity::kName:
      return NamesEqual(a, b) || DifferInNode(task.step, {}, a, b);
    case NodeIdentity::kVariable:
      break;
  }
  bool known = false;
  if (!IsMatched(a)) {
    // Free in `a`.
    if (a != b && !map_free_) return DifferInNode(task.step, {}, a, b);
    if (!BindersEqual(a, b)) return DifferInNode(task.step, {}, a, b);
    return true;
  }
  return Match(a, b, &known) || DifferInNode(task.step, {}, a, b);
}

bool NodeComparator::BindersEqual(const Node* a, const Node* b) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a->kind() != b->kind()) return false;
  const size_t base = trees_.size();
  if (!ClassOf(a).compare_tree(a, b, *this, true)) {
    trees_.resize(base);
    return false;
  }
  bool known = false;
  return DrainTrees(base) && Match(a, b, &known);
}

bool NodeComparator::TypeParamsEqual(const Node* a, const Node* b) {
  const size_t base = trees_.size();
  PushTypeParam(a, b);
  return DrainTrees(base);
}

void NodeComparator::Rebind(const Node* a, const Node* b) {
  const Node*& match = lhs_[a];
  const Node*& back = rhs_[b];
  if (match == b) return;
  // The previous partners have no match any more.
  if (match != nullptr) rhs_[match] = nullptr;
  if (back != nullptr) lhs_[back] = nullptr;
  match = b;
  back = a;
}

void NodeComparator::PushOuterMatches(const Node* a, const Node* b) {
  const Node* const* match = lhs_.Find(a);
  const Node* const* back = rhs_.Find(b);
  if (match != nullptr && *match != nullptr) {
    trees_.push_back({a, *match, true, TreePair::kOuterMatch});
  }
  if (back != nullptr && *back != nullptr) {
    trees_.push_back({*back, b, true, TreePair::kOuterMatch});
  }
}

bool NodeComparator::PartsEqual(const Node* a, const Node* b, int step,
                                DifferencePlace place) {
  if (a != nullptr && ClassOf(a).identity != NodeIdentity::kName) {
    Push(a, b, step, place.field, place.index, place.part);
    return true;
  }
  return TreesEqual(a, b, map_free_) || DifferInNode(step, place, a, b);
}

bool NodeComparator::DrainTrees(size_t base) {
  while (trees_.size() > base) {
    const TreePair pair = trees_.back();
    trees_.pop_back();
    if (pair.how == TreePair::kOuterMatch) {
      Rebind(pair.a, pair.b);
    } else if (!TreeEqual(pair)) {
      trees_.resize(base);
      return false;
    }
  }
  return true;
}

bool NodeComparator::TreeEqual(const TreePair& pair) {
  const Node* a = pair.a;
  const Node* b = pair.b;
  if (a == nullptr || b == nullptr) return a == b;
  if (a->kind() != b->kind()) return false;
  const NodeClass& node_class = ClassOf(a);
  if (pair.how == TreePair::kName) {
    return a == b || node_class.compare_name(a, b, *this);
  }
  if (!node_class.compare_tree(a, b, *this, pair.map)) return false;
  if (pair.how == TreePair::kTypeParam) {
    Rebind(a, b);
    return true;
  }
  if (node_class.identity != NodeIdentity::kVariable) return true;
  if (!IsMatched(a) && a != b && !pair.map) return false;
  bool known = false;
  return Match(a, b, &known);
}

bool NodeComparator::SymbolicDimsEqual(const Dim& a, const Dim& b, bool map) {
  std::vector<std::pair<const Dim*, const Dim*>> work = {{&a, &b}};
  while (!work.empty()) {
    const auto [x, y] = work.back();
    work.pop_back();
    if (!x->is_symbolic() || !y->is_symbolic()) {
      if (*x != *y) return false;
      continue;
    }
    const DimExprNode* p = x->expr();
    const DimExprNode* q = y->expr();
    if (p->op() != q->op() || p->dtype() != q->dtype()) return false;
    if (p->is_var()) {
      if (!IsMatched(p) && p != q && !map) return false;
      bool known = false;
      if (!Match(p, q, &known)) return false;
    } else {
      work.push_back({&p->rhs(), &q->rhs()});
      work.push_back({&p->lhs(), &q->lhs()});
    }
  }
  return true;
}

bool NodeComparator::ValuesEqual(const AttrValue& a, const AttrValue& b) {
  if (const Dim* x = a.As<Dim>()) {
    const Dim* y = b.As<Dim>();
    return y != nullptr && DimsEqual(*x, *y, map_free_);
  }
  const AttrList* p = a.As<AttrList>();
  const AttrList* q = b.As<AttrList>();
  if (p != nullptr && q != nullptr) {
    if (p->size() != q->size()) return false;
    for (size_t i = 0; i < p->size(); ++i) {
      if (!ValuesEqual((*p)[i], (*q)[i])) return false;
    }
    return true;
  }
  return a == b;
}

bool NodeComparator::AttrsAreEqual(const Attrs& a, const Attrs& b,
                                   const AttrsType* implied, int step) {
  if (AttrsEqual(a, b)) return true;
  if (!a.defined() || !b.defined()) {
    if (AreDefaults(a, implied) && AreDefaults(b, implied)) return true;
    return Differ(step, {"attrs"}, a.defined() ? a->type().type_key() : "none",
                  b.defined() ? b->type().type_key() : "none");
  }
  if (&a->type() != &b->type()) {
    return Differ(step, {"attrs"}, a->type().type_key(), b->type().type_key());
  }
  for (const Field& field : a->fields().fields()) {
    if (field.Equal(a->object(), b->object())) continue;
    const AttrValue p = field.Get(a->object());
    const AttrValue q = field.Get(b->object());
    if (!ValuesEqual(p, q)) {
      if (!trace_) return false;
      const std::string name(field.name());
      return Differ(step, {"attrs", -1, name.c_str()}, p.ToString(),
                    q.ToString());
    }
  }
  return true;
}

bool NodeComparator::MapsEqual(const AttrMap& a, const AttrMap& b, int step) {
  const auto differ = [&](const std::string& name, const AttrValue* x,
                          const AttrValue* y) {
    if (!trace_) return false;
    return Differ(step, {"attrs", -1, name.c_str()},
                  x == nullptr ? "none" : x->ToString(),
                  y == nullptr ? "set" : y->ToString());
  };
  for (const auto& [name, value] : a) {
    const AttrValue* other = FindIn(b, name);
    if (other == nullptr || !ValuesEqual(value, *other)) {
      return differ(name, &value, other);
    }
  }
  for (const auto& [name, value] : b) {
    if (FindIn(a, name) == nullptr) return differ(name, nullptr, &value);
  }
  return true;
}

// --- Hash --------------------------------------------------------------------

uint64_t NodeHasher::HashDim(const Dim& dim) {
  if (dim.is_any()) return 1;
  if (dim.is_const()) {
    return static_cast<uint64_t>(dim.value()) * 2 + 2;
  }
  tree_open_ = true;
  StableHash hash(3);
  std::vector<const Dim*> work = {&dim};
  while (!work.empty()) {
    const Dim* d = work.back();
    work.pop_back();
    if (!d->is_symbolic()) {
      hash.Add(HashDim(*d));
      continue;
    }
    const DimExprNode* node = d->expr();
    hash.Add(static_cast<uint64_t>(node->op()));
    hash.AddDType(node->dtype());
    if (node->is_var()) {
      hash.Add(Number(node));
    } else {
      work.push_back(&node->rhs());
      work.push_back(&node->lhs());
    }
  }
  return hash.value();
}

uint64_t NodeHasher::HashTree(const Node* root) {
  if (root == nullptr) return 0;
  std::atomic<uint64_t>& memo = MemoOf(root);
  const bool has_memo = root->kind().Is(NodeSort::kType);
  if (has_memo) {
    const uint64_t known = memo.load(std::memory_order_relaxed);
    if (known != 0) return known;
  }
  // Equal trees have equal parts in the same order, so one running hash over a
  // pre-order walk will do.
  const bool outer_open = std::exchange(tree_open_, false);
  StableHash hash(17);
  const size_t base = trees_.size();
  trees_.push_back(root);
  while (trees_.size() > base) {
    RestoreNumbers();
    const Node* node = trees_.back();
    trees_.pop_back();
    if (node == nullptr) {
      hash.Add(0);
      continue;
    }
    const NodeClass& node_class = ClassOf(node);
    hash.Add(static_cast<uint64_t>(node->kind().id()) + 1);
    const size_t parts = trees_.size();
    node_class.hash_tree(node, hash, *this);
    std::reverse(trees_.begin() + static_cast<std::ptrdiff_t>(parts),
                 trees_.end());
    if (node_class.identity == NodeIdentity::kVariable) {
      tree_open_ = true;
      hash.Add(Number(node));
    }
  }
  RestoreNumbers();
  const uint64_t result = hash.value() | 1;
  // Variables hash by their order in the program, so such types have no hash
  // of their own.
  if (has_memo && !tree_open_) memo.store(result, std::memory_order_relaxed);
  tree_open_ |= outer_open;
  return result;
}

void NodeHasher::RestoreNumbers() {
  while (!outer_.empty() && trees_.size() <= outer_.back().base) {
    numbers_[outer_.back().param] = outer_.back().number;
    outer_.pop_back();
  }
}

uint64_t NodeHasher::HashPart(const Node* part) {
  // Expressions count by their kind only: definitions have few.
  if (part == nullptr || ClassOf(part).identity == NodeIdentity::kName) {
    return HashTree(part);
  }
  return static_cast<uint64_t>(part->kind().id());
}

uint64_t NodeHasher::HashVariable(const Node* variable, bool binds) {
  if (variable == nullptr) return 0;
  const auto [number, is_new] = numbers_.TryEmplace(variable);
  if (is_new) *number = next_number_++;
  if (is_new && !binds) open_ = true;
  StableHash hash(static_cast<uint64_t>(variable->kind().id()));
  hash.Add(*number);
  ClassOf(variable).hash(variable, hash, *this);
  return hash.value();
}

uint64_t NodeHasher::HashName(const Node* node, bool with_references) {
  if (node == nullptr) return 0;
  StableHash hash(static_cast<uint64_t>(node->kind().id()));
  ClassOf(node).hash_name(node, hash, *this, with_references);
  return hash.value();
}

uint64_t NodeHasher::HashValue(const AttrValue& value) {
  if (const Dim* dim = value.As<Dim>()) return HashDim(*dim);
  if (const AttrList* list = value.As<AttrList>()) {
    StableHash hash(list->size());
    for (const AttrValue& item : *list) hash.Add(HashValue(item));
    return hash.value();
  }
  return value.Hash();
}

uint64_t NodeHasher::HashMap(const AttrMap& map) {
  // A sum, for the order of entries does not matter.
  uint64_t sum = 0;
  for (const auto& [name, value] : map) {
    StableHash hash(6);
    hash.AddString(name);
    hash.Add(HashValue(value));
    sum += hash.value();
  }
  return sum;
}

uint64_t NodeHasher::HashAttrs(const Attrs& attrs, const AttrsType* implied) {
  if (!attrs.defined() || AreDefaults(attrs, implied)) return 0;
  StableHash hash(5);
  hash.AddString(attrs->type().type_key());
  for (const Field& field : attrs->fields().fields()) {
    if (attrs->fields().IsDefault(field, attrs->object())) {
      hash.Add(0);
    } else {
      hash.Add(HashValue(field.Get(attrs->object())));
    }
  }
  return hash.value();
}

void NodeHasher::Arrive(const Node* node) {
  if (node == nullptr) {
    values_.push_back(0);
    return;
  }
  const NodeClass& node_class = ClassOf(node);
  if (node_class.identity == NodeIdentity::kVariable) {
    values_.push_back(HashVariable(node, false));
    return;
  }
  if (IsLeaf(node->kind())) {
    std::atomic<uint64_t>& memo = MemoOf(node);
    uint64_t known = memo.load(std::memory_order_relaxed);
    if (!IsHash(known)) {
      known |= HashForMemo(HashName(node));
      memo.store(known, std::memory_order_relaxed);
    }
    values_.push_back(HashOfMemo(known));
    return;
  }
  if (!node->unique()) {
    if (const uint64_t* hash = memo_.Find(node); hash != nullptr) {
      values_.push_back(*hash);
      return;
    }
  }
  const size_t base = children_.size();
  frames_.push_back({node, values_.size(), base, base,
                     StableHash(static_cast<uint64_t>(node->kind().id()))});
  node_class.hash(node, frames_.back().hash, *this);
}

uint64_t NodeHasher::Hash(const Node* root) {
  Arrive(root);
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.next < children_.size()) {
      Arrive(children_[frame.next++]);
      continue;
    }
    const Node* node = frame.node;
    const size_t count = values_.size() - frame.values_base;
    frame.hash.Add(count);
    for (size_t i = frame.values_base; i < values_.size(); ++i) {
      frame.hash.Add(values_[i]);
    }
    // The number shows how nodes are shared, where that counts.
    if (count != 0 && ClassOf(node).identity != NodeIdentity::kValue) {
      frame.hash.Add(finished_++);
    }
    const uint64_t hash = frame.hash.value();
    values_.resize(frame.values_base);
    children_.resize(frame.children_base);
    frames_.pop_back();
    values_.push_back(hash);
    if (!node->unique()) memo_[node] = hash;
  }
  return values_.back();
}

}  // namespace baton::internal
