#include "baton/relay/ir/text_metadata.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/node.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/virtual_device.h"

namespace baton::relay {
namespace internal {

absl::string_view DimKind(DimExprNode::Op op) {
  switch (op) {
    case DimExprNode::Op::kVar:
      return "tir.Var";
    case DimExprNode::Op::kSizeVar:
      return "tir.SizeVar";
    case DimExprNode::Op::kAdd:
      return "tir.Add";
    case DimExprNode::Op::kSub:
      return "tir.Sub";
    case DimExprNode::Op::kMul:
      return "tir.Mul";
    case DimExprNode::Op::kFloorDiv:
      return "tir.FloorDiv";
  }
  return "tir.Var";
}

std::optional<DimExprNode::Op> DimOpOf(absl::string_view kind) {
  using Op = DimExprNode::Op;
  for (Op op :
       {Op::kVar, Op::kSizeVar, Op::kAdd, Op::kSub, Op::kMul, Op::kFloorDiv}) {
    if (DimKind(op) == kind) return op;
  }
  return std::nullopt;
}

namespace {

absl::string_view KindOf(const Node* node) {
  if (node->kind() == DimExprNode::kKind) {
    return DimKind(static_cast<const DimExprNode*>(node)->op());
  }
  if (node->kind() == AttrsNode::kKind) {
    return static_cast<const AttrsNode*>(node)->type().type_key();
  }
  return "relay.Constant";
}

std::string DTypeText(DType dtype) {
  return dtype.is_void() ? std::string() : dtype.ToString();
}

void AppendJsonString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (char c : text) {
    switch (c) {
      case '\r':
        out->append("\\r");
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\t':
        out->append("\\t");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '"':
        out->append("\\\"");
        break;
      default:
        out->push_back(c);
    }
  }
  out->push_back('"');
}

// One node of the JSON graph. Attributes are kept sorted by name.
struct JsonNode {
  std::string kind;
  std::string text;  // of a runtime.String
  std::vector<std::pair<std::string, std::string>> attrs;
  std::vector<std::string> keys;
  std::vector<size_t> data;
};

// Lays nodes out as the reference does: a node comes before what it refers
// to, in the order of its own fields.
class JsonGraph {
 public:
  JsonGraph() { nodes_.emplace_back(); }

