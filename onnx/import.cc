#include "baton/onnx/import.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

namespace baton {

using relay::TupleNode;
using relay::Var;
using relay::VarNode;

namespace onnx {
namespace {

// Graphs inside of graphs, and functions inside of functions, beyond which a
// model is refused.
constexpr int kMaxDepth = 50;

// Nodes that calls of functions and rounds of loops may add to those of the
// file: each is converted anew.
constexpr int64_t kMaxAddedNodes = 1'000'000;

// Results of constants that are computed at once, in elements: shapes, axes,
// and what is made of them. Larger ones are left to passes.
constexpr int64_t kMaxFoldedElements = 4096;

// The number of nodes that an error names for each operator.
constexpr size_t kMaxNamedNodes = 5;

using Opsets = FlatHashMap<absl::string_view, int64_t>;

// Values by name, in a graph and in those around it.
struct Scope {
  const Scope* parent = nullptr;
  FlatHashMap<absl::string_view, Expr> values;

  const Expr* Find(absl::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
      const auto found = scope->values.find(name);
      if (found != scope->values.end()) return &found->second;
    }
    return nullptr;
  }
};

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

// Inputs that must be known for a node to be converted: by name.
struct InputNeeds {
  FlatHashSet<std::string> values;
  // The inputs whose shapes suffice; their values are not needed.
  FlatHashSet<std::string> shapes;
};

class Importer final : public GraphConverter {
 public:
  // `keeps_names`: whether dimensions with names are symbolic; else they are
  // unknown.
  Importer(const ModelProto& model, std::shared_ptr<const void> owner,
           const OnnxImportOptions& options, bool keeps_names)
      : model_(model), options_(options), keeps_names_(keeps_names) {
    tensors_.owner = std::move(owner);
    tensors_.is_mapped = options.is_mapped;
    tensors_.folder = options.folder;
    tensors_.target_folder = options.target_folder;
    for (const FunctionProto& function : model.functions) {
      functions_.emplace(
          std::tuple(function.domain, function.name, function.overload),
          &function);
    }
  }

  absl::StatusOr<IRModule> Import();
  // True if inputs have symbolic dimensions.
  bool has_symbols() const { return !dims_.empty(); }

  absl::StatusOr<Outputs> ConvertGraph(absl::string_view graph,
                                       absl::Span<const Expr> inputs,
                                       absl::string_view what) override;
  absl::StatusOr<Outputs> ConvertBody(
      absl::string_view graph, absl::Span<const Expr> inputs,
      absl::string_view what,
      absl::FunctionRef<Expr(const Expr&)> capture) override;
  TensorSource& tensors() override { return tensors_; }
  const Dims* ElementsOf(const Expr& value) override {
    return shape_values_.Find(value);
  }
  bool MayBeConstant(const Expr& value) override;
  void NoteNeeded(const Expr& value) override { needed_.push_back(value); }
  bool keeps_weights() const override { return options_.keeps_weights; }
  void NoteParam(const Expr& param, const Expr& initial) override {
    initial_.emplace(param.get(), initial);
  }
  // The inputs that the values depend on which the last node lacked.
  InputNeeds Needs() const;
  ElementType NarrowType(const Expr& value) const override {
    const auto found = narrow_.find(value);
    return found == narrow_.end() ? ElementType::kUndefined : found->second;
  }

 private:
  struct Unsupported {
    size_t count = 0;
    std::vector<std::string> nodes;
  };

