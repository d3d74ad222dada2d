// A law that holds for every operator with a computation: its loops, run by the
// interpreter, compute the bits of its kernel, and touch only what their blocks
// name.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/lower/computation.h"
#include "baton/lower/lower_to_tir.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/testing/parse_typed.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "gtest/gtest.h"

namespace baton::lower {
namespace {

using relay::Value;

using relay::Function;

using Shape = std::vector<int64_t>;

// A function, and how its arguments are made.
struct Case {
  std::string params;
  std::string body;
  bool special = false;   // floats of all kinds among the arguments
  bool positive = false;  // no zeros and no negative integers
};

std::string TypeText(const Shape& shape, absl::string_view dtype) {
  return absl::StrCat("Tensor[(", absl::StrJoin(shape, ", "), "), ", dtype,
                      "]");
}

// Overwrites some elements by those at which functions are special.
Tensor Special(const Tensor& x, std::mt19937& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {
      0.0,        -0.0,   kInfinity,
      -kInfinity, 1.0,    -1.0,
      0.5,        -2.5,   1.5,
      89.0,       -104.0, 1e-30,
      1e30,       -1e30,  3e9,
      -3e9,       1e19,   -1e19,
      127.5,      300.25, std::numeric_limits<double>::quiet_NaN()};
  absl::StatusOr<MutableTensor> result =
      MutableTensor::Create(x.dtype(), x.shape());
  std::memcpy(result->data(), x.data(), x.bytes().size());
  const auto store = [&](int64_t i, double value) {
    char* to = static_cast<char*>(result->data());
    if (x.dtype() == DType::Float(64)) {
      std::memcpy(to + i * 8, &value, 8);
    } else if (x.dtype() == DType::Float(32)) {
      const float narrow = static_cast<float>(value);
      std::memcpy(to + i * 4, &narrow, 4);
    } else if (x.dtype() == DType::Float(16)) {
      const Float16 half(static_cast<float>(value));
      std::memcpy(to + i * 2, &half, 2);
    } else if (x.dtype() == DType::BFloat(16)) {
      const BFloat16 half(static_cast<float>(value));
      std::memcpy(to + i * 2, &half, 2);
    }
  };
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    switch (random() % 4) {
      case 0:
        store(i, values[random() % std::size(values)]);
        break;
      case 1:
        store(i, std::ldexp(static_cast<double>(random() % 2000) - 1000,
                            static_cast<int>(random() % 30) - 20));
        break;
      default:
        break;
    }
  }
  return std::move(*result).Freeze();
}

// Integers from 1 on.
Tensor Positive(const Tensor& x) {
  absl::StatusOr<MutableTensor> result =
      MutableTensor::Create(x.dtype(), x.shape());
  const size_t size = static_cast<size_t>(x.dtype().bytes());
  std::memset(result->data(), 0, x.bytes().size());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    static_cast<char*>(result->data())[static_cast<size_t>(i) * size] =
        static_cast<char>(1 + std::abs(x.AtAsInt64(i)) % 7);
  }
  return std::move(*result).Freeze();
}

// Compares bit for bit; a NaN equals another.
std::string Difference(const Tensor& kernel, const Tensor& loops) {
  if (kernel.dtype() != loops.dtype() || kernel.shape() != loops.shape()) {
    return absl::StrCat(kernel.TypeToString(), " and ", loops.TypeToString());
  }
  const std::optional<int64_t> i = FirstDifferentElement(kernel, loops);
  if (!i.has_value()) return "";
  const auto text = [i](const Tensor& t) {
    return t.dtype().is_float() ? absl::StrCat(t.AtAsDouble(*i))
                                : absl::StrCat(t.AtAsInt64(*i));
  };
  return absl::StrCat("element ", *i, " of ", kernel.TypeToString(), " is ",
                      text(kernel), " from the kernel, ", text(loops),
                      " from the loops");
}

// The text of a module, of the first few failures only.
std::string Shown(const IRModule& module) {
  static int left = 10;
  return left-- > 0 ? ToText(module) : "";
}

// The operators of cases so far.
std::set<std::string>& Seen() {
  static auto& seen = *new std::set<std::string>;
  return seen;
}

void Check(const Case& c, uint32_t seed) {
  const std::string text =
      absl::StrCat("def @main(", c.params, ") { ", c.body, " }");
  SCOPED_TRACE(text);
  const IRModule module =
      testing::ParseTyped(absl::StrCat("#[version = \"0.0.5\"]\n", text));
  const Function function = module.Find<Function>("main");
  ASSERT_TRUE(function.defined());
  relay::PostOrderVisit(function, [](const ExprNode* node) {
    if (node->kind() == relay::ExprKind::kOp) {
      Seen().insert(static_cast<const OpNode*>(node)->name());
    }
  });
  const absl::StatusOr<LoweredFunction> lowered = LowerFunction(function, "f");
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  absl::StatusOr<std::vector<Value>> args = relay::RandomInputs(function, seed);
  ASSERT_TRUE(args.ok()) << args.status();
  std::mt19937 random(seed);
  for (Value& arg : *args) {
    if (!arg.is_tensor()) continue;
    if (c.special && arg.tensor().dtype().is_float()) {
      arg = Value(Special(arg.tensor(), random));
    }
    if (c.positive && arg.tensor().dtype().is_integral() &&
        !arg.tensor().dtype().is_bool()) {
      arg = Value(Positive(arg.tensor()));
    }
  }
  const absl::StatusOr<Value> expected =
      relay::EvaluateFunction(module, "main", *args);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const std::vector<Tensor> results = relay::TensorsOf(*expected);
  std::vector<Tensor> tensors;
  for (const Value& arg : *args) {
    for (Tensor& tensor : relay::TensorsOf(arg))
      tensors.push_back(std::move(tensor));
  }
  for (const relay::Constant& constant : lowered->constants) {
    tensors.push_back(constant->value());
  }
  const size_t num_inputs = tensors.size();
  for (const Tensor& result : results) {
    tensors.push_back(*Tensor::Zeros(result.dtype(), result.shape()));
  }
  const std::vector<tir::Argument> arguments(tensors.begin(), tensors.end());
  IRModule loops;
  loops.Set("f", lowered->function);
  const absl::StatusOr<std::vector<Tensor>> computed =
      tir::Interpret(lowered->function, arguments);
  ASSERT_TRUE(computed.ok()) << computed.status() << "\n" << Shown(loops);
  ASSERT_EQ(computed->size(), tensors.size());
  for (size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(Difference(results[i], (*computed)[num_inputs + i]), "")
        << "result " << i << "\n"
        << Shown(loops);
  }
  // Their text reads back.
  const absl::StatusOr<IRModule> read = ParseModule(ToText(loops));
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << Shown(loops);
  ASSERT_TRUE(StructuralEqual(*read, loops)) << Shown(loops);
}

const std::vector<std::string> kFloats = {"float32", "float64", "float16",
                                          "bfloat16"};
const std::vector<std::string> kIntegers = {
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};

std::vector<std::string> Numbers() {
  std::vector<std::string> all = kFloats;
  all.insert(all.end(), kIntegers.begin(), kIntegers.end());
  return all;
}

// Shapes whose elements are not many, with ones and odd extents.
Shape RandomShape(std::mt19937& random) {
  Shape shape;
  for (uint32_t rank = random() % 4; shape.size() < rank;) {
    shape.push_back(static_cast<int64_t>(random() % 2 == 0 ? 1 : random() % 7) +
                    static_cast<int64_t>(random() % 2));
    shape.back() = std::max<int64_t>(shape.back(), 1);
  }
  return shape;
}

