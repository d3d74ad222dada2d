#include "baton/backend/library/compiled_test.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/plan_values.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"

namespace baton {
namespace {

using tir::CppCommentText;
using tir::CppIdentifier;

// The statements of a run in a test. `clear` fills the results, so that those of
// the run before do not count.
std::string RunInTest(absl::string_view clear, absl::string_view args,
                      absl::string_view function = "Run") {
  return absl::StrCat(clear,
                      "    std::memset(arena, 0xA5, sizeof(arena));\n"
                      "    model.Reset();\n"
                      "    if (Fails([&] { return model.",
                      function, "(inputs, outputs", args,
                      "); })) {\n"
                      "      std::printf(\"the run fails\\n\");\n"
                      "      failed = 1;\n    }\n");
}

// NextWord() of plan_values.cc.
constexpr char kWordsText[] = R"(
// The next bytes of elements, up to eight. Processors differ in which NaN they
// compute: each has all bits. `infinity` has the bits of infinity; it is 0 for
// elements that are no floats.
static std::uint64_t NextWord(const unsigned char*& data, std::size_t& bytes,
                              std::uint64_t infinity, std::uint64_t bits) {
  const std::size_t count = bytes < 8 ? bytes : 8;
  std::uint64_t word = 0;
  std::memcpy(&word, data, count);
  data += count;
  bytes -= count;
  if (infinity == 0) return word;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  for (std::uint64_t shift = 0; shift < 64; shift += bits) {
    if (((word >> shift) & (all >> 1)) > infinity) word |= all << shift;
  }
  return word;
}
[[maybe_unused]] static bool AreEqual(const unsigned char* a,
                                      const unsigned char* b, std::size_t bytes,
                                      std::uint64_t infinity,
                                      std::uint64_t bits) {
  for (std::size_t left = bytes; bytes > 0;) {
    if (NextWord(a, bytes, infinity, bits) !=
        NextWord(b, left, infinity, bits)) {
      return false;
    }
  }
  return true;
}
)";

// Compares operands with the expected ones of a run.
constexpr char kCheckText[] = R"(
struct Expected {
  std::size_t step, operand;
  bool is_result;
  std::uint64_t infinity, bits, hash;
  const char* message;
};
// The first operand that is wrong is reported.
struct Found {
  const Expected* all;
  const Expected* next;
  bool is_wrong;
};
static std::uint64_t HashOfBytes(const unsigned char* data, std::size_t bytes,
                                 std::uint64_t infinity, std::uint64_t bits) {
  std::uint64_t hash = bytes;
  while (bytes > 0) {
    hash = (hash ^ NextWord(data, bytes, infinity, bits)) *
           0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}
static void Check(void* ctx, std::size_t step, std::size_t operand,
                  bool is_result, const void* data, std::size_t bytes) {
  Found& found = *static_cast<Found*>(ctx);
  if (found.is_wrong) return;
  const auto is_of = [&](const Expected& entry) {
    return entry.message == nullptr ||
           (entry.step == step && entry.operand == operand &&
            entry.is_result == is_result);
  };
  // In the order of the steps, unless that is wrong.
  if (!is_of(*found.next) || found.next->message == nullptr) {
    found.next = found.all;
    while (!is_of(*found.next)) ++found.next;
  }
  const Expected& expected = *found.next;
  found.is_wrong =
      expected.message == nullptr ||
      HashOfBytes(static_cast<const unsigned char*>(data), bytes,
                  expected.infinity, expected.bits) != expected.hash;
  if (expected.message != nullptr) ++found.next;
  if (!found.is_wrong) return;
  std::printf("first wrong step: %s\n",
              expected.message == nullptr ? "one too many" : expected.message);
}
)";

// TensorError::of_largest (instrument/tensor_error.h); infinite where an element
// is NaN or infinite in only one tensor.
constexpr char kErrorText[] = R"(
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
template <class T>
static double ValueOf(T x) {
  return static_cast<double>(x);
}
[[maybe_unused]] static double ValueOf(BFloat16 x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x.bits) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
[[maybe_unused]] static double ValueOf(Float16 x) {
  const int exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
  const double sign = x.bits >> 15 != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return exponent == 0
             ? sign * std::ldexp(fraction, -24)
             : sign * std::ldexp(1024 + fraction, exponent - 25);
}
template <class T, class Exact>
static double ErrorOf(const unsigned char* result, const unsigned char* exact,
                      std::size_t count) {
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    T x;
    Exact y;
    std::memcpy(&x, result + i * sizeof(T), sizeof(T));
    std::memcpy(&y, exact + i * sizeof(Exact), sizeof(Exact));
    const double a = ValueOf(x), b = ValueOf(y);
    if (std::isfinite(a) && std::isfinite(b)) {
      error = std::fmax(error, std::fabs(a - b));
      largest = std::fmax(largest, std::fabs(b));
    } else if (!(a == b || (std::isnan(a) && std::isnan(b)))) {
      return INFINITY;
    }
  }
  return error == 0 ? 0 : error / largest;
}
)";

