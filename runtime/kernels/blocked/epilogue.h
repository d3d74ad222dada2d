// Operations on a result before it is stored.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_EPILOGUE_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_EPILOGUE_H_

#include <cstdint>

namespace baton::kernels::blocked {

// To what each result of an epilogue is rounded: float32, or float32 with the
// value of a half float.
enum class Rounding : uint8_t { kNone, kFloat16, kBFloat16 };

// In this order, each rounded, the sum, too, each left out where its pointer is
// null:
//
//   y = sum + bias[c];  y = y * scale[c];  y = y + shift[c];
//   y = y + residual;   y = y < low ? low : y;  y = y > high ? high : y;
//
// so that a NaN stays, and the defaults change nothing. Relu has low = 0.
// `bias`, `scale` and `shift` have an element for each channel of the result
// (column of a matrix), and as many more as make a multiple of 16, of any
// value. `residual` has the shape and layout of the result, and may be the
// memory of the result.
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