// A shape that broadcasts with `shape`.
Shape Broadcastable(Shape shape, std::mt19937& random) {
  for (int64_t& extent : shape) {
    if (random() % 3 == 0) extent = 1;
  }
  const size_t dropped = shape.empty() ? 0 : random() % (shape.size() + 1);
  if (random() % 2 == 0) {
    shape.erase(shape.begin(), shape.begin() + static_cast<int64_t>(dropped));
  }
  return shape;
}

TEST(ComputationsTest, FunctionsOfOneElement) {
  std::mt19937 random(1);
  for (const char* op :
       {"acos",      "acosh", "asin",  "asinh", "atan",     "atanh",
        "cos",       "cosh",  "erf",   "exp",   "fast_erf", "fast_exp",
        "fast_tanh", "log",   "log10", "log2",  "rsqrt",    "sigmoid",
        "sin",       "sinh",  "sqrt",  "tan",   "tanh"}) {
    for (const std::string& dtype : kFloats) {
      Check({.params = absl::StrCat("%x: ", TypeText({3, 1, 17}, dtype)),
             .body = absl::StrCat(op, "(%x)"),
             .special = true},
            random());
    }
  }
  for (const char* op : {"abs", "ceil", "floor", "negative", "round", "sign",
                         "trunc", "isfinite", "isinf", "isnan", "nn.relu",
                         "zeros_like", "ones_like", "copy"}) {
    for (const std::string& dtype : Numbers()) {
      Check({.params = absl::StrCat("%x: ", TypeText({1, 5, 9}, dtype)),
             .body = absl::StrCat(op, "(%x)"),
             .special = true},
            random());
    }
  }
  for (const std::string& dtype : kIntegers) {
    Check({.params = absl::StrCat("%x: ", TypeText({9}, dtype)),
           .body = "bitwise_not(%x)"},
          random());
  }
  Check({.params = "%x: Tensor[(9), bool]", .body = "bitwise_not(%x)"}, 1);
  Check({.params = "%x: Tensor[(9), bool]", .body = "logical_not(%x)"}, 1);
}

TEST(ComputationsTest, FunctionsOfTwoElements) {
  std::mt19937 random(2);
  const auto check = [&](absl::string_view op, absl::string_view dtype,
                         bool special, bool positive) {
    for (int i = 0; i < 3; ++i) {
      const Shape shape = RandomShape(random);
      const Shape other = Broadcastable(shape, random);
      const bool swapped = random() % 2 == 0;
      Check({.params = absl::StrCat(
                 "%x: ", TypeText(swapped ? other : shape, dtype),
                 ", %y: ", TypeText(swapped ? shape : other, dtype)),
             .body = absl::StrCat(op, "(%x, %y)"),
             .special = special,
             .positive = positive},
            random());
    }
  };
  for (const char* op :
       {"add", "subtract", "multiply", "maximum", "minimum", "equal",
        "not_equal", "less", "less_equal", "greater", "greater_equal"}) {
    for (const std::string& dtype : Numbers()) check(op, dtype, true, false);
  }
  for (const char* op : {"divide", "floor_divide", "trunc_divide", "mod",
                         "floor_mod", "trunc_mod", "power"}) {
    for (const std::string& dtype : Numbers()) check(op, dtype, true, true);
  }
  for (const char* op : {"left_shift", "right_shift"}) {
    for (const std::string& dtype : kIntegers) check(op, dtype, false, true);
  }
  for (const char* op : {"bitwise_and", "bitwise_or", "bitwise_xor", "maximum",
                         "minimum", "equal", "not_equal", "less", "less_equal",
                         "greater", "greater_equal"}) {
    for (const std::string& dtype : kIntegers) check(op, dtype, false, false);
    check(op, "bool", false, false);
  }
  for (const char* op : {"logical_and", "logical_or", "logical_xor"}) {
    check(op, "bool", false, false);
  }
}

TEST(ComputationsTest, Conversions) {
  std::mt19937 random(3);
  std::vector<std::string> all = Numbers();
  all.push_back("bool");
  for (const std::string& from : all) {
    for (const std::string& to : all) {
      Check({.params = absl::StrCat("%x: ", TypeText({7, 11}, from)),
             .body = absl::StrCat("cast(%x, dtype=\"", to, "\")"),
             .special = true},
            random());
    }
    Check({.params = absl::StrCat("%x: ", TypeText({7}, from),
                                  ", %y: Tensor[(1), int8]"),
           .body = "cast_like(%x, %y)",
           .special = true},
          random());
    for (const char* bounds :
         {"a_min=-2.75f64, a_max=3.5f64", "a_min=-1000f64, a_max=1000f64",
          "a_min=0f64, a_max=6f64"}) {
      if (from == "bool") continue;
      Check({.params = absl::StrCat("%x: ", TypeText({7}, from)),
             .body = absl::StrCat("clip(%x, ", bounds, ")"),
             .special = true},
            random());
    }
    Check({.params = absl::StrCat(
               "%c: Tensor[(3, 1), bool], %x: ", TypeText({3, 5}, from),
               ", %y: ", TypeText({5}, from)),
           .body = "where(%c, %x, %y)",
           .special = true},
          random());
  }
  Check({.params = "%c: Tensor[(4), int32], %x: Tensor[(4), int8], "
                   "%y: Tensor[(1), int8]",
         .body = "where(%c, %x, %y)"},
        1);
  Check({.params = "%x: Tensor[(5), float32]",
         .body = "reinterpret(%x, dtype=\"int32\")",
         .special = true},
        1);
  Check({.params = "%x: Tensor[(5), int32]",
         .body = "fixed_point_multiply(%x, multiplier=1395864371, shift=-3)"},
        1);
  Check({.params = "%x: Tensor[(5), int32]",
         .body = "fixed_point_multiply(%x, multiplier=1395864371, shift=2)"},
        2);
}

TEST(ComputationsTest, Activations) {
  std::mt19937 random(4);
  for (const std::string& dtype : kFloats) {
    const auto check = [&](Shape shape, absl::string_view body,
                           absl::string_view more = "") {
      Check({.params = absl::StrCat("%x: ", TypeText(shape, dtype), more),
             .body = std::string(body),
             .special = true},
            random());
    };
    check({2, 3, 5}, "nn.leaky_relu(%x, alpha=0.1f64)");
    check({2, 3, 5}, "nn.prelu(%x, %a)",
          absl::StrCat(", %a: ", TypeText({3}, dtype)));
    check({2, 3, 5}, "nn.prelu(%x, %a, axis=2)",
          absl::StrCat(", %a: ", TypeText({5}, dtype)));
    check({2, 3, 5}, "nn.bias_add(%x, %a)",
          absl::StrCat(", %a: ", TypeText({3}, dtype)));
    check({2, 3, 5}, "nn.bias_add(%x, %a, axis=-1)",
          absl::StrCat(", %a: ", TypeText({5}, dtype)));
  }
  Check({.params = "%x: Tensor[(2, 3), int32], %a: Tensor[(3), int32]",
         .body = "nn.bias_add(%x, %a)"},
        1);
}

