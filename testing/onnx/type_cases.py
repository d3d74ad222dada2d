"""One node for each operator of ONNX and each element type that it may have.

usage: type_cases.py --write SCHEMA_TABLE.cc VALUES.json CASES.tar
       type_cases.py RUNNER SCHEMA_TABLE.cc VALUES.json PAGE.md CASES.tar [--update]

The first makes a model for each operator of type_recipes.py, each of its types
and each element type that the newest version of the operator allows, in a
folder for each tolerance. The second runs them with RUNNER (run_onnx_backend),
and holds what is supported, and why the others are refused, against the table
in PAGE.md. Values must be those of VALUES.json:
what ONNX Runtime 1.23.2 gives for the same numbers in a type that it supports
(floats, signed and unsigned integers, bools have values of their own). Results
of operators without an entry are only computed.

--models=FOLDER only writes the models, --values=FOLDER makes VALUES.json of the
files ort.json that were put beside them.
"""

import base64
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zlib

import numpy as np

# onnx 1.12 uses aliases that numpy 1.24 no longer has.
for _type in (float, int, bool, object, str, complex):
  if _type.__name__ not in np.__dict__:
    setattr(np, _type.__name__, _type)

from onnx import TensorProto, helper  # noqa: E402

from type_recipes import RECIPES  # noqa: E402

ELEMENT_TYPES = (
    "undefined float uint8 int8 uint16 int16 int32 int64 string bool float16"
    " double uint32 uint64 complex64 complex128 bfloat16 float8e4m3fn"
    " float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0"
    " uint2 int2"
).split()
NUMBERS = {name: i for i, name in enumerate(ELEMENT_TYPES)}
COLUMNS = (
    "float double float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32"
    " uint64 bool int4 uint4 int2 uint2 float8e4m3fn float8e4m3fnuz float8e5m2"
    " float8e5m2fnuz float8e8m0 float4e2m1 string complex64 complex128"
).split()
# These hold few of the values.
NARROW_FLOATS = {name for name in ELEMENT_TYPES if re.match("float[48]e", name)}
FLOATS = {name for name in ELEMENT_TYPES if "float" in name or name == "double"}
NUMPY = {
    "float": np.float32, "double": np.float64, "bool": np.bool_,
    **{
        name: getattr(np, name)
        for name in ("float16 int8 int16 int32 int64 uint8 uint16 uint32"
                     " uint64").split()
    }
}
# Of a parameter that is not looked at.
PREFERRED = ("float", "int64", "uint8", "int8", "bool", "int32")
DEFAULTS = {
    ("QuantizeLinear", "T3"): "uint8", ("DequantizeLinear", "T1"): "uint8",
    ("BitCast", "T1"): "int32", ("BitCast", "T2"): "int32",
    ("QLinearConv", "T1"): "uint8", ("QLinearConv", "T2"): "uint8",
    ("QLinearMatMul", "T1"): "uint8", ("QLinearMatMul", "T2"): "uint8",
    ("QLinearMatMul", "T3"): "uint8", ("ConvInteger", "T1"): "uint8",
    ("ConvInteger", "T2"): "uint8", ("MatMulInteger", "T1"): "uint8",
    ("MatMulInteger", "T2"): "uint8", ("OneHot", "T1"): "int64",
    ("OneHot", "T2"): "int64", ("Pow", "T1"): "float",
}
# The attribute that says the element type of a result.
TYPE_ATTRIBUTES = {
    "Cast": ("to", "T2"), "BitCast": ("to", "T2"),
    "RandomNormal": ("dtype", "T"), "RandomUniform": ("dtype", "T"),
    "RandomNormalLike": ("dtype", "T2"), "RandomUniformLike": ("dtype", "T2"),
    "Bernoulli": ("dtype", "T2"), "EyeLike": ("dtype", "T2"),
    "Multinomial": ("dtype", "T2"), "HannWindow": ("output_datatype", "T2"),
    "HammingWindow": ("output_datatype", "T2"),
    "BlackmanWindow": ("output_datatype", "T2"),
    "MelWeightMatrix": ("output_datatype", "T3"),
    "DequantizeLinear": ("output_dtype", "T3"),
}
RANDOM = {op for op in RECIPES if op.startswith("Random")} | {
    "Bernoulli", "Multinomial"
}
# Whose results depend on the width of an element.
BY_WIDTH = {"BitwiseNot", "Sub", "QuantizeLinear", "BitCast"}
# What ONNX Runtime gives is not what the text of the operator says.
WRONG_VALUES = {"MaxPool.1 I=signed,T=unsigned"}
# The other type of a BitCast, of the same size.
BIT_CASTS = {
    "float": "int32", "double": "int64", "float16": "int16", "bfloat16": "int16",
    "int8": "uint8", "int16": "uint16", "int64": "uint64", "uint8": "int8",
    "uint16": "int16", "uint64": "int64", "bool": "uint8", "int4": "uint4",
    "uint4": "int4", "int2": "uint2", "uint2": "int2"
}
MIN_OPSET = 25  # that has all element types in Cast


