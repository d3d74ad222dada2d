// Decodes ONNX files into views of their bytes.
//
// Covers the messages of onnx.proto that an importer needs. Nodes, tensors and
// subgraphs are decoded one at a time, on demand: a model of a million nodes
// takes one string_view for each node. All views are valid as long as the bytes
// of the file. Unknown fields are skipped.

#ifndef BATON_ONNX_MODEL_H_
#define BATON_ONNX_MODEL_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"

namespace baton::onnx {

// TensorProto.DataType.
enum class ElementType : int64_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
  kFloat8E4M3Fn = 17,
  kFloat8E4M3Fnuz = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2Fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

// The element type with that number. For integers of 2 and 4 bits, the 8-bit
// type that stores them; for floats of 4 and 8 bits float32. Unimplemented,
// with its name, if tensors cannot have it: strings, complex numbers.
absl::StatusOr<DType> DTypeOf(int64_t element_type);
// "float16"; "of an unknown type" if ONNX has no element type of that number.
const char* ElementTypeName(int64_t element_type);
// The element type with that number if tensors of it are stored as another one:
// integers of 2 and 4 bits, floats of 4 and 8 bits. Otherwise kUndefined.
ElementType NarrowTypeOf(int64_t element_type);
// The width of integers of 2 or 4 bits; 0 for all other element types.
int SubByteWidth(ElementType type);
// The number of `dtype`, which must be storable.
ElementType ElementTypeOf(DType dtype);

struct TensorProto {
  absl::string_view name;
  // For ReadTensor of onnx/tensor_reader.h; for ReadSparseTensor, if it is
  // sparse.
  absl::string_view message;
  bool is_sparse = false;
};

// An attribute of a node; `type` says which of the values is set.
struct AttributeProto {
  // AttributeProto.AttributeType.
  enum class Type : int64_t {
    kUndefined = 0,
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
    kTensors = 9,
    kGraphs = 10,
    kSparseTensor = 11,
    kTypeProto = 13,
  };
  absl::string_view name;
  // In the body of a function: the name of the function's attribute to use.
  absl::string_view ref_name;
  Type type = Type::kUndefined;
  // True if the file has a value of another type than `type`: no valid one.
  bool has_other_value = false;
  float f = 0;
  int64_t i = 0;
  absl::string_view s;
  absl::string_view t;       // a TensorProto
  absl::string_view sparse;  // a SparseTensorProto
  absl::string_view g;       // a GraphProto
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<absl::string_view> strings;
  std::vector<absl::string_view> tensors;
  std::vector<absl::string_view> graphs;
};

// A node of a graph.
struct NodeProto {
  std::vector<absl::string_view> inputs;  // an empty name is an absent input
  std::vector<absl::string_view> outputs;
  absl::string_view name;
  absl::string_view op_type;
  absl::string_view domain;  // "" for ONNX's own operators, also for "ai.onnx"
  absl::string_view overload;  // of a function of the model
  std::vector<AttributeProto> attributes;

  // Null if there is no attribute of that name.
  const AttributeProto* Find(absl::string_view attribute) const;
  // The graphs among the values of the attributes, as messages for ReadGraph.
  std::vector<absl::string_view> Graphs() const;
};

// The name and the type of a value.
struct ValueInfo {
  enum class Kind : uint8_t { kNone, kTensor, kSequence, kOptional, kOther };
  struct Dimension {
    std::optional<int64_t> value;
    absl::string_view param;  // the name of an unknown dimension; often empty
  };
  absl::string_view name;
  Kind kind = Kind::kNone;
  int64_t element_type = 0;  // of a tensor
  // Nullopt if the rank is unknown.
  std::optional<std::vector<Dimension>> shape;
};

// A graph: of the model, or an attribute of a node.
struct GraphProto {
  absl::string_view name;
  std::vector<absl::string_view> nodes;  // messages, for ReadNode
  std::vector<TensorProto> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  // The declared types of inner values: messages, for ReadValueInfo.
  std::vector<absl::string_view> value_infos;
};

// A function that the model defines for an operator.
struct FunctionProto {
  absl::string_view name;
  absl::string_view domain;
  absl::string_view overload;  // distinguishes functions of one name
  std::vector<absl::string_view> inputs;
  std::vector<absl::string_view> outputs;
  std::vector<absl::string_view> nodes;    // messages, for ReadNode
  std::vector<AttributeProto> attributes;  // attributes with a default
  std::vector<std::pair<absl::string_view, int64_t>> opsets;
};

// The content of a file.
struct ModelProto {
  int64_t ir_version = 0;
  std::vector<std::pair<absl::string_view, int64_t>> opsets;  // domain, version
  absl::string_view graph;  // a message, for ReadGraph
  std::vector<std::pair<absl::string_view, absl::string_view>> metadata;
  std::vector<FunctionProto> functions;
};

// The canonical name of a domain; "" for ONNX's own operators.
absl::string_view CanonicalDomain(absl::string_view domain);

// The error is InvalidArgument if the bytes are no such message.
absl::StatusOr<ModelProto> ReadModel(absl::string_view message);
absl::StatusOr<GraphProto> ReadGraph(absl::string_view message);
absl::StatusOr<NodeProto> ReadNode(absl::string_view message);
// The name and the type of a value, of which the file may say nothing.
absl::StatusOr<ValueInfo> ReadValueInfo(absl::string_view message);

}  // namespace baton::onnx

#endif  // BATON_ONNX_MODEL_H_
