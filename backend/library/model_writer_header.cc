#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/library/arena_blocks.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/model_writer.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"

namespace baton::internal {
namespace {

using tir::CppCommentText;
using tir::CppIdentifier;

}  // namespace

void ModelWriter::AppendMembers(absl::string_view type,
                                const std::vector<LibraryMember>& members,
                                bool is_const, std::string& text) const {
  absl::StrAppend(&text, "  struct ", type, " {\n");
  for (const LibraryMember& member : members) {
    const std::string element = MemberElement(member.slot->dtype);
    // Types of fixed width are of <cstdint>.
    absl::StrAppend(
        &text, "    ", is_const ? "const " : "",
        absl::EndsWith(element, "_t") ? "std::" : "", element, "* ",
        member.name, ";  // ",
        options_.bounds.empty() && member.extents.empty() ? "" : "at most ",
        DescribeSlot(*member.slot),
        member.extents.empty()
            ? ""
            : absl::StrCat(": row-major, of the extents in ", member.extents),
        member.extents_of.empty()
            ? ""
            : absl::StrCat(": the extents of ", member.extents_of),
        "\n");
  }
  if (is_const) {
    for (size_t i = 0; i < options_.bounds.size(); ++i) {
      const DimBound& bound = options_.bounds[i];
      absl::StrAppend(&text, "    std::int64_t ", dims_[i], ";  // ",
                      bound.least, " to ", bound.most, "\n");
    }
  }
  absl::StrAppend(&text, "  };\n");
}

size_t ModelWriter::NumSteps() const {
  return static_cast<size_t>(
      std::count_if(model_.steps.begin() +
                        static_cast<std::ptrdiff_t>(model_.variants.back()),
                    model_.steps.end(), [](const LibraryStep& step) {
                      return step.control == LibraryControl::kNone;
                    }));
}

int64_t ModelWriter::Flops() const {
  double flops = 0;
  for (size_t i = model_.variants.back(); i < model_.steps.size(); ++i) {
    const LibraryStep& step = model_.steps[i];
    const unsigned texts = step.sources.empty() ? 0 : step.sources[0].texts;
    if (texts == cpu::StepSource::kConv || texts == cpu::StepSource::kMatmul ||
        texts == cpu::StepSource::kInt8Conv ||
        texts == cpu::StepSource::kIntMatmul) {
      flops += step.flops;
    }
  }
  return static_cast<int64_t>(flops);
}

std::string ModelWriter::Header() const {
  const std::string guard = absl::StrCat(
      "BATON_MODEL_", absl::AsciiStrToUpper(CppIdentifier(options_.name)), "_",
      absl::AsciiStrToUpper(Hex(hash_)), "_H_");
  std::string text = absl::StrCat(
      "// The model ", CppCommentText(options_.model),
      ".\n// Written by baton-compile. Do not edit.\n//\n"
      "//   alignas(64) static unsigned char arena[",
      class_.name, "::kArenaBytes];\n//   ", class_.name,
      " model(arena);\n//   model.Run({input, ...}, {output, ...});\n"
      "//\n// An object is for one thread at a time; further ones share the "
      "weights.\n\n#ifndef ",
      guard, "\n#define ", guard,
      "\n\n#include <cstddef>\n#include <cstdint>\n\n",
      "// The weights. An undefined symbol of this name says that header and "
      "object\n// are not of one model.\n"
      "extern \"C\" const unsigned char* const ",
      WeightsSymbol(), "[];\n\n",
      "// The code, which other weights do not change.\nnamespace ", Dispatch(),
      " {\n", Declared(), "}  // namespace ", Dispatch(), "\n\n");
  for (const std::string& name : class_.namespaces) {
    absl::StrAppend(&text, "namespace ", name, " {\n");
  }
  // Classes of one name, of several models in a program, are different ones.
  const std::string own =
      absl::StrCat(CppIdentifier(options_.name), "_", Hex(hash_), "_class");
  absl::StrAppend(&text, "inline namespace ", own, " {\n");
  absl::StrAppend(
      &text, "\nclass ", class_.name, " {\n public:\n",
      "  static constexpr std::size_t kArenaBytes = ",
      std::max<int64_t>(model_.arena_bytes, 1),
      ";\n  static constexpr std::size_t kArenaAlign = 64;\n"
      "  static constexpr std::size_t kWeightBytes = ",
      weight_bytes_,
      ";\n  // The bytes that CopyWeights() needs.\n"
      "  static constexpr std::size_t kCopyBytes = ",
      CopyBytes(), ";\n  static constexpr std::size_t kCalls = ", NumSteps(),
      ";\n  // Multiplications and additions of convolutions and products.\n",
      HasControl(model_)
          ? "  // kCalls, kFlops: all branches, a round of a loop.\n"
          : "",
      "  static constexpr std::uint64_t kFlops = ", Flops(),
      ";\n  static constexpr std::uint64_t kModelHash = 0x", Hex(hash_), "u;\n",
      Contract(), "\n");
  AppendMembers("Inputs", inputs_, /*is_const=*/true, text);
  AppendMembers("Outputs", outputs_, /*is_const=*/false, text);
  if (can_fail_) {
    absl::StrAppend(&text,
                    "  // kValue: an asserted condition on values does not "
                    "hold. kDimension: a\n  // dimension is out of bounds.\n"
                    "  enum class Error : int { kOk = 0, kValue = 1, "
                    "kDimension = 2 };\n");
  }
  absl::StrAppend(
      &text,
      model_.state.empty()
          ? ""
          : absl::StrCat("\n  // A copy would have an arena in common, but not "
                         "its state.\n  ",
                         class_.name, "(const ", class_.name,
                         "&) = delete;\n  ", class_.name, "& operator=(const ",
                         class_.name, "&) = delete;\n"),
      "\n  // `arena` has kArenaBytes bytes, aligned to kArenaAlign.\n",
      "  explicit ", class_.name, "(void* arena) noexcept\n",
      "      : arena_(static_cast<unsigned char*>(arena)),\n        "
      "weights_(",
      WeightsSymbol(), ") {\n    Reset();\n  }\n",
      "  // Copies the weights to `memory`, kCopyBytes bytes aligned to "
      "kArenaAlign. The\n  // program's file is mapped in small pages, which "
      "the system may drop.\n"
      "  static const void* CopyWeights(void* memory) noexcept {\n"
      "    return ::",
      Dispatch(), "::CopyWeights(\n        ", WeightsSymbol(),
      ", static_cast<unsigned char*>(memory));\n  }\n"
      "  // As above, for an object that reads what CopyWeights() "
      "returned.\n  ",
      class_.name, "(void* arena, const void* copied_weights) noexcept\n",
      "      : arena_(static_cast<unsigned char*>(arena)),\n"
      "        weights_(static_cast<const unsigned char* const*>("
      "copied_weights)) {\n    Reset();\n  }\n",
      "  // Sets the state to zero.\n  void Reset() noexcept {\n    ::",
      Dispatch(), "::Reset(arena_);\n",
      model_.state.empty() ? "" : "    is_odd_ = false;\n", "  }\n",
      "  // True if the processor has the instructions of ",
      tir::CppIsaName(options_.isas.back()), ".\n",
      "  static bool IsSupported() noexcept {\n    return ::", Dispatch(),
      "::IsSupported();\n  }\n",
      "  // The instructions that Run uses here.\n"
      "  static const char* Instructions() noexcept {\n    return ::",
      Dispatch(), "::Instructions();\n  }\n",
      "  // Allocates nothing, locks nothing and calls no system. Pointers "
      "are "
      "aligned\n  // to their elements; outputs overlap nothing.\n  ",
      can_fail_ ? "Error" : "void",
      " Run(const Inputs& inputs, const Outputs& outputs) noexcept {\n",
      RunBody(kOneThread, kNone, kNone), "  }\n", FurtherRuns(),
      "\n private:\n  unsigned char* arena_;\n"
      "  const unsigned char* const* weights_;\n",
      model_.state.empty()
          ? ""
          : "  bool is_odd_ = false;  // the state's places have changed\n",
      "};\n\n}  // namespace ", own, "\n");
  for (auto name = class_.namespaces.rbegin(); name != class_.namespaces.rend();
       ++name) {
    absl::StrAppend(&text, "}  // namespace ", *name, "\n");
  }
  absl::StrAppend(&text, "\n#endif  // ", guard, "\n");
  return text;
}

std::string ModelWriter::Contract() const {
  if (!options_.contract.has_value()) return "";
  const NumericalContract& contract = *options_.contract;
  return absl::StrCat(
      "  // Outputs have the bytes of the evaluator after the passes\n  // `",
      CppCommentText(contract.passes),
      "`.\n  // They are at most kMaxError of the largest element of an "
      "output away from\n  // those of the model without passes: ",
      options_.name, "_test checks it on\n  // ",
      CppCommentText(contract.inputs),
      ".\n  static constexpr double kMaxError = ", MaxErrorText(), ";\n");
}

std::string ModelWriter::MaxErrorText() const {
  const double max_error = options_.contract->max_error;
  std::string text = absl::StrCat(max_error);
  double read = 0;
  return absl::SimpleAtod(text, &read) && read == max_error
             ? text
             : absl::StrFormat("%.17g", max_error);
}

std::string ModelWriter::RunBody(absl::string_view threads,
                                 absl::string_view profile,
                                 absl::string_view check) const {
  std::string text;
  if (inputs_.empty() && dims_.empty()) text += "    (void)inputs;\n";
  if (outputs_.empty()) text += "    (void)outputs;\n";
  std::string args = "from, to, arena_, weights_";
  if (model_.variants.size() > 1) {
    absl::StrAppend(&text, "    std::int64_t variant = 0;\n");
    absl::StrAppend(&args, ", variant");
  }
  for (size_t i = 0; i < options_.bounds.size(); ++i) {
    const DimBound& bound = options_.bounds[i];
    const std::string dim = absl::StrCat("inputs.", dims_[i]);
    absl::StrAppend(&text, "    if (", dim, " < ", bound.least, " || ", dim,
                    " > ", bound.most, ") return Error::kDimension;\n");
    if (model_.variants.size() == 1) continue;
    absl::StrAppend(&text, "    variant = variant * ",
                    bound.most - bound.least + 1, " + (", dim, " - ",
                    bound.least, ");\n");
  }
  if (options_.threads) absl::StrAppend(&args, ", ", threads);
  if (options_.profile) absl::StrAppend(&args, ", ", profile);
  if (options_.check_values) absl::StrAppend(&args, ", ", check);
  const std::string call = absl::StrCat("::", Dispatch(), "::Run(", args, ")");
  std::vector<std::string> from =
      PointersOf("inputs", inputs_, model_.inputs.size());
  std::vector<std::string> to =
      PointersOf("outputs", outputs_, model_.outputs.size());
  for (const LibraryModel::State& state : model_.state) {
    const auto place = [](int64_t even, int64_t odd) {
      return absl::StrCat("arena_ + (is_odd_ ? ", odd, " : ", even, ")");
    };
    from[static_cast<size_t>(state.input)] =
        place(state.input_offset, state.output_offset);
    to[static_cast<size_t>(state.output)] =
        place(state.output_offset, state.input_offset);
  }
  absl::StrAppend(&text, "    const void* const from[] = {",
                  absl::StrJoin(from, ", "), "};\n    void* const to[] = {",
                  absl::StrJoin(to, ", "), "};\n");
  if (model_.state.empty()) {
    absl::StrAppend(&text, "    ",
                    can_fail_
                        ? absl::StrCat("return static_cast<Error>(", call, ")")
                        : call,
                    ";\n");
    return text;
  }
  // A run that fails leaves the state as it is.
  absl::StrAppend(
      &text,
      can_fail_
          ? absl::StrCat("    const Error error = static_cast<Error>(", call,
                         ");\n    if (error == Error::kOk) is_odd_ = "
                         "!is_odd_;\n    return error;\n")
          : absl::StrCat("    ", call, ";\n    is_odd_ = !is_odd_;\n"));
  return text;
}

std::string ModelWriter::Declared() const {
  return absl::StrCat(
      "void Reset(unsigned char* arena) noexcept;\n"
      "const void* CopyWeights(const unsigned char* const* weights,\n"
      "                        unsigned char* memory) noexcept;\n"
      "bool IsSupported() noexcept;\n"
      "const char* Instructions() noexcept;\n",
      options_.profile ? "const char* StepName(std::size_t step) noexcept;\n"
                       : "",
      ResultType(), " Run(", RunParams("std::"), ");\n");
}

std::string ModelWriter::FurtherRuns() const {
  std::string text;
  const char* const type = can_fail_ ? "Error" : "void";
  if (options_.threads) {
    absl::StrAppend(
        &text,
        "\n  // Calls body(body_ctx, i) for each i < n, on any threads, and "
        "returns when\n  // all calls have returned.\n"
        "  typedef void (*Parallel)(void* ctx, int n,\n"
        "                           void (*body)(void* body_ctx, int i),\n"
        "                           void* body_ctx);\n"
        "  static constexpr int kMaxThreads = ",
        options_.max_threads,
        ";\n  // As Run; steps that take long are divided into at most "
        "`threads` parts, for\n  // as many threads; up to kMaxThreads. 0: "
        "the number of threads is unknown. A\n  // step then has at most as "
        "many parts as have run concurrently so far in this\n  // run, at "
        "least ",
        kPartsIfUnknown, "; every ", kStepsToTryMoreParts,
        "th such step tries more.\n  ", type,
        " Run(const Inputs& inputs, const Outputs& outputs,\n"
        "           Parallel parallel, void* ctx,\n"
        "           int threads = 0) noexcept {\n",
        RunBody("parallel, ctx, threads", kNone, kNone), "  }\n");
  }
  if (options_.profile) {
    absl::StrAppend(
        &text,
        "\n  // `kernel: places in the model` of a step.\n"
        "  static const char* StepName(std::size_t step) noexcept {\n"
        "    return ::",
        Dispatch(), "::StepName(step);\n  }\n",
        "  static constexpr std::size_t kSteps = ", model_.steps.size(),
        ";\n  // As Run; adds to times[i] the difference of clock() over "
        "step "
        "i < kSteps.\n  ",
        type,
        " RunProfiled(const Inputs& inputs, const Outputs& outputs,\n"
        "                   std::uint64_t (*clock)(),\n"
        "                   std::uint64_t* times) noexcept {\n",
        RunBody(kOneThread, "clock, times", kNone), "  }\n");
  }
  if (options_.check_values) {
    absl::StrAppend(
        &text,
        "\n  // As Run; calls `check` with the bytes of each input of a step "
        "before the\n  // step, and with those of its results after it.\n"
        "  typedef void (*Check)(void* ctx, std::size_t step,\n"
        "                        std::size_t operand, bool is_result,\n"
        "                        const void* data, std::size_t bytes);\n  ",
        type,
        " RunChecked(const Inputs& inputs, const Outputs& outputs,\n"
        "                  Check check, void* ctx) noexcept {\n",
        RunBody(kOneThread, kNone, "check, ctx"), "  }\n");
  }
  return text;
}

std::string ModelWriter::RunParams(absl::string_view space) const {
  return absl::StrCat(
      "const void* const* inputs, void* const* outputs,\n"
      "         unsigned char* arena, const unsigned char* const* weights",
      model_.variants.size() > 1
          ? absl::StrCat(",\n         ", space, "int64_t variant")
          : "",
      options_.threads
          ? ",\n         void (*parallel)(void*, int, void (*)(void*, int), "
            "void*),\n         void* ctx, int threads"
          : "",
      options_.profile
          ? absl::StrCat(",\n         ", space, "uint64_t (*clock)(), ", space,
                         "uint64_t* times")
          : "",
      options_.check_values
          ? absl::StrCat(",\n         void (*check)(void*, ", space, "size_t, ",
                         space, "size_t, bool, const void*, ", space,
                         "size_t),\n         void* check_ctx")
          : "");
}

}  // namespace baton::internal