TEST(ComputationsTest, MatrixProducts) {
  std::mt19937 random(5);
  const std::vector<std::string> dtypes = {"float32", "float64", "float16",
                                           "int32", "int64"};
  for (const std::string& dtype : dtypes) {
    const auto check = [&](Shape a, Shape b, absl::string_view body) {
      Check({.params = absl::StrCat("%x: ", TypeText(a, dtype),
                                    ", %y: ", TypeText(b, dtype)),
             .body = std::string(body)},
            random());
    };
    const std::string dense = "nn.dense(%x, %y, units=None)";
    check({1, 1}, {1, 1}, dense);
    check({3, 7}, {5, 7}, dense);
    check({2, 128}, {3, 128}, dense);
    check({5, 129}, {3, 129}, dense);
    check({1, 300}, {17, 300}, dense);
    check({2, 1, 33}, {4, 33}, dense);
    check({1, 4700}, {2, 4700}, dense);
    check({4, 37}, {37, 3}, "nn.matmul(%x, %y, units=None)");
    check({37, 4}, {3, 37},
          "nn.matmul(%x, %y, units=None, transpose_a=True, transpose_b=True)");
    check({2, 3, 140}, {2, 5, 140},
          "nn.batch_matmul(%x, %y, transpose_b=True)");
    check({2, 140, 3}, {1, 140, 5},
          "nn.batch_matmul(%x, %y, transpose_a=True)");
    check({1, 3, 4}, {3, 4, 1}, "nn.batch_matmul(%x, %y)");
  }
  Check({.params = "%x: Tensor[(3, 1, 300), float32], "
                   "%y: Tensor[(3, 1, 300), float32]",
         .body = "nn.batch_matmul(%x, %y, transpose_b=True)"},
        1);
  Check({.params = "%x: Tensor[(3, 40), int8], %y: Tensor[(5, 40), int8]",
         .body = "nn.dense(%x, %y, units=None, out_dtype=\"int32\")"},
        1);
  Check({.params = "%x: Tensor[(3, 40), float16], %y: Tensor[(5, 40), float16]",
         .body = "nn.dense(%x, %y, units=None, out_dtype=\"float32\")"},
        1);
}

TEST(ComputationsTest, Normalizations) {
  std::mt19937 random(6);
  for (const char* dtype : {"float32", "float64", "float16"}) {
    const auto check = [&](Shape shape, absl::string_view body,
                           int64_t channels = 0, int vectors = 0) {
      std::string params = absl::StrCat("%x: ", TypeText(shape, dtype));
      for (int i = 0; i < vectors; ++i) {
        absl::StrAppend(&params, ", %v", i, ": ", TypeText({channels}, dtype));
      }
      Check({.params = params, .body = std::string(body)}, random());
    };
    for (const char* op : {"nn.softmax", "nn.log_softmax", "nn.fast_softmax"}) {
      const std::string call = absl::StrCat(op, "(%x)");
      check({3, 1}, call);
      check({2, 5}, call);
      check({2, 16}, call);
      check({1, 75}, call);
      check({2, 7, 3}, absl::StrCat(op, "(%x, axis=1)"));
      check({40, 1, 1}, absl::StrCat(op, "(%x, axis=0)"));
    }
    check({2, 3, 5}, "nn.layer_norm(%x, %v0, %v1)", 5, 2);
    check({2, 3, 37}, "nn.layer_norm(%x, %v0, %v1, center=False)", 37, 2);
    check({2, 37, 3}, "nn.layer_norm(%x, %v0, %v1, axis=1, scale=False)", 37,
          2);
    check({2, 3, 5, 7}, "nn.instance_norm(%x, %v0, %v1)", 3, 2);
    check({2, 5, 3}, "nn.instance_norm(%x, %v0, %v1, axis=2)", 3, 2);
    check({2, 6, 5, 1}, "nn.group_norm(%x, %v0, %v1, num_groups=3)", 6, 2);
    check({2, 5, 32}, "nn.group_norm(%x, %v0, %v1, num_groups=2, axis=2)", 32,
          2);
    check({2, 5, 4}, "nn.group_norm(%x, %v0, %v1, num_groups=2, axis=2)", 4, 2);
    check({2, 9, 3}, "nn.lrn(%x)");
    check({2, 9, 3}, "nn.lrn(%x, size=3, axis=2, beta=0.6f64)");
    for (const char* attrs :
         {"", ", center=False", ", scale=False", ", axis=2"}) {
      Check({.params = absl::StrReplaceAll(
                 "%x: Tensor[(2, 3, 3), T], %g: Tensor[(3), T], %b: "
                 "Tensor[(3), T], %m: Tensor[(3), T], %v: Tensor[(3), T]",
                 {{", T]", absl::StrCat(", ", dtype, "]")}}),
             .body = absl::StrCat("%0 = nn.batch_norm(%x, %g, %b, %m, "
                                  "multiply(%v, %v)",
                                  attrs, "); (%0.0, %0.1, %0.2)")},
            random());
    }
  }
}

// Floats and two integers.
const std::vector<std::string> kSome = {
    "float32", "float64", "float16", "bfloat16", "int8", "uint8", "int64"};

