#include "baton/relay/transform/fuse_ops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/fusion_groups.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

constexpr int64_t kDefaultMaxGroupSize = 256;

BATON_REGISTER_CONFIG(
    kMaxDepth, int64_t, "relay.FuseOps.max_depth", kDefaultMaxGroupSize,
    "Most nodes in one function that FuseOps makes; a negative "
    "number is no limit.");

BATON_REGISTER_CONFIG(kLinkParams, bool, "relay.FuseOps.link_params", false,
                      "Whether constants go into the functions that FuseOps "
                      "makes, and not only scalars.");

constexpr char kReshapeOnly[] = "relay.reshape_only";

BATON_STATISTIC(kGroups, "FuseOps", "groups",
                "Functions made of several nodes.");
BATON_STATISTIC(kFused, "FuseOps", "fused", "Nodes in the fused functions.");

bool IsDynamic(const Type& type) {
  if (const auto* tensor = type.As<TensorTypeNode>()) {
    return !tensor->is_static();
  }
  const auto* tuple = type.As<TupleTypeNode>();
  return tuple != nullptr &&
         std::any_of(tuple->fields().begin(), tuple->fields().end(),
                     [](const Type& field) {
                       const auto* tensor = field.As<TensorTypeNode>();
                       return tensor != nullptr && !tensor->is_static();
                     });
}

FusionPattern PatternOf(const CallNode& call) {
  const OpNode* op = call.op_node();
  const FusionPattern* pattern =
      op == nullptr ? nullptr : FusionPatterns().Get(*op);
  if (pattern == nullptr ||
      (IsDynamic(call.type()) && MayHaveDataDependentShape(call.op()))) {
    return FusionPattern::kOpaque;
  }
  return *pattern;
}

// Returns whether code generators can write the constant into the code.
bool IsImmediate(const ConstantNode& constant) {
  const DType dtype = constant.value().dtype();
  return constant.is_scalar() &&
         (dtype == DType::Float(32) || dtype == DType::Float(64) ||
          dtype == DType::Int(32) || dtype == DType::Int(64) ||
          dtype == DType::Bool());
}

bool HasTensorFieldsOnly(const TupleTypeNode* type) {
  return type != nullptr &&
         std::all_of(type->fields().begin(), type->fields().end(),
                     [](const Type& f) { return f.Is<TensorTypeNode>(); });
}

// False for functions whose bodies are left as they are.
bool MayFuseInside(const ExprNode* node) {
  if (node->kind() != ExprKind::kFunction) return true;
  const auto* function = static_cast<const FunctionNode*>(node);
  return !function->IsPrimitive() &&
         function->attrs().Find(attr::kCompiler) == nullptr;
}

// `p0`, `p1`, ...
std::string ParamName(size_t i) {
  return i < 10 ? std::string({'p', static_cast<char>('0' + i)})
                : absl::StrCat("p", i);
}

struct FusionSettings {
  bool fuse;               // if false, each call gets a function of its own
  int64_t max_group_size;  // in nodes
  bool link_params;        // whether all constants go into the functions
  // New nodes get the types of those that they replace, so that inference need
  // not look at them; false if an instrument needs them without types, as in
  // the reference.
  bool with_types;
};

FusionSettings SettingsOf(const FuseOpsOptions& options,
                          const PassContext& context) {
  const int64_t level = options.fuse_opt_level == -1 ? context.opt_level()
                                                     : options.fuse_opt_level;
  const int64_t max_depth = context.Get(kMaxDepth);
  return {.fuse = level != 0,
          .max_group_size =
              max_depth < 0 ? std::numeric_limits<int64_t>::max() : max_depth,
          .link_params = context.Get(kLinkParams),
          .with_types = absl::c_none_of(
              context.instruments(), [](const auto& instrument) {
                return instrument->needs_untyped_modules();
              })};
}

class OperatorFuser {
 public:
  OperatorFuser(const IndexedGraph& graph, const FusionSettings& settings)
      : settings_(settings),
        graph_(graph),
        rewriter_(graph_),
        nodes_(graph_.size()) {}

