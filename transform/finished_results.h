// SeesFinishedResults: marks instruments that do not depend on when the results
// of passes get their types.
//
// A function pass leaves expressions without types, and a pass inside it
// (InferType, for Relay) finishes its result. An instrument that is called for
// that inner pass receives the module in between. If all instruments have this
// mark, passes may set known types at once, which is faster.

#ifndef BATON_TRANSFORM_FINISHED_RESULTS_H_
#define BATON_TRANSFORM_FINISHED_RESULTS_H_

#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// A second base of PassInstruments that neither show unfinished modules nor
// skip the inner pass.
class SeesFinishedResults {
 public:
  virtual ~SeesFinishedResults() = default;
  // False for an instrument that forwards to one without the mark.
  virtual bool sees_finished_results() const { return true; }
};

// True if `instrument` may depend on unfinished results.
bool SeesUnfinishedResults(const PassInstrument& instrument);

// True if an instrument of `context` may depend on unfinished results.
bool UnfinishedResultsAreSeen(const PassContext& context);

}  // namespace baton

#endif  // BATON_TRANSFORM_FINISHED_RESULTS_H_