TEST(ComputationsTest, IndexMaps) {
  std::mt19937 random(7);
  const auto check = [&](absl::string_view params, absl::string_view body) {
    for (const char* dtype : {"float32", "int8", "bool"}) {
      Check({.params = absl::StrReplaceAll(params,
                                           {{"T]", absl::StrCat(dtype, "]")}}),
             .body = std::string(body)},
            random());
    }
  };
  const std::string x = "%x: Tensor[(2, 3, 1, 5), T]";
  check(x, "reshape(%x, newshape=[5, -1])");
  check(x, "reshape(%x, newshape=[1, 2, 3, 5, 1])");
  check(x, "reshape(%x, newshape=[30])");
  check("%x: Tensor[(), T]", "reshape(%x, newshape=[1, 1])");
  check("%x: Tensor[(1, 1), T]", "squeeze(%x)");
  check(x, "contrib_reverse_reshape(%x, newshape=[-1, 5])");
  check(absl::StrCat(x, ", %y: Tensor[(6, 5), T]"), "reshape_like(%x, %y)");
  check(x, "expand_dims(%x, axis=1, num_newaxis=2)");
  check(x, "squeeze(%x, axis=[2])");
  check(x, "nn.batch_flatten(%x)");
  check(x, "transpose(%x, axes=None)");
  check(x, "transpose(%x, axes=[0, 3, -2, 1])");
  check("%x: Tensor[(2, 3), T], %y: Tensor[(2, 1), T], %z: Tensor[(2, 5), T]",
        "concatenate((%x, %y, %z), axis=-1)");
  check("%t: (Tensor[(2, 3), T], Tensor[(1, 3), T])", "concatenate(%t)");
  check("%x: Tensor[(2, 3), T], %y: Tensor[(2, 3), T]",
        "stack((%x, %y), axis=-1)");
  check("%x: Tensor[(2, 3), T], %y: Tensor[(2, 3), T]", "stack((%x, %y, %x))");
  check("%x: Tensor[(2, 6), T]",
        "%0 = split(%x, indices_or_sections=3, axis=1); (%0.0, %0.1, %0.2)");
  check("%x: Tensor[(2, 6), T]",
        "%0 = split(%x, indices_or_sections=[1i64, 5i64], axis=-1); "
        "(%0.2, %0.0, %0.1)");
  check(x,
        "strided_slice(%x, begin=[0, 1], end=[2, 3], strides=[1], axes=None)");
  check(x, "strided_slice(%x, begin=[4], end=[-6], strides=[-2], axes=[3])");
  check(absl::StrCat(x, ", %y: Tensor[(1, 2, 1, 4), T]"),
        "slice_like(%x, %y, axes=None)");
  check("%x: Tensor[(2, 3), T]", "repeat(%x, repeats=3, axis=1)");
  check("%x: Tensor[(2, 3), T]", "tile(%x, reps=[2, 1, 3])");
  check("%x: Tensor[(2, 3), T]", "reverse(%x, axis=1)");
  check("%x: Tensor[(2, 1), T]", "broadcast_to(%x, shape=[3, 2, 4])");
  check("%x: Tensor[(2, 1), T], %y: Tensor[(2, 7), T]",
        "broadcast_to_like(%x, %y)");
  check("%x: Tensor[(1, 8, 3, 1), T]",
        "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW4c\")");
  check("%x: Tensor[(1, 2, 3, 1, 4), T]",
        "layout_transform(%x, src_layout=\"NCHW4c\", dst_layout=\"NHWC\")");
  check("%x: Tensor[(1, 3, 3, 5), T]",
        "layout_transform(%x, src_layout=\"NHWC\", dst_layout=\"NCHW4c\")");
  check("%x: Tensor[(1, 4, 3, 1, 4), T]",
        "layout_transform(%x, src_layout=\"NCHW4c\", dst_layout=\"NCHW8c\")");
  for (const char* indices : {"int32", "int64", "int8", "uint8"}) {
    for (const char* attrs :
         {"", ", axis=1", ", axis=1, mode=\"wrap\"", ", axis=-1"}) {
      Check({.params = absl::StrCat("%x: Tensor[(4, 5), float32], %i: ",
                                    TypeText({2, 3}, indices)),
             .body = absl::StrCat("take(%x, %i", attrs, ")")},
            random());
    }
  }
  Check({.params = "%x: Tensor[(2, 5, 3), float32], %i: Tensor[(2, 4), int32]",
         .body = "take(%x, %i, batch_dims=1, axis=1)"},
        1);
  Check({.params = "%x: Tensor[(9, 5), float32], %i: Tensor[(3), int32]",
         .body = "take(%x, %i, axis=0, mode=\"fast\")",
         .positive = true},
        1);
  Check({.params = "%x: Tensor[(16, 5), float32], %i: Tensor[(3, 5), int64]",
         .body = "gather(%x, %i, axis=0)"},
        1);
  const std::string p = "%x: Tensor[(2, 3), T], %v: Tensor[(), T]";
  check(p, "nn.pad(%x, %v, pad_width=[[0, 1], [2, 0]])");
  check(p, "nn.pad(%x, %v, pad_width=[[0, -1], [-2, 3]])");
  check(p, "nn.pad(%x, %v, pad_width=[[0, 1], [2, 4]], pad_mode=\"edge\")");
  check(p, "nn.pad(%x, %v, pad_width=[[0, 1], [2, 1]], pad_mode=\"reflect\")");
  check(p, "nn.pad(%x, %v, pad_width=[[0, 0], [0, 0]])");
  check("%x: Tensor[(2, 3), T]",
        "nn.mirror_pad(%x, pad_width=[[2, 1], [3, 0]])");
  check("%x: Tensor[(2, 3), T]",
        "nn.mirror_pad(%x, mode=\"REFLECT\", pad_width=[[1, 1], [2, 0]])");
  Check({.params = "%x: Tensor[(2, 3), float32]",
         .body = "nn.dilate(%x, strides=[2, 1], dilation_value=0.5f64)"},
        1);
  check("%x: Tensor[(2, 4, 3, 2), T]",
        "nn.space_to_batch_nd(%x, block_shape=[2, 3], paddings=[[0, 0], "
        "[1, 2]], pad_value=1f64)");
  check("%x: Tensor[(2, 6, 3), T]",
        "nn.space_to_batch_nd(%x, block_shape=[2], paddings=[[3, 1]])");
  check("%x: Tensor[(12, 2, 3, 2), T]",
        "nn.batch_to_space_nd(%x, block_shape=[2, 3], crops=[[0, 1], [2, 1]])");
  check("%x: Tensor[(3, 4, 2), T], %l: Tensor[(4), int32]",
        "sequence_mask(%x, %l, mask_value=1f64)");
  check("%x: Tensor[(3, 4, 2), T], %l: Tensor[(3), int64]",
        "sequence_mask(%x, %l, axis=1)");
  check("%x: Tensor[(2, 5, 7), T]",
        "sliding_window(%x, axis=1, window_shape=[2, 3], strides=[1, 2])");
  for (const char* indexing : {"ij", "xy"}) {
    check("%x: Tensor[(3), T], %y: Tensor[(2), T], %z: Tensor[(), T]",
          absl::StrCat("meshgrid((%x, %y, %z), indexing=\"", indexing, "\")"));
  }
  check("%x: Tensor[(2, 8, 4, 6), T]", "vision.yolo_reorg(%x, stride=2)");
  for (const std::string& dtype : Numbers()) {
    Check({.params = "%v: Tensor[(), float32]",
           .body = absl::StrCat("%0 = zeros(shape=[2, 3], dtype=\"", dtype,
                                "\"); %1 = ones(shape=[3], dtype=\"", dtype,
                                "\"); %2 = full(%v, shape=[2], dtype=\"", dtype,
                                "\"); (%0, %1, %2, full_like(%0, %v))")},
          random());
  }
}

