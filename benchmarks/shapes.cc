#include "baton/benchmarks/shapes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/deep_loops.h"
#include "baton/testing/workloads/resnet.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::benchmarks {
namespace {

using relay::Function;
using relay::ModuleFromExpr;
using relay::Var;

// Every call uses the one before and the parameter, which has n users.
absl::StatusOr<IRModule> ChainCalls(int64_t n) {
  const Var x("x", {2, 3});
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) e = relay::Add(std::move(e), x);
  return ModuleFromExpr(Function({x}, std::move(e)));
}

absl::StatusOr<IRModule> ChainUnary(int64_t n) {
  const Var x("x", {2, 3});
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) e = relay::Tanh(std::move(e));
  return ModuleFromExpr(Function({x}, std::move(e)));
}

absl::StatusOr<IRModule> ChainLets(int64_t n) {
  const Var x("x", {2, 3});
  std::vector<Var> vars;
  for (int64_t i = 0; i < n; ++i) vars.push_back(Var("v"));
  Expr e = vars.back();
  for (int64_t i = n - 1; i >= 0; --i) {
    e = relay::Let(vars[i], relay::Add(i == 0 ? x : vars[i - 1], x),
                   std::move(e));
  }
  return ModuleFromExpr(Function({x}, std::move(e)));
}

absl::StatusOr<IRModule> NestedLets(int64_t n) {
  const Var x("x", {2, 3});
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) {
    const Var v("v");
    e = relay::Let(v, std::move(e), relay::Add(v, x));
  }
  return ModuleFromExpr(Function({x}, std::move(e)));
}

// Each but the last is used, by the next.
absl::StatusOr<IRModule> DeadLets(int64_t n) {
  const Var x("x", {2, 3});
  std::vector<Var> vars;
  for (int64_t i = 0; i < n; ++i) vars.push_back(Var("v"));
  Expr e = x;
  for (int64_t i = n - 1; i >= 0; --i) {
    e = relay::Let(vars[i], relay::Add(i == 0 ? x : vars[i - 1], x),
                   std::move(e));
  }
  return ModuleFromExpr(Function({x}, std::move(e)));
}

// As fusion makes them.
absl::StatusOr<IRModule> ChainPrimitives(int64_t n) {
  const Var x("x", {2, 3});
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) {
    const Var p("p", {2, 3});
    const Function f({p}, relay::Tanh(relay::Tanh(p)));
    e = relay::Call(f.WithAttr(relay::attr::kPrimitive, int64_t{1}),
                    {std::move(e)});
  }
  return ModuleFromExpr(Function({x}, std::move(e)));
}

absl::StatusOr<IRModule> NestedFunctions(int64_t n) {
  const Var x("x", {2, 3});
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) {
    const Var y("y", {2, 3});
    e = relay::Call(Function({y}, relay::Add(std::move(e), y)), {x});
  }
  return ModuleFromExpr(Function({x}, std::move(e)));
}

// Block by block, what every pass for networks looks for.
absl::StatusOr<IRModule> ChainConvs(int64_t n) {
  const Var x("x", {1, 8, 8, 8});
  const Var gamma("gamma", {8});
  const Var beta("beta", {8});
  const Var mean("mean", {8});
  const Var var("var", {8});
  std::vector<Var> params = {x, gamma, beta, mean, var};
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) {
    const Var weight(absl::StrCat("weight", i), {8, 8, 3, 3});
    const Var scale(absl::StrCat("scale", i), {8, 1, 1});
    params.push_back(weight);
    params.push_back(scale);
    const Expr data = relay::nn::Relu(relay::TupleGetItem(
        relay::nn::BatchNorm(e, gamma, beta, mean, var), 0));
    const Expr conv = relay::nn::Conv2D(
        data, weight,
        {.padding = {1, 1}, .channels = 8, .kernel_size = {3, 3}});
    e = relay::Add(relay::Multiply(conv, scale), std::move(e));
  }
  return ModuleFromExpr(Function(std::move(params), std::move(e)));
}

