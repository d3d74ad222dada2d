#include "baton/onnx/importer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/dim_names.h"
#include "baton/onnx/listing.h"
#include "baton/onnx/model.h"
#include "baton/onnx/node_order.h"
#include "baton/onnx/schema.h"
#include "baton/onnx/tensor_names.h"
#include "baton/onnx/tensor_reader.h"
#include "baton/relay/analysis/shape_values.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/infer_type_at.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/transform/fold_constant.h"

namespace baton::onnx {

using relay::TupleNode;
using relay::Var;
using relay::VarNode;

namespace {

// Nodes that calls of functions and rounds of loops may add to those of the
// file: each is converted anew.
constexpr int64_t kMaxAddedNodes = 1'000'000;

// The name of a parameter, as the reference makes it: what is no part of a
// name is `_`, and none begins with a digit.
std::string ParameterName(absl::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (result.empty() ||
      absl::ascii_isdigit(static_cast<unsigned char>(result[0]))) {
    result.insert(0, "input_");
  }
  return result;
}

// True if the value is a tensor of few elements with a known shape.
bool IsSmall(const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  if (type == nullptr) return false;
  const auto dims = ConstDims(type->shape());
  if (!dims.has_value()) return false;
  const absl::StatusOr<int64_t> elements = NumElements(type->dtype(), *dims);
  return elements.ok() && *elements <= kMaxFoldedElements;
}

// True for a weight that convolutions and products may take in bytes: passes
// decide whether it becomes floats.
bool IsDequantizedWeight(const NodeProto& node, const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  return node.op_type == "DequantizeLinear" && node.domain.empty() &&
         type != nullptr && type->rank() >= 2;
}

// True if the values of operands decide how large the tensor is.
bool HasOpenShape(const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  return type != nullptr && !ConstDims(type->shape()).has_value();
}

// A constant of the type of `expr`, if all its elements are known.
std::optional<Expr> WithElements(const Expr& expr, const Dims* elements) {
  if (elements == nullptr ||
      !std::all_of(elements->begin(), elements->end(),
                   [](const Dim& dim) { return dim.is_const(); })) {
    return std::nullopt;
  }
  std::vector<int64_t> values;
  for (const Dim& dim : *elements) values.push_back(dim.value());
  const TensorTypeNode& type = *expr->tensor_type();
  const Expr vector = VectorConstant(values, type.dtype());
  const absl::StatusOr<Tensor> tensor =
      relay::ConstantTensor(vector)->Reshaped(*ConstDims(type.shape()));
  if (!tensor.ok()) return std::nullopt;
  return relay::Const(*tensor);
}

// True if one of `nodes` has the output `name`.
bool IsGivenBy(absl::Span<const absl::string_view> nodes,
               absl::string_view name) {
  return std::any_of(
      nodes.begin(), nodes.end(), [name](absl::string_view message) {
        const absl::StatusOr<NodeProto> node = ReadNode(message);
        return node.ok() &&
               std::find(node->outputs.begin(), node->outputs.end(), name) !=
                   node->outputs.end();
      });
}

// True if a node uses a value that does not exist, or not yet.
absl::StatusOr<bool> HasUndefinedInput(const NodeProto& node,
                                       const Scope& scope) {
  const auto is_missing = [&scope](absl::string_view name) {
    return !name.empty() && scope.Find(name) == nullptr;
  };
  if (std::any_of(node.inputs.begin(), node.inputs.end(), is_missing)) {
    return true;
  }
  if (node.Graphs().empty()) return false;
  BATON_ASSIGN_OR_RETURN(const std::vector<absl::string_view> names,
                         NamesUsedBy(node));
  return std::any_of(names.begin(), names.end(), is_missing);
}

// The node that is number `at` in `order`; no order: that of the list. From the
// first node on that lacks something, there is one.
absl::StatusOr<NodeProto> NodeInOrder(absl::Span<const absl::string_view> nodes,
                                      size_t at, const Scope& scope,
                                      std::vector<size_t>& order) {
  if (!order.empty()) return ReadNode(nodes[order[at]]);
  BATON_ASSIGN_OR_RETURN(NodeProto node, ReadNode(nodes[at]));
  BATON_ASSIGN_OR_RETURN(const bool lacks, HasUndefinedInput(node, scope));
  if (!lacks) return node;
  BATON_ASSIGN_OR_RETURN(order, DependencyOrder(nodes, at));
  return ReadNode(nodes[order[at]]);
}

// Several outputs of which some are sequences: puts the tensors of these in
// their places, NAME_0, NAME_1, ...
void SpreadSequences(Outputs& outputs, AttrList& names) {
  if (outputs.size() == 1) return;
  Outputs spread;
  AttrList spread_names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TupleTypeNode* type = outputs[i]->tuple_type();
    if (type == nullptr) {
      spread.push_back(outputs[i]);
      spread_names.push_back(names[i]);
      continue;
    }
    const auto* tuple = outputs[i].As<TupleNode>();
    for (size_t k = 0; k < type->fields().size(); ++k) {
      spread.push_back(tuple != nullptr ? tuple->fields()[k]
                                        : Expr(relay::TupleGetItem(
                                              outputs[i], static_cast<int>(k),
                                              type->fields()[k])));
      spread_names.emplace_back(
          absl::StrCat(*names[i].As<std::string>(), "_", k));
    }
  }
  outputs = std::move(spread);
  names = std::move(spread_names);
}

}  // namespace

