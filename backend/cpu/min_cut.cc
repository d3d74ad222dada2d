#include "baton/backend/cpu/min_cut.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::cpu {
namespace {

constexpr int64_t kVisitsOfEdge = 200;

size_t At(int i) { return static_cast<size_t>(i); }

}  // namespace

void MinCut::AddCost(int from, int to, int64_t cost) {
  if (from == to || cost <= 0) return;
  const int edge = static_cast<int>(edges_.size());
  edges_.push_back({to, first_[At(from)], cost});
  edges_.push_back({from, first_[At(to)], 0});
  first_[At(from)] = edge;
  first_[At(to)] = edge + 1;
}

bool MinCut::FindLevels() {
  level_.assign(first_.size(), -1);
  level_[kSource] = 0;
  std::vector<int> queue = {kSource};
  for (size_t i = 0; i < queue.size(); ++i) {
    const int v = queue[i];
    for (int e = first_[At(v)]; e >= 0; e = edges_[At(e)].next) {
      ++visits_;
      const Edge& edge = edges_[At(e)];
      if (edge.room == 0 || level_[At(edge.to)] >= 0) continue;
      level_[At(edge.to)] = level_[At(v)] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[kSink] >= 0;
}

bool MinCut::SendFlow() {
  const int64_t most = kVisitsOfEdge * static_cast<int64_t>(edges_.size());
  next_ = first_;
  std::vector<int> path;  // edges
  int v = kSource;
  while (true) {
    if (v == kSink) {
      int64_t flow = kNever;
      for (const int e : path) flow = std::min(flow, edges_[At(e)].room);
      // Goes back to the first edge without room.
      size_t full = path.size();
      for (size_t i = path.size(); i-- > 0;) {
        edges_[At(path[i])].room -= flow;
        edges_[At(path[i] ^ 1)].room += flow;
        if (edges_[At(path[i])].room == 0) full = i;
      }
      v = edges_[At(path[full] ^ 1)].to;
      path.resize(full);
      visits_ += static_cast<int64_t>(path.size()) + 1;
    }
    int& e = next_[At(v)];
    while (e >= 0 && (edges_[At(e)].room == 0 ||
                      level_[At(edges_[At(e)].to)] != level_[At(v)] + 1)) {
      e = edges_[At(e)].next;
      ++visits_;
    }
    if (++visits_ > most) return false;
    if (e >= 0) {
      path.push_back(e);
      v = edges_[At(e)].to;
    } else if (path.empty()) {
      return true;
    } else {
      // No path leads through `v`.
      level_[At(v)] = -1;
      v = edges_[At(path.back() ^ 1)].to;
      path.pop_back();
    }
  }
}

bool MinCut::Solve() {
  while (FindLevels()) {
    if (!SendFlow()) return false;
  }
  return true;
}

}  // namespace baton::cpu
