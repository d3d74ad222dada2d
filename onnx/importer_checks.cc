// The checks of Importer: opsets, operators, functions, declared types.

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
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/importer.h"
#include "baton/onnx/listing.h"
#include "baton/onnx/model.h"
#include "baton/onnx/schema.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"

namespace baton::onnx {

namespace {

// The number of nodes that an error names for each operator.
constexpr size_t kMaxNamedNodes = 5;

}  // namespace

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

absl::Status Importer::CheckDeclaredType(const ValueInfo& info,
                                         absl::string_view what,
                                         const Scope& scope) const {
  const auto found = scope.values.find(info.name);
  return found == scope.values.end()
             ? absl::OkStatus()
             : CheckDeclaredType(info, what, found->second);
}

absl::Status Importer::CheckDeclaredType(const ValueInfo& info,
                                         absl::string_view what,
                                         const Expr& value) const {
  if (info.kind == ValueInfo::Kind::kNone || !value.defined()) {
    return absl::OkStatus();
  }
  const ElementTypes types = TypesOf(value);
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
  if (dtype.ok() && *dtype == value->tensor_type()->dtype()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the ", what, " '", Printable(info.name),
                   "' has elements that are ", ElementTypesToString(types),
                   ", but the model says ", ElementTypeName(said)));
}

absl::Status Importer::CheckInputs(absl::string_view graph,
                                   absl::Span<const Expr> inputs) const {
  BATON_ASSIGN_OR_RETURN(const GraphProto read, ReadGraph(graph));
  const size_t count = std::min(read.inputs.size(), inputs.size());
  for (size_t i = 0; i < count; ++i) {
    const ValueInfo& info = read.inputs[i];
    BATON_RETURN_IF_ERROR(
        CheckDeclaredType(info, "input of the graph", inputs[i]));
    const TensorTypeNode* type =
        inputs[i].defined() ? inputs[i]->tensor_type() : nullptr;
    if (type == nullptr || !info.shape.has_value()) continue;
    bool fits = static_cast<int>(info.shape->size()) == type->rank();
    for (int axis = 0; fits && axis < type->rank(); ++axis) {
      const std::optional<int64_t> said = (*info.shape)[axis].value;
      // Shapes of inputs that replace those of the model replace these, too.
      fits = !said.has_value() || *said < 0 || !options_.input_shapes.empty() ||
             !type->dim(axis).is_const() || type->dim(axis).is_const(*said);
    }
    if (fits) continue;
    std::vector<std::string> said;
    for (const ValueInfo::Dimension& dim : *info.shape) {
      said.push_back(dim.value.has_value() ? absl::StrCat(*dim.value) : "?");
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the input of the graph '", Printable(info.name),
                     "' has the shape ", relay::ShapeToString(type->shape()),
                     ", but the model says (", absl::StrJoin(said, ", "), ")"));
  }
  return absl::OkStatus();
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

}  // namespace baton::onnx
