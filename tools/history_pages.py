#!/usr/bin/env python3
"""Makes the pages of history_page_browser_test.py, as an action of the build.

    history_pages.py BATON_OPT BATON_HISTORY BATON_COMPILE PAGES.tar

Times are replaced by fixed ones: the pages are others, and the test runs again,
only if a program or the page is another.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile

SMALL = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = add(%0, add(1f, 2f));
  %2 = nn.relu(%1);
  let %t = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2]);
  @other(%t)
}
def @other(%y: Tensor[(1, 4, 4, 4), float32]) -> Tensor[(1, 4, 4, 4), float32] {
  %0 = nn.relu(%y);
  tanh(%0)
}
"""

LOOPS = """@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), B: T.Buffer((16,), "float32")):
    for i, j in T.grid(16, 8):
        with T.block("sum"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(A[vi, vj])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]
"""

NORM = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3), float32], %g: Tensor[(3), float32], %b: Tensor[(3), float32],
          %m: Tensor[(3), float32], %v: Tensor[(3), float32]) {
  nn.batch_norm(%x, %g, %b, %m, %v).0
}
"""

WRONG = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  nn.prelu(%x, ones(shape=[3], dtype="float32"), axis=1)
}
"""

PROFILE = {
    "version": 1,
    "calls": [
        {"kernel": "conv.blocked16", "nodes": ["Conv_0", "Relu_<1>"], "us": 1500,
         "limit_us": 1000, "share": 0.6667},
        {"kernel": "to_planar", "nodes": [], "us": 20, "limit_us": 30, "share": 1.5},
        {"kernel": "softmax", "nodes": ["Softmax_2"], "us": 2000, "limit_us": 500,
         "share": 0.25},
    ],
    "nodes": [
        {"name": "Conv_0", "us": 1500, "limit_us": 1000, "share": 0.6667},
        {"name": "Relu_<1>", "us": 0, "limit_us": 0, "share": 0, "in": "Conv_0"},
        {"name": "Softmax_2", "us": 2000, "limit_us": 500, "share": 0.25},
    ],
    "creation": [],
}


def record(tools, name, *args, fails=False, profile=None, library=None):
    """Makes NAME.history and NAME.html, of a run of baton-opt, in this folder."""
    history, page = f"{name}.history", f"{name}.html"
    run = subprocess.run([tools["opt"], *args, "--emit=none", f"--record={history}"],
                         stderr=subprocess.PIPE, text=True)
    if (run.returncode != 0) != fails:
        raise RuntimeError(run.stderr)
    flags = [f"--output={page}"]
    if profile is not None:
        flags.append(f"--profile={name}.json")
        # As baton-run writes it.
        write(f"{name}.json", json.dumps(profile, separators=(",", ":")) + "\n")
    if library is not None:
        flags.append(f"--library={library}")
    subprocess.run([tools["history"], history, "html", *flags], check=True)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def with_fixed_times(html):
    """A page whose executions take 1, 2, 3 ... ms, and peak at 64, 65 ... MiB."""
    head = '<script type="application/json" id="times">'
    begin = html.index(head) + len(head)
    end = html.index("</script>", begin)
    times = json.loads(html[begin:end])
    for i, peak in enumerate(times["peak"]):
        times["start"][i] = i * 10_000
        times["total"][i] = (i + 1) * 1_000_000
        if peak >= 0:
            times["peak"][i] = 2**26 + i * 2**20
    return html[:begin] + json.dumps(times, separators=(",", ":")) + html[end:]


def make_pages(tools):
    """Makes all pages in this folder."""
    record(tools, "resnet", "--workload=resnet{num_layers=50}", "--passes=O3")
    log = subprocess.run([tools["history"], "resnet.history", "log"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    write("resnet.lines", f"{len(log.splitlines())}\n")
    write("small.relay", SMALL)
    record(tools, "small", "small.relay",
           "--passes=InferType,FoldConstant,FuseOps", "--measure=memory")
    write("loops.tir", LOOPS)
    record(tools, "loops", "loops.tir",
           "--passes=tir.LowerInitBlock,tir.ConvertBlocksToOpaque")
    record(tools, "profiled", "small.relay", "--passes=InferType", profile=PROFILE)
    subprocess.run([tools["compile"], "small.relay", "--isas=sse2", "--output_dir=library"],
                   stdout=subprocess.DEVNULL, check=True)
    record(tools, "compiled", "small.relay", "--passes=InferType",
           library="library/small.report.json")
    write("norm.relay", NORM)
    record(tools, "checked", "norm.relay", "--check_values",
           "--passes=InferType,SimplifyInference")
    write("wrong.relay", WRONG)
    record(tools, "wrong", "wrong.relay", "--passes=InferType,FirstOrderGradient",
           fails=True)


def plain(info):
    """A member of an archive that depends on its content alone."""
    info.mtime = info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mode = 0o644
    return info


def main():
    tools = dict(zip(("opt", "history", "compile"), map(os.path.abspath, sys.argv[1:4])))
    archive = os.path.abspath(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_pages(tools)
        with tarfile.open(archive, "w") as tar:
            for name in sorted(os.listdir(".")):
                if name.endswith(".html"):
                    write(name, with_fixed_times(read(name)))
                elif not name.endswith(".lines"):
                    continue
                tar.add(name, filter=plain)
        os.chdir("/")


if __name__ == "__main__":
    main()