InputNeeds Importer::Needs() const {
  InputNeeds result;
  const auto is_shape = [](const Expr& expr) {
    return relay::IsCallTo(expr, BATON_OP("shape_of")) ||
           relay::IsCallTo(expr, BATON_OP("ndarray_size"));
  };
  // Each expression, with true if its value is needed and not only its shape.
  std::vector<std::pair<Expr, bool>> work;
  for (const Expr& value : needed_) work.emplace_back(value, true);
  FlatHashSet<std::pair<const ExprNode*, bool>> seen;
  while (!work.empty()) {
    const auto [expr, needs_value] = std::move(work.back());
    work.pop_back();
    if (!expr.defined() || !seen.emplace(expr.get(), needs_value).second) {
      continue;
    }
    relay::PostOrderVisit(
        expr,
        [&](const ExprNode* node) {
          const Expr visited(node);
          if (!is_shape(visited)) return true;
          work.emplace_back(visited.As<relay::CallNode>()->arg(0), false);
          return false;
        },
        [&, needs_value = needs_value](const ExprNode* node) {
          if (const auto input = input_of_.find(node);
              input != input_of_.end()) {
            (needs_value ? result.values : result.shapes).insert(input->second);
          }
          if (const auto initial = initial_.find(node);
              initial != initial_.end()) {
            work.emplace_back(initial->second, needs_value);
          }
        });
  }
  return result;
}

absl::StatusOr<Type> Importer::InputType(const ValueInfo& info) {
  if (info.kind != ValueInfo::Kind::kTensor) {
    return absl::UnimplementedError(absl::StrCat(
        "input '", Printable(info.name),
        info.kind == ValueInfo::Kind::kSequence ||
                info.kind == ValueInfo::Kind::kOptional
            ? "' is a sequence or an optional, whose tensors must be given: "
              "run the model with its inputs"
            : "' is no tensor"));
  }
  const absl::StatusOr<DType> dtype = DTypeOf(info.element_type);
  if (!dtype.ok()) {
    return absl::Status(dtype.status().code(),
                        absl::StrCat("input '", Printable(info.name),
                                     "': ", dtype.status().message()));
  }
  Dims dims;
  const auto add = [&](int64_t extent) -> absl::Status {
    if (extent > int64_t{1} << 60) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", Printable(info.name), "' has a dimension of ",
                       extent, ", more than 2^60"));
    }
    dims.push_back(extent);
    return absl::OkStatus();
  };
  const auto given = options_.input_shapes.find(std::string(info.name));
  if (given != options_.input_shapes.end()) {
    for (int64_t dim : given->second) {
      if (dim < 0) {
        dims.push_back(Dim::Any());
      } else {
        BATON_RETURN_IF_ERROR(add(dim));
      }
    }
    if (info.shape.has_value() && info.shape->size() != dims.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input '", Printable(info.name), "' has rank ", info.shape->size(),
          ", but the shape that was given for it has ", dims.size()));
    }
    return Type(TensorType(std::move(dims), *dtype));
  }
  if (!info.shape.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat("the rank of input '", Printable(info.name),
                     "' is not known; give its shape (--input_shapes)"));
  }
  for (const ValueInfo::Dimension& dimension : *info.shape) {
    if (dimension.value.has_value() && *dimension.value >= 0) {
      BATON_RETURN_IF_ERROR(add(*dimension.value));
    } else if (const auto sized = SizeOfDim(dimension.param, options_.dims);
               sized.has_value()) {
      BATON_RETURN_IF_ERROR(add(*sized));
    } else if (keeps_names_ && !dimension.param.empty() &&
               !dimension.value.has_value()) {
      std::string name(dimension.param);
      const auto [entry, is_new] = dims_.try_emplace(name);
      if (is_new) {
        entry->second =
            Dim(new DimExprNode(DimExprNode::Op::kVar, std::move(name),
                                DType::Int(64), Dim(), Dim()));
      }
      dims.push_back(entry->second);
    } else {
      dims.push_back(Dim::Any());
    }
  }
  return Type(TensorType(std::move(dims), *dtype));
}

