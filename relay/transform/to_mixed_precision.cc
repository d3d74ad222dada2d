#include "baton/relay/transform/to_mixed_precision.h"

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<PrecisionRule>& PrecisionRules() {
  static auto* const kRules = new OpProperty<PrecisionRule>;
  return *kRules;
}

namespace {

constexpr DType kFloat32 = DType::Float(32);

BATON_REGISTER_CONFIG(kKeepOutput, bool,
                      "relay.ToMixedPrecision.keep_orig_output_dtype", false,
                      "Whether the result of @main keeps its element type.");

PrecisionConversion Always(const CallNode& /*call*/, DType dtype) {
  return {PrecisionCategory::kAlways, dtype, dtype};
}
PrecisionConversion Follow(const CallNode& /*call*/, DType dtype) {
  return {PrecisionCategory::kFollow, dtype, dtype};
}
PrecisionConversion Unchanged(const CallNode& /*call*/, DType dtype) {
  return {PrecisionCategory::kUnchanged, dtype, dtype};
}
PrecisionConversion Never(const CallNode& /*call*/, DType dtype) {
  return {PrecisionCategory::kNever, dtype, dtype};
}

[[maybe_unused]] const bool kRegistered = [] {
  const auto set = [](std::initializer_list<absl::string_view> names,
                      PrecisionRule rule) {
    for (const absl::string_view name : names) {
      OpExtension(name).Set(PrecisionRules(), rule);
    }
  };
  set({"nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose",
       "nn.conv2d_transpose", "nn.conv3d_transpose", "nn.dense",
       "nn.batch_matmul"},
      Always);
  set(
      {// Moved, repeated and selected elements.
       "nn.pad", "nn.batch_flatten", "concatenate", "zeros", "split", "squeeze",
       "transpose", "expand_dims", "reshape", "dyn.reshape",
       "broadcast_to_like", "dyn.broadcast_to", "strided_slice",
       "dyn.strided_slice", "take", "argwhere", "where", "tile", "dyn.tile",
       "scatter_elements", "scatter_nd", "full", "dyn.full",
       "nn.depth_to_space",
       // Comparison.
       "less", "greater", "less_equal", "greater_equal",
       // These have the type of an argument or of an attribute.
       "copy", "cast", "cast_like",
       // Arithmetic.
       "add", "subtract", "multiply", "divide", "nn.bias_add", "nn.batch_norm",
       "sqrt", "shape_of",
       // Activations.
       "max", "min", "maximum", "minimum", "argmax", "argmin", "nn.relu",
       "nn.leaky_relu", "nn.prelu", "nn.dropout", "sigmoid", "tanh",
       "fast_tanh", "fast_exp", "fast_erf", "clip",
       // Pools.
       "nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "nn.avg_pool1d",
       "nn.avg_pool2d", "nn.avg_pool3d", "nn.global_max_pool2d",
       "nn.adaptive_max_pool1d", "nn.adaptive_max_pool2d",
       "nn.adaptive_max_pool3d", "image.resize2d"},
      Follow);
  set(
      {// Results far larger than arguments.
       "exp", "power", "nn.cross_entropy", "nn.cross_entropy_with_logits",
       "nn.softmax", "nn.l2_normalize", "erf",
       // The bounds may be numbers that the shorter type lacks.
       "arange",
       // Long sums.
       "nn.global_avg_pool2d", "nn.adaptive_avg_pool1d",
       "nn.adaptive_avg_pool2d", "nn.adaptive_avg_pool3d", "sum", "mean",
       "variance", "nn.layer_norm"},
      Never);
  // Its result is made of the bits of its argument.
  set({"reinterpret"}, Unchanged);
  return true;
}();

// `attrs` with an element type that is a floating-point type, or not given, set
// to `dtype`; the same object if it is that already. T: attributes that have
// such a field.
template <typename T, DType T::*kField>
bool SetDType(Attrs& attrs, DType dtype) {
  const T* old = attrs.As<T>();
  if (old == nullptr) return false;
  const DType current = old->*kField;
  if ((current.is_float() || current.is_void()) && current != dtype) {
    T changed = *old;
    changed.*kField = dtype;
    attrs = Attrs::Make(std::move(changed));
  }
  return true;
}

template <typename... T>
bool SetOutDType(Attrs& attrs, DType dtype) {
  return (SetDType<T, &T::out_dtype>(attrs, dtype) || ...);
}

Attrs WithAccumulation(Attrs attrs, DType dtype) {
  SetOutDType<Conv1DAttrs, Conv1DTransposeAttrs, Conv2DAttrs,
              Conv2DTransposeAttrs, Conv2DWinogradAttrs,
              Conv2DWinogradNNPACKWeightTransformAttrs, DeformableConv2DAttrs,
              Conv3DAttrs, Conv3DTransposeAttrs, Conv3DWinogradAttrs,
              DenseAttrs, BatchMatmulAttrs>(attrs, dtype) ||
      SetDType<InitOpAttrs, &InitOpAttrs::dtype>(attrs, dtype);
  return attrs;
}

// True if the numbers in the attributes of `call` are in the range of `dtype`.
bool FitsAttrs(const CallNode& call, DType dtype) {
  const auto* clip = call.attrs_as<ClipAttrs>();
  if (clip == nullptr) return true;
  double bound = std::numeric_limits<float>::max();
  if (dtype == DType::Float(16)) bound = 65504.0;
  // As in the reference (kMaxBFloat16), though no finite bfloat16 is larger
  // than 3.39e38.
  if (dtype == DType::BFloat(16)) bound = 3.895313892515354759e38;
  return clip->a_min >= -bound && clip->a_max <= bound;
}

// True if `holds` is true for the element types of all floating-point tensors
// in a value of that type.
bool AllFloats(const Type& type, absl::FunctionRef<bool(DType)> holds) {
  absl::InlinedVector<const TypeNode*, 8> pending = {type.get()};
  while (!pending.empty()) {
    const Type next(pending.back());
    pending.pop_back();
    if (const auto* tensor = next.As<TensorTypeNode>()) {
      if (tensor->dtype().is_float() && !holds(tensor->dtype())) return false;
    } else if (const auto* tuple = next.As<TupleTypeNode>()) {
      for (const Type& field : tuple->fields()) pending.push_back(field.get());
    }
  }
  return true;
}

bool IsAllOf(const Type& type, DType dtype) {
  return AllFloats(type, [dtype](DType found) { return found == dtype; });
}

bool HasFloats(const Type& type) {
  return !AllFloats(type, [](DType /*found*/) { return false; });
}

// Makes casts, each once.
class Caster {
 public:
  // `expr`, typed, with its floating-point tensors cast to `dtype`.
  absl::StatusOr<Expr> Cast(const Expr& expr, DType dtype) {
    return Cast(expr, Type(), dtype);
  }
  // Casts each tensor in `expr` to its type in `type`.
  absl::StatusOr<Expr> CastLike(const Expr& expr, const Type& type) {
    if (TypeEqual(expr->type(), type)) return expr;
    return Cast(expr, type, DType());
  }

