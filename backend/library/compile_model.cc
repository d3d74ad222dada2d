#include "baton/backend/library/compile_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/library/arena_blocks.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/library_report.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/json.h"
#include "baton/base/source.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/kernel_texts.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/codegen/llvm_source.h"
#include "baton/tir/ir/function.h"

namespace baton {
namespace {

// If a run does not know its number of threads, steps have at first at most
// this many parts.
constexpr int kPartsIfUnknown = 2;
// One in so many steps that could have more parts than have run concurrently
// has them, to find out whether there are more threads.
constexpr int kStepsToTryMoreParts = 8;
// The most pieces of a part.
constexpr int kMostPieces = 8;

using tir::CppCommentText;
using tir::CppIdentifier;
using tir::CppIsa;
using tir::CppParam;

// --- Files -----------------------------------------------------------------

std::string Hex(uint64_t value) { return absl::StrFormat("%016x", value); }

// The namespaces and the name of a class.
struct ClassName {
  std::vector<std::string> namespaces;
  std::string name;
};

// True if `name`, of a class without a namespace or of the outermost namespace,
// is that of a function or of a type of the headers <cmath>, <cstdint>,
// <cstdio>, <cstdlib>, <cstring>, <ctime> and of what these include, or of the
// function main.
bool IsOfC(absl::string_view name) {
  constexpr absl::string_view kNames =
      " FILE abort abs acos acosh asin asinh atan atan2 atanh atexit atof atoi "
      "atol atoll bcmp bsearch bzero calloc cbrt ceil clearerr clock "
      "clock_getres clock_gettime clock_settime clock_t copysign cos "
      "cosh ctime difftime div div_t double_t dprintf drand48 erf erfc exit "
      "exp exp2 expm1 "
      "fabs fclose fdim feof ferror fflush ffs fgetc fgetpos fgets float_t "
      "floor "
      "fma fmax fmin fmod fopen fpos_t fprintf fputc fputs fread free freopen "
      "frexp fscanf fseek fsetpos ftell fwrite gamma getc getchar getdelim "
      "getenv getline gets "
      "gmtime hypot ilogb index j0 j1 jn labs ldexp ldiv ldiv_t lgamma llabs "
      "lldiv lldiv_t llrint llround localtime log log10 log1p log2 logb lrint "
      "lround main malloc max_align_t memccpy memchr memcmp memcpy memmove "
      "memset mktime modf nan nanosleep nearbyint nextafter nexttoward pclose "
      "perror popen pow printf "
      "ptrdiff_t putc putchar puts qsort rand random realloc remainder remove "
      "remquo rename rewind rindex rint round scalbln scalbn scanf select "
      "setbuf setenv "
      "setvbuf signgam sin sinh size_t snprintf sprintf sqrt srand sscanf "
      "strcat strchr strcmp strcoll strcpy strcspn strdup strerror strftime "
      "strlen strncat strncmp strncpy strpbrk strrchr strsep strspn strstr "
      "strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm "
      "system tan tanh tgamma time time_t timegm timer_t timespec tm tmpfile "
      "tmpnam "
      "trunc ungetc unsetenv vfprintf vprintf vsnprintf vsprintf y0 y1 yn ";
  return absl::StrContains(kNames, absl::StrCat(" ", name, " ")) ||
         (absl::EndsWith(name, "_t") &&
          (absl::StartsWith(name, "int") || absl::StartsWith(name, "uint")));
}

absl::StatusOr<ClassName> ParseClass(const std::string& text) {
  ClassName result;
  for (absl::string_view part : absl::StrSplit(text, "::")) {
    if (part.empty() || CppIdentifier(part) != part) {
      return absl::InvalidArgumentError(
          absl::StrCat("--cpp_class=", text, ": '", part,
                       "' is no C++ identifier (write acme::Mlp)"));
    }
    result.namespaces.emplace_back(part);
  }
  result.name = result.namespaces.back();
  result.namespaces.pop_back();
  // Names that the header itself declares or uses.
  constexpr absl::string_view kMembers[] = {
      "Check",       "CopyWeights", "Error",      "Inputs",     "Instructions",
      "IsSupported", "Outputs",     "Parallel",   "Reset",      "Run",
      "RunChecked",  "RunProfiled", "StepName",   "arena_",     "is_odd_",
      "kArenaAlign", "kArenaBytes", "kCalls",     "kCopyBytes", "kFlops",
      "kMaxError",   "kMaxThreads", "kModelHash", "kSteps",     "kWeightBytes",
      "weights_"};
  const bool is_member = std::find(std::begin(kMembers), std::end(kMembers),
                                   result.name) != std::end(kMembers);
  const std::string& outermost =
      result.namespaces.empty() ? result.name : result.namespaces.front();
  const bool is_std = result.name == "std";
  if (is_member || is_std || IsOfC(outermost)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--cpp_class=", text, ": ",
                     is_member ? "the class has a member '"
                     : is_std  ? "C++ has a namespace '"
                               : "the library of C has '",
                     is_member || is_std ? result.name : outermost,
                     "': give another name, as in acme::Mlp"));
  }
  for (const std::string& name : result.namespaces) {
    if (name != "std") continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--cpp_class=", text, ": the namespace std is that of C++"));
  }
  return result;
}

// A member of Inputs or Outputs.
struct Member {
  std::string name;
  const LibrarySlot* slot = nullptr;
  int index = 0;
  // The member with the extents, if values decide them.
  std::string extents = "";
  std::string extents_of = "";  // the member that has these extents
};

class ModelWriter {
 public:
  ModelWriter(LibraryModel& model, const CompileModelOptions& options,
              ClassName cpp_class)
      : model_(model), options_(options), class_(std::move(cpp_class)) {}

