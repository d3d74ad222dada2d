// Tables of families of ONNX's operators that are operators of Relay: the
// importer and the exporter read them.

#ifndef BATON_ONNX_OPERATOR_TABLE_H_
#define BATON_ONNX_OPERATOR_TABLE_H_

#include <cstddef>
#include <cstdlib>

#include "absl/strings/string_view.h"

namespace baton::onnx {

// The form in which the exporter writes an operator.
enum class ElementwiseForm {
  kSame,        // as one node
  kRounding,    // as one node; of integers, as the operand itself
  kArithmetic,  // as one node; before opset 14, small integers become int32
  kOrdered,     // as one node; bools become int32, since bools have no order
  kBitwise,     // as one node since opset 18; not possible for bools
  kLogical,     // as one node on bools; other operands are cast to bool, and
                // the result is cast back
  kOwn,         // by a separate exporter
};

struct Elementwise {
  absl::string_view onnx;
  absl::string_view relay;
  int num_operands;
  int first_opset = 1;
  ElementwiseForm form = ElementwiseForm::kSame;
};

inline constexpr Elementwise kElementwise[] = {
    {"Abs", "abs", 1},
    {"Acos", "acos", 1},
    {"Acosh", "acosh", 1},
    {"Add", "add", 2, 1, ElementwiseForm::kArithmetic},
    {"And", "logical_and", 2, 1, ElementwiseForm::kLogical},
    {"Asin", "asin", 1},
    {"Asinh", "asinh", 1},
    {"Atan", "atan", 1},
    {"Atanh", "atanh", 1},
    {"BitwiseAnd", "bitwise_and", 2, 18, ElementwiseForm::kBitwise},
    {"BitwiseNot", "bitwise_not", 1, 18, ElementwiseForm::kBitwise},
    {"BitwiseOr", "bitwise_or", 2, 18, ElementwiseForm::kBitwise},
    {"BitwiseXor", "bitwise_xor", 2, 18, ElementwiseForm::kBitwise},
    {"Ceil", "ceil", 1, 1, ElementwiseForm::kRounding},
    {"Cos", "cos", 1},
    {"Cosh", "cosh", 1},
    {"Div", "divide", 2, 1, ElementwiseForm::kArithmetic},
    {"Equal", "equal", 2},
    {"Exp", "exp", 1},
    {"Floor", "floor", 1, 1, ElementwiseForm::kRounding},
    {"Greater", "greater", 2, 1, ElementwiseForm::kOrdered},
    {"GreaterOrEqual", "greater_equal", 2, 12, ElementwiseForm::kOrdered},
    {"IsNaN", "isnan", 1, 9},
    {"Less", "less", 2, 1, ElementwiseForm::kOrdered},
    {"LessOrEqual", "less_equal", 2, 12, ElementwiseForm::kOrdered},
    {"Log", "log", 1},
    {"Mul", "multiply", 2, 1, ElementwiseForm::kOwn},
    {"Neg", "negative", 1, 1, ElementwiseForm::kOwn},
    {"Not", "logical_not", 1, 1, ElementwiseForm::kLogical},
    {"Or", "logical_or", 2, 1, ElementwiseForm::kLogical},
    {"Relu", "nn.relu", 1, 1, ElementwiseForm::kOwn},
    {"Round", "round", 1, 11, ElementwiseForm::kRounding},
    {"Sigmoid", "sigmoid", 1},
    {"Sign", "sign", 1, 9},
    {"Sin", "sin", 1},
    {"Sinh", "sinh", 1},
    {"Sqrt", "sqrt", 1},
    {"Sub", "subtract", 2, 1, ElementwiseForm::kArithmetic},
    {"Tan", "tan", 1},
    {"Tanh", "tanh", 1},
    {"Xor", "logical_xor", 2, 1, ElementwiseForm::kLogical},
};

// The operations that an ONNX reduction adds before and after Relay's operator.
// The exporter uses the rows of the form kSame only.
enum class ReductionForm {
  kSame,           // nothing
  kAbs,            // absolute values before
  kSquares,        // squares before
  kRootOfSquares,  // squares before, the root after
  kLogarithm,      // the logarithm after
};

struct ReductionRow {
  absl::string_view onnx;
  absl::string_view relay;
  absl::string_view of_bools = "";  // the operator of bools, if another one
  ReductionForm form = ReductionForm::kSame;
  // The version since which the axes are an input, no attribute.
  int axes_input_since = 18;
};

inline constexpr ReductionRow kReductions[] = {
    {"ReduceL1", "sum", "", ReductionForm::kAbs},
    {"ReduceL2", "sum", "", ReductionForm::kRootOfSquares},
    {"ReduceLogSum", "sum", "", ReductionForm::kLogarithm},
    {"ReduceMax", "max", "any"},
    {"ReduceMean", "mean"},
    {"ReduceMin", "min", "all"},
    {"ReduceProd", "prod"},
    {"ReduceSum", "sum", "", ReductionForm::kSame, 13},
    {"ReduceSumSquare", "sum", "", ReductionForm::kSquares},
};

// Pools of one kind: over windows, in Relay by the number of spatial axes
// (`nn.max_pool2d`), and over all spatial axes.
struct PoolRow {
  absl::string_view onnx;
  absl::string_view global;  // ONNX's operator over all spatial axes
  // The stem of Relay's names: nn.STEM1d, nn.STEM2d, nn.global_STEM2d.
  absl::string_view relay;
  // Relay's reduction for a global pool of one or three spatial axes.
  absl::string_view reduction;
};

inline constexpr PoolRow kAveragePool = {"AveragePool", "GlobalAveragePool",
                                         "avg_pool", "mean"};
inline constexpr PoolRow kMaxPool = {"MaxPool", "GlobalMaxPool", "max_pool",
                                     "max"};

// The row of `rows` whose field `name` is `value`, which must exist.
template <typename Row, size_t kRows>
constexpr const Row& RowOf(const Row (&rows)[kRows],
                           absl::string_view Row::*name,
                           absl::string_view value) {
  const Row* row = rows;
  while (row != rows + kRows && row->*name != value) ++row;
  if (row == rows + kRows) std::abort();
  return *row;
}

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPERATOR_TABLE_H_
