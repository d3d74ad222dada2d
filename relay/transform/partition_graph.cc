#include "baton/relay/transform/partition_graph.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/origin.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/annotated_regions.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

constexpr absl::string_view kDefault = "default";

std::string MangledName(absl::string_view mod_name, absl::string_view name) {
  std::string result = absl::StrCat("tvmgen_", mod_name, "_", name);
  for (char& c : result) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return result;
}

bool IsAnnotated(const Function& function) {
  return HasCompilerAnnotations(IndexedGraph(function));
}

// A tuple that leaves a region leaves it field by field, so that the region's
// function returns no tuples inside of a tuple.
Function FlattenTupleOutputs(const Function& function) {
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  const Expr result =
      rewriter.RewriteAll<CallNode>([&](int i, const CallNode& call) -> Expr {
        if (!IsCompilerEnd(Expr(&call))) return {};
        const Expr arg = rewriter.Args(i)[0];
        const auto* tuple = arg.As<TupleNode>();
        if (tuple == nullptr) return {};
        std::vector<Expr> fields;
        for (const Expr& field : tuple->fields()) {
          fields.push_back(CompilerEnd(field, CompilerOf(Expr(&call))));
        }
        return WithChildren(tuple, fields);
      });
  return Function(result.As<FunctionNode>());
}

Function RemoveDefaultAnnotations(const Function& function) {
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  const Expr result =
      rewriter.RewriteAll<CallNode>([&](int i, const CallNode& call) -> Expr {
        const Expr expr(&call);
        if ((!IsCompilerBegin(expr) && !IsCompilerEnd(expr)) ||
            CompilerOf(expr) != kDefault) {
          return {};
        }
        return rewriter.Args(i)[0];
      });
  return Function(result.As<FunctionNode>());
}

// A constant, or a tuple of constants.
bool IsConstant(const Expr& expr) {
  if (expr.Is<ConstantNode>()) return true;
  const auto* tuple = expr.As<TupleNode>();
  return tuple != nullptr &&
         absl::c_all_of(tuple->fields(), [](const Expr& field) {
           return field.Is<ConstantNode>();
         });
}

// Takes the regions out of one function.
class Partitioner {
 public:
  Partitioner(const IndexedGraph& graph, const AnnotatedRegions& regions,
              absl::string_view function_name,
              const PartitionGraphOptions& options, IRModule& module)
      : graph_(graph),
        regions_(regions),
        function_name_(function_name),
        options_(options),
        module_(module),
        rewriter_(graph),
        made_(regions.regions().size()),
        inputs_(regions.regions().size()),
        begin_index_(graph.size()),
        state_(graph.size()) {
    for (const AnnotatedRegions::Region& region : regions.regions()) {
      for (size_t k = 0; k < region.begins.size(); ++k) {
        begin_index_[region.begins[k]] = k;
      }
    }
  }

  // Rewrites the function. Adds the functions of its regions to the module.
  absl::StatusOr<Function> Run() {
    BATON_RETURN_IF_ERROR(CheckEnds());
    EmitMissed();
    std::vector<int> stack = {graph_.root()};
    while (!stack.empty()) {
      const int i = stack.back();
      if (state_[i] == State::kDone) {
        stack.pop_back();
        continue;
      }
      if (state_[i] == State::kNew) {
        state_[i] = State::kEntered;
        BATON_RETURN_IF_ERROR(Push(graph_.children(i), stack));
        continue;
      }
      // The children are done. The first end of a region needs the others, as
      // they are results of one function.
      const int region = EndedRegion(i);
      if (region >= 0 && !made_[region].call.defined()) {
        if (state_[i] == State::kEntered) {
          state_[i] = State::kOutputs;
          std::vector<int> outputs;
          for (const int end : regions_.regions()[region].ends) {
            outputs.push_back(graph_.args(end)[0]);
          }
          BATON_RETURN_IF_ERROR(Push(outputs, stack));
          continue;
        }
        Make(region);
      }
      stack.pop_back();
      Finish(i, region);
      state_[i] = State::kDone;
    }
    return Function(rewriter_.Result().As<FunctionNode>());
  }

 private:
  enum class State : unsigned char { kNew, kEntered, kOutputs, kDone };

  struct Input {
    Var param;
    Expr value;
  };
  // The function of a region.
  struct Made {
    Expr call;
    // By node: the result that it is, or the call itself.
    FlatHashMap<int, Expr> outputs;
    std::vector<Input> inputs;
  };

  // Puts those that are not done on the stack, the first on top.
  absl::Status Push(absl::Span<const int> nodes, std::vector<int>& stack) {
    for (size_t k = nodes.size(); k-- > 0;) {
      const int i = nodes[k];
      if (state_[i] == State::kNew) {
        stack.push_back(i);
      } else if (state_[i] != State::kDone) {
        return Cycle(i);
      }
    }
    return absl::OkStatus();
  }

