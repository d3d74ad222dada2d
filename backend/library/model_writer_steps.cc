#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/model_writer.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/blocked/kernel_texts.h"
#include "baton/tir/codegen/cpp_source.h"

namespace baton::internal {
namespace {

// Divides a step among threads. Each part has a share of the items, divided
// into pieces of which each is half of what is left of the share, so that the
// last ones are small: a thread that has computed its share takes pieces of
// others. So a thread that begins late, or is slow, does not hold up the step.
constexpr char kDivide[] =
    R"(
// A step that threads divide.
struct Parts {
  const Memory* m;
  void (*step)(const Memory&, unsigned char*, bool, int64_t, int64_t);
  unsigned char* workspace;
  int64_t workspace_bytes;
  int64_t items;
  int64_t parts;  // at most
};
// The number of pieces of a part's share that threads have taken; in a cache
// line of its own.
struct alignas(64) Share {
  uint32_t taken;
};
// The state that the threads of a step share.
struct Division {
  Parts parts;
  uint32_t pieces;  // of a share
  Share shares[@most@];
  // Counts the parts that run concurrently.
  unsigned char runs[@most@];
  int at_once[@most@];
};
// The number of the next piece of a share.
static uint32_t TakePiece(Share& share) {
#if defined(__aarch64__)
  // An atomic addition may be a function of libgcc here.
  uint32_t piece, next, failed;
  __asm__ volatile(
      "1: ldxr %w0, [%3]\n"
      "   add %w1, %w0, #1\n"
      "   stxr %w2, %w1, [%3]\n"
      "   cbnz %w2, 1b"
      : "=&r"(piece), "=&r"(next), "=&r"(failed)
      : "r"(&share.taken)
      : "memory");
  return piece;
#else
  return __atomic_fetch_add(&share.taken, 1u, __ATOMIC_RELAXED);
#endif
}
// Computes the pieces of a part's share, then those that are left of others.
static void RunPart(void* ctx, int part) {
  Division& d = *static_cast<Division*>(ctx);
  const Parts& p = d.parts;
  unsigned char* const workspace = p.workspace + p.workspace_bytes * part;
  bool resumes = false;
  for (int64_t i = 0; i < p.parts; ++i) {
    const int64_t share = (part + i) % p.parts;
    const int64_t last = p.items * (share + 1) / p.parts;
    const int64_t size = last - p.items * share / p.parts;
    uint32_t piece;
    while ((piece = TakePiece(d.shares[share])) < d.pieces) {
      const int64_t begin = last - (size >> piece);
      const int64_t end =
          piece + 1 < d.pieces ? last - (size >> (piece + 1)) : last;
      if (begin == end) continue;
      p.step(*p.m, workspace, resumes, begin, end);
      resumes = true;
    }
  }
}
static void RunCountedPart(void* ctx, int part) {
  Division& d = *static_cast<Division*>(ctx);
  __atomic_store_n(&d.runs[part], 1, __ATOMIC_RELAXED);
  for (int64_t i = 0; i < d.parts.parts; ++i) {
    d.at_once[part] += __atomic_load_n(&d.runs[i], __ATOMIC_RELAXED);
  }
  RunPart(&d, part);
  __atomic_store_n(&d.runs[part], 0, __ATOMIC_RELAXED);
}
[[maybe_unused]] static void Divide(Parts p,
    void (*parallel)(void*, int, void (*)(void*, int), void*),
    void* ctx) {
  ConcurrencySeen* const seen = p.m->seen;
  int64_t worth = p.parts;
  if (worth > p.items) worth = p.items;
  if (p.parts > p.m->threads) p.parts = p.m->threads;
  if (p.parts > p.items) p.parts = p.items;
  // Parts repeat some work: a step has no more than have run
  // concurrently, but some steps try more.
  if (seen != nullptr && p.parts > seen->most_at_once) {
    if (p.parts > seen->most_parts) {
      seen->most_parts = p.parts;
    } else if (++seen->limited_steps % @try@ != 0) {
      p.parts = seen->most_at_once;
    }
  }
  if (p.parts < 2) {
    p.step(*p.m, p.workspace, false, 0, p.items);
    return;
  }
  // Each share has as many pieces as halve what is worth a thread.
  Division d;
  d.parts = p;
  d.pieces = 1;
  for (int64_t n = p.parts; n < worth && d.pieces < @pieces@; n *= 2) ++d.pieces;
  for (int64_t i = 0; i < p.parts; ++i) d.shares[i].taken = 0;
  const int n = static_cast<int>(p.parts);
  if (seen == nullptr || p.parts <= seen->most_at_once) {
    parallel(ctx, n, RunPart, &d);
    return;
  }
  for (int i = 0; i < n; ++i) d.runs[i] = 0, d.at_once[i] = 0;
  parallel(ctx, n, RunCountedPart, &d);
  for (int i = 0; i < n; ++i) {
    if (d.at_once[i] > seen->most_at_once) seen->most_at_once = d.at_once[i];
  }
}
)";

using tir::CppCommentText;
using tir::CppIsa;
using tir::CppParam;

// Elements of two vectors, in any order, for GCC before version 12.
constexpr char kShuffleText[] =
    R"(#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
template <class T>
struct ElementOf {
  typedef T type;
};
template <class T>
struct ElementOf<T&> : ElementOf<T> {};
template <class T>
struct ElementOf<const T> : ElementOf<T> {};
template <class T, int kLanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * kLanes)));
};
template <int... kFrom, class V>
__attribute__((always_inline)) inline auto Shuffled(const V& a, const V& b) {
  typedef typename ElementOf<decltype(a[0])>::type T;
  constexpr int kLanes = static_cast<int>(sizeof(V) / sizeof(T));
  return typename VectorOf<T, sizeof...(kFrom)>::type{
      (kFrom < kLanes ? a[kFrom % kLanes] : b[kFrom % kLanes])...};
}
#define __builtin_shufflevector(a, b, ...) Shuffled<__VA_ARGS__>(a, b)
#endif

)";

}  // namespace

