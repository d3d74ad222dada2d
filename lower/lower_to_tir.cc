#include "baton/lower/lower_to_tir.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/origin.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/lower/computation.h"
#include "baton/relay/ir/visit.h"
#include "baton/tir/ir/call_type.h"
#include "baton/tir/ir/expr.h"
#include "baton/transform/config.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::lower {
namespace {

using relay::CallNode;
using relay::ExprKind;
using relay::Function;

constexpr absl::string_view kNoAlias = "tir.noalias";

BATON_REGISTER_CONFIG(
    kNoAliasSetting, bool, "tir.noalias", true,
    "Whether functions that LowerToTir makes have the attribute `tir.noalias`: "
    "the memory of their buffers does not overlap.");

// The tensors that a value of `type` consists of; an error if it has a part
// that no buffer holds.
absl::StatusOr<std::vector<TensorType>> TensorsOf(const Type& type) {
  std::vector<Type> fields = {type};
  if (const auto* tuple = type.As<TupleTypeNode>()) {
    fields.assign(tuple->fields().begin(), tuple->fields().end());
  }
  std::vector<TensorType> tensors;
  for (const Type& field : fields) {
    const auto* tensor = field.As<TensorTypeNode>();
    if (tensor == nullptr) {
      return NoLoops(absl::StrCat("a part of type ",
                                  field.defined() ? field.ToString() : "?",
                                  " is no tensor"));
    }
    if (!tensor->is_static()) {
      return NoLoops(absl::StrCat("a dimension of ", field.ToString(),
                                  " is not a number"));
    }
    int64_t elements = 1;
    for (const Dim& dim : tensor->shape()) {
      if (dim.value() == 0) {
        return NoLoops(absl::StrCat(field.ToString(), " has no elements"));
      }
      if (dim.value() < 1 ||
          __builtin_mul_overflow(elements, dim.value(), &elements) ||
          elements > std::numeric_limits<int32_t>::max()) {
        return NoLoops(absl::StrCat("the indices of ", field.ToString(),
                                    " are no positive int32"));
      }
    }
    if (!tensor->dtype().IsStorable()) {
      return NoLoops(
          absl::StrCat(tensor->dtype().ToString(), " has no place in memory"));
    }
    tensors.push_back(TensorType(tensor));
  }
  return tensors;
}

std::vector<int64_t> ShapeOf(const TensorType& type) {
  std::vector<int64_t> shape;
  for (const Dim& dim : type->shape()) shape.push_back(dim.value());
  return shape;
}

Operand OperandOf(const tir::Buffer& buffer) {
  return {buffer, {}, buffer.dtype(), lower::ShapeOf(buffer)};
}

// `T_dense` for `nn.dense`.
std::string ResultName(absl::string_view op) {
  const size_t dot = op.rfind('.');
  return absl::StrCat("T_",
                      dot == absl::string_view::npos ? op : op.substr(dot + 1));
}

class FunctionLowerer {
 public:
  explicit FunctionLowerer(const Function& function) : function_(function) {}

