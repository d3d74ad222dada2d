// The law of provenance: after a pass, every node has origins in the program
// that the pass was given, and so in its text.

#ifndef BATON_TESTING_PROVENANCE_LAW_H_
#define BATON_TESTING_PROVENANCE_LAW_H_

#include <cstdint>
#include <set>
#include <string>

#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::testing {

// Counts of the nodes of all states of several runs, by their origins.
struct ProvenanceSurvey {
  int64_t made = 0;  // nodes that passes made
  // Nodes that come from no node of the program: `FuseOps: fn`.
  std::set<std::string> unexplained;
  // Nodes of the program that have no place in its text: `fn`.
  std::set<std::string> without_place;
};

// Adds the run of `pass` on `module`, a module that was read from a text. An
// error of the pass counts as no run.
void StudyProvenance(const Pass& pass, const IRModule& module,
                     ProvenanceSurvey& survey);

}  // namespace baton::testing

#endif  // BATON_TESTING_PROVENANCE_LAW_H_
