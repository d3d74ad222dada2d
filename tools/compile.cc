#include "baton/tools/compile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/padded_sizes.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/compiled_test.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/loops_check.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/crash_guard.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/codegen/llvm_source.h"
#include "baton/tools/compile_cases.h"
#include "baton/tools/compile_files.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/compile_variants.h"
#include "baton/tools/crash_report.h"
#include "baton/tools/flag_pairs.h"
#include "baton/tools/input.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"
#include "baton/tools/tensor_files.h"
#include "baton/tools/unused_flags.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {
namespace {

using relay::Function;

absl::StatusOr<std::vector<tir::CppIsa>> ParseIsas(
    const LibraryOptions& options) {
  const bool is_arm = options.target == "aarch64";
  std::string text = options.isas;
  if (text.empty()) text = is_arm ? "neon" : "avx512,avx2,sse2";
  std::vector<tir::CppIsa> isas;
  const tir::CppIsa kAll[] = {tir::CppIsa::kAvx512, tir::CppIsa::kAvx2,
                              tir::CppIsa::kSse2, tir::CppIsa::kNeon};
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    const auto* found = std::find_if(
        std::begin(kAll), std::end(kAll),
        [name](tir::CppIsa isa) { return tir::CppIsaName(isa) == name; });
    if (found == std::end(kAll) || (*found == tir::CppIsa::kNeon) != is_arm) {
      return absl::InvalidArgumentError(
          absl::StrCat("--isas: '", name, "' is not one of ",
                       is_arm ? "neon" : "avx512, avx2, sse2",
                       ", the instructions of --target=", options.target));
    }
    if (std::find(isas.begin(), isas.end(), *found) != isas.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--isas: ", name, " is given twice"));
    }
    isas.push_back(*found);
  }
  // The widest first.
  std::sort(isas.begin(), isas.end(), [](tir::CppIsa a, tir::CppIsa b) {
    return static_cast<int>(a) > static_cast<int>(b);
  });
  return isas;
}

absl::StatusOr<PreparedRun> PreparePasses(const std::string& passes,
                                          const LibraryOptions& options) {
  RunOptions run;
  run.passes = passes;
  run.config = options.config;
  if (options.check_values) {
    run.instrument_flags = {{"check_values", true}, {"seed", options.seed}};
    run.inputs = options.inputs;
  }
  return Prepare(std::move(run));
}

constexpr char kLoopPasses[] = "FuseOps,LowerToTir,tir.lower";

// The meaning of --passes=default; kPassesOfQnn for models with operators of
// qnn, which have neither kernels nor loops.
constexpr char kDefaultPasses[] = "SimplifyInference,FoldConstant";
constexpr char kPassesOfQnn[] =
    "qnn.Legalize,qnn.CanonicalizeOps,CanonicalizeOps,SimplifyInference,"
    "FoldConstant,SimplifyExpr";

bool HasQnn(const IRModule& module) {
  bool has = false;
  for (const auto& [name, function] : module.functions<Function>()) {
    relay::PostOrderVisit(function, [&has](const ExprNode* node) {
      has |= node->kind() == relay::ExprKind::kOp &&
             absl::StartsWith(static_cast<const OpNode*>(node)->name(), "qnn.");
    });
  }
  return has;
}

// Settings of --config that no pass has read, as lines for people.
class UnreadLines {
 public:
  explicit UnreadLines(std::string config) : config_(std::move(config)) {}

  // Adds a context in which passes have run. A setting is read if the passes of
  // one context read it.
  void Add(const PassContext& context) {
    std::vector<std::string> lines = UnreadSettings(config_, context);
    if (!lines_.has_value()) {
      lines_ = std::move(lines);
      return;
    }
    lines_->erase(std::remove_if(lines_->begin(), lines_->end(),
                                 [&lines](const std::string& line) {
                                   return std::find(lines.begin(), lines.end(),
                                                    line) == lines.end();
                                 }),
                  lines_->end());
  }

  void Write(std::ostream& out) const {
    if (!lines_.has_value()) return;
    for (const std::string& line : *lines_) out << line << "\n";
  }

 private:
  const std::string config_;
  std::optional<std::vector<std::string>> lines_;
};

absl::StatusOr<IRModule> RunPasses(const IRModule& module,
                                   const std::string& passes,
                                   const LibraryOptions& options,
                                   UnreadLines& unread, std::ostream& out) {
  if (passes.empty()) return module;
  BATON_ASSIGN_OR_RETURN(PreparedRun prepared, PreparePasses(passes, options));
  BATON_RETURN_IF_ERROR(ReadTensorsOf(prepared));
  CheckingInstruments checks;
  BATON_RETURN_IF_ERROR(AddCheckingInstruments(
      prepared, prepared.pipeline,
      [&out](absl::string_view line) { out << line; }, checks));
  PassContextOptions settings = prepared.context;
  settings.instruments.insert(settings.instruments.end(),
                              checks.instruments.begin(),
                              checks.instruments.end());
  const PassContext context(settings);
  BATON_ASSIGN_OR_RETURN(const Pass pipeline,
                         CompletePipeline(prepared, module));
  BATON_ASSIGN_OR_RETURN(const IRModule result,
                         context.Run([&] { return pipeline(module); }));
  unread.Add(context);
  return relay::InferTypes(result);
}

