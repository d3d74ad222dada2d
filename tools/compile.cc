#include "baton/tools/compile.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/cpu/padded_sizes.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/compiled_test.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/loops_check.h"
#include "baton/backend/library/plan_values.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/instrument/crash_guard.h"
#include "baton/instrument/tensor_error.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/io/npy.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/codegen/elf_reader.h"
#include "baton/tir/codegen/llvm_source.h"
#include "baton/tools/crash_report.h"
#include "baton/tools/files.h"
#include "baton/tools/flag_pairs.h"
#include "baton/tools/input.h"
#include "baton/tools/module_source.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"
#include "baton/tools/tensor_files.h"
#include "baton/tools/unused_flags.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {
namespace {

using relay::Function;
using relay::Value;

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

absl::StatusOr<std::vector<DimBound>> ParseDims(const std::string& text) {
  absl::StatusOr<std::vector<DimBound>> bounds = ParseDimBounds(text);
  if (bounds.ok()) return bounds;
  return absl::InvalidArgumentError(
      absl::StrCat("--dims: ", bounds.status().message()));
}

// An error if a dimension of an input of a typed module has no bounds, or
// bounds have no dimension.
absl::Status CheckDims(const IRModule& module,
                       const std::vector<DimBound>& bounds) {
  std::vector<bool> is_used(bounds.size(), false);
  std::vector<std::string> open;
  for (const relay::Var& param : module.Find<Function>("main")->params()) {
    const TensorTypeNode* const type = param->tensor_type();
    if (type == nullptr) continue;
    for (const Dim& dim : type->shape()) {
      if (dim.is_const()) continue;
      std::string name = DimName(dim);
      const auto found = std::find_if(
          bounds.begin(), bounds.end(),
          [&name](const DimBound& bound) { return bound.name == name; });
      if (found != bounds.end()) {
        is_used[static_cast<size_t>(found - bounds.begin())] = true;
        continue;
      }
      if (name.empty()) name = absl::StrCat("a dimension of ", param->name());
      if (std::find(open.begin(), open.end(), name) == open.end()) {
        open.push_back(std::move(name));
      }
    }
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (!is_used[i]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dims: no input of the model has a dimension ", bounds[i].name));
    }
  }
  if (!open.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model leaves dimensions open: ", absl::StrJoin(open, ", "),
        "; give them with --dims=NAME=N or --input_shapes"));
  }
  return absl::OkStatus();
}

// A module for each choice of dimensions.
struct Variant {
  std::vector<int64_t> dims;  // of the bounds that leave a choice
  IRModule module;            // as it was read
};
struct Variants {
  std::vector<DimBound> bounds;   // those that leave a choice
  std::vector<Variant> variants;  // the last bound varies fastest
  // The paths of further files that they were read from, such as external data.
  std::vector<std::string> further_files;
};

// Functions without the code that another compiler made of them: the library
// computes them itself, whether that compiler is here or not.
IRModule WithoutArtifacts(IRModule module) {
  std::vector<std::pair<GlobalVar, Function>> changed;
  for (const auto& [var, function] : module.functions<Function>()) {
    if (function->attrs().Find(relay::attr::kArtifact) == nullptr) continue;
    changed.emplace_back(
        var, Function({function->params().begin(), function->params().end()},
                      function->body(), function->result_type(),
                      {function->type_params().begin(),
                       function->type_params().end()},
                      function->attrs()
                          .Without(relay::attr::kArtifactName)
                          .Without(relay::attr::kArtifact),
                      function->type(), function->span()));
  }
  for (auto& [var, function] : changed) module.Set(var, std::move(function));
  return module;
}

// Appends the paths of further files that are read to `further_files`. `dims`:
// sizes of dimensions, of ONNX files only.
absl::StatusOr<IRModule> ReadModule(
    ModuleSource source, const LibraryOptions& options, TensorsAtHand* given,
    std::vector<std::string>& further_files,
    const std::map<std::string, int64_t>& dims = {}) {
  source.at_hand = given;
  source.input_shapes = options.input_shapes;
  source.input_values = options.input_values;
  source.dims = dims;
  Diagnostics diagnostics;
  BATON_ASSIGN_OR_RETURN(ModulesRead read, ReadModules(source, diagnostics));
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  if (read.modules.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.model, " has no module"));
  }
  further_files.insert(further_files.end(), read.further_files.begin(),
                       read.further_files.end());
  IRModule module = std::move(read.modules[0].module);
  if (!module.Find<Function>("main").defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.model, " has no function @main of Relay"));
  }
  return WithoutArtifacts(std::move(module));
}

