#include "baton/runtime/kernels/elementwise_program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "baton/runtime/kernels/internal/binary.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {
namespace {

using internal::kMemoryBound;
using internal::Vectors;

// A value of a program: n elements, or one that stands for all.
struct Run {
  const float* data;
  int64_t step;
};

template <typename Fn>
void Binary(const Run& a, const Run& b, float* out, int64_t n, const Fn& fn) {
  internal::ComputeRuns<float, float, kMemoryBound>({.a = a.data,
                                                     .a_step = a.step,
                                                     .b = b.data,
                                                     .b_step = b.step,
                                                     .out = out,
                                                     .n = n,
                                                     .runs = 1,
                                                     .a_distance = 0,
                                                     .b_distance = 0},
                                                    fn);
}

// As in elementwise_functions.cc: `fast` in its domain, and blocks of others
// `slow`. `to` is not `from`.
template <typename Fast, typename Slow>
void FastPath(const float* from, int64_t n, float* to, const Fast& fast,
              const Slow& slow) {
  internal::InWholeRuns(from, n, to,
                        [=](const float* in, int64_t m, float* out) {
                          internal::RunFastPath(
                              m, out,
                              [=](int64_t i, bool& in_domain)
                                  BATON_LOOP { return fast(in[i], in_domain); },
                              [=](int64_t begin, int64_t end) {
                                internal::MapRun<kMemoryBound>(
                                    in + begin, end - begin, out + begin, slow);
                              });
                        });
}

void Unary(const ElementInstruction& instruction, const float* from, int64_t n,
           float* to) {
  switch (instruction.function) {
    case ElementFunction::kRelu:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return v < 0 ? 0.0f : v; });
    case ElementFunction::kClip: {
      const float min = static_cast<float>(instruction.p);
      const float max = static_cast<float>(instruction.q);
      return internal::MapRun<kMemoryBound>(
          from, n, to, [min, max](float v) BATON_LOOP {
            const float raised = v < min ? min : v;
            return raised > max ? max : raised;
          });
    }
    case ElementFunction::kLeakyRelu: {
      const float alpha = static_cast<float>(instruction.p);
      return internal::MapRun<kMemoryBound>(
          from, n, to,
          [alpha](float v) BATON_LOOP { return v > 0 ? v : alpha * v; });
    }
    case ElementFunction::kNegative:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP {
            return std::bit_cast<float>(std::bit_cast<uint32_t>(v) ^
                                        0x80000000u);
          });
    case ElementFunction::kAbs:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP {
            return std::bit_cast<float>(std::bit_cast<uint32_t>(v) &
                                        0x7fffffffu);
          });
    case ElementFunction::kSqrt:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return std::sqrt(v); });
    case ElementFunction::kRsqrt:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return 1 / std::sqrt(v); });
    case ElementFunction::kExp:
      return FastPath(
          from, n, to,
          [](float v, bool& in_domain) BATON_LOOP {
            in_domain = internal::IsPlainExp(v);
            return internal::PlainExp(v);
          },
          [](float v) BATON_LOOP { return internal::Exp(v); });
    case ElementFunction::kLog:
      return FastPath(
          from, n, to,
          [](float v, bool& in_domain) BATON_LOOP {
            in_domain = internal::IsNormalPositive(v);
            return internal::NormalLog(v, 0.0f);
          },
          [](float v) BATON_LOOP { return internal::Log(v); });
    case ElementFunction::kTanh:
      return internal::MapRun<Vectors::k512>(
          from, n, to, [](float v) BATON_LOOP { return internal::Tanh(v); });
    case ElementFunction::kSigmoid:
      return internal::MapRun<Vectors::k512>(
          from, n, to, [](float v) BATON_LOOP { return internal::Sigmoid(v); });
    case ElementFunction::kErf:
      return internal::MapInterleaved<Vectors::k512>(
          from, n, to, [](float v) BATON_LOOP { return internal::Erf(v); });
    case ElementFunction::kFloor:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return internal::Floor(v); });
    case ElementFunction::kCeil:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return internal::Ceil(v); });
    case ElementFunction::kRound:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return internal::Round(v); });
    case ElementFunction::kPower: {
      const float y = static_cast<float>(instruction.p);
      return internal::InWholeRuns(
          from, n, to, [y](const float* in, int64_t m, float* out) {
            internal::RunFastPath<uint8_t>(
                m, out,
                [=](int64_t i, bool& in_domain) BATON_LOOP {
                  return internal::PlainPower(in[i], y, in_domain);
                },
                [=](int64_t begin, int64_t end) {
                  internal::RunWithExceptions(
                      end - begin, out + begin,
                      [=](int64_t i, bool& in_domain) BATON_LOOP {
                        const float base = in[begin + i];
                        in_domain = internal::IsOrdinaryPower(base, y);
                        return internal::Power(base, y);
                      },
                      [=](int64_t i) { return std::pow(in[begin + i], y); });
                });
          });
    }
    default:
      if (from != to) std::copy_n(from, n, to);
  }
}

