"""ONNX: the protos of models, for tests.

Baton's own code reads and writes ONNX files without it (onnx/wire.h): tests hold
that against these.

Package: libonnx-dev 1.12; the cases come from python3-onnx (testing/onnx). Upstream: https://github.com/onnx/onnx.
Licence: Apache-2.0.
"""

load("@baton//third_party:debian_package.bzl", "debian_package")

def repo(name):
    debian_package(
        name = name,
        package = "libonnx-dev",
        build_file = Label("@baton//third_party/onnx:onnx.BUILD"),
        headers = {"/usr/include/onnx": "onnx"},
    )