 private:
  // A tuple whose fields are being cast.
  struct Frame {
    Expr tuple;
    Type wanted;  // null for `dtype`
    std::vector<Expr> fields;
    bool changed = false;
  };

  absl::StatusOr<Expr> Cast(const Expr& expr, const Type& type, DType dtype) {
    std::vector<Frame> frames;
    Expr next = expr;
    Type wanted = type;
    while (true) {
      Expr result = next;
      if (next->tensor_type() != nullptr) {
        const auto* tensor = wanted.As<TensorTypeNode>();
        result = CastTensor(next, tensor != nullptr ? tensor->dtype() : dtype);
      } else if (next->tuple_type() != nullptr) {
        frames.push_back({next, wanted, {}});
        result = Expr();
      }
      while (!frames.empty()) {
        Frame& frame = frames.back();
        if (result.defined()) {
          frame.changed |= result != Field(frame.tuple, frame.fields.size());
          frame.fields.push_back(std::move(result));
          result = Expr();
        }
        const absl::Span<const Type> types =
            frame.tuple->tuple_type()->fields();
        if (frame.fields.size() < types.size()) {
          const size_t k = frame.fields.size();
          next = Field(frame.tuple, k);
          const auto* tuple = frame.wanted.As<TupleTypeNode>();
          wanted = tuple != nullptr && k < tuple->fields().size()
                       ? tuple->fields()[k]
                       : frame.wanted;
          break;
        }
        result = frame.tuple;
        if (frame.changed) {
          BATON_ASSIGN_OR_RETURN(result,
                                 InferTypeOf(Tuple(std::move(frame.fields))));
        }
        frames.pop_back();
      }
      if (frames.empty()) return result;
    }
  }