  const FunctionProto* FindFunction(const NodeProto& node) const {
    const auto found =
        functions_.find(std::tuple(node.domain, node.op_type, node.overload));
    return found == functions_.end() ? nullptr : found->second;
  }
  absl::StatusOr<Opsets> ReadOpsets(
      absl::Span<const std::pair<absl::string_view, int64_t>> list) const;
  // As FindOpConverter, which is called once for each operator.
  const OpConverter* Converter(const NodeProto& node, int64_t opset);
  // The signature of an operator of ONNX's own; null if it has none.
  const Schema* SchemaOf(const NodeProto& node, int64_t opset);
  // Checks a node against the signature of its operator.
  absl::Status CheckNode(const NodeProto& node, int64_t opset,
                         absl::Span<const Expr> inputs);
  // The element types that a value counts as.
  ElementTypes TypesOf(const Expr& value) const;
  // Checks the type that the file says of a value, if it says any, against the
  // type that the value has. Extents are not compared: files say them wrongly
  // where a model was changed, and nothing depends on them.
  absl::Status CheckDeclaredType(const ValueInfo& info, absl::string_view what,
                                 const Scope& scope) const;
  // Checks the declared types of all outputs and inner values of a graph.
  absl::Status CheckDeclaredTypes(const GraphProto& graph,
                                  const Scope& scope) const;
  // Checks the names of functions and of their inputs and outputs.
  absl::Status CheckFunctions() const;
  // Unimplemented with all operators of the model that have no converter.
  absl::Status CheckOperators(absl::string_view graph);
  // An input that is a constant.
  absl::StatusOr<Expr> Known(const ValueInfo& info, const Tensor& value);
  absl::StatusOr<Expr> Parameter(const ValueInfo& info);
  // The value of an input that is a sequence or an optional; null for an
  // optional without a value. Adds its parameters.
  absl::StatusOr<Expr> PartsOf(const ValueInfo& info,
                               const OnnxImportOptions::Parts& parts,
                               std::vector<Var>& params, AttrList& names);
  absl::StatusOr<Type> InputType(const ValueInfo& info);

  absl::Status AddInitializers(const GraphProto& graph, Scope& scope);
  absl::Status ConvertNodes(absl::Span<const absl::string_view> nodes,
                            const std::string& what, Scope& scope,
                            const Opsets& opsets,
                            absl::Span<const AttributeProto> attributes);
  absl::StatusOr<Outputs> ConvertNode(const NodeProto& node, const Span& span,
                                      const Scope& scope, const Opsets& opsets);
  absl::Status TypeOutputs(NodeContext& context, Outputs& outputs);
  void RecordNarrowType(const Expr& value, ElementType type);
  void RecordNarrowType(const NodeContext& context, const Outputs& outputs);
  absl::StatusOr<Outputs> ConvertCall(const FunctionProto& function,
                                      const NodeProto& node,
                                      std::vector<Expr> inputs);
  absl::StatusOr<Outputs> GraphOutputs(
      absl::Span<const absl::string_view> names, const Scope& scope) const;
  // The error of a value that cannot be imported.
  absl::Status CheckReadable(absl::string_view name, const Expr& value) const;
  // True if outputs of the model depend on the node, which is in the main
  // graph.
  bool IsNeeded(const NodeProto& node);

  const ModelProto& model_;
  const OnnxImportOptions& options_;
  const bool keeps_names_;
  TensorSource tensors_;
  FlatHashMap<
      std::tuple<absl::string_view, absl::string_view, absl::string_view>,
      const FunctionProto*>
      functions_;
  // By domain, operator and opset; null if there is none.
  FlatHashMap<std::tuple<absl::string_view, absl::string_view, int64_t>,
              const OpConverter*>
      converters_;
  // By operator and opset.
  FlatHashMap<std::pair<absl::string_view, int64_t>,
              std::unique_ptr<const Schema>>
      schemas_;
  // The state of the conversion in progress.
  absl::Span<const absl::string_view> nodes_;
  const Scope* scope_ = nullptr;
  const Opsets* opsets_ = nullptr;
  absl::Span<const AttributeProto> attributes_;
  std::string what_;
  int depth_ = 0;
  int64_t added_nodes_ = 0;
  // The results of MayBeConstant.
  FlatHashMap<Expr, bool> may_be_constant_;
  // Why values cannot be imported: an error only if an output of the model
  // needs them.
  FlatHashMap<absl::string_view, absl::Status> unreadable_;
  // The names in the main graph on which its outputs depend, computed when they
  // are first needed.
  std::optional<FlatHashSet<absl::string_view>> needed_names_;
  // The values whose element type is stored as another one.
  FlatHashMap<Expr, ElementType> narrow_;
  relay::ShapeValues shape_values_;
  // One dimension a name.
  FlatHashMap<std::string, Dim> dims_;
  // The names of the parameters of main, and what those of other functions
  // begin as.
  FlatHashMap<const ExprNode*, std::string> input_of_;
  FlatHashMap<const ExprNode*, Expr> initial_;
  // The values that the conversion of the current node lacks.
  std::vector<Expr> needed_;
  bool error_has_location_ = false;
};

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

absl::StatusOr<Opsets> Importer::ReadOpsets(
    absl::Span<const std::pair<absl::string_view, int64_t>> list) const {
  Opsets result;
  for (const auto& [domain, version] : list) {
    if (version < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "opset ", version, " of the domain '", Printable(domain), "'"));
    }
    int64_t& known = result[domain];
    known = std::max(known, version);
  }
  if (const auto own = result.find("");
      own != result.end() && own->second > NewestOpset()) {
    return absl::InvalidArgumentError(
        absl::StrCat("opset ", own->second,
                     " of ONNX's operators is not known; the newest that is"
                     " known is ",
                     NewestOpset()));
  }
  // Files of IR versions 1 and 2 say nothing.
  if (model_.ir_version < 3) result.try_emplace("", 1);
  return result;
}

