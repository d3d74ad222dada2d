#include "baton/tools/compile.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tools/compile_model.h"
#include "baton/tools/files.h"
#include "baton/tools/input.h"
#include "baton/tools/module_source.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"
#include "baton/tools/tensor_files.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {
namespace {

// From primitive operators to flat loops.
constexpr char kLowering[] =
    "FuseOps,LowerToTir,tir.LowerInitBlock,"
    "tir.PlanAndUpdateBufferAllocationLocation,tir.ConvertBlocksToOpaque,"
    "tir.CompactBufferAllocation,tir.LowerMatchBuffer,tir.Simplify,"
    "tir.LowerOpaqueBlock,tir.FlattenBuffer,"
    "tir.NarrowDataType{target_bits=32},tir.Simplify,"
    "tir.VectorizeLoop{enable_vectorize=true},tir.StorageRewrite,"
    "tir.UnrollLoop,tir.RenormalizeSplitPattern,tir.Simplify,tir.RemoveNoOp,"
    "tir.RewriteUnsafeSelect";

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParsePairs(
    const std::string& text, absl::string_view flag, char separator) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const size_t at = part.rfind(separator);
    if (at == absl::string_view::npos || at == 0 || at + 1 == part.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, "=", text, ": '", part, "' is not NAME",
                       std::string(1, separator), "VALUE"));
    }
    pairs.emplace_back(part.substr(0, at), part.substr(at + 1));
  }
  return pairs;
}

absl::StatusOr<std::vector<tir::CppIsa>> ParseIsas(
    const CompileOptions& options) {
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

// The module with its symbolic dimensions replaced as --dims says.
absl::StatusOr<IRModule> WithDims(const IRModule& module,
                                  const std::string& text) {
  BATON_ASSIGN_OR_RETURN(const auto pairs, ParsePairs(text, "dims", '='));
  std::map<std::string, int64_t> dims;
  for (const auto& [name, value] : pairs) {
    if (absl::StrContains(value, "..")) {
      return absl::UnimplementedError(
          absl::StrCat("--dims: ", name, "=", value,
                       ": bounds are not built yet; give a number"));
    }
    int64_t number = 0;
    if (!absl::SimpleAtoi(value, &number) || number < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dims: ", name, "=", value, " is no positive number"));
    }
    dims[name] = number;
  }
  const Function main = module.Find<Function>("main");
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, bool> used;
  std::vector<std::string> open;
  for (const Var& param : main->params()) {
    const auto* type = param->annotation().As<TensorTypeNode>();
    if (type == nullptr || type->is_static()) continue;
    std::vector<int64_t> shape;
    for (const Dim& dim : type->shape()) {
      if (dim.is_const()) {
        shape.push_back(dim.value());
        continue;
      }
      const std::string name =
          dim.is_symbolic() && dim.expr()->is_var() ? dim.expr()->name() : "";
      const auto found = dims.find(name);
      if (found == dims.end()) {
        shape.push_back(-1);
        const std::string described =
            name.empty() ? absl::StrCat("a dimension of ", param->name())
                         : name;
        if (std::find(open.begin(), open.end(), described) == open.end()) {
          open.push_back(described);
        }
        continue;
      }
      used[name] = true;
      shape.push_back(found->second);
    }
    shapes[param->name()] = std::move(shape);
  }
  for (const auto& [name, value] : dims) {
    if (used.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dims: no input of the model has a dimension ", name));
    }
  }
  if (!open.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model leaves dimensions open: ", absl::StrJoin(open, ", "),
        "; give them with --dims=NAME=N or --input_shapes"));
  }
  if (shapes.empty()) return module;
  return WithInputShapes(module, shapes);
}

absl::StatusOr<IRModule> ReadModule(const CompileOptions& options) {
  BATON_ASSIGN_OR_RETURN(ModuleSource source,
                         OpenModule(options.model, std::cin));
  source.input_shapes = options.input_shapes;
  Diagnostics diagnostics;
  BATON_ASSIGN_OR_RETURN(ModulesRead read, ReadModules(source, diagnostics));
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  if (read.modules.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.model, " has no module"));
  }
  IRModule module = std::move(read.modules[0].module);
  if (!module.Find<Function>("main").defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.model, " has no function @main of Relay"));
  }
  BATON_ASSIGN_OR_RETURN(module, WithDims(module, options.dims));
  return InferTypes(module);
}

