#include "baton/relay/transform/dynamic_to_static.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/tensor/strided_slice.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<StaticForm>& StaticForms() {
  static auto* const forms = new OpProperty<StaticForm>;
  return *forms;
}

namespace {

using Values = absl::Span<const Tensor>;

// The elements of a vector; nullopt if it is none.
std::optional<std::vector<int64_t>> Ints(const Tensor& tensor) {
  if (tensor.rank() != 1) return std::nullopt;
  std::vector<int64_t> result;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    result.push_back(tensor.AtAsInt64(i));
  }
  return result;
}

// The first element; nullopt if there is none.
std::optional<int64_t> FirstInt(const Tensor& tensor) {
  if (tensor.num_elements() == 0) return std::nullopt;
  return tensor.AtAsInt64(0);
}

// A copy of the attributes of `call`; nullopt if they are no T.
template <typename T>
std::optional<T> CopyAttrs(const CallNode& call) {
  const T* attrs = call.attrs_as<T>();
  if (attrs == nullptr) return std::nullopt;
  return *attrs;
}

// Calls `build` with the data and the only value, a vector.
template <Expr (*build)(Expr data, std::vector<int64_t> value)>
Expr OfVector(const CallNode& call, Values values) {
  auto ints = Ints(values[0]);
  return ints.has_value() ? build(call.arg(0), *std::move(ints)) : Expr();
}

Expr StaticSqueeze(const CallNode& call, Values values) {
  auto axes = Ints(values[0]);
  return axes.has_value() ? Squeeze(call.arg(0), *std::move(axes)) : Expr();
}

Expr StaticTopK(const CallNode& call, Values values) {
  auto attrs = CopyAttrs<TopKAttrs>(call);
  const std::optional<int64_t> k = FirstInt(values[0]);
  // As an attribute, 0 means all.
  if (!attrs.has_value() || !k.has_value() || *k == 0) return {};
  attrs->k = *k;
  return TopK(call.arg(0), *std::move(attrs));
}

// dyn.zeros and dyn.ones.
template <Expr (*build)(std::vector<int64_t> shape, DType dtype)>
Expr StaticInit(const CallNode& call, Values values) {
  auto shape = Ints(values[0]);
  const auto* attrs = call.attrs_as<InitOpAttrs>();
  if (!shape.has_value() || attrs == nullptr) return {};
  return build(*std::move(shape), attrs->dtype);
}

Expr StaticFull(const CallNode& call, Values values) {
  auto shape = Ints(values[0]);
  const auto* attrs = call.attrs_as<InitOpAttrs>();
  if (!shape.has_value() || attrs == nullptr) return {};
  return Full(call.arg(0), *std::move(shape), attrs->dtype);
}

// The operator is the same: its type says how many numbers there are if its
// operands are constants.
Expr StaticArange(const CallNode& call, Values values) {
  const auto* attrs = call.attrs_as<ArangeAttrs>();
  const TensorTypeNode* type = call.tensor_type();
  if (attrs == nullptr || (type != nullptr && type->is_static())) return {};
  for (const Tensor& value : values) {
    if (value.num_elements() != 1) return {};
  }
  return Arange(Const(values[0]), Const(values[1]), Const(values[2]),
                attrs->dtype);
}

Expr StaticOneHot(const CallNode& call, Values values) {
  auto attrs = CopyAttrs<OneHotAttrs>(call);
  const std::optional<int64_t> depth = FirstInt(values[0]);
  if (!attrs.has_value() || !depth.has_value() ||
      *depth != static_cast<int>(*depth)) {
    return {};
  }
  attrs->depth = static_cast<int>(*depth);
  return OneHot(call.arg(0), call.arg(1), call.arg(2), *std::move(attrs));
}

