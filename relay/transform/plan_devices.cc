#include "baton/relay/transform/plan_devices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/target.h"
#include "baton/ir/attrs.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_compare.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/virtual_device.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/device/device.h"
#include "baton/relay/op/device/device_placement.h"
#include "baton/relay/op/device/on_device.h"
#include "baton/relay/transform/device_domains.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

BATON_REGISTER_CONFIG(kFallbackDeviceType, int64_t,
                      "relay.fallback_device_type", 0,
                      "The type of device (1 is a CPU, 2 CUDA) of what "
                      "PlanDevices may put anywhere; 0 leaves that to the "
                      "targets.");

const Op& DeviceCopyOp() { return BATON_OP("device_copy"); }

// The attributes of `node` if it is a call of `op` with one argument; else
// null.
template <typename OpAttrs>
const OpAttrs* AttrsOfCall(const ExprNode* node, const Op& op) {
  if (node->kind() != CallNode::kKind) return nullptr;
  const auto* call = static_cast<const CallNode*>(node);
  return call->op() == op && call->num_args() == 1 ? call->attrs_as<OpAttrs>()
                                                   : nullptr;
}

const DeviceCopyAttrs* CopyAttrsOf(const ExprNode* node) {
  return AttrsOfCall<DeviceCopyAttrs>(node, DeviceCopyOp());
}

const OnDeviceAttrs* OnDeviceAttrsOf(const ExprNode* node) {
  return AttrsOfCall<OnDeviceAttrs>(node, OnDeviceOp());
}

bool IsPrimitive(const ExprNode* node) {
  return node->kind() == FunctionNode::kKind &&
         static_cast<const FunctionNode*>(node)->IsPrimitive();
}

// Calls `fn` with each device that `node` names.
void ForEachDevice(const ExprNode* node,
                   absl::FunctionRef<void(const AttrValue&)> fn) {
  if (node->kind() == FunctionNode::kKind) {
    const auto& function = *static_cast<const FunctionNode*>(node);
    if (!function.attrs().defined()) return;
    for (const AttrValue& device : ParamDevices(function)) fn(device);
    const AttrValue* device = function.attrs().Find(kVirtualDevice);
    if (device != nullptr) fn(*device);
  } else if (const OnDeviceAttrs* on_device = OnDeviceAttrsOf(node)) {
    fn(on_device->virtual_device);
  } else if (const DeviceCopyAttrs* copy = CopyAttrsOf(node)) {
    fn(copy->src_virtual_device);
    fn(copy->dst_virtual_device);
  }
}

// True if the attributes of the functions put each parameter and each result on
// the same fully known device, and nothing requires another one. Then all
// values are on that device, and the functions are planned.
bool AreOnOneDevice(
    const std::vector<std::pair<std::string, Function>>& functions) {
  const AttrValue* one = nullptr;
  bool holds = true;
  const auto is_one = [&](const AttrValue& device) {
    if (one == nullptr) one = &device;
    return device == *one;
  };
  for (const auto& [name, function] : functions) {
    if (!holds) return false;
    PostOrderVisit(
        function,
        [&](const ExprNode* node) { return holds && !IsPrimitive(node); },
        [&](const ExprNode* node) {
          if (!holds) return;
          if (node->kind() == CallNode::kKind) {
            const auto* call = static_cast<const CallNode*>(node);
            holds = call->op() != OnDeviceOp() &&
                    call->op() != DeviceCopyOp() &&
                    (call->op_node() == nullptr ||
                     DevicePlacements().Get(call->op()) == nullptr);
          } else if (node->kind() == FunctionNode::kKind) {
            const auto& literal = *static_cast<const FunctionNode*>(node);
            if (literal.IsPrimitive()) {  // may say nothing
              ForEachDevice(node, [&](const AttrValue& device) {
                holds = holds && is_one(device);
              });
              return;
            }
            const AttrValue* result = literal.attrs().Find(kVirtualDevice);
            const absl::Span<const AttrValue> params = ParamDevices(literal);
            holds = result != nullptr && is_one(*result) &&
                    params.size() == literal.params().size() &&
                    std::all_of(params.begin(), params.end(), is_one);
          }
        });
  }
  if (!holds || one == nullptr) return false;
  const absl::StatusOr<VirtualDevice> device = VirtualDevice::FromValue(*one);
  return device.ok() && device->device_type != VirtualDevice::kAnyType &&
         device->id != VirtualDevice::kAnyId && !device->target.is_none() &&
         device->ToValue() == *one;
}

