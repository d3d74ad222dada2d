// Compares and hashes nodes; the implementation of structural_equal.h.
// Templates derive the code from the description of each class. The role of a
// field determines its comparison (node_fields.h); NodeIdentity determines when
// two nodes are equal.
//
// The functions instantiated for each class compare the fields of two nodes in
// this order, which determines the matching of variables: values and numbers of
// elements; type parameters; binders; all other fields; children, which are
// pushed on a stack.
//
// A class in which null attributes mean attributes with all defaults declares:
//
//   // The type of these attributes; null if null means no attributes.
//   static const AttrsType* ImpliedAttrs(const CallNode& node);

#ifndef BATON_IR_NODE_COMPARE_H_
#define BATON_IR_NODE_COMPARE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/stable_hash.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_map.h"
#include "baton/ir/type.h"

namespace baton::internal {

template <typename N>
constexpr NodeIdentity IdentityOf() {
  if constexpr (requires { N::kIdentity; }) {
    return N::kIdentity;
  } else {
    return NodeIdentity::kGraph;
  }
}

// `%x`, `a call of nn.dense`, `Tuple`; `nothing` for null.
std::string DescribeNode(const Node* node);

template <typename N>
const AttrsType* ImpliedAttrsOf(const N& node) {
  if constexpr (requires { N::ImpliedAttrs(node); }) {
    return N::ImpliedAttrs(node);
  } else {
    return nullptr;
  }
}

// The place of a difference in a node: `body`, `args[2]`, `clauses[0].rhs`; the
// node itself if `field` is null.
struct DifferencePlace {
  const char* field = nullptr;
  int index = -1;
  const char* part = nullptr;
};

// Compares programs, types or definitions. Make a new object for each
// comparison.
class NodeComparator {
 public:
  // `map_free`: see StructuralEqualOptions. If `trace` is true, records the
  // path to each node, so that TakeDifference() can describe the place of the
  // difference.
  NodeComparator(bool map_free, bool trace)
      : map_free_(map_free), trace_(trace) {}
  NodeComparator(const NodeComparator&) = delete;
  NodeComparator& operator=(const NodeComparator&) = delete;

  bool Compare(const Node* a, const Node* b);
  bool CompareTypes(const Node* a, const Node* b) {
    return TreesEqual(a, b, map_free_);
  }
  // The description of the difference, after Compare returned false.
  std::string TakeDifference() { return std::move(difference_); }

  // The members below are for the functions of classes. A bool result is true
  // if no difference was found so far; `step` is the place of the compared
  // nodes.
  bool map_free() const { return map_free_; }
  // Compares two children later; the last pushed pair is compared first.
  void Push(const Node* a, const Node* b, int step, const char* field,
            int index, const char* part) {
    if (trace_) step = AddStep(step, {field, index, part});
    stack_.push_back({a, b, step});
  }
  // As Push, for parts of trees and, by name, for references. If `map` is
  // true, free variables may match other free variables.
  void PushTree(const Node* a, const Node* b, bool map) {
    trees_.push_back({a, b, map, TreePair::kTree});
  }
  void PushTypeParam(const Node* a, const Node* b) {
    trees_.push_back({a, b, true, TreePair::kTypeParam});
  }
  // Call before pushing the parts of a tree that binds the type parameters `a`
  // and `b`. After these parts have been compared, restores the previous
  // matches of `a` and `b`.
  void PushOuterMatches(const Node* a, const Node* b);
  void PushName(const Node* a, const Node* b) {
    trees_.push_back({a, b, false, TreePair::kName});
  }
  // Compares types, patterns and other trees.
  bool TreesEqual(const Node* a, const Node* b, bool map) {
    if (a == nullptr || b == nullptr) return a == b;
    const size_t base = trees_.size();
    // Most trees are a single node.
    if (!TreeEqual({a, b, map, TreePair::kTree})) {
      trees_.resize(base);
      return false;
    }
    return trees_.size() == base || DrainTrees(base);
  }
  bool NamesEqual(const Node* a, const Node* b) {
    if (a == b) return true;
    const size_t base = trees_.size();
    PushName(a, b);
    return DrainTrees(base);
  }
  // Compares parts of definitions: other definitions, or expressions.
  bool PartsEqual(const Node* a, const Node* b, int step,
                  DifferencePlace place);
  bool BindersEqual(const Node* a, const Node* b);
  bool TypeParamsEqual(const Node* a, const Node* b);
  bool DimsEqual(const Dim& a, const Dim& b, bool map) {
    if (!a.is_symbolic() || !b.is_symbolic()) return a == b;
    return SymbolicDimsEqual(a, b, map);
  }
  bool ValuesEqual(const AttrValue& a, const AttrValue& b);
  bool MapsEqual(const AttrMap& a, const AttrMap& b, int step);
  bool AttrsAreEqual(const Attrs& a, const Attrs& b, const AttrsType* implied,
                     int step);
  bool AttrsAreEqual(const DictAttrs& a, const DictAttrs& b,
                     const AttrsType* /*implied*/, int step) {
    return a == b || MapsEqual(a.entries(), b.entries(), step);
  }
  // Matches two nodes one to one. Sets `*known` if they were matched before.
  bool Match(const Node* a, const Node* b, bool* known);
  // True if this pair was compared before. Nodes of NodeIdentity::kValue that
  // are shared are compared only once: matches are never undone, so a further
  // comparison would give the same result.
  bool WasMet(const Node* a, const Node* b);