  absl::StatusOr<CompiledModel> Write() {
    if (options_.line_table) MakeModelText();
    texts_hash_ = TextsHash();
    BATON_RETURN_IF_ERROR(ShareFunctions());
    CompiledModel result;
    if (options_.llvm.has_value()) {
      BATON_RETURN_IF_ERROR(WriteLoopsAsLlvm(result.files));
    }
    can_fail_ = !options_.bounds.empty();
    for (const LibraryStep& step : model_.steps) {
      can_fail_ |= step.control == LibraryControl::kFail;
    }
    for (const tir::CppEmitted& emitted : model_.emitted) {
      can_fail_ |= emitted.can_fail;
      std::vector<int> constants;
      for (const Tensor& tensor : emitted.constants) {
        constants.push_back(model_.ConstantIndex(tensor));
      }
      function_constants_.push_back(std::move(constants));
    }
    MakeStepFunctions();
    for (const Tensor& tensor : model_.constants) {
      weight_bytes_ += static_cast<int64_t>(tensor.bytes().size());
    }
    MakeHashes();
    MakeMembers();
    result.files.insert(result.files.begin(), {options_.name + ".h", Header()});
    for (const CppIsa isa : options_.isas) {
      tir::CppSourceOptions options = SharedOptions(isa, texts_);
      options.head = Head(isa);
      options.line_table = options_.line_table;
      options.source_name =
          absl::StrCat(options_.name, "_", tir::CppIsaName(isa), ".cc");
      options.after = RunFunction(isa);
      absl::Span<const tir::CppFunction> functions = model_.functions;
      if (options_.llvm.has_value()) {
        functions = {};
        options.before = ExternalFunctions();
      }
      if (isa == options_.isas.back()) options.before += Implementation();
      if (options_.split) {
        // The functions have sources of their own.
        BATON_RETURN_IF_ERROR(WriteSharedFiles(isa, result.shared_files));
        functions = {};
        options.has_prelude = options.prelude_uses_math = false;
        options.prelude = Declarations();
      } else {
        for (const StepFunction& function : step_functions_) {
          absl::StrAppend(&options.tail, "\n", function.text);
        }
      }
      BATON_ASSIGN_OR_RETURN(tir::CppSource source,
                             WriteCppSource(functions, options));
      result.files.push_back(
          {absl::StrCat(options_.name, "_", tir::CppIsaName(isa), ".cc"),
           std::move(source.text)});
    }
    result.benchmark = Benchmark();
    result.weights = Weights();
    int64_t object_bytes = 0;
    BATON_RETURN_IF_ERROR(
        WriteElfObject(result.weights, [&object_bytes](absl::string_view part) {
          object_bytes += static_cast<int64_t>(part.size());
          return absl::OkStatus();
        }));
    BATON_ASSIGN_OR_RETURN(
        const LibraryReport report,
        LibraryReport::Create(Reported(result, object_bytes)));
    result.files.push_back({options_.name + ".report.json", report.Json()});
    result.report = report.Text();
    if (options_.line_table) {
      result.files.push_back({ModelTextName(), std::move(model_text_)});
    }
    result.tensors = model_.constants;
    result.arena_bytes = model_.arena_bytes;
    result.arena_lower_bound = model_.arena_lower_bound;
    result.weight_bytes = weight_bytes_;
    result.num_steps = static_cast<int64_t>(model_.steps.size());
    for (const auto& [first, last] : model_.plan_steps) {
      CompiledModel::Step step;
      step.name = NameOfStep(first);
      step.first = first;
      step.last = last;
      AddOriginsOfOperands(first, step.operands);
      if (last != first) AddOriginsOfOperands(last, step.operands);
      result.steps.push_back(std::move(step));
    }
    result.variants = model_.plan_variants;
    return result;
  }

 private:
  // --- The model's text ----------------------------------------------------

  std::string ModelTextName() const { return options_.name + ".model.txt"; }

  // Writes a line for each step, and the functions of loops, which are replaced
  // by those that their text is read as: they have places in it.
  void MakeModelText() {
    model_text_ = absl::StrCat("# The steps of ",
                               tir::CppCommentText(options_.model), ".\n");
    int line = 2;
    std::vector<bool> written(model_.functions.size());
    for (size_t i = 0; i < model_.steps.size(); ++i) {
      const LibraryStep& step = model_.steps[i];
      step_lines_.push_back(line);
      absl::StrAppend(
          &model_text_, "# step ", i, ", ", tir::CppCommentText(step.kernel),
          ": ",
          tir::CppCommentText(absl::StrJoin(
              absl::StrSplit(step.origin, '\n', absl::SkipEmpty()), ", ")),
          "\n");
      ++line;
      if (step.function < 0) continue;
      const auto number = static_cast<size_t>(step.function);
      if (written[number]) continue;
      written[number] = true;
      tir::CppFunction& function = model_.functions[number];
      const std::string symbol = CppIdentifier(function.symbol);
      IRModule module;
      module.Set(symbol, function.function);
      const std::string text = AsText(module, kTextForPeople);
      Diagnostics problems;
      const IRModule read = ParseModule(
          std::make_shared<Source>(ModelTextName(), text, line), problems);
      // A function whose text does not say all keeps the place of its step.
      if (!problems.has_errors() && StructuralEqual(read, module)) {
        function.function = read.Find<tir::PrimFunc>(symbol);
      }
      model_text_ += text;
      line += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    }
  }

  // `statements` of step `i`, each line with the place of the step.
  std::string WithPlace(size_t i, absl::string_view statements) const {
    std::string text;
    for (absl::string_view line : absl::StrSplit(statements, '\n')) {
      if (line.empty()) continue;
      absl::StrAppend(&text,
                      tir::CppLineDirective(step_lines_[i], ModelTextName()),
                      line, "\n");
    }
    return text;
  }

  // --- Weights ---------------------------------------------------------------

  // A group of its own is not worth its entries in the object below.
  static constexpr size_t kMinSharedBytes = 1024;