// True if there is an on_device or a device_copy.
bool IsAnnotated(const Function& function) {
  bool found = false;
  PostOrderVisit(function, [&](const ExprNode* node) {
    found = found || OnDeviceAttrsOf(node) != nullptr ||
            CopyAttrsOf(node) != nullptr;
  });
  return found;
}

// The error about the devices of `node`.
absl::Status ErrorAbout(const ExprNode* node, absl::string_view what,
                        absl::string_view error) {
  return ErrorAt(node->span(), absl::StrCat(what, ": ", error));
}

// ---------------------------------------------------------------------------
// What on_device means where it would leave too much open: an on_device around
// the value of a let, or around the result of a function, fixes the result too.
// A field of a tuple is copied, not the tuple.

class OnDeviceFixer final : public ExprMutator {
 protected:
  Expr VisitTupleGetItem(const TupleGetItemNode* /*original*/,
                         TupleGetItem item) override {
    const CallNode* on_device = AsOnDevice(item->tuple());
    return on_device != nullptr && IsNormalOnDevice(on_device)
               ? OnDeviceLike(on_device, item)
               : item;
  }
  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    const Expr value = Fixed(let->value());
    return WithChildren(let.get(),
                        std::vector<Expr>{let->var(), value, let->body()});
  }
  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    std::vector<Expr> children(function->params().begin(),
                               function->params().end());
    children.push_back(Fixed(function->body()));
    return WithChildren(function.get(), children);
  }

 private:
  static Expr Fixed(const Expr& expr) {
    const CallNode* on_device = AsOnDevice(expr);
    if (on_device == nullptr || !IsNormalOnDevice(on_device)) return expr;
    OnDeviceAttrs attrs = *on_device->attrs_as<OnDeviceAttrs>();
    attrs.constrain_result = true;
    return OnDevice(on_device->arg(0), Attrs::Make(std::move(attrs)));
  }
};

// ---------------------------------------------------------------------------
// What several calls use on different devices is copied.

// The devices of calls and of their arguments as far as on_device says so,
// going from users to what they use, each node once.
class ConflictFinder {
 public:
  explicit ConflictFinder(DeviceDomains& domains) : domains_(domains) {}

  absl::Status Visit(const Function& function) {
    std::vector<const ExprNode*> stack = {function.get()};
    while (!stack.empty()) {
      const ExprNode* node = stack.back();
      stack.pop_back();
      if (!seen_.Insert(node)) continue;
      const size_t first = stack.size();
      if (node->kind() == CallNode::kKind) {
        const auto* call = static_cast<const CallNode*>(node);
        BATON_RETURN_IF_ERROR(VisitCall(*call));
        for (const Expr& arg : call->args()) stack.push_back(arg.get());
      } else {
        ForEachChild(node,
                     [&](const Expr& child) { stack.push_back(child.get()); });
      }
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first),
                   stack.end());
    }
    return absl::OkStatus();
  }

  bool any() const { return conflicted_.size() > 0; }
  // True if several calls use `node` on devices that contradict each other.
  bool IsConflicted(const ExprNode* node) const {
    return conflicted_.Contains(node) && OnDeviceAttrsOf(node) == nullptr;
  }
  int DeviceOf(const ExprNode* node) const {
    const int* device = devices_.Find(node);
    return device == nullptr ? DeviceDomains::kAny : *device;
  }

 private:
  absl::Status VisitCall(const CallNode& call) {
    int of_call = devices_[&call];
    int of_args = of_call;
    if (const OnDeviceAttrs* on_device = OnDeviceAttrsOf(&call)) {
      BATON_ASSIGN_OR_RETURN(const int device,
                             domains_.DeviceOf(on_device->virtual_device));
      if (on_device->constrain_body) of_args = device;
      if (on_device->constrain_result) of_call = device;
      Update(&call, of_call);
    } else if (const DeviceCopyAttrs* copy = CopyAttrsOf(&call)) {
      BATON_ASSIGN_OR_RETURN(of_args,
                             domains_.DeviceOf(copy->src_virtual_device));
      BATON_ASSIGN_OR_RETURN(of_call,
                             domains_.DeviceOf(copy->dst_virtual_device));
      if (!Update(&call, of_call)) {
        return ErrorAbout(
            &call, "device_copy",
            absl::StrCat("its result is wanted on ",
                         domains_.device(devices_[&call]).ToString()));
      }
    }
    for (const Expr& arg : call.args()) {
      if (!Update(arg.get(), of_args)) conflicted_.Insert(arg.get());
    }
    return absl::OkStatus();
  }

  bool Update(const ExprNode* node, int device) {
    int& known = devices_[node];
    const std::optional<int> joined = domains_.Join(known, device);
    if (joined.has_value()) known = *joined;
    return joined.has_value();
  }

  DeviceDomains& domains_;
  NodeSet seen_;
  NodeMap<int> devices_;
  NodeSet conflicted_;
};

