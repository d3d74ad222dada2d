#include "baton/onnx/graph_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/align.h"
#include "baton/base/dtype.h"
#include "baton/base/fill.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/onnx/listing.h"
#include "baton/onnx/model.h"
#include "baton/onnx/proto_fields.h"
#include "baton/onnx/wire_writer.h"

namespace baton::onnx {
namespace {

// Constants that are written only once, in bytes.
constexpr int64_t kSharedBytes = 64;

// Constants of as many bytes whose elements are all the same are written as
// their element and their shape.
constexpr int64_t kFillBytes = 4096;

// The limit of the size of a Protocol Buffers message.
constexpr uint64_t kMaxMessageBytes = (uint64_t{1} << 31) - 1;

// Tensors in files begin at multiples of this.
constexpr uint64_t kAlignment = 64;

using AttributeType = AttributeProto::Type;

WireWriter AttributeHead(absl::string_view name, AttributeType type) {
  WireWriter result;
  result.Bytes(AttributeField::kName, name);
  result.Int(AttributeField::kType, static_cast<int64_t>(type));
  return result;
}

// The fields of a TensorProto, but for its data.
WireWriter TensorHead(absl::string_view name, const Tensor& value) {
  WireWriter result;
  for (int64_t dim : value.shape()) result.Int(TensorField::kDims, dim);
  result.Int(TensorField::kDataType,
             static_cast<int64_t>(ElementTypeOf(value.dtype())));
  if (!name.empty()) result.Bytes(TensorField::kName, name);
  return result;
}

// Returns true if `value` is written as a ConstantOfShape.
bool IsLargeFill(const Tensor& value) {
  // ConstantOfShape gives no bfloat16 before opset 20.
  return value.byte_size() >= kFillBytes &&
         value.dtype() != DType::BFloat(16) && IsFill(value);
}

void WriteDim(const Dim& dim, WireWriter& shape) {
  WireWriter result;
  if (dim.is_const()) {
    result.Int(DimField::kValue, dim.value());
  } else if (dim.is_symbolic() && dim.expr()->is_var()) {
    result.Bytes(DimField::kParam, dim.expr()->name());
  }
  shape.Message(ShapeField::kDim, result);
}

WireWriter ValueInfoOf(absl::string_view name, const Type& type) {
  WireWriter result;
  result.Bytes(ValueInfoField::kName, name);
  const auto* tensor = type.As<TensorTypeNode>();
  if (tensor == nullptr) return result;
  WireWriter shape;
  for (const Dim& dim : tensor->shape()) WriteDim(dim, shape);
  WireWriter tensor_type;
  tensor_type.Int(TensorTypeField::kElementType,
                  static_cast<int64_t>(ElementTypeOf(tensor->dtype())));
  tensor_type.Message(TensorTypeField::kShape, shape);
  WireWriter type_proto;
  type_proto.Message(TypeField::kTensor, tensor_type);
  result.Message(ValueInfoField::kType, type_proto);
  return result;
}

int64_t IrVersion(int opset) {
  if (opset < 15) return 7;
  if (opset < 19) return 8;
  return opset < 21 ? 9 : 10;
}

}  // namespace

NodeAttributes& NodeAttributes::Int(absl::string_view name, int64_t value) {
  WireWriter attribute = AttributeHead(name, AttributeType::kInt);
  attribute.Int(AttributeField::kInt, value);
  fields_.Message(NodeField::kAttribute, attribute);
  return *this;
}

NodeAttributes& NodeAttributes::Float(absl::string_view name, double value) {
  WireWriter attribute = AttributeHead(name, AttributeType::kFloat);
  attribute.Float(AttributeField::kFloat, static_cast<float>(value));
  fields_.Message(NodeField::kAttribute, attribute);
  return *this;
}

NodeAttributes& NodeAttributes::String(absl::string_view name,
                                       absl::string_view value) {
  WireWriter attribute = AttributeHead(name, AttributeType::kString);
  attribute.Bytes(AttributeField::kString, value);
  fields_.Message(NodeField::kAttribute, attribute);
  return *this;
}

NodeAttributes& NodeAttributes::Ints(absl::string_view name,
                                     absl::Span<const int64_t> value) {
  WireWriter attribute = AttributeHead(name, AttributeType::kInts);
  for (int64_t element : value) attribute.Int(AttributeField::kInts, element);
  fields_.Message(NodeField::kAttribute, attribute);
  return *this;
}

NodeAttributes& NodeAttributes::TensorValue(absl::string_view name,
                                            const Tensor& value) {
  WireWriter tensor = TensorHead("", value);
  tensor.Bytes(TensorField::kRawData, value.bytes());
  WireWriter attribute = AttributeHead(name, AttributeType::kTensor);
  attribute.Message(AttributeField::kTensor, tensor);
  fields_.Message(NodeField::kAttribute, attribute);
  return *this;
}

std::string OnnxModel::ToString() const {
  size_t size = 0;
  for (absl::string_view piece : pieces_) size += piece.size();
  std::string result;
  result.reserve(size);
  for (absl::string_view piece : pieces_) {
    result.append(piece.data(), piece.size());
  }
  return result;
}

ValueId Graph::NewValue() {
  values_.emplace_back();
  return static_cast<ValueId>(values_.size()) - 1;
}

ValueId Graph::AddInput(std::string name, Type type) {
  const ValueId result = NewValue();
  values_[result].name = std::move(name);
  values_[result].type = std::move(type);
  graphs_[open_.back()].inputs.push_back(result);
  return result;
}

ValueId Graph::AddConstant(Tensor value, const Span& span) {
  ValueId* shared = nullptr;
  if (!span.defined() && value.byte_size() <= kSharedBytes) {
    std::string key = absl::StrCat(value.TypeToString(), ":");
    key.append(value.bytes().data(), value.bytes().size());
    const auto [entry, is_new] =
        small_constants_.try_emplace(std::move(key), kNoValue);
    if (!is_new) return entry->second;
    shared = &entry->second;
  }
  const ValueId result = NewValue();
  if (shared != nullptr) *shared = result;
  values_[result].type = TensorType::Of(value.shape(), value.dtype());
  values_[result].constant = static_cast<int>(constants_.size());
  constants_.push_back({std::move(value), span, result});
  return result;
}

absl::Span<const ValueId> Graph::InputsOf(ValueId value,
                                          absl::string_view op) const {
  const Value& produced = values_[static_cast<size_t>(value)];
  if (produced.node < 0) return {};
  const Node& node = graphs_[static_cast<size_t>(produced.graph)]
                         .nodes[static_cast<size_t>(produced.node)];
  return node.op == op ? node.inputs : absl::Span<const ValueId>();
}

Values Graph::AddNode(absl::string_view op, absl::Span<const ValueId> inputs,
                      NodeAttributes attributes, int num_outputs,
                      const Span& span) {
  const int graph = open_.back();
  Body& body = graphs_[graph];
  Node node;
  node.op = op;
  node.inputs.assign(inputs.begin(), inputs.end());
  node.attributes = std::move(attributes);
  node.span = span;
  Values result;
  for (int i = 0; i < num_outputs; ++i) {
    const ValueId output = NewValue();
    values_[output].graph = graph;
    values_[output].node = static_cast<int>(body.nodes.size());
    node.outputs.push_back(output);
    result.push_back(output);
  }
  body.nodes.push_back(std::move(node));
  return result;
}

Values Graph::AddNodeWithGraphs(
    absl::string_view op, absl::Span<const ValueId> inputs,
    std::vector<std::pair<absl::string_view, int>> graphs, int num_outputs,
    const Span& span) {
  Values result = AddNode(op, inputs, {}, num_outputs, span);
  graphs_[open_.back()].nodes.back().graphs = std::move(graphs);
  return result;
}

void Graph::SetOutputs(std::vector<Output> outputs) {
  graphs_[open_.back()].outputs = std::move(outputs);
}

void Graph::BeginGraph() {
  open_.push_back(static_cast<int>(graphs_.size()));
  graphs_.emplace_back();
}

int Graph::EndGraph(std::vector<Output> outputs) {
  SetOutputs(std::move(outputs));
  const int result = open_.back();
  open_.pop_back();
  return result;
}

const Tensor* Graph::ConstantOf(ValueId value) const {
  if (value == kNoValue || values_[value].constant < 0) return nullptr;
  return &constants_[values_[value].constant].value;
}

const TensorTypeNode* Graph::TypeOf(ValueId value) const {
  return value == kNoValue ? nullptr : values_[value].type.As<TensorTypeNode>();
}

void Graph::SetType(ValueId value, Type type) {
  if (value != kNoValue) values_[value].type = std::move(type);
}

// A graph's outputs are values that its own nodes give, each named once. An
// input of the model that is an output under its own name stays.
void Graph::SeparateOutputs(int graph) {
  FlatHashSet<ValueId> seen;
  const auto is_own_name = [this](const Output& output) {
    const Body& body = graphs_[0];
    return std::find(body.inputs.begin(), body.inputs.end(), output.value) !=
               body.inputs.end() &&
           values_[output.value].name == output.name;
  };
  const std::vector<int> outer = std::exchange(open_, {graph});
  for (size_t i = 0; i < graphs_[graph].outputs.size(); ++i) {
    const ValueId value = graphs_[graph].outputs[i].value;
    if (graph == 0 && is_own_name(graphs_[0].outputs[i]) &&
        seen.insert(value).second) {
      continue;
    }
    if (values_[value].graph == graph && seen.insert(value).second) continue;
    graphs_[graph].outputs[i].value =
        AddNode("Identity", {value}, {}, 1, Span())[0];
  }
  open_ = outer;
}

void Graph::DropUnused() {
  for (Value& value : values_) value.uses = 0;
  std::vector<ValueId> work;
  const auto use = [&](ValueId value) {
    if (value != kNoValue && values_[value].uses++ == 0) work.push_back(value);
  };
  std::vector<std::vector<bool>> needed(graphs_.size());
  for (size_t i = 0; i < graphs_.size(); ++i) {
    needed[i].resize(graphs_[i].nodes.size());
  }
  for (const Output& output : graphs_[0].outputs) use(output.value);
  while (!work.empty()) {
    const Value& value = values_[work.back()];
    work.pop_back();
    if (value.node < 0 || needed[value.graph][value.node]) continue;
    needed[value.graph][value.node] = true;
    const Node& node = graphs_[value.graph].nodes[value.node];
    for (ValueId input : node.inputs) use(input);
    for (const auto& [name, inner] : node.graphs) {
      for (const Output& output : graphs_[inner].outputs) use(output.value);
    }
  }
  for (size_t g = 0; g < graphs_.size(); ++g) {
    for (size_t i = 0; i < graphs_[g].nodes.size(); ++i) {
      if (!needed[g][i]) graphs_[g].nodes[i].op = {};
    }
  }
}

Graph::Node* Graph::SoleProducer(int graph, ValueId value, size_t num_inputs) {
  if (value == kNoValue || values_[value].graph != graph ||
      values_[value].uses != 1) {
    return nullptr;
  }
  Node& node = graphs_[graph].nodes[values_[value].node];
  return node.inputs.size() == num_inputs ? &node : nullptr;
}

// The value that, added along axis 1 of `sum`, adds `addend`; kNoValue if there
// is none.
ValueId Graph::ConvolutionBias(ValueId addend, ValueId sum,
                               const Tensor* known) {
  const TensorTypeNode* type = TypeOf(sum);
  if (type == nullptr || type->rank() < 3 || !type->dim(1).is_const()) {
    return kNoValue;
  }
  const int64_t channels = type->dim(1).value();
  if (known != nullptr) {
    const int missing = type->rank() - known->rank();
    if (missing < 0 || missing > 1) return kNoValue;
    for (int i = 0; i < known->rank(); ++i) {
      const int64_t wanted = i + missing == 1 ? channels : 1;
      if (known->shape()[i] != wanted) return kNoValue;
    }
    absl::StatusOr<Tensor> bias = known->Reshaped({channels});
    if (!bias.ok()) return kNoValue;
    return AddConstant(*std::move(bias),
                       constants_[values_[addend].constant].span);
  }
  // A vector to which axes were added behind.
  if (values_[addend].node < 0) return kNoValue;
  const Node& unsqueeze = NodeOf(addend);
  if (unsqueeze.op != "Unsqueeze") return kNoValue;
  const TensorTypeNode* vector = TypeOf(unsqueeze.inputs[0]);
  const Tensor* axes = ConstantOf(unsqueeze.inputs[1]);
  if (vector == nullptr || vector->rank() != 1 ||
      !vector->dim(0).is_const(channels) || axes == nullptr ||
      axes->num_elements() != type->rank() - 2) {
    return kNoValue;
  }
  for (int64_t i = 0; i < axes->num_elements(); ++i) {
    if (axes->AtAsInt64(i) != i + 1) return kNoValue;
  }
  return unsqueeze.inputs[0];
}

bool Graph::MergeIntoProduct(int graph, Node& add, ValueId product,
                             ValueId addend) {
  Node* producer = SoleProducer(graph, product, 2);
  if (producer == nullptr || addend == product) return false;
  ValueId bias = kNoValue;
  if (producer->op == "Conv" || producer->op == "ConvTranspose") {
    bias = ConvolutionBias(addend, product, ConstantOf(addend));
  } else if (producer->op == "Gemm") {
    // It extends the operand to the shape of the result.
    const TensorTypeNode* result = TypeOf(product);
    const TensorTypeNode* type = TypeOf(addend);
    if (result == nullptr || type == nullptr || type->rank() > 2) return false;
    const int missing = 2 - type->rank();
    for (int i = 0; i < type->rank(); ++i) {
      const Dim& dim = type->dim(i);
      if (!dim.is_const(1) &&
          (!dim.is_const() || dim != result->dim(i + missing))) {
        return false;
      }
    }
    bias = addend;
  }
  if (bias == kNoValue) return false;
  // In the place of the addition all operands are there.
  add.op = producer->op;
  add.inputs = producer->inputs;
  add.inputs.push_back(bias);
  add.attributes = std::move(producer->attributes);
  add.result_span = add.span;
  add.span = producer->span;
  producer->op = {};
  return true;
}

void Graph::MergeAdd(int graph, int node) {
  Node& add = graphs_[graph].nodes[node];
  if (add.op != "Add") return;
  const ValueId lhs = add.inputs[0];
  const ValueId rhs = add.inputs[1];
  if (!MergeIntoProduct(graph, add, lhs, rhs)) {
    MergeIntoProduct(graph, add, rhs, lhs);
  }
}

void Graph::Simplify() {
  for (size_t i = 0; i < graphs_.size(); ++i) {
    SeparateOutputs(static_cast<int>(i));
  }
  DropUnused();
  for (size_t g = 0; g < graphs_.size(); ++g) {
    for (size_t i = 0; i < graphs_[g].nodes.size(); ++i) {
      MergeAdd(static_cast<int>(g), static_cast<int>(i));
    }
  }
  DropUnused();
}

int Graph::num_nodes() const {
  int result = 0;
  for (const Body& body : graphs_) {
    for (const Node& node : body.nodes) result += node.op.empty() ? 0 : 1;
  }
  return result;
}

std::string Graph::UniqueName(std::string wanted) {
  if (names_.insert(wanted).second) return wanted;
  int& count = name_counts_[wanted];
  while (true) {
    std::string name = absl::StrCat(wanted, "_", ++count);
    if (names_.insert(name).second) return name;
  }
}

// Names of values are unique in the whole model; so are those of nodes.
void Graph::NameAll() {
  const auto name_inputs = [this](const Body& body) {
    for (ValueId input : body.inputs) {
      values_[input].name = UniqueName(values_[input].name);
    }
  };
  name_inputs(graphs_[0]);
  for (const Output& output : graphs_[0].outputs) {
    // An input that is an output has its name.
    if (output.name.empty() || !values_[output.value].name.empty()) continue;
    values_[output.value].name = UniqueName(output.name);
  }
  for (const ConstantEntry& constant : constants_) {
    Value& value = values_[constant.id];
    if (value.uses == 0) continue;
    const bool is_named = IsInListing(constant.span);
    value.name = UniqueName(is_named ? OriginOf(constant.span).name
                                     : std::string("constant"));
  }
  for (size_t i = 1; i < graphs_.size(); ++i) name_inputs(graphs_[i]);
  // If several nodes were made from one, the last one has its name and the
  // names of its outputs.
  using Place = std::pair<const void*, int64_t>;
  const auto place_of = [](const Span& span) {
    return Place(&span->source(), span->begin());
  };
  FlatHashMap<Place, const Node*> last;
  FlatHashMap<Place, const Node*> last_result;
  for (const Body& body : graphs_) {
    for (const Node& node : body.nodes) {
      if (node.op.empty()) continue;
      if (IsInListing(node.span)) last[place_of(node.span)] = &node;
      const Span& span =
          node.result_span.defined() ? node.result_span : node.span;
      if (IsInListing(span)) last_result[place_of(span)] = &node;
    }
  }
  FlatHashSet<std::string> node_names;
  FlatHashMap<std::string, int> node_counts;
  for (Body& body : graphs_) {
    for (Node& node : body.nodes) {
      if (node.op.empty()) continue;
      if (IsInListing(node.span)) {
        const Origin origin = OriginOf(node.span);
        node.name = last[place_of(node.span)] == &node
                        ? origin.name
                        : absl::StrCat(origin.name, "/", node.op);
      } else {
        node.name = std::string(node.op);
      }
      if (!node_names.insert(node.name).second) {
        int& count = node_counts[node.name];
        std::string name;
        do {
          name = absl::StrCat(node.name, "_", ++count);
        } while (!node_names.insert(name).second);
        node.name = std::move(name);
      }
      const Span& span =
          node.result_span.defined() ? node.result_span : node.span;
      std::vector<std::string> names;
      if (IsInListing(span) && last_result[place_of(span)] == &node) {
        names = OriginOf(span).outputs;
      }
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        Value& value = values_[node.outputs[i]];
        if (!value.name.empty()) continue;
        value.name = UniqueName(
            i < names.size() && !names[i].empty()
                ? names[i]
                : absl::StrCat(node.name, i == 0 ? std::string(".out")
                                                 : absl::StrCat(".out", i)));
      }
    }
  }
}