  Expr CastTensor(const Expr& expr, DType dtype) {
    const TensorTypeNode& type = *expr->tensor_type();
    if (!type.dtype().is_float() || !dtype.is_float() ||
        type.dtype() == dtype) {
      return expr;
    }
    Expr& result = casts_[{expr, dtype}];
    if (!result.defined()) {
      result =
          Call(BATON_OP("cast"), {expr}, Attrs::Make(CastAttrs{.dtype = dtype}),
               {}, TensorType(type.shape(), dtype));
      const Expr made = result;  // the map may move it
      // A cast of the cast back is what it was made of.
      casts_[{made, type.dtype()}] = expr;
      return made;
    }
    return result;
  }

  // Field `k` of a tuple; the same node each time.
  Expr Field(const Expr& tuple, size_t k) {
    if (const auto* literal = tuple.As<TupleNode>()) {
      return literal->fields()[k];
    }
    Expr& field = fields_[{tuple, k}];
    if (!field.defined()) {
      field = TupleGetItem(tuple, static_cast<int>(k),
                           tuple->tuple_type()->fields()[k]);
    }
    return field;
  }

  FlatHashMap<std::pair<Expr, DType>, Expr> casts_;
  FlatHashMap<std::pair<Expr, size_t>, Expr> fields_;
};

class Converter {
 public:
  Converter(const IndexedGraph& graph, const IRModule& module, DType dtype,
            bool keeps_result, bool logs_missing)
      : graph_(graph),
        module_(module),
        dtype_(dtype),
        keeps_result_(keeps_result),
        logs_missing_(logs_missing),
        rewriter_(graph) {}

  absl::StatusOr<Expr> Run() {
    FindScopes();
    for (int i = 0; i < graph_.size(); ++i) {
      if (rewriter_.changed(i)) continue;  // a variable with another type
      BATON_ASSIGN_OR_RETURN(Expr result, Convert(i));
      if (!result.defined()) {
        rewriter_.Rebuild(i);
        if (!rewriter_.changed(i)) continue;
        result = rewriter_.Get(i);
      }
      if (!result->type().defined()) {
        BATON_ASSIGN_OR_RETURN(result, InferTypeOf(result, &module_));
      }
      rewriter_.Replace(i, result);
      RetypeVars(i, result->type());
    }
    return rewriter_.Result();
  }

  // The operators without a category.
  const std::set<std::string>& missing() const { return missing_; }

 private:
  static constexpr int kNone = -1;

