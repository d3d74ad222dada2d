#!/usr/bin/python3
"""Times of ONNX operators on a megabyte of data: baton-run's and NumPy's.

    bazel build -c opt //tools:baton-run
    benchmarks/compare_with_numpy.py bazel-bin/tools/baton-run [OPERATOR ...]

Each row is a model of one node, made with Debian's python3-onnx, and what
computes the same in NumPy (python3-numpy): the least of many runs each, one
thread. A row is level if baton-run takes at most a tenth longer, or 10
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
            graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        return model.SerializeToString()


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


def baton_time(baton_run, case, folder):
    """Milliseconds, or the error."""
    model = os.path.join(folder, "model.onnx")
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
            for _ in range(2):  # Another try, for the machine may be busy.
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
