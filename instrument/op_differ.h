// OpDiffer: records how passes change the number of calls of each operator.

#ifndef BATON_INSTRUMENT_OP_DIFFER_H_
#define BATON_INSTRUMENT_OP_DIFFER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Calls per operator, by name.
using OpCounts = std::map<std::string, int64_t>;

// Counts the calls in all functions, of any level. A call that is used several
// times counts once.
OpCounts CountOps(const IRModule& module);

// The change that one pass, with the passes inside it, made.
struct OpDiff {
  int depth = 0;
  std::string pass;
  int64_t number = 0;  // PassExecution::number
  OpCounts changes;    // never contains 0
};

// Records, in order of completion, the passes that changed a count. Entering a
// context clears the record.
class OpDiffer final : public PassInstrument {
 public:
  OpDiffer() : PassInstrument("OpDiffer") {}

  const std::vector<OpDiff>& diffs() const { return diffs_; }

  // A line for each of diffs(): `DEPTH NAME OP +n, OP -n`, operators sorted.
  std::string ToString() const;

  // [{"pass":"FoldConstant","number":2,"depth":1,"changes":{"add":-1}},...]
  std::string ToJson() const;

  bool needs_untyped_modules() const override { return false; }
  absl::Status EnterPassContext() override;
  absl::Status ExitPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  const OpCounts& Count(const IRModule& module);

  std::vector<OpDiff> diffs_;
  std::vector<OpCounts> before_;  // of the running passes
  // The last counted module and its counts: the result of one pass is usually
  // the argument of the next one.
  IRModule counted_;
  OpCounts counts_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_OP_DIFFER_H_