  // Finds the bindings of lets, and the functions that are more than callees.
  void FindScopes() {
    const int size = graph_.size();
    first_let_.assign(size, kNone);
    next_let_.assign(size, kNone);
    escapes_.assign(size, false);
    std::vector<int> first_use(size, size);
    for (int i = 0; i < size; ++i) {
      const absl::Span<const int> children = graph_.children(i);
      const NodeKind kind = graph_.kind(i);
      for (size_t k = 0; k < children.size(); ++k) {
        const int child = children[k];
        if (kind == ExprKind::kLet && k == 0) continue;  // binds it
        if (first_use[child] == size) first_use[child] = i;
        const bool is_callee = kind == ExprKind::kCall && k == 0;
        const bool is_named = kind == ExprKind::kLet && k == 1;
        if (!is_callee && !is_named) escapes_[child] = true;
      }
    }
    for (int i = 0; i < size; ++i) {
      if (graph_.kind(i) != ExprKind::kLet) continue;
      const int var = graph_.children(i)[0];
      const int value = graph_.let_value(i);
      next_let_[i] = first_let_[value];
      first_let_[value] = i;
      // Children come before users: what uses the variable before the value
      // stands is inside of the value.
      if (escapes_[var] || first_use[var] <= value ||
          graph_.kind(value) != ExprKind::kFunction) {
        escapes_[value] = true;
      }
    }
  }

  // Node `value` has that type now: so do the variables that are bound to it,
  // and those that are bound to these.
  void RetypeVars(int value, const Type& type) {
    std::vector<int> values = {value};
    while (!values.empty()) {
      int let = first_let_[values.back()];
      values.pop_back();
      for (; let >= 0; let = next_let_[let]) {
        const int i = graph_.children(let)[0];
        const auto& var = *graph_.As<VarNode>(i);
        if (rewriter_.changed(i) || TypeEqual(var.type(), type)) continue;
        rewriter_.Replace(i, WithType(Var(var.name(), type, var.span()), type));
        values.push_back(i);
      }
    }
  }

  // The replacement of node `i`; null if only its children change.
  absl::StatusOr<Expr> Convert(int i) {
    switch (ExprKindOf(graph_.node(i))) {
      case ExprKind::kCall: {
        const auto* op = graph_.As<CallNode>(i)->op_node();
        if (op != nullptr) return ConvertOpCall(i, *op);
        return WithOldTypes(i, graph_.args(i));
      }
      case ExprKind::kIf:
        return ConvertBranches(i, graph_.children(i).subspan(1));
      case ExprKind::kMatch:
        return ConvertMatch(i);
      case ExprKind::kRefCreate:
        return WithOldTypes(i, graph_.children(i));
      case ExprKind::kRefWrite:
        return WithOldTypes(i, graph_.children(i).subspan(1));
      case ExprKind::kFunction:
        return ConvertFunction(i);
      default:
        return Expr();
    }
  }

  // Node `i` with `parts`, some of its children, as they were.
  absl::StatusOr<Expr> WithOldTypes(int i, absl::Span<const int> parts) {
    bool any = false;
    for (const int part : parts) any = any || rewriter_.changed(part);
    if (!any) return Expr();
    std::vector<Expr> children;
    size_t next = 0;
    for (const int child : graph_.children(i)) {
      Expr now = rewriter_.Get(child);
      if (next < parts.size() &&
          &graph_.children(i)[children.size()] == &parts[next]) {
        ++next;
        BATON_ASSIGN_OR_RETURN(
            now, caster_.CastLike(now, graph_.node(child)->type()));
      }
      children.push_back(std::move(now));
    }
    return WithChildren(graph_.node(i), children);
  }

  // Branches agree, or are as they were.
  absl::StatusOr<Expr> ConvertBranches(int i, absl::Span<const int> branches) {
    const Type type = rewriter_.Get(branches[0])->type();
    for (const int branch : branches) {
      if (!TypeEqual(rewriter_.Get(branch)->type(), type)) {
        return WithOldTypes(i, branches);
      }
    }
    return Expr();
  }

