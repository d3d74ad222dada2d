// Node: immutable, reference-counted nodes of the IR, and one-pointer handles
// to them.
//
// Every type, expression and attribute set is a node. A node is immutable: the
// constructor of its handle class (Call, Var, TensorType, ...) creates it, and
// copies of the handle share it. Comparing handles compares identities;
// structural_equal.h compares contents.
//
//   if (const CallNode* call = expr.As<CallNode>()) Use(call->args());
//   Expr again(call);  // a handle to an existing node
//
// Counts are atomic once the process has a second thread, so any thread may
// copy and drop handles. Destroying a graph never recurses, however deep it is.

#ifndef BATON_IR_NODE_H_
#define BATON_IR_NODE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/string_view.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_memory.h"

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define BATON_SINGLE_THREADED() (__libc_single_threaded != 0)
#endif
#endif
#ifndef BATON_SINGLE_THREADED
#define BATON_SINGLE_THREADED() false
#endif

namespace baton {

// The name of a kind in messages: `Call`, `TupleGetItem`, ...; `unknown` if no
// class of that kind is registered.
absl::string_view NodeKindName(NodeKind kind);

// The name with its level: `relay.Call`; `unknown.` and the id if no class of
// that kind is registered.
std::string QualifiedNodeKindName(NodeKind kind);

class Dim;
class Node;
class NodeRef;

namespace internal {
void DestroyGraph(const Node* node);
class ChildSink;
class NodeAccess;
// Ends the program: the caller cannot handle the kind of `node`.
[[noreturn]] void UnknownKind(const Node* node);
// Selects the constructor of a node whose fields are filled in afterwards.
struct BlankNode {};
}  // namespace internal

class Node {
 public:
  // The handle class that visitors use for the node's children.
  using ChildHandle = NodeRef;

  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  NodeKind kind() const { return kind_; }

  // True if exactly one handle refers to this node: a traversal reaches it only
  // once and need not remember it.
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }

  static void* operator new(size_t bytes) {
    return internal::NodeMemory::Allocate(bytes);
  }
  static void* operator new(size_t /*bytes*/, void* place) { return place; }
  static void operator delete(void* memory, size_t bytes) {
    internal::NodeMemory::Free(memory, bytes);
  }
  static void operator delete(void* /*memory*/, void* /*place*/) {}

 protected:
  explicit Node(NodeKind kind) : kind_(kind) {}
  ~Node() = default;

 private:
  friend class NodeRef;
  friend class internal::ChildSink;
  friend class internal::NodeAccess;
  friend void internal::DestroyGraph(const Node* node);

  // Nodes with this bit are never counted and never destroyed (operators).
  static constexpr uint32_t kImmortal = 0x80000000u;

  void Retain() const {
    const uint32_t refs = refs_.load(std::memory_order_relaxed);
    if ((refs & kImmortal) != 0) return;
    if (BATON_SINGLE_THREADED()) {
      refs_.store(refs + 1, std::memory_order_relaxed);
    } else {
      refs_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void Release() const {
    if (DropsLast()) internal::DestroyGraph(this);
  }
  // Drops one reference; returns true if it was the last one.
  bool DropsLast() const {
    const uint32_t refs = refs_.load(std::memory_order_acquire);
    // The only owner needs no atomic decrement.
    if (refs == 1) return true;
    if ((refs & kImmortal) != 0) return false;
    if (BATON_SINGLE_THREADED()) {
      refs_.store(refs - 1, std::memory_order_relaxed);
      return false;
    }
    return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  mutable std::atomic<uint32_t> refs_{0};
  NodeKind kind_;
  uint8_t spare_[2] = {};
  // The structural hash, once computed, and a bit that says that an origin of
  // the node was recorded: see kHasOriginMemo. While the node is being
  // destroyed, the link to the next node to destroy.
  mutable std::atomic<uint64_t> memo_{0};
};

// A handle to a node, or null. Equality and hash are those of the pointer.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(const Node* node) : node_(node) {
    if (node_ != nullptr) node_->Retain();
  }
  NodeRef(const NodeRef& other) : NodeRef(other.node_) {}
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, {})) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef() {
    if (node_ != nullptr) node_->Release();
  }

  bool defined() const { return node_ != nullptr; }
  explicit operator bool() const { return node_ != nullptr; }
  const Node* get() const { return node_; }

  // The node as an N, or null if it is another kind or the handle is null.
  template <typename N>
  const N* As() const {
    return node_ != nullptr && N::ClassOf(node_->kind())
               ? static_cast<const N*>(node_)
               : nullptr;
  }
  template <typename N>
  bool Is() const {
    return node_ != nullptr && N::ClassOf(node_->kind());
  }

  friend bool operator==(const NodeRef& a, const NodeRef& b) {
    return a.node_ == b.node_;
  }
  friend bool operator!=(const NodeRef& a, const NodeRef& b) {
    return a.node_ != b.node_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const NodeRef& ref) {
    return H::combine(std::move(h), ref.node_);
  }

  // Returns the node and clears the handle without decrementing the count; for
  // code that destroys graphs.
  const Node* ReleaseToCaller() { return std::exchange(node_, nullptr); }

  // Converts `ref` to a handle of class H without counting. The node must be of
  // that class.
  template <typename H>
  friend H MoveAs(NodeRef ref) {
    H handle;
    static_cast<NodeRef&>(handle).node_ = ref.ReleaseToCaller();
    return handle;
  }

 protected:
  const Node* node_ = nullptr;
};