class Schema:
  """A line of the table of schema_table.cc."""

  def __init__(self, line):
    op, version, _, inputs, _, outputs, _ = line.split(" ")
    self.op, self.version = op, int(version)
    self.inputs = self.values(inputs)
    self.outputs = self.values(outputs)
    # Element types by type variable, in the order in which they occur.
    self.types = {}
    for kind, mask in self.inputs + self.outputs:
      if not kind.startswith("$"):
        self.types[kind] = self.types.get(kind, 0) | mask

  @staticmethod
  def values(text):
    if text == "-":
      return []
    parts = [part.split(":") for part in text.split(",")]
    return [(kind, int(mask, 16)) for _, _, kind, mask in parts]

  def allowed(self, kind):
    return [
        name for i, name in enumerate(ELEMENT_TYPES)
        if i > 0 and self.types[kind] >> i & 1
    ]

  def default(self, kind):
    types = self.allowed(kind)
    wanted = DEFAULTS.get((self.op, kind))
    if wanted in types:
      return wanted
    return next((name for name in PREFERRED if name in types), types[0])


def newest_schemas(path):
  with open(path, encoding="utf-8") as file:
    text = file.read()
  table = text[text.index('R"(') + 3:text.index(')";')]
  schemas = [Schema(line) for line in table.strip().split("\n")]
  return {schema.op: schema for schema in schemas}


def class_of(name):
  """Numbers of one class have the same values."""
  if name in FLOATS:
    return "float"
  if name == "bool":
    return "bool"
  return "unsigned" if name.startswith("u") else "signed"


def carrier(name):
  """The type of NumPy in which values are given; others are cast from it."""
  if name in NUMPY:
    return NUMPY[name]
  if name in FLOATS:
    return np.float32
  return np.uint8 if name.startswith("uint") else np.int8


def values_of(shape, kind, name, seed):
  count = int(np.prod(shape)) if shape else 1
  random = np.random.RandomState(zlib.crc32(f"{seed}{kind}{shape}".encode()))
  group = class_of(name)
  if kind[0] == "=":
    values = np.array([float(x) for x in kind[1:].split(",")])
  elif kind == "b":
    values = random.rand(count) > 0.4
  elif ".." in kind:
    low, high = map(int, kind.split(".."))
    values = random.randint(low, high + 1, count)
  elif group == "bool":
    values = random.rand(count) > 0.4
  elif group == "float":
    low, high, step = {"n": (-8, 8, 0.25), "p": (1, 12, 0.25),
                       "u": (-7, 7, 0.125), "g": (4, 12, 0.25)}[kind]
    values = random.randint(low, high + 1, count) * step
  else:
    # Also numbers of 2 bits hold these.
    low = 1 if kind in "pg" else (0 if group == "unsigned" else -1)
    values = random.randint(low, 2, count)
  return values.reshape(shape).astype(carrier(name))


