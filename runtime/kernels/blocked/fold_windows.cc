#include "baton/runtime/kernels/blocked/fold_windows.h"

// A text of compiled libraries, too (kernel_texts.h): no other includes.
namespace baton::kernels::blocked {
namespace {

// The outputs o for which o * stride - pad_before + tap * dilation is in
// [0, in).
struct Range {
  int64_t first;
  int64_t last;
};

Range Valid(const Axis& axis, int64_t tap) {
  const int64_t shift = tap * axis.dilation - axis.pad_before;
  Range range = {0, axis.out};
  if (shift < 0) range.first = (-shift + axis.stride - 1) / axis.stride;
  const int64_t room = axis.in - shift;
  const int64_t last = room <= 0 ? 0 : (room + axis.stride - 1) / axis.stride;
  if (last < range.last) range.last = last;
  if (range.last < range.first) range.last = range.first;
  return range;
}

// Adds `count` blocks to blocks that are `step` floats apart.
void AddBlocks(const float* from, int64_t count, int64_t step, float* to) {
  for (int64_t i = 0; i < count; ++i, from += kBlock, to += step) {
    for (int64_t c = 0; c < kBlock; ++c) to[c] += from[c];
  }
}

}  // namespace

void Fold(const FoldParams& p, const float* windows, float* y, int64_t begin,
          int64_t end) {
  const int64_t blocks = BlocksOf(p.channels);
  const int64_t plane = p.h.out * p.w.out * kBlock;
  const int64_t row = p.w.in * kBlock;
  const int64_t taps = p.h.kernel * p.w.kernel;
  for (int64_t item = begin; item < end; ++item) {
    const float* const image =
        windows + (item / blocks * taps * blocks + item % blocks) * plane;
    float* const to = y + item * p.h.in * row;
    for (int64_t h = 0; h < p.h.in; ++h) {
      float* const out = to + h * row;
      __builtin_memset(out, 0, static_cast<unsigned long>(row) * sizeof(float));
      for (int64_t kh = 0; kh < p.h.kernel; ++kh) {
        const int64_t at = h + p.h.pad_before - kh * p.h.dilation;
        if (at < 0 || at % p.h.stride != 0 || at / p.h.stride >= p.h.out) {
          continue;
        }
        for (int64_t kw = 0; kw < p.w.kernel; ++kw) {
          const Range valid = Valid(p.w, kw);
          AddBlocks(image + (kh * p.w.kernel + kw) * blocks * plane +
                        (at / p.h.stride * p.w.out + valid.first) * kBlock,
                    valid.last - valid.first, p.w.stride * kBlock,
                    out + (valid.first * p.w.stride - p.w.pad_before +
                           kw * p.w.dilation) *
                              kBlock);
        }
      }
    }
  }
}

}  // namespace baton::kernels::blocked
