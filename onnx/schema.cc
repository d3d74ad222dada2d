#include "baton/onnx/schema.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/printable.h"
#include "baton/onnx/model.h"

namespace baton::onnx {
namespace {

using Arity = Schema::Arity;
using AttributeType = AttributeProto::Type;

// The places in the table of the versions of an operator: adjacent lines.
using TableIndex =
    FlatHashMap<absl::string_view, absl::Span<const absl::string_view>>;

const std::vector<absl::string_view>& Lines() {
  static const auto& lines = *new std::vector<absl::string_view>(
      absl::StrSplit(SchemaTable(), '\n', absl::SkipEmpty()));
  return lines;
}

absl::string_view OpOf(absl::string_view line) {
  return line.substr(0, line.find(' '));
}

const TableIndex& Index() {
  static const auto& index = *[] {
    auto* result = new TableIndex;
    const std::vector<absl::string_view>& lines = Lines();
    for (size_t begin = 0; begin < lines.size();) {
      size_t end = begin + 1;
      while (end < lines.size() && OpOf(lines[end]) == OpOf(lines[begin])) {
        ++end;
      }
      result->emplace(OpOf(lines[begin]),
                      absl::MakeConstSpan(lines).subspan(begin, end - begin));
      begin = end;
    }
    return result;
  }();
  return index;
}

int64_t VersionOf(absl::string_view line) {
  line.remove_prefix(line.find(' ') + 1);
  int64_t version = 0;
  (void)absl::SimpleAtoi(line.substr(0, line.find(' ')), &version);
  return version;
}

Arity ArityOf(char letter) {
  switch (letter) {
    case 'o':
      return Arity::kOptional;
    case 'v':
      return Arity::kVariadic;
    case 'h':
      return Arity::kHeterogeneous;
    default:
      return Arity::kRequired;
  }
}

AttributeType AttributeTypeOf(char letter) {
  switch (letter) {
    case 'f':
      return AttributeType::kFloat;
    case 'i':
      return AttributeType::kInt;
    case 's':
      return AttributeType::kString;
    case 't':
      return AttributeType::kTensor;
    case 'g':
      return AttributeType::kGraph;
    case 'F':
      return AttributeType::kFloats;
    case 'I':
      return AttributeType::kInts;
    case 'S':
      return AttributeType::kStrings;
    case 'p':
      return AttributeType::kTypeProto;
    case 'x':
      return AttributeType::kSparseTensor;
    default:
      return AttributeType::kUndefined;
  }
}

absl::string_view AttributeTypeName(AttributeType type) {
  switch (type) {
    case AttributeType::kFloat:
      return "a float";
    case AttributeType::kInt:
      return "an integer";
    case AttributeType::kString:
      return "a string";
    case AttributeType::kTensor:
      return "a tensor";
    case AttributeType::kGraph:
      return "a graph";
    case AttributeType::kFloats:
      return "a list of floats";
    case AttributeType::kInts:
      return "a list of integers";
    case AttributeType::kStrings:
      return "a list of strings";
    case AttributeType::kTensors:
      return "a list of tensors";
    case AttributeType::kGraphs:
      return "a list of graphs";
    case AttributeType::kSparseTensor:
      return "a sparse tensor";
    case AttributeType::kTypeProto:
      return "a type";
    default:
      return "of an unknown type";
  }
}

// The parts of a list in the table; `-` is an empty one.
std::vector<absl::string_view> Parts(absl::string_view list) {
  if (list == "-") return {};
  return absl::StrSplit(list, ',');
}

std::vector<Schema::Value> ValuesOf(absl::string_view list) {
  std::vector<Schema::Value> result;
  for (absl::string_view part : Parts(list)) {
    const std::vector<absl::string_view> fields = absl::StrSplit(part, ':');
    Schema::Value value;
    value.name = fields[0];
    value.arity = ArityOf(fields[1][0]);
    value.type = fields[2];
    (void)absl::SimpleHexAtoi(fields[3], &value.types);
    result.push_back(value);
  }
  return result;
}

size_t CountOf(absl::string_view text) {
  uint32_t result = 0;
  (void)absl::SimpleAtoi(text, &result);
  return result;
}

Schema SchemaOf(absl::string_view line) {
  const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ');
  Schema result;
  result.op = fields[0];
  result.version = VersionOf(line);
  result.min_inputs = CountOf(fields[2]);
  result.inputs = ValuesOf(fields[3]);
  result.min_outputs = CountOf(fields[4]);
  result.outputs = ValuesOf(fields[5]);
  for (absl::string_view part : Parts(fields[6])) {
    const size_t colon = part.find(':');
    result.attributes.push_back({part.substr(0, colon),
                                 AttributeTypeOf(part[colon + 1]),
                                 part.back() == '!'});
  }
  return result;
}

bool IsVariadic(absl::Span<const Schema::Value> values) {
  return !values.empty() && (values.back().arity == Arity::kVariadic ||
                             values.back().arity == Arity::kHeterogeneous);
}

std::string Numbers(size_t least, absl::Span<const Schema::Value> values,
                    absl::string_view what) {
  if (IsVariadic(values)) {
    return absl::StrCat("at least ", least, " ", what, least == 1 ? "" : "s");
  }
  const size_t most = values.size();
  return absl::StrCat(least == most ? "" : absl::StrCat(least, " to "), most,
                      " ", what, most == 1 ? "" : "s");
}

// The number of names less the empty ones at the end, which are absent.
size_t CountPresent(absl::Span<const absl::string_view> names) {
  size_t count = names.size();
  while (count > 0 && names[count - 1].empty()) --count;
  return count;
}

absl::Status CheckAttributes(const Schema& schema, const NodeProto& node) {
  for (size_t i = 0; i < node.attributes.size(); ++i) {
    const AttributeProto& given = node.attributes[i];
    const auto known = std::find_if(
        schema.attributes.begin(), schema.attributes.end(),
        [&](const auto& candidate) { return candidate.name == given.name; });
    if (known == schema.attributes.end()) {
      std::vector<absl::string_view> names;
      for (const auto& attribute : schema.attributes) {
        names.push_back(attribute.name);
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "has no attribute '", Printable(given.name), "' in version ",
          schema.version, "; its attributes are: ",
          names.empty() ? "none" : absl::StrJoin(names, ", ")));
    }
    for (size_t k = 0; k < i; ++k) {
      if (node.attributes[k].name == given.name) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the attribute '", Printable(given.name), "' is there twice"));
      }
    }
    if (given.has_other_value) {
      return absl::InvalidArgumentError(
          absl::StrCat("the attribute '", given.name,
                       "' has a value of another type than it says"));
    }
    // Files of IR version 1 do not say the type of an empty list.
    if (given.type == AttributeType::kUndefined || given.type == known->type) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the attribute '", given.name,
                     "' has the wrong type: ", AttributeTypeName(given.type),
                     ", not ", AttributeTypeName(known->type)));
  }
  for (const Schema::Attribute& attribute : schema.attributes) {
    if (attribute.is_required && node.Find(attribute.name) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the attribute '", attribute.name, "' is missing"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const Schema::Value* Schema::Input(size_t i) const {
  if (i < inputs.size()) return &inputs[i];
  return IsVariadic(inputs) ? &inputs.back() : nullptr;
}

std::optional<Schema> FindSchema(absl::string_view op, int64_t opset) {
  const auto found = Index().find(op);
  if (found == Index().end()) return std::nullopt;
  // In ascending order of versions.
  std::optional<absl::string_view> newest;
  for (absl::string_view line : found->second) {
    if (VersionOf(line) <= opset) newest = line;
  }
  if (!newest.has_value()) return std::nullopt;
  return SchemaOf(*newest);
}

int64_t NewestOpset() {
  static const int64_t newest = [] {
    int64_t result = 0;
    for (absl::string_view line : Lines()) {
      result = std::max(result, VersionOf(line));
    }
    return result;
  }();
  return newest;
}

absl::Status CheckSignature(const Schema& schema, const NodeProto& node) {
  const size_t num_inputs = CountPresent(node.inputs);
  // An optional input may be there and have no name (Loop).
  size_t least = schema.min_inputs;
  while (least > 0 && least <= schema.inputs.size() &&
         schema.inputs[least - 1].arity == Arity::kOptional) {
    --least;
  }
  if (num_inputs < least ||
      (num_inputs > schema.inputs.size() && !IsVariadic(schema.inputs))) {
    return absl::InvalidArgumentError(
        absl::StrCat("takes ", Numbers(least, schema.inputs, "input"), ", not ",
                     num_inputs));
  }
  for (size_t i = 0; i < num_inputs; ++i) {
    const Schema::Value* input = schema.Input(i);
    if (!node.inputs[i].empty() || i >= schema.inputs.size() ||
        input->arity != Arity::kRequired) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " (", input->name, ") is missing"));
  }
  const size_t num_outputs = CountPresent(node.outputs);
  if (num_outputs < schema.min_outputs ||
      (num_outputs > schema.outputs.size() && !IsVariadic(schema.outputs))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gives ", Numbers(schema.min_outputs, schema.outputs, "output"),
        ", not ", num_outputs));
  }
  return CheckAttributes(schema, node);
}