  absl::StatusOr<LoweredFunction> Lower(const std::string& name) {
    for (const relay::Var& param : function_->params()) {
      BATON_ASSIGN_OR_RETURN(
          const std::vector<TensorType> types,
          TensorsOf(param->type().defined() ? param->type()
                                            : param->annotation()));
      std::vector<Operand>& operands = values_[param.get()];
      for (const TensorType& type : types) {
        operands.push_back(OperandOf(AddInput(type)));
      }
    }
    // The fields of the result: nodes, and which of their results.
    const Expr& body = function_->body();
    std::vector<std::pair<const ExprNode*, size_t>> results;
    if (const auto* tuple = body.As<relay::TupleNode>()) {
      for (const Expr& field : tuple->fields()) {
        const auto* item = field.As<relay::TupleGetItemNode>();
        results.emplace_back(
            item == nullptr ? field.get() : item->tuple().get(),
            item == nullptr ? 0 : static_cast<size_t>(item->index()));
      }
    } else {
      BATON_ASSIGN_OR_RETURN(const std::vector<TensorType> types,
                             TensorsOf(body->type()));
      const auto* item = body.As<relay::TupleGetItemNode>();
      for (size_t i = 0; i < types.size(); ++i) {
        results.emplace_back(
            item == nullptr ? body.get() : item->tuple().get(),
            item == nullptr ? i : static_cast<size_t>(item->index()));
      }
    }
    results_ = results;
    outputs_.resize(results.size());
    // Constants are arguments: they come before the results.
    std::vector<const ExprNode*> nodes;
    relay::PostOrderVisit(body,
                          [&](const ExprNode* node) { nodes.push_back(node); });
    for (const ExprNode* node : nodes) {
      if (const auto* constant =
              node->kind() == ExprKind::kConstant
                  ? static_cast<const relay::ConstantNode*>(node)
                  : nullptr) {
        BATON_RETURN_IF_ERROR(AddConstant(constant));
      }
    }
    for (const ExprNode* node : nodes) BATON_RETURN_IF_ERROR(Visit(node));
    for (const auto& [buffer, value] : loops_.constants()) {
      buffers_.push_back(buffer);
      constants_.emplace_back(value);
    }
    const int64_t num_inputs = static_cast<int64_t>(buffers_.size());
    for (size_t i = 0; i < results.size(); ++i) {
      BATON_ASSIGN_OR_RETURN(const Operand operand,
                             FieldOf(results[i].first, results[i].second));
      if (outputs_[i].defined()) continue;
      // A parameter, a number, or a result that is there already.
      outputs_[i] = loops_.MakeBuffer("T_copy", operand.dtype, operand.shape);
      CopyTo(operand, outputs_[i]);
    }
    buffers_.insert(buffers_.end(), outputs_.begin(), outputs_.end());
    tir::PrimFuncNode::Parts parts;
    for (const tir::Buffer& buffer : buffers_) {
      parts.buffers.push_back(
          {static_cast<int64_t>(parts.params.size()), buffer});
      parts.params.emplace_back(absl::StrCat(buffer->name(), "_handle"),
                                tir::kHandle);
    }
    parts.attrs = DictAttrs(AttrMap{
        {std::string(tir::kGlobalSymbol), AttrValue(name)},
        {std::string(tir::kNumInputs), AttrValue(num_inputs)},
        {std::string(kNoAlias), AttrValue(true)},
    });
    parts.body = loops_.Finish();
    return LoweredFunction{tir::PrimFunc(std::move(parts), function_->span()),
                           std::move(constants_)};
  }

  const Expr& refused() const { return refused_; }

 private:
  tir::Buffer AddInput(const TensorType& type) {
    tir::Buffer buffer = loops_.MakeBuffer(absl::StrCat("p", buffers_.size()),
                                           type->dtype(), ShapeOf(type));
    buffers_.push_back(buffer);
    return buffer;
  }

  absl::Status AddConstant(const relay::ConstantNode* constant) {
    if (values_.Contains(constant)) return absl::OkStatus();
    const Tensor& value = constant->value();
    const DType dtype = value.dtype();
    const bool is_number =
        constant->is_scalar() && dtype.IsStorable() &&
        (dtype != DType::UInt(64) || value.AtAsInt64(0) >= 0);
    if (is_number) {
      const tir::PrimExpr number =
          dtype.is_float()
              ? tir::PrimExpr(tir::FloatImm(dtype, value.AtAsDouble(0)))
              : tir::PrimExpr(tir::IntImm(dtype, value.AtAsInt64(0)));
      values_[constant] = {{tir::Buffer(), number, dtype, {}}};
      return absl::OkStatus();
    }
    const TensorType type = constant->ValueType();
    BATON_RETURN_IF_ERROR(TensorsOf(type).status());
    values_[constant] = {OperandOf(AddInput(type))};
    constants_.emplace_back(constant);
    return absl::OkStatus();
  }

  absl::StatusOr<Operand> FieldOf(const ExprNode* node, size_t field) {
    const std::vector<Operand>* known = values_.Find(node);
    if (known == nullptr || field >= known->size()) {
      return NoLoops("a tuple is inside of another");
    }
    return (*known)[field];
  }

  absl::Status Visit(const ExprNode* node) {
    if (values_.Contains(node)) return absl::OkStatus();
    switch (relay::ExprKindOf(node)) {
      case ExprKind::kCall:
        return VisitCall(static_cast<const CallNode*>(node));
      case ExprKind::kTuple: {
        std::vector<Operand> fields;
        for (const Expr& field :
             static_cast<const relay::TupleNode*>(node)->fields()) {
          if (field->type().Is<TupleTypeNode>()) {
            return NoLoops("a tuple is inside of another");
          }
          BATON_ASSIGN_OR_RETURN(Operand operand, FieldOf(field.get(), 0));
          fields.push_back(std::move(operand));
        }
        values_[node] = std::move(fields);
        return absl::OkStatus();
      }
      case ExprKind::kTupleGetItem: {
        const auto* item = static_cast<const relay::TupleGetItemNode*>(node);
        BATON_ASSIGN_OR_RETURN(
            Operand operand,
            FieldOf(item->tuple().get(), static_cast<size_t>(item->index())));
        values_[node] = {std::move(operand)};
        return absl::OkStatus();
      }
      case ExprKind::kOp:
        return absl::OkStatus();
      default:
        return NoLoops(absl::StrCat("it has a ", NodeKindName(node->kind())));
    }
  }

