"""oneDNN: kernels for neural networks.

Package: libdnnl-dev 2.6.3. Upstream: https://github.com/oneapi-src/oneDNN.
Licence: Apache-2.0.
"""

load("@baton//third_party:debian_package.bzl", "debian_package")

def repo(name):
    debian_package(
        name = name,
        package = "libdnnl-dev",
        build_file = Label("@baton//third_party/onednn:onednn.BUILD"),
        headers = {"/usr/include/oneapi": "oneapi"},
        libraries = ["dnnl"],
    )