const OpConverter* Importer::Converter(const NodeProto& node, int64_t opset) {
  const auto [entry, is_new] = converters_.try_emplace(
      std::tuple(node.domain, node.op_type, opset), nullptr);
  if (is_new) {
    entry->second = FindOpConverter(node.domain, node.op_type, opset);
  }
  return entry->second;
}

absl::Status Importer::CheckFunctions() const {
  FlatHashSet<
      std::tuple<absl::string_view, absl::string_view, absl::string_view>>
      functions;
  for (const FunctionProto& function : model_.functions) {
    const auto error = [&](const auto&... what) {
      return absl::InvalidArgumentError(
          absl::StrCat("function '", Printable(function.name), "' ", what...));
    };
    if (!functions.emplace(function.domain, function.name, function.overload)
             .second) {
      return error("is there twice in the domain '", Printable(function.domain),
                   "'");
    }
    for (const auto* names : {&function.inputs, &function.outputs}) {
      FlatHashSet<absl::string_view> seen;
      for (absl::string_view name : *names) {
        if (seen.insert(name).second) continue;
        return error("has two ",
                     names == &function.inputs ? "inputs" : "outputs",
                     " of the name '", Printable(name), "'");
      }
    }
  }
  return absl::OkStatus();
}

const Schema* Importer::SchemaOf(const NodeProto& node, int64_t opset) {
  if (!node.domain.empty()) return nullptr;
  const auto [entry, is_new] =
      schemas_.try_emplace(std::pair(node.op_type, opset), nullptr);
  if (is_new) {
    if (std::optional<Schema> schema = FindSchema(node.op_type, opset)) {
      entry->second = std::make_unique<const Schema>(*std::move(schema));
    }
  }
  return entry->second.get();
}

ElementTypes Importer::TypesOf(const Expr& value) const {
  if (!value.defined()) return 0;
  const TensorTypeNode* type = value->tensor_type();
  if (type == nullptr) return 1;
  ElementTypes result = ElementTypes{1}
                        << static_cast<int>(ElementTypeOf(type->dtype()));
  // Narrow elements may be what they are stored in, too.
  if (const ElementType narrow = NarrowType(value);
      narrow != ElementType::kUndefined) {
    result |= ElementTypes{1} << static_cast<int>(narrow);
  }
  return result;
}

absl::Status Importer::CheckNode(const NodeProto& node, int64_t opset,
                                 absl::Span<const Expr> inputs) {
  const Schema* schema = SchemaOf(node, opset);
  if (schema == nullptr) return absl::OkStatus();
  BATON_RETURN_IF_ERROR(CheckSignature(*schema, node));
  absl::InlinedVector<ElementTypes, 6> types;
  for (const Expr& input : inputs) types.push_back(TypesOf(input));
  return CheckElementTypes(*schema, types);
}