  // These functions record the difference and return false.
  bool Differ(int step, DifferencePlace place, absl::string_view a,
              absl::string_view b);
  bool DifferInNode(int step, DifferencePlace place, const Node* a,
                    const Node* b);
  bool DifferInSize(int step, const char* field, size_t a, size_t b);
  bool DifferInSharing(int step, const Node* a);
  bool traces() const { return trace_; }

 private:
  struct Task {
    const Node* a;
    const Node* b;
    int step;  // index in steps_, -1 at the root
  };
  struct TreePair {
    enum How : uint8_t { kTree, kTypeParam, kOuterMatch, kName };
    const Node* a;
    const Node* b;
    bool map;
    How how;
  };
  // The path to a node; recorded only to describe the place of a difference.
  struct Step {
    int parent;
    DifferencePlace place;
  };

  int AddStep(int parent, DifferencePlace place);
  bool Expand(const Task& task);
  bool DrainTrees(size_t base);
  bool TreeEqual(const TreePair& pair);
  // Matches two type parameters where they are bound. Each function type binds
  // its parameters anew: two types may share a parameter in one program and not
  // in the other.
  void Rebind(const Node* a, const Node* b);
  bool SymbolicDimsEqual(const Dim& a, const Dim& b, bool map);
  bool IsMatched(const Node* a) const { return lhs_.Contains(a); }

  const bool map_free_;
  const bool trace_;
  std::vector<Task> stack_;
  std::vector<TreePair> trees_;
  NodeMap<const Node*> lhs_;
  NodeMap<const Node*> rhs_;
  NodeMap<const Node*> met_;
  std::vector<Step> steps_;
  std::string difference_;
};

// Hashes one program, type or definition. Programs that NodeComparator finds
// equal, with or without `map_free`, have equal hashes. The hash of a variable
// is its position in the order in which the walk meets variables. Each node
// that can be shared gets a number when it is finished, so the hash depends on
// sharing.
class NodeHasher {
 public:
  NodeHasher() = default;
  NodeHasher(const NodeHasher&) = delete;
  NodeHasher& operator=(const NodeHasher&) = delete;

  uint64_t Hash(const Node* root);
  uint64_t HashTree(const Node* root);
  // True if a free variable was met.
  bool open() const { return open_; }

