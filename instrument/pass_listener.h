// For instruments that listen to what passes tell: remarks, statistics,
// origins (ir/pass_log.h).

#ifndef BATON_INSTRUMENT_PASS_LISTENER_H_
#define BATON_INSTRUMENT_PASS_LISTENER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/ir/pass_log.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// A member of an instrument, which calls Before in RunBeforePass, and After in
// RunAfterPass and PassFailed.
class PassListener {
 public:
  PassListener() = default;
  PassListener(const PassListener&) = delete;
  PassListener& operator=(const PassListener&) = delete;

  // `wanted`: what to listen to while `pass` runs; bits of
  // internal::LogListener.
  void Before(const PassExecution& pass, uint8_t wanted);
  void After();

  // True between executions that are complete in log(): what a pass that runs
  // inside the body of a function pass tells arrives when that pass ends.
  static bool IsComplete(const PassExecution& pass);

  PassLog& log() { return log_; }
  const PassLog& log() const { return log_; }

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