absl::Status Importer::CheckOperators(absl::string_view graph) {
  std::map<std::string, Unsupported> unsupported;
  struct Work {
    std::vector<absl::string_view> nodes;
    const Opsets* opsets;
    int depth;
  };
  BATON_ASSIGN_OR_RETURN(const Opsets opsets, ReadOpsets(model_.opsets));
  std::vector<Opsets> function_opsets;
  function_opsets.reserve(model_.functions.size());
  std::vector<Work> work;
  BATON_ASSIGN_OR_RETURN(GraphProto main, ReadGraph(graph));
  work.push_back({std::move(main.nodes), &opsets, 0});
  for (const FunctionProto& function : model_.functions) {
    BATON_ASSIGN_OR_RETURN(Opsets own, ReadOpsets(function.opsets));
    function_opsets.push_back(std::move(own));
    work.push_back({function.nodes, &function_opsets.back(), 0});
  }
  while (!work.empty()) {
    const Work current = std::move(work.back());
    work.pop_back();
    if (current.depth > kMaxDepth) {
      return absl::InvalidArgumentError("graphs are nested too deeply");
    }
    for (absl::string_view message : current.nodes) {
      BATON_ASSIGN_OR_RETURN(const NodeProto node, ReadNode(message));
      for (absl::string_view inner : node.Graphs()) {
        BATON_ASSIGN_OR_RETURN(GraphProto read, ReadGraph(inner));
        work.push_back(
            {std::move(read.nodes), current.opsets, current.depth + 1});
      }
      if (FindFunction(node) != nullptr) continue;
      const auto opset = current.opsets->find(node.domain);
      const int64_t version =
          opset == current.opsets->end() ? 0 : opset->second;
      if (version > 0 && Converter(node, version) != nullptr) continue;
      std::string name(Printable(node.op_type));
      if (!node.domain.empty()) {
        absl::StrAppend(&name, " of ", Printable(node.domain));
      }
      absl::StrAppend(&name, version == 0
                                 ? std::string(" (no opset imported)")
                                 : absl::StrCat(" (opset ", version, ")"));
      Unsupported& entry = unsupported[name];
      if (++entry.count <= kMaxNamedNodes) {
        entry.nodes.push_back(Printable(NodeName(node)));
      }
    }
  }
  if (unsupported.empty()) return absl::OkStatus();
  std::string message =
      absl::StrCat(unsupported.size(),
                   unsupported.size() == 1 ? " operator is" : " operators are",
                   " not supported:");
  for (const auto& [name, entry] : unsupported) {
    absl::StrAppend(&message, "\n  ", name, ": ",
                    absl::StrJoin(entry.nodes, ", "));
    if (entry.count > entry.nodes.size()) {
      absl::StrAppend(&message, " and ", entry.count - entry.nodes.size(),
                      " more");
    }
  }
  return absl::UnimplementedError(message);
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
  const auto given = options_.input_shapes.find(std::string(info.name));
  if (given != options_.input_shapes.end()) {
    for (int64_t dim : given->second) {
      dims.push_back(dim < 0 ? Dim::Any() : Dim(dim));
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
      if (*dimension.value > int64_t{1} << 60) {
        return absl::InvalidArgumentError(
            absl::StrCat("input '", Printable(info.name),
                         "' has a dimension of ", *dimension.value));
      }
      dims.push_back(*dimension.value);
    } else if (const auto sized = SizeOfDim(dimension.param, options_.dims);
               sized.has_value()) {
      dims.push_back(*sized);
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

absl::Status Importer::CheckDeclaredType(const ValueInfo& info,
                                         absl::string_view what,
                                         const Scope& scope) const {
  if (info.kind == ValueInfo::Kind::kNone) return absl::OkStatus();
  const auto found = scope.values.find(info.name);
  if (found == scope.values.end() || !found->second.defined()) {
    return absl::OkStatus();
  }
  const ElementTypes types = TypesOf(found->second);
  const bool is_tensor = (types & 1) == 0;
  const int64_t said = info.element_type;
  if (is_tensor != (info.kind == ValueInfo::Kind::kTensor)) {
    // An optional that is there has the type of its element.
    if (is_tensor && info.kind == ValueInfo::Kind::kOptional) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", what, " '", Printable(info.name), "' is ",
        is_tensor ? "a" : "no", " tensor, but the model says otherwise"));
  }
  if (!is_tensor || said == 0) return absl::OkStatus();
  // Narrow elements are those that store them.
  const absl::StatusOr<DType> dtype = DTypeOf(said);
  if (dtype.ok() && *dtype == found->second->tensor_type()->dtype()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the ", what, " '", Printable(info.name),
                   "' has elements that are ", ElementTypesToString(types),
                   ", but the model says ", ElementTypeName(said)));
}

