// FakeQuantizationToInteger: computes the operators between qnn.dequantize and
// qnn.quantize with integers.
//
//   quantize(conv2d(dequantize(x), dequantize(w)))
//     -> requantize(qnn.conv2d(x, w))
//
// A function pass of level 0. The region of a qnn.quantize consists of the
// expressions from which its data is computed, down to the qnn.dequantize calls
// and the constants. The region is rewritten if it contains only calls of
// operators, tuples and projections, and every operator has a rule that
// succeeds. Otherwise it stays unchanged.

#ifndef BATON_RELAY_TRANSFORM_FAKE_QUANTIZATION_TO_INTEGER_H_
#define BATON_RELAY_TRANSFORM_FAKE_QUANTIZATION_TO_INTEGER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct FakeQuantizationToIntegerOptions {
  bool hard_fail = false;
  bool use_qat = false;
  std::vector<std::string> optional_qnn_ops;

  template <typename V>
  static void VisitFields(V& v) {
    v("hard_fail", &FakeQuantizationToIntegerOptions::hard_fail,
      "Whether a region that cannot be rewritten is an error.");
    v("use_qat", &FakeQuantizationToIntegerOptions::use_qat,
      "Whether to rewrite also single calls whose arguments are dequantized, "
      "with a qnn.dequantize after them.");
    v("optional_qnn_ops", &FakeQuantizationToIntegerOptions::optional_qnn_ops,
      "Operators whose rules apply only if they are named here: their "
      "quantized forms are less accurate.");
  }
};

Pass FakeQuantizationToInteger(FakeQuantizationToIntegerOptions options = {});

// The quantization of a tensor: an element q represents the real number scale *
// (q - zero_point).
struct AffineType {
  Expr scale;       // a scalar, or an element for each channel
  Expr zero_point;  // a scalar, or an element for each channel
  DType dtype;      // of the integers
  int axis = -1;    // of the channels
};

// An expression of a region, in integers.
struct AffineValue {
  // Null if a rule failed.
  Expr expr;
  // One for a tensor; for a tuple, one for each field; empty for a constant
  // that still has real numbers.
  std::vector<AffineType> types;
};

// A call to be rewritten by a rule.
class FakeQuantizedCall {
 public:
  FakeQuantizedCall(const CallNode& original, Call call,
                    absl::Span<const AffineValue* const> args,
                    const AffineType* output,
                    absl::FunctionRef<bool()> on_main_path)
      : original_(original),
        call_(std::move(call)),
        args_(args),
        output_(output),
        on_main_path_(on_main_path) {}

  // The original call: its types are those of real numbers.
  const CallNode& original() const { return original_; }
  // The call with its current arguments.
  const Call& call() const { return call_; }
  template <typename T>
  const T& attrs() const {
    return AttrsOrDefaults<T>(original_.attrs());
  }

  const Expr& arg(int i) const { return call_->arg(i); }
  // The quantization of argument `i`; an error if it is a constant of real
  // numbers, or a tuple.
  absl::StatusOr<AffineType> arg_type(int i) const;
  // True if argument `i` is a constant of real numbers.
  bool is_real(int i) const { return args_[i]->types.empty(); }
  // The quantizations of the fields of argument `i`, a tuple.
  absl::Span<const AffineType> field_types(int i) const {
    return args_[i]->types;
  }

  // The quantization of the qnn.quantize at the end of the region; an error if
  // there is none (`use_qat`).
  absl::StatusOr<AffineType> output() const;
  // True if a chain of calls leads from this one to the qnn.quantize, where
  // each call takes the one before as its first argument.
  bool on_main_path() const {
    depends_on_output_ = true;
    return on_main_path_();
  }
  // True if output() or on_main_path() was called.
  bool depends_on_output() const { return depends_on_output_; }

 private:
  const CallNode& original_;
  const Call call_;
  const absl::Span<const AffineValue* const> args_;
  const AffineType* const output_;  // null if there is none
  const absl::FunctionRef<bool()> on_main_path_;
  mutable bool depends_on_output_ = false;
};

// Rewrites calls of an operator to compute with integers. The error says why a
// call cannot be rewritten.
struct FakeQuantizationRule {
  absl::StatusOr<AffineValue> (*rewrite)(const FakeQuantizedCall& call) =
      nullptr;
  // Used only if the option `optional_qnn_ops` names the operator.
  bool optional = false;
  // Also used for single calls, with `use_qat`.
  bool single = false;
};
OpProperty<FakeQuantizationRule>& FakeQuantizationRules();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FAKE_QUANTIZATION_TO_INTEGER_H_