// The passes of `options` and those after them, as text of a pipeline.
std::string Behind(const LibraryOptions& options, absl::string_view passes) {
  return absl::StrCat(options.passes, options.passes.empty() ? "" : ",",
                      passes);
}

std::string BaseName(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

// The options of CompileModel() that flags alone decide. Errors name the flags.
absl::StatusOr<CompileModelOptions> ModelOptions(
    const LibraryOptions& options) {
  if (options.max_error >= 0 && !options.test) {
    return absl::InvalidArgumentError(
        "--max_error: needs --test, which measures the error");
  }
  if (!options.threads && options.max_threads != LibraryOptions().max_threads) {
    return absl::InvalidArgumentError(
        "--max_threads: needs --threads, which adds a Run for threads");
  }
  CompileModelOptions model;
  model.name = options.name.empty() ? BaseName(options.model) : options.name;
  model.cpp_class = options.cpp_class.empty() ? model.name : options.cpp_class;
  model.model = options.model.substr(options.model.rfind('/') + 1);
  model.machine = options.target == "aarch64" ? tir::ElfMachine::kAArch64
                                              : tir::ElfMachine::kX86_64;
  BATON_ASSIGN_OR_RETURN(model.isas, ParseIsas(options));
  BATON_ASSIGN_OR_RETURN(model.state,
                         ParseFlagPairs("state", "OUT:IN", options.state));
  model.threads = options.threads;
  model.max_threads = options.max_threads;
  model.profile = options.profile;
  model.line_table = options.line_table;
  model.check_values = options.check_values;
  model.split = !options.shared_dir.empty();
  BATON_ASSIGN_OR_RETURN(model.objects, ReadObjects(options.objects));
  if (!options.llvm_target.empty()) {
    BATON_ASSIGN_OR_RETURN(model.llvm,
                           tir::ParseLlvmTarget(options.llvm_target));
    if (!absl::StartsWith(model.llvm->triple, options.target)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--llvm_target: the triple ", model.llvm->triple,
                       " is not of --target=", options.target));
    }
  }
  BATON_RETURN_IF_ERROR(CheckOptions(model));
  return model;
}

// Sets the contract of the library of which `error` is the largest difference
// from the model without passes. If it has no contract, `out` receives the
// reason, and the test of `cases` does not compare with that model.
absl::Status SetContract(const LibraryOptions& options,
                         const absl::StatusOr<double>& error,
                         bool inputs_are_given, CompileModelOptions& model,
                         std::vector<TestCase>& cases, std::ostream& out) {
  const bool is_given = options.max_error >= 0;
  if (error.ok() && (is_given || std::isfinite(*error))) {
    model.contract = {
        options.passes,
        inputs_are_given ? "given inputs"
                         : absl::StrCat("random inputs of seed ", options.seed),
        is_given ? options.max_error : RoundUp(*error)};
    return absl::OkStatus();
  }
  if (is_given) return error.status();
  for (TestCase& test_case : cases) test_case.exact.clear();
  out << "kMaxError: none: "
      << (error.ok() ? "passes made elements NaN or infinite, or finite"
                     : error.status().message())
      << "\n";
  return absl::OkStatus();
}

}  // namespace