Expr StaticResize2D(const CallNode& call, Values values) {
  auto attrs = CopyAttrs<Resize2DAttrs>(call);
  const auto size = Ints(values[0]);
  if (!attrs.has_value() || !size.has_value()) return {};
  attrs->size = OptionalDims(size->begin(), size->end());
  attrs->roi.emplace();
  for (int64_t i = 0; i < values[1].num_elements(); ++i) {
    attrs->roi->push_back(values[1].AtAsDouble(i));
  }
  return Call(BATON_OP("image.resize2d"), {call.arg(0)},
              Attrs::Make(*std::move(attrs)));
}

Expr StaticUpSampling(const CallNode& call, Values values) {
  auto attrs = CopyAttrs<UpSamplingAttrs>(call);
  if (!attrs.has_value()) return {};
  attrs->scale_h = values[0].AtAsDouble(0);
  attrs->scale_w = values[1].AtAsDouble(0);
  return nn::UpSampling(call.arg(0), *std::move(attrs));
}

Expr StaticUpSampling3D(const CallNode& call, Values values) {
  auto attrs = CopyAttrs<UpSampling3DAttrs>(call);
  if (!attrs.has_value()) return {};
  attrs->scale_d = values[0].AtAsDouble(0);
  attrs->scale_h = values[1].AtAsDouble(0);
  attrs->scale_w = values[2].AtAsDouble(0);
  return Call(BATON_OP("nn.upsampling3d"), {call.arg(0)},
              Attrs::Make(*std::move(attrs)));
}

Expr StaticPad(const CallNode& call, Values values) {
  const auto* attrs = call.attrs_as<PadAttrs>();
  const Tensor& widths = values[0];
  if (attrs == nullptr || widths.rank() != 2 || values[1].rank() != 0) {
    return {};
  }
  std::vector<std::vector<int64_t>> pad_width;
  const int64_t columns = widths.shape()[1];
  for (int64_t i = 0; i < widths.shape()[0]; ++i) {
    pad_width.emplace_back();
    for (int64_t k = 0; k < columns; ++k) {
      pad_width.back().push_back(widths.AtAsInt64(i * columns + k));
    }
  }
  return nn::Pad(call.arg(0), std::move(pad_width), Const(values[1]),
                 attrs->pad_mode);
}

Expr StaticStridedSlice(const CallNode& call, Values values) {
  const auto* attrs = call.attrs_as<StridedSliceAttrs>();
  auto begin = Ints(values[0]);
  auto end = Ints(values[1]);
  auto strides = Ints(values[2]);
  if (attrs == nullptr || !begin.has_value() || !end.has_value() ||
      !strides.has_value()) {
    return {};
  }
  StridedSliceAttrs slice = {.begin = *std::move(begin),
                             .end = *std::move(end),
                             .strides = *std::move(strides),
                             .slice_mode = attrs->slice_mode};
  // An end before its begin gives no elements at run time, but is refused in a
  // strided_slice.
  const TensorTypeNode* data = call.arg(0)->tensor_type();
  if (data != nullptr && !SlicesOf(data->shape(), slice).ok()) return {};
  return Call(BATON_OP("strided_slice"), {call.arg(0)},
              Attrs::Make(std::move(slice)));
}

Expr StaticSparseToDense(const CallNode& call, Values values) {
  auto shape = Ints(values[0]);
  if (!shape.has_value()) return {};
  return Call(BATON_OP("sparse_to_dense"), call.args().first(3),
              Attrs::Make(SparseToDenseAttrs{*std::move(shape)}));
}

BATON_EXTEND_OP("dyn.reshape")
    .Set(StaticForms(), StaticForm{{1}, OfVector<Reshape>});
BATON_EXTEND_OP("dyn.squeeze")
    .Set(StaticForms(), StaticForm{{1}, StaticSqueeze});
BATON_EXTEND_OP("dyn.tile").Set(StaticForms(), StaticForm{{1}, OfVector<Tile>});
BATON_EXTEND_OP("dyn.topk").Set(StaticForms(), StaticForm{{1}, StaticTopK});
BATON_EXTEND_OP("dyn.broadcast_to")
    .Set(StaticForms(), StaticForm{{1}, OfVector<BroadcastTo>});
BATON_EXTEND_OP("dyn.zeros")
    .Set(StaticForms(), StaticForm{{0}, StaticInit<Zeros>});