std::string ModelWriter::ChecksOf(size_t i, bool is_result) const {
  std::string text;
  for (const LibrarySlot& slot : model_.steps[i].slots) {
    if (slot.operand < 0 || slot.is_result != is_result) continue;
    absl::StrAppend(&text, "    check(check_ctx, ", i, ", ", slot.operand, ", ",
                    is_result ? "true" : "false", ", ",
                    PointerTo(slot, "const unsigned char"), ", ", slot.bytes,
                    ");\n");
  }
  if (text.empty()) return text;
  return absl::StrCat("  if (check != nullptr) {\n", text, "  }\n");
}

std::string ModelWriter::PointerTo(const LibrarySlot& slot,
                                   absl::string_view type) const {
  std::string base;
  switch (slot.space) {
    case LibrarySpace::kInput:
      base = absl::StrCat("m.inputs[", slot.index, "]");
      break;
    case LibrarySpace::kOutput:
      base = absl::StrCat("m.outputs[", slot.index, "]");
      break;
    case LibrarySpace::kConstant:
      base = absl::StrCat("m.weights[", slot.index, "]");
      break;
    case LibrarySpace::kArena:
      base = "m.arena";
      break;
  }
  return absl::StrCat("At<", type, ">(", base, ", ", slot.offset, ")");
}

