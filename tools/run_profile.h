// Where the time of an evaluation goes, per operator and per call.

#ifndef BATON_TOOLS_RUN_PROFILE_H_
#define BATON_TOOLS_RUN_PROFILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/relay/ir/expr.h"

namespace baton {

// The node of a model that an expression comes from: its name in an ONNX
// model, `FILE:LINE` otherwise; empty if the expression has no place.
std::string OriginName(const ExprNode& expr);

class RunProfile {
 public:
  // An evaluation begins.
  RunProfile() : first_(absl::Now()), last_(first_) {}

  // To be called after each node is computed, in order: it took the time since
  // the one before.
  void Computed(const ExprNode& node);

  // `format`: text, json or trace; InvalidArgument if it is another.
  //
  // text: the time of each operator and of the slowest calls. json: the same as
  // {"version":1,"total_us","operators":[{"name","calls","us"}],
  // "calls":[{"operator","origin","begin_us","us"}]}, all calls in order.
  // trace: the calls for Chrome's and Perfetto's viewers.
  absl::StatusOr<std::string> Report(absl::string_view format) const;

 private:
  struct CallTime {
    std::string op;
    std::string origin;
    double begin_us;  // since the evaluation began
    double us;
  };
  struct OperatorTime {
    std::string name;
    int calls = 0;
    double us = 0;
  };

  // By time, the longest first.
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