absl::StatusOr<Expr> Importer::Known(const ValueInfo& info,
                                     const Tensor& value) {
  BATON_ASSIGN_OR_RETURN(const Type type, InputType(info));
  const Type given = TensorType::Of(value.shape(), value.dtype());
  const auto* said = type.As<TensorTypeNode>();
  bool fits = said->dtype() == value.dtype() && said->rank() == value.rank();
  for (int i = 0; fits && i < value.rank(); ++i) {
    fits = !said->dim(i).is_const() ||
           said->dim(i).value() == value.shape()[static_cast<size_t>(i)];
  }
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the value that was given for input '", Printable(info.name), "' is ",
        given.ToString(), ", not ", type.ToString()));
  }
  return Expr(relay::Constant(value, given));
}

absl::StatusOr<Expr> Importer::Parameter(const ValueInfo& info) {
  BATON_ASSIGN_OR_RETURN(Type type, InputType(info));
  return Expr(new VarNode(ParameterName(info.name), type, type, {}));
}

absl::StatusOr<Expr> Importer::PartsOf(const ValueInfo& info,
                                       const OnnxImportOptions::Parts& parts,
                                       std::vector<Var>& params,
                                       AttrList& names) {
  const auto parameter = [&](const std::string& name, const Tensor& tensor) {
    const Type type = TensorType::Of(tensor.shape(), tensor.dtype());
    const Var var(new VarNode(ParameterName(name), type, type, {}));
    params.push_back(var);
    names.emplace_back(name);
    return Expr(var);
  };
  const std::string name(info.name);
  if (info.kind == ValueInfo::Kind::kOptional && !parts.is_sequence) {
    if (parts.tensors.size() > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", Printable(name), "' is an optional of ",
                       "a tensor, but there are ", parts.tensors.size()));
    }
    return parts.tensors.empty() ? Expr() : parameter(name, parts.tensors[0]);
  }
  std::vector<Expr> fields;
  for (size_t i = 0; i < parts.tensors.size(); ++i) {
    fields.push_back(parameter(absl::StrCat(name, "_", i), parts.tensors[i]));
  }
  Span span;
  return relay::InferTypeAt(relay::Tuple(std::move(fields)), span);
}

