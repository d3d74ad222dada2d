// AnalysisCache: what passes found out about programs, kept for those that run
// after them.
//
// An analysis is a class that is made from an expression and says how much
// memory it holds:
//
//   class OperatorCounts {
//    public:
//     explicit OperatorCounts(const Expr& root);
//     size_t bytes() const;  // 0: not worth keeping
//   };
//
// A pass asks its context for one (pass_context.h):
//
//   const auto counts = context.Analyze<OperatorCounts>(function);
//
// Nodes never change, so an analysis of a node never becomes wrong. But the
// cache holds the nodes that it knows about, and a graph that is held twice is
// slower to walk (Node::unique) and stays in memory: so what is known of a
// function is dropped when a pass replaces it, and everything when nobody runs
// passes in the context any more.

#ifndef BATON_TRANSFORM_ANALYSIS_CACHE_H_
#define BATON_TRANSFORM_ANALYSIS_CACHE_H_

#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "absl/container/inlined_vector.h"
#include "baton/base/hash_table.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/config.h"

namespace baton {

template <typename A>
concept Analysis = std::constructible_from<A, const Expr&> &&
    requires(const A& analysis) {
  { analysis.bytes() } -> std::convertible_to<size_t>;
};

// Thread-safe. Keeps what was used last, up to a number of bytes as the
// analyses report them; nodes that are held through their roots do not count.
class AnalysisCache {
 public:
  // Keeps nothing if `max_bytes` is not positive.
  explicit AnalysisCache(int64_t max_bytes = int64_t{64} << 20)
      : max_bytes_(max_bytes) {}
  AnalysisCache(const AnalysisCache&) = delete;
  AnalysisCache& operator=(const AnalysisCache&) = delete;

  // The analysis of `root`, which must not be null. Computed at most once as
  // long as it is kept: a thread that needs what another one is computing waits
  // for it. It may point into the graph, but does not hold it.
  template <Analysis A>
  std::shared_ptr<const A> Get(const Expr& root) {
    if (!active()) return std::make_shared<const A>(root);
    return std::static_pointer_cast<const A>(
        Get(&kTypeId<A>, root, [](const Expr& expr, size_t* bytes) {
          auto analysis = std::make_shared<const A>(expr);
          *bytes = analysis->bytes();
          return std::shared_ptr<const void>(std::move(analysis));
        }));
  }

  // Forgets what is known of `root`, which may be dead. A load if the cache is
  // empty.
  void Drop(const ExprNode* root) {
    if (!empty()) DropKept(root);
  }
  // True if nothing is kept; others may be about to change that.
  bool empty() const { return num_roots_.load(std::memory_order_relaxed) == 0; }

  // The cache keeps things between a BeginUse and the last EndUse only. EndUse
  // drops what nobody but the cache holds, the last one everything.
  void BeginUse() { uses_.fetch_add(1, std::memory_order_relaxed); }
  void EndUse();

  // What is kept now.
  size_t bytes() const;

 private:
  // Analyses are told apart by the addresses of these.
  struct TypeId {};
  template <typename A>
  static constexpr TypeId kTypeId{};

  using Compute = std::shared_ptr<const void> (*)(const Expr& root,
                                                  size_t* bytes);
  struct Kept {
    const TypeId* type;
    std::shared_ptr<const void> analysis;  // null while it is computed
  };
  struct Root {
    Expr expr;
    size_t bytes = 0;
    absl::InlinedVector<Kept, 1> kept;
  };
  using Roots = std::list<Root>;  // those used last in front

  // What a root costs beside its analyses, about.
  static constexpr size_t kBytesPerRoot = 128;

  bool active() const {
    return max_bytes_ > 0 && uses_.load(std::memory_order_relaxed) > 0;
  }
  std::shared_ptr<const void> Get(const TypeId* type, const Expr& root,
                                  Compute compute);
  // Ends a computation: keeps `analysis`, if it is not null.
  void Finish(const TypeId* type, const ExprNode* root,
              const std::shared_ptr<const void>& analysis, size_t bytes);
  void DropKept(const ExprNode* root);
  void MoveTo(Roots::iterator root, Roots& dropped);

  const int64_t max_bytes_;
  std::atomic<int> uses_{0};
  std::atomic<size_t> num_roots_{0};

  mutable std::mutex mutex_;
  std::condition_variable computed_;
  Roots roots_;
  FlatHashMap<const ExprNode*, Roots::iterator> index_;
  size_t bytes_ = 0;
};

// The setting `analysis_cache_bytes`: how much a context's cache keeps, 0 for
// nothing.
const ConfigKey<int64_t>& AnalysisCacheBytesConfig();

}  // namespace baton

#endif  // BATON_TRANSFORM_ANALYSIS_CACHE_H_