  Expr Run() {
    if (!FindCalls()) return rewriter_.Result();
    for (int i = 0; i < graph_.size(); ++i) nodes_[i].same_as = i;
    if (settings_.fuse) {
      const bool logs_remarks = WantsRemarks(RemarkKind::kMissed);
      const std::vector<int> groups =
          FindFusionGroups(BuildDataflow(), settings_.max_group_size,
                           logs_remarks ? &refusals_ : nullptr);
      for (int i = 0; i < graph_.size(); ++i) nodes_[i].group = groups[i];
    } else {
      for (int i = 0; i < graph_.size(); ++i) nodes_[i].group = i;
    }
    for (int i = 0; i < graph_.size(); ++i) {
      Rewrite(i);
    }
    if (num_groups_ > 0) {
      kGroups.Add(num_groups_);
      kFused.Add(num_fused_);
    }
    for (size_t i = 0; i < refusals_.size(); ++i) {
      EmitRefusal(static_cast<int>(i), refusals_[i]);
    }
    return rewriter_.Result();
  }

 private:
  static constexpr int kNone = -1;

  struct NodeInfo {
    int group = kNone;  // the last node of the group
    // The members of the group that ends here, in order.
    int first_member = kNone;
    int last_member = kNone;
    int next_member = kNone;
    // The group for which a parameter was made last, and which parameter.
    int param_group = kNone;
    int param = kNone;
    // The node that this one becomes, if it becomes another.
    int same_as = kNone;
  };

  // Why call `i` was not fused with what uses it.
  void EmitRefusal(int i, const FusionRefusal& refusal) const {
    using Reason = FusionRefusal::Reason;
    if (refusal.reason == Reason::kNone) return;
    const auto* call = graph_.As<CallNode>(i);
    if (call == nullptr || call->op_node() == nullptr ||
        IsNonComputational(call->op())) {
      return;
    }
    LogRemark(RemarkKind::kMissed, [&](Remark& remark) {
      remark.node = Expr(call);
      switch (refusal.reason) {
        case Reason::kNone:
          return;
        case Reason::kOpaque:
          remark.reason = "an opaque operator is never fused";
          break;
        case Reason::kUsedOutside:
          remark.reason = i == graph_.root() || graph_.num_uses(i) == 0
                              ? RemarkText("nothing uses its result")
                              : RemarkText(
                                    "its uses meet in no operator: it is a "
                                    "result, or used by what is no operator");
          break;
        case Reason::kPattern:
          remark.reason =
              "an operator of its pattern is not fused with what its uses meet "
              "in";
          remark.args.push_back({"pattern", PatternName(PatternOf(*call))});
          remark.args.push_back({"largest use", PatternName(refusal.pattern)});
          break;
        case Reason::kEnd:
          remark.reason =
              "the group that its uses meet in has a larger pattern";
          remark.args.push_back({"pattern", PatternName(refusal.pattern)});
          break;
        case Reason::kBetween:
          remark.reason =
              "a node between it and where its uses meet is in a "
              "group that has a larger pattern";
          remark.args.push_back({"pattern", PatternName(refusal.pattern)});
          break;
        case Reason::kSize:
          remark.reason = "the group would have too many nodes";
          remark.args.push_back({"limit", settings_.max_group_size});
          break;
      }
      if (refusal.node >= 0) {
        remark.nodes.push_back({refusal.reason == Reason::kBetween
                                    ? RemarkText("between")
                                    : RemarkText("with"),
                                Expr(graph_.node(refusal.node))});
      }
    });
  }

  static RemarkValue PatternName(FusionPattern pattern) {
    switch (pattern) {
      case FusionPattern::kElemWise:
        return "element-wise";
      case FusionPattern::kBroadcast:
        return "broadcast";
      case FusionPattern::kInjective:
        return "injective";
      case FusionPattern::kCommReduce:
        return "reduction";
      case FusionPattern::kOutEWiseFusable:
        return "complex";
      case FusionPattern::kTuple:
        return "tuple";
      case FusionPattern::kOpaque:
        return "opaque";
    }
    return "";
  }

  // The operator that node `i` calls, or null.
  const OpNode* OperatorOf(int i) const {
    const auto* call = graph_.As<CallNode>(i);
    return call == nullptr ? nullptr : call->op_node();
  }