absl::Status Importer::AddInitializers(const GraphProto& graph, Scope& scope) {
  const std::vector<Span> places = ListTensors(
      graph.initializers, absl::StrCat(options_.name, " (initializers)"));
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    const TensorProto& initializer = graph.initializers[i];
    if (initializer.name.empty()) {
      return absl::InvalidArgumentError("an initializer has no name");
    }
    const int64_t element_type = initializer.is_sparse
                                     ? ElementTypeInSparse(initializer.message)
                                     : ElementTypeIn(initializer.message);
    Expr value;
    // Whoever uses a value of no type that there is says so.
    const absl::StatusOr<DType> dtype = DTypeOf(element_type);
    if (dtype.ok() || !absl::IsUnimplemented(dtype.status())) {
      BATON_ASSIGN_OR_RETURN(
          Tensor tensor, initializer.is_sparse
                             ? ReadSparseTensor(initializer.message, tensors_)
                             : ReadTensor(initializer.message, tensors_));
      Type type = TensorType::Of(tensor.shape(), tensor.dtype());
      value = relay::Constant(std::move(tensor), std::move(type), places[i]);
      RecordNarrowType(value, NarrowTypeOf(element_type));
    } else {
      unreadable_.emplace(
          initializer.name,
          absl::Status(dtype.status().code(),
                       absl::StrCat("tensor '", Printable(initializer.name),
                                    "': ", dtype.status().message())));
    }
    if (!scope.values.emplace(initializer.name, value).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are two initializers of the name '",
                       Printable(initializer.name), "'"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> Importer::GraphOutputs(
    absl::Span<const absl::string_view> names, const Scope& scope) const {
  Outputs result;
  for (absl::string_view name : names) {
    const Expr* value = name.empty() ? nullptr : scope.Find(name);
    if (value == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("no node gives the output '", Printable(name), "'"));
    }
    BATON_RETURN_IF_ERROR(CheckReadable(name, *value));
    result.push_back(*value);
  }
  return result;
}

absl::Status Importer::CheckReadable(absl::string_view name,
                                     const Expr& value) const {
  if (value.defined()) return absl::OkStatus();
  const auto found = unreadable_.find(name);
  return found == unreadable_.end() ? absl::OkStatus() : found->second;
}

bool Importer::MayBeConstant(const Expr& value) {
  const auto may_be = [this](const Expr& operand) {
    const auto found = may_be_constant_.find(operand);
    return found == may_be_constant_.end() || found->second;
  };
  relay::PostOrderVisit(
      value,
      [this](const ExprNode* node) {
        return !may_be_constant_.contains(Expr(node));
      },
      [&](const ExprNode* node) {
        const Expr expr(node);
        if (may_be_constant_.contains(expr)) return;
        bool result = true;
        if (expr.Is<VarNode>()) {
          result = false;
        } else if (const auto* tuple = expr.As<TupleNode>()) {
          result = std::all_of(tuple->fields().begin(), tuple->fields().end(),
                               may_be);
        } else if (const auto* call = expr.As<relay::CallNode>();
                   call != nullptr && call->op_node() != nullptr &&
                   call->num_args() > 0) {
          // The shape of a value may be known without the value.
          const TensorTypeNode* type = call->arg(0)->tensor_type();
          const bool asks_for_shape =
              relay::ShapeQueries().Get(*call->op_node()) != nullptr;
          result =
              (asks_for_shape && type != nullptr && type->is_static()) ||
              std::all_of(call->args().begin(), call->args().end(), may_be);
        } else if (const auto* item = expr.As<relay::TupleGetItemNode>()) {
          // One field of a tuple may be constant.
          result = item->tuple().Is<TupleNode>() || may_be(item->tuple());
        }
        may_be_constant_.emplace(expr, result);
      });
  return may_be(value);
}

bool Importer::IsNeeded(const NodeProto& node) {
  if (!needed_names_.has_value()) {
    needed_names_.emplace();
    const absl::StatusOr<GraphProto> graph = ReadGraph(model_.graph);
    if (!graph.ok()) return true;
    FlatHashMap<absl::string_view, size_t> givers;
    for (size_t i = 0; i < graph->nodes.size(); ++i) {
      const absl::StatusOr<NodeProto> other = ReadNode(graph->nodes[i]);
      if (!other.ok()) continue;
      for (absl::string_view name : other->outputs) givers.emplace(name, i);
    }
    std::vector<absl::string_view> work;
    for (const ValueInfo& output : graph->outputs) work.push_back(output.name);
    while (!work.empty()) {
      const absl::string_view name = work.back();
      work.pop_back();
      if (name.empty() || !needed_names_->insert(name).second) continue;
      const auto giver = givers.find(name);
      if (giver == givers.end()) continue;
      const absl::StatusOr<NodeProto> other =
          ReadNode(graph->nodes[giver->second]);
      if (!other.ok()) continue;
      const auto used = NamesUsedBy(*other);
      if (!used.ok()) continue;
      work.insert(work.end(), used->begin(), used->end());
    }
  }
  return std::any_of(
      node.outputs.begin(), node.outputs.end(),
      [this](absl::string_view name) { return needed_names_->contains(name); });
}

// Types the outputs together, so that a node that several use stays one node.
absl::Status Importer::TypeOutputs(NodeContext& context, Outputs& outputs) {
  std::vector<Expr> fields;
  for (const Expr& output : outputs) {
    if (output.defined() && !output->type().defined()) fields.push_back(output);
  }
  if (fields.empty()) return absl::OkStatus();
  const bool is_one = fields.size() == 1;
  absl::StatusOr<Expr> typed =
      context.Typed(is_one ? fields[0] : Expr(relay::Tuple(std::move(fields))));
  error_has_location_ = error_has_location_ || !typed.ok();
  BATON_RETURN_IF_ERROR(typed.status());
  size_t next = 0;
  for (Expr& output : outputs) {
    if (!output.defined() || output->type().defined()) continue;
    output = is_one ? *typed : typed->As<TupleNode>()->fields()[next++];
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> Importer::ConvertNode(const NodeProto& node,
                                              const Span& span,
                                              const Scope& scope,
                                              const Opsets& opsets) {
  std::vector<Expr> inputs;
  inputs.reserve(node.inputs.size());
  bool all_constant = !node.inputs.empty();
  for (absl::string_view name : node.inputs) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const Expr* value = scope.Find(name);
    if (value == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("uses '", Printable(name), "', which ",
                       IsGivenBy(nodes_, name)
                           ? "depends on it: the graph has a cycle"
                           : "no input, initializer or earlier node gives"));
    }
    BATON_RETURN_IF_ERROR(CheckReadable(name, *value));
    all_constant = all_constant && value->defined() &&
                   relay::ConstantTensor(*value) != nullptr && IsSmall(*value);
    inputs.push_back(*value);
  }
  if (const FunctionProto* function = FindFunction(node)) {
    return ConvertCall(*function, node, std::move(inputs));
  }
  const int64_t opset = opsets.at(node.domain);
  BATON_RETURN_IF_ERROR(CheckNode(node, opset, inputs));
  needed_.clear();
  const OpConverter* converter = Converter(node, opset);
  NodeContext context(node, opset, std::move(inputs), span, *this);
  absl::StatusOr<Outputs> outputs = converter->convert(context);
  BATON_RETURN_IF_ERROR(context.status());
  error_has_location_ =
      error_has_location_ || context.IsLocated(outputs.status());
  BATON_RETURN_IF_ERROR(outputs.status());
  BATON_RETURN_IF_ERROR(TypeOutputs(context, *outputs));
  for (Expr& output : *outputs) {
    if (!output.defined()) continue;
    if (all_constant && (IsSmall(output) || HasOpenShape(output)) &&
        relay::ConstantTensor(output) == nullptr &&
        !IsDequantizedWeight(node, output)) {
      const absl::StatusOr<Expr> folded =
          relay::FoldConstantInExpr(output, {.fold_qnn = true});
      if (folded.ok() && relay::ConstantTensor(*folded) != nullptr &&
          (IsSmall(output) || relay::ConstantTensor(*folded)->num_elements() <=
                                  kMaxFoldedElements)) {
        BATON_ASSIGN_OR_RETURN(output, relay::InferTypeAt(*folded, span));
      }
    }
    if (relay::ConstantTensor(output) == nullptr) {
      if (const auto known = WithElements(output, ElementsOf(output))) {
        BATON_ASSIGN_OR_RETURN(output, relay::InferTypeAt(*known, span));
      }
    }
  }
  RecordNarrowType(context, *outputs);
  return outputs;
}

void Importer::RecordNarrowType(const Expr& value, ElementType type) {
  if (type != ElementType::kUndefined) narrow_.emplace(value, type);
}

// Only output 0 may be narrow.
void Importer::RecordNarrowType(const NodeContext& context,
                                const Outputs& outputs) {
  if (outputs.empty() || !outputs[0].defined()) return;
  ElementType type = context.narrow_type().value_or(ElementType::kUndefined);
  if (!context.narrow_type().has_value() && !narrow_.empty() &&
      context.HasInput(0)) {
    const TensorTypeNode* from = context.inputs()[0]->tensor_type();
    const TensorTypeNode* to = outputs[0]->tensor_type();
    if (from != nullptr && to != nullptr && from->dtype() == to->dtype()) {
      type = context.NarrowType(0);
    }
  }
  RecordNarrowType(outputs[0], type);
}

absl::Status Importer::ConvertNodes(
    absl::Span<const absl::string_view> nodes, const std::string& what,
    Scope& scope, const Opsets& opsets,
    absl::Span<const AttributeProto> attributes) {
  if (depth_ > 0) {
    added_nodes_ += static_cast<int64_t>(nodes.size()) + 1;
    if (added_nodes_ > kMaxAddedNodes) {
      return absl::UnimplementedError(
          absl::StrCat("functions and loops unfold to more than ",
                       kMaxAddedNodes, " nodes"));
    }
  }
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Span> places,
      ListNodes(nodes, what.empty()
                           ? options_.name
                           : absl::StrCat(options_.name, " (", what, ")")));
  const absl::Span<const absl::string_view> outer_nodes =
      std::exchange(nodes_, nodes);
  const Scope* const outer_scope = std::exchange(scope_, &scope);
  const Opsets* const outer_opsets = std::exchange(opsets_, &opsets);
  const absl::Span<const AttributeProto> outer_attributes =
      std::exchange(attributes_, attributes);
  std::string outer_what = std::exchange(what_, what);
  absl::Status status;
  std::vector<size_t> order;
  for (size_t at = 0; at < nodes.size() && status.ok(); ++at) {
    absl::StatusOr<NodeProto> read = NodeInOrder(nodes, at, scope, order);
    if (!read.ok()) {
      status = read.status();
      break;
    }
    NodeProto& node = *read;
    // The attributes of the call that a node of a function takes over.
    std::vector<AttributeProto> given;
    for (AttributeProto& attribute : node.attributes) {
      if (!attribute.ref_name.empty()) {
        const auto* value =
            std::find_if(attributes.begin(), attributes.end(),
                         [&attribute](const AttributeProto& candidate) {
                           return candidate.name == attribute.ref_name;
                         });
        if (value == attributes.end()) continue;  // as if it were not there
        const absl::string_view name = attribute.name;
        attribute = *value;
        attribute.name = name;
      }
      given.push_back(std::move(attribute));
    }
    node.attributes = std::move(given);

    const Span& span = places[order.empty() ? at : order[at]];
    absl::StatusOr<Outputs> outputs = ConvertNode(node, span, scope, opsets);
    status = outputs.status();
    if (status.ok() && outputs->size() < node.outputs.size() &&
        std::any_of(node.outputs.begin() + outputs->size(), node.outputs.end(),
                    [](absl::string_view name) { return !name.empty(); })) {
      status = absl::UnimplementedError(
          absl::StrCat("of its ", node.outputs.size(), " outputs only ",
                       outputs->size(), " are supported"));
    }
    if (depth_ == 0 && absl::IsUnimplemented(status) && !IsNeeded(node)) {
      for (absl::string_view name : node.outputs) {
        unreadable_.emplace(name, status);
      }
      outputs = Outputs(node.outputs.size());
      error_has_location_ = false;
      status = absl::OkStatus();
    }
    for (size_t k = 0; status.ok() && k < node.outputs.size(); ++k) {
      if (node.outputs[k].empty()) continue;
      const bool is_outer = scope.parent != nullptr &&
                            scope.parent->Find(node.outputs[k]) != nullptr;
      if (is_outer ||
          !scope.values.emplace(node.outputs[k], std::move((*outputs)[k]))
               .second) {
        status = absl::InvalidArgumentError(absl::StrCat(
            "gives '", Printable(node.outputs[k]), "', which there is already",
            is_outer ? " in a graph around it" : ""));
      }
    }
    if (!status.ok() && !error_has_location_) {
      error_has_location_ = true;
      Diagnostics diagnostics;
      diagnostics.Error(span, absl::StrCat(Printable(node.op_type), ": ",
                                           Printable(status.message())));
      status = absl::Status(status.code(), diagnostics.ToString());
    }
  }
  nodes_ = outer_nodes;
  scope_ = outer_scope;
  opsets_ = outer_opsets;
  attributes_ = outer_attributes;
  what_ = std::move(outer_what);
  return status;
}