BATON_EXTEND_OP("dyn.ones")
    .Set(StaticForms(), StaticForm{{0}, StaticInit<Ones>});
BATON_EXTEND_OP("dyn.full").Set(StaticForms(), StaticForm{{1}, StaticFull});
BATON_EXTEND_OP("arange").Set(StaticForms(),
                              StaticForm{{0, 1, 2}, StaticArange});
BATON_EXTEND_OP("dyn.one_hot")
    .Set(StaticForms(), StaticForm{{3}, StaticOneHot});
BATON_EXTEND_OP("dyn.image.resize2d")
    .Set(StaticForms(), StaticForm{{1, 2}, StaticResize2D});
BATON_EXTEND_OP("dyn.nn.upsampling")
    .Set(StaticForms(), StaticForm{{1, 2}, StaticUpSampling});
BATON_EXTEND_OP("dyn.nn.upsampling3d")
    .Set(StaticForms(), StaticForm{{1, 2, 3}, StaticUpSampling3D});
BATON_EXTEND_OP("dyn.nn.pad").Set(StaticForms(), StaticForm{{1, 2}, StaticPad});
BATON_EXTEND_OP("dyn.strided_slice")
    .Set(StaticForms(), StaticForm{{1, 2, 3}, StaticStridedSlice});
BATON_EXTEND_OP("dyn.sparse_to_dense")
    .Set(StaticForms(), StaticForm{{3}, StaticSparseToDense});

// The constants that expressions are. Each expression is looked at once.
class ConstantFinder {
 public:
  // A constant, or a tuple of what this returns; null if `root` is neither. The
  // operands of `root` have types.
  Expr Find(const Expr& root) {
    stack_.push_back(root);
    while (!stack_.empty()) {
      const Expr expr = stack_.back();
      if (!found_.contains(expr) && !PushOperands(expr)) {
        found_[expr] = Compute(expr);
      }
      if (found_.contains(expr)) stack_.pop_back();
    }
    return found_[root];
  }

 private:
  static bool IsShapeQuery(const CallNode& call) {
    return ShapeQueries().Get(call.op()) != nullptr && call.num_args() == 1;
  }

  // Pushes what must be known before `expr` is computed; false if nothing must.
  bool PushOperands(const Expr& expr) {
    const size_t size = stack_.size();
    const auto push = [&](const Expr& operand) {
      if (!found_.contains(operand)) stack_.push_back(operand);
    };
    if (const auto* tuple = expr.As<TupleNode>()) {
      for (const Expr& field : tuple->fields()) push(field);
    } else if (const auto* item = expr.As<TupleGetItemNode>()) {
      push(item->tuple());
    } else if (const auto* call = expr.As<CallNode>();
               call != nullptr && call->op_node() != nullptr &&
               !IsShapeQuery(*call)) {
      for (const Expr& arg : call->args()) push(arg);
    }
    return stack_.size() > size;
  }

  Expr Compute(const Expr& expr) const {
    if (expr.Is<ConstantNode>()) return expr;
    if (const auto* tuple = expr.As<TupleNode>()) {
      std::vector<Expr> fields;
      for (const Expr& field : tuple->fields()) {
        fields.push_back(found_.at(field));
        if (!fields.back().defined()) return {};
      }
      return Tuple(std::move(fields));
    }
    if (const auto* item = expr.As<TupleGetItemNode>()) {
      const auto* tuple = found_.at(item->tuple()).As<TupleNode>();
      const bool has_field =
          tuple != nullptr && item->index() >= 0 &&
          item->index() < static_cast<int>(tuple->fields().size());
      return has_field ? tuple->fields()[item->index()] : Expr();
    }
    const auto* call = expr.As<CallNode>();
    if (call == nullptr || call->op_node() == nullptr) return {};
    std::vector<Expr> args;
    for (const Expr& arg : call->args()) {
      // A shape is known from the type.
      args.push_back(IsShapeQuery(*call)
                         ? Expr(new VarNode("", arg->type(), arg->type(), {}))
                         : found_.at(arg));
      if (!args.back().defined()) return {};
    }
    const absl::StatusOr<Expr> folded = FoldConstantInExpr(
        Call(call->op(), args, call->attrs(),
             {call->type_args().begin(), call->type_args().end()}));
    if (!folded.ok() || folded->Is<CallNode>()) return {};
    return *folded;
  }

