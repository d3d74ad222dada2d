#include "baton/relay/transform/lambda_lift.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/origin.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/analysis/opaque_function.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/virtual_device.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/device/device.h"
#include "baton/relay/op/device/on_device.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Attribute of a global function that takes captured values and returns a
// closure.
constexpr char kClosure[] = "Closure";

// True if the function stays unchanged with its body.
bool Stays(const FunctionNode& function) {
  return IsOpaque(function) || !function.type_params().empty();
}

// True if `function` contains a function literal.
bool HasLiterals(const Function& function) {
  return ContainsKind(function->body(), ExprKind::kFunction);
}

// The devices of the variables of a function, as PlanDevices has planned them.
class VarDevices {
 public:
  explicit VarDevices(const IndexedGraph& graph) {
    if (!graph.As<FunctionNode>(graph.root())->attrs().Find(kVirtualDevice)) {
      return;
    }
    // For node i: the device of the enclosing annotation. Users precede.
    std::vector<const AttrValue*> around(graph.size());
    for (int i = graph.root(); i >= 0; --i) {
      const AttrValue* inside = around[i];
      if (const auto* function = graph.As<FunctionNode>(i)) {
        inside = function->attrs().Find(kVirtualDevice);
        const absl::Span<const AttrValue> devices = ParamDevices(*function);
        for (size_t k = 0; k < devices.size(); ++k) {
          devices_[function->params()[k].get()] = &devices[k];
        }
      } else if (const auto* let = graph.As<LetNode>(i)) {
        devices_[let->var().get()] = DeviceOf(let->value(), around[i]);
      } else if (const auto* attrs = OnDeviceAttrsOf(graph.node(i))) {
        if (attrs->constrain_body) inside = &attrs->virtual_device;
      }
      for (const int child : graph.children(i)) {
        if (around[child] == nullptr) around[child] = inside;
      }
    }
  }

  // None if it is not known.
  AttrValue Of(const VarNode* var) const {
    const auto it = devices_.find(var);
    return it == devices_.end() || it->second == nullptr ? AttrValue()
                                                         : *it->second;
  }

 private:
  static const OnDeviceAttrs* OnDeviceAttrsOf(const ExprNode* node) {
    const CallNode* call = AsOnDevice(Expr(node));
    return call == nullptr ? nullptr : call->attrs_as<OnDeviceAttrs>();
  }

  // The device of the value of a let; `around` is the enclosing device.
  const AttrValue* DeviceOf(const Expr& value, const AttrValue* around) const {
    if (const auto* var = value.As<VarNode>()) {
      const auto it = devices_.find(var);
      return it == devices_.end() ? around : it->second;
    }
    if (const auto* function = value.As<FunctionNode>()) {
      return function->attrs().Find(kVirtualDevice);
    }
    const OnDeviceAttrs* on_device = OnDeviceAttrsOf(value.get());
    if (on_device != nullptr && on_device->constrain_result) {
      return &on_device->virtual_device;
    }
    const auto* call = value.As<CallNode>();
    const auto* copy =
        call == nullptr ? nullptr : call->attrs_as<DeviceCopyAttrs>();
    return copy == nullptr ? around : &copy->dst_virtual_device;
  }

  FlatHashMap<const VarNode*, const AttrValue*> devices_;
};

class Lifter {
 public:
  explicit Lifter(const IRModule& module) : result_(module) {}

  // Lifts what is in the function of that name.
  void Lift(const GlobalVar& var, const Function& function) {
    const IndexedGraph graph(function, [](const ExprNode* node) {
      return node->kind() != ExprKind::kFunction ||
             !Stays(*static_cast<const FunctionNode*>(node));
    });
    std::vector<const VarNode*> bound_to(graph.size());
    for (int i = 0; i < graph.size(); ++i) {
      if (const auto* let = graph.As<LetNode>(i)) {
        bound_to[graph.let_value(i)] = let->var().get();
      }
    }
    const VarDevices devices(graph);
    const bool is_closure = function->attrs().IsTrue(kClosure);
    GraphRewriter rewriter(graph);
    for (int i = 0; i < graph.root(); ++i) {
      rewriter.Rebuild(i);
      const auto* literal = graph.As<FunctionNode>(i);
      if (literal == nullptr || Stays(*literal) ||
          (is_closure && literal == function->body().get())) {
        continue;
      }
      const Expr now = rewriter.Get(i);
      rewriter.Replace(i, Lifted(Function(now.As<FunctionNode>()),
                                 literal->type(), bound_to[i], devices));
    }
    rewriter.Rebuild(graph.root());
    const Expr lifted = rewriter.Result();
    if (lifted != function) {
      result_.Set(var, Function(lifted.As<FunctionNode>()));
    }
  }