std::string ModelWriter::Kernels(CppIsa isa, unsigned texts) {
  using cpu::StepSource;
  namespace blocked = kernels::blocked;
  const auto has = [texts](unsigned text) { return (texts & text) == text; };
  const int bytes = isa == CppIsa::kAvx512 ? 64
                    : isa == CppIsa::kAvx2 ? 32
                                           : 16;
  std::string text;
  if (has(StepSource::kElements)) {
    absl::StrAppend(
        &text, "\nconstexpr int kLanes = ", bytes / 4, ";  // of a vector\n",
        cpu::kElementsText,
        has(StepSource::kElementsIntegers) ? cpu::kElementsIntegersText : "",
        has(StepSource::kElementsHalves) ? cpu::kElementsHalvesText : "",
        has(StepSource::kMath) ? cpu::kElementsMathText : "");
  }
  if (!has(StepSource::kVector)) return text;
  absl::StrAppend(
      &text,
      "\n// Kernels; some are not used.\n"
      "#pragma GCC diagnostic push\n"
      "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
      "#pragma GCC diagnostic ignored \"-Wunused-const-variable\"\n"
      "#define BATON_VECTOR_BYTES ",
      bytes, "\n#define BATON_HAS_FMA\n",
      isa == CppIsa::kSse2 || isa == CppIsa::kNone
          ? "#define BATON_FMA_BY_LANES\n"
          : "",
      isa == CppIsa::kAvx512 || isa == CppIsa::kAvx2 ? "#define BATON_AVX2\n"
                                                     : "",
      isa == CppIsa::kAvx512 ? "#define BATON_AVX512\n" : "",
      "namespace kernels {\n\n", kShuffleText, blocked::kVectorText,
      has(StepSource::kConv) ? blocked::kConvText : "",
      has(StepSource::kMatmul) ? blocked::kMatmulText : "",
      has(StepSource::kPool) ? blocked::kPoolText : "",
      has(StepSource::kChannels) ? blocked::kChannelsText : "",
      has(StepSource::kMap) ? blocked::kMapText : "",
      has(StepSource::kFold) ? blocked::kFoldText : "",
      has(StepSource::kIntegers) ? blocked::kIntegersText : "",
      has(StepSource::kInt8Conv) ? blocked::kInt8ConvText : "",
      has(StepSource::kByteSlabs) ? blocked::kByteSlabsText : "",
      has(StepSource::kIntMatmul) ? blocked::kIntMatmulText : "",
      "\n}  // namespace kernels\n"
      "#pragma GCC diagnostic pop\n"
      "#undef BATON_VECTOR_BYTES\n#undef BATON_HAS_FMA\n"
      "#undef BATON_FMA_BY_LANES\n#undef BATON_INLINE\n"
      "#undef BATON_NOINLINE\n"
      "#undef BATON_AVX2\n#undef BATON_AVX512\n"
      "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12\n"
      "#undef __builtin_shufflevector\n#endif\n");
  return text;
}

std::string ModelWriter::ByThreads(const std::vector<std::string>& texts) {
  std::string text;
  for (size_t k = 0; k + 1 < texts.size(); ++k) {
    if (texts[k] == texts[k + 1]) continue;
    absl::StrAppend(&text, "m.level < ", k + 1, " ? ", texts[k], " : ");
  }
  absl::StrAppend(&text, texts.back());
  return text;
}

std::string ModelWriter::StatementsOf(size_t i) const {
  const LibraryStep& step = model_.steps[i];
  if (!step.sources.empty()) {
    std::string args;
    for (size_t k = 0; k < step.slots.size(); ++k) {
      absl::StrAppend(
          &args,
          PointerTo(step.slots[k],
                    k + 1 < step.slots.size() ? "const float" : "float"),
          ",\n      ");
    }
    std::vector<std::string> names;
    for (const size_t number : step_functions_of_[i]) {
      names.push_back(absl::StrCat("shared::", step_functions_[number].name));
    }
    const std::string name = ByThreads(names);
    return absl::StrCat(
        "  ", name == names[0] ? name : absl::StrCat("(", name, ")"),
        "(\n      ", args, "workspace, resumes, begin, end);\n");
  }
  const tir::CppEmitted& emitted =
      model_.emitted[static_cast<size_t>(step.function)];
  std::vector<std::string> args;
  for (const CppParam& param : emitted.params) {
    const std::string type = ElementOf(param.type);
    switch (param.kind) {
      case CppParam::Kind::kPointer: {
        const LibrarySlot& slot = step.slots[static_cast<size_t>(param.index)];
        args.push_back(PointerTo(slot, type));
        if (slot.has_groups) {
          absl::StrAppend(&args.back(), " + i * ",
                          NumElements(slot) / step.groups);
        }
        break;
      }
      case CppParam::Kind::kConstant: {
        LibrarySlot slot;
        slot.space = LibrarySpace::kConstant;
        slot.index = function_constants_[static_cast<size_t>(step.function)]
                                        [static_cast<size_t>(param.index)];
        args.push_back(PointerTo(slot, type));
        break;
      }
      case CppParam::Kind::kWorkspace:
        args.push_back("workspace");
        break;
      case CppParam::Kind::kNumber:
      case CppParam::Kind::kExtent:
        args.push_back("0");
        break;
    }
  }
  const std::string call =
      absl::StrCat(options_.llvm.has_value() ? "::" : "shared::", emitted.name,
                   "(", absl::StrJoin(args, ",\n      "), ")");
  if (step.groups == 1) {
    return absl::StrCat(emitted.can_fail ? "  return " : "  ", call, ";\n");
  }
  const std::string loop = "  for (int64_t i = begin; i < end; ++i) {\n";
  if (!emitted.can_fail) return absl::StrCat(loop, "  ", call, ";\n  }\n");
  return absl::StrCat(loop, "  if (", call,
                      " != 0) return 1;\n  }\n  return 0;\n");
}