  // The names of `operators_`. Groups of equal operators share the text.
  RemarkText OperatorNames() {
    for (const EmittedGroup& told : emitted_groups_) {
      if (told.operators == operators_) return told.names;
    }
    std::string names;
    names.reserve(128);
    for (const OpNode* op : operators_) {
      if (!names.empty()) names.push_back(' ');
      names.append(op->name());
    }
    constexpr size_t kMaxEmitted = 32;
    if (emitted_groups_.size() == kMaxEmitted) return names;
    emitted_groups_.push_back({operators_, names});
    return emitted_groups_.back().names;
  }

  // Says which nodes became the function of `group`.
  void EmitGroup(int group) {
    const int first = nodes_[group].first_member;
    if (first == group) return;
    const bool logs_remarks = WantsRemarks(RemarkKind::kPassed);
    int64_t size = 0;
    operators_.clear();
    for (int i = first; i != kNone; i = nodes_[i].next_member) {
      ++size;
      const OpNode* const op = logs_remarks ? OperatorOf(i) : nullptr;
      if (op != nullptr) operators_.push_back(op);
    }
    ++num_groups_;
    num_fused_ += size;
    if (!logs_remarks) return;
    LogRemark(RemarkKind::kPassed, [&](Remark& remark) {
      remark.node = Expr(graph_.node(group));
      remark.reason = "fused into one function";
      remark.args.push_back({"nodes", size});
      remark.args.push_back({"operators", OperatorNames()});
    });
  }

  // Returns whether there is anything to put into functions: a call of an
  // operator, or a field of a tuple.
  bool FindCalls() const {
    for (int i = 0; i < graph_.size(); ++i) {
      const auto* call = graph_.As<CallNode>(i);
      if (call != nullptr ? call->op_node() != nullptr
                          : graph_.kind(i) == ExprKind::kTupleGetItem) {
        return true;
      }
    }
    return false;
  }

  DataflowGraph BuildDataflow() const {
    DataflowGraph dataflow(graph_.size());
    dataflow.MarkExternal(graph_.root());
    for (int i = 0; i < graph_.size(); ++i) {
      AddNode(i, dataflow);
    }
    dataflow.IndexUses();
    return dataflow;
  }

  void AddNode(int i, DataflowGraph& dataflow) const {
    const ExprNode* node = graph_.node(i);
    switch (ExprKindOf(node)) {
      case ExprKind::kConstant:
        if (IsImmediate(*static_cast<const ConstantNode*>(node))) {
          dataflow.SetPattern(i, FusionPattern::kElemWise);
        }
        return;
      case ExprKind::kCall: {
        const FusionPattern pattern =
            PatternOf(*static_cast<const CallNode*>(node));
        dataflow.SetPattern(i, pattern);
        dataflow.MarkExternal(graph_.callee(i));
        for (const int arg : graph_.args(i)) {
          dataflow.AddUse(arg, i, UsePattern(*node, pattern, arg));
        }
        return;
      }
      case ExprKind::kTuple:
        dataflow.SetPattern(i, FusionPattern::kTuple);
        for (const int field : graph_.children(i)) {
          if (graph_.node(field)->tensor_type() != nullptr) {
            dataflow.AddUse(field, i, FusionPattern::kInjective);
          } else {
            dataflow.MarkExternal(field);
          }
        }
        return;
      case ExprKind::kTupleGetItem: {
        const int tuple = graph_.children(i)[0];
        if (HasTensorFieldsOnly(graph_.node(tuple)->tuple_type())) {
          dataflow.SetPattern(i, FusionPattern::kInjective);
          dataflow.AddUse(tuple, i, FusionPattern::kInjective);
        } else {
          dataflow.MarkExternal(tuple);
        }
        return;
      }
      default:
        break;
    }
    for (const int child : graph_.children(i)) dataflow.MarkExternal(child);
  }

