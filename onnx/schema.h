// Signatures of ONNX's own operators: inputs, outputs, attributes, and the
// element types that they may have.
//
//   const std::optional<Schema> schema = FindSchema("Add", /*opset=*/13);
//   BATON_RETURN_IF_ERROR(CheckSignature(*schema, node));

#ifndef BATON_ONNX_SCHEMA_H_
#define BATON_ONNX_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/onnx/model.h"

namespace baton::onnx {

// Element types; bit N is TensorProto.DataType N. Bit 0 is for values that are
// no tensors: sequences and optionals.
using ElementTypes = uint32_t;

// The signature of an operator, from one opset version on.
struct Schema {
  enum class Arity : uint8_t {
    kRequired,
    kOptional,
    kVariadic,       // any number, of one element type
    kHeterogeneous,  // any number, of any element types
  };
  struct Value {
    absl::string_view name;
    Arity arity = Arity::kRequired;
    // Values of one type variable have equal element types.
    absl::string_view type;
    // The element types that this version or the newest version allows.
    ElementTypes types = 0;
  };
  struct Attribute {
    absl::string_view name;
    AttributeProto::Type type = AttributeProto::Type::kUndefined;
    bool is_required = false;
  };

  absl::string_view op;
  int64_t version = 0;
  size_t min_inputs = 0;
  size_t min_outputs = 0;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<Attribute> attributes;

  // The description of input `i`, also of one of several variadic inputs. Null
  // if there are not as many.
  const Value* Input(size_t i) const;
};

// The signature of the newest version of an operator up to `opset`; nullopt if
// ONNX has no such operator.
std::optional<Schema> FindSchema(absl::string_view op, int64_t opset);

// The newest opset in which an operator is known.
int64_t NewestOpset();

// Checks the numbers of inputs and outputs, and the attributes.
absl::Status CheckSignature(const Schema& schema, const NodeProto& node);

// Checks the element types of the inputs. `inputs` has, for each input, a set
// of which one member has to be allowed; 0 if the input is absent.
absl::Status CheckElementTypes(const Schema& schema,
                               absl::Span<const ElementTypes> inputs);

// "float, int8".
std::string ElementTypesToString(ElementTypes types);

// The lines that FindSchema reads; see make_schema_table.py.
absl::string_view SchemaTable();

}  // namespace baton::onnx

#endif  // BATON_ONNX_SCHEMA_H_