void Compute(const ElementInstruction& instruction, const Run& a, const Run& b,
             float* to, int64_t n) {
  switch (instruction.function) {
    case ElementFunction::kAdd:
      return Binary(a, b, to, n,
                    [](auto x, auto y) BATON_LOOP { return x + y; });
    case ElementFunction::kSubtract:
      return Binary(a, b, to, n,
                    [](auto x, auto y) BATON_LOOP { return x - y; });
    case ElementFunction::kMultiply:
      return Binary(a, b, to, n,
                    [](auto x, auto y) BATON_LOOP { return x * y; });
    case ElementFunction::kDivide:
      return Binary(a, b, to, n,
                    [](auto x, auto y) BATON_LOOP { return x / y; });
    case ElementFunction::kMaximum:
      return Binary(a, b, to, n, [](float x, float y) BATON_LOOP {
        return x > y || x != x ? x : y;
      });
    case ElementFunction::kMinimum:
      return Binary(a, b, to, n, [](float x, float y) BATON_LOOP {
        return x < y || x != x ? x : y;
      });
    case ElementFunction::kPrelu:
      return Binary(a, b, to, n, [](float value, float slope) BATON_LOOP {
        return value > 0 ? value : value * slope;
      });
    default:
      return Unary(instruction, a.data, n, to);
  }
}

// Writes n elements of an operand from element `begin` of the result on.
void Spread(const ElementProgram& program, const int64_t* strides,
            const float* operand, int64_t begin, int64_t n, float* to) {
  const int32_t last = program.num_dims - 1;
  int64_t index[kMaxElementDims];
  int64_t rest = begin;
  int64_t offset = 0;
  for (int32_t d = last; d >= 0; --d) {
    index[d] = rest % program.dims[d];
    rest /= program.dims[d];
    offset += index[d] * strides[d];
  }
  const int64_t inner = program.dims[last];
  const int64_t step = strides[last];
  while (n > 0) {
    const int64_t count = std::min(n, inner - index[last]);
    if (step == 1 && inner == 16 && index[last] == 0 && last > 0 &&
        strides[last - 1] == 0) {
      // The channels of a block, again for each position.
      const int64_t rows =
          std::min(n / 16, program.dims[last - 1] - index[last - 1]);
      const float* const from = operand + offset;
      for (int64_t r = 0; r < rows; ++r, to += 16) {
        std::memcpy(to, from, 16 * sizeof(float));
      }
      n -= rows * 16;
      if (n == 0) return;
      if (rows > 0) {
        index[last - 1] += rows - 1;
        for (int32_t d = last - 1; d >= 0; --d) {
          offset += strides[d];
          if (++index[d] < program.dims[d]) break;
          offset -= strides[d] * program.dims[d];
          index[d] = 0;
        }
        continue;
      }
    }
    if (step == 0) {
      std::fill_n(to, count, operand[offset]);
    } else if (step == 1) {
      std::memcpy(to, operand + offset,
                  static_cast<size_t>(count) * sizeof(float));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = operand[offset + i * step];
    }
    to += count;
    n -= count;
    if (n == 0) return;
    offset -= index[last] * step;
    index[last] = 0;
    for (int32_t d = last - 1; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < program.dims[d]) break;
      offset -= strides[d] * program.dims[d];
      index[d] = 0;
    }
  }
}