  // A broadcast is element-wise on arguments that have the result's shape.
  FusionPattern UsePattern(const ExprNode& call, FusionPattern pattern,
                           int arg) const {
    if (pattern != FusionPattern::kBroadcast) return pattern;
    const TensorTypeNode* result = call.tensor_type();
    const TensorTypeNode* type = graph_.node(arg)->tensor_type();
    return result != nullptr && type != nullptr &&
                   result->shape() == type->shape()
               ? FusionPattern::kElemWise
               : pattern;
  }

  void Rewrite(int i) {
    const ExprNode* node = graph_.node(i);
    if (node->kind() == ExprKind::kVar) return;
    const int group = nodes_[i].group;
    AppendMember(group, i);
    if (group != i) return;  // its group is made when all members are there
    if (node->kind() == ExprKind::kCall) {
      const auto* call = static_cast<const CallNode*>(node);
      if (call->op_node() != nullptr) {
        if (StopsFusion(call->op()) && call->num_args() == 1) {
          const int arg = graph_.args(i)[0];
          rewriter_.Replace(i, rewriter_.Get(arg));
          nodes_[i].same_as = nodes_[arg].same_as;
          return;
        }
        // Quantized operators are computed, once they are lowered.
        if (!IsNonComputational(call->op()) || IsQuantized(call->op())) {
          MakeFunction(i);
          return;
        }
      }
    } else if (node->kind() == ExprKind::kTupleGetItem) {
      const int tuple = graph_.children(i)[0];
      if (nodes_[tuple].group == i) {
        MakeFunction(i);
        return;
      }
    }
    rewriter_.Rebuild(i);
  }

  void AppendMember(int group, int node) {
    NodeInfo& info = nodes_[group];
    if (info.first_member == kNone) {
      info.first_member = node;
    } else {
      nodes_[info.last_member].next_member = node;
    }
    info.last_member = node;
  }

  // Replaces `group` by a call of a function of the group's members, unless the
  // rewrite is refused.
  void MakeFunction(int group) {
    static const auto& kComputes =
        *new DictAttrs(AttrMap{{attr::kPrimitive, 1}});
    static const auto& kReshapes =
        *new DictAttrs(AttrMap{{attr::kPrimitive, 1}, {kReshapeOnly, 1}});
    static const auto& kTakesField =
        *new DictAttrs(AttrMap{{attr::kPrimitive, 0}});
    if (!MayRewrite()) {
      for (int i = nodes_[group].first_member; i != kNone;
           i = nodes_[i].next_member) {
        rewriter_.Rebuild(i);
      }
      return;
    }
    if (SomeoneListens()) EmitGroup(group);
    params_.clear();
    arguments_.clear();
    bool has_call = false;
    bool reshapes_only = true;
    Expr body;
    for (int i = nodes_[group].first_member; i != kNone;
         i = nodes_[i].next_member) {
      body = MakeMember(i);
      if (const auto* call = body.As<CallNode>()) {
        has_call = true;
        reshapes_only = reshapes_only && IsReshape(call->op());
      }
      if (i != group) rewriter_.Replace(i, body);
    }
    reshapes_only =
        reshapes_only &&
        std::all_of(params_.begin(), params_.end(), [](const Var& param) {
          return param->annotation().Is<TensorTypeNode>();
        });
    LogOrigin(body, graph_.node(group));
    const Type& type = graph_.node(group)->type();
    Type function_type = FunctionType(group);
    Function function({std::make_move_iterator(params_.begin()),
                       std::make_move_iterator(params_.end())},
                      std::move(body), type, {},
                      !has_call       ? kTakesField
                      : reshapes_only ? kReshapes
                                      : kComputes,
                      std::move(function_type));
    LogOrigin(function, graph_.node(group));
    // A rebuilt node may have no type, and then its users have none.
    const bool all_typed = std::all_of(
        arguments_.begin(), arguments_.end(),
        [](const Expr& argument) { return argument->type().defined(); });
    const Expr call =
        Call::Taking(std::move(function), absl::MakeSpan(arguments_), {}, {},
                     all_typed ? KnownType(group) : Type(), {});
    rewriter_.Replace(group, call);
  }

  // The type of what is made of node `i`, if it is to have one.
  Type KnownType(int i) const {
    return settings_.with_types ? graph_.node(i)->type() : Type();
  }