void Graph::WriteNode(const Node& node, int opset, WireWriter& graph) const {
  WireWriter result;
  for (ValueId input : node.inputs) {
    result.Bytes(NodeField::kInput,
                 input == kNoValue ? "" : values_[input].name);
  }
  for (ValueId output : node.outputs) {
    result.Bytes(NodeField::kOutput, values_[output].name);
  }
  result.Bytes(NodeField::kName, node.name);
  result.Bytes(NodeField::kOpType, node.op);
  result.Append(node.attributes.fields());
  for (const auto& [name, inner] : node.graphs) {
    WireWriter body;
    WriteBody(graphs_[inner], opset, body);
    body.Bytes(GraphField::kName, absl::StrCat(node.name, ".", name));
    for (ValueId input : graphs_[inner].inputs) {
      body.Message(GraphField::kInput,
                   ValueInfoOf(values_[input].name, values_[input].type));
    }
    for (const Output& output : graphs_[inner].outputs) {
      body.Message(GraphField::kOutput,
                   ValueInfoOf(values_[output.value].name, output.type));
    }
    WireWriter attribute = AttributeHead(name, AttributeType::kGraph);
    attribute.Message(AttributeField::kGraph, body);
    result.Message(NodeField::kAttribute, attribute);
  }
  graph.Message(GraphField::kNode, result);
}

