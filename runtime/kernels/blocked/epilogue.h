// Operations on a result before it is stored.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_EPILOGUE_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_EPILOGUE_H_

#include <cstdint>

namespace baton::kernels::blocked {

// The rounding of each intermediate result of an epilogue: none (float32), or
// to the nearest float16 or bfloat16, which is kept as float32.
enum class Rounding : uint8_t { kNone, kFloat16, kBFloat16 };

// The operations, in this order. An operation whose pointer is null is left
// out. `sum` and the result of each operation are rounded:
//
//   y = sum + bias[c];  y = y * scale[c];  y = y + shift[c];
//   y = y + residual;   y = y < low ? low : y;  y = y > high ? high : y;
//
// A NaN stays a NaN; the defaults change nothing; Relu is low = 0. `bias`,
// `scale` and `shift` have an element for each channel of the result (column of
// a matrix), then padding of any value up to a multiple of 16 elements.
// `residual` has the shape and layout of the result, and may be the memory of
// the result.
struct Epilogue {
  const float* bias = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* residual = nullptr;
  float low = -__builtin_inff();
  float high = __builtin_inff();
  Rounding rounding = Rounding::kNone;
};

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_EPILOGUE_H_