absl::StatusOr<IRModule> ChainConstants(int64_t n) {
  const relay::Constant one = relay::Const(1.0, DType::Float(32));
  Expr e = one;
  for (int64_t i = 0; i < n; ++i) e = relay::Add(std::move(e), one);
  return ModuleFromExpr(Function({}, std::move(e)));
}

// All branches use the parameter; no two are equal.
absl::StatusOr<IRModule> Wide(int64_t n) {
  const Var x("x", {2, 3});
  std::vector<Expr> fields;
  for (int64_t i = 0; i < n; ++i) {
    const relay::Constant c =
        relay::Const(static_cast<double>(i), DType::Float(32));
    fields.push_back(relay::Tanh(relay::Add(x, c)));
  }
  return ModuleFromExpr(Function({x}, relay::Tuple(std::move(fields))));
}

absl::StatusOr<IRModule> WideEqual(int64_t n) {
  const Var x("x", {2, 3});
  std::vector<Expr> fields;
  for (int64_t i = 0; i < n; ++i) {
    fields.push_back(relay::Tanh(relay::Add(x, x)));
  }
  return ModuleFromExpr(Function({x}, relay::Tuple(std::move(fields))));
}

absl::StatusOr<IRModule> Ladder(int64_t n) {
  const Var x("x", {2, 3});
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) e = relay::Add(e, e);
  return ModuleFromExpr(Function({x}, std::move(e)));
}

// Each branch holds the next.
absl::StatusOr<IRModule> Branches(int64_t n) {
  const Var x("x", {2, 3});
  const Var c("c", {}, DType::Bool());
  Expr e = x;
  for (int64_t i = 0; i < n; ++i)
    e = relay::If(c, relay::Tanh(x), std::move(e));
  return ModuleFromExpr(Function({c, x}, std::move(e)));
}

// As Branches; in addition, each branch uses a call that the inner ones also
// use.
absl::StatusOr<IRModule> SharingBranches(int64_t n) {
  const Var x("x", {2, 3});
  const Var c("c", {}, DType::Bool());
  std::vector<Expr> shared = {x};
  for (int64_t i = 0; i < n; ++i) shared.push_back(relay::Tanh(shared.back()));
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) e = relay::If(c, shared[n - i], std::move(e));
  return ModuleFromExpr(Function({c, x}, std::move(e)));
}

// Both branches use what was chosen before.
absl::StatusOr<IRModule> ChainBranches(int64_t n) {
  const Var x("x", {2, 3});
  const Var c("c", {}, DType::Bool());
  Expr e = x;
  for (int64_t i = 0; i < n; ++i) {
    e = relay::If(c, relay::Add(e, x), relay::Multiply(e, x));
  }
  return ModuleFromExpr(Function({c, x}, std::move(e)));
}

// Each has something to fold, to merge and to fuse.
absl::StatusOr<IRModule> Functions(int64_t n) {
  IRModule module;
  const relay::Constant two = relay::Const(2.0, DType::Float(32));
  for (int64_t i = 0; i < n; ++i) {
    const Var x("x", {2, 3});
    const Expr y = relay::Add(x, relay::Multiply(two, two));
    module.Set(absl::StrCat("f", i),
               Function({x}, relay::Add(relay::Tanh(y),
                                        relay::Tanh(relay::Add(
                                            x, relay::Multiply(two, two))))));
  }
  return module;
}

// A function of loops: `head`, and a body of `n` statements: `nest`, which has
// `statements` of them, again and again.
absl::StatusOr<IRModule> LoopsOf(absl::string_view head, absl::string_view nest,
                                 int64_t statements, int64_t n) {
  std::string text(head);
  for (int64_t i = 0; i < n; i += statements) absl::StrAppend(&text, nest);
  return ParseModule(text, "shape");
}

constexpr char kConvHead[] =
    "@T.prim_func\n"
    "def main(p0: T.Buffer((100352,), \"float32\"), "
    "p1: T.Buffer((32768,), \"float32\"), "
    "conv: T.Buffer((50176,), \"float32\")):\n";

