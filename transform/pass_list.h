// Registers passes whose text in a pipeline is a keyword and a list of passes:
//
//   FixedPoint{limit=5}(SimplifyExpr,FoldConstant)
//
// This library registers Sequential and FixedPoint (sequential.h). Each level
// of the IR registers its own, such as Relay's Function.

#ifndef BATON_TRANSFORM_PASS_LIST_H_
#define BATON_TRANSFORM_PASS_LIST_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/transform/pass.h"

namespace baton {

// The meaning of a keyword. PassImpl::list_keyword() of the passes that `make`
// returns must be the keyword, and listed_passes() the passes in the list.
struct PassListKind {
  // The documentation, one line.
  std::string doc;
  // Null if there are none.
  const FieldList* options = nullptr;
  // True if the passes may run again after the last of them.
  bool repeats = false;
  // The error says which of the passes is not allowed in such a list, and why.
  std::function<absl::StatusOr<Pass>(std::vector<Pass> passes,
                                     const AttrMap& options)>
      make;
};

// All kinds, by keyword. No pass and no named pipeline may have the name of
// one.
Registry<PassListKind>& PassListKinds();

// Makes a kind with options of type `Options`. `make(passes, options)` makes
// its passes: a Pass or absl::StatusOr<Pass>.
template <typename Options, typename Make>
PassListKind PassListKindOf(std::string doc, Make make) {
  return {.doc = std::move(doc),
          .options = &FieldsOf<Options>(),
          .make = [make](std::vector<Pass> passes,
                         const AttrMap& values) -> absl::StatusOr<Pass> {
            Options options;
            for (const auto& [name, value] : values) {
              BATON_RETURN_IF_ERROR(
                  FieldsOf<Options>().Find(name)->Set(&options, value));
            }
            return make(std::move(passes), std::move(options));
          }};
}

// A copy of `list`, which has a keyword, with the same options and other
// passes.
absl::StatusOr<Pass> WithPasses(const Pass& list, std::vector<Pass> passes);

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_LIST_H_