def tensor(name, array):
  number = NUMBERS[next(k for k, v in NUMPY.items() if v == array.dtype.type)]
  return helper.make_tensor(name, number, array.shape, array.tobytes(), raw=True)


def value_info(name, array):
  number = NUMBERS[next(k for k, v in NUMPY.items() if v == array.dtype.type)]
  return helper.make_tensor_value_info(name, number, array.shape)


def make_model(schema, recipe, types):
  """A model, its inputs, and for each output the type that it is cast to."""
  inputs, num_outputs, attributes = recipe
  nodes, feeds, infos, names = [], {}, [], []
  for i, spec in enumerate(inputs):
    if spec is None:
      names.append("")
      continue
    kind, mask = schema.inputs[min(i, len(schema.inputs) - 1)]
    name = types.get(kind) or ELEMENT_TYPES[mask.bit_length() - 1]
    given = f"i{i}"
    if name in ("string", "complex64", "complex128"):
      infos.append(helper.make_tensor_value_info(given, NUMBERS[name], spec[0]))
    else:
      feeds[given] = values_of(*spec, name, i)
      infos.append(value_info(given, feeds[given]))
      if name not in NUMPY:
        nodes.append(helper.make_node("Cast", [given], [given + "c"],
                                      to=NUMBERS[name]))
        given += "c"
    names.append(given)
  attributes = dict(attributes)
  if schema.op in TYPE_ATTRIBUTES:
    attribute, kind = TYPE_ATTRIBUTES[schema.op]
    attributes[attribute] = NUMBERS[types[kind]]
  if schema.op == "ConstantOfShape":
    name = types["T2"]
    value = TensorProto(name="value", data_type=NUMBERS[name], dims=[1])
    value.raw_data = b"\x80\x3f" if name == "bfloat16" else b"\1"
    if name in NUMPY:
      value.raw_data = np.array([1], NUMPY[name]).tobytes()
    attributes["value"] = value
  results = [f"o{k}" for k in range(num_outputs)]
  nodes.append(helper.make_node(schema.op, names, results, **attributes))
  outputs, wanted = [], []
  for k, result in enumerate(results):
    kind, mask = schema.outputs[min(k, len(schema.outputs) - 1)]
    name = types.get(kind) or ELEMENT_TYPES[mask.bit_length() - 1]
    if name not in NUMPY and name not in ("string", "complex64", "complex128"):
      cast = carrier(name)
      name = next(k for k, v in NUMPY.items() if v == cast)
      nodes.append(helper.make_node("Cast", [result], [result + "c"],
                                    to=NUMBERS[name]))
      result += "c"
    info = helper.make_empty_tensor_value_info(result)
    info.type.tensor_type.elem_type = NUMBERS[name]
    outputs.append(info)
    wanted.append(carrier(name))
  graph = helper.make_graph(nodes, "g", infos, outputs)
  model = helper.make_model(graph, opset_imports=[
      helper.make_opsetid("", max(schema.version, MIN_OPSET))
  ])
  model.ir_version = 10
  return model, feeds, wanted


def cases(schemas):
  """All (name, schema, recipe, types, type variable, element type)."""
  for op in sorted(RECIPES):
    schema = schemas[op]
    defaults = {kind: schema.default(kind) for kind in schema.types}
    for kind in schema.types:
      for name in schema.allowed(kind):
        types = dict(defaults)
        types[kind] = name
        if op == "DequantizeLinear" and kind == "T2" and name in FLOATS:
          types["T3"] = name if name in schema.allowed("T3") else types["T3"]
        if op == "BitCast":  # both have one size
          other = "T2" if kind == "T1" else "T1"
          types[other] = BIT_CASTS.get(name, types[other])
        for number, recipe in enumerate(RECIPES[op]):
          yield (f"{op}.{number}.{kind}.{name}", schema, recipe, types, kind,
                 name)