bool ModelWriter::IsDivided(const LibraryStep& step) const {
  return step.most_parts > 1 &&
         ((step.groups > 1 && !CanFail(step)) ||
          std::any_of(
              step.sources.begin(), step.sources.end(),
              [](const cpu::StepSource& source) { return source.items > 1; }));
}

std::string ModelWriter::ControlOf(size_t i) const {
  const LibraryStep& step = model_.steps[i];
  const auto condition = [&] {
    return absl::StrCat("*", PointerTo(step.slots[0], "const unsigned char"));
  };
  switch (step.control) {
    case LibraryControl::kIf:
      return absl::StrCat("  if (", condition(), " != 0) {\n");
    case LibraryControl::kElse:
      return "  } else {\n";
    case LibraryControl::kLoop:
      return "  for (;;) {\n";
    case LibraryControl::kBreak:
      return absl::StrCat("  if (", condition(),
                          step.continue_value ? " == 0" : " != 0",
                          ") break;\n");
    case LibraryControl::kEnd:
      return "  }\n";
    case LibraryControl::kFail:
      return "  return 1;\n";
    case LibraryControl::kNone:
    case LibraryControl::kMark:
      break;
  }
  return "";
}

std::string ModelWriter::RunOf(size_t i) const {
  const LibraryStep& step = model_.steps[i];
  if (step.control != LibraryControl::kNone) {
    return absl::StrCat(options_.check_values ? ChecksOf(i, false) : "",
                        ControlOf(i),
                        options_.check_values ? ChecksOf(i, true) : "");
  }
  const std::string workspace =
      step.workspace_bytes > 0 ? absl::StrCat("arena + ", step.workspace_offset)
                               : "nullptr";
  const int64_t items = ItemsOf(step);
  std::string text = options_.check_values ? ChecksOf(i, false) : "";
  if (options_.threads && IsDivided(step)) {
    std::vector<std::string> items_of;
    std::vector<std::string> bytes_of;
    for (const cpu::StepSource& source : step.sources) {
      items_of.push_back(absl::StrCat(source.items));
      bytes_of.push_back(absl::StrCat(source.workspace_bytes));
    }
    if (step.sources.empty()) {
      items_of.push_back(absl::StrCat(step.groups));
      bytes_of.push_back(absl::StrCat(step.group_workspace_bytes));
    }
    absl::StrAppend(&text, "  Divide({&m, Step", i, ", ", workspace, ",\n    ",
                    ByThreads(bytes_of), ",\n    ", ByThreads(items_of), ", ",
                    step.most_parts, "}, parallel, ctx);\n");
  } else {
    const std::string call =
        absl::StrCat("Step", i, "(m, ", workspace, ", false, 0, ", items, ")");
    absl::StrAppend(&text, CanFail(step) ? absl::StrCat("  if (", call,
                                                        " != 0) return 1;\n")
                                         : absl::StrCat("  ", call, ";\n"));
  }
  if (options_.profile) {
    absl::StrAppend(&text, "  before = Passed(clock, before, times + ", i,
                    ");\n");
  }
  if (options_.check_values) text += ChecksOf(i, true);
  return text;
}

std::string ModelWriter::StepText(size_t i) const {
  const LibraryStep& step = model_.steps[i];
  std::string text = "\n";
  for (absl::string_view line :
       absl::StrSplit(absl::StrCat(step.kernel, "\n", step.origin), '\n',
                      absl::SkipEmpty())) {
    absl::StrAppend(&text, "// ", CppCommentText(line), "\n");
  }
  absl::StrAppend(
      &text, "static ", CanFail(step) ? "int" : "void", " Step", i,
      "([[maybe_unused]] const Memory& m,\n"
      "    [[maybe_unused]] unsigned char* workspace,\n"
      "    [[maybe_unused]] bool resumes,\n"
      "    [[maybe_unused]] int64_t begin,\n"
      "    [[maybe_unused]] int64_t end) {\n",
      options_.line_table ? WithPlace(i, StatementsOf(i)) : StatementsOf(i),
      "}\n", options_.line_table ? tir::kCppOwnLines : "");
  return text;
}