void Graph::WriteBody(const Body& body, int opset, WireWriter& graph) const {
  for (const Node& node : body.nodes) {
    if (!node.op.empty()) WriteNode(node, opset, graph);
  }
}

absl::StatusOr<OnnxModel> Graph::Write(const GraphWriteOptions& options) {
  NameAll();
  OnnxModel result;
  // The GraphProto, in pieces between which large tensors are.
  std::vector<std::pair<std::string, const Tensor*>> parts;
  WireWriter head;
  // The name of the shape of each constant that is a fill, by its index.
  std::vector<std::string> fill_shapes(constants_.size());
  for (size_t i = 0; i < constants_.size(); ++i) {
    const Tensor& value = constants_[i].value;
    if (values_[constants_[i].id].uses == 0 || !IsLargeFill(value)) continue;
    const std::string& name = values_[constants_[i].id].name;
    fill_shapes[i] = UniqueName(absl::StrCat(name, ".shape"));
    WireWriter node;
    node.Bytes(NodeField::kInput, fill_shapes[i]);
    node.Bytes(NodeField::kOutput, name);
    node.Bytes(NodeField::kName, absl::StrCat(name, ".fill"));
    node.Bytes(NodeField::kOpType, "ConstantOfShape");
    node.Append(NodeAttributes()
                    .TensorValue("value", FirstElement(value, {1}))
                    .fields());
    head.Message(GraphField::kNode, node);
  }
  WriteBody(graphs_[0], options.opset, head);
  head.Bytes(GraphField::kName, options.graph_name);
  uint64_t external_size = 0;
  for (size_t i = 0; i < constants_.size(); ++i) {
    const ConstantEntry& constant = constants_[i];
    if (values_[constant.id].uses == 0) continue;
    const Tensor& value = constant.value;
    if (!fill_shapes[i].empty()) {
      const std::vector<int64_t> dims(value.shape().begin(),
                                      value.shape().end());
      BATON_ASSIGN_OR_RETURN(const Tensor shape,
                             Tensor::FromValues<int64_t>(
                                 {static_cast<int64_t>(dims.size())}, dims));
      WireWriter tensor = TensorHead(fill_shapes[i], shape);
      tensor.Bytes(TensorField::kRawData, shape.bytes());
      head.Message(GraphField::kInitializer, tensor);
      continue;
    }
    const auto size = static_cast<uint64_t>(value.byte_size());
    WireWriter tensor = TensorHead(values_[constant.id].name, value);
    if (!options.external_data.empty() &&
        value.byte_size() >= options.external_bytes && size > 0) {
      const uint64_t offset = AlignUp(external_size, kAlignment);
      if (offset > external_size) {
        result.texts_.push_back(
            std::make_unique<const std::string>(offset - external_size, '\0'));
        result.external_pieces_.push_back(*result.texts_.back());
      }
      result.tensors_.push_back(value);
      result.external_pieces_.push_back(value.bytes());
      external_size = offset + size;
      const auto entry = [&tensor](absl::string_view key,
                                   absl::string_view text) {
        WireWriter pair;
        pair.Bytes(EntryField::kKey, key);
        pair.Bytes(EntryField::kValue, text);
        tensor.Message(TensorField::kExternalData, pair);
      };
      entry("location", options.external_data);
      entry("offset", absl::StrCat(offset));
      entry("length", absl::StrCat(size));
      tensor.Int(TensorField::kDataLocation, 1);
      head.Message(GraphField::kInitializer, tensor);
      continue;
    }
    tensor.BytesHeader(TensorField::kRawData, size);
    head.BytesHeader(GraphField::kInitializer, tensor.bytes().size() + size);
    head.Append(tensor.bytes());
    if (size < 4096) {
      head.Append(value.bytes());
      continue;
    }
    parts.emplace_back(std::move(head).Take(), &value);
    head = WireWriter();
  }
  for (ValueId input : graphs_[0].inputs) {
    head.Message(GraphField::kInput,
                 ValueInfoOf(values_[input].name, values_[input].type));
  }
  for (const Output& output : graphs_[0].outputs) {
    head.Message(GraphField::kOutput,
                 ValueInfoOf(values_[output.value].name, output.type));
  }
  parts.emplace_back(std::move(head).Take(), nullptr);
  uint64_t graph_size = 0;
  for (const auto& [text, tensor] : parts) {
    graph_size += text.size();
    if (tensor != nullptr) {
      graph_size += static_cast<uint64_t>(tensor->byte_size());
    }
  }
  if (graph_size > kMaxMessageBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "an ONNX file of ", graph_size,
        " bytes is larger than 2 GB; let its tensors be external data"));
  }

  WireWriter opset;
  opset.Bytes(OpsetField::kDomain, "");
  opset.Int(OpsetField::kVersion, options.opset);
  WireWriter model;
  model.Int(ModelField::kIrVersion, IrVersion(options.opset));
  model.Bytes(ModelField::kProducerName, "baton");
  model.Message(ModelField::kOpsetImport, opset);
  for (size_t i = 0; i + 1 < options.metadata.size(); i += 2) {
    WireWriter entry;
    entry.Bytes(EntryField::kKey, options.metadata[i]);
    entry.Bytes(EntryField::kValue, options.metadata[i + 1]);
    model.Message(ModelField::kMetadataProps, entry);
  }
  model.BytesHeader(ModelField::kGraph, graph_size);
  const auto add = [&result](std::string text) {
    result.texts_.push_back(
        std::make_unique<const std::string>(std::move(text)));
    result.pieces_.push_back(*result.texts_.back());
  };
  add(std::move(model).Take());
  for (auto& [text, tensor] : parts) {
    add(std::move(text));
    if (tensor == nullptr) continue;
    result.tensors_.push_back(*tensor);
    result.pieces_.push_back(tensor->bytes());
  }
  return result;
}

}  // namespace baton::onnx