  const IRModule& result() const { return result_; }

 private:
  // The replacement of the literal `function` of type `type`. `self` is the
  // variable to which a let binds it, or null.
  Expr Lifted(const Function& function, const Type& type, const VarNode* self,
              const VarDevices& devices) {
    std::vector<Expr> captured;
    std::vector<Var> params;
    std::vector<Expr> args;
    AttrList captured_devices;
    FlatHashMap<const VarNode*, Expr> values;
    bool recursive = false;
    for (const Var& var : FreeVars(function)) {
      if (var.get() == self) {
        recursive = true;
        continue;
      }
      captured.push_back(var);
      params.push_back(Var(var->name(), var->type().defined()
                                            ? var->type()
                                            : var->annotation()));
      LogOrigins(params.back(), var.get());
      args.push_back(params.back());
      captured_devices.push_back(devices.Of(var.get()));
      values[var.get()] = params.back();
    }
    Expr lifted = Substitute(function, values);
    if (!captured.empty()) {
      DictAttrs attrs = DictAttrs().With(kClosure, 1);
      // A closure is where what it returns is.
      if (const AttrValue* device = function->attrs().Find(kVirtualDevice)) {
        attrs = WithParamDevices(attrs.With(kVirtualDevice, *device),
                                 std::move(captured_devices));
      }
      lifted = Function(std::move(params), std::move(lifted), type, {},
                        std::move(attrs));
      LogOrigins(lifted, function.get());
    }
    const std::string name = NameOf(lifted);
    const GlobalVar global(name);
    if (!result_.Find(name).defined()) {
      if (recursive) {
        const Expr itself = args.empty() ? Expr(global) : Call(global, args);
        lifted = Substitute(lifted, {{self, itself}});
      }
      result_.Set(name, Function(lifted.As<FunctionNode>()));
    }
    return captured.empty() ? Expr(global) : Call(global, captured);
  }

  // A name for a function that is lifted: that of an equal one, or a new one.
  // The variable by which it calls itself is free in it.
  std::string NameOf(const Expr& lifted) {
    const std::string base =
        absl::StrCat("lifted_name", StructuralHash(lifted));
    std::string name = base;
    for (int i = 1;; ++i) {
      const auto it = lifted_.find(name);
      if (it == lifted_.end()
              ? !result_.Find(name).defined()
              : StructuralEqual(it->second, lifted, {.map_free_vars = true})) {
        break;
      }
      name = absl::StrCat(base, "_", i);
    }
    lifted_.try_emplace(name, lifted);
    return name;
  }

  IRModule result_;
  FlatHashMap<std::string, Expr> lifted_;  // as NameOf() saw them
};

}  // namespace

absl::StatusOr<IRModule> LambdaLiftInModule(const IRModule& given) {
  // Captured variables become parameters, which need types.
  BATON_ASSIGN_OR_RETURN(const IRModule module, InferTypes(given));
  Lifter lifter(module);
  for (const auto& [var, function] : module.functions<Function>()) {
    if (!Stays(*function) && HasLiterals(function)) lifter.Lift(var, function);
  }
  return lifter.result();
}

Pass LambdaLift() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return LambdaLiftInModule(module);
      },
      {.name = "LambdaLift",
       .opt_level = 1,
       .doc = "Makes global functions of function literals.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true});
}
BATON_REGISTER_PASS(LambdaLift);

}  // namespace baton::relay