// A convolution of ResNet-18 as it is when its buffers are flat.
absl::StatusOr<IRModule> FlatLoops(int64_t n) {
  return LoopsOf(kConvHead, R"(
    for f in T.parallel(224):
        m = T.allocate([224], "float32", "global")
        g = T.Buffer((224,), data=m)
        for a in T.serial(2):
            for b in T.serial(14):
                for c in T.vectorized(8):
                    g[a * 112 + b * 8 + c] = T.float32(0)
        for d, e in T.grid(16, 8):
            for a in T.serial(2):
                for b in T.serial(14):
                    for c in T.vectorized(8):
                        g[a * 112 + b * 8 + c] = g[a * 112 + b * 8 + c] + p0[d * 6272 + f % 7 * 896 + a * 448 + b * 16 + e] * p1[f // 7 * 1024 + d * 64 + e * 8 + c]
        for a, b in T.grid(2, 14):
            for c in T.vectorized(8):
                conv[f * 224 + a * 112 + b * 8 + c] = g[a * 112 + b * 8 + c]
)",
                 17, n);
}

// A sum of products with a computation of its result.
absl::StatusOr<IRModule> LoopsOfBlocks(int64_t n) {
  return LoopsOf(kConvHead, R"(
    for i, j, k in T.grid(224, 224, 128):
        with T.block("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(p0[vi * 128 + vk], p1[vk * 224 + vj])
            T.writes(conv[vi * 224 + vj])
            with T.init():
                conv[vi * 224 + vj] = T.float32(0)
            conv[vi * 224 + vj] = conv[vi * 224 + vj] + p0[vi * 128 + vk] * p1[vk * 224 + vj]
    for i in range(50176):
        with T.block("max"):
            vi = T.axis.spatial(50176, i)
            T.where(i < 50000)
            T.reads(conv[vi])
            T.writes(conv[vi])
            conv[vi] = T.max(conv[vi], T.float32(0))
)",
                 11, n);
}

// Blocks as they are when ConvertBlocksToOpaque has lowered them, with buffers
// that are larger than what a block uses.
absl::StatusOr<IRModule> OpaqueBlocks(int64_t n) {
  return LoopsOf(R"(
@T.prim_func
def main(p0: T.Buffer((1024, 8), "float32"), conv: T.Buffer((1024, 8), "float32")):
)",
                 R"(
    for i in range(1024):
        with T.block("row"):
            T.reads(p0[i, 0:8])
            T.writes(conv[i, 0:8])
            m = T.alloc_buffer((1024, 8))
            for j in range(8):
                with T.block("twice"):
                    T.reads(p0[i, j])
                    T.writes(m[i, j])
                    m[i, j] = p0[i, j] * T.float32(2)
            for j in range(8):
                with T.block("max"):
                    T.where(i * 8 + j < 8000)
                    T.reads(m[i, j])
                    T.writes(conv[i, j])
                    conv[i, j] = T.max(m[i, j], T.float32(0))
)",
                 12, n);
}

// A function for a processor: calls of functions that its target has, and
// memory that other memory may replace.
absl::StatusOr<IRModule> HostLoops(int64_t n) {
  return LoopsOf(R"(
@T.prim_func
def main(p0: T.Buffer((14336,), "float32"), conv: T.Buffer((14336,), "float32")):
    T.func_attr({"global_symbol": "main", "target": T.target({"keys": ["cpu"], "kind": "llvm", "tag": ""})})
)",
                 R"(
    for f in range(224):
        a = T.allocate([64], "float32", "global")
        a_1 = T.Buffer((64,), data=a)
        for i in range(64):
            a_1[i] = T.exp(p0[f * 64 + i]) * T.float32(2)
        b = T.allocate([64], "float32", "global")
        b_1 = T.Buffer((64,), data=b)
        for i in range(64):
            b_1[i] = T.tan(a_1[i]) + T.sigmoid(a_1[i // 7 * 7 + i % 7])
        for i in range(64):
            conv[f * 64 + i] = T.max(b_1[63 - i], a_1[i])
)",
                 11, n);
}

