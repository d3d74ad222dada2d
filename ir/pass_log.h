// Records the log of a running pass: remarks, statistics, and the origins of
// the nodes that it makes.
//
//   if (WantsRemarks(RemarkKind::kMissed)) {
//     LogRemark({.kind = RemarkKind::kMissed,
//                .node = Expr(&call),
//                .reason = "the operator has no kernel",
//                .args = {{"op", call.op_node()->name()}}});
//   }
//
//   BATON_STATISTIC(kFolded, "FoldConstant", "folded",
//                   "Calls replaced by constants.");
//   kFolded.Add(1);
//
// Instruments listen (instrument/remarks.h). Without a listener, all of this
// costs one test of a thread-local pointer. Entries from several threads are in
// the order of the functions, as if there were one thread.

#ifndef BATON_IR_PASS_LOG_H_
#define BATON_IR_PASS_LOG_H_

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/registry.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/origin.h"

namespace baton {

// The kind of a remark. The values are bits of LogListener::wanted.
enum class RemarkKind : uint8_t {
  kPassed = 1,    // a rewrite was done
  kMissed = 2,    // a rewrite was not done; says why
  kAnalysis = 4,  // a result of an analysis
};

// `passed`, `missed`, `analysis`.
absl::string_view RemarkKindName(RemarkKind kind);

// A text in a remark. A literal costs a pointer; any other text is copied once,
// and copies of the RemarkText share it.
class RemarkText {
 public:
  constexpr RemarkText() = default;
  template <size_t N>
  consteval RemarkText(const char (&literal)[N])  // NOLINT
      : data_(literal), size_(N - 1) {}
  RemarkText(absl::string_view text);  // NOLINT
  RemarkText(const std::string& text)  // NOLINT
      : RemarkText(absl::string_view(text)) {}
  template <typename T>
  requires std::is_same_v<T, const char*> RemarkText(const T& text)  // NOLINT
      : RemarkText(absl::string_view(text)) {}

  RemarkText(const RemarkText& other)
      : data_(other.data_), size_(other.size_), is_shared_(other.is_shared_) {
    if (is_shared_) holders().fetch_add(1);
  }
  // The moved-from object keeps the text, valid during the lifetime of this
  // object.
  RemarkText(RemarkText&& other) noexcept
      : data_(other.data_),
        size_(other.size_),
        is_shared_(std::exchange(other.is_shared_, false)) {}
  RemarkText& operator=(RemarkText other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(is_shared_, other.is_shared_);
    return *this;
  }
  constexpr ~RemarkText() {
    if (is_shared_) Release();
  }

  absl::string_view view() const { return {data_, size_}; }

 private:
  // The number of holders that share the text, stored in front of it.
  using Holders = std::atomic<int64_t>;
  Holders& holders() const;
  void Release();

  const char* data_ = "";
  uint32_t size_ = 0;
  bool is_shared_ = false;
};

// A value in a remark: a number or a text. Values of other kinds are converted
// to text at once.
class RemarkValue {
 public:
  template <std::integral T>
  RemarkValue(T number) : number_(number), is_number_(true) {}  // NOLINT
  template <size_t N>
  consteval RemarkValue(const char (&literal)[N]) : text_(literal) {}  // NOLINT
  RemarkValue(RemarkText text) : text_(std::move(text)) {}             // NOLINT
  RemarkValue(const std::string& text) : text_(text) {}                // NOLINT
  RemarkValue(absl::string_view text) : text_(text) {}                 // NOLINT
  RemarkValue(const AttrValue& value);                                 // NOLINT

  std::string ToString() const;

 private:
  RemarkText text_;
  int64_t number_ = 0;
  bool is_number_ = false;
};

// A named value in a remark.
struct RemarkArg {
  RemarkText name;
  RemarkValue value;
};
struct RemarkNode {
  RemarkText name;
  Expr node;
};

// A remark of a pass. It keeps nodes and values, and becomes text when it is
// read (instrument/remarks.h).
struct Remark {
  RemarkKind kind = RemarkKind::kAnalysis;
  // The subject; null if it is the function as a whole.
  Expr node = {};
  // A clause without a full stop: `the operator has no kernel`.
  RemarkText reason = {};
  // Named arguments: values, and other nodes.
  absl::InlinedVector<RemarkArg, 2> args = {};
  absl::InlinedVector<RemarkNode, 1> nodes = {};

