#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/model_writer.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"

namespace baton::internal {
namespace {

using tir::CppCommentText;
using tir::CppIsa;

// The level of the processor: 0, 1 with AVX2 and FMA, 2 with AVX-512 too, as
// far as the operating system keeps the registers.
constexpr char kCpuid[] =
    R"(static void Cpuid(unsigned leaf, unsigned r[4]) noexcept {
  __asm__ volatile("cpuid"
                   : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                   : "a"(leaf), "c"(0));
}

// 0; 1 with AVX2 and FMA; 2 with AVX-512, too: as far as the operating system
// keeps their registers.
static int Level() noexcept {
  unsigned r[4];
  Cpuid(0, r);
  if (r[0] < 7) return 0;
  Cpuid(1, r);
  const unsigned kFma = 1u << 12, kOsxsave = 1u << 27, kAvx = 1u << 28;
  if ((r[2] & kFma) == 0 || (r[2] & kOsxsave) == 0 || (r[2] & kAvx) == 0) {
    return 0;
  }
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 0x6) != 0x6) return 0;
  Cpuid(7, r);
  if ((r[1] & (1u << 5)) == 0) return 0;
  // F, DQ, BW, VL.
  const unsigned k512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
  return (low & 0xe6) == 0xe6 && (r[1] & k512) == k512 ? 2 : 1;
}

)";

// A function of the benchmark, which makes memory of large pages.
constexpr char kLargePages[] =
    "\nstatic void* LargePages(std::size_t bytes) {\n"
    "  const std::size_t page = std::size_t{2} << 20;\n"
    "  bytes = (bytes + page - 1) / page * page;\n"
    "  void* const memory = std::aligned_alloc(page, bytes);\n"
    "#ifdef __linux__\n"
    "  if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);\n"
    "#endif\n  return memory;\n}\n";

}  // namespace

std::string ModelWriter::LevelOfThreads() const {
  const int most = options_.max_threads;
  std::vector<std::string> terms;
  const std::vector<int> counts = ThreadCounts(most);
  for (size_t k = 1; k < counts.size(); ++k) {
    terms.push_back(absl::StrCat("(threads > ", counts[k - 1], " ? 1 : 0)"));
  }
  std::string level = terms.empty() ? "0" : absl::StrJoin(terms, " + ");
  if (kUnknownThreadsLevel + 1 < counts.size()) {
    level = absl::StrCat("unknown ? ", kUnknownThreadsLevel, " : ", level);
  }
  return absl::StrCat(
      "  (void)ctx;\n  if (parallel == nullptr) threads = 1;\n"
      "  [[maybe_unused]] const bool unknown = threads <= 0;\n"
      "  if (unknown || threads > ",
      most, ") threads = ", most, ";\n  const int level = ", level,
      ";\n  [[maybe_unused]] ConcurrencySeen seen = {",
      std::min(most, kPartsIfUnknown), ", 0, 0};\n");
}

absl::string_view ModelWriter::CpuTest(CppIsa isa) {
  switch (isa) {
    case CppIsa::kAvx2:
      return "level >= 1";
    case CppIsa::kAvx512:
      return "level >= 2";
    default:
      return "true";
  }
}

