"""Makes a small perceptron for docs/ship_a_model.md.

usage: make_mlp.py OUTPUT.onnx
"""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def main():
    random = np.random.RandomState(0)
    nodes = []
    weights = []
    sizes = [64, 128, 64, 10]
    x = "features"
    for i in range(len(sizes) - 1):
        scale = (3.0 / sizes[i]) ** 0.5
        for name, shape in [("weight", (sizes[i + 1], sizes[i])), ("bias", (sizes[i + 1],))]:
            values = random.uniform(-scale, scale, shape).astype(np.float32)
            weights.append(numpy_helper.from_array(values, "layers.%d.%s" % (i, name)))
        y = "/layers.%d/Gemm" % i
        inputs = [x, "layers.%d.weight" % i, "layers.%d.bias" % i]
        nodes.append(helper.make_node("Gemm", inputs, [y], name=y, transB=1))
        x = y
        if i + 2 < len(sizes):
            x = "/layers.%d/Relu" % i
            nodes.append(helper.make_node("Relu", [y], [x], name=x))
    nodes.append(helper.make_node("Softmax", [x], ["probabilities"], name="/Softmax", axis=1))

    def value(name, *dims):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)

    graph = helper.make_graph(
        nodes,
        "mlp",
        [value("features", "batch", sizes[0])],
        [value("probabilities", "batch", sizes[-1])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    with open(sys.argv[1], "wb") as output:
        output.write(model.SerializeToString())


if __name__ == "__main__":
    main()