  // LogRemark sets these: the pass that emitted the remark, and its execution.
  RemarkText pass = {};
  int64_t execution = 0;
};

// A counter that a pass declares. The counts of a run are in the logs of the
// listeners of that run. Made only by BATON_STATISTIC.
class Statistic {
 public:
  // All arguments are string literals.
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

// All linked statistics, under `PASS.NAME`.
Registry<const Statistic*>& Statistics();

#define BATON_STATISTIC(variable, pass, name, doc) \
  const ::baton::Statistic variable(pass, name, doc)

// Origins in order, 16 bytes each, and the executions that recorded them.
class OriginLog : public OriginSink {
 public:
  OriginLog() : OriginSink(&MakeRoomAndAdd) {}
  OriginLog(OriginLog&& other) noexcept : OriginLog() {
    *this = std::move(other);
  }
  OriginLog& operator=(OriginLog&& other) noexcept {
    next_ = std::exchange(other.next_, nullptr);
    limit_ = std::exchange(other.limit_, nullptr);
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

  // `execution` recorded the origins from `begin` to the next run.
  struct Run {
    int64_t execution;
    size_t begin;
  };
  const std::vector<Run>& runs() const { return runs_; }

  // Sets the execution that records the following origins.
  void SetExecution(int64_t execution) {
    execution_ = execution;
    limit_ = next_;
  }
  // Appends the entries of `other`, which follow those of this log.
  void Append(OriginLog other);
  // Removes and returns all entries.
  OriginLog Take();

 private:
  static constexpr size_t kPiece = 256;
  // Begins a run and a piece where necessary; until then, the sink has room.
  static void MakeRoomAndAdd(OriginSink& sink, Origin origin);

  Origin* end_ = nullptr;  // of the last piece
  int64_t execution_ = -1;
  std::vector<std::unique_ptr<Origin[]>> pieces_;
  std::vector<Run> runs_;
};

// The recorded entries, in order.
struct PassLog {
  std::vector<Remark> remarks;
  FlatHashMap<const Statistic*, int64_t> counts;
  // The origins of nodes. A node that was made from several nodes has several
  // entries.
  OriginLog origins;
  // Keeps nodes alive whose origins were recorded on several threads: while
  // they live, their addresses are not reused. Otherwise the order would not
  // show which of two nodes with one address was first.
  std::vector<Expr> held;

  // Appends the entries of `other`, which follow those of this log.
  void Append(PassLog other);
};

// True if a listener wants entries, so that expensive preparation is worth it.
inline bool SomeoneListens();
inline bool WantsRemarks(RemarkKind kind);

// Emits a remark to the listeners that want its kind from this pass.
void LogRemark(Remark&& remark);
inline void LogRemark(const Remark& remark) { LogRemark(Remark(remark)); }

// As above, for passes that emit many remarks: if a listener wants the kind,
// calls `fill(Remark&)` with the remark in its final place, which saves moves.
// `fill` must not log.
template <std::invocable<Remark&> Fill>
void LogRemark(RemarkKind kind, Fill&& fill);

// Listening. Instruments use these through instrument/pass_listener.h.
namespace internal {

// A listener on one thread. The listeners of a thread form a list.
struct LogListener {
  static constexpr uint8_t kOrigins = 8;
  static constexpr uint8_t kCounts = 16;

  const void* owner = nullptr;
  PassLog* log = nullptr;
  // A bit for each RemarkKind, and the two constants above; for the running
  // pass.
  uint8_t wanted = 0;
  bool holds = false;  // keeps the nodes of origins alive, in PassLog::held
  const std::string* pass = nullptr;
  // The name of the pass for remarks; made for the first remark.
  RemarkText pass_text = {};
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
// A remark in the log of the first listener that wants it, to be filled; null
// if there is none.
Remark* BeginRemark(RemarkKind kind);
// Call after filling `remark`: copies it to the other listeners.
void EndRemark(const Remark& remark);
// Call after changes of the list or of LogListener::wanted.
void ListenersChanged();

// Log buffers of a task: listeners like those of the thread that made this
// object, with separate logs. For work on another thread, or of a part that is
// logged later. Join() appends the logs to the parent's in task order.
class ForkedLogs {
 public:
  ForkedLogs() = default;  // without listeners
  // `listeners`: those of the parent thread.
  explicit ForkedLogs(const LogListener* listeners);

  // Makes these the listeners of this thread during the lifetime of the object.
  class Use {
   public:
    explicit Use(ForkedLogs& logs);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    LogListener* outer_;
  };

  // Appends to the logs of `listeners`, from which this object was made.
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
template <std::invocable<Remark&> Fill>
void LogRemark(RemarkKind kind, Fill&& fill) {
  Remark* const remark = internal::BeginRemark(kind);
  if (remark == nullptr) return;
  fill(*remark);
  internal::EndRemark(*remark);
}
inline void Statistic::Add(int64_t n) const {
  if (internal::log_listeners != nullptr) internal::AddToLogs(this, n);
}

}  // namespace baton

#endif  // BATON_IR_PASS_LOG_H_