// Images grow and shrink, by all methods, positions and roundings.
TEST(ComputationsTest, Resizes) {
  uint32_t seed = 0;
  const auto check = [&seed](const std::string& op, const Shape& shape,
                             const std::string& dtype,
                             const std::string& attrs) {
    Check({.params = absl::StrCat("%x: ", TypeText(shape, dtype)),
           .body = absl::StrCat(op, "(%x, ", attrs, ")"),
           .special = true},
          ++seed);
  };
  for (const char* method : {"nearest_neighbor", "linear", "cubic"}) {
    for (const char* mode :
         {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
          "tf_half_pixel_for_nn", "tf_crop_and_resize"}) {
      check("image.resize2d", {2, 3, 5, 4}, "float32",
            absl::StrCat("size=[3, 9], roi=[0.1f, 0f, 0.9f, 1f], method=\"",
                         method, "\", coordinate_transformation_mode=\"", mode,
                         "\""));
    }
    for (const std::string& dtype : Numbers()) {
      check("image.resize2d", {1, 4, 3, 2}, dtype,
            absl::StrCat("size=[6, 1], roi=[0f, 0f, 0f, 0f], layout=\"NHWC\", "
                         "method=\"",
                         method, "\""));
    }
    check("image.resize1d", {2, 3, 7}, "float32",
          absl::StrCat("size=[5], roi=[0f, 0f], method=\"", method,
                       "\", out_dtype=\"float64\""));
    check("image.resize2d", {1, 2, 3, 3}, "float32",
          absl::StrCat("size=[7, 5], roi=[0f, 0f, 0f, 0f], cubic_exclude=1, "
                       "cubic_alpha=-0.75f, method=\"",
                       method, "\""));
  }
  for (const char* rounding :
       {"round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
    check("image.resize3d", {1, 2, 3, 4, 5}, "float32",
          absl::StrCat("size=[2, 8, 5], roi=[0f, 0f, 0f, 0f, 0f, 0f], "
                       "method=\"nearest_neighbor\", rounding_method=\"",
                       rounding, "\""));
  }
  check("image.resize3d", {1, 2, 3, 4, 5}, "float32",
        "size=[2, 8, 5], roi=[0f, 0f, 0f, 0f, 0f, 0f], method=\"linear\"");
  for (const char* method : {"nearest_neighbor", "bilinear", "bicubic"}) {
    check("nn.upsampling", {1, 3, 4, 5}, "float32",
          absl::StrCat("scale_h=2f, scale_w=1.5f, method=\"", method, "\""));
    check("nn.upsampling", {1, 4, 5, 3}, "float32",
          absl::StrCat("scale_h=2f, scale_w=2f, layout=\"NHWC\", "
                       "align_corners=True, method=\"",
                       method, "\""));
  }
  check("nn.upsampling3d", {1, 2, 3, 2, 2}, "float32",
        "scale_d=2f, scale_h=1f, scale_w=2f, method=\"trilinear\"");
}

TEST(ComputationsTest, Triangles) {
  uint32_t seed = 0;
  for (const char* upper : {"True", "False"}) {
    for (const char* k : {"0i64", "-2i64", "1i64", "9000000000i64"}) {
      for (const char* dtype : {"float32", "float16", "int8", "bool"}) {
        Check({.params = absl::StrCat("%x: ", TypeText({2, 4, 5}, dtype)),
               .body = absl::StrCat("trilu(%x, ", k, ", upper=", upper, ")")},
              ++seed);
      }
    }
    Check({.params =
               absl::StrCat("%x: ", TypeText({4, 5}, "int32"), ", %k: int64"),
           .body = absl::StrCat("trilu(%x, mod(%k, 3i64), upper=", upper, ")")},
          ++seed);
  }
}

TEST(ComputationsTest, Ranges) {
  const std::pair<const char*, const char*> literals[] = {
      {"float32", "f"}, {"float64", "f64"}, {"int32", ""}, {"int64", "i64"}};
  for (const auto& [dtype, suffix] : literals) {
    const bool is_whole = dtype[0] == 'i';
    for (const auto& [start, stop, step] :
         {std::array<const char*, 3>{"2", "17", is_whole ? "4" : "2.5"},
          std::array<const char*, 3>{"17", "-3", is_whole ? "-6" : "-0.7"}}) {
      Check({.params = "%x: Tensor[(1), float32]",
             .body = absl::StrCat(
                 "(%x, arange(", start, suffix, ", ", stop, suffix, ", ", step,
                 suffix, ", start=", start, suffix, ", stop=", stop, suffix,
                 ", step=", step, suffix, ", dtype=\"", dtype, "\"))")},
            1);
    }
  }
}

TEST(ComputationsTest, Reductions) {
  std::mt19937 random(8);
  const auto check = [&](Shape shape, absl::string_view dtype,
                         absl::string_view body, bool special = true) {
    Check({.params = absl::StrCat("%x: ", TypeText(shape, dtype)),
           .body = std::string(body),
           .special = special},
          random());
  };
  for (const char* op : {"sum", "mean", "prod", "max", "min"}) {
    for (const std::string& dtype : kSome) {
      for (const bool special : {false, true}) {
        check({3, 1, 5}, dtype, absl::StrCat(op, "(%x)"), special);
        check({2, 37}, dtype, absl::StrCat(op, "(%x, axis=[1])"), special);
        check({3, 77}, dtype, absl::StrCat(op, "(%x, axis=[-1])"), special);
        check({75, 3}, dtype, absl::StrCat(op, "(%x, axis=[0], keepdims=True)"),
              special);
        check({3, 5, 9}, dtype,
              absl::StrCat(op, "(%x, axis=[1], exclude=True)"), special);
      }
    }
  }
  for (const char* op : {"argmax", "argmin"}) {
    for (const std::string& dtype : kSome) {
      for (const char* attrs :
           {"", ", axis=[1]", ", axis=[0, 2], keepdims=True",
            ", axis=[1], select_last_index=True"}) {
        check({3, 9, 5}, dtype, absl::StrCat(op, "(%x", attrs, ")"));
      }
    }
  }
  for (const char* op : {"all", "any"}) {
    check({3, 1}, "bool", absl::StrCat(op, "(%x, axis=[1])"));
    check({3, 2, 2}, "bool", absl::StrCat(op, "(%x, axis=[0])"));
    check({2, 2}, "bool", absl::StrCat(op, "(%x)"));
  }
  for (const char* dtype : {"float32", "float16", "float64"}) {
    for (const char* attrs : {"axis=[1]", "axis=[1], unbiased=True"}) {
      check({3, 19}, dtype,
            absl::StrCat("variance(%x, mean(%x, axis=[1], keepdims=True), ",
                         attrs, ")"),
            false);
    }
    check({2, 19, 3}, dtype, "nn.l2_normalize(%x, eps=1e-5f64, axis=[1])");
    check({2, 33}, dtype, "nn.l2_normalize(%x, eps=0.1f64, axis=[1])");
  }
}

TEST(ComputationsTest, Pools) {
  std::mt19937 random(9);
  const auto check = [&](Shape shape, absl::string_view body) {
    for (const std::string& dtype : kSome) {
      Check({.params = absl::StrCat("%x: ", TypeText(shape, dtype)),
             .body = std::string(body),
             .special = random() % 2 == 0},
            random());
    }
  };
  for (const char* op : {"max", "avg"}) {
    const auto pool = [&](Shape shape, absl::string_view dims,
                          absl::string_view attrs) {
      check(shape, absl::StrCat("nn.", op, "_pool", dims, "(%x, ", attrs, ")"));
    };
    pool({1, 2, 7}, "1d", "pool_size=[3], padding=[1, 1], strides=[2]");
    pool({2, 1, 5, 7}, "2d", "pool_size=[2, 3], padding=[0, 0, 0, 0]");
    pool({1, 2, 7, 5}, "2d",
         "pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]");
    pool({1, 5, 4, 3}, "2d",
         "pool_size=[2, 2], strides=[2, 1], padding=[0, 1, 1, 0], "
         "layout=\"NHWC\", dilation=[2, 1]");
    pool({1, 2, 5, 5, 4}, "2d",
         "pool_size=[2, 2], strides=[2, 2], ceil_mode=True, padding=[0, 0, 0, "
         "0], layout=\"NCHW4c\"");
    pool({1, 1, 3, 4, 5}, "3d",
         "pool_size=[2, 2, 3], padding=[0, 1, 0, 1, 0, 1], strides=[1, 2, 1]");
    for (const char* layout : {"NCHW", "NHWC"}) {
      check({1, 7, 6, 3}, absl::StrCat("nn.global_", op,
                                       "_pool2d(%x, layout=\"", layout, "\")"));
    }
    check({1, 2, 7},
          absl::StrCat("nn.adaptive_", op, "_pool1d(%x, output_size=[3])"));
    check({1, 2, 7, 6},
          absl::StrCat("nn.adaptive_", op, "_pool2d(%x, output_size=[3, 2])"));
    check({1, 3, 4, 5, 2},
          absl::StrCat("nn.adaptive_", op,
                       "_pool3d(%x, output_size=[2, 2, 3], layout=\"NDHWC\")"));
  }
  check({1, 2, 5, 5},
        "nn.avg_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1], "
        "count_include_pad=True)");
}

TEST(ComputationsTest, Convolutions) {
  std::mt19937 random(10);
  const auto check = [&](Shape data, Shape weight, absl::string_view op,
                         absl::string_view attrs) {
    for (const char* dtype : {"float32", "float16", "int8", "int32"}) {
      Check({.params = absl::StrCat("%x: ", TypeText(data, dtype),
                                    ", %w: ", TypeText(weight, dtype)),
             .body = absl::StrCat("nn.", op, "(%x, %w", attrs, ")")},
            random());
    }
  };
  check({1, 3, 9}, {4, 3, 3}, "conv1d", ", padding=[1, 1]");
  check({2, 3, 5, 6}, {4, 3, 3, 2}, "conv2d",
        ", strides=[2, 1], padding=[1, 0, 1, 1]");
  check({1, 19, 4, 3}, {2, 19, 3, 3}, "conv2d", ", padding=[1, 1, 1, 1]");
  check({1, 33, 3, 3}, {3, 33, 1, 1}, "conv2d", ", padding=[0, 0, 0, 0]");
  check({1, 140, 2, 2}, {2, 140, 1, 1}, "conv2d", ", padding=[0, 0, 0, 0]");
  check({1, 6, 5, 5}, {4, 3, 2, 2}, "conv2d",
        ", groups=2, padding=[0, 0, 0, 0], dilation=[2, 2]");
  check({1, 5, 6, 5}, {5, 1, 3, 3}, "conv2d",
        ", groups=5, padding=[1, 1, 1, 1]");
  check({1, 3, 4, 4}, {6, 1, 3, 3}, "conv2d",
        ", groups=3, padding=[1, 1, 1, 1]");
  check({1, 5, 6, 18}, {3, 3, 18, 4}, "conv2d",
        ", data_layout=\"NHWC\", kernel_layout=\"HWIO\", padding=[1, 1, 1, 1]");
  check({1, 5, 4, 3}, {3, 3, 3, 1}, "conv2d",
        ", groups=3, data_layout=\"NHWC\", kernel_layout=\"HWOI\", "
        "padding=[1, 1, 1, 1]");
  check({1, 2, 3, 4, 3}, {2, 2, 2, 3, 2}, "conv3d",
        ", padding=[0, 1, 0, 1, 1, 0]");
  check({1, 2, 5, 5, 4}, {2, 2, 3, 3, 4, 4}, "contrib_conv2d_NCHWc",
        ", padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3], "
        "data_layout=\"NCHW4c\", kernel_layout=\"OIHW4i4o\", "
        "out_layout=\"NCHW4c\"");
  check({1, 2, 5, 5, 4}, {2, 1, 3, 3, 1, 4}, "contrib_depthwise_conv2d_NCHWc",
        ", padding=[1, 1, 1, 1], groups=8, channels=8, kernel_size=[3, 3], "
        "data_layout=\"NCHW4c\", kernel_layout=\"OIHW1i4o\", "
        "out_layout=\"NCHW4c\"");
  check({1, 3, 5}, {3, 2, 3}, "conv1d_transpose",
        ", strides=[2], padding=[1, 1]");
  check({1, 3, 4, 3}, {3, 2, 3, 3}, "conv2d_transpose",
        ", strides=[2, 2], padding=[1, 1, 1, 1], output_padding=[1, 0]");
  check({1, 4, 3, 3}, {4, 2, 2, 2}, "conv2d_transpose",
        ", groups=2, padding=[0, 0, 0, 0]");
  check({1, 2, 2, 3, 2}, {2, 2, 2, 2, 2}, "conv3d_transpose",
        ", strides=[2, 1, 2], padding=[0, 0, 0, 0, 0, 0]");
}

// Statements whose order matters.
TEST(ComputationsTest, ScansAndSelections) {
  std::mt19937 random(11);
  const auto check = [&](const std::string& dtype, Shape shape,
                         absl::string_view body) {
    Check({.params = absl::StrCat("%x: ", TypeText(shape, dtype)),
           .body = std::string(body),
           .special = dtype[0] == 'f'},
          random());
  };
  for (const char* dtype :
       {"float32", "float64", "float16", "int8", "int64", "uint8"}) {
    for (const char* op : {"cumsum", "cumprod"}) {
      const auto call = [op](absl::string_view attrs) {
        return absl::StrCat(op, "(%x, ", attrs, ")");
      };
      check(dtype, {3, 7, 2}, call("axis=1"));
      check(dtype, {3, 7}, call("axis=-1, exclusive=True"));
      check(dtype, {2, 1}, call("axis=1"));
      check(dtype, {2, 3}, absl::StrCat(op, "(%x)"));
      check(dtype, {5}, call("axis=0, dtype=\"int32\""));
    }
    check(dtype, {2, 9}, "topk(%x, k=4, dtype=\"int32\")");
    check(dtype, {3, 9, 2}, "topk(%x, k=1, axis=1, dtype=\"int64\")");
    check(dtype, {9, 2}, "topk(%x, k=0, axis=0, is_ascend=True)");
    check(dtype, {2, 9}, "topk(%x, k=9, ret_type=\"values\")");
    check(dtype, {2, 30},
          "topk(%x, k=3, ret_type=\"indices\", dtype=\"int32\")");
    check(dtype, {2, 1100},
          "topk(%x, k=1030, dtype=\"int64\", is_ascend=True)");
    check(dtype, {1, 1100}, "topk(%x, k=1100, ret_type=\"values\")");
    check(dtype, {1100},
          "topk(%x, k=1100, ret_type=\"indices\", dtype=\"int32\")");
  }
  for (const char* dtype :
       {"float32", "float64", "float16", "int8", "int64", "uint8", "bool"}) {
    for (const int64_t extent : {1, 2, 3, 8, 37}) {
      for (const char* direction : {"True", "False"}) {
        for (const char* call :
             {"sort(%x, axis=1", "argsort(%x, axis=1, dtype=\"int32\"",
              "argsort(%x, axis=1, dtype=\"uint8\""}) {
          check(dtype, {2, extent, 3},
                absl::StrCat(call, ", is_ascend=", direction, ")"));
        }
      }
    }
    check(dtype, {4, 5}, "sort(%x)");
    check(dtype, {5}, "argsort(%x, axis=0, dtype=\"int64\")");
    for (const int64_t extent : {1, 2, 9, 130}) {
      for (const char* sorted : {"True", "False"}) {
        check(dtype, {extent}, absl::StrCat("unique(%x, sorted=", sorted, ")"));
        check(dtype, {extent},
              absl::StrCat("unique(%x, return_counts=True, sorted=", sorted,
                           ")"));
      }
    }
  }
}

TEST(ComputationsTest, FourierTransforms) {
  std::mt19937 random(15);
  for (const std::string& dtype : kFloats) {
    const auto check = [&](const std::string& params, absl::string_view body) {
      for (const bool special : {false, true}) {
        Check({.params = absl::StrReplaceAll(
                   params, {{"T]", absl::StrCat(dtype, "]")}}),
               .body = std::string(body),
               .special = special},
              random());
      }
    };
    for (const char* inverse : {"False", "True"}) {
      for (const char* shape : {"2, 7", "8", "2, 3, 1"}) {
        check(absl::StrCat("%x: Tensor[(", shape, "), T], %y: Tensor[(", shape,
                           "), T]"),
              absl::StrCat("dft(%x, %y, inverse=", inverse, ")"));
      }
    }
    for (const char* flags :
         {"", ", normalized=True", ", onesided=False, win_length=5"}) {
      check("%x: Tensor[(2, 17), T], %w: Tensor[(6), T]",
            absl::StrCat("stft(%x, %w, n_fft=6, hop_length=4", flags, ")"));
    }
    check("%x: Tensor[(9), T], %w: Tensor[(3), T]",
          "stft(%x, %w, n_fft=3, hop_length=1)");
  }
}

// Regions with sides in any order, in part and wholly outside of the map.
TEST(ComputationsTest, Regions) {
  std::mt19937 random(16);
  const std::string regions =
      "%0 = floor(multiply(abs(%n), 1.9f)); "
      "%1 = concatenate((%0, multiply(%b, 12f)), axis=1); ";
  for (const char* dtype : {"float32", "float16", "float64", "int8"}) {
    const std::string params =
        absl::StrCat("%x: ", TypeText({2, 3, 5, 6}, dtype),
                     ", %n: ", TypeText({9, 1}, "float32"),
                     ", %b: ", TypeText({9, 4}, "float32"));
    const auto check = [&](const std::string& call) {
      Check({.params = params, .body = absl::StrCat(regions, call)}, random());
    };
    for (const char* op : {"vision.roi_align", "vision.roi_align_half_pixel"}) {
      for (const char* mode : {"avg", "max"}) {
        for (const char* ratio : {"2", "-1"}) {
          for (const char* scale : {"1", "0.25"}) {
            check(absl::StrCat(op,
                               "(%x, %1, pooled_size=[2, 3], "
                               "spatial_scale=",
                               scale, "f64, sample_ratio=", ratio, ", mode=\"",
                               mode, "\")"));
          }
        }
      }
    }
    check("vision.roi_pool(%x, %1, pooled_size=[2, 3], spatial_scale=0.5f64)");
    check("vision.roi_pool(%x, %1, pooled_size=[1, 1], spatial_scale=1f64)");
  }
}

TEST(ComputationsTest, NonMaxSuppression) {
  std::mt19937 random(17);
  for (const char* most : {"0i64", "2i64", "100i64"}) {
    for (const char* overlap : {"0f", "0.2f", "0.9f"}) {
      for (const char* least : {"-2f", "0.1f"}) {
        for (const bool special : {false, true}) {
          Check({.params = "%b: Tensor[(2, 17, 4), float32], "
                           "%s: Tensor[(2, 3, 17), float32]",
                 .body = absl::StrCat(
                     "vision.all_class_non_max_suppression(%b, %s, ", most,
                     ", ", overlap, ", ", least, ")"),
                 .special = special},
                random());
        }
      }
    }
  }
  Check({.params = "%b: Tensor[(1, 6, 4), float32], "
                   "%s: Tensor[(1, 1, 6), float32], %m: Tensor[(1), int64], "
                   "%i: Tensor[(1), float32], %t: Tensor[(1), float32]",
         .body = "vision.all_class_non_max_suppression(%b, %s, %m, %i, %t)"},
        random());
}

// Sums over axes of one operand and of two, diagonals, repeated extents.
TEST(ComputationsTest, Einsum) {
  std::mt19937 random(13);
  const auto check = [&](const std::string& dtype,
                         const std::vector<Shape>& shapes,
                         absl::string_view equation) {
    SCOPED_TRACE(equation);
    std::vector<std::string> params;
    std::vector<std::string> names;
    for (const Shape& shape : shapes) {
      names.push_back(absl::StrCat("%p", names.size()));
      params.push_back(
          absl::StrCat(names.back(), ": ", TypeText(shape, dtype)));
    }
    Check({.params = absl::StrJoin(params, ", "),
           .body = absl::StrCat("einsum((", absl::StrJoin(names, ", "),
                                names.size() == 1 ? "," : "", "), equation=\"",
                                equation, "\")"),
           .special = dtype[0] == 'f'},
          random());
  };
  for (const char* dtype :
       {"float32", "float64", "float16", "int8", "int64", "uint32"}) {
    check(dtype, {{3, 5}, {5, 4}}, "ij,jk->ik");
    check(dtype, {{3, 40}, {40, 24}}, "ij,jk->ik");
    check(dtype, {{3, 40}, {24, 40}}, "ij,kj->ki");
    check(dtype, {{40, 3}, {40, 71}}, "ji,jk");
    check(dtype, {{2, 17, 3}, {2, 17, 3}}, "abc,abc->");
    check(dtype, {{2, 3, 4}}, "...ij->...ji");
    check(dtype, {{4, 4}}, "ii->i");
    check(dtype, {{20, 20, 2}}, "iij->j");
    check(dtype, {{3, 18}}, "ij->i");
    check(dtype, {{2, 3}, {4, 5}}, "ij,kl->kilj");
    check(dtype, {{2, 1, 3, 4}, {5, 4, 6}}, "...ij,...jk");
    check(dtype, {{2, 3}, {3, 4}, {4, 5}}, "ab,bc,cd->da");
    check(dtype, {{2, 3, 2}, {3, 33}, {2, 7}}, "aba,bc,ad->cd");
    check(dtype, {{}, {3}}, ",i->i");
    check(dtype, {{1, 3}, {4, 3}}, "ij,ij->i");
  }
}

TEST(ComputationsTest, GridSample) {
  std::mt19937 random(14);
  const auto check = [&](const std::string& dtype, Shape data, Shape grid,
                         absl::string_view grid_dtype, absl::string_view attrs,
                         bool special) {
    SCOPED_TRACE(attrs);
    Check({.params = absl::StrCat("%x: ", TypeText(data, dtype),
                                  ", %g: ", TypeText(grid, grid_dtype)),
           .body = absl::StrCat("image.grid_sample(%x, %g, ", attrs, ")"),
           .special = special},
          random());
  };
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (const char* align : {"True", "False"}) {
      for (const bool special : {false, true}) {
        for (const char* method : {"nearest", "bilinear", "bicubic"}) {
          const std::string attrs =
              absl::StrCat("method=\"", method, "\", padding_mode=\"", padding,
                           "\", align_corners=", align);
          check("float32", {2, 3, 5, 4}, {2, 2, 3, 6}, "float32", attrs,
                special);
          check("float32", {1, 2, 1, 7}, {1, 2, 4, 1}, "float32", attrs,
                special);
        }
        for (const char* method : {"nearest", "bilinear", "trilinear"}) {
          check("float32", {1, 2, 3, 2, 4}, {1, 3, 2, 3, 3}, "float32",
                absl::StrCat("layout=\"NCDHW\", method=\"", method,
                             "\", padding_mode=\"", padding,
                             "\", align_corners=", align),
                special);
        }
      }
    }
  }
  for (const char* dtype : {"float64", "float16", "int8", "uint8"}) {
    check(dtype, {1, 2, 3, 4}, {1, 2, 5, 3}, "float64",
          "method=\"bilinear\", padding_mode=\"border\"", false);
  }
}