// Kernels of a GPU, with memory of a warp and a sum over threads.
absl::StatusOr<IRModule> DeviceLoops(int64_t n) {
  return LoopsOf(R"(
@T.prim_func
def main(p0: T.Buffer((1024,), "float32"), conv: T.Buffer((1024,), "float32")):
    T.func_attr({"global_symbol": "main", "target": T.target({"arch": "sm_50", "host": {"keys": ["cpu"], "kind": "llvm", "tag": ""}, "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "", "thread_warp_size": 32})})
)",
                 R"(
    with T.launch_thread("blockIdx.x", 32) as bx:
        w = T.allocate([32], "float32", "warp")
        r = T.allocate([1], "float32", "local")
        tx = T.launch_thread("threadIdx.x", 32)
        w_1 = T.Buffer((32,), data=w, scope="warp")
        r_1 = T.Buffer((1,), data=r, scope="local")
        w_1[tx] = p0[bx * 32 + tx]
        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0)]), "reduce_scope", T.reinterpret("handle", T.uint64(0))):
            T.tvm_thread_allreduce(T.uint32(1), w_1[31 - tx], T.bool(True), r_1[0], tx)
        conv[bx * 32 + tx] = r_1[0] + T.exp(w_1[tx])
)",
                 9, n);
}

// Numbers of 16 and 8 bits, without buffers of parameters.
absl::StatusOr<IRModule> NarrowLoops(int64_t n) {
  return LoopsOf(R"(
@T.prim_func
def main(p0: T.handle("bfloat16", "global"), p1: T.handle("e5m2_float8", "global")):
    b = T.decl_buffer((4096,), "bfloat16", data=p0)
    e = T.decl_buffer((4096,), "e5m2_float8", data=p1)
)",
                 R"(
    for i, j in T.grid(64, 64):
        b[i * 64 + j] = b[i * 64 + j] * b[j]
        e[i * 64 + j] = e[i * 64 + j] + e[j]
)",
                 5, n);
}

absl::StatusOr<IRModule> Deep(absl::string_view kind, int64_t n) {
  IRModule module;
  module.Set("main", testing::DeepLoops(kind, static_cast<int>(n)));
  return module;
}
#define BATON_DEEP(Name, name) \
  absl::StatusOr<IRModule> Name(int64_t n) { return Deep(name, n); }
BATON_DEEP(DeepLoopNest, "loops")
BATON_DEEP(DeepLets, "lets")
BATON_DEEP(DeepBranches, "branches")
BATON_DEEP(DeepAttributes, "attributes")
BATON_DEEP(DeepWhiles, "whiles")
BATON_DEEP(DeepAllocations, "allocations")
BATON_DEEP(DeepBlocks, "blocks")
BATON_DEEP(DeepSums, "sums")
BATON_DEEP(DeepValues, "values")
BATON_DEEP(DeepElses, "elses")
BATON_DEEP(DeepAssertions, "assertions")
BATON_DEEP(DeepGuards, "guards")
BATON_DEEP(DeepTriangles, "triangles")
BATON_DEEP(DeepConditions, "conditions")
#undef BATON_DEEP

absl::StatusOr<IRModule> ResNet(int64_t layers) {
  BATON_ASSIGN_OR_RETURN(const Function network,
                         testing::BuildResNet({.num_layers = layers}));
  return ModuleFromExpr(network);
}

struct Family {
  const char* name;
  const char* doc;
  absl::StatusOr<IRModule> (*build)(int64_t n);
};

