// RunProfile: the time of an evaluation, per operator and per call.

#ifndef BATON_TOOLS_RUN_PROFILE_H_
#define BATON_TOOLS_RUN_PROFILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/base/json.h"
#include "baton/relay/ir/expr.h"

namespace baton {

// Records the times of one evaluation.
class RunProfile {
 public:
  // Starts the clock.
  RunProfile() : first_(absl::Now()), last_(first_) {}

  // Call it after each node is computed, in order. Records the time since the
  // previous call as the node's.
  void Computed(const ExprNode& node);

  // `format`: text, json or trace; InvalidArgument for any other.
  //
  // text: the time of each operator and of the slowest calls. json: the same as
  // {"version":1,"total_us","operators":[{"name","calls","us"}],
  // "calls":[{"operator","origin","begin_us","us"}]}, all calls in order.
  // trace: the calls for Chrome's and Perfetto's viewers.
  absl::StatusOr<std::string> Report(absl::string_view format) const;

  // Writes the events of the trace, whose time 0 is `origin`.
  void WriteTrace(absl::Time origin, JsonWriter& json) const;

 private:
  struct CallTime {
    std::string op;
    std::string origin;
    double begin_us;  // since the beginning of the evaluation
    double us;
  };
  struct OperatorTime {
    std::string name;
    int calls = 0;
    double us = 0;
  };

  // Sorted by time, the longest first.
  std::vector<OperatorTime> Operators() const;
  std::string Text() const;
  std::string Json() const;
  std::string Trace() const;

  absl::Time first_;
  absl::Time last_;
  std::vector<CallTime> calls_;
};

}  // namespace baton

#endif  // BATON_TOOLS_RUN_PROFILE_H_
