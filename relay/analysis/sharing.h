// What several nodes use.

#ifndef BATON_RELAY_ANALYSIS_SHARING_H_
#define BATON_RELAY_ANALYSIS_SHARING_H_

#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Reports each expression in `function`, names and constants aside, that is
// used more than once: `a Call that is used more than once CANNOT;
// ToANormalForm binds it to a variable`. Primitive functions are not looked
// into.
void ReportSharing(const Function& function, absl::string_view cannot,
                   Diagnostics& diagnostics);

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_SHARING_H_