// An error if an input of a typed module is no tensor, or a result is a tuple
// in a tuple: members of Inputs and Outputs are tensors.
absl::Status CheckPorts(const IRModule& module) {
  const Function main = module.Find<Function>("main");
  for (const relay::Var& param : main->params()) {
    if (param->tensor_type() != nullptr) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the parameter %", param->name(), " of @main is no tensor but ",
        param->annotation().ToString(), ": it cannot be a member"));
  }
  const Type& type = main->body()->type();
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr) return absl::OkStatus();
  for (const Type& field : tuple->fields()) {
    if (field.Is<TensorTypeNode>()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a result of @main is no tensor but ", field.ToString(),
                     ": it cannot be a member"));
  }
  return absl::OkStatus();
}

// `given`: the tensors of --inputs, or null.
absl::StatusOr<Variants> MakeVariants(const LibraryOptions& options,
                                      TensorsAtHand* given) {
  const std::string& text = options.dims;
  BATON_ASSIGN_OR_RETURN(const ModuleSource source,
                         OpenModule(options.model, std::cin));
  // Each has steps of its own.
  constexpr int64_t kMaxVariants = 64;
  BATON_ASSIGN_OR_RETURN(const std::vector<DimBound> bounds, ParseDims(text));
  // An ONNX file is imported for each choice: a graph may not be typed with
  // symbolic dimensions, and is simpler for constant ones.
  const bool is_onnx =
      FormatOf(source.content.bytes, source.name) == InputFormat::kOnnx;
  if (given != nullptr && !is_onnx && !options.test && !options.check_values) {
    return absl::InvalidArgumentError(
        "--inputs: needs --test or --check_values, which run the model: only "
        "an ONNX file takes shapes and values from its inputs");
  }
  Variants result;
  IRModule module;
  if (!is_onnx) {
    BATON_ASSIGN_OR_RETURN(
        module, ReadModule(source, options, given, result.further_files));
    BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
    BATON_RETURN_IF_ERROR(CheckPorts(module));
  }
  int64_t count = 1;
  for (const DimBound& bound : bounds) {
    if (bound.least == bound.most) continue;
    if (given != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--inputs: they have one size of ", bound.name,
                       ", which has bounds in --dims"));
    }
    result.bounds.push_back(bound);
    const int64_t values = bound.most - bound.least + 1;
    if (values > kMaxVariants || count * values > kMaxVariants) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dims=", text, ": bounds have more than ", kMaxVariants,
          " choices, each of which has steps of its own: give narrower ones"));
    }
    count *= values;
  }
  if (!is_onnx) BATON_RETURN_IF_ERROR(CheckDims(module, bounds));
  for (int64_t k = 0; k < count; ++k) {
    Variant variant;
    std::vector<int64_t> sizes(bounds.size());
    int64_t rest = k;
    for (size_t i = bounds.size(); i-- > 0;) {
      const int64_t values = bounds[i].most - bounds[i].least + 1;
      sizes[i] = bounds[i].least + rest % values;
      rest /= values;
    }
    for (size_t i = 0; i < bounds.size(); ++i) {
      if (bounds[i].least != bounds[i].most) variant.dims.push_back(sizes[i]);
    }
    if (is_onnx) {
      std::map<std::string, int64_t> dims;
      for (size_t i = 0; i < bounds.size(); ++i) {
        dims.emplace(bounds[i].name, sizes[i]);
      }
      BATON_ASSIGN_OR_RETURN(
          variant.module,
          ReadModule(source, options, given, result.further_files, dims));
      BATON_ASSIGN_OR_RETURN(variant.module, relay::InferTypes(variant.module));
      BATON_RETURN_IF_ERROR(CheckPorts(variant.module));
      BATON_RETURN_IF_ERROR(CheckDims(variant.module, {}));
    } else {
      BATON_ASSIGN_OR_RETURN(variant.module,
                             BindDims(module, "main", bounds, sizes));
    }
    result.variants.push_back(std::move(variant));
  }
  return result;
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