constexpr Family kFamilies[] = {
    {"resnet", "ResNet of n layers, without weights", ResNet},
    {"chain_calls", "n nested calls of two arguments", ChainCalls},
    {"chain_unary", "n nested calls of one argument", ChainUnary},
    {"chain_lets", "n lets, each in the body of the one before", ChainLets},
    {"dead_lets", "the same, without use", DeadLets},
    {"nested_lets", "n lets, each in the value of the next", NestedLets},
    {"chain_primitives", "n nested calls of fused functions", ChainPrimitives},
    {"nested_functions", "n calls of functions, each inside the next",
     NestedFunctions},
    {"chain_convs", "n blocks of seven nodes around a convolution", ChainConvs},
    {"chain_constants", "n nested calls with constant results", ChainConstants},
    {"chain_branches", "n ifs, both branches using the one before",
     ChainBranches},
    {"branches", "n ifs, each in a branch of the next", Branches},
    {"sharing_branches", "the same, with calls that are used at two depths",
     SharingBranches},
    {"ladder", "n calls that use the one before twice: 2^n paths", Ladder},
    {"wide", "n branches into one tuple, all different", Wide},
    {"wide_equal", "n branches into one tuple, all equal", WideEqual},
    {"functions", "n small functions", Functions},
    {"tir_flat", "n statements of loops over flat buffers", FlatLoops},
    {"tir_blocks", "n statements of loops of blocks", LoopsOfBlocks},
    {"tir_opaque", "n statements of loops of blocks without variables",
     OpaqueBlocks},
    {"tir_host", "n statements for a target, with calls and allocations",
     HostLoops},
    {"tir_device", "n statements of kernels of a GPU", DeviceLoops},
    {"tir_narrow", "n statements of loops over bfloat16 and float8",
     NarrowLoops},
    {"tir_deep_loops", "n loops, each in the next", DeepLoopNest},
    {"tir_deep_lets", "n lets of loops, each in the next", DeepLets},
    {"tir_deep_branches", "n ifs of loops, each in the next", DeepBranches},
    {"tir_deep_attributes", "n attributes, each in the next", DeepAttributes},
    {"tir_deep_whiles", "n while loops, each in the next", DeepWhiles},
    {"tir_deep_allocations", "n allocations, each in the next",
     DeepAllocations},
    {"tir_deep_blocks", "n blocks, each in the next", DeepBlocks},
    {"tir_deep_sums", "n nested sums and maxima", DeepSums},
    {"tir_deep_values", "n nested selections and lets in one expression",
     DeepValues},
    {"tir_deep_elses", "n ifs of loops, each in an `else` of the next",
     DeepElses},
    {"tir_deep_assertions", "n assertions, each in the next", DeepAssertions},
    {"tir_deep_guards", "n loops with an if, each in the next", DeepGuards},
    {"tir_deep_triangles", "n loops, each as long as the one around it says",
     DeepTriangles},
    {"tir_deep_conditions", "an if of n comparisons", DeepConditions},
};

}  // namespace

const std::vector<ShapeFamily>& ShapeFamilies() {
  static const auto* const families = [] {
    auto* const result = new std::vector<ShapeFamily>();
    for (const Family& f : kFamilies) result->push_back({f.name, f.doc});
    return result;
  }();
  return *families;
}

absl::StatusOr<IRModule> BuildShape(absl::string_view spec) {
  const size_t slash = spec.find('/');
  int64_t size = 0;
  if (slash == absl::string_view::npos ||
      !absl::SimpleAtoi(spec.substr(slash + 1), &size) || size <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a shape is written NAME/SIZE, as in chain_calls/1000; not `", spec,
        "`"));
  }
  for (const Family& f : kFamilies) {
    if (f.name == spec.substr(0, slash)) return f.build(size);
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no shape `", spec.substr(0, slash), "`; there are ",
      absl::StrJoin(ShapeFamilies(), ", ",
                    [](std::string* out, const ShapeFamily& f) {
                      out->append(f.name);
                    })));
}

int64_t CountNodes(const IRModule& module) {
  int64_t count = 0;
  for (const auto& d : module.functions<Function>()) {
    relay::PostOrderVisit(d.function, [&](const ExprNode* node) {
      count += node->kind() == relay::ExprKind::kOp ? 0 : 1;
    });
  }
  for (const auto& d : module.functions<tir::PrimFunc>()) {
    tir::PostOrderVisit(
        d.function->body(), [&](const tir::PrimExpr& /*e*/) { ++count; },
        [&](const tir::Stmt& /*stmt*/) { ++count; });
  }
  return count;
}

}  // namespace baton::benchmarks
