// Lists of what a compiler contains: passes, properties, pipelines, operators,
// workloads and rules, as baton-opt prints them.

#ifndef BATON_TOOLS_LISTS_H_
#define BATON_TOOLS_LISTS_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace baton {

// The registered names of this binary, a line each.
void ListPasses(std::ostream& out);
void ListProperties(std::ostream& out);  // with the passes that name them
void ListPipelines(std::ostream& out);
void ListOps(std::ostream& out);  // marks those without kernel, or with loops
void ListWorkloads(std::ostream& out);

// Describes each of the passes `names`: what it does, requires, establishes,
// invalidates and promises, its options and its statistics. The error of an
// unknown name suggests similar ones.
absl::Status DescribePasses(const std::vector<std::string>& names,
                            std::ostream& out);

// Prints all rules as text that can be parsed (relay/pattern/rule_text.h),
// including the rules of `files`: those that belong to no pass, then those of
// each pass. An error if a rule is wrong.
absl::Status ListRules(const std::vector<std::string>& files,
                       std::ostream& out);

// Checks the laws of these rules (relay/pattern/check_rules.h), and prints a
// line for each. An error if a law is broken.
absl::Status CheckRules(const std::vector<std::string>& files,
                        std::ostream& out);

}  // namespace baton

#endif  // BATON_TOOLS_LISTS_H_