absl::StatusOr<IRModule> RunPasses(const IRModule& module,
                                   const std::string& passes,
                                   const CompileOptions& options) {
  if (passes.empty()) return module;
  BATON_ASSIGN_OR_RETURN(const PreparedRun prepared,
                         Prepare({.passes = passes, .config = options.config}));
  const PassContext context(prepared.context);
  BATON_ASSIGN_OR_RETURN(const Pass pipeline,
                         CompletePipeline(prepared, module));
  BATON_ASSIGN_OR_RETURN(const IRModule result,
                         context.Run([&] { return pipeline(module); }));
  return InferTypes(result);
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

// The values of the model for random inputs; those of state are zero.
absl::StatusOr<CompiledTest> MakeTest(const IRModule& module,
                                      const CompileModelOptions& model,
                                      const CompileOptions& options) {
  const Function main = module.Find<Function>("main");
  BATON_ASSIGN_OR_RETURN(
      std::vector<Value> values,
      RandomInputs(main, static_cast<uint32_t>(options.seed)));
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
  BATON_ASSIGN_OR_RETURN(const Value result,
                         EvaluateFunction(module, "main", values));
  std::vector<Tensor> outputs;
  if (result.is_tensor()) {
    outputs.push_back(result.tensor());
  } else {
    for (const Value& field : result.fields()) {
      if (!field.is_tensor()) {
        return absl::UnimplementedError("a result in a result");
      }
      outputs.push_back(field.tensor());
    }
  }
  return MakeCompiledTest(model, inputs, outputs);
}

}  // namespace

absl::Status Compile(const CompileOptions& options, std::ostream& out) {
  if (options.threads) {
    return absl::UnimplementedError(
        "--threads is not built yet: a library runs in the thread that calls "
        "it");
  }
  if (options.profile) {
    return absl::UnimplementedError(
        "--profile is not built yet: use baton-run --profile");
  }
  CompileModelOptions model;
  model.name = options.name.empty() ? BaseName(options.model) : options.name;
  if (tir::CppIdentifier(model.name) != model.name) {
    return absl::InvalidArgumentError(
        absl::StrCat("--name=", model.name,
                     " is no C++ identifier: give one, of which the files have "
                     "their names"));
  }
  model.cpp_class = options.cpp_class.empty() ? model.name : options.cpp_class;
  model.model = options.model.substr(options.model.rfind('/') + 1);
  model.machine = options.target == "aarch64" ? tir::ElfMachine::kAArch64
                                              : tir::ElfMachine::kX86_64;
  BATON_ASSIGN_OR_RETURN(model.isas, ParseIsas(options));
  BATON_ASSIGN_OR_RETURN(model.state, ParsePairs(options.state, "state", ':'));
  BATON_ASSIGN_OR_RETURN(const IRModule read, ReadModule(options));
  model.input_names = InputNames(read.Find<Function>("main"));
  model.output_names = OutputNames(read.Find<Function>("main"));
  BATON_ASSIGN_OR_RETURN(const IRModule passed,
                         RunPasses(read, options.passes, options));
  BATON_ASSIGN_OR_RETURN(const IRModule lowered,
                         RunPasses(passed, kLowering, options));
  BATON_ASSIGN_OR_RETURN(CompiledModel compiled, CompileModel(lowered, model));
  BATON_ASSIGN_OR_RETURN(std::string weights, ObjectText(compiled.weights));
  compiled.files.push_back({model.name + "_weights.o", std::move(weights)});
  if (options.test) {
    BATON_ASSIGN_OR_RETURN(CompiledTest test, MakeTest(passed, model, options));
    BATON_ASSIGN_OR_RETURN(std::string data, ObjectText(test.data));
    compiled.files.push_back({model.name + "_test.cc", std::move(test.source)});
    compiled.files.push_back({model.name + "_test_data.o", std::move(data)});
  }
  if (mkdir(options.output_dir.c_str(), 0777) != 0 && errno != EEXIST) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot create the folder ", options.output_dir));
  }
  for (const CompiledModel::File& file : compiled.files) {
    BATON_RETURN_IF_ERROR(WriteFileAtomically(
        absl::StrCat(options.output_dir, "/", file.name), file.text));
    out << file.name << "\n";
  }
  out << "steps " << compiled.num_steps << " arena " << compiled.arena_bytes
      << " weights " << compiled.weight_bytes << "\n";
  return absl::OkStatus();
}

}  // namespace baton
