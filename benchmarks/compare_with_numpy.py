#!/usr/bin/python3
"""Times of operators on a megabyte of data: baton-run's and NumPy's.

    bazel build -c opt //tools:baton-run
    benchmarks/compare_with_numpy.py bazel-bin/tools/baton-run [OPERATOR ...]

Each row is a model of one node, made with Debian's python3-onnx or written as
Relay text, and what computes the same in NumPy (python3-numpy): the least of
many runs each, one thread. A row is level if baton-run takes at most a tenth longer, or 10
microseconds, which is what a clock and a call cost. Not a test: times differ
from machine to machine.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import onnx
from onnx import helper, numpy_helper

N = 512  # A megabyte of float32 is N x N.
OPSET = 17

rng = np.random.default_rng(0)


def floats(*shape):
    return rng.uniform(0.1, 0.9, shape).astype(np.float32)


def integers(high, shape, dtype=np.int64, low=0):
    return rng.integers(low, high, shape).astype(dtype)


def bools(*shape):
    return rng.integers(0, 2, shape).astype(bool)


class Case:
    """One node, what it computes in NumPy, and the data of both."""

    def __init__(self, op, inputs, fn, constants=(), outputs=1, **attributes):
        self.op = op
        self.inputs = inputs
        self.fn = fn
        self.constants = constants
        self.outputs = outputs
        self.attributes = attributes

    suffix = "onnx"
    opset = OPSET

    def name(self):
        shapes = " ".join(
            f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in self.inputs)
        attributes = " ".join(f"{k}={v}" for k, v in self.attributes.items())
        return f"{self.op} {shapes} {attributes}".rstrip()

    def model(self):
        def info(name, array):
            return helper.make_tensor_value_info(
                name, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype],
                array.shape)

        inputs = [f"x{i}" for i in range(len(self.inputs))]
        constants = [f"w{i}" for i in range(len(self.constants))]
        outputs = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.op, inputs + constants, outputs,
                                **self.attributes)
        graph = helper.make_graph(
            [node], "case",
            [info(n, x) for n, x in zip(inputs, self.inputs)],
            [helper.make_tensor_value_info(n, 1, None) for n in outputs],
            [numpy_helper.from_array(np.asarray(x), n)
             for n, x in zip(constants, self.constants)])
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        return model.SerializeToString()


class Case18(Case):
    """Of an operator that opset 18 brought."""

    opset = 18


class RelayCase:
    """A call as Relay text, with x0, x1 ... for its inputs, and NumPy's."""

    suffix = "relay"

    def __init__(self, call, inputs, fn):
        self.call = call
        self.op = call.split("(")[0]
        self.inputs = inputs
        self.fn = fn

    def name(self):
        shapes = " ".join(
            f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in self.inputs)
        return f"{self.call}  {shapes}".rstrip()

    def model(self):
        parameters = ", ".join(
            f"%x{i}: Tensor[({', '.join(map(str, x.shape))}"
            f"{',' if x.ndim == 1 else ''}), {x.dtype}]"
            for i, x in enumerate(self.inputs))
        call = re.sub(r"\bx(\d)", r"%x\1", self.call)
        return (f"#[version = \"0.0.5\"]\n"
                f"def @main({parameters}) {{ {call} }}\n").encode()


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def put_along_axis(x, indices, updates):
    y = x.copy()
    np.put_along_axis(y, indices, updates, 1)
    return y