// Converts n elements of an operand from element `first` on.
void ConvertOperand(ElementOperand kind, const void* operand, int64_t first,
                    int64_t n, float* to) {
  switch (kind) {
    case ElementOperand::kInt32:
      return internal::ConvertRun(static_cast<const int32_t*>(operand) + first,
                                  n, to);
    case ElementOperand::kUint8:
      return internal::ConvertRun(static_cast<const uint8_t*>(operand) + first,
                                  n, to);
    case ElementOperand::kInt8:
      return internal::ConvertRun(static_cast<const int8_t*>(operand) + first,
                                  n, to);
    case ElementOperand::kFull:
    case ElementOperand::kScalar:
    case ElementOperand::kBroadcast:
      return;
  }
}

void ConvertResult(ElementResult type, const float* from, int64_t n,
                   void* result, int64_t first) {
  switch (type) {
    case ElementResult::kInt32:
      return internal::ConvertRun(from, n,
                                  static_cast<int32_t*>(result) + first);
    case ElementResult::kUint8:
      return internal::ConvertRun(from, n,
                                  static_cast<uint8_t*>(result) + first);
    case ElementResult::kInt8:
      return internal::ConvertRun(from, n,
                                  static_cast<int8_t*>(result) + first);
    case ElementResult::kFloat32:
      return;
  }
}

}  // namespace

void RunElementProgram(const ElementProgram& program,
                       const void* const* operands, void* result,
                       void* workspace, int64_t begin, int64_t end) {
  float* const registers = static_cast<float*>(workspace);
  float* const spare = registers + program.num_registers * kElementTile;
  const int32_t last = program.num_instructions - 1;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t first = tile * kElementTile;
    const int64_t n = std::min(kElementTile, program.num_elements - first);
    const bool is_float = program.result == ElementResult::kFloat32;
    float* const out =
        is_float ? static_cast<float*>(result) + first : spare + kElementTile;
    for (int32_t i = 0; i < program.num_operands; ++i) {
      if (program.operands[i] != ElementOperand::kBroadcast) {
        ConvertOperand(program.operands[i], operands[i], first, n,
                       registers + program.operand_registers[i] * kElementTile);
        continue;
      }
      Spread(program, program.strides + i * kMaxElementDims,
             static_cast<const float*>(operands[i]), first, n,
             registers + program.operand_registers[i] * kElementTile);
    }
    const auto value = [&](int16_t v) -> Run {
      if (v >= program.num_operands) {
        return {
            registers + program.instructions[v - program.num_operands].target *
                            kElementTile,
            1};
      }
      switch (program.operands[v]) {
        case ElementOperand::kFull:
          return {static_cast<const float*>(operands[v]) + first, 1};
        case ElementOperand::kScalar:
          return {static_cast<const float*>(operands[v]), 0};
        default:
          return {registers + program.operand_registers[v] * kElementTile, 1};
      }
    };
    for (int32_t i = 0; i <= last; ++i) {
      const ElementInstruction& instruction = program.instructions[i];
      float* const to =
          i == last ? out : registers + instruction.target * kElementTile;
      Run a = value(instruction.a);
      const Run b = IsBinary(instruction.function) ? value(instruction.b) : a;
      if (!IsBinary(instruction.function) && a.step == 0) {
        std::fill_n(spare, n, *a.data);
        a = {spare, 1};
      } else if (a.data == to &&
                 (instruction.function == ElementFunction::kExp ||
                  instruction.function == ElementFunction::kLog ||
                  instruction.function == ElementFunction::kPower)) {
        std::memcpy(spare, a.data, static_cast<size_t>(n) * sizeof(float));
        a.data = spare;
      }
      Compute(instruction, a, b, to, n);
    }
    if (!is_float) ConvertResult(program.result, out, n, result, first);
  }
}

}  // namespace baton::kernels
