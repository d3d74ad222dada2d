"""Eigen: linear algebra in headers.

Package: libeigen3-dev 3.4.0. Upstream: https://eigen.tuxfamily.org.
Licence: MPL-2.0.
"""

load("@baton//third_party:debian_package.bzl", "debian_package")

def repo(name):
    debian_package(
        name = name,
        package = "libeigen3-dev",
        build_file = Label("@baton//third_party/eigen:eigen.BUILD"),
        headers = {"/usr/include/eigen3": "eigen3"},
    )