std::string ModelWriter::RunFunction(CppIsa isa) const {
  std::string text = absl::StrCat(
      "\nnamespace ", NameSpace(isa),
      " {\n\nnamespace shared = ::", SharedNameSpace(isa), ";\n",
      options_.threads
          ? "\n// The concurrency so far in a run whose number of threads is "
            "unknown.\n"
            "struct ConcurrencySeen {\n"
            "  int64_t most_at_once;   // parts that ran concurrently\n"
            "  int64_t most_parts;     // of a step\n"
            "  int64_t limited_steps;  // that could have had more parts\n"
            "};\n"
          : "",
      "\n// The memory of a run.\n"
      "struct Memory {\n  const void* const* inputs;\n"
      "  void* const* outputs;\n  unsigned char* arena;\n"
      "  const unsigned char* const* weights;\n",
      options_.threads
          ? "  int threads;\n"
            "  int level;  // chooses functions made for so many threads\n"
            "  ConcurrencySeen* seen;  // null: the number of threads is "
            "known\n"
          : "",
      "};\n\n"
      "// T is const where memory may not be written.\n"
      "template <class T>\n"
      "__attribute__((always_inline)) inline T* At(const void* base,\n"
      "                                            int64_t offset) {\n"
      "  return reinterpret_cast<T*>(const_cast<unsigned char*>(\n"
      "      static_cast<const unsigned char*>(base) + offset));\n}\n");
  if (options_.threads) {
    absl::StrAppend(
        &text, absl::StrReplaceAll(
                   kDivide, {{"@most@", absl::StrCat(options_.max_threads)},
                             {"@try@", absl::StrCat(kStepsToTryMoreParts)},
                             {"@pieces@", absl::StrCat(kMostPieces)}}));
  }
  if (options_.profile) {
    absl::StrAppend(&text,
                    "\n[[maybe_unused]] static uint64_t Passed(uint64_t "
                    "(*clock)(), uint64_t before,\n"
                    "                       uint64_t* time) {\n"
                    "  if (clock == nullptr) return 0;\n"
                    "  const uint64_t now = clock();\n"
                    "  *time += now - before;\n  return now;\n}\n");
  }
  std::vector<std::string> calls(model_.variants.size());
  size_t variant = 0;
  for (size_t i = 0; i < model_.steps.size(); ++i) {
    while (variant + 1 < model_.variants.size() &&
           model_.variants[variant + 1] <= i) {
      ++variant;
    }
    if (model_.steps[i].control == LibraryControl::kNone) text += StepText(i);
    absl::StrAppend(&calls[variant], RunOf(i));
  }
  std::string body;
  if (calls.size() == 1) {
    body = calls[0];
  } else {
    absl::StrAppend(&body, "  switch (variant) {\n");
    for (size_t k = 0; k < calls.size(); ++k) {
      absl::StrAppend(&body, "  case ", k, ":\n", calls[k], "  break;\n");
    }
    absl::StrAppend(&body, "  default:\n  break;\n  }\n");
  }
  absl::StrAppend(
      &text, "\n", ResultType(), " Run(", RunParams(), ") {\n",
      options_.threads ? LevelOfThreads() : "",
      "  [[maybe_unused]] const Memory m = {inputs, outputs, arena, weights",
      options_.threads ? ", threads, level, unknown ? &seen : nullptr" : "",
      "};\n",
      options_.profile
          ? "  [[maybe_unused]] uint64_t before =\n"
            "      clock == nullptr ? 0 : clock();\n  (void)times;\n"
          : "",
      options_.check_values ? "  (void)check;\n  (void)check_ctx;\n" : "", body,
      can_fail_ ? "  return 0;\n" : "", "}\n\n}  // namespace ", NameSpace(isa),
      "\n");
  return text;
}

}  // namespace baton::internal