  // A table of the weights, of which those of some size are shared with other
  // models of a program: their symbols are hashes of their contents.
  tir::ElfObject Weights() const {
    tir::ElfObject object;
    object.machine = options_.machine;
    tir::ElfConstant own;
    own.symbol = absl::StrCat(WeightsSymbol(), "_own");
    int64_t own_bytes = 0;
    tir::ElfTable table;
    table.symbol = WeightsSymbol();
    size_t num_shared = 0;
    FlatHashSet<std::string> known;
    for (size_t i = 0; i < model_.constants.size(); ++i) {
      const absl::string_view bytes = model_.constants[i].bytes();
      if (shared_symbols_[i].empty() ||
          num_shared == tir::ElfObject::kMaxMergeable) {
        own_bytes = executor::AlignUp(own_bytes);
        table.targets.push_back({own.symbol, own_bytes});
        own.pieces.push_back(bytes);
        own_bytes += static_cast<int64_t>(bytes.size());
        continue;
      }
      const std::string& symbol = shared_symbols_[i];
      table.targets.push_back({symbol});
      if (!known.insert(symbol).second) continue;
      ++num_shared;
      object.constants.push_back({symbol, {bytes}, /*is_mergeable=*/true});
    }
    // No array is empty.
    if (table.targets.empty()) table.targets.emplace_back();
    if (!own.pieces.empty()) object.constants.push_back(std::move(own));
    object.tables.push_back(std::move(table));
    return object;
  }

  static std::string SharedWeightsSymbol(absl::string_view bytes) {
    StableHash first(1);
    StableHash second(2);
    first.AddString(bytes);
    second.AddString(bytes);
    return absl::StrCat("baton_weights_", Hex(first.value()),
                        Hex(second.value()), "_", bytes.size());
  }

  // --- Functions that models share -------------------------------------------

  // A function of a step, as text; `@N@` and the numbers of operands are
  // replaced.
  struct StepFunction {
    std::string name;
    unsigned texts = 0;
    std::string declaration;  // without specifiers
    std::string text;         // its definition, and what it uses
  };

  // A hash of the texts that functions need, which are those of this version of
  // Baton.
  static uint64_t TextsHash() {
    StableHash hash(tir::CppPreludeHash());
    hash.AddString(Kernels(CppIsa::kNone, ~0u));
    return hash.value();
  }

  // The options of a source with functions that use `texts`.
  tir::CppSourceOptions SharedOptions(CppIsa isa, unsigned texts) const {
    tir::CppSourceOptions options;
    options.isa = isa;
    options.name_space = SharedNameSpace(isa);
    options.is_shared = true;
    options.prelude = Kernels(isa, texts);
    options.prelude_uses_math = (texts & cpu::StepSource::kMath) != 0;
    return options;
  }

  // Names functions of loops by hashes of their texts, equal ones once.
  absl::Status ShareFunctions() {
    tir::CppSourceOptions options = SharedOptions(CppIsa::kNone, 0);
    options.line_table = options_.line_table;
    std::vector<tir::CppFunction> functions;
    std::vector<int> number_of;
    FlatHashMap<std::string, int> known;
    for (tir::CppFunction& function : model_.functions) {
      // The name without the number that distinguishes it from others of this
      // model.
      std::string name = CppIdentifier(function.symbol);
      const size_t end = name.find_last_not_of("0123456789");
      if (end != std::string::npos && end > 0 && end + 1 < name.size() &&
          name[end] == '_') {
        name.resize(end);
      }
      BATON_ASSIGN_OR_RETURN(
          const tir::CppSource source,
          WriteCppSource({{name, function.function, ""}}, options));
      StableHash hash(texts_hash_);
      hash.AddString(source.text);
      absl::StrAppend(&name, "_", Hex(hash.value()));
      const auto [found, is_new] =
          known.emplace(name, static_cast<int>(functions.size()));
      number_of.push_back(found->second);
      if (is_new) {
        functions.push_back(std::move(function));
        functions.back().symbol = std::move(name);
      } else {
        absl::StrAppend(&functions[static_cast<size_t>(found->second)].origin,
                        "\n", function.origin);
      }
    }
    model_.functions = std::move(functions);
    for (LibraryStep& step : model_.steps) {
      if (step.function < 0) continue;
      step.function = number_of[static_cast<size_t>(step.function)];
    }
    // The parameters are the same for all instructions.
    BATON_ASSIGN_OR_RETURN(tir::CppSource probe,
                           WriteCppSource(model_.functions, options));
    model_.emitted = std::move(probe.functions);
    return absl::OkStatus();
  }

  // Writes functions of loops as text of LLVM, with names of C that no other
  // model has.
  absl::Status WriteLoopsAsLlvm(std::vector<CompiledModel::File>& files) {
    tir::LlvmSourceOptions options;
    options.target = *options_.llvm;
    options.line_table = options_.line_table;
    options.head = {absl::StrCat("The loops of the model ", options_.model,
                                 ": see ", options_.name, ".h."),
                    "Written by baton-compile. Do not edit."};
    std::vector<tir::CppFunction> functions = model_.functions;
    for (tir::CppFunction& function : functions) {
      function.symbol =
          absl::StrCat(CppIdentifier(options_.name), "_", function.symbol);
    }
    BATON_ASSIGN_OR_RETURN(tir::LlvmSource source,
                           WriteLlvmSource(functions, options));
    for (size_t i = 0; i < functions.size(); ++i) {
      if (source.functions[i].workspace_bytes >
          model_.emitted[i].workspace_bytes) {
        return absl::InternalError(absl::StrCat(
            functions[i].symbol, " needs a larger workspace as text of LLVM"));
      }
    }
    model_.emitted = std::move(source.functions);
    files.push_back({options_.name + "_loops.ll", std::move(source.text)});
    return absl::OkStatus();
  }

  // The declarations of functions that are text of LLVM.
  std::string ExternalFunctions() const {
    std::string text = "extern \"C\" {\n";
    for (const tir::CppEmitted& emitted : model_.emitted) {
      absl::StrAppend(&text, emitted.declaration, ";\n");
    }
    return absl::StrCat(text, "}\n\n");
  }

  // Makes functions of the steps that have sources, equal ones once.
  void MakeStepFunctions() {
    step_functions_of_.resize(model_.steps.size());
    for (size_t i = 0; i < model_.steps.size(); ++i) {
      for (const cpu::StepSource& source : model_.steps[i].sources) {
        step_functions_of_[i].push_back(FunctionOf(i, source));
      }
    }
  }