def key_of(name, types):
  """What values are the same for: the types by their classes."""
  op, number = name.split(".")[:2]
  by_width = op in BY_WIDTH
  kinds = ",".join(f"{k}={v if by_width else class_of(v)}"
                   for k, v in sorted(types.items()))
  return f"{op}.{number} {kinds}"


def expected(entry, wanted):
  shape, values = entry
  kind = np.dtype(wanted).kind
  numbers = [int(v) if kind in "iu" and "." not in v else float(v)
             for v in values]
  form = object if kind in "iu" else np.float64
  return np.array(numbers, form).reshape(shape).astype(wanted)


def files_of(model, feeds, results):
  """The files of a case: (path in its folder, content)."""
  yield "model.onnx", model.SerializeToString(deterministic=True)
  if not feeds and not results:
    yield "test_data_set_0/nothing", b""  # So that there is such a folder.
  for stem, arrays in (("input", feeds.values()), ("output", results)):
    for i, array in enumerate(arrays):
      yield (f"test_data_set_0/{stem}_{i}.pb",
             tensor("", array).SerializeToString(deterministic=True))


def write(folder, model, feeds, results):
  os.makedirs(os.path.join(folder, "test_data_set_0"))
  for path, content in files_of(model, feeds, results):
    with open(os.path.join(folder, path), "wb") as file:
      file.write(content)


def tolerance(types):
  if "bfloat16" in types.values():
    return 0.04
  return 0.01 if "float16" in types.values() else 1e-4


def run(runner, archive, tol):
  """Why cases of a tolerance do not pass, by name."""
  done = subprocess.run(
      [runner, "--keep_dimensions", f"--rtol={tol}", f"--atol={tol}",
       f"--archive={archive}", str(tol)],
      stdout=subprocess.PIPE, check=False)
  result = {}
  for line in done.stdout.decode("utf-8").splitlines():
    match = re.match(r"(WRONG|UNSUPPORTED) ([^:]*): (.*)", line)
    # A case without values has results all the same. Refused is what the
    # importer says no to.
    if match and not re.search(r" outputs, not 0$", match.group(3)):
      is_refused = re.match(r"model\.onnx|input '", match.group(3))
      result[match.group(2)] = ("REFUSED" if is_refused else match.group(1),
                                match.group(3))
  return result


def reason_of(message):
  message = re.sub(r"^model\.onnx(:\d+:\d+)?: (error: )?", "", message)
  message = message.split(" | ", 1)[0]
  match = re.search(r"elements that are \w+ \(element type \d+\)", message)
  if match:
    return "elements of this type are not supported"
  return message.replace("|", "\\|")


def table(schemas, failed, checked):
  reasons = []
  supported = {}
  for name, schema, _, _, kind, element in cases(schemas):
    row = supported.setdefault((schema.op, kind), {})
    cell = row.setdefault(element, [])
    if name in failed:
      reason = reason_of(failed[name][1])
      if failed[name][0] == "WRONG":
        reason = "WRONG: " + reason
      if reason not in reasons:
        reasons.append(reason)
      cell.append(str(reasons.index(reason) + 1))
    else:
      cell.append("+" if name in checked else "o")
  lines = ["| operator | type | " + " | ".join(COLUMNS) + " |",
           "|---|---|" + "---|" * len(COLUMNS)]
  for (op, kind), row in supported.items():
    cells = []
    for column in COLUMNS:
      marks = sorted(set(row.get(column, [])))
      if "+" in marks and "o" in marks:
        marks.remove("o")
      cells.append(" ".join(marks))
    lines.append(f"| `{op}` | {kind} | " + " | ".join(cells) + " |")
  lines.append("")
  lines += [f"{i}. {reason}" for i, reason in enumerate(reasons, 1)]
  others = [f"`{op}`" for op in schemas if op not in RECIPES]
  lines += ["", "Not in the table: " + ", ".join(others) + "."]
  return lines