absl::StatusOr<Outputs> Importer::ConvertGraph(absl::string_view graph,
                                               absl::Span<const Expr> inputs,
                                               absl::string_view what) {
  if (depth_ >= kMaxDepth) {
    return absl::InvalidArgumentError("graphs are nested too deeply");
  }
  BATON_ASSIGN_OR_RETURN(const GraphProto read, ReadGraph(graph));
  Scope scope;
  scope.parent = scope_;
  if (read.inputs.size() != inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its graph has ", read.inputs.size(), " inputs, not ", inputs.size()));
  }
  BATON_RETURN_IF_ERROR(AddInitializers(read, scope));
  for (size_t i = 0; i < inputs.size(); ++i) {
    scope.values[read.inputs[i].name] = inputs[i];
  }
  ++depth_;
  const absl::Status status = ConvertNodes(
      read.nodes, absl::StrCat(what_, what_.empty() ? "" : ", ", what), scope,
      *opsets_, attributes_);
  --depth_;
  BATON_RETURN_IF_ERROR(status);
  std::vector<absl::string_view> names;
  for (const ValueInfo& output : read.outputs) names.push_back(output.name);
  return GraphOutputs(names, scope);
}

absl::StatusOr<Outputs> Importer::ConvertBody(
    absl::string_view graph, absl::Span<const Expr> inputs,
    absl::string_view what, absl::FunctionRef<Expr(const Expr&)> capture) {
  BATON_ASSIGN_OR_RETURN(const std::vector<absl::string_view> names,
                         NamesUsedIn(graph));
  Scope scope;
  scope.parent = scope_;
  for (absl::string_view name : names) {
    const Expr* value = name.empty() ? nullptr : scope.Find(name);
    if (value == nullptr || !value->defined() ||
        relay::ConstantTensor(*value) != nullptr ||
        scope.values.contains(name)) {
      continue;
    }
    scope.values.emplace(name, capture(*value));
  }
  const Scope* const outer = std::exchange(scope_, &scope);
  absl::StatusOr<Outputs> result = ConvertGraph(graph, inputs, what);
  scope_ = outer;
  return result;
}

