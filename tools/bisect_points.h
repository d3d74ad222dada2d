// The points among which `baton-bisect` searches.

#ifndef BATON_TOOLS_BISECT_POINTS_H_
#define BATON_TOOLS_BISECT_POINTS_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace baton {

// The points of a search: each gives the command another text.
class BisectPoints {
 public:
  virtual ~BisectPoints() = default;
  virtual int64_t first() const = 0;
  virtual int64_t last() const = 0;
  // The point of `number`, of an execution or a limit; if there is none, the
  // last point before it.
  virtual absl::StatusOr<int64_t> PointOf(int64_t number) const = 0;
  // The text that the command is given, and a key. At points with equal keys
  // the command gives the same result.
  struct Given {
    std::string text;
    uint64_t key = 0;
  };
  virtual absl::StatusOr<Given> Give(int64_t point) = 0;
  // `after #7 FuseOps`.
  virtual std::string Name(int64_t point) const = 0;
  // The executions that lead from one point to another.
  virtual std::vector<std::string> Between(int64_t good, int64_t bad) const = 0;
  // A line for people, on how to see the change between two points.
  virtual std::string Hint(int64_t good, int64_t bad) const = 0;
  // Searches with equal keys can share their results.
  virtual uint64_t key() const = 0;
  // Called with the output of the command at `point`.
  virtual void SetOutput(int64_t /*point*/, const std::string& /*output*/) {}
};

// The states of the module in the history `file`. The command is given the file
// of a module, as text or binary. Writes a line to `reports` if the history
// lacks tensors.
absl::StatusOr<std::unique_ptr<BisectPoints>> PointsOfHistory(
    const std::string& file, bool as_text, std::ostream& reports);

// The limits 0 to `last` of `--bisect_limit`. The command is given the number.
std::unique_ptr<BisectPoints> PointsOfLimits(int64_t last);

}  // namespace baton

#endif  // BATON_TOOLS_BISECT_POINTS_H_