// Bools are indices in range.
TEST(ComputationsTest, Indices) {
  std::mt19937 random(12);
  const auto check = [&](const std::string& params, absl::string_view body) {
    Check({.params = params, .body = std::string(body)}, random());
  };
  std::vector<std::string> combined = kSome;
  combined.push_back("bool");
  for (const std::string& dtype : combined) {
    for (const std::string mode : {"update", "add", "mul", "min", "max"}) {
      check(absl::StrCat("%x: ", TypeText({4, 3, 2}, dtype),
                         ", %i: ", TypeText({2, 5, 2}, "bool"),
                         ", %u: ", TypeText({2, 5, 2}, dtype)),
            absl::StrCat("scatter_elements(%x, cast(%i, dtype=\"int32\"), %u, "
                         "axis=1, reduction=\"",
                         mode, "\")"));
      check(
          absl::StrCat("%x: ", TypeText({2, 3, 4}, dtype),
                       ", %i: ", TypeText({2, 5}, "bool"),
                       ", %u: ", TypeText({5, 4}, dtype)),
          absl::StrCat("scatter_nd(%x, cast(%i, dtype=\"int64\"), %u, mode=\"",
                       mode, "\")"));
    }
  }
  for (const std::string& dtype : kSome) {
    check(absl::StrCat("%x: ", TypeText({2, 3, 4}, dtype),
                       ", %i: ", TypeText({2, 5}, "bool")),
          "gather_nd(%x, subtract(cast(%i, dtype=\"int64\"), 1i64))");
    check(absl::StrCat("%x: ", TypeText({3, 2, 4}, dtype),
                       ", %i: ", TypeText({1, 3, 5}, "bool")),
          "gather_nd(%x, cast(%i, dtype=\"int32\"), batch_dims=1)");
    check(absl::StrCat("%x: ", TypeText({2, 3, 4}, dtype),
                       ", %i: ", TypeText({5, 1}, "bool"),
                       ", %j: ", TypeText({3}, "bool")),
          "%0 = subtract(cast(%i, dtype=\"int64\"), 1i64); "
          "adv_index((%x, %0, cast(%j, dtype=\"uint8\")))");
    check(absl::StrCat("%x: ", TypeText({2, 3}, dtype),
                       ", %i: ", TypeText({}, "bool")),
          "adv_index((%x, cast(%i, dtype=\"int32\")))");
    check(absl::StrCat("%x: ", TypeText({5, 2, 3}, dtype),
                       ", %i: ", TypeText({2}, "bool")),
          "reverse_sequence(%x, cast(%i, dtype=\"int32\"), seq_axis=0, "
          "batch_axis=1)");
    check(absl::StrCat("%x: ", TypeText({3, 4}, dtype),
                       ", %i: ", TypeText({5}, "bool")),
          "take(%x, cast(%i, dtype=\"int64\"), axis=1, mode=\"fast\")");
    check(absl::StrCat("%i: ", TypeText({2, 3}, "bool"), ", %a: Tensor[(), ",
                       dtype, "], %b: Tensor[(), ", dtype, "]"),
          absl::StrCat("one_hot(cast(%i, dtype=\"int32\"), %a, %b, depth=3, "
                       "axis=1, dtype=\"",
                       dtype, "\")"));
    for (const char* layout : {"NCHW", "NHWC"}) {
      check(absl::StrCat("%x: ", TypeText({1, 8, 4, 12}, dtype)),
            absl::StrCat("nn.space_to_depth(%x, block_size=2, layout=\"",
                         layout, "\")"));
      for (const char* mode : {"DCR", "CDR"}) {
        check(absl::StrCat("%x: ", TypeText({1, 8, 4, 12}, dtype)),
              absl::StrCat("nn.depth_to_space(%x, block_size=2, layout=\"",
                           layout, "\", mode=\"", mode, "\")"));
      }
    }
  }
}