  absl::Status VisitCall(const CallNode* call) {
    const absl::Status status = AppendCall(call);
    if (!status.ok()) refused_ = Expr(call);
    return status;
  }

  absl::Status AppendCall(const CallNode* call) {
    const OpNode* op = call->op_node();
    if (op == nullptr) return NoLoops("it calls a function");
    const Computation* computation = Computations().Get(*op);
    if (computation == nullptr) {
      return NoLoops(
          absl::StrCat("operator ", op->name(), " has no computation"));
    }
    std::vector<Operand> inputs;
    for (const Expr& arg : call->args()) {
      const std::vector<Operand>* known = values_.Find(arg.get());
      if (known == nullptr) return NoLoops("an argument has no value");
      inputs.insert(inputs.end(), known->begin(), known->end());
    }
    BATON_ASSIGN_OR_RETURN(const std::vector<TensorType> types,
                           TensorsOf(call->type()));
    std::vector<tir::Buffer> outputs;
    std::vector<Operand> values;
    for (size_t field = 0; field < types.size(); ++field) {
      const size_t result = static_cast<size_t>(
          std::find(results_.begin(), results_.end(),
                    std::pair<const ExprNode*, size_t>(call, field)) -
          results_.begin());
      const std::string name = ResultName(op->name());
      const bool is_result = result < results_.size();
      tir::Buffer buffer = is_result
                               ? loops_.MakeBuffer(name, types[field]->dtype(),
                                                   ShapeOf(types[field]))
                               : loops_.Allocate(name, types[field]->dtype(),
                                                 ShapeOf(types[field]));
      if (is_result) outputs_[result] = buffer;
      values.push_back(OperandOf(buffer));
      outputs.push_back(std::move(buffer));
    }
    LoopBuilder builder(*call, std::move(inputs), std::move(outputs), loops_);
    const absl::Status status = (*computation)(builder);
    if (!status.ok()) {
      return NoLoops(
          absl::StrCat("operator ", op->name(), ": ", status.message()));
    }
    values_[call] = std::move(values);
    return absl::OkStatus();
  }

  void CopyTo(const Operand& operand, const tir::Buffer& to) {
    LoopBuilder builder(operand, to, loops_);
    builder.Store(to, [&](const Indices& at) { return builder.Load(0, at); });
  }

  const Function& function_;
  FunctionLoops loops_;
  std::vector<tir::Buffer> buffers_;  // of arguments
  std::vector<relay::Constant> constants_;
  std::vector<std::pair<const ExprNode*, size_t>> results_;
  std::vector<tir::Buffer> outputs_;  // null until they are made
  NodeMap<std::vector<Operand>> values_;
  Expr refused_;
};

constexpr size_t kMaxName = 80;

// `fused_nn_dense_add`.
std::string NameOf(const Function& function) {
  std::string name = "fused";
  relay::PostOrderVisit(function->body(), [&name](const ExprNode* node) {
    if (node->kind() != ExprKind::kCall) return;
    const OpNode* op = static_cast<const CallNode*>(node)->op_node();
    if (op == nullptr) return;
    absl::StrAppend(&name, "_", absl::StrReplaceAll(op->name(), {{".", "_"}}));
  });
  if (name.size() > kMaxName) name.resize(kMaxName);
  return name;
}

class ModuleLowerer : public relay::ExprMutator {
 public:
  ModuleLowerer(const IRModule& module, bool no_alias)
      : module_(module), no_alias_(no_alias) {}

  IRModule& module() { return module_; }
  int num_primitive() const { return num_primitive_; }

 protected:
  // Primitive functions are lowered as wholes.
  Expr Before(const ExprNode* node) override {
    if (node->kind() == ExprKind::kFunction && IsCandidate(node)) {
      return Expr(node);
    }
    return {};
  }