absl::Status Importer::CheckDeclaredTypes(const GraphProto& graph,
                                          const Scope& scope) const {
  for (const ValueInfo& info : graph.outputs) {
    BATON_RETURN_IF_ERROR(CheckDeclaredType(info, "output", scope));
  }
  for (absl::string_view message : graph.value_infos) {
    BATON_ASSIGN_OR_RETURN(const ValueInfo info, ReadValueInfo(message));
    BATON_RETURN_IF_ERROR(CheckDeclaredType(info, "value", scope));
  }
  return absl::OkStatus();
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

// Imports; if names of dimensions contradict each other, without them. `needs`:
// what was lacking, if the import fails.
absl::StatusOr<IRModule> ImportOnce(const ModelProto& model,
                                    const std::shared_ptr<const void>& owner,
                                    const OnnxImportOptions& options,
                                    InputNeeds& needs) {
  Importer importer(model, owner, options, /*keeps_names=*/true);
  absl::StatusOr<IRModule> module = importer.Import();
  if (module.ok()) return module;
  needs = importer.Needs();
  if (!importer.has_symbols() || !absl::IsInvalidArgument(module.status())) {
    return module;
  }
  // Models exist that call one extent by two names, or by the name of another.
  Importer nameless(model, owner, options, /*keeps_names=*/false);
  absl::StatusOr<IRModule> again = nameless.Import();
  if (!again.ok() && absl::IsUnimplemented(again.status())) {
    needs = nameless.Needs();
  }
  return again.ok() ? std::move(again) : std::move(module);
}

// Takes values at hand into the options of an import, step by step.
class ValueBinder {
 public:
  ValueBinder(const GraphProto& graph, OnnxImportOptions& options)
      : graph_(graph), options_(options) {}
  // A binder that has taken what `other` has, for a copy of its options.
  ValueBinder(const ValueBinder& other, OnnxImportOptions& options)
      : graph_(other.graph_),
        options_(options),
        values_(other.values_),
        shapes_(other.shapes_) {}

  // Takes what `needs` says; else all shapes; else what `needs` says of shapes
  // as values, or small tensors of integers. Whether there was anything.
  bool TakeMore(const InputNeeds& needs) {
    bool any = false;
    for (const std::string& name : needs.shapes) any |= TakeShape(name);
    for (const std::string& name : needs.values) any |= TakeValue(name);
    if (any) return true;
    for (const ValueInfo& info : graph_.inputs) {
      any |= TakeShape(std::string(info.name));
    }
    if (any) return true;
    for (const std::string& name : needs.shapes) any |= TakeValue(name);
    if (any) return true;
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      const auto found = options_.values_at_hand.find(name);
      if (found != options_.values_at_hand.end() &&
          !found->second.dtype().is_float() &&
          found->second.num_elements() <= kMaxFoldedElements) {
        any |= TakeValue(name);
      }
    }
    return any;
  }

  // Takes the shapes of all inputs; an error if one is not the model's.
  absl::Status TakeAllShapes() {
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      const auto found = options_.values_at_hand.find(name);
      if (found == options_.values_at_hand.end()) continue;
      const absl::Span<const int64_t> shape = found->second.shape();
      if (info.shape.has_value() && !Fits(shape, *info.shape) &&
          !options_.input_shapes.contains(name)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "input '", Printable(info.name), "' has the shape (",
            absl::StrJoin(*info.shape, ", ",
                          [](std::string* out, const auto& dimension) {
                            absl::StrAppend(out,
                                            dimension.value.has_value()
                                                ? absl::StrCat(*dimension.value)
                                            : dimension.param.empty()
                                                ? "?"
                                                : Printable(dimension.param));
                          }),
            "), but the tensor that was given for it has (",
            absl::StrJoin(shape, ", "), ")"));
      }
      TakeShape(name);
    }
    return absl::OkStatus();
  }

  // Takes the integers (axes, sizes, pads, numbers of rounds) and the bools
  // (conditions, elements to keep) that shapes may depend on.
  bool TakeShapeValues() {
    constexpr int64_t kMost = 64;
    bool any = false;
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      const auto found = options_.values_at_hand.find(name);
      if (found == options_.values_at_hand.end()) continue;
      const Tensor& value = found->second;
      if ((value.dtype().is_int() || value.dtype().is_bool()) &&
          value.rank() <= 1 && value.num_elements() <= kMost) {
        any |= TakeValue(name);
      }
    }
    return any;
  }

  OnnxValuesUsed used() const {
    OnnxValuesUsed result;
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      if (values_.contains(name)) {
        result.values.push_back(name);
      } else if (shapes_.contains(name) ||
                 options_.parts_at_hand.contains(name)) {
        result.shapes.push_back(name);
      }
    }
    result.dims = ParamDims();
    return result;
  }

 private:
  // See OnnxValuesUsed::dims.
  std::vector<std::vector<std::string>> ParamDims() const {
    FlatHashSet<absl::string_view> initializers;
    for (const TensorProto& initializer : graph_.initializers) {
      initializers.insert(initializer.name);
    }
    std::vector<std::vector<std::string>> result;
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      if (initializers.contains(info.name) ||
          options_.input_values.contains(name)) {
        continue;
      }
      const auto parts = options_.parts_at_hand.find(name);
      if (parts != options_.parts_at_hand.end() &&
          info.kind != ValueInfo::Kind::kTensor) {
        result.resize(result.size() + parts->second.tensors.size());
        continue;
      }
      std::vector<std::string>& dims = result.emplace_back();
      const bool is_given =
          options_.input_shapes.contains(name) && !shapes_.contains(name);
      if (is_given || !info.shape.has_value()) continue;
      for (const ValueInfo::Dimension& dimension : *info.shape) {
        dims.push_back(
            dimension.value.has_value() ? "" : std::string(dimension.param));
      }
    }
    return result;
  }

  const ValueInfo* InfoOf(const std::string& name) const {
    for (const ValueInfo& info : graph_.inputs) {
      if (info.name == name) return &info;
    }
    return nullptr;
  }

  static bool Fits(absl::Span<const int64_t> shape,
                   absl::Span<const ValueInfo::Dimension> said) {
    if (shape.size() != said.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (said[i].value.has_value() && *said[i].value >= 0 &&
          *said[i].value != shape[i]) {
        return false;
      }
    }
    return true;
  }

  bool TakeValue(const std::string& name) {
    const auto found = options_.values_at_hand.find(name);
    const ValueInfo* info = InfoOf(name);
    if (found == options_.values_at_hand.end() || info == nullptr ||
        IsOfOtherSizes(*info, found->second.shape()) ||
        !options_.input_values.emplace(name, found->second).second) {
      return false;
    }
    values_.insert(name);
    return true;
  }

  // True if the import is for other sizes of dimensions with names than
  // those of `shape`, which a value for the input has.
  bool IsOfOtherSizes(const ValueInfo& info,
                      absl::Span<const int64_t> shape) const {
    if (!info.shape.has_value() || info.shape->size() != shape.size()) {
      return false;
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto sized = SizeOfDim((*info.shape)[i].param, options_.dims);
      if (sized.has_value() && *sized != shape[i]) {
        return true;
      }
    }
    return false;
  }

  // Only of inputs whose shape the model does not say.
  bool TakeShape(const std::string& name) {
    const auto found = options_.values_at_hand.find(name);
    const ValueInfo* info = InfoOf(name);
    if (found == options_.values_at_hand.end() || info == nullptr ||
        info->kind != ValueInfo::Kind::kTensor ||
        options_.input_values.contains(name)) {
      return false;
    }
    const bool is_known =
        info->shape.has_value() &&
        std::all_of(info->shape->begin(), info->shape->end(),
                    [this](const ValueInfo::Dimension& dimension) {
                      return dimension.value.has_value()
                                 ? *dimension.value >= 0
                                 : SizeOfDim(dimension.param, options_.dims)
                                       .has_value();
                    });
    const absl::Span<const int64_t> shape = found->second.shape();
    if (is_known ||
        !options_.input_shapes
             .emplace(name, std::vector<int64_t>(shape.begin(), shape.end()))
             .second) {
      return false;
    }
    shapes_.insert(name);
    return true;
  }

  const GraphProto& graph_;
  OnnxImportOptions& options_;
  FlatHashSet<std::string> values_;
  FlatHashSet<std::string> shapes_;
};