// The type of an element in the text above.
std::string ErrorElement(DType dtype) {
  if (dtype == DType::Float(16)) return "Float16";
  if (dtype == DType::BFloat(16)) return "BFloat16";
  return MemberElement(dtype);
}

// Arguments for NextWord() of the text above.
std::string FormatText(const FloatFormat& format) {
  return absl::StrCat("0x", absl::Hex(format.infinity), "u, ", format.bits,
                      "u");
}

// The table of the operands of case `k`.
std::string ExpectedOf(size_t k, absl::Span<const CompiledModel::Step> steps,
                       const TestCase& test_case) {
  std::string text =
      absl::StrCat("static const Expected expected_", k, "[] = {\n");
  for (const OperandValue& value : test_case.operands) {
    const CompiledModel::Step& step =
        steps[test_case.first_step + static_cast<size_t>(value.step)];
    const auto operand = static_cast<size_t>(value.operand);
    // Numbers are in the text of loops.
    if (operand >= step.operands.size() || step.operands[operand].empty()) {
      continue;
    }
    const std::string& origin = step.operands[operand];
    absl::StrAppend(
        &text, "    {", value.is_result ? step.last : step.first, ", ", operand,
        ", ", value.is_result ? "true" : "false", ", ",
        FormatText(value.format), ", 0x",
        absl::Hex(value.hash, absl::kZeroPad16), "u,\n     ",
        tir::CppStringLiteral(absl::StrCat(
            step.name, ": ",
            value.is_result ? absl::StrCat("it computes another operand ",
                                           operand, " than the executor")
            : origin == "the weights"
                ? absl::StrCat("its operand ", operand,
                               " is not the model's weights")
                : absl::StrCat("before it, its operand ", operand, ", ", origin,
                               ", is not there, or not any more"))),
        "},\n");
  }
  return absl::StrCat(text, "    {0, 0, false, 0, 0, 0, nullptr}};\n");
}

}  // namespace

