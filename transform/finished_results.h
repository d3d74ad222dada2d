// SeesFinishedResults: what an instrument is to which it makes no difference
// when the results of passes get their types.
//
// A function pass leaves expressions without types, and a pass inside it
// (InferType, for Relay) finishes its result. An instrument that is called for
// that inner pass is shown the module in between, unless all instruments are
// such: then passes may give at once the types that they know, which is faster.

#ifndef BATON_TRANSFORM_FINISHED_RESULTS_H_
#define BATON_TRANSFORM_FINISHED_RESULTS_H_

#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// A second base of PassInstruments that neither show modules before they are
// finished nor keep the inner pass from running.
class SeesFinishedResults {
 public:
  virtual ~SeesFinishedResults() = default;
  // False for one that calls an instrument that is not such.
  virtual bool sees_finished_results() const { return true; }
};

// Whether it may look at results that are not finished.
bool SeesUnfinishedResults(const PassInstrument& instrument);

// Whether an instrument of `context` may.
bool UnfinishedResultsAreSeen(const PassContext& context);

}  // namespace baton

#endif  // BATON_TRANSFORM_FINISHED_RESULTS_H_