def all_cases():
    square = (N, N)
    unary = {
        "Abs": np.abs, "Acos": np.arccos, "Asin": np.arcsin,
        "Asinh": np.arcsinh, "Atan": np.arctan, "Atanh": np.arctanh,
        "Ceil": np.ceil, "Cos": np.cos, "Cosh": np.cosh, "Exp": np.exp,
        "Floor": np.floor, "Identity": np.copy, "IsInf": np.isinf,
        "IsNaN": np.isnan, "Log": np.log, "Neg": np.negative,
        "Reciprocal": np.reciprocal, "Round": np.rint, "Sign": np.sign,
        "Sin": np.sin, "Sinh": np.sinh, "Sqrt": np.sqrt, "Tan": np.tan,
        "Tanh": np.tanh,
        "Elu": lambda x: np.where(x < 0, np.exp(x) - 1, x),
        "HardSigmoid": lambda x: np.clip(x * 0.2 + 0.5, 0, 1),
        "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
        "LeakyRelu": lambda x: np.where(x < 0, x * 0.01, x),
        "Relu": lambda x: np.maximum(x, 0),
        "Selu": lambda x: 1.05 * np.where(x < 0, 1.67 * (np.exp(x) - 1), x),
        "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "Softplus": lambda x: np.log1p(np.exp(x)),
        "Softsign": lambda x: x / (1 + np.abs(x)),
    }
    for op, fn in unary.items():
        yield Case(op, [floats(*square)], fn)
    yield Case("Acosh", [floats(*square) + 1], np.arccosh)
    binary = {
        "Add": np.add, "Div": np.divide, "Equal": np.equal,
        "Greater": np.greater, "GreaterOrEqual": np.greater_equal,
        "Less": np.less, "LessOrEqual": np.less_equal, "Max": np.maximum,
        "Min": np.minimum, "Mul": np.multiply, "Pow": np.power,
        "Sub": np.subtract,
    }
    for op, fn in binary.items():
        yield Case(op, [floats(*square), floats(*square)], fn)
    yield Case("Add", [floats(*square), floats(N)], np.add)
    yield Case("Mul", [floats(*square), floats(N, 1)], np.multiply)
    yield Case("Mod", [floats(*square), floats(*square)], np.fmod, fmod=1)
    yield Case("Add", [integers(9, square, np.int32) for _ in range(2)], np.add)
    yield Case("Mul", [integers(9, (N, N // 2)) for _ in range(2)],
               np.multiply)
    yield Case("Div", [integers(9, square, np.int32, 1) for _ in range(2)],
               np.floor_divide)
    for dtype in (np.float64, np.float16):
        yield Case("Add", [floats(*square).astype(dtype) for _ in range(2)],
                   np.add)
    yield Case("BitShift", [integers(9, square, np.uint32) for _ in range(2)],
               np.left_shift, direction="LEFT")
    for op, fn in {"And": np.logical_and, "Or": np.logical_or,
                   "Xor": np.logical_xor}.items():
        yield Case(op, [bools(2 * N, 2 * N), bools(2 * N, 2 * N)], fn)
    yield Case("Not", [bools(2 * N, 2 * N)], np.logical_not)
    yield Case("Where", [bools(*square), floats(*square), floats(*square)],
               np.where)
    yield Case("Sum", [floats(*square) for _ in range(3)],
               lambda a, b, c: a + b + c)
    yield Case("Mean", [floats(*square) for _ in range(2)],
               lambda a, b: (a + b) / 2)
    yield Case("Clip", [floats(*square)], lambda x: np.clip(x, .2, .5),
               [np.float32(.2), np.float32(.5)])
    for to, dtype in {2: np.uint8, 6: np.int32, 10: np.float16,
                      11: np.float64}.items():
        yield Case("Cast", [floats(*square)],
                   lambda x, dtype=dtype: x.astype(dtype), to=to)

    reductions = {"ReduceMax": np.max, "ReduceMean": np.mean,
                  "ReduceMin": np.min, "ReduceProd": np.prod,
                  "ReduceSum": np.sum}
    for op, fn in reductions.items():
        for axis in (0, 1, None):
            reduce = lambda x, fn=fn, axis=axis: fn(x, axis=axis)
            if op == "ReduceSum" and axis is not None:
                yield Case(op, [floats(*square)], reduce,
                           [np.array([axis])], keepdims=0)
            elif axis is None:
                yield Case(op, [floats(*square)], reduce, keepdims=0)
            else:
                yield Case(op, [floats(*square)], reduce, axes=[axis],
                           keepdims=0)
    yield Case("ReduceSum", [integers(9, square, np.int32)],
               lambda x: x.sum(1), [np.array([1])], keepdims=0)
    yield Case("ReduceL2", [floats(*square)],
               lambda x: np.sqrt(np.sum(x * x, axis=1)), axes=[1])
    yield Case("ReduceLogSumExp", [floats(*square)],
               lambda x: np.log(np.sum(np.exp(x), axis=1)), axes=[1])
    for axis in (0, 1):
        yield Case("ArgMax", [floats(*square)],
                   lambda x, axis=axis: np.argmax(x, axis), axis=axis,
                   keepdims=0)
        yield Case("CumSum", [floats(*square)],
                   lambda x, axis=axis: np.cumsum(x, axis), [np.array(axis)])
        yield Case("Softmax", [floats(*square)],
                   lambda x, axis=axis: softmax(x, axis), axis=axis)
    yield Case("LogSoftmax", [floats(*square)],
               lambda x: np.log(softmax(x, 1)), axis=1)
    yield Case("LayerNormalization", [floats(*square)],
               lambda x: (x - x.mean(-1, keepdims=True)) /
               np.sqrt(x.var(-1, keepdims=True) + 1e-5),
               [floats(N), floats(N)], axis=-1)
    image = (1, 64, 64, 64)
    yield Case("GlobalAveragePool", [floats(*image)],
               lambda x: x.mean((2, 3), keepdims=True))
    yield Case("GlobalMaxPool", [floats(*image)],
               lambda x: x.max((2, 3), keepdims=True))

    yield Case("MatMul", [floats(*square), floats(*square)], np.matmul)
    yield Case("MatMul", [floats(16, 128, 128), floats(16, 128, 128)],
               np.matmul)
    yield Case("Gemm", [floats(*square), floats(*square)],
               lambda a, b: a @ b.T, transB=1)
    for equation, a, b in (("ijk,ijk->ij", (128, 128, 16), (128, 128, 16)),
                           ("bij,bjk->bik", (64, 64, 32), (64, 32, 64))):
        yield Case("Einsum", [floats(*a), floats(*b)],
                   lambda x, y, e=equation: np.einsum(e, x, y),
                   equation=equation)

    cube = (64, 64, 64)
    for shape, perm in ((square, (1, 0)), (cube, (2, 0, 1)),
                        (cube, (0, 2, 1))):
        yield Case("Transpose", [floats(*shape)],
                   lambda x, p=perm: np.ascontiguousarray(x.transpose(p)),
                   perm=list(perm))
    for axis, shape in enumerate(((N // 2, N), (N, N // 2))):
        yield Case("Concat", [floats(*shape), floats(*shape)],
                   lambda a, b, axis=axis: np.concatenate([a, b], axis),
                   axis=axis)
    yield Case("Slice", [floats(2 * N, N)], lambda x: x[::2].copy(),
               [np.array([i]) for i in (0, 2 * N, 0, 2)])
    yield Case("Slice", [floats(N, 2 * N)], lambda x: x[:, ::2].copy(),
               [np.array([i]) for i in (0, 2 * N, 1, 2)])
    yield Case("Split", [floats(*square)],
               lambda x: [y.copy() for y in np.split(x, 2, 1)],
               [np.array([N // 2, N // 2])], outputs=2, axis=1)
    for axis in (0, 1):
        yield Case("Gather", [floats(*square), integers(N, N)],
                   lambda x, i, axis=axis: np.take(x, i, axis), axis=axis)
    yield Case("GatherElements", [floats(*square), integers(N, square)],
               lambda x, i: np.take_along_axis(x, i, 1), axis=1)
    yield Case("ScatterElements",
               [floats(*square), integers(N, square), floats(*square)],
               put_along_axis, axis=1)
    for shape in ((1, N), (N, 1)):
        yield Case("Expand", [floats(*shape)],
                   lambda x: np.broadcast_to(x, square).copy(),
                   [np.array(square)])
    yield Case("Tile", [floats(N // 4, N)], lambda x: np.tile(x, (4, 1)),
               [np.array([4, 1])])
    yield Case("Tile", [floats(N, N // 4)], lambda x: np.tile(x, (1, 4)),
               [np.array([1, 4])])
    for mode in ("constant", "edge", "reflect"):
        yield Case("Pad", [floats(*square)],
                   lambda x, mode=mode: np.pad(x, 1, mode=mode),
                   [np.array([1, 1, 1, 1])], mode=mode)
    yield Case("Reshape", [floats(*square)], lambda x: x.reshape(-1).copy(),
               [np.array([-1])])
    yield Case("Unsqueeze", [floats(*square)], lambda x: x[None].copy(),
               [np.array([0])])
    yield Case("TopK", [floats(*square)],
               lambda x: np.sort(x, -1)[:, ::-1][:, :10], [np.array([10])],
               outputs=2, axis=1)
    yield Case("NonZero", [integers(2, square, np.float32)],
               lambda x: np.array(np.nonzero(x)))
    yield Case("Compress", [floats(*square), bools(N)],
               lambda x, c: np.compress(c, x, 0), axis=0)
    yield Case("OneHot", [integers(64, 4096)],
               lambda i: np.eye(64, dtype=np.float32)[i],
               [np.array(64), np.array([0, 1], np.float32)], axis=1)
    yield Case("Trilu", [floats(*square)], np.triu)
    yield Case("DepthToSpace", [floats(*image)],
               lambda x: np.ascontiguousarray(
                   x.reshape(1, 2, 2, 16, 64, 64).transpose(0, 3, 4, 1, 5, 2)),
               blocksize=2)
    yield Case("ReverseSequence", [floats(*square), np.full(N, N)],
               lambda x, n: x[:, ::-1].copy(), batch_axis=0, time_axis=1)
    yield Case("QuantizeLinear", [floats(*square)],
               lambda x: np.clip(np.rint(x / np.float32(.01)) + 3, 0, 255)
               .astype(np.uint8), [np.float32(.01), np.uint8(3)])
    yield Case("DequantizeLinear", [integers(255, (2 * N, 2 * N), np.uint8)],
               lambda x: (x.astype(np.float32) - 3) * np.float32(.01),
               [np.float32(.01), np.uint8(3)])
    yield from formula_cases()
    yield from place_cases()
    yield from relay_cases()


def formula_cases():
    """Operators that take several functions of NumPy, or sums over windows."""
    square = (N, N)
    f32 = floats(*square)
    signed = f32 - np.float32(.5)
    image = floats(1, 64, 64, 64)
    channel = floats(64)
    along = channel[:, None, None]
    for op, fn in {
            "Celu": lambda x: np.maximum(x, 0) + np.minimum(0, np.exp(x) - 1),
            "ThresholdedRelu": lambda x: np.where(x > 1, x, np.float32(0)),
    }.items():
        yield Case(op, [signed], fn)
    yield Case18("Mish", [signed], lambda x: x * np.tanh(np.log1p(np.exp(x))))
    yield Case("Shrink", [signed],
               lambda x: np.where(x < -.25, x, np.where(x > .25, x,
                                                        np.float32(0))),
               lambd=.25)
    yield Case("PRelu", [signed, floats(N)],
               lambda x, a: np.where(x < 0, x * a, x))
    for dtype in (np.int32, np.uint8):
        x = integers(99, (N, N * 4 // np.dtype(dtype).itemsize), dtype)
        for op, fn in {"BitwiseAnd": np.bitwise_and,
                       "BitwiseOr": np.bitwise_or,
                       "BitwiseXor": np.bitwise_xor}.items():
            yield Case18(op, [x, x[::-1].copy()], fn)
        yield Case18("BitwiseNot", [x], np.invert)

    for op, fn in {"ReduceL1": lambda x, a: np.abs(x).sum(a),
                   "ReduceLogSum": lambda x, a: np.log(x.sum(a)),
                   "ReduceSumSquare": lambda x, a: np.square(x).sum(a),
                   "ArgMin": np.argmin}.items():
        for axis in (0, 1):
            attributes = {"axis": axis} if op == "ArgMin" else {"axes": [axis]}
            yield Case(op, [f32], lambda x, fn=fn, axis=axis: fn(x, axis),
                       keepdims=0, **attributes)
    for axis in (0, 1):
        yield Case("LpNormalization", [f32],
                   lambda x, a=axis: x / np.linalg.norm(x, 2, a, True),
                   axis=axis)
        yield Case("Hardmax", [f32],
                   lambda x, a=axis: (np.expand_dims(x.argmax(a), a) ==
                                      np.arange(N).reshape(
                                          (-1, 1) if a == 0 else (1, -1)))
                   .astype(np.float32), axis=axis)

    def moments(x, axes):
        return (x.mean(axes, keepdims=True),
                np.sqrt(x.var(axes, keepdims=True) + np.float32(1e-5)))

    yield Case("InstanceNormalization", [image],
               lambda x: (x - moments(x, (2, 3))[0]) / moments(x, (2, 3))[1] *
               along + along, [channel, channel])
    yield Case("MeanVarianceNormalization", [image],
               lambda x: (x - moments(x, (0, 2, 3))[0]) /
               moments(x, (0, 2, 3))[1])
    yield Case("BatchNormalization", [image],
               lambda x: (x - along) / np.sqrt(along + np.float32(1e-5)) *
               along + along, [channel] * 4)
    yield RelayCase("nn.layer_norm(x0, x1, x2)",
                    [f32, floats(N), floats(N)],
                    lambda x, g, b: (x - moments(x, 1)[0]) /
                    moments(x, 1)[1] * g + b)
    yield Case("GlobalLpPool", [image],
               lambda x: np.sqrt(np.square(x).sum((2, 3), keepdims=True)))
    windows = (1, 64, 32, 2, 32, 2)
    yield Case("MaxPool", [image], lambda x: x.reshape(windows).max((3, 5)),
               kernel_shape=[2, 2], strides=[2, 2])
    yield Case("AveragePool", [image],
               lambda x: x.reshape(windows).mean((3, 5)),
               kernel_shape=[2, 2], strides=[2, 2])
    yield Case("DynamicQuantizeLinear", [f32],
               lambda x: np.clip(np.rint(x / (x.max() / 255)), 0, 255)
               .astype(np.uint8), outputs=3)
    yield Case("NegativeLogLikelihoodLoss", [floats(4096, 64),
                                             integers(64, 4096)],
               lambda x, i: -np.take_along_axis(x, i[:, None], 1).mean())
    yield Case("SoftmaxCrossEntropyLoss", [floats(4096, 64),
                                           integers(64, 4096)],
               lambda x, i: -np.take_along_axis(
                   np.log(softmax(x, 1)), i[:, None], 1).mean())

    yield Case("MatMulInteger", [integers(255, (256, 256), np.uint8)] * 2,
               lambda a, b: a.astype(np.int32) @ b.astype(np.int32))
    for dtype in (np.float64, np.float16, np.int32, np.int64):
        x = (floats(256, 256) * 99).astype(dtype)
        yield Case("MatMul", [x, x], np.matmul)
    yield Case("MatMul", [f32, floats(N)], np.matmul)
    for equation, a, b in (("i,j->ij", (N,), (N,)),
                           ("ij,ij->ij", square, square),
                           ("ij,ij->i", square, square),
                           ("ij,ij->j", square, square),
                           ("ij,j->i", square, (N,)),
                           ("ij,j->ij", square, (N,)),
                           ("bi,bj->bij", (64, 64), (64, 64))):
        yield Case("Einsum", [floats(*a), floats(*b)],
                   lambda x, y, e=equation: np.einsum(e, x, y),
                   equation=equation)
    for equation in ("ij->ji", "ij->i", "ij->j", "ij->", "ii->i"):
        yield Case("Einsum", [f32], lambda x, e=equation:
                   np.einsum(e, x).copy(), equation=equation)
    for dtype in (np.float64, np.float16):
        x = floats(*square).astype(dtype)
        yield Case("Softmax", [x], lambda x: softmax(x, 1), axis=1)
        for axis in (0, 1):
            yield Case("CumSum", [x],
                       lambda x, axis=axis: np.cumsum(x, axis, dtype=x.dtype),
                       [np.array(axis)])


def place_cases():
    """Operators that move elements, or make them out of nothing."""
    square = (N, N)
    f32 = floats(*square)
    image = floats(1, 64, 64, 64)
    for op in ("Flatten", "Dropout", "Squeeze"):
        yield Case(op, [f32], np.copy)
    yield Case("EyeLike", [f32], lambda x: np.eye(N, dtype=np.float32))
    yield Case("ConstantOfShape", [np.array(square)],
               lambda s: np.full(s, 3, np.float32),
               value=numpy_helper.from_array(np.array([3], np.float32)))
    yield Case("Range", [np.array(0, np.float32), np.array(N * N, np.float32),
                         np.array(1, np.float32)], np.arange)
    pairs = integers(N, (N * N, 2))
    yield Case("GatherND", [f32, pairs], lambda x, i: x[i[:, 0], i[:, 1]])
    yield Case("GatherND", [f32, integers(N, (N, 1))],
               lambda x, i: x[i[:, 0]])
    yield Case("ScatterND", [f32, pairs, floats(N * N)],
               lambda x, i, u: scatter_nd(x, i.T, u))
    yield Case("ScatterElements",
               [f32, integers(N, square), floats(*square)],
               lambda x, i, u: put_along_axis(x.T, i.T, u.T).T, axis=0)
    yield Case("GatherElements", [f32, integers(N, square)],
               lambda x, i: np.take_along_axis(x, i, 0), axis=0)
    yield Case("SpaceToDepth", [image],
               lambda x: np.ascontiguousarray(
                   x.reshape(1, 64, 32, 2, 32, 2).transpose(0, 3, 5, 1, 2, 4)),
               blocksize=2)
    small = floats(1, 64, 32, 32)
    yield Case("Resize", [small],
               lambda x: x.repeat(2, 2).repeat(2, 3),
               [np.array([], np.float32), np.array([1, 1, 2, 2], np.float32)],
               mode="nearest")
    yield Case("Unique", [integers(1000, N * N)],
               lambda x: np.unique(x, True, True, True), outputs=4)
    yield Case("TopK", [f32], lambda x: np.sort(x, 0)[:10], [np.array([10])],
               outputs=2, axis=0, largest=0)
    yield Case("TopK", [f32], lambda x: (np.sort(x, 1), np.argsort(x, 1)),
               [np.array([N])], outputs=2, axis=1, largest=0)
    yield Case("Compress", [f32, bools(N)],
               lambda x, c: np.compress(c, x, 1), axis=1)
    for dtype in (np.int8, np.int64, np.float16):
        x = integers(9, (N, N * 4 // np.dtype(dtype).itemsize), dtype)
        yield Case("Trilu", [x], np.triu)
        yield Case("NonZero", [x], lambda x: np.array(np.nonzero(x)))
        yield Case("Expand", [x[:1].copy()],
                   lambda x, s=x.shape: np.broadcast_to(x, s).copy(),
                   [np.array(x.shape)])
        yield Case("Transpose", [x],
                   lambda x: np.ascontiguousarray(x.T), perm=[1, 0])
        yield Case("ReverseSequence", [x, np.full(N, x.shape[1])],
                   lambda x, n: x[:, ::-1].copy(), batch_axis=0, time_axis=1)
    yield Case("ReverseSequence", [f32, np.full(N, N)],
               lambda x, n: x[::-1].copy(), batch_axis=1, time_axis=0)


def relay_cases():
    """Operators and dtypes that the rows of ONNX leave out."""
    square = (N, N)
    f32 = floats(*square)
    signed = (f32 - np.float32(.5)) * 20
    whole = {d: integers(100, (N * 4 // np.dtype(d).itemsize, N), d, 1)
             for d in (np.int8, np.uint8, np.int16, np.int32, np.int64)}
    i32, i64, i8 = whole[np.int32], whole[np.int64], whole[np.int8]
    f64 = floats(N // 2, N).astype(np.float64)
    f16 = floats(2 * N, N).astype(np.float16)
    b8 = bools(2 * N, 2 * N)
    kept = ", keepdims=False"

    # Of one element.
    for op, fn in {"log2": np.log2, "log10": np.log10,
                   "rsqrt": lambda x: 1 / np.sqrt(x), "trunc": np.trunc,
                   "isfinite": np.isfinite, "sqrt": np.sqrt, "exp": np.exp,
                   "log": np.log, "floor": np.floor,
                   "round": np.round}.items():
        yield RelayCase(f"{op}(x0)", [f32], fn)
    for op, fn in {"exp": np.exp, "log": np.log, "log2": np.log2,
                   "log10": np.log10, "sin": np.sin, "cos": np.cos,
                   "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
                   "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
                   "tanh": np.tanh, "asinh": np.arcsinh, "atanh": np.arctanh,
                   "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
                   "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
                   "round": np.round, "abs": np.abs, "sign": np.sign,
                   "sigmoid": lambda x: 1 / (1 + np.exp(-x))}.items():
        for x in (f64, f16):
            yield RelayCase(f"{op}(x0)", [x], fn)
    for x in (f64, f16):
        yield RelayCase("acosh(x0)", [x + x.dtype.type(1)], np.arccosh)
    for x in (i8, i32, i64):
        yield RelayCase("abs(x0)", [x], np.abs)
        yield RelayCase("negative(x0)", [x], np.negative)
        yield RelayCase("sign(x0)", [x], np.sign)
        yield RelayCase("bitwise_not(x0)", [x], np.invert)
        yield RelayCase("clip(x0, a_min=3f, a_max=50f)", [x],
                        lambda x: np.clip(x, 3, 50))
    for x in (f64, f16):
        yield RelayCase("clip(x0, a_min=0.3f, a_max=0.5f)", [x],
                        lambda x: np.clip(x, .3, .5))

    # Of two.
    arithmetic = {"add": np.add, "subtract": np.subtract,
                  "multiply": np.multiply, "maximum": np.maximum,
                  "minimum": np.minimum}
    comparisons = {"less": np.less, "equal": np.equal,
                   "greater_equal": np.greater_equal,
                   "not_equal": np.not_equal}
    division = {"floor_divide": np.floor_divide, "floor_mod": np.mod,
                "mod": np.fmod}
    bits = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
            "bitwise_xor": np.bitwise_xor}
    for ops in (arithmetic, comparisons, division):
        for op, fn in ops.items():
            for x in (i8, i32, i64, f64, f16):
                yield RelayCase(f"{op}(x0, x1)", [x, x[::-1].copy()], fn)
    for op, fn in division.items():
        yield RelayCase(f"{op}(x0, x1)", [signed, f32], fn)
    for x in (i8, i32, i64, f64, f16):
        yield RelayCase("divide(x0, x1)", [x, x[::-1].copy()],
                        np.floor_divide if x.dtype.kind == "i" else np.divide)
        yield RelayCase("power(x0, x1)", [x, (x * 0 + 3)], np.power)
    yield RelayCase("power(x0, 2f)", [f32], lambda x: np.power(x, 2))
    for x in (f64, f16):
        yield RelayCase("power(x0, x1)", [x, x[::-1].copy()], np.power)
    for op, fn in bits.items():
        for x in (i8, i32, i64):
            yield RelayCase(f"{op}(x0, x1)", [x, x[::-1].copy()], fn)
    for op, fn in {"left_shift": np.left_shift,
                   "right_shift": np.right_shift}.items():
        for x in (i8, i32, i64):
            yield RelayCase(f"{op}(x0, x1)", [x, x % 7], fn)
    for x in (i8, i32, i64, f64, f16, b8):
        condition = bools(*x.shape)
        yield RelayCase("where(x0, x1, x2)", [condition, x, x], np.where)

    # Over axes.
    for op, fn in {"sum": np.sum, "prod": np.prod, "max": np.max,
                   "min": np.min, "mean": np.mean, "argmax": np.argmax,
                   "argmin": np.argmin}.items():
        for x in (i8, i32, i64, f64, f16):
            if op == "mean" and x.dtype.kind == "i":
                continue
            for axis in (0, 1):
                dtype = (x.dtype if op in ("sum", "prod") else None)
                extra = {} if dtype is None else {"dtype": dtype}
                yield RelayCase(f"{op}(x0, axis=[{axis}]{kept})", [x],
                                lambda x, f=fn, a=axis, e=extra: f(x, a, **e))
    cube = floats(64, 64, 64)
    for op, fn in {"sum": np.sum, "max": np.max, "mean": np.mean,
                   "prod": np.prod}.items():
        for axes in ((0, 1), (0, 2), (1, 2), (1,)):
            yield RelayCase(f"{op}(x0, axis={list(axes)}{kept})", [cube],
                            lambda x, f=fn, a=axes: f(x, a))
    for axis in (0, 1):
        yield RelayCase(
            f"variance(x0, mean(x0, axis=[{axis}], keepdims=True), "
            f"axis=[{axis}])", [f32],
            lambda x, a=axis: np.var(x, a, keepdims=True))
    for op, fn in {"all": np.all, "any": np.any}.items():
        for axis in (0, 1):
            yield RelayCase(f"{op}(x0, axis=[{axis}])", [b8],
                            lambda x, f=fn, a=axis: f(x, a))
    for op, fn in {"cumsum": np.cumsum, "cumprod": np.cumprod}.items():
        for x in (f32, f64, i32, i64):
            for axis in (0, 1):
                yield RelayCase(f"{op}(x0, axis={axis})", [x],
                                lambda x, f=fn, a=axis: f(x, a, dtype=x.dtype))

    # Order.
    for x in (f32, f64, i32, i64, i8):
        for axis in (0, 1):
            yield RelayCase(f"sort(x0, axis={axis})", [x],
                            lambda x, a=axis: np.sort(x, a))
            yield RelayCase(f"argsort(x0, axis={axis}, dtype=\"int64\")", [x],
                            lambda x, a=axis: np.argsort(x, a, kind="stable"))
    flat = floats(N * N)
    yield RelayCase("sort(x0)", [flat], np.sort)
    yield RelayCase("argsort(x0, dtype=\"int64\")", [flat],
                    lambda x: np.argsort(x, kind="stable"))
    yield RelayCase("topk(x0, k=100, axis=0, ret_type=\"values\")", [flat],
                    lambda x: np.sort(np.partition(x, -100)[-100:])[::-1])
    yield RelayCase("unique(x0)", [integers(1000, N * N, np.int32)],
                    lambda x: np.unique(x, return_index=True,
                                        return_inverse=True))

    # Places.
    rows = integers(N, N)
    for x in (f32, f64, i8):
        yield RelayCase("take(x0, x1, axis=0)", [x, rows % len(x)],
                        lambda x, i: np.take(x, i, 0))
        yield RelayCase("take(x0, x1, axis=1)", [x, rows],
                        lambda x, i: np.take(x, i, 1))
    yield RelayCase("take(x0, x1)", [flat, integers(N * N, N * N)], np.take)
    yield RelayCase("gather(x0, x1, axis=0)",
                    [f32, integers(N, square)],
                    lambda x, i: np.take_along_axis(x, i, 0))
    pairs = integers(N, (2, N * N))
    yield RelayCase("gather_nd(x0, x1)", [f32, pairs],
                    lambda x, i: x[i[0], i[1]])
    yield RelayCase("scatter_nd(x0, x1, x2, mode=\"update\")",
                    [f32, pairs, flat], scatter_nd)
    yield RelayCase("adv_index((x0, x1, x2))", [f32, pairs[0], pairs[1]],
                    lambda x, i, j: x[i, j])
    yield RelayCase("argwhere(x0)", [bools(*square)], np.argwhere)
    yield RelayCase("one_hot(x0, 1f, 0f, depth=64, axis=-1, "
                    "dtype=\"float32\")",
                    [integers(64, 4096, np.int32)],
                    lambda i: np.eye(64, dtype=np.float32)[i])

    # Shapes.
    for x in (f32, f64, i8):
        a, b = x, x[:, ::-1].copy()
        yield RelayCase("concatenate((x0, x1), axis=0)", [a, b],
                        lambda a, b: np.concatenate([a, b], 0))
        yield RelayCase("concatenate((x0, x1), axis=1)", [a, b],
                        lambda a, b: np.concatenate([a, b], 1))
        yield RelayCase("stack((x0, x1), axis=0)", [a, b],
                        lambda a, b: np.stack([a, b], 0))
        yield RelayCase("stack((x0, x1), axis=-1)", [a, b],
                        lambda a, b: np.stack([a, b], -1))
        yield RelayCase("reverse(x0, axis=0)", [x], lambda x: x[::-1].copy())
        yield RelayCase("reverse(x0, axis=1)", [x],
                        lambda x: x[:, ::-1].copy())
        yield RelayCase("transpose(x0, axes=[1, 0])", [x],
                        lambda x: np.ascontiguousarray(x.T))
        yield RelayCase("repeat(x0, repeats=2, axis=0)", [x],
                        lambda x: np.repeat(x, 2, 0))
        yield RelayCase("repeat(x0, repeats=2, axis=1)", [x],
                        lambda x: np.repeat(x, 2, 1))
        yield RelayCase("tile(x0, reps=[2, 2])", [x],
                        lambda x: np.tile(x, (2, 2)))
        for step in (-1, 2, 3):
            begin = "9999, 9999" if step < 0 else "0, 0"
            end = "-9999, -9999" if step < 0 else "9999, 9999"
            yield RelayCase(
                f"strided_slice(x0, begin=[{begin}], end=[{end}], "
                f"strides=[{step}, {step}], slice_mode=\"end\", "
                f"axes=[0, 1])", [x],
                lambda x, s=step: x[::s, ::s].copy())
        yield RelayCase("split(x0, indices_or_sections=4, axis=1)", [x],
                        lambda x: [y.copy() for y in np.split(x, 4, 1)])
        for mode in ("constant", "edge", "reflect"):
            yield RelayCase(
                f"nn.pad(x0, cast(0, dtype=\"{x.dtype}\"), "
                f"pad_width=[[3, 3], [3, 3]], pad_mode=\"{mode}\")", [x],
                lambda x, m=mode: np.pad(x, 3, mode=m))
    deep = floats(8, 32, 32, 32)
    for axes in ((0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 2, 3),
                 (0, 1, 3, 2)):
        yield RelayCase(f"transpose(x0, axes={list(axes)})", [deep],
                        lambda x, p=axes: np.ascontiguousarray(x.transpose(p)))
    yield RelayCase("meshgrid((x0, x1), indexing=\"ij\")",
                    [floats(N), floats(N)],
                    lambda a, b: [y.copy() for y in np.meshgrid(
                        a, b, indexing="ij")])
    yield RelayCase("full(3f, shape=[512, 512], dtype=\"float32\")", [],
                    lambda: np.full(square, 3, np.float32))
    yield RelayCase("zeros(shape=[512, 512], dtype=\"float32\")", [],
                    lambda: np.zeros(square, np.float32))
    yield RelayCase("trilu(x0, 0, upper=False)", [f32], np.tril)
    yield RelayCase("broadcast_to(x0, shape=[64, 64, 64])", [floats(64, 1)],
                    lambda x: np.broadcast_to(x, (64, 64, 64)).copy())

    # Between all pairs of dtypes.
    kinds = [f32, f64, f16, i8, whole[np.uint8], whole[np.int16], i32, i64, b8]
    for x in kinds:
        for y in kinds:
            if x.dtype != y.dtype:
                yield RelayCase(f"cast(x0, dtype=\"{y.dtype}\")", [x],
                                lambda x, d=y.dtype: x.astype(d))

    # Products.
    yield RelayCase("nn.dense(x0, x1, units=64)", [floats(16, 64), floats(64, 64)],
                    lambda a, b: a @ b.T)
    yield RelayCase("nn.dense(x0, x1, units=512)", [floats(1, N), f32],
                    lambda a, b: a @ b.T)
    yield RelayCase("nn.batch_matmul(x0, x1)",
                    [floats(64, 32, 32), floats(64, 32, 32)],
                    lambda a, b: a @ b.transpose(0, 2, 1))
    yield RelayCase("nn.dense(x0, x1, units=128)", [f64[:128, :128].copy()] * 2,
                    lambda a, b: a @ b.T)
    yield RelayCase("einsum((x0, x1), equation=\"i,j->ij\")",
                    [floats(N), floats(N)], np.outer)
    yield RelayCase("einsum((x0,), equation=\"ij->j\")", [f32], lambda x: np.einsum("ij->j", x))
    for bias in ((512,), (512, 1)):
        yield RelayCase("add(x0, x1)", [f32, floats(*bias)], np.add)
    yield RelayCase("nn.bias_add(x0, x1, axis=1)",
                    [floats(1, 64, 64, 64), floats(64)],
                    lambda x, b: x + b[:, None, None])


def scatter_nd(x, indices, updates):
    y = x.copy()
    y[indices[0], indices[1]] = updates
    return y


def baton_time(baton_run, case, folder):
    """Milliseconds, or the error."""
    model = os.path.join(folder, "model." + case.suffix)
    inputs = os.path.join(folder, "inputs.npz")
    with open(model, "wb") as f:
        f.write(case.model())
    np.savez(inputs, **{f"x{i}": x for i, x in enumerate(case.inputs)})
    run = subprocess.run(
        [baton_run, model, f"--inputs={inputs}", "--bench=25", "--warmup=3"],
        capture_output=True, text=True)
    found = re.search(r"least ([\d.]+) ms", run.stdout)
    return float(found.group(1)) if found else run.stderr.strip()


def numpy_time(case):
    case.fn(*case.inputs)
    times = []
    for _ in range(15):
        start = time.perf_counter()
        case.fn(*case.inputs)
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main(baton_run, operators):
    level = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in all_cases():
            if operators and case.op not in operators:
                continue
            total += 1
            ours = baton_time(baton_run, case, folder)
            if isinstance(ours, str):
                print(f"ERROR  {case.name()}: {ours}", flush=True)
                continue
            theirs = numpy_time(case)
            for _ in range(3):  # Another try, for the machine may be busy.
                if ours > theirs:
                    ours = min(ours, baton_time(baton_run, case, folder))
                    theirs = min(theirs, numpy_time(case))
            is_level = ours <= theirs * 1.1 or ours - theirs <= 0.01
            level += is_level
            print(f"{'level' if is_level else 'slower':6} {ours:8.3f} "
                  f"{theirs:8.3f} {ours / theirs:6.2f}  {case.name()}",
                  flush=True)
    print(f"{level} of {total} rows are level with NumPy {np.__version__}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
