// A law of random programs: what is written as ONNX and read again gives the
// same values, on plain arguments and on special numbers.
//
// Programs with a part that ONNX cannot express are refused by the exporter and
// passed over; the test counts both. BATON_LONG_TESTS=1 tries more programs.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/compare_values.h"
#include "baton/instrument/special_inputs.h"
#include "baton/ir/module.h"
#include "baton/onnx/export.h"
#include "baton/onnx/graph.h"
#include "baton/onnx/import.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/random_program.h"
#include "baton/transform/pass_info.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

// Sums are made in other orders, and functions are written as formulas.
constexpr double kTolerance = 1e-3;

uint32_t NumPrograms() {
  const char* const is_long = std::getenv("BATON_LONG_TESTS");
  return is_long != nullptr && absl::string_view(is_long) == "1" ? 4000 : 300;
}

// The tensors in a value, in order: the exporter writes tuples of tuples so.
Value Flattened(const Value& value) {
  std::vector<Value> tensors;
  std::vector<const Value*> work = {&value};
  while (!work.empty()) {
    const Value* next = work.back();
    work.pop_back();
    if (next->is_tensor()) {
      tensors.push_back(*next);
      continue;
    }
    for (size_t i = next->fields().size(); i-- > 0;) {
      work.push_back(&next->fields()[i]);
    }
  }
  return Value::MakeTuple(std::move(tensors));
}

// The module after export and import; Unimplemented if it cannot be written.
absl::StatusOr<IRModule> WrittenAndRead(const IRModule& module, int opset) {
  const absl::StatusOr<onnx::OnnxModel> model =
      ExportOnnx(module, {.opset = opset});
  if (!model.ok()) return model.status();
  const auto bytes = std::make_shared<const std::string>(model->ToString());
  absl::StatusOr<IRModule> again = ImportOnnx(*bytes, bytes);
  if (again.ok()) return again;
  return absl::InternalError(
      absl::StrCat("cannot be read: ", again.status().message()));
}

absl::StatusOr<Value> Evaluated(const IRModule& module,
                                const std::vector<Value>& args) {
  EvaluateOptions options;
  options.max_call_depth = 1000;
  options.max_calls = 100'000;
  return EvaluateFunction(module, "main", args, options);
}

// Returns how the results differ; empty if they agree. Counts in
// `compared_count` the results that could be compared.
std::string Difference(const IRModule& before, const IRModule& after,
                       const std::vector<Value>& args,
                       uint32_t& compared_count) {
  const absl::StatusOr<Value> want = Evaluated(before, args);
  if (!want.ok()) return "";
  ++compared_count;
  const absl::StatusOr<Value> got = Evaluated(after, args);
  if (!got.ok()) return std::string(got.status().message());
  PassInfo info;
  info.exact = false;
  info.tolerance = kTolerance;
  const absl::Status compared = CompareValues(
      Flattened(*want), Flattened(*got), WithRounding(info, before, after));
  return compared.ok() || absl::IsUnimplemented(compared)
             ? ""
             : std::string(compared.message());
}

TEST(OnnxExportLawTest, WhatIsWrittenAndReadGivesTheSameValues) {
  uint32_t written = 0;
  uint32_t compared = 0;
  for (uint32_t seed = 0; seed < NumPrograms(); ++seed) {
    RandomProgramOptions options;
    options.size = 10 + static_cast<int>(seed % 5) * 8;
    options.networks = seed % 2 == 0;
    const absl::StatusOr<IRModule> module = RandomProgram(seed, options);
    ASSERT_TRUE(module.ok()) << module.status().message();
    const absl::StatusOr<IRModule> again =
        WrittenAndRead(*module, seed % 3 == 0 ? 17 : 21);
    if (!again.ok() && absl::IsUnimplemented(again.status())) continue;
    ++written;
    ASSERT_TRUE(again.ok())
        << "seed " << seed << ": " << again.status().message() << "\n"
        << AsText(*module);
    const auto main = module->Find<Function>("main");
    for (uint32_t set = 0; set < 3; ++set) {
      const auto args = RandomInputs(main, seed + set);
      if (!args.ok()) break;
      const std::string wrong = Difference(*module, *again, *args, compared);
      ASSERT_EQ(wrong, "") << "seed " << seed << ", set " << set << "\n"
                           << AsText(*module);
    }
    const auto args = RandomInputs(main, seed);
    if (!args.ok()) continue;
    std::vector<Value> zeros = *args;
    for (Value& arg : zeros) arg = WithZeros(arg);
    EXPECT_EQ(Difference(*module, *again, zeros, compared), "")
        << "seed " << seed << " with zeros\n"
        << AsText(*module);
  }
  std::printf("%u of %u programs can be written, %u results were compared.\n",
              written, NumPrograms(), compared);
  EXPECT_GT(written, NumPrograms() / 4);
  EXPECT_GT(compared, NumPrograms());
}

}  // namespace
}  // namespace baton::testing