// An index out of range is no access out of bounds.
TEST(ComputationsTest, FailsWhereTheKernelFails) {
  const Tensor x = *Tensor::Zeros(DType::Float(32), {2, 2});
  for (const char* body :
       {"gather(%x, reshape(%i, newshape=[1, 2]), axis=0)",
        "gather_nd(%x, reshape(%i, newshape=[1, 2]))", "adv_index((%x, %i))",
        "take(%x, %i, axis=0, mode=\"fast\")",
        "scatter_elements(%x, reshape(%i, newshape=[1, 2]), "
        "strided_slice(%x, begin=[0], end=[1], strides=[1], axes=[0]))",
        "scatter_nd(%x, reshape(%i, newshape=[1, 2]), %x)",
        "reverse_sequence(%x, %i, seq_axis=1, batch_axis=0)"}) {
    SCOPED_TRACE(body);
    const IRModule module = testing::ParseTyped(absl::StrCat(
        "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 2), float32], "
        "%i: Tensor[(2), int64]) { ",
        body, " }"));
    const absl::StatusOr<LoweredFunction> lowered =
        LowerFunction(module.Find<Function>("main"), "f");
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    Shape shape;
    const Type& type = module.Find<Function>("main")->body()->type();
    for (const Dim& dim : type.As<TensorTypeNode>()->shape()) {
      shape.push_back(dim.value());
    }
    for (const int64_t index :
         {int64_t{0}, int64_t{1}, int64_t{-3}, int64_t{3}, int64_t{1} << 32}) {
      MutableTensor indices = *MutableTensor::Create(DType::Int(64), {2});
      const int64_t both[] = {0, index};
      std::memcpy(indices.data(), both, sizeof(both));
      const Tensor i = std::move(indices).Freeze();
      const absl::StatusOr<Value> expected =
          relay::EvaluateFunction(module, "main", {Value(x), Value(i)});
      EXPECT_EQ(expected.ok(), index == 0 || index == 1) << expected.status();
      const std::vector<tir::Argument> arguments = {
          x, i, *Tensor::Zeros(DType::Float(32), shape)};
      const absl::StatusOr<std::vector<Tensor>> computed =
          tir::Interpret(lowered->function, arguments);
      EXPECT_EQ(computed.ok(), expected.ok()) << computed.status();
    }
  }
}