  // The members below are for the functions of classes.
  void Push(const Node* child) { children_.push_back(child); }
  void PushTree(const Node* part) { trees_.push_back(part); }
  // Hashes a part of a definition.
  uint64_t HashPart(const Node* part);
  uint64_t HashVariable(const Node* variable, bool binds);
  // Call before hashing the uses of the type parameter in its function or
  // function type. Gives the parameter the next number, even if it has one, as
  // NodeComparator matches it anew. After the parts of a tree, the parameter
  // has its old number again.
  template <bool kAsTree>
  void BindTypeParam(const Node* param) {
    const auto [number, is_new] = numbers_.TryEmplace(param);
    if (kAsTree && !is_new) outer_.push_back({trees_.size(), param, *number});
    *number = next_number_++;
  }
  uint64_t HashDim(const Dim& dim);
  uint64_t HashValue(const AttrValue& value);
  uint64_t HashMap(const AttrMap& map);
  uint64_t HashAttrs(const Attrs& attrs, const AttrsType* implied);
  uint64_t HashAttrs(const DictAttrs& attrs, const AttrsType* /*implied*/) {
    return HashMap(attrs.entries());
  }
  uint64_t HashName(const Node* node, bool with_references = true);

 private:
  struct Frame {
    const Node* node;
    size_t values_base;
    size_t children_base;
    size_t next;  // of children_
    StableHash hash;
  };

  // The number that a type parameter gets back when at most `base` trees are
  // left.
  struct OuterNumber {
    size_t base;
    const Node* param;
    uint64_t number;
  };

  void RestoreNumbers();
  // Computes or finds the hash of `node` and pushes it; otherwise pushes a
  // frame.
  void Arrive(const Node* node);
  uint64_t Number(const Node* node) {
    const auto [number, is_new] = numbers_.TryEmplace(node);
    if (is_new) *number = next_number_++;
    return *number;
  }

  std::vector<Frame> frames_;
  std::vector<uint64_t> values_;
  std::vector<const Node*> children_;
  std::vector<const Node*> trees_;
  std::vector<OuterNumber> outer_;
  NodeMap<uint64_t> memo_;
  NodeMap<uint64_t> numbers_;
  uint64_t next_number_ = 0;
  uint64_t finished_ = 0;
  bool open_ = false;
  bool tree_open_ = false;
};

// --- From the description ----------------------------------------------------

// The references in a field; for a list, the references in the list.
template <typename T>
auto ReferencesIn(const T& value) {
  if constexpr (kIsReference<T>) {
    return absl::Span<const T>(&value, 1);
  } else if constexpr (kIsOptional<T>) {
    using E = typename T::element_type::value_type;
    return value == nullptr ? absl::Span<const E>()
                            : absl::Span<const E>(*value);
  } else if constexpr (kIsVector<T>) {
    return absl::Span<const typename T::value_type>(value);
  } else {
    return absl::Span<const std::remove_const_t<typename T::value_type>>(value);
  }
}

template <typename T>
inline constexpr bool kIsList = !kIsReference<T>;

template <typename T>
std::string DataText(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return absl::StrCat(static_cast<int64_t>(value));
  } else if constexpr (std::is_arithmetic_v<T> ||
                       std::is_same_v<T, std::string>) {
    return absl::StrCat(value);
  } else if constexpr (std::is_same_v<T, DType> ||
                       std::is_same_v<T, AttrValue>) {
    return value.ToString();
  } else {
    return "a value";
  }
}

// True for classes without children: a difference in one of their fields is
// reported as a difference of the whole node.
template <typename N>
inline constexpr bool kIsLeafClass = IsLeaf(N::kKind);

template <typename T>
bool DataEqual(const T& a, const T& b, NodeComparator& c) {
  if constexpr (std::is_same_v<T, AttrValue>) {
    return c.ValuesEqual(a, b);
  } else if constexpr (std::is_floating_point_v<T>) {
    // As data, not as numbers: 0 is not -0, and a NaN equals a NaN.
    return a == b ? std::signbit(a) == std::signbit(b)
                  : std::isnan(a) && std::isnan(b);
  } else {
    return a == b;
  }
}

inline bool IsOp(const Node* node) {
  return node != nullptr && node->kind() == IrKind::kOp;
}

