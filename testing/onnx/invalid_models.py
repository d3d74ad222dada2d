"""Runs models that break a rule of ONNX, each of which must be refused.

usage: invalid_models.py BATON_OPT EXPECTED

Each model breaks one rule. What baton-opt says of it, without the place's
columns, is a line of EXPECTED; with --update, EXPECTED is written.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

# onnx 1.12 uses aliases that numpy 1.24 no longer has.
for _type in (float, int, bool, object, str, complex):
  if _type.__name__ not in np.__dict__:
    setattr(np, _type.__name__, _type)

import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64
INT32 = TensorProto.INT32
BOOL = TensorProto.BOOL
DOUBLE = TensorProto.DOUBLE
CASES = {}


def case(function):
  CASES[function.__name__] = function
  return function


def info(name, shape=(2, 3), kind=FLOAT):
  return helper.make_tensor_value_info(name, kind, shape)


def floats(name, shape, values=None):
  count = int(np.prod(shape)) if shape else 1
  return helper.make_tensor(name, FLOAT, shape,
                            values if values is not None else [1.0] * count)


def ints(name, values, shape=None):
  return helper.make_tensor(name, INT64,
                            [len(values)] if shape is None else shape, values)


def node(op, inputs, outputs=("y",), **attributes):
  return helper.make_node(op, list(inputs), list(outputs), **attributes)


def graph(nodes, inputs=None, outputs=None, initializers=(), **more):
  return helper.make_graph(
      list(nodes), "g", [info("x")] if inputs is None else list(inputs),
      [info("y", None)] if outputs is None else list(outputs),
      list(initializers), **more)


def model(nodes, inputs=None, outputs=None, initializers=(), opset=18,
          functions=(), opsets=(), **more):
  result = helper.make_model(
      graph(nodes, inputs, outputs, initializers, **more),
      opset_imports=[helper.make_opsetid("", opset), *opsets],
      functions=list(functions))
  result.ir_version = 8
  return result


def simple(name, nodes, inputs=None, outputs=None, initializers=(), **more):
  """A case without a function of its own."""
  CASES[name] = lambda: model(nodes, inputs, outputs, initializers, **more)


# --- Attributes ---------------------------------------------------------------

simple("attribute_float_for_int", [node("Softmax", "x", axis=1.0)])
simple("attribute_int_for_float", [node("Elu", "x", alpha=1)])
simple("attribute_int_for_list", [node("Transpose", "x", perm=1)])
simple("attribute_list_for_int", [node("Softmax", "x", axis=[1])])
simple("attribute_string_for_int", [node("Softmax", "x", axis="1")])
simple("attribute_tensor_for_int",
       [node("Softmax", "x", axis=ints("t", [1], []))])
simple("attribute_unknown", [node("Relu", "x", slope=0.5)])
simple("attribute_of_older_version", [node("Squeeze", "x", axes=[0])],
       [info("x", (1, 3))])
simple("attribute_missing_axis", [node("Concat", ("x", "x"))])
simple("attribute_missing_to", [node("Cast", "x")])
simple("attribute_missing_blocksize", [node("DepthToSpace", "x")],
       [info("x", (1, 4, 2, 2))])
simple("attribute_missing_kernel", [node("MaxPool", "x")],
       [info("x", (1, 1, 4, 4))])
simple("attribute_bad_choice_direction",
       [node("BitShift", ("x", "x"), direction="UP")],
       [info("x", kind=TensorProto.UINT8)])
simple("attribute_bad_choice_auto_pad",
       [node("MaxPool", "x", kernel_shape=[2, 2], auto_pad="SAME")],
       [info("x", (1, 1, 4, 4))])
simple("attribute_bad_choice_mode", [node("Pad", ("x", "p"), mode="mirror")],
       initializers=[ints("p", [0, 0, 1, 1])])
simple("attribute_bad_choice_resize",
       [node("Resize", ("x", "", "s"), mode="area")], [info("x", (1, 1, 2, 2))],
       initializers=[floats("s", [4])])
simple("attribute_bad_choice_reduction",
       [node("ScatterElements", ("x", "i", "u"), reduction="sum")],
       initializers=[ints("i", [0], [1, 1]), floats("u", [1, 1])])
simple("attribute_bad_choice_approximate",
       [node("Gelu", "x", approximate="sigmoid")], opset=20)
simple("attribute_bad_choice_dcr",
       [node("DepthToSpace", "x", blocksize=2, mode="RCD")],
       [info("x", (1, 4, 2, 2))])
simple("attribute_bad_activation",
       [node("RNN", ("x", "w", "r"), activations=["Sine"], hidden_size=2)],
       [info("x", (2, 1, 2))],
       initializers=[floats("w", [1, 2, 2]), floats("r", [1, 2, 2])])


@case
def attribute_twice():
  n = node("Softmax", "x", axis=1)
  n.attribute.append(helper.make_attribute("axis", 0))
  return model([n])


@case
def attribute_of_two_kinds():
  n = node("Softmax", "x", axis=1)
  n.attribute[0].f = 2.0
  return model([n])


# --- Inputs and outputs of nodes ----------------------------------------------

simple("too_few_inputs", [node("Add", "x")])
simple("too_many_inputs", [node("Relu", ("x", "x"))])
simple("no_inputs", [node("Max", ())])
simple("empty_required_input", [node("Gemm", ("x", "", "x"))])
simple("too_many_outputs", [node("Relu", "x", ("y", "z"))])
simple("no_outputs_of_node", [node("Relu", "x", ()), node("Relu", "x")])
simple("undefined_input", [node("Add", ("x", "z"))])
simple("unknown_operator", [node("Rleu", "x")])
simple("operator_of_newer_opset", [node("Gelu", "x")], opset=13)
simple("operator_that_was_dropped", [node("Upsample", ("x", "s"))],
       [info("x", (1, 1, 2, 2))], initializers=[floats("s", [4])], opset=13)
simple("domain_without_opset",
       [helper.make_node("Relu", ["x"], ["y"], domain="com.acme")])

# --- Names --------------------------------------------------------------------

simple("name_given_twice", [node("Relu", "x"), node("Abs", "x")])
simple("name_twice_in_node",
       [node("Split", "x", ("y", "y"), axis=0, num_outputs=2)])
simple("name_of_an_input", [node("Relu", "x", ("x",)), node("Abs", "x")])
simple("name_of_an_initializer", [node("Relu", "x", ("w",)), node("Abs", "w")],
       initializers=[floats("w", [2, 3])])
simple("two_inputs_of_a_name", [node("Relu", "x")], [info("x"), info("x")])
simple("two_initializers_of_a_name", [node("Add", ("x", "w"))],
       initializers=[floats("w", [3]), floats("w", [3])])
simple("cycle_of_one", [node("Add", ("x", "y"))])
simple("cycle_of_two", [node("Add", ("x", "b"), ("y",)), node("Abs", "y", "b")])
simple("dangling_output", [node("Relu", "x")], None, [info("z", None)])
simple("output_without_name", [node("Relu", "x")], None, [info("", None)])
simple("initializer_of_another_type", [node("Add", ("x", "w"))],
       [info("x"), info("w", (3,), INT64)], initializers=[floats("w", [3])])

# --- The model ----------------------------------------------------------------


@case
def no_outputs():
  return model([node("Relu", "x")], None, [])


@case
def no_graph():
  result = model([node("Relu", "x")])
  result.ClearField("graph")
  return result


@case
def no_opset():
  result = model([node("Relu", "x")])
  del result.opset_import[:]
  return result


simple("opset_zero", [node("Relu", "x")], opset=0)
simple("opset_negative", [node("Relu", "x")], opset=-1)
simple("opset_of_the_future", [node("Relu", "x")], opset=1000)


@case
def empty_file():
  return b""


@case
def cut_off():
  return model([node("Relu", "x")]).SerializeToString()[:-20]


# --- Element types ------------------------------------------------------------

simple("types_differ", [node("Add", ("x", "w"))], [info("x"), info("w", (3,),
                                                                  DOUBLE)])
simple("types_differ_concat", [node("Concat", ("x", "w"), axis=0)],
       [info("x"), info("w", (2, 3), INT64)])
simple("types_differ_clip", [node("Clip", ("x", "w"))],
       [info("x"), info("w", (), INT64)])
simple("types_differ_conv", [node("Conv", ("x", "w"))],
       [info("x", (1, 1, 4, 4)), info("w", (1, 1, 2, 2), DOUBLE)])
simple("types_differ_where", [node("Where", ("c", "x", "w"))],
       [info("c", kind=BOOL), info("x"), info("w", kind=INT32)])
simple("type_not_of_float", [node("Not", "x")])
simple("type_and_of_float", [node("And", ("x", "x"))])
simple("type_relu_of_bool", [node("Relu", "x")], [info("x", kind=BOOL)])
simple("type_add_of_bool", [node("Add", ("x", "x"))], [info("x", kind=BOOL)])
simple("type_exp_of_int", [node("Exp", "x")], [info("x", kind=INT64)])
simple("type_conv_of_int", [node("Conv", ("x", "w"))],
       [info("x", (1, 1, 4, 4), INT32), info("w", (1, 1, 2, 2), INT32)])
simple("type_condition_of_where", [node("Where", ("x", "x", "x"))])
simple("type_indices_of_gather", [node("Gather", ("x", "i"))],
       [info("x"), info("i", (1,))])
simple("type_shape_of_reshape", [node("Reshape", ("x", "s"))],
       initializers=[floats("s", [1])])
simple("type_starts_of_slice", [node("Slice", ("x", "s", "s"))],
       initializers=[floats("s", [1])])
simple("type_axes_of_sum", [node("ReduceSum", ("x", "s"))],
       initializers=[floats("s", [1])])
simple("type_of_cast", [node("Cast", "x", to=99)])
simple("type_of_cast_undefined", [node("Cast", "x", to=0)])
simple("type_of_output", [node("Relu", "x")], None, [info("y", (2, 3), INT64)])
simple("type_of_value", [node("Relu", "x", ("z",)), node("Abs", "z")],
       value_info=[info("z", (2, 3), INT64)])
simple("type_sequence_for_tensor",
       [node("SequenceConstruct", "x", ("s",)), node("Relu", "s")])
simple("type_tensor_for_sequence", [node("SequenceLength", "x")])
simple("type_bits_of_float_mod", [node("Mod", ("x", "x"))])

# --- Ranks and extents --------------------------------------------------------

simple("shapes_do_not_broadcast", [node("Add", ("x", "w"))],
       [info("x"), info("w", (2,))])
simple("rank_of_conv", [node("Conv", ("x", "x"))])
simple("rank_of_gemm", [node("Gemm", ("x", "x"))], [info("x", (2, 3, 4))])
simple("rank_of_matmul", [node("MatMul", ("x", "x"))], [info("x", ())])
simple("inner_of_matmul", [node("MatMul", ("x", "x"))])
simple("channels_of_conv", [node("Conv", ("x", "w"))],
       [info("x", (1, 3, 4, 4)), info("w", (1, 2, 2, 2))])
simple("groups_of_conv", [node("Conv", ("x", "w"), group=2)],
       [info("x", (1, 3, 4, 4)), info("w", (2, 1, 2, 2))])
simple("group_zero", [node("Conv", ("x", "w"), group=0)],
       [info("x", (1, 3, 4, 4)), info("w", (2, 3, 2, 2))])
simple("kernel_of_conv", [node("Conv", ("x", "w"), kernel_shape=[3, 3])],
       [info("x", (1, 3, 4, 4)), info("w", (2, 3, 2, 2))])
simple("bias_of_conv", [node("Conv", ("x", "w", "b"))],
       [info("x", (1, 3, 4, 4)), info("w", (2, 3, 2, 2)), info("b", (3,))])
simple("strides_zero", [node("MaxPool", "x", kernel_shape=[2, 2],
                             strides=[0, 1])], [info("x", (1, 1, 4, 4))])
simple("dilations_zero", [node("MaxPool", "x", kernel_shape=[2, 2],
                               dilations=[0, 1])], [info("x", (1, 1, 4, 4))])
simple("kernel_zero", [node("MaxPool", "x", kernel_shape=[0, 2])],
       [info("x", (1, 1, 4, 4))])
simple("kernel_of_another_rank", [node("MaxPool", "x", kernel_shape=[2])],
       [info("x", (1, 1, 4, 4))])
simple("pads_of_another_rank", [node("MaxPool", "x", kernel_shape=[2, 2],
                                     pads=[1, 1])], [info("x", (1, 1, 4, 4))])
simple("kernel_larger_than_image", [node("MaxPool", "x", kernel_shape=[5, 5])],
       [info("x", (1, 1, 4, 4))])
simple("scale_of_batch_norm",
       [node("BatchNormalization", ("x", "s", "s", "s", "s"))],
       [info("x", (1, 3, 4)), info("s", (2,))])
simple("perm_twice", [node("Transpose", "x", perm=[0, 0])])
simple("perm_too_short", [node("Transpose", "x", perm=[0])])
simple("perm_out_of_range", [node("Transpose", "x", perm=[0, 2])])
simple("axis_of_softmax", [node("Softmax", "x", axis=2)])
simple("axis_of_concat", [node("Concat", ("x", "x"), axis=2)])
simple("extents_of_concat", [node("Concat", ("x", "w"), axis=0)],
       [info("x"), info("w", (2, 4))])
simple("axis_of_gather", [node("Gather", ("x", "i"), axis=-3)],
       initializers=[ints("i", [0])])
simple("axis_of_sum", [node("ReduceSum", ("x", "a"))],
       initializers=[ints("a", [2])])
simple("axes_twice_of_sum", [node("ReduceSum", ("x", "a"))],
       initializers=[ints("a", [1, -1])])
simple("axis_of_squeeze", [node("Squeeze", ("x", "a"))],
       initializers=[ints("a", [0])])
simple("axes_twice_of_unsqueeze", [node("Unsqueeze", ("x", "a"))],
       initializers=[ints("a", [0, 0])])
simple("elements_of_reshape", [node("Reshape", ("x", "s"))],
       initializers=[ints("s", [4, 2])])
simple("reshape_two_unknown", [node("Reshape", ("x", "s"))],
       initializers=[ints("s", [-1, -1])])
simple("reshape_below_unknown", [node("Reshape", ("x", "s"))],
       initializers=[ints("s", [-2, 3])])
simple("reshape_zero_without_axis", [node("Reshape", ("x", "s"))],
       initializers=[ints("s", [2, 3, 0])])
simple("expand_does_not_fit", [node("Expand", ("x", "s"))],
       initializers=[ints("s", [2, 2])])
simple("tile_of_another_rank", [node("Tile", ("x", "s"))],
       initializers=[ints("s", [2])])
simple("tile_negative", [node("Tile", ("x", "s"))],
       initializers=[ints("s", [2, -1])])
simple("split_sum", [node("Split", ("x", "s"), ("y", "z"), axis=1)],
       initializers=[ints("s", [1, 1])])
simple("split_outputs", [node("Split", ("x", "s"), ("y", "z"), axis=1)],
       initializers=[ints("s", [1, 1, 1])])
simple("split_negative", [node("Split", ("x", "s"), ("y", "z"), axis=1)],
       initializers=[ints("s", [4, -1])])
simple("pads_of_pad", [node("Pad", ("x", "s"))],
       initializers=[ints("s", [1, 1, 1])])
simple("slice_step_zero", [node("Slice", ("x", "s", "e", "a", "t"))],
       initializers=[ints("s", [0]), ints("e", [2]), ints("a", [0]),
                     ints("t", [0])])
simple("slice_lengths", [node("Slice", ("x", "s", "e"))],
       initializers=[ints("s", [0, 0]), ints("e", [2])])
simple("slice_axis", [node("Slice", ("x", "s", "e", "a"))],
       initializers=[ints("s", [0]), ints("e", [2]), ints("a", [5])])
simple("gather_out_of_range", [node("Gather", ("x", "i"))], None, None,
       [ints("i", [2])])
simple("depth_not_divided", [node("DepthToSpace", "x", blocksize=2)],
       [info("x", (1, 3, 2, 2))])
simple("depth_blocksize_zero", [node("DepthToSpace", "x", blocksize=0)],
       [info("x", (1, 4, 2, 2))])
simple("space_not_divided", [node("SpaceToDepth", "x", blocksize=2)],
       [info("x", (1, 1, 3, 4))])
simple("top_k_too_many", [node("TopK", ("x", "k"), ("y", "z"))],
       initializers=[ints("k", [4])])
simple("top_k_negative", [node("TopK", ("x", "k"), ("y", "z"))],
       initializers=[ints("k", [-1])])
simple("one_hot_depth", [node("OneHot", ("x", "d", "v"))],
       initializers=[ints("d", [-3], []), floats("v", [2])])
simple("one_hot_values", [node("OneHot", ("x", "d", "v"))],
       initializers=[ints("d", [3], []), floats("v", [3])])
simple("range_delta_zero", [node("Range", ("a", "b", "c"))],
       initializers=[ints("a", [0], []), ints("b", [3], []),
                     ints("c", [0], [])])
simple("constant_of_shape_value",
       [node("ConstantOfShape", "s", value=floats("v", [2]))],
       initializers=[ints("s", [2])])
simple("constant_of_shape_negative", [node("ConstantOfShape", "s")],
       initializers=[ints("s", [-2])])
simple("constant_without_value", [node("Constant", ())])
simple("constant_of_two_values",
       [node("Constant", (), value_float=1.0, value_int=1)])
simple("einsum_equation", [node("Einsum", ("x", "x"), equation="ij,jk")])
simple("einsum_terms", [node("Einsum", ("x",), equation="ij,jk->ik")])
simple("einsum_letter", [node("Einsum", ("x",), equation="i?->i")])
simple("resize_nothing", [node("Resize", ("x",))], [info("x", (1, 1, 2, 2))])
simple("resize_both", [node("Resize", ("x", "", "s", "z"))],
       [info("x", (1, 1, 2, 2))],
       initializers=[floats("s", [4]), ints("z", [1, 1, 4, 4])])
simple("resize_scale_zero", [node("Resize", ("x", "", "s"))],
       [info("x", (1, 1, 2, 2))],
       initializers=[floats("s", [4], [1, 1, 0, 2])])
simple("compress_rank", [node("Compress", ("x", "c"))],
       [info("x"), info("c", (2, 2), BOOL)])
simple("trilu_of_vector", [node("Trilu", "x")], [info("x", (3,))])
simple("det_not_square", [node("Det", "x")])
simple("num_groups", [node("GroupNormalization", ("x", "s", "s"),
                           num_groups=2)],
       [info("x", (1, 3, 4)), info("s", (3,))], opset=21)
simple("gather_nd_last", [node("GatherND", ("x", "i"))],
       initializers=[ints("i", [0, 0, 0], [1, 3])])
simple("scatter_updates", [node("ScatterElements", ("x", "i", "u"))],
       initializers=[ints("i", [0], [1, 1]), floats("u", [1, 2])])
simple("quantize_zero_point", [node("QuantizeLinear", ("x", "s", "z"))],
       initializers=[floats("s", [3]), helper.make_tensor(
           "z", TensorProto.UINT8, [2], [0, 0])])
simple("dequantize_types", [node("DequantizeLinear", ("x", "s", "z"))],
       [info("x", kind=TensorProto.UINT8)],
       initializers=[floats("s", []), helper.make_tensor(
           "z", TensorProto.INT8, [], [0])])

# --- Tensors ------------------------------------------------------------------


def with_tensor(change):
  tensor = floats("w", [2, 3])
  change(tensor)
  return model([node("Add", ("x", "w"))], initializers=[tensor])


@case
def tensor_too_short():
  return with_tensor(lambda t: t.float_data.pop())


@case
def tensor_too_long():
  return with_tensor(lambda t: t.float_data.append(1))


@case
def tensor_raw_too_short():

  def change(t):
    del t.float_data[:]
    t.raw_data = b"\0" * 20

  return with_tensor(change)


@case
def tensor_of_two_values():

  def change(t):
    t.raw_data = b"\0" * 24

  return with_tensor(change)


@case
def tensor_in_another_field():

  def change(t):
    del t.float_data[:]
    t.int32_data.extend([1] * 6)

  return with_tensor(change)


@case
def tensor_negative_extent():

  def change(t):
    del t.dims[:]
    t.dims.extend([-2, 3])

  return with_tensor(change)


@case
def tensor_without_type():
  return with_tensor(lambda t: t.ClearField("data_type"))


@case
def tensor_of_unknown_type():

  def change(t):
    t.data_type = 77

  return with_tensor(change)


@case
def tensor_without_name():
  tensor = floats("", [2, 3])
  return model([node("Relu", "x")], initializers=[tensor])


@case
def tensor_in_missing_file():

  def change(t):
    del t.float_data[:]
    t.data_location = TensorProto.EXTERNAL
    entry = t.external_data.add()
    entry.key, entry.value = "location", "nowhere.bin"

  return with_tensor(change)


# --- Graphs inside of nodes ---------------------------------------------------


def branch(nodes, outputs, inputs=(), initializers=()):
  return helper.make_graph(list(nodes), "b", list(inputs), list(outputs),
                           list(initializers))


def branches(then, otherwise, outputs=("y",), condition=BOOL, more=()):
  n = helper.make_node("If", ["c"], list(outputs), then_branch=then,
                       else_branch=otherwise)
  return model([*more, n], [info("x"), info("c", (), condition)],
               [info("y", None)])


def relu(name="t", source="x"):
  return branch([node("Relu", source, (name,))], [info(name, None)])


@case
def if_without_branch():
  n = helper.make_node("If", ["c"], ["y"], then_branch=relu())
  return model([n], [info("x"), info("c", (), BOOL)])


@case
def if_condition_float():
  return branches(relu(), relu("e"), condition=FLOAT)


@case
def if_numbers_of_outputs():
  two = branch([node("Relu", "x", ("a",)), node("Abs", "x", ("b",))],
               [info("a", None), info("b", None)])
  return branches(relu(), two)


@case
def if_branch_with_inputs():
  with_input = branch([node("Relu", "x", ("t",))], [info("t", None)],
                      [info("q")])
  return branches(with_input, relu("e"))


@case
def if_branch_types():
  other = branch([node("Cast", "x", ("e",), to=INT64)], [info("e", None,
                                                             INT64)])
  return branches(relu(), other)


@case
def if_undefined_in_branch():
  return branches(relu("t", "nowhere"), relu("e"))


@case
def if_undefined_output():
  bad = branch([node("Relu", "x", ("t",))], [info("q", None)])
  return branches(bad, relu("e"))


@case
def if_shadows():
  bad = branch([node("Relu", "x", ("z",))], [info("z", None)])
  return branches(bad, relu("e"), more=[node("Abs", "x", ("z",))])


@case
def if_value_from_the_other_branch():
  return branches(relu("t"), relu("e", "t"))


@case
def if_inner_value_outside():
  n = helper.make_node("If", ["c"], ["z"], then_branch=relu(),
                       else_branch=relu("e"))
  return model([n, node("Relu", "t")], [info("x"), info("c", (), BOOL)])


def loop(body, inputs=("m", "c", "x"), outputs=("y",), more_inputs=()):
  n = helper.make_node("Loop", list(inputs), list(outputs), body=body)
  return model([n], [info("x"), info("m", (), INT64), info("c", (), BOOL),
                     *more_inputs])


def body(nodes, inputs, outputs):
  return helper.make_graph(list(nodes), "body", inputs, outputs)


def body_inputs(state=True):
  result = [info("i", (), INT64), info("d", (), BOOL)]
  return result + [info("s")] if state else result


@case
def loop_inputs_of_body():
  b = body([node("Identity", "d", ("e",)), node("Relu", "x", ("t",))],
           body_inputs(state=False), [info("e", (), BOOL), info("t", None)])
  return loop(b)


@case
def loop_outputs_of_body():
  b = body([node("Identity", "d", ("e",))], body_inputs(),
           [info("e", (), BOOL)])
  return loop(b)


@case
def loop_condition_float():
  b = body([node("Relu", "s", ("t",))], body_inputs(),
           [info("t", None), info("t", None)])
  return loop(b)


@case
def loop_state_type():
  b = body([node("Identity", "d", ("e",)), node("Cast", "s", ("t",),
                                                to=DOUBLE)], body_inputs(),
           [info("e", (), BOOL), info("t", None, DOUBLE)])
  return loop(b)


@case
def loop_without_body():
  return model([node("Loop", ("m", "c", "x"))],
               [info("x"), info("m", (), INT64), info("c", (), BOOL)])


@case
def scan_numbers():
  b = body([node("Add", ("s", "q"), ("t",))], [info("s", (3,)),
                                               info("q", (3,))],
           [info("t", None)])
  n = helper.make_node("Scan", ["h", "x"], ["y"], body=b, num_scan_inputs=2)
  return model([n], [info("x"), info("h", (3,))])


@case
def scan_axis():
  b = body([node("Add", ("s", "q"), ("t",))], [info("s", (3,)),
                                               info("q", (3,))],
           [info("t", None)])
  n = helper.make_node("Scan", ["h", "x"], ["y"], body=b, num_scan_inputs=1,
                       scan_input_axes=[5])
  return model([n], [info("x"), info("h", (3,))])


@case
def scan_extents():
  b = body([node("Add", ("s", "q"), ("t",)), node("Add", ("s", "r"), ("u",))],
           [info("s", None), info("q", None), info("r", None)],
           [info("t", None), info("u", None)])
  n = helper.make_node("Scan", ["h", "x", "w"], ["y", "z"], body=b,
                       num_scan_inputs=2)
  return model([n], [info("x"), info("h", (3,)), info("w", (4, 3))])


# --- Local functions ----------------------------------------------------------


def local(nodes, inputs=("a",), outputs=("b",), attributes=(), name="Twice",
          opsets=None):
  return helper.make_function(
      "acme", name, list(inputs), list(outputs), list(nodes),
      [helper.make_opsetid("", 18)] if opsets is None else opsets,
      list(attributes))


def call(functions, inputs=("x",), outputs=("y",), **attributes):
  n = helper.make_node("Twice", list(inputs), list(outputs), domain="acme",
                       **attributes)
  return model([n], functions=functions,
               opsets=[helper.make_opsetid("acme", 1)])


TWICE = node("Add", ("a", "a"), ("b",))


@case
def function_twice():
  return call([local([TWICE]), local([node("Relu", "a", ("b",))])])


@case
def function_calls_itself():
  again = helper.make_node("Twice", ["a"], ["b"], domain="acme")
  return call([local([again], opsets=[helper.make_opsetid("", 18),
                                      helper.make_opsetid("acme", 1)])])


@case
def function_too_many_inputs():
  return call([local([TWICE])], ("x", "x"))


@case
def function_too_few_inputs():
  return call([local([node("Add", ("a", "c"), ("b",))], ("a", "c"))])


@case
def function_too_many_outputs():
  return call([local([TWICE])], outputs=("y", "z"))


@case
def function_undefined_output():
  return call([local([node("Relu", "a", ("q",))])])


@case
def function_uses_value_outside():
  return call([local([node("Add", ("a", "x"), ("b",))])])


@case
def function_without_opset():
  return call([local([TWICE], opsets=[])])


@case
def function_inputs_of_a_name():
  return call([local([TWICE], ("a", "a"))], ("x", "x"))


@case
def function_name_given_twice():
  return call([local([TWICE, node("Relu", "a", ("b",))])])


def said(baton_opt, path):
  done = subprocess.run(
      [baton_opt, path, "--passes=InferType", "--emit=none"],
      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
  text = done.stdout.decode("utf-8", "replace")
  text = text.replace(os.path.dirname(path) + "/", "")
  if done.returncode != 1:
    return f"NOT REFUSED (exit code {done.returncode}): {text.strip()}"
  return text.split("\n", 1)[0]


def main():
  baton_opt, expected = sys.argv[1:3]
  lines = []
  with tempfile.TemporaryDirectory() as folder:
    for name, make in CASES.items():
      built = make()
      path = os.path.join(folder, "model.onnx")
      with open(path, "wb") as file:
        file.write(
            built if isinstance(built, bytes) else built.SerializeToString())
      lines.append(f"{name}: {said(baton_opt, path)}\n")
  if "--update" in sys.argv:
    with open(expected, "w", encoding="utf-8") as file:
      file.writelines(lines)
    return 0
  with open(expected, encoding="utf-8") as file:
    wanted = file.readlines()
  wrong = [line for line in lines if line not in wanted or "NOT REFUSED" in line]
  wrong += ["missing: " + line for line in wanted if line not in lines]
  print("".join(wrong), end="")
  print(f"{len(lines)} invalid models, {len(wrong)} lines differ.")
  return 1 if wrong or not lines else 0


if __name__ == "__main__":
  sys.exit(main())
