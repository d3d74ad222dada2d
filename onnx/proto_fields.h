// The numbers of the fields of ONNX's messages (onnx.proto) that Baton reads or
// writes.

#ifndef BATON_ONNX_PROTO_FIELDS_H_
#define BATON_ONNX_PROTO_FIELDS_H_

namespace baton::onnx {

struct ModelField {
  enum : int {
    kIrVersion = 1,
    kProducerName = 2,
    kGraph = 7,
    kOpsetImport = 8,
    kMetadataProps = 14,
    kFunctions = 25,
  };
};

struct OpsetField {
  enum : int { kDomain = 1, kVersion = 2 };
};

struct GraphField {
  enum : int {
    kNode = 1,
    kName = 2,
    kInitializer = 5,
    kInput = 11,
    kOutput = 12,
    kValueInfo = 13,
    kSparseInitializer = 15,
  };
};

struct NodeField {
  enum : int {
    kInput = 1,
    kOutput = 2,
    kName = 3,
    kOpType = 4,
    kAttribute = 5,
    kDomain = 7,
    kOverload = 8,
  };
};

struct AttributeField {
  enum : int {
    kName = 1,
    kFloat = 2,
    kInt = 3,
    kString = 4,
    kTensor = 5,
    kGraph = 6,
    kFloats = 7,
    kInts = 8,
    kStrings = 9,
    kTensors = 10,
    kGraphs = 11,
    kTypeProto = 14,
    kType = 20,
    kRefAttrName = 21,
    kSparseTensor = 22,
  };
};

struct FunctionField {
  enum : int {
    kName = 1,
    kInput = 4,
    kOutput = 5,
    kNode = 7,
    kOpsetImport = 9,
    kDomain = 10,
    kAttributeProto = 11,
    kOverload = 13,
  };
};

struct TensorField {
  enum : int {
    kDims = 1,
    kDataType = 2,
    kSegment = 3,
    kFloatData = 4,
    kInt32Data = 5,
    kStringData = 6,
    kInt64Data = 7,
    kName = 8,
    kRawData = 9,
    kDoubleData = 10,
    kUint64Data = 11,
    kExternalData = 13,
    kDataLocation = 14,
  };
};

struct SparseTensorField {
  enum : int { kValues = 1, kIndices = 2, kDims = 3 };
};

// An entry of the external data of a tensor or of the model's metadata.
struct EntryField {
  enum : int { kKey = 1, kValue = 2 };
};

struct ValueInfoField {
  enum : int { kName = 1, kType = 2 };
};

struct TypeField {
  enum : int {
    kTensor = 1,
    kSequence = 4,
    kMap = 5,
    kSparseTensor = 8,
    kOptional = 9,
  };
};

struct TensorTypeField {
  enum : int { kElementType = 1, kShape = 2 };
};

struct ShapeField {
  enum : int { kDim = 1 };
};

struct DimField {
  enum : int { kValue = 1, kParam = 2 };
};

// SequenceProto and OptionalProto.
struct SequenceField {
  enum : int { kElementType = 2, kTensor = 3, kSequence = 5 };
};

}  // namespace baton::onnx

#endif  // BATON_ONNX_PROTO_FIELDS_H_