  absl::StatusOr<Expr> ConvertMatch(int i) {
    // The right sides stay: a variable of a pattern has the type that the data
    // was made with.
    std::vector<Expr> children;
    bool changed = false;
    for (const int child : graph_.children(i)) {
      changed = changed || rewriter_.changed(child);
      BATON_ASSIGN_OR_RETURN(
          Expr now,
          caster_.CastLike(rewriter_.Get(child), graph_.node(child)->type()));
      children.push_back(std::move(now));
    }
    if (!changed) return Expr();
    return WithChildren(graph_.node(i), children);
  }

  absl::StatusOr<Expr> ConvertFunction(int i) {
    const auto& function = *graph_.As<FunctionNode>(i);
    const int body_index = graph_.children(i).back();
    if (!rewriter_.changed(body_index)) return Expr();
    Expr body = rewriter_.Get(body_index);
    const Type& old_type = function.body()->type();
    const bool keeps = i == graph_.root() ? keeps_result_ : escapes_[i];
    if (keeps) {
      BATON_ASSIGN_OR_RETURN(body, caster_.CastLike(body, old_type));
    }
    return Expr(
        Function({function.params().begin(), function.params().end()},
                 std::move(body), keeps ? function.result_type() : Type(),
                 {function.type_params().begin(), function.type_params().end()},
                 function.attrs(), {}, function.span()));
  }

  absl::StatusOr<Expr> ConvertOpCall(int i, const OpNode& op) {
    const auto& call = *graph_.As<CallNode>(i);
    PrecisionConversion conversion = {PrecisionCategory::kFollow, dtype_,
                                      dtype_};
    if (const PrecisionRule* rule = PrecisionRules().Get(op)) {
      conversion = (*rule)(call, dtype_);
    } else {
      missing_.insert(op.name());
      if (logs_missing_ && WantsRemarks(RemarkKind::kMissed)) {
        LogRemark({.kind = RemarkKind::kMissed,
                   .node = Expr(&call),
                   .reason = "the operator has no category of precision; it "
                             "follows its arguments",
                   .args = {{"op", op.name()}}});
      }
    }
    const absl::Span<const Expr> now = rewriter_.Args(i);
    const absl::InlinedVector<Expr, 4> args(now.begin(), now.end());
    if (conversion.category == PrecisionCategory::kUnchanged) {
      return WithOldTypes(i, graph_.args(i));
    }
    bool lower = conversion.category == PrecisionCategory::kAlways;
    if (conversion.category == PrecisionCategory::kFollow) {
      lower = true;
      for (const Expr& arg : args) {
        lower = lower && (arg.Is<VarNode>() || arg.Is<ConstantNode>() ||
                          IsAllOf(arg->type(), dtype_));
      }
    }
    if (lower && FitsAttrs(call, dtype_)) {
      // Products of integers stay what they are.
      const bool accumulates = HasFloats(call.type());
      absl::StatusOr<Expr> result = WithArgsOf(
          i, args, dtype_,
          accumulates
              ? WithAccumulation(call.attrs(), conversion.accumulation_dtype)
              : call.attrs());
      // An operator that does not compute in that type at all stays.
      if (result.ok()) {
        if (conversion.output_dtype == conversion.accumulation_dtype) {
          return result;
        }
        return caster_.Cast(result->defined() ? *result : Expr(&call),
                            conversion.output_dtype);
      }
    }
    absl::StatusOr<Expr> result = WithArgsOf(i, args, kFloat32, call.attrs());
    return result.ok() ? result : WithOldTypes(i, graph_.args(i));
  }

  // Call `i`, of `args` cast to `dtype`; null if that changes nothing.
  absl::StatusOr<Expr> WithArgsOf(int i, absl::Span<const Expr> args,
                                  DType dtype, Attrs attrs) {
    const auto& call = *graph_.As<CallNode>(i);
    absl::InlinedVector<Expr, 4> cast;
    bool same = attrs == call.attrs();
    bool same_types = same;
    for (const Expr& arg : args) {
      BATON_ASSIGN_OR_RETURN(Expr next, caster_.Cast(arg, dtype));
      const Expr& old = call.arg(static_cast<int>(cast.size()));
      same = same && next == old;
      same_types = same_types && TypeEqual(next->type(), old->type());
      cast.push_back(std::move(next));
    }
    if (same) return Expr();
    if (same_types) {
      return Expr(Call(call.op(), cast, std::move(attrs),
                       {call.type_args().begin(), call.type_args().end()},
                       call.type(), call.span()));
    }
    return InferTypeOf(
        Call(call.op(), cast, std::move(attrs), {}, {}, call.span()), &module_);
  }

