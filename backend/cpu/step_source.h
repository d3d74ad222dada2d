// StepSource: a step of a plan as C++, for libraries that have no executor.
//
//   conv:  static constexpr kernels::internal::ConvPlan kPlan@N@ = {...};
//          kernels::ConvByTiles(kPlan@N@, kTiles@N@, @0@, @1@, {...}, @2@,
//                               workspace, resumes, begin, end);

#ifndef BATON_BACKEND_CPU_STEP_SOURCE_H_
#define BATON_BACKEND_CPU_STEP_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace baton::cpu {

struct StepSource {
  // The source texts of kernels that the statements call, which the writer of a
  // library includes (runtime/kernels/blocked/kernel_texts.h); a set of bits. A
  // value has the bits of the texts that its text needs, too.
  enum Text : unsigned {
    kVector = 1,
    kConv = 2 | kVector,
    kMatmul = 4 | kVector,
    kPool = 8 | kConv,
    kChannels = 16 | kConv,
    kMap = 32 | kVector,
    kIntegers = 512 | kVector,
    kInt8Conv = 1024 | kIntegers,
    kByteSlabs = 16384 | kInt8Conv,
    kIntMatmul = 2048 | kIntegers,
    kElements = 64,  // kElementsText of element_group.h
    kElementsIntegers = 4096 | kElements,
    kElementsHalves = 8192 | kElements,
    kFold = 256 | kMap,
    kMath = 128,  // runtime/kernels/internal/math.h
  };
  unsigned texts = 0;
  // Definitions that the statements use. The writer of a library replaces `@N@`
  // by a number, in the definitions and in the statements.
  std::string definitions = {};
  // Statements that compute the items of work [begin, end). `@0@` is replaced
  // by a pointer to the first operand, `@1@` by one to the second, and so on,
  // inputs before outputs. `workspace` and `resumes` are those of StepCall.
  std::string statements = {};
  // The number of items of work.
  int64_t items = 1;
  // The bytes of the workspace of a thread.
  int64_t workspace_bytes = 0;
};

// --- Values as C++ -----------------------------------------------------------

inline std::string CppText(const std::string& text) { return text; }
inline std::string CppText(const char* text) { return text; }
inline std::string CppText(bool value) { return value ? "true" : "false"; }
inline std::string CppText(int64_t value) { return absl::StrCat(value); }
inline std::string CppText(size_t value) { return absl::StrCat(value); }
inline std::string CppText(double value) {
  if (value != value) return "__builtin_nan(\"\")";
  if (value - value != 0) {
    return value > 0 ? "__builtin_inf()" : "-__builtin_inf()";
  }
  return absl::StrFormat("%a", value);
}
inline std::string CppText(float value) {
  if (value != value) return "__builtin_nanf(\"\")";
  if (value - value != 0) {
    return value > 0 ? "__builtin_inff()" : "-__builtin_inff()";
  }
  return absl::StrFormat("%af", static_cast<double>(value));
}

// `{1, 2, true}`
template <typename First, typename... Rest>
std::string Braced(const First& first, const Rest&... rest) {
  std::string text = absl::StrCat("{", CppText(first));
  (absl::StrAppend(&text, ", ", CppText(rest)), ...);
  return absl::StrCat(text, "}");
}

// Operand `i` in statements.
inline std::string OperandText(int64_t i) { return absl::StrCat("@", i, "@"); }

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_STEP_SOURCE_H_