inline const Node* ReferredNode(const NodeRef& ref) { return ref.get(); }

// Handle classes of node classes, for generic code: HandleOf<CallNode> is Call.
template <typename N>
using HandleOf = typename N::Handle;

// Node classes of handle classes: NodeOf<Call> is CallNode.
template <typename H>
using NodeOf = std::remove_cvref_t<decltype(*std::declval<const H&>())>;

// Makes a handle of the node's own class: `Handle(call_node)` is a Call.
template <typename N>
HandleOf<N> Handle(const N* node) {
  return HandleOf<N>(node);
}

// Declares the members of every handle class: the null constructor, the
// constructor from a node, and access to the node. `Base` is the base handle
// class.
#define BATON_HANDLE(Class, Base, NodeClass)            \
  Class() = default;                                    \
  explicit Class(const NodeClass* node) : Base(node) {} \
  const NodeClass* get() const {                        \
    return static_cast<const NodeClass*>(node_);        \
  }                                                     \
  const NodeClass* operator->() const { return get(); } \
  const NodeClass& operator*() const { return *get(); }

namespace internal {

// Access to private members of nodes, for algorithms over all node classes.
class NodeAccess {
 public:
  static void MakeImmortal(const Node* node) {
    node->refs_.store(Node::kImmortal, std::memory_order_relaxed);
  }
  static void Retain(const Node* node) { node->Retain(); }
  static void Release(const Node* node) { node->Release(); }
  static bool DropsLast(const Node* node) { return node->DropsLast(); }
  static std::atomic<uint64_t>& Memo(const Node* node) { return node->memo_; }
  template <typename N>
  static N* ConstructBlank(void* memory) {
    return new (memory) N(BlankNode{});
  }
  // For classes that define a static Delete().
  template <typename N>
  requires requires(N* node) { N::Delete(node); }
  static void Delete(N* node) { N::Delete(node); }
};

// The memo of an expression: bit 0 says that a hash is stored (all stored
// hashes are odd), bit 1 that an origin of the node was recorded (origin.h),
// and the other bits are the hash.
inline constexpr uint64_t kHasOriginMemo = 2;
inline bool IsHash(uint64_t memo) { return (memo & 1) != 0; }
inline uint64_t HashOfMemo(uint64_t memo) { return memo & ~kHasOriginMemo; }
inline uint64_t HashForMemo(uint64_t hash) { return HashOfMemo(hash) | 1; }
// True if an origin of `node` was recorded since its creation.
inline bool HasRecordedOrigin(const Node* node) {
  return (NodeAccess::Memo(node).load(std::memory_order_relaxed) &
          kHasOriginMemo) != 0;
}

// Collects the nodes to which a node being destroyed refers. Takes over the
// reference of each handle.
class ChildSink {
 public:
  void Take(NodeRef& child) {
    const Node* node = child.ReleaseToCaller();
    if (node != nullptr) TakeNode(node);
  }
  void Take(Dim& dim);

 private:
  friend void DestroyGraph(const Node* node);
  void TakeNode(const Node* node) {
    if (!node->DropsLast()) return;
    node->memo_.store(reinterpret_cast<uintptr_t>(pending_),
                      std::memory_order_relaxed);
    pending_ = node;
  }
  const Node* pending_ = nullptr;  // linked through memo_
};

}  // namespace internal
}  // namespace baton

#undef BATON_SINGLE_THREADED

#endif  // BATON_IR_NODE_H_