// Attributes of the calls that the pass adds, one object for each meaning.
class DeviceCalls {
 public:
  explicit DeviceCalls(const DeviceDomains& domains) : domains_(domains) {}

  // The device as attributes have it.
  const AttrValue& ValueOf(int device) {
    const auto [it, inserted] = values_.try_emplace(device);
    if (inserted) it->second = domains_.device(device).ToValue();
    return it->second;
  }
  // `expr`, which is on `device`, where it cannot be seen otherwise. `old` if
  // that says so already; it may be null.
  Expr Fixed(const Expr& expr, int device, const CallNode* old) {
    const auto [it, inserted] = fixed_.try_emplace(device);
    if (inserted) {
      it->second = Attrs::Make(OnDeviceAttrs{.virtual_device = ValueOf(device),
                                             .constrain_result = true,
                                             .constrain_body = true});
    }
    if (old != nullptr && old->op() == OnDeviceOp() && old->arg(0) == expr &&
        AttrsEqual(old->attrs(), it->second)) {
      return Expr(old);
    }
    return OnDevice(expr, it->second);
  }
  // `expr` as a copy on another device.
  Expr Copy(const Expr& expr, int from, int to, const CallNode* old) {
    const auto [it, inserted] = copies_.try_emplace({from, to});
    if (inserted) {
      it->second =
          Attrs::Make(DeviceCopyAttrs{.src_virtual_device = ValueOf(from),
                                      .dst_virtual_device = ValueOf(to)});
    }
    if (old != nullptr && old->op() == DeviceCopyOp() && old->arg(0) == expr &&
        AttrsEqual(old->attrs(), it->second)) {
      return Expr(old);
    }
    return Call(DeviceCopyOp(), {expr}, it->second, {}, expr->type(),
                expr->span());
  }

 private:
  const DeviceDomains& domains_;
  FlatHashMap<int, AttrValue> values_;
  FlatHashMap<int, Attrs> fixed_;
  FlatHashMap<std::pair<int, int>, Attrs> copies_;
};

class ConflictCopier final : public ExprMutator {
 public:
  ConflictCopier(const ConflictFinder& finder, DeviceCalls& calls)
      : finder_(finder), calls_(calls) {}

 protected:
  Expr VisitCall(const CallNode* original, Call call) override {
    const int to = finder_.DeviceOf(original);
    if (to == DeviceDomains::kAny) return call;
    std::vector<Expr> children = {call->op()};
    for (const Expr& arg : call->args()) {
      const int from = finder_.DeviceOf(arg.get());
      children.push_back(finder_.IsConflicted(arg.get()) && from != to
                             ? calls_.Copy(arg, from, to, nullptr)
                             : arg);
    }
    return WithChildren(call.get(), children);
  }

 private:
  const ConflictFinder& finder_;
  DeviceCalls& calls_;
};

// ---------------------------------------------------------------------------
// The devices of all expressions, and the functions that say them.

class Planner {
 public:
  // `functions` are those of the module that are planned.
  Planner(const IRModule& module, DeviceDomains& domains, DeviceCalls& calls,
          const std::vector<std::pair<std::string, Function>>& functions)
      : module_(module), domains_(domains), calls_(calls) {
    functions_.reserve(functions.size());
    for (const auto& [name, function] : functions) {
      functions_.emplace_back(function);
      global_domains_[name] = domains_.Free(function->type());
    }
  }

