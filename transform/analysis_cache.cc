#include "baton/transform/analysis_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/config.h"

namespace baton {

std::shared_ptr<const void> AnalysisCache::Get(const TypeId* type,
                                               const Expr& root,
                                               Compute compute) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      const auto [it, is_new] = index_.try_emplace(root.get());
      if (is_new) {
        roots_.emplace_front();
        roots_.front().expr = root;
        it->second = roots_.begin();
        num_roots_.store(index_.size(), std::memory_order_relaxed);
      }
      Root& known = *it->second;
      const auto kept =
          std::find_if(known.kept.begin(), known.kept.end(),
                       [type](const Kept& k) { return k.type == type; });
      if (kept == known.kept.end()) {
        known.kept.push_back({type, nullptr});
        break;
      }
      if (kept->analysis != nullptr) {
        roots_.splice(roots_.begin(), roots_, it->second);
        return kept->analysis;
      }
      computed_.wait(lock);
    }
  }
  absl::Cleanup give_up = [&] { Finish(type, root.get(), nullptr, 0); };
  size_t bytes = 0;
  std::shared_ptr<const void> analysis = compute(root, &bytes);
  std::move(give_up).Cancel();  // there was no exception
  Finish(type, root.get(), analysis, bytes);
  return analysis;
}

void AnalysisCache::Finish(const TypeId* type, const ExprNode* root,
                           const std::shared_ptr<const void>& analysis,
                           size_t bytes) {
  Roots dropped;  // destroyed without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  computed_.notify_all();
  const auto it = index_.find(root);
  if (it == index_.end()) return;  // dropped in the meantime
  Root& known = *it->second;
  const auto kept =
      std::find_if(known.kept.begin(), known.kept.end(),
                   [type](const Kept& k) { return k.type == type; });
  if (kept == known.kept.end() || kept->analysis != nullptr) return;
  const bool keep = analysis != nullptr && bytes > 0 &&
                    bytes <= static_cast<size_t>(max_bytes_) && active();
  if (!keep) {
    known.kept.erase(kept);
    if (known.kept.empty()) MoveTo(it->second, dropped);
    return;
  }
  kept->analysis = analysis;
  const size_t added = bytes + (known.bytes == 0 ? kBytesPerRoot : 0);
  known.bytes += added;
  bytes_ += added;
  roots_.splice(roots_.begin(), roots_, it->second);
  while (bytes_ > static_cast<size_t>(max_bytes_)) {
    MoveTo(std::prev(roots_.end()), dropped);
  }
}

void AnalysisCache::MoveTo(Roots::iterator root, Roots& dropped) {
  bytes_ -= root->bytes;
  index_.erase(root->expr.get());
  dropped.splice(dropped.end(), roots_, root);
  num_roots_.store(index_.size(), std::memory_order_relaxed);
}

void AnalysisCache::DropKept(const ExprNode* root) {
  Roots dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = index_.find(root);
  if (it != index_.end()) MoveTo(it->second, dropped);
}

void AnalysisCache::EndUse() {
  const bool last = uses_.fetch_sub(1, std::memory_order_relaxed) == 1;
  if (empty()) return;
  Roots dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = roots_.begin(); it != roots_.end();) {
    const auto root = it++;
    if (last || root->expr->unique()) MoveTo(root, dropped);
  }
}

size_t AnalysisCache::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

const ConfigKey<int64_t>& AnalysisCacheBytesConfig() {
  static const auto* const key = new ConfigKey<int64_t>(
      "analysis_cache_bytes", int64_t{64} << 20,
      "How much memory a context spends on analyses that passes share; 0: "
      "each pass analyses anew.");
  return *key;
}

namespace {
// Registered before any context is made.
[[maybe_unused]] const ConfigKey<int64_t>& registered_bytes =
    AnalysisCacheBytesConfig();
}  // namespace

}  // namespace baton