std::string ModelWriter::Implementation() const {
  std::string text = "#include <cstddef>\n#include <cstdint>\n\n";
  for (const CppIsa isa : options_.isas) {
    absl::StrAppend(&text, "namespace ", NameSpace(isa), " {\n", ResultType(),
                    " Run(", RunParams("std::"), ");\n}\n");
  }
  const bool asks =
      std::any_of(options_.isas.begin(), options_.isas.end(), [](CppIsa isa) {
        return isa == CppIsa::kAvx2 || isa == CppIsa::kAvx512;
      });
  absl::StrAppend(&text, "\nnamespace ", Dispatch(), " {\n\n");
  if (asks) absl::StrAppend(&text, kCpuid);
  absl::StrAppend(&text,
                  "// The place of the instructions among those of the "
                  "sources.\nstatic int Choose() noexcept {\n");
  if (asks) absl::StrAppend(&text, "  const int level = Level();\n");
  for (size_t i = 0; i + 1 < options_.isas.size(); ++i) {
    absl::StrAppend(&text, "  if (", CpuTest(options_.isas[i]), ") return ", i,
                    ";  // ", tir::CppIsaName(options_.isas[i]), "\n");
  }
  const bool last_asks = CpuTest(options_.isas.back()) != "true";
  if (asks && options_.isas.size() == 1 && !last_asks) {
    absl::StrAppend(&text, "  (void)level;\n");
  }
  absl::StrAppend(&text, "  return ",
                  last_asks ? absl::StrCat(CpuTest(options_.isas.back()), " ? ",
                                           options_.isas.size() - 1, " : ",
                                           options_.isas.size())
                            : absl::StrCat(options_.isas.size() - 1),
                  ";\n}\n\n// Chosen by the first call; calls of several "
                  "threads choose the same.\nstatic int chosen = -1;\n"
                  "static int Chosen() noexcept {\n"
                  "  int number = __atomic_load_n(&chosen, __ATOMIC_RELAXED);\n"
                  "  if (number < 0) {\n    number = Choose();\n"
                  "    __atomic_store_n(&chosen, number, __ATOMIC_RELAXED);\n"
                  "  }\n  return number;\n}\n\n");
  absl::StrAppend(&text, Declared(), "\nbool IsSupported() noexcept {\n",
                  "  return Chosen() < ", options_.isas.size(), ";\n}\n\n",
                  "const char* Instructions() noexcept {\n",
                  "  switch (Chosen()) {\n");
  for (size_t i = 0; i < options_.isas.size(); ++i) {
    absl::StrAppend(&text, "    case ", i, ":\n      return \"",
                    tir::CppIsaName(options_.isas[i]), "\";\n");
  }
  absl::StrAppend(&text, "    default:\n      return \"\";\n  }\n}\n\n",
                  "void Reset(unsigned char* arena) noexcept {\n");
  if (model_.state.empty()) {
    absl::StrAppend(&text, "  // There is no state.\n  (void)arena;\n");
  }
  for (const LibraryModel::State& state : model_.state) {
    absl::StrAppend(&text, "  __builtin_memset(arena + ", state.input_offset,
                    ", 0, ", state.bytes, ");\n");
  }
  absl::StrAppend(&text, "}\n\n", CopyFunction(), "\n", ResultType(), " Run(",
                  RunParams("std::"), ") {\n  switch (Chosen()) {\n");
  const std::string args =
      absl::StrCat("inputs, outputs, arena, weights",
                   model_.variants.size() > 1 ? ", variant" : "",
                   options_.threads ? ", parallel, ctx, threads" : "",
                   options_.profile ? ", clock, times" : "",
                   options_.check_values ? ", check, check_ctx" : "");
  for (size_t i = 0; i < options_.isas.size(); ++i) {
    if (i + 1 == options_.isas.size()) {
      absl::StrAppend(&text, "    default:\n");
    } else {
      absl::StrAppend(&text, "    case ", i, ":\n");
    }
    absl::StrAppend(&text, "      return ::", NameSpace(options_.isas[i]),
                    "::Run(", args, ");\n");
  }
  absl::StrAppend(&text, "  }\n}\n");
  if (options_.profile) {
    std::vector<std::string> names;
    for (const LibraryStep& step : model_.steps) {
      names.push_back(tir::CppStringLiteral(
          absl::StrCat(step.kernel, step.origin.empty() ? "" : ": ",
                       absl::StrReplaceAll(step.origin, {{"\n", "; "}}))));
    }
    absl::StrAppend(&text,
                    "\nconst char* StepName(std::size_t step) noexcept {\n"
                    "  static const char* const kNames[] = {\n      ",
                    absl::StrJoin(names, ",\n      "),
                    "};\n  return kNames[step];\n}\n");
  }
  return absl::StrCat(text, "\n}  // namespace ", Dispatch(), "\n");
}

int64_t ModelWriter::CopyBytes() const {
  int64_t bytes = TableBytes();
  for (const Tensor& constant : model_.constants) {
    bytes += executor::AlignUp(static_cast<int64_t>(constant.bytes().size()));
  }
  return bytes;
}

std::string ModelWriter::CopyFunction() const {
  std::string text =
      "const void* CopyWeights(\n"
      "    [[maybe_unused]] const unsigned char* const* weights,\n"
      "    unsigned char* memory) noexcept {\n";
  if (!model_.constants.empty()) {
    std::vector<std::string> sizes;
    for (const Tensor& constant : model_.constants) {
      sizes.push_back(absl::StrCat(constant.bytes().size()));
    }
    absl::StrAppend(
        &text, "  static const std::uint64_t kBytes[] = {\n      ",
        absl::StrJoin(sizes, ", "),
        "};\n  const unsigned char** const table =\n"
        "      reinterpret_cast<const unsigned char**>(memory);\n"
        "  unsigned char* to = memory + ",
        TableBytes(), ";\n  for (int i = 0; i < ", sizes.size(),
        "; ++i) {\n    __builtin_memcpy(to, weights[i], kBytes[i]);\n"
        "    table[i] = to;\n    to += (kBytes[i] + ",
        executor::kAlignment - 1, ") / ", executor::kAlignment, " * ",
        executor::kAlignment, ";\n  }\n");
  }
  return absl::StrCat(text, "  return memory;\n}\n");
}

std::vector<std::string> ModelWriter::PointersOf(
    absl::string_view from, const std::vector<LibraryMember>& members,
    size_t count) {
  std::vector<std::string> texts(std::max<size_t>(count, 1), "nullptr");
  for (const LibraryMember& member : members) {
    texts[static_cast<size_t>(member.index)] =
        absl::StrCat(from, ".", member.name);
  }
  return texts;
}

