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

absl::StatusOr<std::pair<absl::string_view, int64_t>> ReadOpset(
    absl::string_view message) {
  std::pair<absl::string_view, int64_t> result;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == OpsetField::kDomain) {
      result.first = CanonicalDomain(reader.Bytes());
    }
    if (reader.field() == OpsetField::kVersion) result.second = reader.Int();
  }
  BATON_RETURN_IF_ERROR(reader.status());
  return result;
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

absl::Status ReadTensorType(absl::string_view message, ValueInfo& info) {
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == TensorTypeField::kElementType) {
      info.element_type = reader.Int();
    }
    if (reader.field() != TensorTypeField::kShape) continue;
    info.shape.emplace();
    WireReader shape(reader.Bytes());
    while (shape.Next()) {
      if (shape.field() != ShapeField::kDim) continue;
      ValueInfo::Dimension dimension;
      WireReader dim(shape.Bytes());
      while (dim.Next()) {
        if (dim.field() == DimField::kValue) dimension.value = dim.Int();
        if (dim.field() == DimField::kParam) dimension.param = dim.Bytes();
      }
      BATON_RETURN_IF_ERROR(dim.status());
      info.shape->push_back(dimension);
    }
    BATON_RETURN_IF_ERROR(shape.status());
  }
  return reader.status();
}

absl::StatusOr<FunctionProto> ReadFunction(absl::string_view message) {
  FunctionProto result;
  WireReader reader(message);
  while (reader.Next()) {
    switch (reader.field()) {
      case FunctionField::kName:
        result.name = reader.Bytes();
        break;
      case FunctionField::kInput:
        result.inputs.push_back(reader.Bytes());
        break;
      case FunctionField::kOutput:
        result.outputs.push_back(reader.Bytes());
        break;
      case FunctionField::kNode:
        result.nodes.push_back(reader.Bytes());
        break;
      case FunctionField::kOpsetImport: {
        BATON_ASSIGN_OR_RETURN(const auto opset, ReadOpset(reader.Bytes()));
        result.opsets.push_back(opset);
        break;
      }
      case FunctionField::kDomain:
        result.domain = CanonicalDomain(reader.Bytes());
        break;
      case FunctionField::kAttributeProto: {
        BATON_ASSIGN_OR_RETURN(AttributeProto attribute,
                               ReadAttribute(reader.Bytes()));
        result.attributes.push_back(std::move(attribute));
        break;
      }
      case FunctionField::kOverload:
        result.overload = reader.Bytes();
        break;
      default:
        break;
    }
  }
  BATON_RETURN_IF_ERROR(reader.status());
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
  WireReader reader(message);
  while (reader.Next()) {
    switch (reader.field()) {
      case NodeField::kInput:
        result.inputs.push_back(reader.Bytes());
        break;
      case NodeField::kOutput:
        result.outputs.push_back(reader.Bytes());
        break;
      case NodeField::kName:
        result.name = reader.Bytes();
        break;
      case NodeField::kOpType:
        result.op_type = reader.Bytes();
        break;
      case NodeField::kAttribute: {
        BATON_ASSIGN_OR_RETURN(AttributeProto attribute,
                               ReadAttribute(reader.Bytes()));
        result.attributes.push_back(std::move(attribute));
        break;
      }
      case NodeField::kDomain:
        result.domain = CanonicalDomain(reader.Bytes());
        break;
      case NodeField::kOverload:
        result.overload = reader.Bytes();
        break;
      default:
        break;
    }
  }
  BATON_RETURN_IF_ERROR(reader.status());
  return result;
}

