// What a pass tells of its work while it runs: remarks, statistics, and what
// the nodes that it makes come from.
//
//   if (WantsRemarks(RemarkKind::kMissed)) {
//     LogRemark({.kind = RemarkKind::kMissed,
//                .node = Expr(&call),
//                .reason = "the operator has no kernel",
//                .args = {{"op", call.op_node()->name()}}});
//   }
//
//   BATON_STATISTIC(kFolded, "FoldConstant", "folded", "Calls computed.");
//   kFolded.Add(1);
//
// Instruments listen (instrument/remarks.h). Where nobody does, all of this is
// one test of a pointer of the thread. What is told on several threads arrives
// in the order of the functions, as if there were one thread.

#ifndef BATON_IR_PASS_LOG_H_
#define BATON_IR_PASS_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/registry.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"

namespace baton {

enum class RemarkKind : uint8_t {
  kPassed = 1,    // something was done
  kMissed = 2,    // something was not done, and why
  kAnalysis = 4,  // something that the pass found out
};

// `passed`, `missed`, `analysis`.
absl::string_view RemarkKindName(RemarkKind kind);

struct Remark {
  RemarkKind kind;
  // What it is about; null where that is the function as a whole.
  Expr node = {};
  // A clause without a full stop: `the operator has no kernel`.
  std::string reason = {};
  // Particulars, by name: values, and other nodes.
  AttrMap args = {};
  std::vector<std::pair<std::string, Expr>> nodes = {};

  // Set by LogRemark: the execution of a pass that told it.
  std::string pass = {};
  int64_t execution = 0;
};

// A counter that a pass declares. What it counts in a run is with whoever
// listens to that run. Made by BATON_STATISTIC alone.
class Statistic {
 public:
  // All are string literals.
  Statistic(const char* pass, const char* name, const char* doc,
            CodeLocation location = CodeLocation::Current());

  const char* pass() const { return pass_; }
  const char* name() const { return name_; }
  const char* doc() const { return doc_; }

  inline void Add(int64_t n) const;

 private:
  const char* pass_;
  const char* name_;
  const char* doc_;
};

// Every statistic that is linked in, under `PASS.NAME`.
Registry<const Statistic*>& Statistics();

#define BATON_STATISTIC(variable, pass, name, doc) \
  const ::baton::Statistic variable(pass, name, doc)

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

// Origins in order, 16 bytes each; and which executions told them.
class OriginLog {
 public:
  OriginLog() = default;
  OriginLog(OriginLog&& other) noexcept { *this = std::move(other); }
  OriginLog& operator=(OriginLog&& other) noexcept {
    next_ = std::exchange(other.next_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    execution_ = std::exchange(other.execution_, -1);
    pieces_ = std::exchange(other.pieces_, {});
    runs_ = std::exchange(other.runs_, {});
    return *this;
  }

  size_t size() const {
    return pieces_.size() * kPiece - static_cast<size_t>(end_ - next_);
  }
  bool empty() const { return pieces_.empty(); }
  const Origin& operator[](size_t i) const {
    return pieces_[i / kPiece][i % kPiece];
  }

  // The origins from `begin` on, up to the next run, were told by `execution`.
  struct Run {
    int64_t execution;
    size_t begin;
  };
  const std::vector<Run>& runs() const { return runs_; }

  void Add(int64_t execution, Origin origin) {
    if (execution != execution_) BeginRun(execution);
    if (next_ == end_) AddPiece();
    *next_++ = origin;
  }
  // Adds what `other`, which comes after this, has.
  void Append(OriginLog other);

 private:
  static constexpr size_t kPiece = 256;
  void BeginRun(int64_t execution);
  void AddPiece();

  Origin* next_ = nullptr;
  Origin* end_ = nullptr;
  int64_t execution_ = -1;  // of the last run
  std::vector<std::unique_ptr<Origin[]>> pieces_;
  std::vector<Run> runs_;
};

// What was told, in order.
struct PassLog {
  std::vector<Remark> remarks;
  FlatHashMap<const Statistic*, int64_t> counts;
  // What nodes were made from; several entries for one that was made from
  // several.
  OriginLog origins;
  // What was told on several threads, whose order does not show which of two
  // nodes of one address was first: their addresses are not used again as long
  // as they are held.
  std::vector<Expr> held;

  // Adds what `other`, which comes after this, was told.
  void Append(PassLog other);
};

// Whether anybody wants to know: what it takes trouble to find out is worth it.
inline bool SomeoneListens();
inline bool WantsRemarks(RemarkKind kind);

// Tells those who want remarks of that kind from this pass.
void LogRemark(Remark remark);

// Listening. Instruments use this through instrument/pass_listener.h.
namespace internal {

// One who listens, on one thread: those of a thread form a list.
struct LogListener {
  static constexpr uint8_t kOrigins = 8;
  static constexpr uint8_t kCounts = 16;

  const void* owner = nullptr;
  PassLog* log = nullptr;
  // A bit for each RemarkKind, and the two above; for the pass that runs.
  uint8_t wanted = 0;
  bool holds = false;  // the nodes of origins: PassLog::held
  const std::string* pass = nullptr;
  int64_t execution = 0;
  LogListener* next = nullptr;
};

inline thread_local constinit LogListener* log_listeners = nullptr;

inline bool AnyWants(uint8_t bits) {
  for (const LogListener* l = log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & bits) != 0) return true;
  }
  return false;
}
void AddToLogs(const Statistic* statistic, int64_t n);
// To be called when the list, or what is wanted, has changed.
void ListenersChanged();

// For work on another thread, or of a part that is told later: listeners like
// those of the thread that made this, with logs of their own.
class ForkedLogs {
 public:
  ForkedLogs() = default;  // nobody listens
  // `listeners`: those of the other thread.
  explicit ForkedLogs(const LogListener* listeners);

  // Makes them those of this thread while it lives.
  class Use {
   public:
    explicit Use(ForkedLogs& logs);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    LogListener* outer_;
  };

  // Appends to the logs of `listeners`, those that this was made from.
  void Join(LogListener* listeners);

 private:
  std::vector<LogListener> listeners_;
  std::vector<PassLog> logs_;
};

}  // namespace internal

// Implementation details below.

inline bool SomeoneListens() { return internal::log_listeners != nullptr; }
inline bool WantsRemarks(RemarkKind kind) {
  return internal::AnyWants(static_cast<uint8_t>(kind));
}
inline void Statistic::Add(int64_t n) const {
  if (internal::log_listeners != nullptr) internal::AddToLogs(this, n);
}

}  // namespace baton

#endif  // BATON_IR_PASS_LOG_H_
