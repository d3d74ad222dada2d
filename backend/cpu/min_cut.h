// MinCut: two-colours the vertices of a graph at the least cost.
//
//   MinCut cut;
//   const int a = cut.AddVertex();
//   cut.AddCost(MinCut::kSource, a, 3);  // paid if `a` is on the sink's side
//   cut.AddCost(a, MinCut::kSink, 2);    // paid if it is on the source's side
//   if (cut.Solve()) ... cut.IsSource(a)
//
// A vertex is on the sink's side if both sides cost the same.

#ifndef BATON_BACKEND_CPU_MIN_CUT_H_
#define BATON_BACKEND_CPU_MIN_CUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::cpu {

class MinCut {
 public:
  static constexpr int kSource = 0;
  static constexpr int kSink = 1;
  // A cost that no solution pays.
  static constexpr int64_t kNever = int64_t{1} << 50;

  MinCut() { AddVertex(), AddVertex(); }

  int AddVertex() {
    first_.push_back(-1);
    return static_cast<int>(first_.size()) - 1;
  }
  size_t num_vertices() const { return first_.size(); }
  // Adds a cost that is paid if `from` is on the source's side and `to` on the
  // sink's. Costs of one pair add up.
  void AddCost(int from, int to, int64_t cost);

  // Finds the least cost, by Dinic's algorithm. Returns false if that takes
  // more than a fixed number of visits of each edge, as costs of which many
  // depend on one another may.
  bool Solve();

  // After Solve().
  bool IsSource(int vertex) const {
    return level_[static_cast<size_t>(vertex)] >= 0;
  }

 private:
  // Edges 2 n and 2 n + 1 are the directions of one.
  struct Edge {
    int to;
    int next;      // of the vertex that it leaves; -1 for none
    int64_t room;  // what more can flow
  };

  // Finds the distances from the source along edges with room; -1 for what is
  // not reached. Returns true if the sink is reached.
  bool FindLevels();
  // Sends what flows along paths of these levels; false if it takes too long.
  bool SendFlow();

  std::vector<int> first_;  // of vertices: the first edge
  std::vector<int> next_;   // of vertices: the edge to try next
  std::vector<int> level_;
  std::vector<Edge> edges_;
  int64_t visits_ = 0;
};

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_MIN_CUT_H_
