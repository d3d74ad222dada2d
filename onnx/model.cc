#include "baton/onnx/model.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/onnx/proto_fields.h"
#include "baton/onnx/wire.h"

namespace baton::onnx {
namespace {

using Kind = ValueInfo::Kind;

using Opset = std::pair<absl::string_view, int64_t>;

absl::StatusOr<Opset> ReadOpset(absl::string_view message) {
  Opset result;
  BATON_RETURN_IF_ERROR(
      ReadFields(message, ReadInto(OpsetField::kDomain, &result.first),
                 ReadInto(OpsetField::kVersion, &result.second)));
  result.first = CanonicalDomain(result.first);
  return result;
}

// Appends the messages of a field to `list`, each read by `read`.
template <typename T>
auto ListOf(int field, absl::StatusOr<T> (*read)(absl::string_view message),
            std::vector<T>* list) {
  return CallWith(field,
                  [read, list](absl::string_view message) -> absl::Status {
                    BATON_ASSIGN_OR_RETURN(T item, read(message));
                    list->push_back(std::move(item));
                    return absl::OkStatus();
                  });
}

absl::StatusOr<AttributeProto> ReadAttribute(absl::string_view message) {
  using Type = AttributeProto::Type;
  AttributeProto result;
  Type implied = Type::kUndefined;  // by the field that is there
  uint32_t kinds = 0;               // of all fields, a bit for each type
  WireReader reader(message);
  while (reader.Next()) {
    switch (reader.field()) {
      case AttributeField::kName:
        result.name = reader.Bytes();
        break;
      case AttributeField::kFloat:
        result.f = reader.Float();
        implied = Type::kFloat;
        break;
      case AttributeField::kInt:
        result.i = reader.Int();
        implied = Type::kInt;
        break;
      case AttributeField::kString:
        result.s = reader.Bytes();
        implied = Type::kString;
        break;
      case AttributeField::kTensor:
        result.t = reader.Bytes();
        implied = Type::kTensor;
        break;
      case AttributeField::kGraph:
        result.g = reader.Bytes();
        implied = Type::kGraph;
        break;
      case AttributeField::kFloats:
        reader.AppendFloats(result.floats);
        implied = Type::kFloats;
        break;
      case AttributeField::kInts:
        reader.AppendInts(result.ints);
        implied = Type::kInts;
        break;
      case AttributeField::kStrings:
        result.strings.push_back(reader.Bytes());
        implied = Type::kStrings;
        break;
      case AttributeField::kTensors:
        result.tensors.push_back(reader.Bytes());
        implied = Type::kTensors;
        break;
      case AttributeField::kGraphs:
        result.graphs.push_back(reader.Bytes());
        implied = Type::kGraphs;
        break;
      case AttributeField::kTypeProto:
        reader.Bytes();
        implied = Type::kTypeProto;
        break;
      case AttributeField::kSparseTensor:
        result.sparse = reader.Bytes();
        implied = Type::kSparseTensor;
        break;
      case AttributeField::kType:
        result.type = static_cast<Type>(reader.Int());
        break;
      case AttributeField::kRefAttrName:
        result.ref_name = reader.Bytes();
        break;
      default:
        break;
    }
    kinds |= uint32_t{1} << static_cast<int>(implied);
  }
  BATON_RETURN_IF_ERROR(reader.status());
  // Files of IR version 1 have no `type`.
  if (result.type == Type::kUndefined) result.type = implied;
  // Bit 0 is that of the fields that are no values.
  if (implied != Type::kUndefined) {
    const auto type = static_cast<uint64_t>(result.type);
    result.has_other_value =
        type >= 32 || (kinds & ~(uint32_t{1} << type) & ~uint32_t{1}) != 0;
  }
  return result;
}

absl::StatusOr<ValueInfo::Dimension> ReadDimension(absl::string_view message) {
  ValueInfo::Dimension result;
  BATON_RETURN_IF_ERROR(ReadFields(message,
                                   ReadInto(DimField::kValue, &result.value),
                                   ReadInto(DimField::kParam, &result.param)));
  return result;
}

absl::Status ReadTensorType(absl::string_view message, ValueInfo& info) {
  return ReadFields(
      message, ReadInto(TensorTypeField::kElementType, &info.element_type),
      CallWith(TensorTypeField::kShape, [&info](absl::string_view shape) {
        info.shape.emplace();
        return ReadFields(
            shape, ListOf(ShapeField::kDim, ReadDimension, &*info.shape));
      }));
}

absl::StatusOr<FunctionProto> ReadFunction(absl::string_view message) {
  FunctionProto result;
  BATON_RETURN_IF_ERROR(ReadFields(
      message, ReadInto(FunctionField::kName, &result.name),
      ReadInto(FunctionField::kInput, &result.inputs),
      ReadInto(FunctionField::kOutput, &result.outputs),
      ReadInto(FunctionField::kNode, &result.nodes),
      ListOf(FunctionField::kOpsetImport, ReadOpset, &result.opsets),
      ReadInto(FunctionField::kDomain, &result.domain),
      ListOf(FunctionField::kAttributeProto, ReadAttribute, &result.attributes),
      ReadInto(FunctionField::kOverload, &result.overload)));
  result.domain = CanonicalDomain(result.domain);
  return result;
}

absl::StatusOr<TensorProto> ReadNameOfTensor(absl::string_view message) {
  TensorProto result = {.message = message};
  BATON_RETURN_IF_ERROR(
      ReadFields(message, ReadInto(TensorField::kName, &result.name)));
  return result;
}

// The name is that of the values.
absl::StatusOr<TensorProto> ReadNameOfSparseTensor(absl::string_view message) {
  TensorProto result = {.message = message, .is_sparse = true};
  BATON_RETURN_IF_ERROR(ReadFields(
      message,
      CallWith(SparseTensorField::kValues, [&](absl::string_view values) {
        return ReadFields(values, ReadInto(TensorField::kName, &result.name));
      })));
  return result;
}

absl::StatusOr<std::pair<absl::string_view, absl::string_view>> ReadEntry(
    absl::string_view message) {
  std::pair<absl::string_view, absl::string_view> result;
  BATON_RETURN_IF_ERROR(
      ReadFields(message, ReadInto(EntryField::kKey, &result.first),
                 ReadInto(EntryField::kValue, &result.second)));
  return result;
}

}  // namespace

const char* ElementTypeName(int64_t element_type) {
  static constexpr const char* kNames[] = {
      "undefined",      "float",      "uint8",
      "int8",           "uint16",     "int16",
      "int32",          "int64",      "string",
      "bool",           "float16",    "double",
      "uint32",         "uint64",     "complex64",
      "complex128",     "bfloat16",   "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",          "int4",       "float4e2m1",
      "float8e8m0",     "uint2",      "int2"};
  return element_type >= 0 &&
                 element_type < static_cast<int64_t>(std::size(kNames))
             ? kNames[element_type]
             : "of an unknown type";
}

absl::StatusOr<DType> DTypeOf(int64_t element_type) {
  switch (static_cast<ElementType>(element_type)) {
    case ElementType::kFloat:
      return DType::Float(32);
    case ElementType::kUint8:
      return DType::UInt(8);
    case ElementType::kInt8:
      return DType::Int(8);
    case ElementType::kUint16:
      return DType::UInt(16);
    case ElementType::kInt16:
      return DType::Int(16);
    case ElementType::kInt32:
      return DType::Int(32);
    case ElementType::kInt64:
      return DType::Int(64);
    case ElementType::kBool:
      return DType::Bool();
    case ElementType::kFloat16:
      return DType::Float(16);
    case ElementType::kDouble:
      return DType::Float(64);
    case ElementType::kUint32:
      return DType::UInt(32);
    case ElementType::kUint64:
      return DType::UInt(64);
    case ElementType::kBfloat16:
      return DType::BFloat(16);
    case ElementType::kUint4:
    case ElementType::kUint2:
      return DType::UInt(8);
    case ElementType::kInt4:
    case ElementType::kInt2:
      return DType::Int(8);
    case ElementType::kFloat8E4M3Fn:
    case ElementType::kFloat8E4M3Fnuz:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2Fnuz:
    case ElementType::kFloat4E2M1:
    case ElementType::kFloat8E8M0:
      return DType::Float(32);
    case ElementType::kUndefined:
    case ElementType::kString:
      break;
  }
  return absl::UnimplementedError(
      absl::StrCat("elements that are ", ElementTypeName(element_type),
                   " (element type ", element_type, ") are not supported"));
}

ElementType NarrowTypeOf(int64_t element_type) {
  const bool is_narrow =
      element_type >= static_cast<int64_t>(ElementType::kFloat8E4M3Fn) &&
      element_type <= static_cast<int64_t>(ElementType::kInt2);
  return is_narrow ? static_cast<ElementType>(element_type)
                   : ElementType::kUndefined;
}

int SubByteWidth(ElementType type) {
  switch (type) {
    case ElementType::kUint4:
    case ElementType::kInt4:
      return 4;
    case ElementType::kUint2:
    case ElementType::kInt2:
      return 2;
    default:
      return 0;
  }
}

ElementType ElementTypeOf(DType dtype) {
  for (int64_t type = 1; type <= 16; ++type) {
    const absl::StatusOr<DType> known = DTypeOf(type);
    if (known.ok() && *known == dtype) return static_cast<ElementType>(type);
  }
  return ElementType::kUndefined;
}

absl::string_view CanonicalDomain(absl::string_view domain) {
  return domain == "ai.onnx" ? absl::string_view() : domain;
}

const AttributeProto* NodeProto::Find(absl::string_view attribute) const {
  for (const AttributeProto& candidate : attributes) {
    if (candidate.name == attribute) return &candidate;
  }
  return nullptr;
}

std::vector<absl::string_view> NodeProto::Graphs() const {
  std::vector<absl::string_view> graphs;
  for (const AttributeProto& attribute : attributes) {
    graphs.insert(graphs.end(), attribute.graphs.begin(),
                  attribute.graphs.end());
    if (attribute.type == AttributeProto::Type::kGraph) {
      graphs.push_back(attribute.g);
    }
  }
  return graphs;
}

absl::StatusOr<NodeProto> ReadNode(absl::string_view message) {
  NodeProto result;
  BATON_RETURN_IF_ERROR(ReadFields(
      message, ReadInto(NodeField::kInput, &result.inputs),
      ReadInto(NodeField::kOutput, &result.outputs),
      ReadInto(NodeField::kName, &result.name),
      ReadInto(NodeField::kOpType, &result.op_type),
      ListOf(NodeField::kAttribute, ReadAttribute, &result.attributes),
      ReadInto(NodeField::kDomain, &result.domain),
      ReadInto(NodeField::kOverload, &result.overload)));
  result.domain = CanonicalDomain(result.domain);
  return result;
}

absl::StatusOr<ValueInfo> ReadValueInfo(absl::string_view message) {
  ValueInfo result;
  const auto set_kind = [&result](int field, Kind kind) {
    return CallWith(field, [&result, kind](absl::string_view type) {
      result.kind = kind;
      return kind == Kind::kTensor ? ReadTensorType(type, result)
                                   : absl::OkStatus();
    });
  };
  BATON_RETURN_IF_ERROR(ReadFields(
      message, ReadInto(ValueInfoField::kName, &result.name),
      CallWith(ValueInfoField::kType, [&set_kind](absl::string_view type) {
        return ReadFields(type, set_kind(TypeField::kTensor, Kind::kTensor),
                          set_kind(TypeField::kSequence, Kind::kSequence),
                          set_kind(TypeField::kOptional, Kind::kOptional),
                          set_kind(TypeField::kMap, Kind::kOther),
                          set_kind(TypeField::kSparseTensor, Kind::kOther));
      })));
  return result;
}

absl::StatusOr<GraphProto> ReadGraph(absl::string_view message) {
  GraphProto result;
  BATON_RETURN_IF_ERROR(ReadFields(
      message, ReadInto(GraphField::kNode, &result.nodes),
      ReadInto(GraphField::kName, &result.name),
      ListOf(GraphField::kInitializer, ReadNameOfTensor, &result.initializers),
      ListOf(GraphField::kSparseInitializer, ReadNameOfSparseTensor,
             &result.initializers),
      ListOf(GraphField::kInput, ReadValueInfo, &result.inputs),
      ListOf(GraphField::kOutput, ReadValueInfo, &result.outputs),
      ReadInto(GraphField::kValueInfo, &result.value_infos)));
  return result;
}

absl::StatusOr<ModelProto> ReadModel(absl::string_view message) {
  ModelProto result;
  BATON_RETURN_IF_ERROR(ReadFields(
      message, ReadInto(ModelField::kIrVersion, &result.ir_version),
      ReadInto(ModelField::kGraph, &result.graph),
      ListOf(ModelField::kOpsetImport, ReadOpset, &result.opsets),
      ListOf(ModelField::kMetadataProps, ReadEntry, &result.metadata),
      ListOf(ModelField::kFunctions, ReadFunction, &result.functions)));
  if (result.graph.data() == nullptr) {
    return absl::InvalidArgumentError("no ONNX file: it has no graph");
  }
  return result;
}

}  // namespace baton::onnx