  FlatHashMap<Expr, Expr> found_;
  std::vector<Expr> stack_;
};

class StaticRewriter {
 public:
  StaticRewriter(const IndexedGraph& graph, const IRModule* module)
      : graph_(graph), module_(module), rewriter_(graph) {}

  // The root, which is a function.
  Function Run() {
    for (int i = 0; i < graph_.size(); ++i) {
      rewriter_.Rebuild(i);
      if (const auto* call = graph_.As<CallNode>(i)) {
        if (const StaticForm* form = StaticForms().Get(call->op())) {
          if (Expr made = Make(*form, i)) rewriter_.Replace(i, std::move(made));
        }
      }
      if (rewriter_.changed(i)) AddType(i);
    }
    return Function(rewriter_.Result().As<FunctionNode>());
  }

 private:
  // The static form of what call `i` has become; null if there is none.
  Expr Make(const StaticForm& form, int i) {
    const Expr expr = rewriter_.Get(i);
    const auto* call = expr.As<CallNode>();
    std::vector<Tensor> values;
    for (const int k : form.constants) {
      if (k >= call->num_args()) return {};
      const Expr constant = constants_.Find(call->arg(k));
      const Tensor* value = ConstantTensor(constant);
      if (value == nullptr) return {};
      values.push_back(*value);
    }
    const Expr made = form.make(*call, values);
    if (!made.defined()) return {};
    // A call that would be ill-typed stays unchanged.
    const absl::StatusOr<Expr> typed = InferTypeOf(made, module_);
    return typed.ok() && MayRewrite() ? *typed : Expr();
  }

  // Types are needed above: those of the operands may have changed. What cannot
  // be typed by itself is typed with the function.
  void AddType(int i) {
    Expr expr = rewriter_.Get(i);
    if (const auto* function = expr.As<FunctionNode>()) {
      expr = Function(
          {function->params().begin(), function->params().end()},
          function->body(), /*result_type=*/{},
          {function->type_params().begin(), function->type_params().end()},
          function->attrs(), /*type=*/{}, function->span());
    }
    absl::StatusOr<Expr> typed = InferTypeOf(expr, module_);
    rewriter_.Replace(i, typed.ok() ? *std::move(typed) : std::move(expr));
  }

  const IndexedGraph& graph_;
  const IRModule* module_;
  GraphRewriter rewriter_;
  ConstantFinder constants_;
};

absl::StatusOr<Function> MakeStatic(const Function& function,
                                    const IRModule* module) {
  // The types of operands determine their shapes.
  BATON_ASSIGN_OR_RETURN(const Expr given, InferTypeOf(function, module));
  Function result(given.As<FunctionNode>());
  if (CallsOpOf(result, StaticForms())) {
    const IndexedGraph graph(result);
    result = StaticRewriter(graph, module).Run();
  }
  // Types give further constants, and these further types.
  for (int round = 0; round < 2; ++round) {
    BATON_ASSIGN_OR_RETURN(const Expr typed, InferTypeOf(result, module));
    BATON_ASSIGN_OR_RETURN(const Expr folded, FoldConstantInExpr(typed));
    result = Function(folded.As<FunctionNode>());
    if (folded == typed) break;
  }
  return result;
}

}  // namespace

Pass DynamicToStatic() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& module,
         const PassContext& /*context*/) {
        return MakeStatic(function, &module);
      },
      {.name = "DynamicToStatic",
       .opt_level = 2,
       .doc = "Makes operators static whose shapes follow from constants and "
              "types.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"}});
}
BATON_REGISTER_PASS(DynamicToStatic);

}  // namespace baton::relay
