// What the nodes that a pass makes come from: how it is told, and who listens.

#ifndef BATON_IR_ORIGIN_H_
#define BATON_IR_ORIGIN_H_

#include <atomic>
#include <cstdint>

#include "baton/ir/expr.h"
#include "baton/ir/node.h"

namespace baton {

// Whether anybody wants to know what nodes come from: ir/pass_log.h.
inline bool WantsOrigins();

// `made`, a node that did not exist before, stands for `from` or was made
// because of it; several calls for one that was made from several. If nobody
// but the caller holds `made`, the same is told of the expressions that it
// alone holds, that is, of all that was built for it. One test of a pointer if
// nobody listens. GraphRewriter, ExprMutator and type inference call this; a
// pass that builds nodes in a way of its own does so itself.
inline void LogOrigins(const Expr& made, const ExprNode* from);

// The same of `made` alone: what it holds is old, or has been told.
inline void LogOrigin(const Expr& made, const ExprNode* from);

// `made` was made from `from`, or because of it. The nodes are not held: later
// ones may have their addresses.
class Origin {
 public:
  Origin() = default;
  // `is_first`: nothing was told of `made`, since it exists, before.
  Origin(const Node* made, const Node* from, bool is_first)
      : made_(reinterpret_cast<uintptr_t>(made) | (is_first ? 1 : 0)),
        from_(from) {}

  const Node* made() const {
    return reinterpret_cast<const Node*>(made_ & ~uintptr_t{1});
  }
  const Node* from() const { return from_; }
  bool is_first() const { return (made_ & 1) != 0; }

 private:
  uintptr_t made_;
  const Node* from_;
};

// Takes origins: writes them where there is room, and calls a function where
// there is none.
class OriginSink {
 public:
  using NoRoom = void (*)(OriginSink& sink, Origin origin);
  // One that never has room: `no_room` gets every origin.
  explicit constexpr OriginSink(NoRoom no_room) : no_room_(no_room) {}

  void Add(Origin origin) {
    if (next_ == limit_) return no_room_(*this, origin);
    *next_++ = origin;
  }

 protected:
  Origin* next_ = nullptr;
  Origin* limit_ = nullptr;

 private:
  NoRoom no_room_;
};

// Implementation details below.

namespace internal {

// Takes what is told on this thread; null where nobody listens. Set by
// pass_log.cc.
inline thread_local constinit OriginSink* origin_sink = nullptr;

// For callers that know that somebody listens.
inline void TellOrigin(const Node* made, const Node* from) {
  if (made == from || made == nullptr || from == nullptr) return;
  std::atomic<uint64_t>& memo = NodeAccess::Memo(made);
  const uint64_t known = memo.load(std::memory_order_relaxed);
  const bool is_first = (known & kToldMemo) == 0;
  if (is_first) memo.store(known | kToldMemo, std::memory_order_relaxed);
  origin_sink->Add(Origin(made, from, is_first));
}
// Of `made`, which nobody else holds, and what it alone holds.
void TellOriginsOfBuilt(const ExprNode* made, const ExprNode* from);

}  // namespace internal

inline bool WantsOrigins() { return internal::origin_sink != nullptr; }
inline void LogOrigins(const Expr& made, const ExprNode* from) {
  if (!WantsOrigins() || !made.defined()) return;
  if (made->unique()) {
    internal::TellOriginsOfBuilt(made.get(), from);
  } else {
    internal::TellOrigin(made.get(), from);
  }
}
inline void LogOrigin(const Expr& made, const ExprNode* from) {
  if (WantsOrigins()) internal::TellOrigin(made.get(), from);
}

}  // namespace baton

#endif  // BATON_IR_ORIGIN_H_
