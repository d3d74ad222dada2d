// Legalize: replaces calls by others that a target has, or computes faster.
//
// What replaces a call is a rule of its operator. Rules come in kinds, by name:
// FTVMLegalize, FTVMQnnLegalize, FTVMQnnCanonicalize, and any that a library
// adds. A kind has rules for all targets and rules for one, which come first:
//
//   absl::StatusOr<Expr> ForMyChip(const CallNode& call,
//                                  absl::Span<const Expr> args);
//   BATON_EXTEND_OP("nn.dense")
//       .Set(LegalizationRules("FTVMLegalize", "mychip"), ForMyChip);
//
// `Legalize{target=mychip}` asks them.

#ifndef BATON_RELAY_TRANSFORM_LEGALIZE_H_
#define BATON_RELAY_TRANSFORM_LEGALIZE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton::relay {

// What replaces a call. `call` is the call before any change, with its
// attributes and types; `args` are its arguments as they are now. Null: the
// call stays. Rules of FTVMLegalize for all targets keep every bit of the
// results; those of a target, and of other kinds, may reassociate.
using LegalizationRule = absl::StatusOr<Expr> (*)(const CallNode& call,
                                                  absl::Span<const Expr> args);

// The rules of a kind for a target (`llvm`, `cuda`), or, if that is empty, for
// all. The same map for the same names.
OpAttrMap<LegalizationRule>& LegalizationRules(absl::string_view kind,
                                               absl::string_view target = {});

struct LegalizeOptions {
  std::string legalize_map_attr_name = "FTVMLegalize";
  std::string target;

  template <typename V>
  static void VisitFields(V& v) {
    v("legalize_map_attr_name", &LegalizeOptions::legalize_map_attr_name,
      "The kind of rules.");
    v("target", &LegalizeOptions::target,
      "The target whose rules come first; empty for none.");
  }
};

// A function pass of level 1, which requires InferType.
Pass Legalize(LegalizeOptions options = {});

// The pass that replaces calls by the rules of `kind` and `target`, under
// another name and with options of its own.
Pass CreateLegalizationPass(absl::string_view kind, absl::string_view target,
                            PassInfo info, PassOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_LEGALIZE_H_