CompiledTest MakeCompiledTest(const CompileModelOptions& options,
                              absl::Span<const CompiledModel::Step> steps,
                              absl::Span<const TestCase> cases) {
  CompiledTest test;
  test.data.machine = options.machine;
  const std::string prefix =
      absl::StrCat(CppIdentifier(options.name), "_test_data_");
  const std::string name = absl::StrCat("::", options.cpp_class);
  const auto is_state = [&options](const std::string& port, bool is_output) {
    return std::any_of(options.state.begin(), options.state.end(),
                       [&](const auto& pair) {
                         return (is_output ? pair.first : pair.second) == port;
                       });
  };
  std::string data;
  std::string tables;
  std::string buffers;
  std::string runs;
  bool has_errors = false;  // compares with the model without passes
  const auto add = [&](const Tensor& tensor, const std::string& symbol) {
    test.tensors.push_back(tensor);
    test.data.constants.push_back({symbol, {tensor.bytes()}});
    absl::StrAppend(&data, "extern \"C\" const unsigned char ", symbol,
                    "[];\n");
  };
  for (size_t k = 0; k < cases.size(); ++k) {
    const TestCase& test_case = cases[k];
    std::vector<std::string> from;
    std::vector<std::string> to;
    std::string clear;
    std::string checks;
    for (size_t i = 0; i < test_case.inputs.size(); ++i) {
      if (i < options.input_names.size() &&
          is_state(options.input_names[i], false)) {
        continue;
      }
      const Tensor& tensor = test_case.inputs[i];
      const std::string symbol = absl::StrCat(prefix, k, "_input_", i);
      add(tensor, symbol);
      from.push_back(absl::StrCat("reinterpret_cast<const ",
                                  MemberElement(tensor.dtype()), "*>(", symbol,
                                  ")"));
    }
    for (const int64_t dim : test_case.dims) from.push_back(absl::StrCat(dim));
    for (size_t i = 0; i < test_case.outputs.size(); ++i) {
      const std::string output_name = i < options.output_names.size()
                                          ? options.output_names[i]
                                          : absl::StrCat("output_", i);
      if (is_state(output_name, true)) continue;
      const Tensor& tensor = test_case.outputs[i];
      const std::string symbol = absl::StrCat(prefix, k, "_output_", i);
      add(tensor, symbol);
      const size_t bytes = tensor.bytes().size();
      const std::string result = absl::StrCat("result_", k, "_", i);
      absl::StrAppend(&buffers, "alignas(64) static unsigned char ", result,
                      "[",
                      std::max({bytes, size_t{1},
                                i < test_case.output_bytes.size()
                                    ? test_case.output_bytes[i]
                                    : 0}),
                      "];\n");
      to.push_back(absl::StrCat("reinterpret_cast<",
                                MemberElement(tensor.dtype()), "*>(", result,
                                ")"));
      absl::StrAppend(&clear, "    std::memset(", result, ", 0xA5, sizeof(",
                      result, "));\n");
      absl::StrAppend(&checks, "    if (!AreEqual(", result, ", ", symbol, ", ",
                      bytes, ", ", FormatText(FloatFormatOf(tensor.dtype())),
                      ")) {\n      std::printf(\"output ", i,
                      " differs from the evaluator's\\n\");\n"
                      "      failed = 1;\n    }\n");
      if (i >= test_case.exact.size() || !test_case.exact[i].has_value()) {
        continue;
      }
      const Tensor& exact = *test_case.exact[i];
      const std::string exact_symbol = absl::StrCat(prefix, k, "_exact_", i);
      add(exact, exact_symbol);
      absl::StrAppend(
          &checks, "    error = ErrorOf<", ErrorElement(tensor.dtype()), ", ",
          ErrorElement(exact.dtype()), ">(", result, ", ", exact_symbol, ", ",
          tensor.num_elements(), ");\n    if (!(error <= ", name,
          "::kMaxError)) {\n      std::printf(\"output ", i,
          " is %g away from that of the model without passes, \"\n"
          "                  \"more than kMaxError\\n\", error);\n"
          "      failed = 1;\n    }\n");
      has_errors = true;
    }
    // The second run finds the arena used, and reads a copy of the weights.
    absl::StrAppend(&runs, "  for (int run = 0; run < 2; ++run) {\n    ", name,
                    "& model = run == 0 ? own : copied;\n    const ", name,
                    "::Inputs inputs = {", absl::StrJoin(from, ", "),
                    "};\n    const ", name, "::Outputs outputs = {",
                    absl::StrJoin(to, ", "), "};\n", RunInTest(clear, ""),
                    checks);
    if (options.threads) {
      absl::StrAppend(&runs, "    for (int threads = 0; threads <= ", name,
                      "::kMaxThreads; ++threads) {\n",
                      RunInTest(clear, ", Backwards, nullptr, threads"), checks,
                      "    }\n");
    }
    if (options.check_values) {
      absl::StrAppend(&tables, ExpectedOf(k, steps, test_case));
      absl::StrAppend(&runs, "    found = {expected_", k, ", expected_", k,
                      ", false};\n",
                      RunInTest(clear, ", &Check, &found", "RunChecked"),
                      "    failed |= found.is_wrong;\n");
    }
    absl::StrAppend(&runs, "  }\n");
  }
  test.source = absl::StrCat(
      "// Runs the model ", CppCommentText(options.model),
      " and compares with the evaluator, byte for byte; any NaN is equal to\n"
      "// any other.\n"
      "// Written by baton-compile. Do not edit.\n\n",
      has_errors ? "#include <cmath>\n" : "",
      "#include <cstdint>\n#include <cstdio>\n#include <cstring>\n"
      "#include <type_traits>\n\n#include \"",
      options.name, ".h\"\n\nnamespace baton_test {\n\n", data,
      "\nalignas(64) static unsigned char arena[", name,
      "::kArenaBytes];\nalignas(64) static unsigned char weights[", name,
      "::kCopyBytes];\n", buffers,
      options.threads
          ? "\n// The parts of a step, the last one first.\n"
            "static void Backwards(void*, int n, void (*body)(void*, int),\n"
            "                      void* body_ctx) {\n"
            "  for (int i = n; i > 0; --i) body(body_ctx, i - 1);\n}\n"
          : "",
      kWordsText, options.check_values ? kCheckText : "", tables,
      has_errors ? kErrorText : "",
      "\n// Run returns nothing where no value can fail.\n"
      "template <typename Run>\nstatic bool Fails(Run run) {\n"
      "  if constexpr (std::is_void_v<decltype(run())>) {\n"
      "    run();\n    return false;\n  } else {\n"
      "    return static_cast<int>(run()) != 0;\n  }\n}\n"
      "\nstatic int Main() {\n  if (!",
      name,
      "::IsSupported()) {\n    std::printf(\"skipped: the processor lacks the "
      "instructions\\n\");\n    return 0;\n  }\n  std::printf(\"%s\\n\", ",
      name, "::Instructions());\n  int failed = 0;\n  ", name,
      " own(arena);\n  ", name, " copied(arena, ", name,
      "::CopyWeights(weights));\n",
      options.check_values ? "  Found found = {nullptr, nullptr, false};\n"
                           : "",
      has_errors ? "  double error = 0;\n" : "", runs,
      "  return failed;\n}\n\n}  // namespace baton_test\n\n"
      "int main() {\n  return baton_test::Main();\n}\n");
  return test;
}

}  // namespace baton
