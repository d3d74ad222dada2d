// Describes the intrinsics of functions of loops, which are operators
// `tir.exp`, `tir.if_then_else`, `tir.call_extern` ...
//
//   const Intrinsic* intrinsic = IntrinsicOf(call->op());
//   if (intrinsic != nullptr && intrinsic->effect == CallEffect::kPure) ...

#ifndef BATON_TIR_IR_INTRINSICS_H_
#define BATON_TIR_IR_INTRINSICS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The effects of a call beside its value, from least to most.
enum class CallEffect {
  kExprAnnotation,  // an annotation of its argument: `likely`
  kPure,
  kReadState,       // reads memory
  kUpdateState,     // writes memory
  kSpecialCallArg,  // makes an argument that another call interprets
  kEmbedInfo,       // information for passes, such as `assume`
  kControlJump,     // leaves the function: `ret`
  kOpaque,          // anything
};

// The data type of a call.
enum class CallType {
  kFirst,    // that of the first argument
  kSecond,   // that of the second argument
  kBool,     // bool, with the lanes of the first argument
  kFixed,    // `dtype`
  kGiven,    // the script writes it as the first argument of the call
  kGivenEnd  // the script writes it as the last one
};

struct Intrinsic {
  const char* name;  // without `tir.`
  CallEffect effect;
  CallType type;
  DType dtype;  // of kFixed
  int arity;    // -1: any number of arguments
  bool vectorizable;
  // The name in scripts; null: `name`.
  const char* script_name;
};

// All intrinsics that are built in, in no special order.
absl::Span<const Intrinsic> Intrinsics();

// The properties of an operator that is an intrinsic, else null. A library may
// register further operators with a property of its own.
OpProperty<const Intrinsic*>& IntrinsicMap();
const Intrinsic* IntrinsicOf(const Expr& op);

// The operator that scripts call `T.NAME`; null if there is none.
Op FindIntrinsic(absl::string_view script_name);

// `name` of Intrinsic, as scripts call it.
absl::string_view ScriptName(const OpNode& op);

// The operator `tir.NAME`, which must be registered.
Op IntrinsicOp(absl::string_view name);

// The call of an intrinsic whose type follows from its arguments.
PrimExpr CallIntrinsic(absl::string_view name, std::vector<PrimExpr> args);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_INTRINSICS_H_