absl::Status CheckElementTypes(const Schema& schema,
                               absl::Span<const ElementTypes> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Schema::Value* input = schema.Input(i);
    if (input == nullptr || inputs[i] == 0) continue;
    if ((inputs[i] & input->types) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " (", input->name, ") must be of ",
                       ElementTypesToString(input->types), ", not of ",
                       ElementTypesToString(inputs[i])));
    }
    if (input->arity == Arity::kHeterogeneous) continue;
    for (size_t k = 0; k < i; ++k) {
      const Schema::Value* other = schema.Input(k);
      if (inputs[k] == 0 || other->type != input->type ||
          (inputs[k] & inputs[i]) != 0) {
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("inputs ", k, " (", other->name, ") and ", i, " (",
                       input->name, ") must have one element type, but are of ",
                       ElementTypesToString(inputs[k]), " and ",
                       ElementTypesToString(inputs[i])));
    }
  }
  return absl::OkStatus();
}

std::string ElementTypesToString(ElementTypes types) {
  std::vector<absl::string_view> names;
  for (int i = 1; i < 32; ++i) {
    if (((types >> i) & 1) != 0) names.push_back(ElementTypeName(i));
  }
  if ((types & 1) != 0) names.push_back("a sequence or an optional");
  return absl::StrJoin(names, ", ");
}

}  // namespace baton::onnx