  absl::Status Plan(const std::vector<std::pair<std::string, Function>>& list) {
    for (size_t f = 0; f < functions_.size(); ++f) {
      BATON_RETURN_IF_ERROR(
          Equate(functions_[f], global_domains_[list[f].first]));
    }
    for (Planned& function : functions_) UniteFreeOnDevices(function);
    for (Planned& function : functions_) SetDefaults(function);
    return absl::OkStatus();
  }

  Function Rewritten(size_t f) { return Rewrite(functions_[f]); }

 private:
  static constexpr int kNone = -1;

  struct Planned {
    explicit Planned(const Function& function)
        : graph(function,
                [](const ExprNode* node) { return !IsPrimitive(node); }),
          domains(graph.size(), kNone),
          callees(graph.size(), kNone) {}

    IndexedGraph graph;
    // The domain of node i; none for operators and constructors.
    std::vector<int> domains;
    // The domain of the callee of call i, if that is an operator or a
    // constructor.
    std::vector<int> callees;
  };

  // --- Equations.

  int DomainOf(Planned& planned, int i) {
    int& domain = planned.domains[i];
    if (domain != kNone) return domain;
    const ExprNode* node = planned.graph.node(i);
    if (node->kind() == GlobalVarNode::kKind) {
      const std::string& name = static_cast<const GlobalVarNode*>(node)->name();
      const auto [it, inserted] = global_domains_.try_emplace(name);
      if (inserted) {
        const BaseFunc function = module_.Find(name);
        it->second =
            domains_.Free(function.defined() ? function->type() : Type());
      }
      return domain = it->second;
    }
    return domain = domains_.Free(node->type());
  }

  absl::Status Equate(Planned& planned, int global) {
    const int root = planned.graph.root();
    BATON_RETURN_IF_ERROR(Same(planned, root, DomainOf(planned, root), global));
    for (int i = 0; i < planned.graph.size(); ++i) {
      BATON_RETURN_IF_ERROR(EquateNode(planned, i));
    }
    return absl::OkStatus();
  }

  // `a` and `b` are the same, because of node `i`.
  absl::Status Same(Planned& planned, int i, int a, int b) {
    return domains_.Unify(a, b) ? absl::OkStatus() : Contradiction(planned, i);
  }
  // As Same, but puts all parts of `b` on the device of `a`.
  absl::Status Within(Planned& planned, int i, int a, int b) {
    return domains_.UnifyAll(a, b) ? absl::OkStatus()
                                   : Contradiction(planned, i);
  }
  absl::Status Contradiction(Planned& planned, int i) {
    const ExprNode* node = planned.graph.node(i);
    return ErrorAbout(node,
                      absl::StrCat(baton::internal::DescribeNode(node),
                                   " wants two devices to be one"),
                      domains_.error());
  }