// `x:[1,3],y:[4]`: the shapes of the inputs of `module`.
std::string ShapesOfInputs(const IRModule& module) {
  std::vector<std::string> shapes;
  for (const relay::Var& param : module.Find<Function>("main")->params()) {
    const TensorTypeNode* const type = param->tensor_type();
    if (type == nullptr || !type->is_static()) continue;
    shapes.push_back(
        absl::StrCat(param->name(), ":[",
                     absl::StrJoin(type->shape(), ",",
                                   [](std::string* text, const Dim& dim) {
                                     absl::StrAppend(text, dim.value());
                                   }),
                     "]"));
  }
  return absl::StrJoin(shapes, ",");
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

absl::StatusOr<std::string> ObjectText(const tir::ElfObject& object) {
  std::string text;
  BATON_RETURN_IF_ERROR(WriteElfObject(object, [&text](absl::string_view part) {
    absl::StrAppend(&text, part);
    return absl::OkStatus();
  }));
  return text;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(const IRModule& module,
                                             absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const Value result,
                         relay::EvaluateFunction(module, "main", args));
  std::vector<Tensor> outputs;
  if (result.is_tensor()) {
    outputs.push_back(result.tensor());
    return outputs;
  }
  for (const Value& field : result.fields()) {
    if (!field.is_tensor()) {
      return absl::UnimplementedError("a result in a result");
    }
    outputs.push_back(field.tensor());
  }
  return outputs;
}

// The arguments of `main` among `given`.
absl::StatusOr<std::vector<Value>> GivenInputs(const Function& main,
                                               const CompileModelOptions& model,
                                               const TensorsAtHand& given) {
  const auto is_in = [](absl::Span<const std::string> names,
                        const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  NamedTensors tensors = given.tensors;
  std::erase_if(tensors, [&](const auto& tensor) {
    return is_in(given.values_used, tensor.first);
  });
  const bool has_state = tensors.size() >= model.input_names.size();
  const bool has_names = !tensors.empty() && !tensors[0].first.empty();
  for (size_t i = 0; i < model.input_names.size(); ++i) {
    const std::string& name = model.input_names[i];
    if (has_state || i > tensors.size() || !is_in(given.kept, name)) continue;
    const TensorTypeNode* const type = main->params()[i]->tensor_type();
    BATON_ASSIGN_OR_RETURN(
        Tensor zeros, Tensor::Zeros(type->dtype(), *ConstDims(type->shape())));
    tensors.emplace(tensors.begin() + static_cast<std::ptrdiff_t>(i),
                    has_names ? name : "", std::move(zeros));
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> in_order,
                         InOrder(tensors, model.input_names, "inputs"));
  return std::vector<Value>(in_order.begin(), in_order.end());
}

// The values of the model for inputs; those of state are zero.
absl::StatusOr<TestCase> MakeCase(const IRModule& module,
                                  std::vector<int64_t> dims,
                                  const CompileModelOptions& model,
                                  const LibraryOptions& options,
                                  const TensorsAtHand* given) {
  const Function main = module.Find<Function>("main");
  std::vector<Value> values;
  if (given != nullptr) {
    BATON_ASSIGN_OR_RETURN(values, GivenInputs(main, model, *given));
  } else {
    BATON_ASSIGN_OR_RETURN(
        values, relay::RandomInputs(main, static_cast<uint32_t>(options.seed)));
  }
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_state = std::any_of(
        model.state.begin(), model.state.end(), [&](const auto& pair) {
          return i < model.input_names.size() &&
                 pair.second == model.input_names[i];
        });
    if (is_state) {
      BATON_ASSIGN_OR_RETURN(Tensor zeros,
                             Tensor::Zeros(values[i].tensor().dtype(),
                                           values[i].tensor().shape()));
      values[i] = Value(std::move(zeros));
    }
    inputs.push_back(values[i].tensor());
  }
  BATON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, Evaluate(module, values));
  return TestCase{std::move(dims), std::move(inputs), std::move(outputs)};
}