  // The number of the function of `source` of step `i`.
  size_t FunctionOf(size_t i, const cpu::StepSource& source) {
    const LibraryStep& step = model_.steps[i];
    texts_ |= source.texts;
    const std::string statements = options_.line_table
                                       ? WithPlace(i, source.statements)
                                       : source.statements;
    std::string name =
        CppIdentifier(step.kernel.substr(0, step.kernel.find_first_of(".+")));
    StableHash hash(texts_hash_);
    hash.AddString(name);
    hash.AddString(source.definitions);
    hash.AddString(statements);
    hash.Add(step.slots.size());
    const std::string number = Hex(hash.value());
    absl::StrAppend(&name, "_", number);
    const auto [found, is_new] =
        step_function_numbers_.emplace(name, step_functions_.size());
    if (!is_new) return found->second;
    std::vector<std::pair<std::string, std::string>> names = {{"@N@", number}};
    std::vector<std::string> params;
    for (size_t k = 0; k < step.slots.size(); ++k) {
      names.emplace_back(absl::StrCat("@", k, "@"), absl::StrCat("p", k));
      params.push_back(absl::StrCat(
          "[[maybe_unused]] ",
          k + 1 < step.slots.size() ? "const float* p" : "float* p", k));
    }
    StepFunction function;
    function.declaration =
        absl::StrCat("void ", name, "(\n    ", absl::StrJoin(params, ",\n    "),
                     params.empty() ? "" : ",\n    ",
                     "[[maybe_unused]] unsigned char* workspace,\n"
                     "    [[maybe_unused]] bool resumes,\n"
                     "    [[maybe_unused]] int64_t begin,\n"
                     "    [[maybe_unused]] int64_t end)");
    function.text = absl::StrCat(absl::StrReplaceAll(source.definitions, names),
                                 tir::kCppShared, function.declaration, " {\n",
                                 absl::StrReplaceAll(statements, names), "}\n",
                                 options_.line_table ? tir::kCppOwnLines : "");
    function.name = std::move(name);
    function.texts = source.texts;
    step_functions_.push_back(std::move(function));
    return step_functions_.size() - 1;
  }

  // The declarations of all functions that sources share.
  std::string Declarations() const {
    std::string text = "\n";
    for (const tir::CppEmitted& emitted : model_.emitted) {
      if (options_.llvm.has_value()) break;
      absl::StrAppend(&text, emitted.declaration, ";\n");
    }
    for (const StepFunction& function : step_functions_) {
      absl::StrAppend(&text, function.declaration, ";\n");
    }
    return text;
  }

  // The name of the kernels that a function calls: functions of these are in
  // one source. Empty for others.
  static std::string FamilyOf(unsigned texts) {
    switch (texts) {
      case 0:
        return "moves";
      case cpu::StepSource::kConv:
        return "convolutions";
      case cpu::StepSource::kMatmul:
        return "products";
      case cpu::StepSource::kPool:
        return "pools";
      case cpu::StepSource::kChannels:
        return "channels";
      case cpu::StepSource::kMap:
        return "maps";
      case cpu::StepSource::kInt8Conv:
        return "byte_convolutions";
      case cpu::StepSource::kIntMatmul:
        return "integer_products";
      default:
        return "";
    }
  }

  // Appends a source for each function, and one for the functions that call
  // kernels of a family. Names of files are hashes of their functions.
  absl::Status WriteSharedFiles(CppIsa isa,
                                std::vector<CompiledModel::File>& files) const {
    const auto add = [&](const std::string& name, tir::CppSourceOptions options,
                         absl::Span<const tir::CppFunction> functions) {
      const std::string file =
          absl::StrCat(name, "_", tir::CppIsaName(isa), ".cc");
      options.head = {
          "Functions of models. Written by baton-compile. Do not "
          "edit."};
      options.line_table = options_.line_table;
      options.source_name = file;
      BATON_ASSIGN_OR_RETURN(tir::CppSource source,
                             WriteCppSource(functions, options));
      files.push_back({file, std::move(source.text)});
      return absl::OkStatus();
    };
    for (const tir::CppFunction& function : model_.functions) {
      if (options_.llvm.has_value()) break;
      // Other models have other origins.
      const tir::CppFunction shared = {function.symbol, function.function, ""};
      BATON_RETURN_IF_ERROR(add(function.symbol, SharedOptions(isa, 0),
                                absl::MakeConstSpan(&shared, 1)));
    }
    // By the family, or by the name of the function.
    std::map<std::string, std::vector<const StepFunction*>> groups;
    for (const StepFunction& function : step_functions_) {
      const std::string family = FamilyOf(function.texts);
      groups[family.empty() ? function.name : family].push_back(&function);
    }
    for (auto& [name, functions] : groups) {
      std::sort(functions.begin(), functions.end(),
                [](const StepFunction* a, const StepFunction* b) {
                  return a->name < b->name;
                });
      tir::CppSourceOptions options =
          SharedOptions(isa, functions.front()->texts);
      StableHash hash(texts_hash_);
      for (const StepFunction* function : functions) {
        hash.AddString(function->name);
        absl::StrAppend(&options.tail, "\n", function->text);
      }
      const bool is_family = !FamilyOf(functions.front()->texts).empty();
      BATON_RETURN_IF_ERROR(
          add(is_family ? absl::StrCat(name, "_", Hex(hash.value())) : name,
              std::move(options), {}));
    }
    return absl::OkStatus();
  }