// Compares values, numbers of elements, and operators.
template <FieldRole kRole, typename N, typename T>
bool CompareOwn(const char* name, const N& node, const N& other, const T& a,
                const T& b, NodeComparator& c, int step) {
  if constexpr (kRole == FieldRole::kData) {
    if constexpr (std::is_same_v<T, AttrMap>) {
      return c.MapsEqual(a, b, step);
    } else {
      if (DataEqual(a, b, c)) return true;
      if (!c.traces()) return false;
      if (kIsLeafClass<N>) return c.DifferInNode(step, {}, &node, &other);
      return c.Differ(step, {name}, DataText(a), DataText(b));
    }
  } else if constexpr (kRole == FieldRole::kRecords) {
    if (a.size() != b.size()) {
      return c.DifferInSize(step, name, a.size(), b.size());
    }
    bool equal = true;
    for (size_t i = 0; i < a.size() && equal; ++i) {
      ApplyFields(
          [&](auto... part) {
            ((equal = equal &&
                      CompareOwn<decltype(part)::kRole>(
                          part.name(), node, other, decltype(part)::Of(a[i]),
                          decltype(part)::Of(b[i]), c, step)),
             ...);
          },
          T::value_type::Fields());
    }
    return equal;
  } else if constexpr (kRole == FieldRole::kSpan ||
                       kRole == FieldRole::kDerived ||
                       kRole == FieldRole::kInferredType) {
    return true;
  } else if constexpr (HasReferences<T>() && kIsList<T>) {
    const size_t size = ReferencesIn(a).size();
    const size_t other_size = ReferencesIn(b).size();
    return size == other_size || c.DifferInSize(step, name, size, other_size);
  } else if constexpr (kRole == FieldRole::kChild && std::is_same_v<T, Expr>) {
    // The operator determines most of the equality of two expressions.
    return a == b || (!IsOp(a.get()) && !IsOp(b.get())) ||
           c.NamesEqual(a.get(), b.get()) ||
           c.DifferInNode(step, {name}, a.get(), b.get());
  } else {
    return true;
  }
}

// Compares the fields of the phase kPhase: kTypeParam, kBinder (with patterns)
// or kAnnotation (all fields that follow binders).
template <FieldRole kPhase, FieldRole kRole, typename N, typename T>
bool CompareParts(const char* name, int record, const char* part, const N& node,
                  const T& a, const T& b, NodeComparator& c, int step) {
  constexpr bool kIsBinder =
      kRole == FieldRole::kBinder || kRole == FieldRole::kPattern;
  constexpr bool kIsLater =
      kRole == FieldRole::kAnnotation || kRole == FieldRole::kDim ||
      kRole == FieldRole::kAttrs || kRole == FieldRole::kReference;
  constexpr FieldRole kMine = kIsBinder  ? FieldRole::kBinder
                              : kIsLater ? FieldRole::kAnnotation
                                         : kRole;
  if constexpr (kRole == FieldRole::kRecords) {
    bool equal = true;
    for (size_t i = 0; i < a.size() && equal; ++i) {
      ApplyFields(
          [&](auto... field) {
            ((equal = equal && CompareParts<kPhase, decltype(field)::kRole>(
                                   name, static_cast<int>(i), field.name(),
                                   node, decltype(field)::Of(a[i]),
                                   decltype(field)::Of(b[i]), c, step)),
             ...);
          },
          T::value_type::Fields());
    }
    return equal;
  } else if constexpr (kMine != kPhase) {
    return true;
  } else if constexpr (kRole == FieldRole::kAttrs) {
    return a == b || c.AttrsAreEqual(a, b, ImpliedAttrsOf(node), step);
  } else {
    const auto x = ReferencesIn(a);
    const auto y = ReferencesIn(b);
    for (size_t i = 0; i < x.size(); ++i) {
      bool equal = true;
      if constexpr (kRole == FieldRole::kDim) {
        equal = c.DimsEqual(x[i], y[i], c.map_free());
        if (!equal && c.traces()) {
          c.Differ(step, {name, kIsList<T> ? static_cast<int>(i) : -1},
                   x[i].ToString(), y[i].ToString());
        }
        if (!equal) return false;
      } else {
        if constexpr (kRole == FieldRole::kTypeParam) {
          equal = c.TypeParamsEqual(x[i].get(), y[i].get());
        } else if constexpr (kRole == FieldRole::kBinder) {
          equal = c.BindersEqual(x[i].get(), y[i].get());
        } else if constexpr (kRole == FieldRole::kReference) {
          equal = c.NamesEqual(x[i].get(), y[i].get());
        } else {
          equal = c.TreesEqual(x[i].get(), y[i].get(), c.map_free());
        }
        if (!equal) {
          const int index = record >= 0  ? record
                            : kIsList<T> ? static_cast<int>(i)
                                         : -1;
          return c.DifferInNode(step, {name, index, part}, x[i].get(),
                                y[i].get());
        }
      }
    }
    return true;
  }
}