  Expr VisitCall(const CallNode* original, relay::Call call) override {
    const auto* function = call->op().As<relay::FunctionNode>();
    if (function == nullptr || !IsCandidate(function)) return call;
    const Lowered& lowered = LoweredOf(Function(function));
    if (!lowered.var.defined()) return call;
    std::vector<Expr> args;
    for (const Expr& arg : call->args()) {
      const auto* type = arg->type().As<TupleTypeNode>();
      const auto* tuple = arg.As<relay::TupleNode>();
      if (tuple != nullptr) {
        args.insert(args.end(), tuple->fields().begin(), tuple->fields().end());
      } else if (type == nullptr) {
        args.push_back(arg);
      } else {
        for (size_t i = 0; i < type->fields().size(); ++i) {
          args.push_back(
              relay::TupleGetItem(arg, static_cast<int>(i), type->fields()[i]));
        }
      }
    }
    args.insert(args.end(), lowered.constants.begin(), lowered.constants.end());
    return relay::Call(lowered.var, absl::MakeConstSpan(args), Attrs(), {},
                       original->type(), original->span());
  }

 private:
  struct Lowered {
    Function function;
    GlobalVar var;  // null if it stays
    std::vector<Expr> constants;
  };

  static bool IsCandidate(const ExprNode* node) {
    const auto* function = static_cast<const relay::FunctionNode*>(node);
    return function->IsPrimitive() &&
           function->attrs().Find(relay::attr::kCompiler) == nullptr;
  }

  const Lowered& LoweredOf(const Function& function) {
    std::vector<Lowered>& equal = lowered_[StructuralHash(function)];
    for (const Lowered& known : equal) {
      if (StructuralEqual(known.function, function)) return known;
    }
    ++num_primitive_;
    equal.push_back({function, GlobalVar(), {}});
    Lowered& result = equal.back();
    std::string name = NameOf(function);
    for (int i = 1; module_.Find(name).defined(); ++i) {
      name = absl::StrCat(NameOf(function), "_", i);
    }
    Expr refused = function;
    absl::StatusOr<LoweredFunction> lowered =
        LowerFunction(function, name, &refused, no_alias_);
    if (!lowered.ok()) {
      if (WantsRemarks(RemarkKind::kMissed)) {
        LogRemark({.kind = RemarkKind::kMissed,
                   .node = refused,
                   .reason = std::string(lowered.status().message())});
      }
      return result;
    }
    result.constants.assign(lowered->constants.begin(),
                            lowered->constants.end());
    result.var = GlobalVar(name);
    LogOrigin(lowered->function, function.get());
    module_.Set(result.var, lowered->function);
    if (WantsRemarks(RemarkKind::kPassed)) {
      LogRemark({.kind = RemarkKind::kPassed,
                 .node = function,
                 .reason = "its loops are a function"});
    }
    return result;
  }

  IRModule module_;
  bool no_alias_;
  FlatHashMap<uint64_t, std::vector<Lowered>> lowered_;
  int num_primitive_ = 0;
};

}  // namespace

absl::StatusOr<LoweredFunction> LowerFunction(const Function& function,
                                              const std::string& name,
                                              Expr* refused, bool no_alias) {
  FunctionLowerer lowerer(function);
  absl::StatusOr<LoweredFunction> result = lowerer.Lower(name);
  if (!result.ok() && refused != nullptr && lowerer.refused().defined()) {
    *refused = lowerer.refused();
  }
  if (result.ok() && !no_alias) {
    tir::PrimFuncNode::Parts parts = result->function->parts();
    parts.attrs = parts.attrs.Without(kNoAlias);
    result->function =
        tir::PrimFunc(std::move(parts), result->function->span());
  }
  return result;
}

bool HasNoAlias(const PassContext& context) {
  return context.Get(kNoAliasSetting);
}

Pass LowerToTir() {
  return CreateModulePass(
      [](IRModule module,
         const PassContext& context) -> absl::StatusOr<IRModule> {
        ModuleLowerer lowerer(module, HasNoAlias(context));
        for (const auto& [var, function] : module.functions<Function>()) {
          if (function->IsPrimitive()) continue;
          BATON_ASSIGN_OR_RETURN(Function lowered,
                                 lowerer.MutateFunction(function));
          lowerer.module().Set(var, std::move(lowered));
        }
        if (lowerer.num_primitive() == 0 && WantsRemarks(RemarkKind::kMissed)) {
          LogRemark({.kind = RemarkKind::kMissed,
                     .reason = "there are no primitive functions: FuseOps "
                               "makes them"});
        }
        return lowerer.module();
      },
      {.name = "LowerToTir",
       .required = {"InferType"},
       .doc = "Makes functions of loops of primitive functions.",
       .invalidates = {"tir.no_initializations", "tir.opaque_blocks",
                       "tir.flat_allocations", "tir.has_targets"}});
}
BATON_REGISTER_PASS(LowerToTir);

}  // namespace baton::lower