// Says which flags decide about what a node lacked.
std::string DescribeNeeds(const GraphProto& graph, const InputNeeds& needs) {
  std::vector<std::string> flags;
  const auto add = [&](absl::string_view flag, absl::string_view value,
                       const FlatHashSet<std::string>& names) {
    std::vector<std::string> given;
    for (const ValueInfo& info : graph.inputs) {
      if (!names.contains(std::string(info.name))) continue;
      given.push_back(absl::StrCat(Printable(info.name), ":", value));
    }
    if (!given.empty()) {
      flags.push_back(absl::StrCat("--", flag, "=", absl::StrJoin(given, ",")));
    }
  };
  add("input_values", "VALUE", needs.values);
  add("input_shapes", "[...]", needs.shapes);
  return absl::StrCat("it depends on inputs: give ",
                      absl::StrJoin(flags, " and "),
                      "; baton-run takes them from --inputs");
}

// True if all tensors of @main have constant shapes.
bool IsStatic(const IRModule& module) {
  bool is_static = true;
  relay::PostOrderVisit(module.Find<relay::Function>("main")->body(),
                        [&is_static](const ExprNode* node) {
                          const TensorTypeNode* type = node->tensor_type();
                          is_static = is_static &&
                                      (type == nullptr || type->is_static());
                        });
  return is_static;
}