absl::Status CompileLibrary(const LibraryOptions& given, std::ostream& out,
                            std::ostream* notes) {
  LibraryOptions options = given;
  BATON_RETURN_IF_ERROR(CheckFlagValues(FlagsOf<LibraryOptions>(), &options));
  options.output_dir = WithoutEndSlashes(options.output_dir);
  options.shared_dir = WithoutEndSlashes(options.shared_dir);
  const bool default_passes = options.passes == LibraryOptions().passes;
  if (default_passes) options.passes = kDefaultPasses;
  // The pipeline of baton-opt that has the passes which run.
  std::string running = options.passes;
  std::string shapes = options.input_shapes;
  const CrashGuard guard([&options, &running, &shapes](int signal) {
    std::cerr << CrashReport("baton-compile",
                             OptCommand(options.model,
                                        {{"input_shapes", shapes},
                                         {"input_values", options.input_values},
                                         {"passes", running},
                                         {"config", options.config},
                                         {"inputs", options.inputs}}),
                             signal)
              << std::flush;
  });
  BATON_ASSIGN_OR_RETURN(CompileModelOptions model, ModelOptions(options));
  BATON_RETURN_IF_ERROR(CheckFolder("--output_dir", options.output_dir));
  if (!options.shared_dir.empty()) {
    BATON_RETURN_IF_ERROR(
        CheckFolder("--shared_dir", options.shared_dir, options.output_dir));
  }
  BATON_ASSIGN_OR_RETURN(const PreparedRun prepared,
                         PreparePasses("tir.lower", options));
  model.lowering = prepared.context;
  UnreadLines unread(options.config);
  model.lowered = [&unread](const PassContext& context) {
    unread.Add(context);
  };
  TensorsAtHand at_hand;
  TensorsAtHand* const tensors = options.inputs.empty() ? nullptr : &at_hand;
  if (tensors != nullptr) {
    BATON_ASSIGN_OR_RETURN(
        at_hand.tensors, ReadTensors(options.inputs, "input", &at_hand.parts));
    at_hand.takes_all_shapes = true;
    for (const auto& [output, input] : model.state) {
      at_hand.kept.push_back(input);
    }
  }
  BATON_ASSIGN_OR_RETURN(const Variants variants,
                         MakeVariants(options, tensors));
  const bool takes_shapes =
      !options.dims.empty() || !at_hand.shapes_used.empty();
  // Passes are checked on random inputs where some of the given ones are none
  // of the module, or are state.
  if (!at_hand.values_used.empty() || !at_hand.kept.empty()) {
    options.inputs.clear();
  }
  for (const std::string& name : at_hand.values_used) {
    out << "--inputs: the value of " << name
        << " is a constant: shapes depend on it\n";
  }
  // Typed: the names of results depend on their number.
  const Function main = variants.variants[0].module.Find<Function>("main");
  model.input_names = InputNames(main);
  model.output_names = OutputNames(main);
  model.bounds = variants.bounds;
  if (default_passes && HasQnn(variants.variants[0].module)) {
    options.passes = kPassesOfQnn;
    out << "--passes=" << options.passes
        << ": the model has operators of qnn\n";
  }
  std::vector<IRModule> lowered;
  std::vector<TestCase> cases;
  std::vector<size_t> case_variants;
  absl::StatusOr<double> error = 0.0;  // against the model without passes
  for (size_t k = 0; k < variants.variants.size(); ++k) {
    const Variant& variant = variants.variants[k];
    running = options.passes;
    if (takes_shapes) shapes = ShapesOfInputs(variant.module);
    BATON_ASSIGN_OR_RETURN(
        const IRModule passed,
        RunPasses(variant.module, options.passes, options, unread, out));
    // Loops of the user's own passes are taken as they are.
    const std::string lowering = HasLoops(passed) ? kLoopPasses : "cpu";
    running = Behind(options, lowering);
    BATON_ASSIGN_OR_RETURN(IRModule plain,
                           RunPasses(passed, lowering, options, unread, out));
    lowered.push_back(std::move(plain));
    // The least, the greatest and middle values of the bounds.
    const size_t last = variants.variants.size() - 1;
    if (!options.test && !options.check_values) continue;
    if (k != 0 && k != last && k != last / 2) continue;
    BATON_ASSIGN_OR_RETURN(
        TestCase test_case,
        MakeCase(passed, variant.dims, model, options, tensors));
    if (options.test && error.ok()) {
      absl::StatusOr<double> added = AddExactOutputs(variant.module, test_case);
      if (added.ok()) added = std::max(*error, *added);
      error = std::move(added);
    }
    cases.push_back(std::move(test_case));
    case_variants.push_back(k);
  }
  if (options.check_values) {
    model.check =
        std::make_shared<LoopsCheck>(static_cast<uint32_t>(options.seed));
  }
  if (options.test) {
    BATON_RETURN_IF_ERROR(
        SetContract(options, error, tensors != nullptr, model, cases, out));
  }
  // Steps without a source become loops.
  running = Behind(options, kLoopPasses);
  BATON_ASSIGN_OR_RETURN(CompiledModel compiled, CompileModel(lowered, model));
  if (notes != nullptr) unread.Write(*notes);
  if (model.check != nullptr) {
    for (const std::string& note : model.check->notes()) {
      out << "--check_values: " << note << "\n";
    }
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].first_step = compiled.variants[case_variants[i]];
    if (HasLoops(lowered[case_variants[i]])) continue;
    const cpu::PaddedModule& padded = compiled.padded[case_variants[i]];
    BATON_RETURN_IF_ERROR(AddExtents(padded, cases[i]));
    if (options.check_values) {
      BATON_RETURN_IF_ERROR(AddPlanValues(padded.module, cases[i]));
    }
  }
  BATON_ASSIGN_OR_RETURN(std::string weights, ObjectText(compiled.weights));
  compiled.files.push_back({model.name + "_weights.o", std::move(weights)});
  if (options.test) {
    const CompiledTest test = MakeCompiledTest(model, compiled.steps, cases);
    BATON_ASSIGN_OR_RETURN(std::string data, ObjectText(test.data));
    compiled.files.push_back({model.name + "_test.cc", test.source});
    compiled.files.push_back({model.name + "_test_data.o", std::move(data)});
  }
  if (options.benchmark) {
    compiled.files.push_back(
        {model.name + "_benchmark.cc", std::move(compiled.benchmark)});
  }
  BATON_RETURN_IF_ERROR(
      WriteFiles(given, variants.further_files,
                 {{options.output_dir, &compiled.files},
                  {options.shared_dir, &compiled.shared_files}},
                 out));
  if (options.report) out << compiled.report;
  out << "steps " << compiled.num_steps << " arena " << compiled.arena_bytes
      << " weights " << compiled.weight_bytes << "\n";
  return absl::OkStatus();
}

}  // namespace baton
