// PassListener: lets an instrument collect the remarks, statistics and origins
// that passes log while they run (ir/pass_log.h).

#ifndef BATON_INSTRUMENT_PASS_LISTENER_H_
#define BATON_INSTRUMENT_PASS_LISTENER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/pass_log.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// An instrument contains one as a member, calls Before() in its RunBeforePass,
// and After() in its RunAfterPass and its PassFailed.
class PassListener {
 public:
  PassListener() = default;
  PassListener(const PassListener&) = delete;
  PassListener& operator=(const PassListener&) = delete;

  // Collects while `pass` runs. `wanted` selects the kinds of entries, as bits
  // of internal::LogListener::wanted.
  void Before(const PassExecution& pass, uint8_t wanted);
  void After();

  // True if log() contains all entries of `pass`, which has just ended. False
  // inside the body of a function pass: those entries are added when the
  // function pass ends.
  static bool IsComplete(const PassExecution& pass);

  // The collected entries; the instrument may take entries out.
  PassLog& log() { return log_; }
  const PassLog& log() const { return log_; }
  // The counts of the statistics by name: `FuseOps.groups`.
  std::map<std::string, std::pair<const Statistic*, int64_t>> CountsByName()
      const;

 private:
  struct Saved {
    internal::LogListener* listener;
    internal::LogListener before;
    bool added;
  };

  PassLog log_;
  internal::LogListener root_;
  std::vector<Saved> saved_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_PASS_LISTENER_H_