  // Returns the type of the function that is made of `group`, by the same rule.
  Type FunctionType(int group) const {
    Type result = KnownType(group);
    if (!result.defined()) return {};
    std::vector<Type> params;
    params.reserve(params_.size());
    for (const Var& param : params_) params.push_back(param->type());
    return FuncType(std::move(params), std::move(result));
  }

  // Node `i`, a member of the group being made, with parameters in the place
  // of what comes from outside of the group.
  Expr MakeMember(int i) {
    const ExprNode* node = graph_.node(i);
    const absl::Span<const int> children = graph_.children(i);
    const int group = nodes_[i].group;
    switch (ExprKindOf(node)) {
      case ExprKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        scratch_.clear();
        for (int k = 0; k < call->num_args(); ++k) {
          scratch_.push_back(Input(group, children[k + 1], call->arg(k)));
        }
        return Call::Taking(
            call->op(), absl::MakeSpan(scratch_), call->attrs(),
            {call->type_args().begin(), call->type_args().end()}, KnownType(i),
            call->span());
      }
      case ExprKind::kTuple: {
        const auto* tuple = static_cast<const TupleNode*>(node);
        std::vector<Expr> fields;
        fields.reserve(children.size());
        for (size_t k = 0; k < children.size(); ++k) {
          fields.push_back(Input(group, children[k], tuple->fields()[k]));
        }
        return Tuple(std::move(fields), KnownType(i), tuple->span());
      }
      case ExprKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItemNode*>(node);
        return TupleGetItem(Input(group, children[0], item->tuple()),
                            item->index(), KnownType(i), item->span());
      }
      default:
        return Expr(node);
    }
  }

  // Returns the expression for `child`, whose index is `index`, inside the
  // function of `group`.
  Expr Input(int group, int index, const Expr& child) {
    if (graph_.kind(index) == ExprKind::kOp) return child;
    if (nodes_[index].group == group ||
        (settings_.link_params && rewriter_.Get(index).Is<ConstantNode>())) {
      return rewriter_.Get(index);
    }
    NodeInfo& input = nodes_[nodes_[index].same_as];
    if (input.param_group != group) {
      input.param_group = group;
      input.param = static_cast<int>(params_.size());
      params_.push_back(Var(new VarNode(ParamName(params_.size()),
                                        child->type(), KnownType(index), {})));
      arguments_.push_back(rewriter_.Get(index));
      LogOrigin(params_.back(), child.get());
    }
    return params_[input.param];
  }

  const FusionSettings settings_;
  const IndexedGraph& graph_;
  GraphRewriter rewriter_;
  std::vector<NodeInfo> nodes_;
  std::vector<FusionRefusal> refusals_;  // by node, if anybody wants to know
  int64_t num_groups_ = 0;               // that were told
  int64_t num_fused_ = 0;                // their nodes
  // Groups of which remarks were made: see OperatorNames.
  struct EmittedGroup {
    std::vector<const OpNode*> operators;
    RemarkText names;
  };
  std::vector<EmittedGroup> emitted_groups_;
  // The operators that the group calls of which a remark is being made.
  std::vector<const OpNode*> operators_;
  // The parameters of the function that is being made.
  std::vector<Var> params_;
  std::vector<Expr> arguments_;
  absl::InlinedVector<Expr, 6> scratch_;
};

}  // namespace

Pass FuseOps(FuseOpsOptions options) {
  return CreateFunctionPass(
      [options](Function function, const IRModule& /*module*/,
                const PassContext& context) -> absl::StatusOr<Function> {
        const Expr result = OperatorFuser(IndexedGraph(function, MayFuseInside),
                                          SettingsOf(options, context))
                                .Run();
        return Function(result.As<FunctionNode>());
      },
      {.name = "FuseOps",
       .required = {"InferType"},
       .doc = "Groups calls of operators into primitive functions.",
       .invalidates = {"a_normal_form", "basic_block_normal_form",
                       "no_primitive_functions"}},
      options);
}
BATON_REGISTER_PASS(FuseOps);
BATON_REGISTER_REMARKS(
    "FuseOps", {.passed = "a group of nodes became one function",
                .missed = "why a call was not fused with what uses it"});

}  // namespace baton::relay