std::string ModelWriter::Benchmark() const {
  std::string buffers;
  std::vector<std::string> from;
  std::vector<std::string> to;
  const auto add = [&buffers](const std::string& name,
                              const LibraryMember& member) {
    const std::string element = MemberElement(member.slot->dtype);
    int64_t elements = 1;
    for (const int64_t extent : member.slot->shape) elements *= extent;
    absl::StrAppend(&buffers, "  alignas(64) ",
                    absl::EndsWith(element, "_t") ? "std::" : "", element, " ",
                    name, "[", std::max<int64_t>(elements, 1), "];\n");
  };
  std::string values;
  for (const LibraryMember& member : inputs_) {
    const std::string name = absl::StrCat("input_", member.index);
    from.push_back(absl::StrCat("memory->", name));
    add(name, member);
    const std::string element = MemberElement(member.slot->dtype);
    if (element == "float" || element == "double") {
      absl::StrAppend(&values, "  value = 0;\n  for (", element,
                      "& x : ", from.back(), ") {\n    x = static_cast<",
                      element, ">(value++ % 17) / 8 - 1;\n  }\n");
    }
  }
  for (const LibraryMember& member : outputs_) {
    const std::string name = absl::StrCat("output_", member.index);
    to.push_back(absl::StrCat("memory->", name));
    add(name, member);
  }
  for (const DimBound& bound : options_.bounds) {
    from.push_back(absl::StrCat(bound.most));
  }
  const std::string name = QualifiedClass();
  return absl::StrCat(
      "// Measures runs of the model ", CppCommentText(options_.model),
      ": prints milliseconds and bytes, with the weights\n"
      "// in the program's file, and with a copy of them in large pages. All "
      "other memory is\n// in large pages, as that of the executor is.\n"
      "// Written by baton-compile. Do not edit.\n//\n// usage: ",
      options_.name,
      "_benchmark [RUNS]\n\n#include <algorithm>\n#include <chrono>\n"
      "#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n"
      "#include <vector>\n\n#ifdef __linux__\n#include <sys/mman.h>\n"
      "#endif\n\n#include \"",
      options_.name,
      ".h\"\n\nnamespace baton_benchmark {\n\n"
      "// Inputs and outputs.\nstruct Memory {\n",
      buffers, "};\n", kLargePages, "\nstatic void Measure(", name,
      " model, const ", name, "::Inputs& inputs,\n                    const ",
      name,
      "::Outputs& outputs, int runs,\n                    const char* "
      "weights) {\n  std::vector<double> times;\n"
      "  for (int run = -3; run < runs; ++run) {\n"
      "    const auto begin = std::chrono::steady_clock::now();\n"
      "    static_cast<void>(model.Run(inputs, outputs));\n"
      "    const auto end = std::chrono::steady_clock::now();\n"
      "    if (run < 0) continue;  // to have all in caches\n"
      "    times.push_back(\n"
      "        std::chrono::duration<double, std::milli>(end - "
      "begin).count());\n  }\n"
      "  std::sort(times.begin(), times.end());\n"
      "  std::printf(\"ms min %.6f median %.6f threads 1 arena %zu weights "
      "%s\\n\",\n"
      "              times.front(), times[times.size() / 2],\n"
      "              static_cast<std::size_t>(",
      name,
      "::kArenaBytes), weights);\n}\n"
      "\nstatic int Main(int argc, char** argv) {\n  if (!",
      name,
      "::IsSupported()) {\n    std::printf(\"skipped: the processor lacks "
      "the "
      "instructions\\n\");\n    return 0;\n  }\n"
      "  const int runs = std::max(1, argc > 1 ? std::atoi(argv[1]) : 100);\n"
      "  [[maybe_unused]] int value = 0;\n"
      "  Memory* const memory =\n"
      "      static_cast<Memory*>(LargePages(sizeof(Memory)));\n"
      "  if (memory == nullptr) return 1;\n"
      "  __builtin_memset(static_cast<void*>(memory), 0, sizeof(Memory));\n",
      values, "  const ", name, "::Inputs inputs = {",
      absl::StrJoin(from, ", "), "};\n  const ", name, "::Outputs outputs = {",
      absl::StrJoin(to, ", "), "};\n  void* const arena = LargePages(", name,
      "::kArenaBytes);\n  void* const weights = LargePages(", name,
      "::kCopyBytes);\n  if (arena == nullptr || weights == nullptr) "
      "return 1;\n  Measure(",
      name, "(arena), inputs, outputs, runs, \"in the file\");\n  Measure(",
      name, "(arena, ", name,
      "::CopyWeights(weights)), inputs, outputs, runs,\n"
      "          \"in large pages\");\n  return 0;\n}\n\n",
      "}  // namespace baton_benchmark\n\nint main(int argc, char** argv) {\n"
      "  return baton_benchmark::Main(argc, argv);\n}\n");
}

}  // namespace baton::internal