// Pushes children in reverse, so that the first ones are compared first.
template <FieldRole kRole, typename N, typename T>
bool PushChildren(const char* name, const T& a, const T& b, NodeComparator& c,
                  int step) {
  const auto push = [&](const Node* x, const Node* y, int index,
                        const char* part) {
    if constexpr (N::kKind.Is(NodeSort::kTypeDefinition)) {
      return c.PartsEqual(x, y, step, {name, index, part});
    } else {
      if (x != y || !IsOp(x)) c.Push(x, y, step, name, index, part);
      return true;
    }
  };
  bool equal = true;
  if constexpr (kRole == FieldRole::kRecords) {
    const auto push_part = [&](auto part, size_t i) {
      using P = decltype(part);
      if constexpr (P::kRole == FieldRole::kChild) {
        equal = equal && push(P::Of(a[i]).get(), P::Of(b[i]).get(),
                              static_cast<int>(i), part.name());
      }
    };
    for (size_t i = a.size(); i-- > 0;) {
      ForEachReversed(T::value_type::Fields(),
                      [&](auto part) { push_part(part, i); });
    }
  } else if constexpr (kRole == FieldRole::kChild) {
    const auto x = ReferencesIn(a);
    const auto y = ReferencesIn(b);
    for (size_t i = x.size(); i-- > 0 && equal;) {
      equal = push(x[i].get(), y[i].get(),
                   kIsList<T> ? static_cast<int>(i) : -1, nullptr);
    }
  }
  return equal;
}

// Compares expressions and definitions, which are graphs.
template <typename N>
bool CompareFields(const Node* node, const Node* other, NodeComparator& c,
                   int step) {
  const N& a = *static_cast<const N*>(node);
  const N& b = *static_cast<const N*>(other);
  if constexpr (!kIsLeafClass<N> && IdentityOf<N>() == NodeIdentity::kGraph) {
    if (NumChildrenOf(a) != 0 || NumChildrenOf(b) != 0) {
      bool known = false;
      if (!c.Match(&a, &b, &known)) return c.DifferInSharing(step, &a);
      if (known) return true;
    }
  }
  if constexpr (!kIsLeafClass<N> && IdentityOf<N>() == NodeIdentity::kValue) {
    if (c.WasMet(&a, &b)) return true;
  }
  bool equal = true;
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    equal = equal && CompareOwn<F::kRole>(field.name(), a, b, F::Of(a),
                                          F::Of(b), c, step);
  });
  const auto compare = [&]<FieldRole kPhase>() {
    ForEachField<N>([&](auto field) {
      using F = decltype(field);
      equal =
          equal && CompareParts<kPhase, F::kRole>(field.name(), -1, nullptr, a,
                                                  F::Of(a), F::Of(b), c, step);
    });
  };
  compare.template operator()<FieldRole::kTypeParam>();
  compare.template operator()<FieldRole::kBinder>();
  compare.template operator()<FieldRole::kAnnotation>();
  if (!equal) return false;
  ForEachFieldReversed<N>([&](auto field) {
    using F = decltype(field);
    equal = equal && PushChildren<F::kRole, N>(field.name(), F::Of(a), F::Of(b),
                                               c, step);
  });
  return equal;
}