  // Node `i` is needed by what computes it.
  absl::Status Cycle(int i) const {
    const int region = regions_.region(i);
    Diagnostics diagnostics;
    diagnostics.Error(
        graph_.node(i)->span(),
        region < 0 ? std::string("the program needs a value to compute it")
                   : absl::StrCat("a region of compiler ",
                                  regions_.regions()[region].compiler,
                                  " needs what is computed from its results"));
    return diagnostics.ToStatus();
  }

  void EmitMissed() const {
    if (!WantsRemarks(RemarkKind::kMissed)) return;
    for (const AnnotatedRegions::Region& region : regions_.regions()) {
      if (!region.ends.empty()) continue;
      LogRemark({.kind = RemarkKind::kMissed,
                 .node = Expr(graph_.node(region.begins[0])),
                 .reason = "nothing leaves the region",
                 .args = {{"compiler", region.compiler}}});
    }
  }

  // Checks that nodes of a region are used inside of it, or through an end.
  absl::Status CheckEnds() const {
    Diagnostics diagnostics;
    for (int i = 0; i < graph_.size(); ++i) {
      for (const int child : graph_.children(i)) {
        const int region = regions_.region(child);
        if (region < 0 || region == regions_.region(i) ||
            regions_.regions()[region].ends.empty() ||
            IsCompilerEnd(Expr(graph_.node(child)))) {
          continue;
        }
        diagnostics.Error(
            graph_.node(child)->span(),
            absl::StrCat("this is used outside of its region of compiler ",
                         regions_.regions()[region].compiler,
                         " without annotation.compiler_end"));
      }
    }
    return diagnostics.ToStatus();
  }

  int EndedRegion(int i) const {
    return IsCompilerEnd(Expr(graph_.node(i))) ? regions_.region(i) : -1;
  }

  void Finish(int i, int ended_region) {
    if (ended_region >= 0) {
      const Made& made = made_[ended_region];
      rewriter_.Replace(i, made.outputs.at(graph_.args(i)[0]));
    } else if (IsCompilerBegin(Expr(graph_.node(i)))) {
      rewriter_.Replace(i, Enter(i));
    } else {
      rewriter_.Rebuild(i);
    }
  }

  // The replacement of begin `i` in its region.
  Expr Enter(int i) {
    const int number = regions_.region(i);
    const AnnotatedRegions::Region& region = regions_.regions()[number];
    const int arg = graph_.args(i)[0];
    // A region that nothing leaves is none.
    if (region.ends.empty()) return rewriter_.Get(arg);
    // Values are distinguished by the nodes that computed them.
    int source = arg;
    while (IsCompilerBegin(Expr(graph_.node(source))) ||
           IsCompilerEnd(Expr(graph_.node(source)))) {
      source = graph_.args(source)[0];
    }
    Expr& param = inputs_[number][source];
    if (!param.defined()) {
      const Type& type = graph_.node(i)->type();
      const Var var(new VarNode(
          absl::StrCat(region.compiler, "_", region.id, "_i", begin_index_[i]),
          type, type, graph_.node(i)->span()));
      made_[number].inputs.push_back({var, rewriter_.Get(arg)});
      param = var;
    }
    return param;
  }

  void Make(int number) {
    const AnnotatedRegions::Region& region = regions_.regions()[number];
    Made& made = made_[number];
    std::vector<int> outputs;  // each once
    FlatHashSet<int> seen;
    std::vector<Expr> results;
    std::vector<Type> types;
    for (const int end : region.ends) {
      const int output = graph_.args(end)[0];
      if (!seen.insert(output).second) continue;
      outputs.push_back(output);
      results.push_back(rewriter_.Get(output));
      types.push_back(graph_.node(output)->type());
    }
    Type type = types[0];
    Expr body = results[0];
    if (outputs.size() > 1) {
      type = TupleType(types);
      body = Tuple(results, type);
    }
    std::vector<Var> params;
    std::vector<Expr> args;
    FlatHashMap<const VarNode*, Expr> constants;
    for (const Input& input : made.inputs) {
      if (options_.bind_constants && IsConstant(input.value)) {
        constants[input.param.get()] = input.value;
      } else {
        params.push_back(input.param);
        args.push_back(input.value);
      }
    }
    if (!constants.empty()) body = Substitute(body, constants);
    const GlobalVar var(FreshName(region));
    const Function function(std::move(params), std::move(body), type, {},
                            DictAttrs({{attr::kCompiler, region.compiler},
                                       {attr::kPrimitive, 1},
                                       {attr::kInline, 1},
                                       {attr::kGlobalSymbol, var->name()}}));
    for (const int output : outputs) {
      LogOrigins(function, graph_.node(output));
    }
    module_.Set(var, function);
    made.call = Call(var, args, {}, {}, type);
    if (WantsRemarks(RemarkKind::kPassed)) {
      LogRemark(
          {.kind = RemarkKind::kPassed,
           .node = Expr(graph_.node(outputs[0])),
           .reason = "the region became a function",
           .args = {{"compiler", region.compiler}, {"function", var->name()}}});
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      made.outputs[outputs[k]] =
          outputs.size() == 1
              ? made.call
              : TupleGetItem(made.call, static_cast<int>(k), types[k]);
    }
  }