  // Hashes all that sources must agree on: functions, the sizes of weights,
  // places, and the steps with their operands; and what header and object must
  // agree on: that, and the weights. Other weights are linked to the same code.
  void MakeHashes() {
    StableHash hash(texts_hash_);
    for (const tir::CppFunction& function : model_.functions) {
      hash.AddString(function.symbol);
    }
    for (const StepFunction& function : step_functions_) {
      hash.AddString(function.name);
    }
    for (const Tensor& tensor : model_.constants) {
      hash.Add(tensor.bytes().size());
    }
    hash.Add(static_cast<uint64_t>(model_.arena_bytes));
    for (size_t i = 0; i < model_.steps.size(); ++i) {
      const LibraryStep& step = model_.steps[i];
      hash.Add(static_cast<uint64_t>(step.function));
      hash.Add(static_cast<uint64_t>(step.control) * 2 +
               (step.continue_value ? 1 : 0));
      for (const size_t number : step_functions_of_[i]) hash.Add(number);
      hash.Add(static_cast<uint64_t>(step.workspace_offset));
      hash.Add(static_cast<uint64_t>(step.groups));
      for (const LibrarySlot& slot : step.slots) {
        hash.Add(static_cast<uint64_t>(slot.space));
        hash.Add(static_cast<uint64_t>(slot.index));
        hash.Add(static_cast<uint64_t>(slot.offset));
        hash.Add(static_cast<uint64_t>(slot.bytes));
        hash.Add(slot.has_groups);
      }
    }
    hash.AddString(RunParams("std::"));
    hash.Add(can_fail_);
    hash.Add(model_.variants.size());
    for (const tir::CppIsa isa : options_.isas) {
      hash.AddString(tir::CppIsaName(isa));
    }
    code_hash_ = hash.value();
    hash.AddString(options_.cpp_class);
    for (const Tensor& tensor : model_.constants) {
      const absl::string_view bytes = tensor.bytes();
      shared_symbols_.push_back(
          bytes.size() < kMinSharedBytes ? "" : SharedWeightsSymbol(bytes));
      hash.AddString(shared_symbols_.back().empty() ? bytes
                                                    : shared_symbols_.back());
    }
    hash_ = hash.value();
  }