  size_t Add(std::string kind) {
    nodes_.emplace_back();
    nodes_.back().kind = std::move(kind);
    return nodes_.size() - 1;
  }
  JsonNode& node(size_t i) { return nodes_[i]; }
  const std::vector<JsonNode>& nodes() const { return nodes_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

  size_t AddNode(const Node* node) {
    if (node->kind() == DimExprNode::kKind) {
      return AddDimExpr(static_cast<const DimExprNode*>(node));
    }
    if (node->kind() == AttrsNode::kKind) {
      return AddAttrs(static_cast<const AttrsNode*>(node));
    }
    return AddConstant(static_cast<const ConstantNode*>(node));
  }

  size_t AddDevice(const AttrValue& device) {
    const size_t i = Add("VirtualDevice");
    SetNumber(i, device, "device_type_int");
    SetNumber(i, device, "virtual_device_id");
    const AttrValue& target = EntryOf(device, "target");
    Set(i, "target", target.is_none() ? 0 : AddTarget(target));
    Set(i, "memory_scope", AddValue(EntryOf(device, "memory_scope")));
    return i;
  }

 private:
  void Set(size_t i, std::string key, std::string value) {
    auto& attrs = nodes_[i].attrs;
    auto it = attrs.begin();
    while (it != attrs.end() && it->first < key) ++it;
    attrs.emplace(it, std::move(key), std::move(value));
  }
  void Set(size_t i, std::string key, size_t value) {
    Set(i, std::move(key), absl::StrCat(value));
  }

  size_t AddString(absl::string_view text) {
    const size_t i = Add("runtime.String");
    nodes_[i].text = std::string(text);
    return i;
  }

  size_t AddInt(int64_t value, DType dtype) {
    const size_t i = Add("IntImm");
    Set(i, "dtype", dtype.ToString());
    Set(i, "span", size_t{0});
    Set(i, "value", absl::StrCat(value));
    return i;
  }

  size_t AddInt(int64_t value) {
    const bool narrow = value >= std::numeric_limits<int32_t>::min() &&
                        value <= std::numeric_limits<int32_t>::max();
    return AddInt(value, DType::Int(narrow ? 32 : 64));
  }

  size_t AddDim(const Dim& dim) {
    if (dim.is_const()) return AddInt(dim.value());
    if (dim.is_symbolic()) return AddDimExpr(dim.expr());
    const size_t i = Add("tir.Any");
    Set(i, "dtype", std::string("int32"));
    Set(i, "span", size_t{0});
    return i;
  }

  // An expression may nest deeply: operands wait on a stack, the left one and
  // all it holds before the right one.
  size_t AddDimExpr(const DimExprNode* root) {
    struct Operand {
      const Dim* dim;
      size_t parent;
      const char* field;
    };
    std::vector<Operand> stack;
    const auto add = [this, &stack](const DimExprNode* node) {
      const auto [it, inserted] = dims_.try_emplace(node, nodes_.size());
      const size_t i = it->second;
      if (!inserted) return i;
      Add(std::string(DimKind(node->op())));
      Set(i, "dtype", DTypeText(node->dtype()));
      Set(i, "span", size_t{0});
      if (node->is_var()) {
        Set(i, "name", AddString(node->name()));
        const size_t type = Add("PrimType");
        Set(type, "dtype", DTypeText(node->dtype()));
        Set(i, "type_annotation", type);
      } else {
        stack.push_back({&node->rhs(), i, "b"});
        stack.push_back({&node->lhs(), i, "a"});
      }
      return i;
    };
    const size_t result = add(root);
    while (!stack.empty()) {
      const Operand operand = stack.back();
      stack.pop_back();
      Set(operand.parent, operand.field,
          operand.dim->is_symbolic() ? add(operand.dim->expr())
                                     : AddDim(*operand.dim));
    }
    return result;
  }

  size_t AddTensorType(const TensorTypeNode* type) {
    const size_t i = Add("relay.TensorType");
    Set(i, "dtype", DTypeText(type->dtype()));
    Set(i, "span", size_t{0});
    const size_t shape = Add("Array");
    Set(i, "shape", shape);
    for (const Dim& dim : type->shape()) {
      const size_t element = AddDim(dim);
      nodes_[shape].data.push_back(element);
    }
    return i;
  }

  size_t AddConstant(const ConstantNode* constant) {
    const size_t i = Add("relay.Constant");
    Set(i, "data", tensors_.size());
    tensors_.push_back(constant->value());
    if (virtual_device_ == 0) {
      virtual_device_ = Add("VirtualDevice");
      Set(virtual_device_, "device_type_int", std::string("-1"));
      Set(virtual_device_, "virtual_device_id", std::string("-1"));
      Set(virtual_device_, "target", size_t{0});
      Set(virtual_device_, "memory_scope", AddString(""));
    }
    Set(i, "virtual_device_", virtual_device_);
    Set(i, "span", size_t{0});
    const TensorTypeNode* type = constant->tensor_type();
    Set(i, "_checked_type_", type == nullptr ? 0 : AddTensorType(type));
    return i;
  }

  // A value as a node of its own; 0 for None.
  size_t AddValue(const AttrValue& value) {
    if (const bool* b = value.As<bool>()) return AddInt(*b, DType::Bool());
    if (const int64_t* n = value.As<int64_t>()) return AddInt(*n);
    if (const Dim* dim = value.As<Dim>()) return AddDim(*dim);
    if (const std::string* s = value.As<std::string>()) return AddString(*s);
    if (const DType* dtype = value.As<DType>()) {
      return AddString(DTypeText(*dtype));
    }
    if (const double* d = value.As<double>()) {
      const size_t i = Add("FloatImm");
      Set(i, "dtype", std::string("float64"));
      Set(i, "span", size_t{0});
      Set(i, "value", DoubleText(*d));
      return i;
    }
    if (const AttrList* list = value.As<AttrList>()) {
      const size_t i = Add("Array");
      for (const AttrValue& item : *list) {
        const size_t element = AddValue(item);
        nodes_[i].data.push_back(element);
      }
      return i;
    }
    if (const AttrMap* map = value.As<AttrMap>()) {
      const size_t i = Add("Map");
      for (const auto& [key, item] : *map) {
        const size_t element = AddValue(item);
        nodes_[i].keys.push_back(key);
        nodes_[i].data.push_back(element);
      }
      return i;
    }
    return 0;
  }

  // Targets and their kinds are shared, and so are the keys that a target has
  // from its kind.
  size_t AddTarget(const AttrValue& root) {
    size_t result = 0;
    size_t user = 0;
    for (const AttrValue* target = &root;; target = &EntryOf(*target, "host")) {
      const auto known = std::find_if(
          targets_.begin(), targets_.end(),
          [&](const auto& entry) { return *entry.first == *target; });
      const bool is_known = known != targets_.end();
      const size_t i = target->is_none() ? 0
                       : is_known        ? known->second
                                         : Add("Target");
      if (user == 0) {
        result = i;
      } else {
        Set(user, "host", i);
      }
      if (is_known || target->is_none()) return result;
      targets_.emplace_back(target, i);
      const AttrValue& kind = EntryOf(*target, "kind");
      const size_t kind_node = AddTargetKind(kind);
      Set(i, "kind", kind_node);
      Set(i, "tag", AddValue(EntryOf(*target, "tag")));
      const size_t keys = Add("Array");
      Set(i, "keys", keys);
      const AttrList& defaults = *EntryOf(kind, "default_keys").As<AttrList>();
      for (const AttrValue& key : *EntryOf(*target, "keys").As<AttrList>()) {
        const auto it = std::find(defaults.begin(), defaults.end(), key);
        const size_t element =
            it == defaults.end()
                ? AddValue(key)
                : nodes_[kind_node + 2].data[it - defaults.begin()];
        nodes_[keys].data.push_back(element);
      }
      Set(i, "attrs", AddValue(EntryOf(*target, "attrs")));
      Set(i, "features", AddValue(EntryOf(*target, "features")));
      user = i;
    }
  }

  // Its second node after the kind itself is the list of its keys.
  size_t AddTargetKind(const AttrValue& kind) {
    for (const auto& [known, i] : target_kinds_) {
      if (*known == kind) return i;
    }
    const size_t i = Add("TargetKind");
    target_kinds_.emplace_back(&kind, i);
    Set(i, "name", AddValue(EntryOf(kind, "name")));
    SetNumber(i, kind, "default_device_type");
    Set(i, "default_keys", AddValue(EntryOf(kind, "default_keys")));
    return i;
  }

  void SetNumber(size_t i, const AttrValue& map, const char* key) {
    Set(i, key, absl::StrCat(*EntryOf(map, key).As<int64_t>()));
  }

  static std::string DoubleText(double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof(buffer), "%.17g", value);
    return buffer;
  }