absl::StatusOr<ValueInfo> ReadValueInfo(absl::string_view message) {
  ValueInfo result;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == ValueInfoField::kName) result.name = reader.Bytes();
    if (reader.field() != ValueInfoField::kType) continue;
    WireReader type(reader.Bytes());
    while (type.Next()) {
      switch (type.field()) {
        case TypeField::kTensor:
          result.kind = Kind::kTensor;
          BATON_RETURN_IF_ERROR(ReadTensorType(type.Bytes(), result));
          break;
        case TypeField::kSequence:
          result.kind = Kind::kSequence;
          break;
        case TypeField::kOptional:
          result.kind = Kind::kOptional;
          break;
        case TypeField::kMap:
        case TypeField::kSparseTensor:
          result.kind = Kind::kOther;
          break;
        default:
          break;
      }
    }
    BATON_RETURN_IF_ERROR(type.status());
  }
  BATON_RETURN_IF_ERROR(reader.status());
  return result;
}

absl::StatusOr<GraphProto> ReadGraph(absl::string_view message) {
  GraphProto result;
  WireReader reader(message);
  while (reader.Next()) {
    switch (reader.field()) {
      case GraphField::kNode:
        result.nodes.push_back(reader.Bytes());
        break;
      case GraphField::kName:
        result.name = reader.Bytes();
        break;
      case GraphField::kInitializer: {
        TensorProto tensor;
        tensor.message = reader.Bytes();
        WireReader fields(tensor.message);
        while (fields.Next()) {
          if (fields.field() == TensorField::kName) {
            tensor.name = fields.Bytes();
          }
        }
        BATON_RETURN_IF_ERROR(fields.status());
        result.initializers.push_back(tensor);
        break;
      }
      case GraphField::kSparseInitializer: {
        TensorProto tensor;
        tensor.message = reader.Bytes();
        tensor.is_sparse = true;
        // The name is that of the values.
        WireReader parts(tensor.message);
        while (parts.Next()) {
          if (parts.field() != SparseTensorField::kValues) continue;
          WireReader fields(parts.Bytes());
          while (fields.Next()) {
            if (fields.field() == TensorField::kName) {
              tensor.name = fields.Bytes();
            }
          }
          BATON_RETURN_IF_ERROR(fields.status());
        }
        BATON_RETURN_IF_ERROR(parts.status());
        result.initializers.push_back(tensor);
        break;
      }
      case GraphField::kInput:
      case GraphField::kOutput: {
        BATON_ASSIGN_OR_RETURN(ValueInfo info, ReadValueInfo(reader.Bytes()));
        (reader.field() == GraphField::kInput ? result.inputs : result.outputs)
            .push_back(std::move(info));
        break;
      }
      case GraphField::kValueInfo:
        result.value_infos.push_back(reader.Bytes());
        break;
      default:
        break;
    }
  }
  BATON_RETURN_IF_ERROR(reader.status());
  return result;
}

absl::StatusOr<ModelProto> ReadModel(absl::string_view message) {
  ModelProto result;
  WireReader reader(message);
  while (reader.Next()) {
    switch (reader.field()) {
      case ModelField::kIrVersion:
        result.ir_version = reader.Int();
        break;
      case ModelField::kGraph:
        result.graph = reader.Bytes();
        break;
      case ModelField::kOpsetImport: {
        BATON_ASSIGN_OR_RETURN(const auto opset, ReadOpset(reader.Bytes()));
        result.opsets.push_back(opset);
        break;
      }
      case ModelField::kMetadataProps: {
        auto& [key, value] = result.metadata.emplace_back();
        WireReader entry(reader.Bytes());
        while (entry.Next()) {
          if (entry.field() == EntryField::kKey) key = entry.Bytes();
          if (entry.field() == EntryField::kValue) value = entry.Bytes();
        }
        BATON_RETURN_IF_ERROR(entry.status());
        break;
      }
      case ModelField::kFunctions: {
        BATON_ASSIGN_OR_RETURN(FunctionProto function,
                               ReadFunction(reader.Bytes()));
        result.functions.push_back(std::move(function));
        break;
      }
      default:
        break;
    }
  }
  BATON_RETURN_IF_ERROR(reader.status());
  if (result.graph.data() == nullptr) {
    return absl::InvalidArgumentError("no ONNX file: it has no graph");
  }
  return result;
}

}  // namespace baton::onnx