  const IndexedGraph& graph_;
  const IRModule& module_;
  const DType dtype_;
  const bool keeps_result_;
  const bool logs_missing_;
  GraphRewriter rewriter_;
  Caster caster_;
  std::set<std::string> missing_;
  // The lets that bind the value of a node, as a list.
  std::vector<int> first_let_;  // by value
  std::vector<int> next_let_;   // by let
  // For functions and the variables bound to them: true if they have uses other
  // than calls.
  std::vector<bool> escapes_;
};

// True if a function of `module` refers to the function `name`.
bool IsReferenced(const IRModule& module, absl::string_view name) {
  bool found = false;
  for (const auto& definition : module.functions<Function>()) {
    PostOrderVisit(definition.function, [&](const ExprNode* node) {
      if (node->kind() == ExprKind::kGlobalVar) {
        found = found || Expr(node).As<GlobalVarNode>()->name() == name;
      }
    });
  }
  return found;
}

bool KeepsResult(const Function& function, const IRModule& module,
                 const PassContext& context) {
  constexpr absl::string_view kMain = "main";
  return context.Get(kKeepOutput) || module.Find(kMain) != function ||
         IsReferenced(module, kMain);
}

absl::StatusOr<Function> ConvertFunction(
    const Function& function, const IRModule& module,
    const PassContext& context, const ToMixedPrecisionOptions& options) {
  Expr typed = function;
  if (!function->type().defined()) {
    BATON_ASSIGN_OR_RETURN(typed, InferTypeOf(function, &module));
  }
  const IndexedGraph graph(typed);
  Converter converter(graph, module, options.mixed_precision_type,
                      KeepsResult(function, module, context),
                      /*logs_missing=*/options.missing_op_mode != 2);
  BATON_ASSIGN_OR_RETURN(const Expr result, converter.Run());
  if (options.missing_op_mode == 0 && !converter.missing().empty()) {
    return absl::UnimplementedError(
        absl::StrCat("operators without a category of precision: ",
                     absl::StrJoin(converter.missing(), ", ")));
  }
  if (result == typed) return function;
  return Function(result.As<FunctionNode>());
}

absl::StatusOr<Pass> CreateToMixedPrecision(ToMixedPrecisionOptions options) {
  if (!options.mixed_precision_type.is_float()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "mixed_precision_type: ", options.mixed_precision_type.ToString(),
        " is not a floating-point type"));
  }
  if (options.missing_op_mode < 0 || options.missing_op_mode > 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "missing_op_mode: expected 0, 1 or 2, got ", options.missing_op_mode));
  }
  return ToMixedPrecision(options);
}

}  // namespace

Pass ToMixedPrecision(ToMixedPrecisionOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& module,
                const PassContext& context) {
        return ConvertFunction(function, module, context, options);
      },
      {.name = "ToMixedPrecision",
       .doc = "Computes in a shorter floating-point type where that gains.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .exact = false,
       .waivers = {{"precision", "It computes in the shorter type."},
                   {"values",
                    "Results are as accurate as the shorter type, "
                    "and may be of it."},
                   {"effects", "So are those with references."}},
       .examples = {"mixed_precision_type=bfloat16"}},
      options);
}
BATON_REGISTER_PASS_AS("ToMixedPrecision", CreateToMixedPrecision);
BATON_REGISTER_REMARKS("ToMixedPrecision",
                       {.missed = "an operator has no category of precision"});

}  // namespace baton::relay