  absl::Status EquateNode(Planned& planned, int i) {
    const IndexedGraph& graph = planned.graph;
    const ExprNode* node = graph.node(i);
    const absl::Span<const int> children = graph.children(i);
    const auto domain_of = [&](int k) { return DomainOf(planned, k); };
    switch (ExprKindOf(node)) {
      case ExprKind::kOp:
      case ExprKind::kConstructor:
        return absl::OkStatus();
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
        domain_of(i);
        return absl::OkStatus();
      case ExprKind::kFunction:
        return EquateFunction(planned, i);
      case ExprKind::kCall:
        return EquateCall(planned, i);
      case ExprKind::kTuple:
      case ExprKind::kRefCreate:
      case ExprKind::kRefWrite:
        for (const int child : children) {
          BATON_RETURN_IF_ERROR(
              Within(planned, i, domain_of(i), domain_of(child)));
        }
        return absl::OkStatus();
      case ExprKind::kTupleGetItem:
      case ExprKind::kRefRead:
        return Within(planned, i, domain_of(children[0]), domain_of(i));
      case ExprKind::kLet:
        BATON_RETURN_IF_ERROR(Same(planned, i, domain_of(children[0]),
                                   domain_of(graph.let_value(i))));
        return Same(planned, i, domain_of(i), domain_of(graph.let_body(i)));
      case ExprKind::kIf:
        BATON_RETURN_IF_ERROR(
            Within(planned, i, domain_of(children[0]), domain_of(i)));
        BATON_RETURN_IF_ERROR(
            Same(planned, i, domain_of(i), domain_of(children[1])));
        return Same(planned, i, domain_of(i), domain_of(children[2]));
      case ExprKind::kMatch: {
        const auto* match = static_cast<const MatchNode*>(node);
        const int data = domain_of(children[0]);
        BATON_RETURN_IF_ERROR(Within(planned, i, data, domain_of(i)));
        int next = 1;
        for (const Clause& clause : match->clauses()) {
          int num_vars = 0;
          ForEachBinder(clause.lhs, [&](const Var& /*var*/) { ++num_vars; });
          for (; num_vars > 0; --num_vars) {
            BATON_RETURN_IF_ERROR(
                Within(planned, i, data, domain_of(children[next++])));
          }
          BATON_RETURN_IF_ERROR(
              Same(planned, i, domain_of(i), domain_of(children[next++])));
        }
        return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }

  absl::Status EquateFunction(Planned& planned, int i) {
    const IndexedGraph& graph = planned.graph;
    const auto* function = graph.As<FunctionNode>(i);
    const int domain = DomainOf(planned, i);
    const int num_params = static_cast<int>(function->params().size());
    if (!domains_.IsFunction(domain) ||
        domains_.num_params(domain) != num_params) {
      return ErrorAbout(function, "PlanDevices", "the function has no type");
    }
    const AttrValue* device = function->attrs().Find(kVirtualDevice);
    if (device != nullptr) {
      BATON_RETURN_IF_ERROR(
          PutOn(planned, i, domains_.result(domain), *device));
    }
    const absl::Span<const AttrValue> param_devices = ParamDevices(*function);
    for (size_t k = 0; k < param_devices.size(); ++k) {
      BATON_RETURN_IF_ERROR(PutOn(planned, i,
                                  domains_.param(domain, static_cast<int>(k)),
                                  param_devices[k]));
    }
    if (function->IsPrimitive()) return absl::OkStatus();
    for (int k = 0; k < num_params; ++k) {
      BATON_RETURN_IF_ERROR(Same(planned, i,
                                 DomainOf(planned, graph.children(i)[k]),
                                 domains_.param(domain, k)));
    }
    return Same(planned, i, DomainOf(planned, graph.children(i)[num_params]),
                domains_.result(domain));
  }

  // Puts the value of `domain`, or its final result, on the device `value`.
  absl::Status PutOn(Planned& planned, int i, int domain,
                     const AttrValue& value) {
    BATON_ASSIGN_OR_RETURN(const int device, domains_.DeviceOf(value));
    if (device == DeviceDomains::kAny) return absl::OkStatus();
    while (domains_.IsFunction(domain)) domain = domains_.result(domain);
    return Same(planned, i, domain, domains_.Make(Type(), device));
  }

  absl::Status EquateCall(Planned& planned, int i) {
    const IndexedGraph& graph = planned.graph;
    const auto* call = graph.As<CallNode>(i);
    const absl::Span<const int> args = graph.args(i);
    const int callee = graph.callee(i);
    const int result = DomainOf(planned, i);
    absl::InlinedVector<int, 8> parts;
    for (const int arg : args) parts.push_back(DomainOf(planned, arg));
    parts.push_back(result);
    if (OnDeviceAttrsOf(call) != nullptr || CopyAttrsOf(call) != nullptr) {
      return EquateAnnotation(planned, i);
    }
    const ExprNode* op = graph.node(callee);
    if (op->kind() != OpNode::kKind && op->kind() != ConstructorNode::kKind) {
      return Same(planned, i, DomainOf(planned, callee),
                  domains_.OfFunction(parts));
    }
    planned.callees[i] = domains_.OfFunction(parts);
    const DevicePlacement* placement = DevicePlacements().Get(call->op());
    const bool with_arguments =
        placement == nullptr ||
        placement->result == DevicePlacement::Result::kWithArguments;
    // The functions that an operator returns are on one device, as its
    // arguments are.
    const int shared = with_arguments && !domains_.IsFunction(result)
                           ? result
                           : domains_.Free(Type());
    if (with_arguments && shared != result) {
      BATON_RETURN_IF_ERROR(Within(planned, i, shared, result));
    }
    if (placement == nullptr) {
      for (const int arg : args) {
        BATON_RETURN_IF_ERROR(
            Within(planned, i, shared, DomainOf(planned, arg)));
      }
      return absl::OkStatus();
    }
    const int host = domains_.Make(Type(), domains_.host());
    for (size_t k = 0; k < args.size(); ++k) {
      const bool on_host =
          std::find(placement->host_args.begin(), placement->host_args.end(),
                    static_cast<int>(k)) != placement->host_args.end();
      BATON_RETURN_IF_ERROR(
          Within(planned, i, on_host ? host : shared, parts[k]));
    }
    if (placement->result == DevicePlacement::Result::kHost) {
      return Same(planned, i, result, host);
    }
    if (placement->result == DevicePlacement::Result::kAttribute) {
      const auto* attrs = call->attrs_as<AllocStorageAttrs>();
      if (attrs != nullptr) {
        return PutOn(planned, i, result, attrs->virtual_device);
      }
    }
    return absl::OkStatus();
  }

  // An on_device or device_copy.
  absl::Status EquateAnnotation(Planned& planned, int i) {
    const ExprNode* node = planned.graph.node(i);
    const int body = DomainOf(planned, planned.graph.args(i)[0]);
    const int result = DomainOf(planned, i);
    planned.callees[i] = domains_.OfFunction({body, result});
    if (const OnDeviceAttrs* on_device = OnDeviceAttrsOf(node)) {
      if (on_device->constrain_body) {
        BATON_RETURN_IF_ERROR(
            PutOn(planned, i, body, on_device->virtual_device));
      }
      return on_device->constrain_result
                 ? PutOn(planned, i, result, on_device->virtual_device)
                 : absl::OkStatus();
    }
    const DeviceCopyAttrs& copy = *CopyAttrsOf(node);
    BATON_RETURN_IF_ERROR(PutOn(planned, i, body, copy.src_virtual_device));
    return PutOn(planned, i, result, copy.dst_virtual_device);
  }

  // --- Defaults.

  // An on_device without a device allows a copy where one is needed: there is
  // none where the two can be on one device.
  void UniteFreeOnDevices(Planned& planned) {
    for (int i = 0; i < planned.graph.size(); ++i) {
      const OnDeviceAttrs* attrs = OnDeviceAttrsOf(planned.graph.node(i));
      if (attrs == nullptr || attrs->constrain_body ||
          attrs->constrain_result) {
        continue;
      }
      domains_.TryUnify(DomainOf(planned, i),
                        DomainOf(planned, planned.graph.args(i)[0]));
    }
  }

  // Goes from users to what they use, each node once.
  void SetDefaults(Planned& planned) {
    const IndexedGraph& graph = planned.graph;
    std::vector<bool> seen(graph.size());
    std::vector<int> stack = {graph.root()};
    while (!stack.empty()) {
      const int i = stack.back();
      stack.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      const absl::Span<const int> children = graph.children(i);
      switch (ExprKindOf(graph.node(i))) {
        case ExprKind::kFunction:
          if (children.empty()) continue;  // primitive
          domains_.SetDefaultResultFirst(planned.domains[i],
                                         domains_.fallback());
          stack.push_back(children.back());
          continue;
        case ExprKind::kCall: {
          const int callee = planned.callees[i] != kNone
                                 ? planned.callees[i]
                                 : planned.domains[graph.callee(i)];
          if (callee != kNone) {
            domains_.SetDefaultResultFirst(callee, domains_.fallback());
          }
          break;
        }
        case ExprKind::kLet:
          domains_.SetDefault(planned.domains[children[0]],
                              domains_.ResultDevice(planned.domains[i]));
          stack.push_back(graph.let_body(i));
          stack.push_back(graph.let_value(i));
          continue;
        default:
          break;
      }
      stack.insert(stack.end(), children.rbegin(), children.rend());
    }
  }

  // --- The result.

  Function Rewrite(Planned& planned) {
    const IndexedGraph& graph = planned.graph;
    results_.assign(graph.size(), Expr());
    devices_.assign(graph.size(), DeviceDomains::kAny);
    std::vector<Expr> children;
    for (int i = 0; i < graph.size(); ++i) {
      const ExprNode* node = graph.node(i);
      results_[i] = Expr(node);
      if (planned.domains[i] == kNone) continue;  // an operator
      devices_[i] = domains_.ResultDevice(planned.domains[i]);
      if (graph.children(i).empty()) continue;
      if (OnDeviceAttrsOf(node) != nullptr) {
        // Has said what it had to say.
        devices_[i] = devices_[graph.args(i)[0]];
        results_[i] = results_[graph.args(i)[0]];
        continue;
      }
      if (CopyAttrsOf(node) != nullptr) {
        results_[i] = ChildOf(planned, devices_[i], devices_[i],
                              graph.args(i)[0], graph.As<CallNode>(i));
        continue;
      }
      children.clear();
      AppendChildren(planned, i, &children);
      Expr result = WithChildren(node, children);
      if (node->kind() == FunctionNode::kKind) {
        result = WithDevices(planned, i, Function(result.As<FunctionNode>()));
      }
      if (result.get() != node) LogOrigins(result, node);
      results_[i] = std::move(result);
    }
    return Function(results_.back().As<FunctionNode>());
  }

  void AppendChildren(Planned& planned, int i, std::vector<Expr>* children) {
    const IndexedGraph& graph = planned.graph;
    const absl::Span<const int> old = graph.children(i);
    const int device = devices_[i];
    const auto append = [&](int lexical, int wanted, int child) {
      children->push_back(ChildOf(planned, lexical, wanted, child, nullptr));
    };
    switch (ExprKindOf(graph.node(i))) {
      case ExprKind::kFunction:
        for (const int param : old.first(old.size() - 1)) {
          children->push_back(results_[param]);
        }
        append(device, device, old.back());
        return;
      case ExprKind::kLet:
        children->push_back(results_[old[0]]);
        // The annotation goes with the value, wherever that is moved.
        append(DeviceDomains::kAny, devices_[old[0]], old[1]);
        append(device, device, old[2]);
        return;
      case ExprKind::kCall: {
        append(device, device, old[0]);
        const int callee = planned.callees[i] != kNone
                               ? planned.callees[i]
                               : planned.domains[old[0]];
        for (size_t k = 1; k < old.size(); ++k) {
          const int param = domains_.param(callee, static_cast<int>(k) - 1);
          append(device, domains_.ResultDevice(param), old[k]);
        }
        return;
      }
      default:
        for (const int child : old) append(device, device, child);
    }
  }

  // The replacement of `child` on the device `wanted`, where a reader without
  // annotation would assume the device `lexical`. `old_copy` is an existing
  // copy that may be reused.
  Expr ChildOf(Planned& planned, int lexical, int wanted, int child,
               const CallNode* old_copy) {
    const ExprNode* old = planned.graph.node(child);
    Expr result = results_[child];
    if (planned.domains[child] == kNone) return result;
    const int device = devices_[child];
    const CallNode* old_call = old->kind() == CallNode::kKind
                                   ? static_cast<const CallNode*>(old)
                                   : nullptr;
    const ExprNode* const before = result.get();
    if (device != wanted) {
      result = calls_.Fixed(result, device, old_call);
      result = calls_.Copy(result, device, wanted, old_copy);
    }
    if (wanted != lexical) result = calls_.Fixed(result, wanted, old_call);
    if (result.get() != before) LogOrigins(result, old);
    return result;
  }

  Function WithDevices(Planned& planned, int i, Function function) {
    const int domain = planned.domains[i];
    const auto device_of = [&](int k) -> const AttrValue& {
      return calls_.ValueOf(domains_.ResultDevice(domains_.param(domain, k)));
    };
    const int num_params = domains_.num_params(domain);
    const absl::Span<const AttrValue> said = ParamDevices(*function);
    bool as_said = static_cast<int>(said.size()) == num_params;
    for (int k = 0; as_said && k < num_params; ++k) {
      as_said = said[k] == device_of(k);
    }
    if (!as_said) {
      AttrList devices;
      for (int k = 0; k < num_params; ++k) devices.push_back(device_of(k));
      function = function.WithAttr(kParamVirtualDevices,
                                   AttrValue(std::move(devices)));
    }
    const AttrValue* old = function->attrs().Find(kVirtualDevice);
    const AttrValue& device = calls_.ValueOf(devices_[i]);
    if (old == nullptr || *old != device) {
      function = function.WithAttr(kVirtualDevice, device);
    }
    return function;
  }

  const IRModule& module_;
  DeviceDomains& domains_;
  DeviceCalls& calls_;
  std::vector<Planned> functions_;
  FlatHashMap<std::string, int> global_domains_;
  // For the function being rewritten: the replacement of node i, and its
  // device.
  std::vector<Expr> results_;
  std::vector<int> devices_;
};

// The targets that a program is compiled for.
absl::StatusOr<DeviceConfig> ConfigFor(
    const std::vector<std::pair<std::string, Function>>& functions,
    const PlanDevicesOptions& options, const Target& target,
    int64_t fallback_device_type) {
  std::vector<AttrValue> targets;
  for (const std::string& text : options.targets) {
    BATON_ASSIGN_OR_RETURN(targets.emplace_back(),
                           MakeTargetValue(text, AttrValue()));
  }
  if (targets.empty()) {
    if (!target.empty()) {
      BATON_ASSIGN_OR_RETURN(targets.emplace_back(),
                             MakeTargetValue(target.ToString(), AttrValue()));
    }
    absl::Status status;
    std::vector<AttrValue> seen;
    const auto add = [&](const AttrValue& value) {
      if (std::find(seen.begin(), seen.end(), value) != seen.end()) return;
      seen.push_back(value);
      const absl::StatusOr<VirtualDevice> device =
          VirtualDevice::FromValue(value);
      if (!device.ok()) {
        status.Update(device.status());
      } else if (!device->target.is_none() &&
                 std::find(targets.begin(), targets.end(), device->target) ==
                     targets.end()) {
        targets.push_back(device->target);
      }
    };
    for (const auto& [name, function] : functions) {
      PostOrderVisit(function,
                     [&](const ExprNode* node) { ForEachDevice(node, add); });
    }
    BATON_RETURN_IF_ERROR(status);
  }
  return DeviceConfig::Make(std::move(targets),
                            /*complete=*/!options.targets.empty(),
                            fallback_device_type);
}

// The functions that the pass looks into, by name.
std::vector<std::pair<std::string, Function>> FunctionsOf(
    const IRModule& module) {
  std::vector<std::pair<std::string, Function>> result;
  for (const auto& [var, function] : module.functions<Function>()) {
    if (RelayFunctions().SkipReason(function).empty()) {
      result.emplace_back(var->name(), function);
    }
  }
  return result;
}

absl::StatusOr<IRModule> PlanModule(const IRModule& untyped,
                                    const PlanDevicesOptions& options,
                                    const Target& target,
                                    int64_t fallback_device_type) {
  BATON_ASSIGN_OR_RETURN(IRModule module, InferTypes(untyped));
  std::vector<std::pair<std::string, Function>> functions = FunctionsOf(module);
  if (options.targets.empty() && target.empty() && fallback_device_type <= 0 &&
      AreOnOneDevice(functions)) {
    return module;
  }
  BATON_ASSIGN_OR_RETURN(
      const DeviceConfig config,
      ConfigFor(functions, options, target, fallback_device_type));
  DeviceDomains domains(config);
  DeviceCalls calls(domains);
  const bool any_annotated = std::any_of(
      functions.begin(), functions.end(),
      [](const auto& definition) { return IsAnnotated(definition.second); });
  if (any_annotated) {
    ConflictFinder conflicts(domains);
    for (auto& [name, function] : functions) {
      BATON_ASSIGN_OR_RETURN(function,
                             OnDeviceFixer().MutateFunction(function));
      BATON_RETURN_IF_ERROR(conflicts.Visit(function));
    }
    if (conflicts.any()) {
      ConflictCopier copier(conflicts, calls);
      for (auto& [name, function] : functions) {
        BATON_ASSIGN_OR_RETURN(function, copier.MutateFunction(function));
      }
    }
  }
  Planner planner(module, domains, calls, functions);
  BATON_RETURN_IF_ERROR(planner.Plan(functions));
  for (size_t f = 0; f < functions.size(); ++f) {
    const std::string& name = functions[f].first;
    const Function planned = planner.Rewritten(f);
    if (planned != module.Find(name)) module.Set(name, planned);
  }
  return module;
}

}  // namespace

Pass PlanDevices(PlanDevicesOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& context) {
        return PlanModule(module, options, context.target(),
                          context.Get(kFallbackDeviceType));
      },
      {.name = "PlanDevices",
       .required = {"InferType"},
       .doc = "Decides on which device each expression is.",
       // A copy stands in the argument that needs it.
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .waivers = {{"runs",
                    "A value that must be on two devices is an error."}}},
      options);
}
BATON_REGISTER_PASS(PlanDevices);

}  // namespace baton::relay
