// Records the origins of nodes: from which nodes a pass made each new node.

#ifndef BATON_IR_ORIGIN_H_
#define BATON_IR_ORIGIN_H_

#include <atomic>
#include <cstdint>

#include "baton/ir/expr.h"
#include "baton/ir/node.h"

namespace baton {

// True if origins are recorded: see ir/pass_log.h.
inline bool WantsOrigins();

// Records that `made`, a new node, replaces `from` or was made because of it. A
// node that was made from several nodes takes several calls. If only the caller
// refers to `made`, records the same origin for the expressions to which only
// `made` refers: all that was built for it. If nothing is recorded, the cost is
// one test of a pointer. GraphRewriter, ExprMutator and type inference call
// this function. A pass that builds nodes in other ways calls it itself.
inline void LogOrigins(const Expr& made, const ExprNode* from);

// Records the origin of `made` alone: its children are old, or their origins
// have been recorded.
inline void LogOrigin(const Expr& made, const ExprNode* from);

// A record: `made` was made from `from`, or because of it. An Origin does not
// keep the nodes alive: later nodes may have their addresses.
class Origin {
 public:
  Origin() = default;
  // `is_first`: no origin of `made` was recorded before.
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

// Receives origins: writes them while there is room, otherwise calls a
// function.
class OriginSink {
 public:
  using NoRoom = void (*)(OriginSink& sink, Origin origin);
  // A sink without room: `no_room` receives every origin.
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

// The sink of this thread; null if nothing is recorded. pass_log.cc sets it.
inline thread_local constinit OriginSink* origin_sink = nullptr;

// For callers that have checked that origins are recorded.
inline void RecordOrigin(const Node* made, const Node* from) {
  if (made == from || made == nullptr || from == nullptr) return;
  std::atomic<uint64_t>& memo = NodeAccess::Memo(made);
  const uint64_t known = memo.load(std::memory_order_relaxed);
  const bool is_first = (known & kHasOriginMemo) == 0;
  if (is_first) memo.store(known | kHasOriginMemo, std::memory_order_relaxed);
  origin_sink->Add(Origin(made, from, is_first));
}
// Records the origin of `made`, to which nothing else refers, and of the nodes
// to which only `made` refers.
void RecordOriginsOfBuilt(const ExprNode* made, const ExprNode* from);

}  // namespace internal

inline bool WantsOrigins() { return internal::origin_sink != nullptr; }
inline void LogOrigins(const Expr& made, const ExprNode* from) {
  if (!WantsOrigins() || !made.defined()) return;
  if (made->unique()) {
    internal::RecordOriginsOfBuilt(made.get(), from);
  } else {
    internal::RecordOrigin(made.get(), from);
  }
}
inline void LogOrigin(const Expr& made, const ExprNode* from) {
  if (WantsOrigins()) internal::RecordOrigin(made.get(), from);
}

}  // namespace baton

#endif  // BATON_IR_ORIGIN_H_
