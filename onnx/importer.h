// Importer: converts the graphs of an ONNX model to a module, node by node.
//
//   Importer importer(model, owner, options, /*keeps_names=*/true);
//   absl::StatusOr<IRModule> module = importer.Import();
//   if (!module.ok()) Provide(importer.Needs());

#ifndef BATON_ONNX_IMPORTER_H_
#define BATON_ONNX_IMPORTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/import_options.h"
#include "baton/onnx/model.h"
#include "baton/onnx/schema.h"
#include "baton/onnx/tensor_reader.h"
#include "baton/relay/analysis/shape_values.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// Graphs inside of graphs, and functions inside of functions, beyond which a
// model is refused.
inline constexpr int kMaxDepth = 50;

// Results of constants that are computed at once, in elements: shapes, axes,
// and what is made of them. Larger ones are left to passes.
inline constexpr int64_t kMaxFoldedElements = 4096;

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
  absl::Status CheckInputs(absl::string_view graph,
                           absl::Span<const Expr> inputs) const override;
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
  // After Import() failed for lack of known values (NoteNeeded): the inputs of
  // the model on which those values depend.
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
  // where a model was changed, and nothing depends on them. CheckInputs()
  // compares those of a scan's body.
  absl::Status CheckDeclaredType(const ValueInfo& info, absl::string_view what,
                                 const Expr& value) const;
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
                               std::vector<relay::Var>& params,
                               AttrList& names);
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
  // The symbolic dimension of each name.
  FlatHashMap<std::string, Dim> dims_;
  // The names of the parameters of main, and the initial values of the
  // parameters of other functions (NoteParam).
  FlatHashMap<const ExprNode*, std::string> input_of_;
  FlatHashMap<const ExprNode*, Expr> initial_;
  // The values that the conversion of the current node lacks.
  std::vector<Expr> needed_;
  bool error_has_location_ = false;
};

}  // namespace baton::onnx

#endif  // BATON_ONNX_IMPORTER_H_