// Evaluates the model before the passes of `options`, and adds the outputs that
// have other bytes to the case. Returns the largest error of an output;
// infinite if elements are NaN or infinite in only one of the two.
absl::StatusOr<double> AddExactOutputs(const IRModule& module,
                                       TestCase& test_case) {
  const std::vector<Value> args(test_case.inputs.begin(),
                                test_case.inputs.end());
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         Evaluate(module, args));
  if (outputs.size() != test_case.outputs.size()) {
    return absl::InvalidArgumentError("passes changed the number of outputs");
  }
  test_case.exact.resize(outputs.size());
  double largest = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& exact = outputs[i];
    const Tensor& output = test_case.outputs[i];
    const bool are_comparable =
        exact.dtype() == output.dtype() ||
        (exact.dtype().is_float() && output.dtype().is_float());
    if (exact.shape() != output.shape() || !are_comparable) {
      return absl::InvalidArgumentError(
          absl::StrCat("passes changed the type of output ", i, " from ",
                       exact.TypeToString(), " to ", output.TypeToString()));
    }
    if (exact.dtype() == output.dtype() && HaveSameElements(exact, output)) {
      continue;
    }
    const TensorError error = ErrorOf(exact, output);
    largest = std::max(largest, error.IsSpecial()
                                    ? std::numeric_limits<double>::infinity()
                                    : error.of_largest);
    test_case.exact[i] = exact;
  }
  return largest;
}

// `error` with two digits, rounded up.
double RoundUp(double error) {
  double rounded = 0;
  if (!std::isfinite(error) ||
      !absl::SimpleAtod(absl::StrFormat("%.1e", error), &rounded) ||
      rounded >= error) {
    return rounded;
  }
  const double next = rounded + error / 20;
  return absl::SimpleAtod(absl::StrFormat("%.1e", next), &rounded) ? rounded
                                                                   : next;
}

// Runs the executor's plan, whose steps and results must be the evaluator's.
absl::Status AddPlanValues(const IRModule& module, TestCase& test_case) {
  BATON_ASSIGN_OR_RETURN(PlanValues values, RunPlan(module, test_case.inputs));
  for (size_t i = 0; i < test_case.outputs.size(); ++i) {
    // Padding may follow.
    if (!absl::StartsWith(values.outputs[i].bytes(),
                          test_case.outputs[i].bytes())) {
      return absl::InternalError(absl::StrCat(
          "output ", i, " of the executor differs from the evaluator's"));
    }
  }
  test_case.operands = std::move(values.operands);
  return absl::OkStatus();
}

// Adds the extents of the outputs whose sizes values decide, which are outputs
// of the library, and the sizes of their memory.
absl::Status AddExtents(const cpu::PaddedModule& padded, TestCase& test_case) {
  if (padded.sized_by_values.empty()) return absl::OkStatus();
  const Type& type = padded.module.Find<Function>("main")->body()->type();
  const auto* tuple = type.As<TupleTypeNode>();
  for (const int k : padded.sized_by_values) {
    const auto i = static_cast<size_t>(k);
    const auto* bound = tuple->fields()[i].As<TensorTypeNode>();
    BATON_ASSIGN_OR_RETURN(
        const int64_t elements,
        NumElements(bound->dtype(), *ConstDims(bound->shape())));
    test_case.output_bytes.resize(test_case.outputs.size());
    test_case.output_bytes[i] =
        static_cast<size_t>(elements * bound->dtype().bytes());
    const absl::Span<const int64_t> shape = test_case.outputs[i].shape();
    BATON_ASSIGN_OR_RETURN(Tensor extents,
                           Tensor::FromValues<int64_t>(
                               {static_cast<int64_t>(shape.size())}, shape));
    test_case.outputs.push_back(std::move(extents));
  }
  return absl::OkStatus();
}

// `folder` without slashes at its end.
std::string WithoutEndSlashes(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

// An error if files could not be written to the folder of a flag, or it could
// not be made, in a folder that is there or in `made_before`: compiling may
// take long, and this is known before.
absl::Status CheckFolder(absl::string_view flag, const std::string& folder,
                         const std::string& made_before = "") {
  struct stat info = {};
  if (stat(folder.c_str(), &info) == 0) {
    if (!S_ISDIR(info.st_mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, ": ", folder, " is not a folder"));
    }
    if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(
        errno, absl::StrCat(flag, ": cannot write to the folder ", folder));
  }
  const std::string parent =
      std::filesystem::path(FileToWrite(folder)).parent_path();
  if ((!made_before.empty() && parent == FileToWrite(made_before)) ||
      access(parent.c_str(), W_OK | X_OK) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat(flag, ": cannot create the folder ", folder));
}

// Folders that are removed again unless they are kept.
class NewFolders {
 public:
  NewFolders() = default;
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  ~NewFolders() {
    // The last one may be in the first.
    for (size_t i = made_.size(); i-- > 0;) rmdir(made_[i].c_str());
  }
  absl::Status Make(const std::string& path) {
    if (mkdir(path.c_str(), 0777) == 0) {
      made_.push_back(path);
    } else if (errno != EEXIST) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("cannot create the folder ", path));
    }
    return absl::OkStatus();
  }
  void Keep() { made_.clear(); }

 private:
  std::vector<std::string> made_;
};

