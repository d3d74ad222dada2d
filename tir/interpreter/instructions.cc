#include "baton/tir/interpreter/instructions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/interpreter/scalar.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {
namespace {

// Each lane of the result is a sum of products of as many elements as `group`:
//
//   result[i] = c[i] + a[i * group] * b[i * group] + ...
//
// `a`, `b` and `c` are numbers of operands, of which the bits are elements of
// these types.
struct Instruction {
  absl::string_view name;
  int operands;
  int a;
  DType of_a;
  int b;  // -1: ones
  DType of_b;
  int c;  // -1: zero
  int group;
  bool joined = false;     // all operands together are `a`
  bool saturates = false;  // the sum is the nearest number that fits
};

constexpr DType kI8 = DType::Int(8);
constexpr DType kU8 = DType::UInt(8);
constexpr DType kI16 = DType::Int(16);

constexpr Instruction kInstructions[] = {
    {"llvm.x86.avx512.vpdpbusd.512", 3, 1, kU8, 2, kI8, 0, 4},
    {"llvm.x86.avx512.pmaddubs.w.512", 2, 0, kU8, 1, kI8, -1, 2, false, true},
    {"llvm.x86.avx512.pmaddw.d.512", 2, 0, kI16, 1, kI16, -1, 2},
    {"llvm.aarch64.neon.smull.v8i16", 2, 0, kI8, 1, kI8, -1, 1},
    {"llvm.aarch64.neon.saddlp.v4i32.v8i16", 1, 0, kI16, -1, {}, -1, 2},
    {"llvm.aarch64.neon.addp.v4i32", 2, 0, kInt32, -1, {}, -1, 2, true},
    {"llvm.aarch64.neon.sdot.v4i32.v16i8", 3, 1, kI8, 2, kI8, 0, 4},
    {"llvm.aarch64.neon.udot.v4u32.v16u8", 3, 1, kU8, 2, kU8, 0, 4},
    {"llvm.amdgcn.sdot4", 4, 0, kI8, 1, kI8, 2, 4, false, true},
    {"__dp4a", 3, 0, kI8, 1, kI8, 2, 4},
};

const Instruction* Find(absl::string_view name) {
  for (const Instruction& instruction : kInstructions) {
    if (instruction.name == name) return &instruction;
  }
  return nullptr;
}

}  // namespace

bool IsInstruction(absl::string_view name) { return Find(name) != nullptr; }

bool ReinterpretLanes(const Operand& operand, DType element, Lanes& result) {
  const DType from = WithLanes(operand.dtype, 1);
  const auto from_bytes = static_cast<size_t>(ElementBytes(from));
  const auto to_bytes = static_cast<size_t>(ElementBytes(element));
  std::vector<char> bytes(from_bytes * operand.lanes.size());
  if (bytes.size() % to_bytes != 0) return false;
  for (size_t i = 0; i < operand.lanes.size(); ++i) {
    StoreScalar(from, operand.lanes[i], bytes.data() + i * from_bytes);
  }
  result.clear();
  for (size_t at = 0; at < bytes.size(); at += to_bytes) {
    result.push_back(LoadScalar(element, bytes.data() + at));
  }
  return true;
}

bool ComputeInstruction(absl::string_view name,
                        absl::Span<const Operand> operands, DType dtype,
                        Lanes& result) {
  const Instruction* const instruction = Find(name);
  if (instruction == nullptr || !dtype.is_integral() ||
      operands.size() != static_cast<size_t>(instruction->operands)) {
    return false;
  }
  const auto operand = [&](int i) -> const Operand& {
    return operands[static_cast<size_t>(i)];
  };
  const auto lanes = static_cast<size_t>(dtype.lanes());
  const auto group = static_cast<size_t>(instruction->group);
  Lanes a;
  Lanes b;
  if (!ReinterpretLanes(operand(instruction->a), instruction->of_a, a)) {
    return false;
  }
  if (instruction->joined) {
    for (const Operand& other : operands.subspan(1)) {
      Lanes more;
      if (!ReinterpretLanes(other, instruction->of_a, more)) return false;
      a.insert(a.end(), more.begin(), more.end());
    }
  }
  if (a.size() != lanes * group) return false;
  if (instruction->b < 0) {
    b.assign(a.size(), Scalar{.i = 1});
  } else if (!ReinterpretLanes(operand(instruction->b), instruction->of_b, b) ||
             b.size() != a.size()) {
    return false;
  }
  if (instruction->c >= 0 && operand(instruction->c).lanes.size() != lanes) {
    return false;
  }
  const DType element = WithLanes(dtype, 1);
  result.clear();
  for (size_t i = 0; i < lanes; ++i) {
    int64_t sum = instruction->c < 0 ? 0 : operand(instruction->c).lanes[i].i;
    for (size_t k = i * group; k < (i + 1) * group; ++k) sum += a[k].i * b[k].i;
    if (instruction->saturates) {
      const int64_t most = (int64_t{1} << (element.bits() - 1)) - 1;
      sum = std::clamp(sum, -most - 1, most);
    }
    result.push_back(ConvertScalar({.i = sum}, DType::Int(64), element));
  }
  return true;
}

}  // namespace baton::tir