  std::string FreshName(const AnnotatedRegions::Region& region) const {
    const std::string name = MangledName(
        options_.mod_name,
        absl::StrCat(region.compiler, "_", function_name_, "_", region.id));
    std::string result = name;
    for (int k = 1; module_.Find(result).defined(); ++k) {
      result = absl::StrCat(name, "_", k);
    }
    return result;
  }

  const IndexedGraph& graph_;
  const AnnotatedRegions& regions_;
  const absl::string_view function_name_;
  const PartitionGraphOptions& options_;
  IRModule& module_;
  GraphRewriter rewriter_;
  std::vector<Made> made_;  // by region
  std::vector<FlatHashMap<int, Expr>> inputs_;
  std::vector<size_t> begin_index_;  // of begins, in their region
  std::vector<State> state_;
};

// Gives functions for external compilers the names that code generators use.
class Renamer final : public ExprMutator {
 public:
  explicit Renamer(const FlatHashMap<std::string, GlobalVar>& names)
      : names_(names) {}

 protected:
  Expr VisitGlobalVar(const GlobalVar& var) override {
    const auto it = names_.find(var->name());
    return it == names_.end() ? var : it->second;
  }

 private:
  const FlatHashMap<std::string, GlobalVar>& names_;
};

absl::StatusOr<IRModule> Rename(const IRModule& module,
                                const PartitionGraphOptions& options) {
  FlatHashMap<std::string, GlobalVar> names;
  FlatHashSet<std::string> taken;
  for (const auto& [var, function] : module.functions<Function>()) {
    if (function->attrs().Find(attr::kCompiler) == nullptr) continue;
    const std::string name = MangledName(options.mod_name, var->name());
    if (module.Find(name).defined() || !taken.insert(name).second) {
      return absl::AlreadyExistsError(absl::StrCat(
          "@", var->name(), " cannot become @", name, ", which is there"));
    }
    names.try_emplace(var->name(), GlobalVar(name));
  }
  if (names.empty()) return module;
  IRModule result;
  for (const TypeDefinition& type : module.types()) result.SetType(type);
  Renamer renamer(names);
  for (const IRModule::Definition& definition : module.functions()) {
    const auto* node = definition.function.As<FunctionNode>();
    if (node == nullptr) {
      result.Set(definition.var, definition.function);
      continue;
    }
    BATON_ASSIGN_OR_RETURN(Function function,
                           renamer.MutateFunction(Function(node)));
    const auto it = names.find(definition.var->name());
    if (it == names.end()) {
      result.Set(definition.var, function);
    } else {
      result.Set(it->second,
                 function.WithAttr(attr::kGlobalSymbol, it->second->name()));
    }
  }
  return result;
}

absl::StatusOr<IRModule> Partition(const IRModule& given,
                                   const PartitionGraphOptions& options) {
  BATON_ASSIGN_OR_RETURN(IRModule module, Rename(given, options));
  std::vector<GlobalVar> annotated;
  for (const auto& [var, function] : module.functions<Function>()) {
    if (IsAnnotated(function)) annotated.push_back(var);
  }
  if (annotated.empty()) {
    return module.SameAs(given) ? module : InferTypes(module);
  }
  for (const GlobalVar& var : annotated) {
    const Function function = module.Find<Function>(var->name());
    module.Set(var, RemoveDefaultAnnotations(FlattenTupleOutputs(function)));
  }
  BATON_ASSIGN_OR_RETURN(module, InferTypes(module));
  for (const GlobalVar& var : annotated) {
    const Function function = module.Find<Function>(var->name());
    const IndexedGraph graph(function);
    BATON_ASSIGN_OR_RETURN(const AnnotatedRegions regions,
                           AnnotatedRegions::Find(graph));
    Partitioner partitioner(graph, regions, var->name(), options, module);
    BATON_ASSIGN_OR_RETURN(Function partitioned, partitioner.Run());
    module.Set(var, std::move(partitioned));
  }
  return InferTypes(module);
}

}  // namespace

Pass PartitionGraph(PartitionGraphOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& /*context*/) {
        return Partition(module, options);
      },
      {.name = "PartitionGraph",
       .doc = "Makes functions of the regions for external compilers.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .waivers = {{"runs",
                    "Annotations must be around whole regions, which "
                    "passes that rewrite calls do not keep."}}},
      options);
}
BATON_REGISTER_PASS(PartitionGraph);
BATON_REGISTER_REMARKS("PartitionGraph",
                       {.passed = "a region became a function",
                        .missed = "why a region did not"});

}  // namespace baton::relay