// Writes the files of both folders, or none; the second may have no path.
// `further_files`: files that were read, beside those of flags.
absl::Status WriteFiles(
    const LibraryOptions& options, absl::Span<const std::string> further_files,
    absl::Span<
        const std::pair<std::string, const std::vector<CompiledModel::File>*>>
        folders,
    std::ostream& out) {
  NewFolders made;
  std::vector<std::string> read = {FileToWrite(options.model),
                                   FileToWrite(options.inputs)};
  for (absl::string_view path :
       absl::StrSplit(options.objects, ',', absl::SkipEmpty())) {
    read.push_back(FileToWrite(std::string(path)));
  }
  for (const std::string& path : further_files) {
    read.push_back(FileToWrite(path));
  }
  // Stable: pieces of `changed` are in `texts`.
  std::deque<absl::string_view> texts;
  std::vector<FilePieces> changed;
  for (const auto& [folder, files] : folders) {
    if (folder.empty()) continue;
    BATON_RETURN_IF_ERROR(made.Make(folder));
    for (const CompiledModel::File& file : *files) {
      std::string path = absl::StrCat(folder, "/", file.name);
      // A file that stays as it is keeps its time: it is not compiled again.
      const absl::StatusOr<std::string> present = ReadFile(path);
      if (present.ok() && *present == file.text) continue;
      if (std::find(read.begin(), read.end(), FileToWrite(path)) !=
          read.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            path,
            " is read and would be written: give another --output_dir "
            "or --name"));
      }
      texts.emplace_back(file.text);
      changed.push_back(
          {std::move(path), absl::MakeConstSpan(&texts.back(), 1)});
    }
  }
  BATON_RETURN_IF_ERROR(WriteFilesAtomically(changed));
  made.Keep();
  for (const auto& [folder, files] : folders) {
    if (folder.empty()) continue;
    for (const CompiledModel::File& file : *files) out << file.name << "\n";
  }
  return absl::OkStatus();
}

// The objects of `paths`, those in archives too.
absl::StatusOr<std::vector<CompileModelOptions::Object>> ReadObjects(
    const std::string& paths) {
  std::vector<CompileModelOptions::Object> objects;
  for (absl::string_view path : absl::StrSplit(paths, ',', absl::SkipEmpty())) {
    BATON_ASSIGN_OR_RETURN(std::string bytes, ReadFile(std::string(path)));
    std::string name(path.substr(path.rfind('/') + 1));
    if (!tir::IsArchive(bytes)) {
      objects.push_back({std::move(name), std::move(bytes)});
      continue;
    }
    BATON_ASSIGN_OR_RETURN(const std::vector<tir::ArchiveMember> members,
                           tir::ReadArchive(bytes));
    for (const tir::ArchiveMember& member : members) {
      objects.push_back({absl::StrCat(name, "(", member.name, ")"),
                         std::string(member.bytes)});
    }
  }
  return objects;
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
  double error = 0;  // against the model without passes
  absl::Status contract_status;
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
    if (options.test && contract_status.ok()) {
      const absl::StatusOr<double> added =
          AddExactOutputs(variant.module, test_case);
      contract_status = added.status();
      if (added.ok()) error = std::max(error, *added);
    }
    cases.push_back(std::move(test_case));
    case_variants.push_back(k);
  }
  if (options.check_values) {
    model.check =
        std::make_shared<LoopsCheck>(static_cast<uint32_t>(options.seed));
  }
  if (options.test) {
    const bool is_given = options.max_error >= 0;
    if (contract_status.ok() && (is_given || std::isfinite(error))) {
      model.contract = {
          options.passes,
          tensors != nullptr
              ? "given inputs"
              : absl::StrCat("random inputs of seed ", options.seed),
          is_given ? options.max_error : RoundUp(error)};
    } else if (is_given) {
      return contract_status;
    } else {
      // The test does not compare with the model without passes then.
      for (TestCase& test_case : cases) test_case.exact.clear();
      out << "kMaxError: none: "
          << (contract_status.ok()
                  ? "passes made elements NaN or infinite, or finite"
                  : contract_status.message())
          << "\n";
    }
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
