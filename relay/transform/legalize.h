// Legalize: replaces calls by others that a target supports or computes faster.
//
// A rule of an operator makes the replacement of a call. A rule is of a kind,
// which has a name: FTVMLegalize, FTVMQnnLegalize, FTVMQnnCanonicalize, or one
// that a library adds. A kind has rules for all targets and rules for one
// target, which have precedence:
//
//   absl::StatusOr<Expr> ForMyChip(const CallNode& call,
//                                  absl::Span<const Expr> args);
//   BATON_EXTEND_OP("nn.dense")
//       .Set(LegalizationRules("FTVMLegalize", "mychip"), ForMyChip);
//
// `Legalize{target=mychip}` applies the rules of that target; without the
// option, those of the target of the PassContext.

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

// Makes the replacement of a call. `call` is the original call, with its
// attributes and types; `args` are its current arguments. Null keeps the call.
// Rules of FTVMLegalize for all targets are bit-exact; rules for one target,
// and of other kinds, may be reassociating.
using LegalizationRule = absl::StatusOr<Expr> (*)(const CallNode& call,
                                                  absl::Span<const Expr> args);

// The rules of `kind` for `target` (`llvm`, `cuda`); if `target` is empty, the
// rules for all targets. Equal names give the same map.
OpProperty<LegalizationRule>& LegalizationRules(absl::string_view kind,
                                                absl::string_view target = {});

struct LegalizeOptions {
  std::string legalize_map_attr_name = "FTVMLegalize";
  std::string target;

  template <typename V>
  static void VisitFields(V& v) {
    v("legalize_map_attr_name", &LegalizeOptions::legalize_map_attr_name,
      "The kind of rules.");
    v("target", &LegalizeOptions::target,
      "The kind of target whose rules come first; empty for that of the "
      "context.");
  }
};

// A function pass of level 1, which requires InferType.
Pass Legalize(LegalizeOptions options = {});

// A pass with its own name and options that applies the rules of `kind` for
// `target` (if it is empty, for the context's target), then those for all.
Pass CreateLegalizationPass(absl::string_view kind, absl::string_view target,
                            PassInfo info, PassOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_LEGALIZE_H_