absl::StatusOr<Outputs> Importer::ConvertCall(const FunctionProto& function,
                                              const NodeProto& node,
                                              std::vector<Expr> inputs) {
  if (depth_ >= kMaxDepth) {
    return absl::InvalidArgumentError("functions are nested too deeply");
  }
  if (inputs.size() > function.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the function has ", function.inputs.size(),
                     " inputs, not ", inputs.size()));
  }
  inputs.resize(function.inputs.size());
  Scope scope;
  for (size_t i = 0; i < inputs.size(); ++i) {
    scope.values[function.inputs[i]] = std::move(inputs[i]);
  }
  std::vector<AttributeProto> attributes = node.attributes;
  for (const AttributeProto& otherwise : function.attributes) {
    if (node.Find(otherwise.name) == nullptr) attributes.push_back(otherwise);
  }
  BATON_ASSIGN_OR_RETURN(const Opsets opsets, ReadOpsets(function.opsets));
  ++depth_;
  const absl::Status status = ConvertNodes(
      function.nodes, absl::StrCat("function ", Printable(function.name)),
      scope, opsets, attributes);
  --depth_;
  BATON_RETURN_IF_ERROR(status);
  Outputs result;
  for (absl::string_view name : function.outputs) {
    const Expr* value = scope.Find(name);
    if (value == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "no node of the function gives '", Printable(name), "'"));
    }
    result.push_back(*value);
  }
  return result;
}