def show(page):
  begin, end = "<!-- generated -->", "<!-- end of generated -->"
  with open(page, encoding="utf-8") as file:
    text = file.read()
  return text, text.index(begin) + len(begin) + 1, text.index(end)


def write_models(schemas, folder):
  for name, schema, recipe, types, _, _ in cases(schemas):
    model, feeds, _ = make_model(schema, recipe, types)
    write(os.path.join(folder, name), model, feeds, [])


def read_values(schemas, folder):
  """The values that ONNX Runtime gave for models that it supports."""
  result = {}
  for name, schema, _, types, _, _ in cases(schemas):
    path = os.path.join(folder, name, "ort.json")
    key = key_of(name, types)
    precise = not {"float16", "bfloat16"} & set(types.values())
    if key in WRONG_VALUES or schema.op in RANDOM or key in result or (
        not precise) or (
        not os.path.exists(path)):
      continue
    with open(path, encoding="utf-8") as file:
      outputs = json.load(file).get("outputs")
    if outputs is None:
      continue
    entry = []
    for output in outputs.values():
      array = np.frombuffer(base64.b64decode(output["raw"]),
                            np.dtype(output["type"]))
      form = "{:.9g}" if array.dtype.kind == "f" else "{:d}"
      entry.append([output["dims"], [form.format(v) for v in array]])
    result[key] = entry
  return result


def has_values(name, types, values):
  """Whether the results of a case are compared with those of VALUES.json."""
  return (key_of(name, types) in values and
          not NARROW_FLOATS & set(types.values()))


def write_archive(schemas, values, path):
  with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
    for name, schema, recipe, types, _, _ in cases(schemas):
      model, feeds, wanted = make_model(schema, recipe, types)
      results = []
      if has_values(name, types, values):
        entry = values[key_of(name, types)]
        results = [expected(*pair) for pair in zip(entry, wanted)]
      for file, content in files_of(model, feeds, results):
        member = tarfile.TarInfo(f"{tolerance(types)}/{name}/{file}")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))


def main():
  if sys.argv[1] == "--write":
    table_path, values_path, archive = sys.argv[2:5]
    with open(values_path, encoding="utf-8") as file:
      write_archive(newest_schemas(table_path), json.load(file), archive)
    return 0
  runner, table_path, values_path, page, archive = sys.argv[1:6]
  schemas = newest_schemas(table_path)
  for flag in sys.argv[6:]:
    if flag.startswith("--models="):
      write_models(schemas, flag[len("--models="):])
      return 0
    if flag.startswith("--values="):
      values = read_values(schemas, flag[len("--values="):])
      with open(values_path, "w", encoding="utf-8") as file:
        lines = [f'{json.dumps(k)}:{json.dumps(v, separators=(",", ":"))}'
                 for k, v in sorted(values.items())]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
      return 0
  with open(values_path, encoding="utf-8") as file:
    values = json.load(file)
  failed, checked = {}, set()
  tolerances = set()
  for name, _, _, types, _, _ in cases(schemas):
    if has_values(name, types, values):
      checked.add(name)
    tolerances.add(tolerance(types))
  for tol in sorted(tolerances):
    failed.update(run(runner, archive, tol))
  lines = table(schemas, failed, checked)
  text, begin, end = show(page)
  made = "\n".join(lines) + "\n"
  if "--update" in sys.argv:
    with open(page, "w", encoding="utf-8") as file:
      file.write(text[:begin] + made + text[end:])
    return 0
  wrong = sum(1 for kind, _ in failed.values() if kind == "WRONG")
  print(f"{len(checked)} cases have values; {len(failed)} are refused;"
        f" {wrong} of these as wrong.")
  if text[begin:end] == made:
    return 0
  shown = text[begin:end].splitlines()
  for line in lines:
    if line not in shown:
      print("> " + line)
  for line in shown:
    if line not in lines:
      print("< " + line)
  print(f"{page} does not show this; type_cases.py --update writes it.")
  return 1


if __name__ == "__main__":
  sys.exit(main())
