"""Protocol Buffers: the library, the compiler and the well-known types.

Packages: libprotobuf-dev, protobuf-compiler 3.21.12.
Upstream: https://github.com/protocolbuffers/protobuf. Licence: BSD-3-Clause.
"""

load("@baton//third_party:debian_package.bzl", "debian_package")

def repo(name):
    debian_package(
        name = name,
        package = "libprotobuf-dev or protobuf-compiler",
        build_file = Label("@baton//third_party/protobuf:protobuf.BUILD"),
        headers = {"/usr/include/google/protobuf": "google/protobuf"},
        libraries = ["protobuf"],
        programs = {"/usr/bin/protoc": "protoc"},
    )
