// A chain of elementwise functions, computed in one pass over memory.
// Intermediate values are float32 or int32. Operands and results in memory that
// are 8-bit integers or bool (0 or 1) are converted from and to int32, half
// floats from and to float32.
//
// The result is computed tile by tile, so that the values between two functions
// stay in the first-level cache. Each function gives the bytes of the kernel of
// the same name in elementwise_kernels.h. Functions here neither allocate nor
// check their arguments.

#ifndef BATON_RUNTIME_KERNELS_ELEMENTWISE_PROGRAM_H_
#define BATON_RUNTIME_KERNELS_ELEMENTWISE_PROGRAM_H_

#include <cstddef>
#include <cstdint>

namespace baton::kernels {

enum class ElementFunction : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMinimum,
  kPrelu,  // a, times the slope b where a is not positive
  // Comparisons of floats: 0 or 1.
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  // Functions of int32, which wrap:
  kAddInt,
  kSubtractInt,
  kMultiplyInt,
  kMaximumInt,
  kMinimumInt,
  kLessInt,
  kLessEqualInt,
  kGreaterInt,
  kGreaterEqualInt,
  kEqualInt,
  kNotEqualInt,
  kAnd,  // of 0 and 1
  kOr,
  kFixedPointBy,  // a times b, as kFixedPoint with the shift q
  // Functions of three operands: b where a is not 0, else c; and a times b, as
  // kFixedPoint with the shift q + c.
  kSelect,
  kFixedPointByShift,
  // Chains of functions in one step, where `b` and `c` are operands of one
  // element:
  kQuantize,       // kClip(kAdd(kRound(kDivide(a, b)), c)), from p to q
  kDequantize,     // kMultiply(kToFloat(kSubtractInt(kToInt(a), b)), c), where
                   // `a` is from -128 to 255, or a NaN
  kDequantizeInt,  // kMultiply(kToFloat(kSubtractInt(a, b)), c)
  // Functions of one operand:
  kRelu,
  kClip,       // from p to q
  kLeakyRelu,  // the slope for negative values is p
  kNegative,
  kAbs,
  kSqrt,
  kRsqrt,
  kExp,
  kLog,
  kTanh,
  kSigmoid,
  kErf,
  kFloor,
  kCeil,
  kRound,
  kPower,  // the exponent is p
  // Rounds to the nearest float16 or bfloat16.
  kRoundToHalf,
  kRoundToBFloat,
  // Functions of float16, with enough precision for it; not rounded.
  kExpOfHalf,
  kLogOfHalf,
  kTanhOfHalf,
  kCopy,
  // As `cast`: of floats to integers and back, and of integers to bytes.
  kToInt,
  kToFloat,
  kWrapUint8,
  kWrapInt8,
  kToBool,
  kNot,      // of 0 and 1
  kClipInt,  // from p to q, which are integers
  // Times p / 2^q, to the nearest integer, ties upwards; q is from 1 to 62.
  kFixedPoint,
};

constexpr bool IsBinary(ElementFunction function) {
  return function < ElementFunction::kSelect;
}
constexpr int NumArgs(ElementFunction function) {
  if (function >= ElementFunction::kSelect &&
      function <= ElementFunction::kDequantizeInt) {
    return 3;
  }
  return IsBinary(function) ? 2 : 1;
}

// value[number of operands + own number] = function(value[a], value[b],
// value[c]). Operands are values 0, 1, ...
struct ElementInstruction {
  ElementFunction function = ElementFunction::kCopy;
  int16_t a = 0;
  int16_t b = 0;
  int16_t c = 0;
  // The register of the workspace that holds the value. The last instruction
  // writes the result instead.
  int16_t target = 0;
  double p = 0;
  double q = 0;
};

// The representation of an operand in memory.
enum class ElementOperand : uint8_t {
  kFull,       // an element for each one of the result, in its order
  kScalar,     // one element
  kBroadcast,  // by strides
  // As kFull, converted to floats:
  kInt32,
  kUint8,
  kInt8,
  kHalf,
  kBFloat,
  // By strides, as int32:
  kBytes,
  kSignedBytes,
  kBools,
};

// The representation of the result: values unchanged, or floats converted as
// `cast` does, or the low byte of integers.
enum class ElementResult : uint8_t {
  kWords,
  kInt32,
  kUint8,
  kInt8,
  kHalf,
  kBFloat,
  kLowByte
};

inline constexpr int kMaxElementDims = 6;
inline constexpr int64_t kElementTile = 1024;

struct ElementProgram {
  const ElementInstruction* instructions = nullptr;
  int32_t num_instructions = 0;
  int32_t num_operands = 0;
  int32_t num_registers = 0;  // those that instructions name
  const ElementOperand* operands = nullptr;
  // For each operand the register into which it is spread or converted; those
  // that are kFull or kScalar need none.
  const int16_t* operand_registers = nullptr;
  // Extents of the result; and strides of each operand, in elements,
  // kMaxElementDims for each operand.
  int32_t num_dims = 0;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;
  int64_t num_elements = 0;
  ElementResult result = ElementResult::kWords;
};

constexpr int64_t ElementProgramItems(const ElementProgram& program) {
  return (program.num_elements + kElementTile - 1) / kElementTile;
}

// The bytes of the workspace of a call: one register more than the program
// names, and one more for a result that is converted.
constexpr size_t ElementProgramWorkspaceSize(const ElementProgram& program) {
  const int more = program.result == ElementResult::kWords ? 1 : 2;
  return static_cast<size_t>(program.num_registers + more) * kElementTile *
         sizeof(float);
}

// Computes tiles [begin, end). `result` may be the memory of an operand that is
// kFull, or converted, if its elements have the size of the result's.
void RunElementProgram(const ElementProgram& program,
                       const void* const* operands, void* result,
                       void* workspace, int64_t begin, int64_t end);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_ELEMENTWISE_PROGRAM_H_
