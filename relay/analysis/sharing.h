// Reports expressions that are used more than once.

#ifndef BATON_RELAY_ANALYSIS_SHARING_H_
#define BATON_RELAY_ANALYSIS_SHARING_H_

#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Reports each expression in `function` that is used more than once, except
// names and constants: `a Call that is used more than once CANNOT;
// ToANormalForm binds it to a variable`. Ignores the bodies of primitive
// functions.
void ReportSharing(const Function& function, absl::string_view cannot,
                   Diagnostics& diagnostics);

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_SHARING_H_
