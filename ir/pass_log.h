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

enum class RemarkKind : uint8_t {
  kPassed = 1,    // something was done
  kMissed = 2,    // something was not done, and why
  kAnalysis = 4,  // something that the pass found out
};

// `passed`, `missed`, `analysis`.
absl::string_view RemarkKindName(RemarkKind kind);

// A text of a remark. A literal costs a pointer to it; any other text is copied
// once, and its copies share that.
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
  // What is left there is the text, valid as long as this.
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
  // How many share the text: in front of it.
  using Holders = std::atomic<int64_t>;
  Holders& holders() const;
  void Release();

  const char* data_ = "";
  uint32_t size_ = 0;
  bool is_shared_ = false;
};

// A value in a remark: a number or a text. Values of other kinds become their
// text at once.
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

struct RemarkArg {
  RemarkText name;
  RemarkValue value;
};
struct RemarkNode {
  RemarkText name;
  Expr node;
};

// What a pass says. It keeps what it was given, and becomes text when somebody
// reads it (instrument/remarks.h).
struct Remark {
  RemarkKind kind = RemarkKind::kAnalysis;
  // What it is about; null where that is the function as a whole.
  Expr node = {};
  // A clause without a full stop: `the operator has no kernel`.
  RemarkText reason = {};
  // Particulars, by name: values, and other nodes.
  absl::InlinedVector<RemarkArg, 2> args = {};
  absl::InlinedVector<RemarkNode, 1> nodes = {};

  // Set by LogRemark: the execution of a pass that told it.
  RemarkText pass = {};
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

// Origins in order, 16 bytes each; and which executions told them.
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

  // The origins from `begin` on, up to the next run, were told by `execution`.
  struct Run {
    int64_t execution;
    size_t begin;
  };
  const std::vector<Run>& runs() const { return runs_; }

  // What is added from now on is told by `execution`.
  void SetExecution(int64_t execution) {
    execution_ = execution;
    limit_ = next_;
  }
  // Adds what `other`, which comes after this, has.
  void Append(OriginLog other);
  // Takes out all that was told so far.
  OriginLog Take();

 private:
  static constexpr size_t kPiece = 256;
  // Begins a run and a piece, where that is due; until then, the sink has room.
  static void MakeRoomAndAdd(OriginSink& sink, Origin origin);

  Origin* end_ = nullptr;  // of the last piece
  int64_t execution_ = -1;
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
void LogRemark(Remark&& remark);
inline void LogRemark(const Remark& remark) { LogRemark(Remark(remark)); }

// The same, for passes that tell much: calls `fill(Remark&)` if there are such,
// with the remark where it stays, which spares it moves. `fill` logs nothing.
template <std::invocable<Remark&> Fill>
void LogRemark(RemarkKind kind, Fill&& fill);

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
  // The same for remarks; made for the first one.
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
// A remark in the log of the first who wants it, to be filled; null if there is
// none.
Remark* BeginRemark(RemarkKind kind);
// It is filled: tells the others.
void EndRemark(const Remark& remark);
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