template <typename N>
constexpr bool HasRecords() {
  bool result = false;
  ForEachField<N>([&result](auto field) {
    result |= decltype(field)::kRole == FieldRole::kRecords;
  });
  return result;
}

// Compares nodes of trees (types, patterns): pushes their parts so that type
// parameters come first, and children last.
template <typename N>
bool CompareTree(const Node* node, const Node* other, NodeComparator& c,
                 bool map) {
  const N& a = *static_cast<const N*>(node);
  const N& b = *static_cast<const N*>(other);
  bool equal = true;
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    using T = typename F::Value;
    constexpr FieldRole kRole = F::kRole;
    if (!equal) return;
    if constexpr (kRole == FieldRole::kData) {
      equal = DataEqual(F::Of(a), F::Of(b), c);
    } else if constexpr (kRole == FieldRole::kAttrs) {
      equal = c.AttrsAreEqual(F::Of(a), F::Of(b), ImpliedAttrsOf(a), -1);
    } else if constexpr (HasReferences<T>() || F::kIsTrailing) {
      const auto x = ReferencesIn(F::Of(a));
      const auto y = ReferencesIn(F::Of(b));
      equal = kRole == FieldRole::kSpan || kRole == FieldRole::kDerived ||
              kRole == FieldRole::kInferredType || x.size() == y.size();
      for (size_t i = 0; i < x.size() && equal; ++i) {
        if constexpr (kRole == FieldRole::kDim) {
          equal = c.DimsEqual(x[i], y[i], map);
        } else if constexpr (kRole == FieldRole::kBinder) {
          equal = c.BindersEqual(x[i].get(), y[i].get());
        } else if constexpr (kRole == FieldRole::kReference) {
          c.PushName(x[i].get(), y[i].get());
        }
      }
    }
  });
  if (!equal) return false;
  const auto push = [&]<FieldRole kRole>() {
    ForEachFieldReversed<N>([&](auto field) {
      using F = decltype(field);
      if constexpr (F::kRole == kRole) {
        const auto x = ReferencesIn(F::Of(a));
        const auto y = ReferencesIn(F::Of(b));
        for (size_t i = x.size(); i-- > 0;) {
          if constexpr (kRole == FieldRole::kTypeParam) {
            c.PushTypeParam(x[i].get(), y[i].get());
          } else {
            c.PushTree(x[i].get(), y[i].get(), map);
          }
        }
      }
    });
  };
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kTypeParam) {
      const auto x = ReferencesIn(F::Of(a));
      const auto y = ReferencesIn(F::Of(b));
      for (size_t i = 0; i < x.size(); ++i) {
        c.PushOuterMatches(x[i].get(), y[i].get());
      }
    }
  });
  push.template operator()<FieldRole::kChild>();
  push.template operator()<FieldRole::kAnnotation>();
  push.template operator()<FieldRole::kTypeParam>();
  return true;
}

// Compares the names of definitions.
template <typename N>
bool CompareName(const Node* node, const Node* other, NodeComparator& c) {
  const N& a = *static_cast<const N*>(node);
  const N& b = *static_cast<const N*>(other);
  bool equal = true;
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kData) {
      equal = equal && DataEqual(F::Of(a), F::Of(b), c);
    } else if constexpr (F::kRole == FieldRole::kReference) {
      const auto x = ReferencesIn(F::Of(a));
      const auto y = ReferencesIn(F::Of(b));
      equal = equal && x.size() == y.size();
      for (size_t i = 0; i < x.size() && equal; ++i) {
        c.PushName(x[i].get(), y[i].get());
      }
    }
  });
  return equal;
}

