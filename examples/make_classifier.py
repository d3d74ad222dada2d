"""Makes a small classifier of images as PyTorch's exporter writes one.

usage: make_classifier.py OUTPUT.onnx

Weights are initializers under the names of modules, the size of the batch is a
dimension with a name, and the shape of the flattened features is computed from
that of the data.
"""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def main():
    random = np.random.RandomState(0)
    nodes = []
    weights = []

    def weight(name, *shape, scale=1.0, offset=0.0):
        values = random.uniform(-scale, scale, shape) + offset
        weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def node(op, inputs, output, **attributes):
        name = "%s_%d" % (op, len(nodes))
        nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def constant(value, output):
        tensor = numpy_helper.from_array(np.array(value, np.int64))
        return node("Constant", [], output, value=tensor)

    x = "image"
    for i, (inputs, outputs) in enumerate([(3, 8), (8, 16)]):
        layer = "layers.%d" % i
        conv = node(
            "Conv",
            [x, weight(layer + ".conv.weight", outputs, inputs, 3, 3, scale=0.3)],
            "/%s/conv" % layer,
            kernel_shape=[3, 3],
            pads=[1, 1, 1, 1],
            strides=[2, 2],
        )
        norm = [
            weight(layer + ".norm.weight", outputs, scale=0.2, offset=1.0),
            weight(layer + ".norm.bias", outputs, scale=0.2),
            weight(layer + ".norm.running_mean", outputs, scale=0.2),
            weight(layer + ".norm.running_var", outputs, scale=0.5, offset=1.0),
        ]
        norm = node("BatchNormalization", [conv] + norm, "/%s/norm" % layer)
        x = node("Relu", [norm], "/%s/act" % layer)
    shape = node("Shape", [x], "/Shape")
    batch = node("Gather", [shape, constant(0, "/Zero")], "/Gather", axis=0)
    batch = node("Unsqueeze", [batch, constant([0], "/Axis")], "/Unsqueeze")
    shape = node("Concat", [batch, constant([-1], "/Rest")], "/Concat", axis=0)
    x = node("Reshape", [x, shape], "/Reshape")
    x = node("Dropout", [x], "/dropout")
    logits = node(
        "Gemm",
        [x, weight("head.weight", 4, 16 * 8 * 8, scale=0.05), weight("head.bias", 4)],
        "logits",
        transB=1,
    )
    node("Softmax", [logits], "probabilities", axis=1)

    def value(name, *dims):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)

    graph = helper.make_graph(
        nodes,
        "classifier",
        [value("image", "batch", 3, 32, 32)],
        [value("probabilities", "batch", 4)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    with open(sys.argv[1], "wb") as output:
        output.write(model.SerializeToString())


if __name__ == "__main__":
    main()
