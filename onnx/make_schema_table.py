"""Makes schema_table.cc from the list of operators that ONNX publishes.

usage: make_schema_table.py Changelog.md > schema_table.cc

A line for each version of an operator:

  OP VERSION MIN_INPUTS INPUTS MIN_OUTPUTS OUTPUTS ATTRIBUTES

Inputs, outputs and attributes are separated by commas, or `-`. An input is
NAME:KIND:TYPE:MASK; KIND is `r` required, `o` optional, `v` variadic of one
type, `h` variadic of several types; inputs of one TYPE have equal element
types; bit N of MASK, in hexadecimal, is TensorProto.DataType N, bit 0 says that
sequences or optionals are allowed. The mask includes the types that the newest
version allows. An output is NAME:KIND:TYPE:MASK, too. An attribute is NAME:TYPE,
with `!` behind it if it is required; TYPE is a letter: f, i, s, t, g, p, x, and
F, I, S for lists.
"""

import re
import sys

ELEMENT_TYPES = (
    "undefined float uint8 int8 uint16 int16 int32 int64 string bool float16"
    " double uint32 uint64 complex64 complex128 bfloat16 float8e4m3fn"
    " float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0"
    " uint2 int2"
).split()

ATTRIBUTE_TYPES = {
    "float": "f",
    "int": "i",
    "string": "s",
    "tensor": "t",
    "graph": "g",
    "type_proto": "p",
    "sparse_tensor": "x",
    "list of floats": "F",
    "list of ints": "I",
    "list of strings": "S",
}



def section(body, title):
  match = re.search(r"#### " + title + r"([^\n]*)\n(.*?)(?=\n#### |\Z)", body,
                    re.S)
  return match.groups() if match else ("", "")


def items(text):
  return re.findall(
      r"<dt><tt>([^<]*)</tt>((?: \([^)]*\))*)\s*:\s*([^\n]*?)</dt>", text)


def mask_of(types):
  mask = 0
  for name in types:
    match = re.fullmatch(r"tensor\((\w+)\)", name)
    if match:
      mask |= 1 << ELEMENT_TYPES.index(match.group(1))
    else:
      mask |= 1
  return mask


def least(header, values):
  match = re.match(r" \((\d+) -", header)
  return int(match.group(1)) if match else len(values)


class Schema:

  def __init__(self, op, version, body):
    self.op, self.version = op, version
    constraints = {
        name: types.split(", ")
        for name, _, types in items(section(body, "Type Constraints")[1])
    }
    self.inputs, self.min_inputs = self.values(body, "Inputs", constraints)
    self.outputs, self.min_outputs = self.values(body, "Outputs", constraints)
    self.attributes = []
    for name, _, kind in items(section(body, "Attributes")[1]):
      base = re.sub(r" \(.*", "", kind)
      required = "!" if "(required)" in kind else ""
      self.attributes.append(f"{name}:{ATTRIBUTE_TYPES[base]}{required}")

  def values(self, body, title, constraints):
    header, text = section(body, title)
    result = []
    for name, option, kind in items(text):
      mark = "r"
      if "variadic" in option:
        mark = "h" if "heterogeneous" in option else "v"
      elif "optional" in option:
        mark = "o"
      if kind in constraints:
        result.append([name, mark, kind, mask_of(constraints[kind])])
      else:
        match = re.fullmatch(r"tensor\((\w+)\)", kind)
        index = ELEMENT_TYPES.index(match.group(1))
        result.append([name, mark, f"${index}", 1 << index])
    return result, least(header, result)

  def line(self, newest):
    def text(values, others):
      parts = []
      for i, (name, mark, kind, mask) in enumerate(values):
        if i < len(others):
          mask |= others[i][3]
        parts.append(f"{name}:{mark}:{kind}:{mask:x}")
      return ",".join(parts) or "-"

    return " ".join([
        self.op,
        str(self.version),
        str(self.min_inputs),
        text(self.inputs, newest.inputs),
        str(self.min_outputs),
        text(self.outputs, newest.outputs),
        ",".join(self.attributes) or "-",
    ])


def read(path):
  with open(path, encoding="utf-8") as file:
    parts = re.split(r'### <a name="([^"]+)"></a>\*\*[^*]*\*\*</a>',
                     file.read())
  result = []
  for name, body in zip(parts[1::2], parts[2::2]):
    if "." in name or "#### Type Constraints" not in body and (
        "#### Outputs" not in body):
      continue  # another domain, or deprecated
    op, _, version = name.rpartition("-")
    result.append(Schema(op, int(version), body))
  result.sort(key=lambda schema: (schema.op, schema.version))
  return result


def main():
  schemas = read(sys.argv[1])
  newest = {schema.op: schema for schema in schemas}
  print("""\
// The operators of ONNX's own domain. Made by make_schema_table.py from ONNX's
// docs/Changelog.md, version 1.23; see there for the format.

#include "absl/strings/string_view.h"
#include "baton/onnx/schema.h"

namespace baton::onnx {

absl::string_view SchemaTable() {
  return R"(""", end="")
  for schema in schemas:
    print(schema.line(newest[schema.op]))
  print(""")";
}

}  // namespace baton::onnx""")


if __name__ == "__main__":
  main()