// Calls that have a type, but for which there is no result, are no loops that
// read or write out of bounds.
TEST(ComputationsTest, RefusesWhatTheKernelRefuses) {
  const std::pair<const char*, const char*> kCalls[] = {
      {"%x: Tensor[(), float32], %y: Tensor[(), float32]", "dft(%x, %y)"},
      {"%x: Tensor[(2, 4), float32], %y: Tensor[(2, 2), float32]",
       "dft(%x, %y)"},
      {"%x: Tensor[(4), int32], %y: Tensor[(4), int32]", "dft(%x, %y)"},
      {"%x: Tensor[(2, 90), float32], %w: Tensor[(4), float32]",
       "stft(%x, %w, n_fft=6, hop_length=4)"},
      {"%x: Tensor[(2, 90), float32], %w: Tensor[(12), float32]",
       "stft(%x, %w, n_fft=6, hop_length=4, win_length=12)"},
      {"%x: Tensor[(100000), float32], %w: Tensor[(46340), float32]",
       "stft(%x, %w, n_fft=100000, hop_length=1, win_length=46340)"},
      {"%x: Tensor[(1, 2, 4, 4), float32], %r: Tensor[(9, 4), float32]",
       "vision.roi_pool(%x, %r, pooled_size=[1, 1], spatial_scale=1f64)"},
      {"%x: Tensor[(1, 2, 4, 4), float32], %r: Tensor[(9, 4), float32]",
       "vision.roi_align(%x, %r, pooled_size=[1, 1], spatial_scale=1f64)"},
      {"%b: Tensor[(1, 5, 4), float32], %s: Tensor[(1, 3, 17), float32]",
       "vision.all_class_non_max_suppression(%b, %s, 100i64, 0.5f, 0f)"},
      {"%b: Tensor[(1, 5, 3), float32], %s: Tensor[(1, 3, 5), float32]",
       "vision.all_class_non_max_suppression(%b, %s, 100i64, 0.5f, 0f)"},
      {"%x: Tensor[(1, 3, 2, 2), float32]", "vision.yolo_reorg(%x, stride=2)"},
      {"%x: Tensor[(2, 5, 7), float32]",
       "sliding_window(%x, axis=0, window_shape=[2], strides=[1])"},
  };
  for (const auto& [params, body] : kCalls) {
    const IRModule module = testing::ParseTyped(absl::StrCat(
        "#[version = \"0.0.5\"]\ndef @main(", params, ") { ", body, " }"));
    const absl::StatusOr<LoweredFunction> lowered =
        LowerFunction(module.Find<Function>("main"), "f");
    EXPECT_EQ(lowered.status().code(), absl::StatusCode::kUnimplemented)
        << body << ": " << lowered.status();
  }
}

// Loops of a call that no typed program has would read outside of the argument.
TEST(ComputationsTest, RefusesSlicesOfRepeatedAxes) {
  const IRModule module = testing::ParseTyped(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(8, 4), float32]) { "
      "strided_slice(%x, begin=[5], end=[6], strides=[1], axes=[0]) }");
  const relay::Function function = module.Find<Function>("main");
  ASSERT_TRUE(LowerFunction(function, "f").ok());
  relay::StridedSliceAttrs attrs{.begin = Shape{5, 5},
                                 .end = Shape{6, 6},
                                 .strides = Shape{1, 1},
                                 .axes = Shape{0, 0}};
  const auto* call = function->body().As<relay::CallNode>();
  ASSERT_NE(call, nullptr);
  const relay::Call repeated(call->op(), call->args(),
                             Attrs::Make(std::move(attrs)), {}, call->type());
  const relay::Function changed(
      {function->params().begin(), function->params().end()}, repeated,
      function->result_type(), {}, {}, function->type());
  const absl::StatusOr<LoweredFunction> lowered = LowerFunction(changed, "f");
  EXPECT_NE(lowered.status().message().find("axis 0 is repeated"),
            absl::string_view::npos)
      << lowered.status();
}

// Fused operators: intermediate buffers, tuples, constants, results that are
// parameters or occur twice.
TEST(ComputationsTest, Functions) {
  Check({.params = "%x: Tensor[(3, 5), float32], %w: Tensor[(4, 5), float32], "
                   "%b: Tensor[(4), float32]",
         .body = "nn.relu(nn.bias_add(nn.dense(%x, %w, units=4), %b))"},
        1);
  Check({.params = "%x: Tensor[(3, 5), float32]",
         .body = "%0 = exp(%x); (%x, %0, add(%0, 1f), %0)"},
        2);
  Check({.params = "%x: Tensor[(3, 5), float32], "
                   "%t: (Tensor[(3, 5), float32], Tensor[(5), float32])",
         .body = "(add(%x, %t.1), subtract(%t.0, %x))"},
        3);
}

// Whoever adds a computation adds a case.
TEST(ComputationsTest, EachComputationHasACase) {
  for (const OpNode* op : OpRegistry::Global().List()) {
    if (Computations().Get(*op) == nullptr) continue;
    EXPECT_TRUE(Seen().count(op->name()) == 1) << op->name();
  }
}

}  // namespace
}  // namespace baton::lower