absl::StatusOr<IRModule> Importer::Import() {
  BATON_RETURN_IF_ERROR(CheckFunctions());
  BATON_RETURN_IF_ERROR(CheckOperators(model_.graph));
  BATON_ASSIGN_OR_RETURN(const Opsets opsets, ReadOpsets(model_.opsets));
  BATON_ASSIGN_OR_RETURN(const GraphProto graph, ReadGraph(model_.graph));
  Scope scope;
  BATON_RETURN_IF_ERROR(AddInitializers(graph, scope));
  std::vector<Var> params;
  AttrList input_names;
  FlatHashSet<absl::string_view> names_of_inputs;
  for (const ValueInfo& info : graph.inputs) {
    if (!names_of_inputs.insert(info.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there are two inputs of the name '", Printable(info.name), "'"));
    }
    if (scope.values.contains(info.name)) {  // an initializer
      BATON_RETURN_IF_ERROR(CheckDeclaredType(info, "initializer", scope));
      continue;
    }
    const auto parts = options_.parts_at_hand.find(std::string(info.name));
    if (parts != options_.parts_at_hand.end() &&
        (info.kind == ValueInfo::Kind::kSequence ||
         info.kind == ValueInfo::Kind::kOptional)) {
      for (size_t i = 0; i < parts->second.tensors.size(); ++i) {
        const std::string made = absl::StrCat(info.name, "_", i);
        if (std::any_of(graph.inputs.begin(), graph.inputs.end(),
                        [&made](const ValueInfo& other) {
                          return other.name == made;
                        })) {
          return absl::InvalidArgumentError(
              absl::StrCat("a tensor of input '", Printable(info.name),
                           "' would have the name '", Printable(made),
                           "', which another input has"));
        }
      }
      BATON_ASSIGN_OR_RETURN(scope.values[info.name],
                             PartsOf(info, parts->second, params, input_names));
      continue;
    }
    const auto value = options_.input_values.find(std::string(info.name));
    const bool is_known = value != options_.input_values.end();
    BATON_ASSIGN_OR_RETURN(
        Expr input, is_known ? Known(info, value->second) : Parameter(info));
    RecordNarrowType(input, NarrowTypeOf(info.element_type));
    if (!is_known) {
      params.push_back(Var(input.As<VarNode>()));
      input_of_.emplace(input.get(), std::string(info.name));
      input_names.emplace_back(info.name);
    }
    scope.values[info.name] = std::move(input);
  }
  const auto check_input = [&graph](absl::string_view what,
                                    const std::string& name) {
    const bool is_input =
        std::any_of(graph.inputs.begin(), graph.inputs.end(),
                    [&](const ValueInfo& info) { return info.name == name; });
    if (is_input) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(what, " was given for '", Printable(name),
                     "', but the model has no such input"));
  };
  for (const auto& [name, shape] : options_.input_shapes) {
    BATON_RETURN_IF_ERROR(check_input("a shape", name));
  }
  for (const auto& [name, value] : options_.input_values) {
    BATON_RETURN_IF_ERROR(check_input("a value", name));
  }
  for (const auto& entry : options_.dims) {
    const std::string& name = entry.first;
    const bool is_dimension = std::any_of(
        graph.inputs.begin(), graph.inputs.end(), [&](const ValueInfo& info) {
          return info.shape.has_value() &&
                 std::any_of(info.shape->begin(), info.shape->end(),
                             [&](const ValueInfo::Dimension& dimension) {
                               return dimension.param == name ||
                                      (MentionsDim(dimension.param, name) &&
                                       SizeOfDim(dimension.param, options_.dims)
                                           .has_value());
                             });
        });
    if (!is_dimension) {
      return absl::InvalidArgumentError(absl::StrCat(
          "no input of the model has a dimension ", Printable(name)));
    }
  }
  BATON_RETURN_IF_ERROR(ConvertNodes(graph.nodes, "", scope, opsets, {}));
  std::vector<absl::string_view> names;
  AttrList output_names;
  for (const ValueInfo& output : graph.outputs) {
    names.push_back(output.name);
    output_names.emplace_back(output.name);
  }
  if (names.empty()) {
    return absl::InvalidArgumentError("the graph has no outputs");
  }
  BATON_ASSIGN_OR_RETURN(Outputs outputs, GraphOutputs(names, scope));
  BATON_RETURN_IF_ERROR(CheckDeclaredTypes(graph, scope));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) {
      return absl::UnimplementedError(absl::StrCat(
          "the output '", Printable(names[i]), "' is an empty optional"));
    }
  }
  SpreadSequences(outputs, output_names);
  Expr body =
      outputs.size() == 1 ? outputs[0] : relay::Tuple(std::move(outputs));
  DictAttrs attrs =
      DictAttrs()
          .With(attr::kInputTensorNames, std::move(input_names))
          .With(attr::kOutputTensorNames, std::move(output_names));
  if (!model_.metadata.empty()) {
    AttrList metadata;
    for (const auto& [key, value] : model_.metadata) {
      metadata.emplace_back(key);
      metadata.emplace_back(value);
    }
    attrs = attrs.With(attr::kModelMetadata, std::move(metadata));
  }
  const relay::Function main(std::move(params), std::move(body), {}, {},
                             std::move(attrs));
  return relay::InferTypes(relay::ModuleFromExpr(main));
}

}  // namespace baton::onnx