// Refuses values that were given in two ways and differ.
absl::Status CheckValuesAtHand(const OnnxImportOptions& options) {
  for (const auto& [name, given] : options.input_values) {
    const auto at_hand = options.values_at_hand.find(name);
    if (at_hand == options.values_at_hand.end() || at_hand->second == given) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the value that was given for input '", name,
        "' (--input_values) is not "
        "that of the tensor that it is run with; leave one of them out"));
  }
  return absl::OkStatus();
}

// Imports, and takes values at hand as long as it fails without them.
absl::StatusOr<IRModule> ImportWithValues(
    const ModelProto& model, const std::shared_ptr<const void>& owner,
    OnnxImportOptions options) {
  BATON_RETURN_IF_ERROR(CheckValuesAtHand(options));
  BATON_ASSIGN_OR_RETURN(const GraphProto graph, ReadGraph(model.graph));
  OnnxImportOptions taken = options;
  ValueBinder binder(graph, taken);
  if (options.takes_all_shapes) BATON_RETURN_IF_ERROR(binder.TakeAllShapes());
  while (true) {
    InputNeeds needs;
    absl::StatusOr<IRModule> module = ImportOnce(model, owner, taken, needs);
    if (module.ok() || options.values_at_hand.empty() ||
        !binder.TakeMore(needs)) {
      OnnxValuesUsed used = binder.used();
      if (module.ok() && options.takes_all_shapes && !IsStatic(*module)) {
        // Values may decide about shapes that are not known yet.
        OnnxImportOptions more = taken;
        ValueBinder with_values(binder, more);
        if (with_values.TakeShapeValues()) {
          absl::StatusOr<IRModule> again =
              ImportOnce(model, owner, more, needs);
          if (again.ok() && IsStatic(*again)) {
            module = std::move(again);
            used = with_values.used();
          }
        }
      }
      if (module.ok() && options.used != nullptr) {
        *options.used = std::move(used);
      }
      if (!module.ok() && !(needs.values.empty() && needs.shapes.empty())) {
        return absl::Status(module.status().code(),
                            absl::StrCat(module.status().message(), "\n",
                                         DescribeNeeds(graph, needs)));
      }
      return module;
    }
  }
}

}  // namespace
}  // namespace onnx

absl::StatusOr<IRModule> ImportOnnx(absl::string_view bytes,
                                    std::shared_ptr<const void> owner,
                                    const OnnxImportOptions& options) {
  absl::StatusOr<IRModule> result = [&]() -> absl::StatusOr<IRModule> {
    BATON_ASSIGN_OR_RETURN(const onnx::ModelProto model,
                           onnx::ReadModel(bytes));
    return onnx::ImportWithValues(model, owner, options);
  }();
  if (result.ok() ||
      absl::StartsWith(result.status().message(), options.name)) {
    return result;
  }
  return absl::Status(
      result.status().code(),
      absl::StrCat(options.name, ": ", result.status().message()));
}

}  // namespace baton