  // Plain fields (int, bool, float, string, dtype) are text; all others refer
  // to nodes.
  size_t AddAttrs(const AttrsNode* attrs) {
    const size_t i = Add(attrs->type().type_key());
    for (const Field& field : attrs->fields().fields()) {
      const AttrValue value = field.Get(attrs->object());
      const std::string& type = field.type_name();
      const std::string& name = field.name();
      if (type == "int") {
        Set(i, name, absl::StrCat(*value.As<int64_t>()));
      } else if (type == "bool") {
        Set(i, name, std::string(*value.As<bool>() ? "1" : "0"));
      } else if (type == "float") {
        Set(i, name, DoubleText(*value.As<double>()));
      } else if (type == "string") {
        // The reader takes a number for the node of that number.
        const std::string& text = *value.As<std::string>();
        const bool number =
            !text.empty() &&
            text.find_first_not_of("0123456789") == std::string::npos;
        Set(i, name, number ? absl::StrCat(AddString(text)) : text);
      } else if (type == "dtype") {
        Set(i, name, DTypeText(*value.As<DType>()));
      } else {
        Set(i, name, AddValue(value));
      }
    }
    return i;
  }

  std::vector<JsonNode> nodes_;
  std::vector<Tensor> tensors_;
  FlatHashMap<const DimExprNode*, size_t> dims_;
  // The device of constants.
  size_t virtual_device_ = 0;
  // The values are those of the table that is written.
  std::vector<std::pair<const AttrValue*, size_t>> targets_;
  std::vector<std::pair<const AttrValue*, size_t>> target_kinds_;
};

void AppendAttrs(const std::vector<std::pair<std::string, std::string>>& attrs,
                 std::string* out) {
  const bool many = attrs.size() > 1;
  out->append("      \"attrs\": {");
  bool first = true;
  for (const auto& [key, value] : attrs) {
    if (!first) out->append(", ");
    first = false;
    if (many) out->append("\n        ");
    AppendJsonString(key, out);
    out->append(": ");
    AppendJsonString(value, out);
  }
  out->append(many ? "\n      }" : "}");
}

void AppendNode(const JsonNode& node, std::string* out) {
  out->append("    {\n      \"type_key\": ");
  AppendJsonString(node.kind, out);
  if (!node.text.empty()) {
    bool printable = true;
    for (char c : node.text) printable &= c >= 0x20 && c <= 0x7e;
    if (printable) {
      out->append(", \n      \"repr_str\": ");
      AppendJsonString(node.text, out);
    } else {
      out->append(", \n      \"repr_b64\": ");
      // The reference stores the length before the bytes.
      std::string blob(8, '\0');
      const uint64_t size = node.text.size();
      std::memcpy(blob.data(), &size, 8);
      blob.append(node.text);
      AppendJsonString(absl::Base64Escape(blob), out);
    }
  }
  if (!node.attrs.empty()) {
    out->append(", \n");
    AppendAttrs(node.attrs, out);
  }
  if (!node.keys.empty()) {
    out->append(", \n      \"keys\": [");
    for (size_t i = 0; i < node.keys.size(); ++i) {
      out->append(i == 0 ? "\n        " : ", \n        ");
      AppendJsonString(node.keys[i], out);
    }
    out->append("\n      ]");
  }
  if (!node.data.empty()) {
    const bool many = node.data.size() > 10;
    out->append(", \n      \"data\": [");
    for (size_t i = 0; i < node.data.size(); ++i) {
      if (i != 0) out->append(", ");
      if (many) out->append("\n        ");
      absl::StrAppend(out, node.data[i]);
    }
    out->append(many ? "\n      ]" : "]");
  }
  out->append("\n    }");
}

template <typename T>
void AppendRaw(T value, std::string* out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out->append(bytes, sizeof(T));
}

// The reference's file format of a tensor, in base64.
void AppendTensor(const Tensor& tensor, std::string* out,
                  const std::function<void(std::string*)>& flush) {
  std::string head;
  AppendRaw<uint64_t>(kTensorMagic, &head);
  AppendRaw<uint64_t>(0, &head);
  AppendRaw<int32_t>(1, &head);  // host memory
  AppendRaw<int32_t>(0, &head);
  AppendRaw<int32_t>(tensor.rank(), &head);
  AppendRaw<uint8_t>(static_cast<uint8_t>(tensor.dtype().code()), &head);
  AppendRaw<uint8_t>(static_cast<uint8_t>(tensor.dtype().bits()), &head);
  AppendRaw<uint16_t>(static_cast<uint16_t>(tensor.dtype().lanes()), &head);
  for (int64_t dim : tensor.shape()) AppendRaw<int64_t>(dim, &head);
  AppendRaw<int64_t>(tensor.byte_size(), &head);

  // Base64 takes three bytes at a time: fill the head up to a multiple.
  absl::string_view bytes = tensor.bytes();
  while (head.size() % 3 != 0 && !bytes.empty()) {
    head.push_back(bytes[0]);
    bytes.remove_prefix(1);
  }
  out->append(absl::Base64Escape(head));
  std::string encoded;
  constexpr size_t kStep = 3 * 16384;
  while (!bytes.empty()) {
    const absl::string_view step = bytes.substr(0, kStep);
    bytes.remove_prefix(step.size());
    absl::Base64Escape(step, &encoded);
    out->append(encoded);
    flush(out);
  }
}

}  // namespace

std::pair<size_t, size_t> MetadataTable::Add(absl::string_view name,
                                             Item item) {
  size_t kind = 0;
  while (kind < kinds_.size() && kinds_[kind].first != name) ++kind;
  if (kind == kinds_.size()) kinds_.emplace_back(std::string(name), 0);
  kinds_[kind].second.push_back(std::move(item));
  return {kind, kinds_[kind].second.size() - 1};
}

void MetadataTable::AppendNumber(std::pair<size_t, size_t> number,
                                 std::string* out) const {
  absl::StrAppend(out, "meta[", kinds_[number.first].first, "][", number.second,
                  "]");
}

void MetadataTable::AppendRef(const Node* node, std::string* out) {
  const auto [it, inserted] = numbers_.try_emplace(node);
  if (inserted) it->second = Add(KindOf(node), {node, AttrValue()});
  AppendNumber(it->second, out);
}

void MetadataTable::AppendDeviceRef(const AttrValue& device, std::string* out) {
  uint64_t key = device.Hash();
  while (true) {
    const auto [it, inserted] = devices_.try_emplace(key);
    if (inserted) it->second = Add("VirtualDevice", {nullptr, device});
    const auto& [kind, number] = it->second;
    if (inserted || kinds_[kind].second[number].device == device) {
      AppendNumber(it->second, out);
      return;
    }
    ++key;
  }
}

void MetadataTable::AppendJson(
    std::string* out, const std::function<void(std::string*)>& flush) const {
  JsonGraph graph;
  const size_t root = graph.Add("Map");
  // The kind met last comes first, as in the reference.
  for (size_t k = kinds_.size(); k-- > 0;) {
    const size_t list = graph.Add("Array");
    graph.node(root).keys.push_back(kinds_[k].first);
    graph.node(root).data.push_back(list);
    for (const Item& item : kinds_[k].second) {
      const size_t element = item.node == nullptr ? graph.AddDevice(item.device)
                                                  : graph.AddNode(item.node);
      graph.node(list).data.push_back(element);
    }
  }
  absl::StrAppend(out, "{\n  \"root\": ", root, ", \n  \"nodes\": [");
  bool first = true;
  for (const JsonNode& node : graph.nodes()) {
    out->append(first ? "\n" : ", \n");
    first = false;
    AppendNode(node, out);
    flush(out);
  }
  out->append("\n  ], \n  \"b64ndarrays\": [");
  first = true;
  for (const Tensor& tensor : graph.tensors()) {
    out->append(first ? "\n    \"" : ", \n    \"");
    first = false;
    AppendTensor(tensor, out, flush);
    out->push_back('"');
  }
  if (!first) out->append("\n  ");
  out->append("], \n  \"attrs\": {\"tvm_version\": \"0.14.0\"}\n}");
}

}  // namespace internal
}  // namespace baton::relay
