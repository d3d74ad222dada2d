"""Makes the extents of models' inputs symbolic: an extent of 4 becomes `d4`.

usage: make_symbolic.py NODE_CASES.tar OUTPUT.tar

Extents of 0 and 1 stay, and so do those of weights, which are constants in the
models that people have, and the lengths of vectors of 64-bit integers, which
are mostly shapes and axes. The shapes of outputs are removed. Cases without a
symbolic extent are left out.
"""

import io
import sys
import tarfile

import onnx

# Their inputs but the first are weights.
_WITH_WEIGHTS = ("Conv", "GRU", "LSTM", "QLinearConv", "RNN", "Resize")


def _make_symbolic(model):
    """Changes the model; returns whether an extent is symbolic now."""
    graph = model.graph
    known = {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type.startswith(_WITH_WEIGHTS):
            known.update(node.input[1:])
    is_changed = False
    for info in graph.input:
        tensor = info.type.tensor_type
        dims = tensor.shape.dim
        is_integer = tensor.elem_type == onnx.TensorProto.INT64
        if info.name in known or (is_integer and len(dims) == 1):
            continue
        for dim in dims:
            if dim.dim_value > 1:
                dim.dim_param = f"d{dim.dim_value}"
                is_changed = True
    for info in graph.output:
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    return is_changed


def main():
    with tarfile.open(sys.argv[1]) as cases, tarfile.open(
        sys.argv[2], "w"
    ) as output:
        folders = {}
        for member in cases.getmembers():
            kind, name, *rest = member.name.split("/")
            folders.setdefault((kind, name), {})["/".join(rest)] = member
        for files in folders.values():
            entry = files.pop("model.onnx")
            model = onnx.load_from_string(cases.extractfile(entry).read())
            if not _make_symbolic(model):
                continue
            content = model.SerializeToString(deterministic=True)
            entry.size = len(content)
            output.addfile(entry, io.BytesIO(content))
            for data in files.values():
                output.addfile(data, cases.extractfile(data))


if __name__ == "__main__":
    main()