  void MakeMembers() {
    tir::CppNames input_names;
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      const std::string name = i < options_.input_names.size()
                                   ? options_.input_names[i]
                                   : absl::StrCat("input_", i);
      if (model_.IsStateInput(static_cast<int>(i))) continue;
      inputs_.push_back(
          {input_names.Unique(name), &model_.inputs[i], static_cast<int>(i)});
    }
    for (const DimBound& bound : options_.bounds) {
      dims_.push_back(input_names.Unique(absl::StrCat("dim_", bound.name)));
    }
    tir::CppNames output_names;
    const std::vector<int>& sized = model_.padded.sized_by_values;
    const size_t num_results = model_.outputs.size() - sized.size();
    for (size_t i = 0; i < num_results; ++i) {
      const std::string name = i < options_.output_names.size()
                                   ? options_.output_names[i]
                                   : absl::StrCat("output_", i);
      if (model_.IsStateOutput(static_cast<int>(i))) continue;
      outputs_.push_back(
          {output_names.Unique(name), &model_.outputs[i], static_cast<int>(i)});
    }
    for (size_t k = 0; k < sized.size(); ++k) {
      const auto result = std::find_if(
          outputs_.begin(), outputs_.end(),
          [&](const Member& member) { return member.index == sized[k]; });
      const size_t i = num_results + k;
      const std::string name =
          output_names.Unique(absl::StrCat(result->name, "_shape"));
      result->extents = name;
      const std::string of = result->name;
      outputs_.push_back(
          {name, &model_.outputs[i], static_cast<int>(i), "", of});
    }
  }

  // --- Names -----------------------------------------------------------------

  std::string WeightsSymbol() const {
    return absl::StrCat(CppIdentifier(options_.name), "_model_", Hex(hash_));
  }
  // The namespace of the functions that models share.
  std::string SharedNameSpace(CppIsa isa) const {
    return absl::StrCat("baton_", Hex(texts_hash_), "_", tir::CppIsaName(isa));
  }
  // The namespace of the steps for these instructions; no other model has it.
  std::string NameSpace(CppIsa isa) const {
    return absl::StrCat(CppIdentifier(options_.name), "_", Hex(code_hash_), "_",
                        tir::CppIsaName(isa));
  }
  // Returns the name of the function that the header calls.
  std::string Dispatch() const {
    return absl::StrCat(CppIdentifier(options_.name), "_", Hex(code_hash_),
                        "_dispatch");
  }
  std::string QualifiedClass() const {
    std::vector<std::string> parts = class_.namespaces;
    parts.push_back(class_.name);
    return absl::StrCat("::", absl::StrJoin(parts, "::"));
  }
  absl::string_view ResultType() const { return can_fail_ ? "int" : "void"; }

  std::vector<std::string> Head(CppIsa isa) const {
    return {absl::StrCat("The model ", options_.model, " for ",
                         tir::CppIsaName(isa), ": see ", options_.name, ".h."),
            "Written by baton-compile. Do not edit."};
  }

  // --- Texts -----------------------------------------------------------------

  void AppendMembers(absl::string_view type, const std::vector<Member>& members,
                     bool is_const, std::string& text) const {
    absl::StrAppend(&text, "  struct ", type, " {\n");
    for (const Member& member : members) {
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

  // Totals of the largest variant.
  size_t NumSteps() const {
    return static_cast<size_t>(
        std::count_if(model_.steps.begin() +
                          static_cast<std::ptrdiff_t>(model_.variants.back()),
                      model_.steps.end(), [](const LibraryStep& step) {
                        return step.control == LibraryControl::kNone;
                      }));
  }
  int64_t Flops() const {
    double flops = 0;
    for (size_t i = model_.variants.back(); i < model_.steps.size(); ++i) {
      const LibraryStep& step = model_.steps[i];
      const unsigned texts = step.sources.empty() ? 0 : step.sources[0].texts;
      if (texts == cpu::StepSource::kConv ||
          texts == cpu::StepSource::kMatmul ||
          texts == cpu::StepSource::kInt8Conv ||
          texts == cpu::StepSource::kIntMatmul) {
        flops += step.flops;
      }
    }
    return static_cast<int64_t>(flops);
  }

  std::string Header() const {
    const std::string guard = absl::StrCat(
        "BATON_MODEL_", absl::AsciiStrToUpper(CppIdentifier(options_.name)),
        "_", absl::AsciiStrToUpper(Hex(hash_)), "_H_");
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
        "// The code, which other weights do not change.\nnamespace ",
        Dispatch(), " {\n", Declared(), "}  // namespace ", Dispatch(), "\n\n");
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
        ";\n  static constexpr std::uint64_t kModelHash = 0x", Hex(hash_),
        "u;\n", Contract(), "\n");
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
            : absl::StrCat(
                  "\n  // A copy would have an arena in common, but not "
                  "its state.\n  ",
                  class_.name, "(const ", class_.name, "&) = delete;\n  ",
                  class_.name, "& operator=(const ", class_.name,
                  "&) = delete;\n"),
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
    for (auto name = class_.namespaces.rbegin();
         name != class_.namespaces.rend(); ++name) {
      absl::StrAppend(&text, "}  // namespace ", *name, "\n");
    }
    absl::StrAppend(&text, "\n#endif  // ", guard, "\n");
    return text;
  }

  // The numerical contract.
  std::string Contract() const {
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

  std::string MaxErrorText() const {
    const double max_error = options_.contract->max_error;
    std::string text = absl::StrCat(max_error);
    double read = 0;
    return absl::SimpleAtod(text, &read) && read == max_error
               ? text
               : absl::StrFormat("%.17g", max_error);
  }

  // The arguments of a run without threads, times or checks.
  static constexpr absl::string_view kNone = "nullptr, nullptr";
  static constexpr absl::string_view kOneThread = "nullptr, nullptr, 1";

  // The statements of a member that runs the model.
  std::string RunBody(absl::string_view threads, absl::string_view profile,
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
    const std::string call =
        absl::StrCat("::", Dispatch(), "::Run(", args, ")");
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
      absl::StrAppend(
          &text, "    ",
          can_fail_ ? absl::StrCat("return static_cast<Error>(", call, ")")
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

  // The functions that the header calls. Run is noexcept in the header only: an
  // object with a noexcept function that calls one that may throw needs the C++
  // library.
  std::string Declared() const {
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

  // Declarations of the runs that options add.
  std::string FurtherRuns() const {
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

  // `step 3, nn_softmax of nn.softmax, Softmax_12`. The name of a step that
  // belongs to no node of the model, such as a change of layout, contains that
  // of the step whose result it takes.
  std::string NameOfStep(size_t i) const {
    const LibraryStep& step = model_.steps[i];
    std::string name = absl::StrCat("step ", i, ", ", step.kernel);
    if (!step.origin.empty()) {
      return absl::StrCat(name, " of ",
                          absl::StrReplaceAll(step.origin, {{"\n", "; "}}));
    }
    for (const LibrarySlot& slot : step.slots) {
      const int64_t writer = slot.is_result ? -1 : WriterOf(model_, i, slot);
      if (writer < 0) continue;
      return absl::StrCat(name, " of the result of ",
                          NameOfStep(static_cast<size_t>(writer)));
    }
    return name;
  }

  // By the place among the operands of the executor's step.
  void AddOriginsOfOperands(size_t i, std::vector<std::string>& origins) const {
    for (const LibrarySlot& slot : model_.steps[i].slots) {
      if (slot.operand < 0) continue;
      const auto k = static_cast<size_t>(slot.operand);
      if (origins.size() <= k) origins.resize(k + 1);
      const int64_t writer = slot.is_result ? -1 : WriterOf(model_, i, slot);
      if (slot.space == LibrarySpace::kConstant) {
        origins[k] = "the weights";
      } else if (writer >= 0) {
        origins[k] = absl::StrCat("the result of ",
                                  NameOfStep(static_cast<size_t>(writer)));
      } else {
        origins[k] = slot.is_result ? "a result" : "an input of the model";
      }
    }
  }

  // Calls of `check` with the inputs of step `i`, or with its results.
  std::string ChecksOf(size_t i, bool is_result) const {
    std::string text;
    for (const LibrarySlot& slot : model_.steps[i].slots) {
      if (slot.operand < 0 || slot.is_result != is_result) continue;
      absl::StrAppend(&text, "    check(check_ctx, ", i, ", ", slot.operand,
                      ", ", is_result ? "true" : "false", ", ",
                      PointerTo(slot, "const unsigned char"), ", ", slot.bytes,
                      ");\n");
    }
    if (text.empty()) return text;
    return absl::StrCat("  if (check != nullptr) {\n", text, "  }\n");
  }

  // The parameters of the functions that run all steps. `space` is that of types
  // of fixed width.
  std::string RunParams(absl::string_view space = "") const {
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
            ? absl::StrCat(",\n         ", space, "uint64_t (*clock)(), ",
                           space, "uint64_t* times")
            : "",
        options_.check_values
            ? absl::StrCat(",\n         void (*check)(void*, ", space,
                           "size_t, ", space, "size_t, bool, const void*, ",
                           space, "size_t),\n         void* check_ctx")
            : "");
  }

  // A pointer to a slot; `type` is that of an element.
  std::string PointerTo(const LibrarySlot& slot, absl::string_view type) const {
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

  static std::string ElementOf(absl::string_view pointer) {
    return std::string(pointer.substr(0, pointer.find('*')));
  }

  // The text of the kernels that steps use.
  static std::string Kernels(CppIsa isa, unsigned texts) {
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

  // Elements of two vectors, in any order, for GCC before version 12.
  static constexpr char kShuffleText[] =
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

  bool CanFail(const LibraryStep& step) const {
    return step.function >= 0 &&
           model_.emitted[static_cast<size_t>(step.function)].can_fail;
  }
  static int64_t NumElements(const LibrarySlot& slot) {
    int64_t elements = 1;
    for (const int64_t extent : slot.shape) elements *= extent;
    return elements;
  }
  static int64_t ItemsOf(const LibraryStep& step) {
    return step.sources.empty() ? step.groups : step.sources[0].items;
  }

  // An expression that is texts[k] for the k-th of ThreadCounts(); texts[0] is
  // for all if there is no other.
  static std::string ByThreads(const std::vector<std::string>& texts) {
    std::string text;
    for (size_t k = 0; k + 1 < texts.size(); ++k) {
      if (texts[k] == texts[k + 1]) continue;
      absl::StrAppend(&text, "m.level < ", k + 1, " ? ", texts[k], " : ");
    }
    absl::StrAppend(&text, texts.back());
    return text;
  }

  // The statements of step `i`.
  std::string StatementsOf(size_t i) const {
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
          const LibrarySlot& slot =
              step.slots[static_cast<size_t>(param.index)];
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
    const std::string call = absl::StrCat(
        options_.llvm.has_value() ? "::" : "shared::", emitted.name, "(",
        absl::StrJoin(args, ",\n      "), ")");
    if (step.groups == 1) {
      return absl::StrCat(emitted.can_fail ? "  return " : "  ", call, ";\n");
    }
    const std::string loop = "  for (int64_t i = begin; i < end; ++i) {\n";
    if (!emitted.can_fail) return absl::StrCat(loop, "  ", call, ";\n  }\n");
    return absl::StrCat(loop, "  if (", call,
                        " != 0) return 1;\n  }\n  return 0;\n");
  }

  // True if threads divide a step.
  bool IsDivided(const LibraryStep& step) const {
    return step.most_parts > 1 &&
           ((step.groups > 1 && !CanFail(step)) ||
            std::any_of(step.sources.begin(), step.sources.end(),
                        [](const cpu::StepSource& source) {
                          return source.items > 1;
                        }));
  }

  // The statement of C++ that step `i`, a beginning or an end, stands for.
  std::string ControlOf(size_t i) const {
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

  // The statements that run step `i`.
  std::string RunOf(size_t i) const {
    const LibraryStep& step = model_.steps[i];
    if (step.control != LibraryControl::kNone) {
      return absl::StrCat(options_.check_values ? ChecksOf(i, false) : "",
                          ControlOf(i),
                          options_.check_values ? ChecksOf(i, true) : "");
    }
    const std::string workspace =
        step.workspace_bytes > 0
            ? absl::StrCat("arena + ", step.workspace_offset)
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
      absl::StrAppend(&text, "  Divide({&m, Step", i, ", ", workspace,
                      ",\n    ", ByThreads(bytes_of), ",\n    ",
                      ByThreads(items_of), ", ", step.most_parts,
                      "}, parallel, ctx);\n");
    } else {
      const std::string call = absl::StrCat("Step", i, "(m, ", workspace,
                                            ", false, 0, ", items, ")");
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

  // The function of step `i`.
  std::string StepText(size_t i) const {
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

  // The steps, and what runs them in order.
  std::string RunFunction(CppIsa isa) const {
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
        options_.check_values ? "  (void)check;\n  (void)check_ctx;\n" : "",
        body, can_fail_ ? "  return 0;\n" : "", "}\n\n}  // namespace ",
        NameSpace(isa), "\n");
    return text;
  }

  // Divides a step among threads. Each part has a share of the items, divided
  // into pieces of which each is half of what is left of the share, so that the
  // last ones are small: a thread that has computed its share takes pieces of
  // others. So a thread that begins late, or is slow, does not hold up the step.
  static constexpr char kDivide[] =
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

  // Statements that find the place of `threads` among ThreadCounts().
  std::string LevelOfThreads() const {
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

  // The condition that the processor has the instructions of `isa`.
  static absl::string_view CpuTest(CppIsa isa) {
    switch (isa) {
      case CppIsa::kAvx2:
        return "level >= 1";
      case CppIsa::kAvx512:
        return "level >= 2";
      default:
        return "true";
    }
  }

  // The functions that the header calls, compiled without special instructions.
  std::string Implementation() const {
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
      absl::StrAppend(&text, "  if (", CpuTest(options_.isas[i]), ") return ",
                      i, ";  // ", tir::CppIsaName(options_.isas[i]), "\n");
    }
    const bool last_asks = CpuTest(options_.isas.back()) != "true";
    if (asks && options_.isas.size() == 1 && !last_asks) {
      absl::StrAppend(&text, "  (void)level;\n");
    }
    absl::StrAppend(
        &text, "  return ",
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

  // A copy of the weights is a table of pointers, and what these point to.
  int64_t TableBytes() const {
    return executor::AlignUp(
        static_cast<int64_t>(8 * std::max<size_t>(model_.constants.size(), 1)));
  }
  int64_t CopyBytes() const {
    int64_t bytes = TableBytes();
    for (const Tensor& constant : model_.constants) {
      bytes += executor::AlignUp(static_cast<int64_t>(constant.bytes().size()));
    }
    return bytes;
  }
  std::string CopyFunction() const {
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

  // Null for those that are no members.
  static std::vector<std::string> PointersOf(absl::string_view from,
                                             const std::vector<Member>& members,
                                             size_t count) {
    std::vector<std::string> texts(std::max<size_t>(count, 1), "nullptr");
    for (const Member& member : members) {
      texts[static_cast<size_t>(member.index)] =
          absl::StrCat(from, ".", member.name);
    }
    return texts;
  }

  static constexpr char kLargePages[] =
      "\nstatic void* LargePages(std::size_t bytes) {\n"
      "  const std::size_t page = std::size_t{2} << 20;\n"
      "  bytes = (bytes + page - 1) / page * page;\n"
      "  void* const memory = std::aligned_alloc(page, bytes);\n"
      "#ifdef __linux__\n"
      "  if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);\n"
      "#endif\n  return memory;\n}\n";

  // A program that measures runs.
  std::string Benchmark() const {
    std::string buffers;
    std::vector<std::string> from;
    std::vector<std::string> to;
    const auto add = [&buffers](const std::string& name, const Member& member) {
      const std::string element = MemberElement(member.slot->dtype);
      int64_t elements = 1;
      for (const int64_t extent : member.slot->shape) elements *= extent;
      absl::StrAppend(&buffers, "  alignas(64) ",
                      absl::EndsWith(element, "_t") ? "std::" : "", element,
                      " ", name, "[", std::max<int64_t>(elements, 1), "];\n");
    };
    std::string values;
    for (const Member& member : inputs_) {
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
    for (const Member& member : outputs_) {
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
        absl::StrJoin(from, ", "), "};\n  const ", name,
        "::Outputs outputs = {", absl::StrJoin(to, ", "),
        "};\n  void* const arena = LargePages(", name,
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

  // The functions that a step calls, symbols of the objects; equal steps call
  // the same ones.
  std::vector<std::string> FunctionsOfStep(size_t i) const {
    const LibraryStep& step = model_.steps[i];
    std::vector<std::string> names;
    for (const size_t number : step_functions_of_[i]) {
      const std::string& name = step_functions_[number].name;
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
    if (step.function >= 0) {
      names.push_back(model_.emitted[static_cast<size_t>(step.function)].name);
    }
    return names;
  }

  // Collects the input of the report on `library`, whose weights are in an object
  // of `object_bytes` bytes.
  ReportInput Reported(const CompiledModel& library,
                       int64_t object_bytes) const {
    ReportInput report = {.model = model_,
                          .options = options_,
                          .library = library,
                          .hash = Hex(hash_),
                          .code_hash = Hex(code_hash_),
                          .weight_bytes = weight_bytes_,
                          .weights_object_bytes = object_bytes};
    if (options_.contract.has_value()) report.max_error = MaxErrorText();
    for (size_t i = 0; i < model_.steps.size(); ++i) {
      const LibraryStep& step = model_.steps[i];
      ReportedStep reported;
      reported.functions = FunctionsOfStep(i);
      if (!step.sources.empty()) reported.items = step.sources.back().items;
      if (step.control == LibraryControl::kNone) {
        reported.text_bytes = static_cast<int64_t>(StepText(i).size());
      }
      if (step.function >= 0) {
        reported.constants =
            function_constants_[static_cast<size_t>(step.function)];
      }
      report.steps.push_back(std::move(reported));
    }
    for (const Member& member : inputs_) {
      report.inputs.push_back({member.name, member.slot});
    }
    for (const Member& member : outputs_) {
      report.outputs.push_back({member.name, member.slot});
    }
    return report;
  }

  // The level of the processor: 0, 1 with AVX2 and FMA, 2 with AVX-512 too, as
  // far as the operating system keeps the registers.
  static constexpr char kCpuid[] =
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

  LibraryModel& model_;
  const CompileModelOptions& options_;
  ClassName class_;
  std::string model_text_;
  std::vector<int> step_lines_;  // in it
  uint64_t texts_hash_ = 0;
  std::vector<StepFunction> step_functions_;
  FlatHashMap<std::string, size_t> step_function_numbers_;  // by name
  // The functions of each step, of its sources.
  std::vector<std::vector<size_t>> step_functions_of_;
  std::vector<std::vector<int>> function_constants_;
  std::vector<Member> inputs_;
  std::vector<std::string> dims_;  // the members of options_.bounds
  std::vector<Member> outputs_;
  unsigned texts_ = 0;
  int64_t weight_bytes_ = 0;
  uint64_t code_hash_ = 0;
  uint64_t hash_ = 0;  // of code and weights
  std::vector<std::string>
      shared_symbols_;  // of constants; empty for small ones
  bool can_fail_ = false;
};

absl::Status CheckEqualState(const LibraryModelOptions& options,
                             const LibraryModel& a, const LibraryModel& b) {
  for (const auto& [output, input] : options.state) {
    if (a.inputs[static_cast<size_t>(input)].shape !=
        b.inputs[static_cast<size_t>(input)].shape) {
      return absl::InvalidArgumentError(
          "--state: its shape depends on a dimension with bounds");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string MemberElement(DType dtype) {
  return dtype.is_bool() ? "bool" : tir::CppElementType(dtype);
}

absl::Status CheckOptions(const CompileModelOptions& options) {
  if (CppIdentifier(options.name) != options.name) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--name=", options.name,
        " is no C++ identifier: give one, of which the files have their "
        "names"));
  }
  if (options.isas.empty()) {
    return absl::InvalidArgumentError("--isas names no set of instructions");
  }
  if (options.llvm.has_value() && options.isas.size() != 1) {
    return absl::InvalidArgumentError(
        "--llvm_target: functions of loops are compiled once, for one set of "
        "instructions: give one, as in --isas=avx2");
  }
  if (options.max_threads < 1 || options.max_threads > kMostLibraryThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max_threads=", options.max_threads,
                     ": it must be from 1 to ", kMostLibraryThreads));
  }
  return ParseClass(options.cpp_class).status();
}

absl::StatusOr<CompiledModel> CompileModel(const IRModule& module,
                                           const CompileModelOptions& options) {
  return CompileModel(absl::MakeConstSpan(&module, 1), options);
}

absl::StatusOr<CompiledModel> CompileModel(absl::Span<const IRModule> variants,
                                           const CompileModelOptions& options) {
  BATON_RETURN_IF_ERROR(CheckOptions(options));
  LibraryModelOptions library;
  library.max_threads = options.threads ? options.max_threads : 1;
  library.lowering = options.lowering;
  library.lowered = options.lowered;
  library.check = options.check;
  for (const auto& [output, input] : options.state) {
    const auto find = [](const std::vector<std::string>& names,
                         const std::string& name,
                         absl::string_view what) -> absl::StatusOr<int> {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found != names.end()) return static_cast<int>(found - names.begin());
      return absl::InvalidArgumentError(
          absl::StrCat("--state: the model has no ", what, " ", name,
                       "; it has ", absl::StrJoin(names, ", ")));
    };
    BATON_ASSIGN_OR_RETURN(const int from,
                           find(options.output_names, output, "output"));
    BATON_ASSIGN_OR_RETURN(const int to,
                           find(options.input_names, input, "input"));
    library.state.emplace_back(from, to);
  }
  BATON_ASSIGN_OR_RETURN(ClassName cpp_class, ParseClass(options.cpp_class));
  std::vector<LibraryModel> models;
  for (const IRModule& module : variants) {
    BATON_ASSIGN_OR_RETURN(LibraryModel model,
                           HasLoops(module) ? LibraryFromLoops(module)
                                            : LibraryFromPlan(module, library));
    if (!models.empty() && !options.state.empty()) {
      BATON_RETURN_IF_ERROR(CheckEqualState(library, models[0], model));
    }
    if (!models.empty() &&
        models[0].padded.sized_by_values != model.padded.sized_by_values) {
      return absl::InvalidArgumentError(
          "--dims: it depends on them for which results values decide how "
          "large they are");
    }
    models.push_back(std::move(model));
  }
  std::vector<cpu::PaddedModule> padded;
  for (const LibraryModel& model : models) padded.push_back(model.padded);
  LibraryModel model = MergeVariants(std::move(models));
  BATON_RETURN_IF_ERROR(PlaceState(library, model));
  BATON_ASSIGN_OR_RETURN(
      CompiledModel compiled,
      ModelWriter(model, options, std::move(cpp_class)).Write());
  compiled.padded = std::move(padded);
  return compiled;
}

}  // namespace baton