template <typename T>
void HashData(const T& value, StableHash& hash, NodeHasher& h) {
  if constexpr (std::is_floating_point_v<T>) {
    hash.AddDouble(value);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    hash.Add(static_cast<uint64_t>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    hash.AddString(value);
  } else if constexpr (std::is_same_v<T, DType>) {
    hash.AddDType(value);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    hash.Add(value.Hash());
  } else if constexpr (std::is_same_v<T, AttrValue>) {
    hash.Add(h.HashValue(value));
  } else if constexpr (std::is_same_v<T, AttrMap>) {
    hash.Add(h.HashMap(value));
  } else if constexpr (kIsVector<T>) {
    hash.Add(value.size());
    for (const auto& element : value) HashData(element, hash, h);
  }
  // Hashes of other values differ from run to run.
}

// Hashes a field. Children of graphs and parts of trees are pushed on a stack.
template <bool kAsTree, FieldRole kRole, typename N, typename T>
void HashField(const N& node, const T& value, StableHash& hash, NodeHasher& h) {
  if constexpr (kRole == FieldRole::kData) {
    HashData(value, hash, h);
  } else if constexpr (kRole == FieldRole::kRecords) {
    hash.Add(value.size());
    for (const auto& record : value) {
      ApplyFields(
          [&](auto... part) {
            (HashField<kAsTree, decltype(part)::kRole>(
                 node, decltype(part)::Of(record), hash, h),
             ...);
          },
          T::value_type::Fields());
    }
  } else if constexpr (kRole == FieldRole::kAttrs) {
    hash.Add(h.HashAttrs(value, ImpliedAttrsOf(node)));
  } else if constexpr (kRole == FieldRole::kChild ||
                       kRole == FieldRole::kBinder ||
                       kRole == FieldRole::kPattern ||
                       kRole == FieldRole::kAnnotation ||
                       kRole == FieldRole::kTypeParam ||
                       kRole == FieldRole::kDim ||
                       kRole == FieldRole::kReference) {
    const auto references = ReferencesIn(value);
    // The number of a graph's children is added with their hashes.
    if (kIsList<T> && (kAsTree || kRole != FieldRole::kChild)) {
      hash.Add(references.size());
    }
    for (const auto& reference : references) {
      if constexpr (kRole == FieldRole::kDim) {
        hash.Add(h.HashDim(reference));
      } else {
        const Node* target = reference.get();
        if constexpr (kRole == FieldRole::kReference) {
          hash.Add(h.HashName(target));
        } else if constexpr (kRole == FieldRole::kBinder) {
          hash.Add(h.HashVariable(target, true));
        } else if constexpr (kAsTree) {
          h.PushTree(target);
        } else if constexpr (kRole != FieldRole::kChild) {
          hash.Add(h.HashTree(target));
        } else if constexpr (N::kKind.Is(NodeSort::kTypeDefinition)) {
          hash.Add(h.HashPart(target));
        } else {
          h.Push(target);
        }
      }
    }
  }
}

template <typename N, bool kAsTree>
void HashFields(const Node* node, StableHash& hash, NodeHasher& h) {
  const N& n = *static_cast<const N*>(node);
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kTypeParam) {
      for (const auto& param : ReferencesIn(F::Of(n))) {
        h.template BindTypeParam<kAsTree>(param.get());
      }
    }
  });
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    HashField<kAsTree, F::kRole>(n, F::Of(n), hash, h);
  });
}

// Hashes the name of a definition and the names to which it refers, but not the
// names to which these refer.
template <typename N>
void HashNameOf(const Node* node, StableHash& hash, NodeHasher& h,
                bool with_references) {
  const N& n = *static_cast<const N*>(node);
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kData) {
      HashData(F::Of(n), hash, h);
    } else if constexpr (F::kRole == FieldRole::kReference) {
      if (!with_references) return;
      for (const auto& reference : ReferencesIn(F::Of(n))) {
        hash.Add(h.HashName(reference.get(), false));
      }
    }
  });
}

template <typename N>
std::string DescribeAs(const Node* node) {
  if constexpr (requires(const N& n) { n.Describe(); }) {
    return static_cast<const N*>(node)->Describe();
  } else if constexpr (std::is_base_of_v<TypeNode, N>) {
    return Type(static_cast<const N*>(node)).ToString();
  } else {
    return std::string(N::kName);
  }
}

}  // namespace baton::internal

#endif  // BATON_IR_NODE_COMPARE_H_
