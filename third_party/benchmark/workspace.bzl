"""Google Benchmark.

Package: libbenchmark-dev 1.7.1.
Upstream: https://github.com/google/benchmark. Licence: Apache-2.0.
"""

load("@baton//third_party:debian_package.bzl", "debian_package")

def repo(name):
    debian_package(
        name = name,
        package = "libbenchmark-dev",
        build_file = Label("@baton//third_party/benchmark:benchmark.BUILD"),
        headers = {"/usr/include/benchmark": "benchmark"},
        libraries = [
            "benchmark",
            "benchmark_main",
        ],
    )
