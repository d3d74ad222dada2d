#include "baton/tir/codegen/codegen_test_util.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/testing/golden.h"
#include "baton/testing/loops_values.h"
#include "baton/testing/random_loops.h"
#include "baton/testing/test_settings.h"
#include "baton/tir/codegen/function_parts.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {
namespace {

constexpr int64_t kFreeExtent = 3;

// Small numbers, so that they are often indices that exist.
Tensor RandomContents(DType dtype, absl::Span<const int64_t> shape,
                      std::mt19937& random) {
  MutableTensor result = *MutableTensor::Create(dtype, shape);
  VisitDType(dtype, [&]<typename T>() {
    for (T& x : result.span<T>()) {
      const int number = static_cast<int>(random() % 21) - 10;
      if constexpr (std::is_same_v<T, bool>) {
        x = number > 0;
      } else if constexpr (std::is_integral_v<T>) {
        x = static_cast<T>(number);
      } else {
        x = T(static_cast<float>(number) / 4.0f +
              static_cast<float>(random() % 1000) * 1e-3f);
      }
    }
  });
  return std::move(result).Freeze();
}

// An argument of a call, of a parameter as CppParam says.
std::string ArgumentText(const CppParam& param, const CppEmitted& emitted,
                         const PrimFuncNode* node) {
  const std::string cast = absl::StrCat("reinterpret_cast<", param.type, ">(");
  switch (param.kind) {
    case CppParam::Kind::kPointer:
      return absl::StrCat(cast, "a[", param.index, "])");
    case CppParam::Kind::kNumber:
      return absl::StrCat("*reinterpret_cast<", param.type, "*>(a[",
                          param.index, "])");
    case CppParam::Kind::kExtent: {
      for (const Buffer& buffer : node->buffers()) {
        for (const PrimExpr& extent : buffer->shape()) {
          if (extent.get() == param.variable) return absl::StrCat(kFreeExtent);
        }
      }
      return "0";
    }
    case CppParam::Kind::kConstant:
      return absl::StrCat("constant_", emitted.name, "_", param.index);
    case CppParam::Kind::kWorkspace:
      return "workspace";
  }
  return "";
}

void Append(std::string& bytes, int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Random expressions over all operations, as loops and as vectors.
class RandomBody {
 public:
  explicit RandomBody(uint32_t seed) : random_(seed) {}

  std::string Function(std::string& signature) {
    const char* const types[] = {"int32", "float32", "int64", "uint8",
                                 "int16", "float64", "uint32"};
    type_ = types[random_() % 7];
    const int lanes[] = {1, 1, 4, 8, 16};
    lanes_ = lanes[random_() % 5];
    signature = absl::StrCat("A: T.Buffer((64,), \"", type_,
                             "\"), B: T.Buffer((64,), \"", type_,
                             "\"), C: T.Buffer((64,), \"", type_, "\")");
    const int steps = 64 / lanes_;
    const std::string at =
        lanes_ == 1 ? "i"
                    : absl::StrCat("T.Ramp(i * ", lanes_, ", 1, ", lanes_, ")");
    return absl::StrCat("for i in range(", steps, "):\n    C[", at,
                        "] = ", Value(4));
  }

 private:
  bool is_float() const { return type_[0] == 'f'; }
  std::string Wide(const std::string& scalar) const {
    return lanes_ == 1
               ? scalar
               : absl::StrCat("T.Broadcast(", scalar, ", ", lanes_, ")");
  }
  std::string Type() const {
    return lanes_ == 1 ? type_ : absl::StrCat(type_, "x", lanes_);
  }

  std::string Leaf() {
    const char* const buffer = random_() % 2 == 0 ? "A" : "B";
    switch (random_() % 4) {
      case 0:
        return Wide(
            absl::StrCat("T.Cast(\"", type_, "\", ", random_() % 7, ")"));
      case 1:
        return Wide(absl::StrCat("T.Cast(\"", type_, "\", i)"));
      default:
        return absl::StrCat(buffer, "[",
                            lanes_ == 1 ? std::string("i")
                                        : absl::StrCat("T.Ramp(i * ", lanes_,
                                                       ", 1, ", lanes_, ")"),
                            "]");
    }
  }
  std::string Condition(int depth) {
    const char* const signs[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    return absl::StrCat("(", Value(depth), signs[random_() % 6], Value(depth),
                        ")");
  }
  std::string Value(int depth) {
    if (depth == 0) return Leaf();
    const std::string a = Value(depth - 1);
    const std::string b = random_() % 3 == 0 ? Leaf() : Value(depth - 1);
    const std::string one = Wide(absl::StrCat("T.Cast(\"", type_, "\", 1)"));
    switch (random_() % (is_float() ? 8 : 11)) {
      case 0:
        return absl::StrCat("(", a, " + ", b, ")");
      case 1:
        return absl::StrCat("(", a, " - ", b, ")");
      case 2:
        return absl::StrCat("(", a, " * ", b, ")");
      case 3:
        return absl::StrCat("T.max(", a, ", ", b, ")");
      case 4:
        return absl::StrCat("T.min(", a, ", ", b, ")");
      case 5:
        return absl::StrCat("T.Select(", Condition(depth - 1), ", ", a, ", ", b,
                            ")");
      case 6: {
        const char* const other[] = {"int32", "float32", "int8", "uint16",
                                     "int64"};
        const std::string through = other[random_() % 5];
        return absl::StrCat("T.Cast(\"", Type(), "\", T.Cast(\"", through,
                            lanes_ == 1 ? "" : absl::StrCat("x", lanes_),
                            "\", ", a, "))");
      }
      case 7:
        return is_float() ? absl::StrCat("(", a, " / ", b, ")")
                          : absl::StrCat("T.truncdiv(", a, ", T.max(", b, ", ",
                                         one, "))");
      case 8:
        return absl::StrCat("T.floordiv(", a, ", T.max(", b, ", ", one, "))");
      case 9:
        return absl::StrCat("T.floormod(", a, ", T.max(", b, ", ", one, "))");
      default:
        return absl::StrCat("T.bitwise_xor(", a, ", ", b, ")");
    }
  }

  std::mt19937 random_;
  std::string type_;
  int lanes_ = 1;
};

}  // namespace

std::vector<PrimFunc> FunctionsOf(absl::string_view text) {
  std::vector<PrimFunc> functions;
  const absl::StatusOr<IRModule> module = ParseModule(text, "test.tir");
  if (!module.ok()) return functions;
  for (const auto& [var, function] : module->functions()) {
    if (const auto* node = function.As<PrimFuncNode>()) {
      functions.push_back(PrimFunc(node));
    }
  }
  return functions;
}

PrimFunc Parsed(absl::string_view signature, absl::string_view body) {
  std::string text = absl::StrCat("@T.prim_func\ndef main(", signature, "):\n");
  for (absl::string_view line : absl::StrSplit(body, '\n')) {
    absl::StrAppend(&text, "    ", line, "\n");
  }
  const absl::StatusOr<IRModule> module = ParseModule(text, "test.tir");
  EXPECT_TRUE(module.ok()) << module.status().message() << "\n" << text;
  if (!module.ok()) return {};
  return PrimFunc(module->Find("main").As<PrimFuncNode>());
}

static absl::StatusOr<Case> MakeCaseOf(
    CppFunction function,
    absl::FunctionRef<Tensor(DType, absl::Span<const int64_t>)> contents) {
  Case made;
  std::vector<Argument> arguments;
  const PrimFuncNode* node = function.function.get();
  for (size_t i = 0; i < node->params().size(); ++i) {
    const Var& param = node->params()[i];
    const Buffer buffer = node->BufferOf(static_cast<int>(i));
    DType dtype = WithLanes(param.dtype(), 1);
    std::vector<int64_t> shape;
    if (buffer.defined()) {
      dtype = WithLanes(buffer.dtype(), 1);
      for (const PrimExpr& extent : buffer->shape()) {
        const auto* number = extent.As<IntImmNode>();
        if (number == nullptr && extent.As<VarNode>() == nullptr) {
          return absl::UnimplementedError("extents that are expressions");
        }
        shape.push_back(number == nullptr ? kFreeExtent : number->value());
      }
    } else if (param->typed_pointer()) {
      dtype = WithLanes(param->element(), 1);
      shape.push_back(4096);
    }
    int64_t elements = 1;
    for (const int64_t extent : shape) elements *= extent;
    if (!dtype.IsStorable() || elements > 1 << 16) {
      return absl::UnimplementedError("the parameters");
    }
    Tensor tensor = contents(dtype, shape);
    if (shape.empty() && !buffer.defined()) {
      if (dtype.is_float()) {
        arguments.push_back(Argument(tensor.AtAsDouble(0)));
      } else {
        arguments.push_back(
            Argument(static_cast<int64_t>(tensor.AtAsDouble(0))));
      }
    } else {
      arguments.push_back(Argument(tensor));
    }
    made.arguments.push_back(std::move(tensor));
  }
  InterpretOptions options;
  options.check_regions = false;
  options.max_steps = 3'000'000;
  absl::StatusOr<std::vector<Tensor>> expected =
      Interpret(function.function, arguments, options);
  if (!expected.ok()) return expected.status();
  made.expected = *std::move(expected);
  made.function = std::move(function);
  return made;
}

absl::StatusOr<Case> MakeCase(CppFunction function, uint32_t seed) {
  std::mt19937 random(seed);
  return MakeCaseOf(std::move(function),
                    [&random](DType dtype, absl::Span<const int64_t> shape) {
                      return RandomContents(dtype, shape, random);
                    });
}

Case MadeCase(std::string symbol, absl::string_view signature,
              absl::string_view body) {
  const PrimFunc function = Parsed(signature, body);
  if (!function.defined()) return {};
  static uint32_t seed = 0;
  absl::StatusOr<Case> made =
      MakeCase({std::move(symbol), function, "layer/one"}, ++seed);
  EXPECT_TRUE(made.ok()) << made.status().message() << "\n" << body;
  return made.ok() ? *std::move(made) : Case();
}

bool HasTool(const std::string& name) {
  return std::system(
             absl::StrCat(name, " --version >/dev/null 2>&1").c_str()) == 0;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string TemporaryBase(absl::string_view name) {
  const char* const temporary = std::getenv("TEST_TMPDIR");
  return absl::StrCat(temporary == nullptr ? "/tmp" : temporary, "/", name, "_",
                      getpid());
}

std::string CallerText(const std::vector<Case>& cases,
                       absl::Span<const CppEmitted> emitted) {
  std::string text;
  int64_t workspace = 64;
  for (size_t i = 0; i < cases.size(); ++i) {
    const CppEmitted& one = emitted[i];
    workspace = std::max(workspace, one.workspace_bytes);
    for (size_t k = 0; k < one.constants.size(); ++k) {
      std::vector<std::string> values;
      const Tensor& data = one.constants[k];
      for (int64_t e = 0; e < data.num_elements(); ++e) {
        values.push_back(absl::StrCat(data.AtAsDouble(e)));
      }
      absl::StrAppend(&text, "static const ", CppElementType(data.dtype()),
                      " constant_", one.name, "_", k, "[] = {",
                      absl::StrJoin(values, ", "), "};\n");
    }
  }
  absl::StrAppend(&text, "alignas(64) static unsigned char workspace[",
                  workspace, "];\n");
  std::string table;
  for (size_t i = 0; i < cases.size(); ++i) {
    const CppEmitted& one = emitted[i];
    std::vector<std::string> arguments;
    for (const CppParam& param : one.params) {
      arguments.push_back(
          ArgumentText(param, one, cases[i].function.function.get()));
    }
    absl::StrAppend(&table, "    case ", i, ":\n      ",
                    one.can_fail ? "return " : "", one.name, "(",
                    absl::StrJoin(arguments, ", "), ");\n      ",
                    one.can_fail ? "" : "return 0;\n");
  }
  absl::StrAppend(&text,
                  "int Call(int number, unsigned char** a) {\n"
                  "  (void)a;\n  (void)workspace;\n"
                  "  switch (number) {\n",
                  table, "    default:\n      return 2;\n  }\n}\n");
  return text;
}

const char kDriver[] = R"(
#include <cstdint>
#include <cstdio>
#include <cstdlib>
namespace generated { int Call(int number, unsigned char** arguments); }
int main() {
  int64_t head[2];
  while (std::fread(head, sizeof(head), 1, stdin) == 1) {
    unsigned char* arguments[64];
    int64_t sizes[64];
    for (int64_t i = 0; i < head[1]; ++i) {
      if (std::fread(&sizes[i], sizeof(int64_t), 1, stdin) != 1) return 3;
      arguments[i] = static_cast<unsigned char*>(std::aligned_alloc(
          64, (sizes[i] + 63) / 64 * 64 + (sizes[i] == 0 ? 64 : 0)));
      if (sizes[i] > 0 &&
          std::fread(arguments[i], sizes[i], 1, stdin) != 1) return 3;
    }
    const int64_t result = generated::Call(static_cast<int>(head[0]), arguments);
    std::fwrite(&result, sizeof(result), 1, stdout);
    for (int64_t i = 0; i < head[1]; ++i) {
      std::fwrite(arguments[i], 1, sizes[i], stdout);
      std::free(arguments[i]);
    }
  }
  return 0;
}
)";

::testing::AssertionResult HoldsValues(const char* memory,
                                       const Tensor& expected) {
  if (!expected.dtype().is_float()) {
    if (std::memcmp(expected.data(), memory,
                    static_cast<size_t>(expected.bytes().size())) == 0) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "other integers";
  }
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  VisitDType(expected.dtype(), [&]<typename T>() {
    if constexpr (!std::is_integral_v<T>) {
      for (int64_t i = 0; i < expected.num_elements(); ++i) {
        T a, b;
        std::memcpy(&a,
                    static_cast<const char*>(expected.data()) + i * sizeof(T),
                    sizeof(T));
        std::memcpy(&b, memory + i * sizeof(T), sizeof(T));
        const double x = static_cast<double>(a);
        const double y = static_cast<double>(b);
        if ((x != x && y != y) || std::memcmp(&a, &b, sizeof(T)) == 0) continue;
        result = ::testing::AssertionFailure()
                 << "element " << i << " is " << y << ", not " << x;
        return;
      }
    }
  });
  return result;
}

void RunAndCompare(const std::vector<Case>& cases, const std::string& program,
                   const std::string& description) {
  std::string input;
  for (size_t i = 0; i < cases.size(); ++i) {
    Append(input, static_cast<int64_t>(i));
    Append(input, static_cast<int64_t>(cases[i].arguments.size()));
    for (const Tensor& argument : cases[i].arguments) {
      Append(input, static_cast<int64_t>(argument.bytes().size()));
      absl::StrAppend(&input, argument.bytes());
    }
  }
  std::ofstream(program + ".in", std::ios::binary) << input;
  ASSERT_EQ(std::system(absl::StrCat(program, " <", program, ".in >", program,
                                     ".out 2>", program, ".log")
                            .c_str()),
            0)
      << FileText(program + ".log").substr(0, 4000);
  const std::string output = FileText(program + ".out");
  size_t at = 0;
  for (const Case& one : cases) {
    int64_t result = 0;
    ASSERT_LE(at + sizeof(result), output.size());
    std::memcpy(&result, output.data() + at, sizeof(result));
    at += sizeof(result);
    EXPECT_EQ(result, 0) << one.function.symbol;
    size_t k = 0;
    for (size_t i = 0; i < one.arguments.size(); ++i) {
      const size_t bytes = one.arguments[i].bytes().size();
      ASSERT_LE(at + bytes, output.size());
      // The interpreter gives back memory only.
      const PrimFuncNode* node = one.function.function.get();
      const bool is_memory = node->params()[i].dtype() == kHandle;
      if (is_memory) {
        const Tensor& expected = one.expected[k++];
        EXPECT_TRUE(HoldsValues(output.data() + at, expected))
            << one.function.symbol << ", parameter " << i << " ("
            << expected.TypeToString() << "), " << description;
      }
      at += bytes;
    }
  }
  EXPECT_EQ(at, output.size());
}

// --- Cases -------------------------------------------------------------------

std::vector<Case> StatementCases() {
  std::vector<Case> cases;
  // The body writes what the end of the loop is made of.
  cases.push_back(MadeCase("ends", "A: T.Buffer((8,), \"int32\")",
                           R"(A[0] = 5
for i in range(A[0]):
    A[0] = 2
    A[1] = i)"));
  cases.push_back(
      MadeCase("class", "A: T.Buffer((8,), \"float32\")", R"(for i in range(8):
    if i < 3:
        A[i] = T.float32(1)
    else:
        A[i] = A[i] + T.float32(0.1))"));
  cases.push_back(MadeCase("rt", "A: T.Buffer((6, 4), \"float32\"), n: T.int32",
                           R"(B = T.allocate([4096], "float32", "global")
C = T.allocate([24], "float32", "global")
B_1 = T.decl_buffer((4096,), data=B)
C_1 = T.decl_buffer((24,), data=C)
for i in range(6):
    for j in T.unroll(4):
        B_1[i * 4 + j] = A[i, j] * T.float32(2)
for i in T.parallel(6):
    for j in range(1, 4):
        C_1[i * 4 + j] = B_1[i * 4 + j] - T.Cast("float32", n)
for i in range(6):
    for j in range(1, 4):
        A[i, j] = C_1[i * 4 + j])"));
  cases.push_back(MadeCase("loops \"", "A: T.Buffer((8,), \"int32\")",
                           R"(k = T.allocate([1], "int32", "global")
k_1 = T.decl_buffer((1,), "int32", data=k)
k_1[0] = 0
while k_1[0] < 8:
    x: T.int32 = k_1[0] * 3
    y = T.int32()
    A[k_1[0]] = x + T.Let(y * y, where={y: x - 2})
    k_1[0] = k_1[0] + 1)"));
  return cases;
}

std::vector<Case> IntegerCases() {
  std::vector<Case> cases;
  for (const char* dtype : {"int8", "int16", "int32", "int64", "uint8",
                            "uint16", "uint32", "uint64"}) {
    const std::string signature = absl::StrCat(
        "A: T.Buffer((16,), \"", dtype, "\"), B: T.Buffer((16,), \"", dtype,
        "\"), C: T.Buffer((16, 16), \"", dtype, "\")");
    std::string body = "for i in range(16):\n";
    const auto add = [&](absl::string_view value) {
      static int k = 0;
      absl::StrAppend(&body, "    C[i, ", k++ % 16, "] = ", value, "\n");
    };
    for (const char* value :
         {"A[i] + B[i] * A[i]", "A[i] * A[i] * A[i] - B[i]",
          "T.max(A[i], B[i]) - T.min(A[i], B[i])",
          "T.Select(A[i] < B[i], A[i], B[i] * B[i])",
          "T.if_then_else(A[i] >= B[i], A[i], B[i])",
          "T.bitwise_xor(T.bitwise_and(A[i], B[i]), T.bitwise_not(A[i]))",
          "T.shift_left(A[i], B[i])", "T.shift_right(A[i], B[i])"}) {
      add(value);
    }
    for (const char* value :
         {"A[i] // T.max(B[i], T.Cast(\"$\", 3))",
          "A[i] % T.max(B[i], T.Cast(\"$\", 3))",
          "T.truncdiv(A[i], T.max(B[i], T.Cast(\"$\", 1)))",
          "T.truncmod(A[i], T.max(B[i], T.Cast(\"$\", 1)))",
          "T.Cast(\"$\", T.Cast(\"float32\", A[i]) * T.float32(1e9))",
          "T.Cast(\"$\", T.Cast(\"float64\", A[i]) * T.float64(-1e30))",
          "T.Cast(\"$\", T.Cast(\"int8\", A[i] * B[i]))",
          "T.Cast(\"$\", T.Cast(\"bool\", A[i])) + T.Cast(\"$\", A[i] != "
          "B[i])"}) {
      add(absl::StrReplaceAll(value, {{"$", dtype}}));
    }
    body.pop_back();
    cases.push_back(MadeCase(dtype, signature, body));
    // Exponents of more than the bits of any type.
    cases.push_back(MadeCase(
        absl::StrCat("power_", dtype), signature,
        absl::StrReplaceAll(
            "for i in range(16):\n"
            "    C[i, 0] = T.pow(A[i], T.max(B[i], T.Cast(\"$\", 0)))\n"
            "    C[i, 1] = T.pow(A[i], T.Cast(\"$\", 101))",
            {{"$", dtype}})));
  }
  return cases;
}

std::vector<Case> FloatCases() {
  std::vector<Case> cases;
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64"}) {
    const std::string signature = absl::StrCat(
        "A: T.Buffer((16,), \"", dtype, "\"), B: T.Buffer((16,), \"", dtype,
        "\"), C: T.Buffer((16, 16), \"", dtype, "\")");
    std::string body = "for i in range(16):\n";
    int k = 0;
    for (const char* value :
         {"A[i] + B[i] * A[i]", "(A[i] - B[i]) / A[i] - B[i]",
          "T.max(A[i], B[i]) - T.min(A[i], T.Cast(\"$\", 0.0))",
          "T.floor(A[i]) + T.ceil(B[i])", "T.trunc(A[i]) * T.round(B[i])",
          "T.sqrt(A[i])", "T.fabs(A[i])", "T.floormod(A[i], B[i])",
          "T.truncmod(A[i], B[i])", "T.Cast(\"$\", T.isnan(T.sqrt(A[i])))",
          "T.Cast(\"$\", T.Cast(\"int32\", A[i]))",
          "T.Cast(\"$\", T.Cast(\"bool\", A[i]))", "T.exp2(A[i])",
          "T.nearbyint(A[i])", "T.copysign(A[i], B[i])",
          "T.Cast(\"$\", T.float32(1) / T.Cast(\"float32\", A[i]))"}) {
      absl::StrAppend(&body, "    C[i, ", k++,
                      "] = ", absl::StrReplaceAll(value, {{"$", dtype}}), "\n");
    }
    body.pop_back();
    cases.push_back(MadeCase(dtype, signature, body));
  }
  // Functions of the C library.
  cases.push_back(MadeCase(
      "library",
      "A: T.Buffer((16,), \"float64\"), B: T.Buffer((16,), \"float64\"), C: "
      "T.Buffer((16, 3), \"float64\")",
      "for i in range(16):\n"
      "    C[i, 0] = T.call_pure_extern(\"float64\", \"exp\", A[i])\n"
      "    C[i, 1] = T.call_pure_extern(\"float64\", \"log\", T.fabs(A[i]))\n"
      "    C[i, 2] = T.call_pure_extern(\"float64\", \"pow\", T.fabs(A[i]), "
      "B[i] + T.float64(0.5))"));
  return cases;
}

std::vector<Case> VectorCases() {
  std::vector<Case> cases;
  const auto add = [&cases](absl::string_view type, absl::string_view body) {
    cases.push_back(
        MadeCase(absl::StrCat("v", cases.size()),
                 absl::StrCat("A: T.Buffer((64,), \"", type,
                              "\"), B: T.Buffer((64,), \"", type,
                              "\"), C: T.Buffer((64,), \"", type, "\")"),
                 body));
  };
  for (const char* type :
       {"float32", "float64", "int32", "int8", "uint16", "int64", "float16"}) {
    for (const int lanes : {2, 3, 8, 16, 32}) {
      const auto ramp = [&](absl::string_view base, int stride) {
        return absl::StrCat("T.Ramp(", base, ", ", stride, ", ", lanes, ")");
      };
      add(type, absl::StrCat("for i in range(2):\n    C[", ramp("i * 32", 1),
                             "] = A[", ramp("i * 32", 1), "] * B[",
                             ramp("i", 2), "] + T.Broadcast(T.Cast(\"", type,
                             "\", 3), ", lanes, ")"));
      add(type, absl::StrCat("C[", ramp("63", -1), "] = T.Select(A[",
                             ramp("0", 1), "] < B[", ramp("0", 1), "], A[",
                             ramp("1", 1), "], T.max(B[", ramp("0", 1), "], A[",
                             ramp("0", 1), "]))"));
      // Reads and writes overlap.
      add(type, absl::StrCat("C[", ramp("1", 1), "] = C[", ramp("0", 1), "]"));
    }
  }
  add("int32",
      "C[T.Ramp(0, 1, 8)] = T.Ramp(A[0], B[0], 8) // "
      "T.max(B[T.Ramp(0, 1, 8)], T.Broadcast(1, 8))");
  add("int32",
      "C[T.Ramp(0, 1, 8)] = A[T.max(T.min(B[T.Ramp(0, 1, 8)], "
      "T.Broadcast(63, 8)), T.Broadcast(0, 8))]");
  add("float32", "C[0:4] = T.Cast(\"float32x4\", T.Cast(\"int32x4\", A[0:4]))");
  add("float32", "C[0:8] = T.fma(A[0:8], B[0:8], C[0:8])");
  add("float32", "C[0:16] = T.fma(A[0:16], B[0:16], C[0:16])");
  add("float32", "C[0:4] = T.Shuffle([A[0:2], B[0:2]], [3, 0, 2, 1])");
  return cases;
}

std::vector<Case> RandomExpressionCases() {
  std::vector<Case> cases;
  // Case 131 has `0 - float(i)`, which g++ 12 takes as `-float(i)`: -0 for i = 0.
  const int count = ::baton::testing::NightlyLongOrShort(130, 80, 60);
  for (int i = 0; i < count; ++i) {
    RandomBody random(static_cast<uint32_t>(i) + 1);
    std::string signature;
    const std::string body = random.Function(signature);
    cases.push_back(MadeCase(absl::StrCat("random", i), signature, body));
  }
  return cases;
}

std::vector<Case> RandomLoopCases(int count) {
  std::vector<Case> cases;
  const auto seeds = static_cast<uint32_t>(
      ::baton::testing::NightlyLongOrShort(4 * count, 2 * count, count));
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    ::baton::testing::RandomLoopsOptions options;
    options.blocks = false;
    options.statements = seed % 2 == 1;
    options.vectors = seed % 4 > 1;
    const PrimFunc function = ::baton::testing::RandomLoops(seed, options);
    absl::StatusOr<Case> made =
        MakeCaseOf({absl::StrCat("loops", seed), function, ""},
                   [](DType dtype, absl::Span<const int64_t> shape) {
                     return *::baton::testing::SmallIntegers(dtype, shape);
                   });
    EXPECT_TRUE(made.ok()) << made.status().message() << "\n"
                           << AsText(::baton::testing::ModuleOfLoops(function));
    if (made.ok()) cases.push_back(*std::move(made));
  }
  return cases;
}

std::vector<Case> Sample(std::vector<Case> cases) {
  if (::baton::testing::IsLongTest()) return cases;
  std::vector<Case> result;
  for (size_t i = 0; i < cases.size(); i += 3) {
    result.push_back(std::move(cases[i]));
  }
  return result;
}

std::vector<Case> RecordedCases(
    absl::FunctionRef<bool(const CppFunction&)> can_write) {
  const std::string text = ::baton::testing::ReadFileOrFail(
      ::baton::testing::RunfilePath("tir/testdata/scripts.txt"));
  std::vector<Case> cases;
  int refused = 0;
  int not_interpreted = 0;
  for (absl::string_view section : absl::StrSplit(text, "\n----- ")) {
    const size_t line = section.find('\n');
    if (line == absl::string_view::npos) continue;
    for (const PrimFunc& function : FunctionsOf(section.substr(line + 1))) {
      const CppFunction one{std::string(section.substr(0, line)), function,
                            std::string(section.substr(0, line))};
      // The C library's functions of floats and the interpreter's differ from
      // the house's in last places.
      const std::string script(section);
      bool rounds = false;
      for (const char* name : {"T.exp", "T.tanh", "T.sigmoid", "T.log", "T.pow",
                               "T.sin", "T.cos", "T.erf", "T.tan", "T.rsqrt"}) {
        rounds |= absl::StrContains(script, name);
      }
      if (!can_write(one)) {
        ++refused;
        continue;
      }
      absl::StatusOr<Case> made = MakeCase(one, 7);
      if (!made.ok() || rounds) {
        ++not_interpreted;
        continue;
      }
      cases.push_back(*std::move(made));
    }
  }
  std::cout << cases.size() << " functions; " << refused << " are refused, "
            << not_interpreted << " have no values to compare\n";
  return cases;
}

std::vector<Case> MathCases() {
  struct Function {
    const char* name;
    absl::StatusOr<Tensor> (*kernel)(const Tensor&);
  };
  constexpr Function kFunctions[] = {
      {"exp", kernels::Exp},     {"tanh", kernels::Tanh},
      {"erf", kernels::Erf},     {"sigmoid", kernels::Sigmoid},
      {"log", kernels::Log},     {"log2", kernels::Log2},
      {"log10", kernels::Log10}, {"sin", kernels::Sin},
      {"cos", kernels::Cos},     {"tan", kernels::Tan},
      {"sinh", kernels::Sinh},   {"cosh", kernels::Cosh},
      {"asin", kernels::Asin},   {"acos", kernels::Acos},
      {"atan", kernels::Atan},   {"asinh", kernels::Asinh},
      {"acosh", kernels::Acosh}, {"atanh", kernels::Atanh},
      {"rsqrt", kernels::Rsqrt}, {"sqrt", kernels::Sqrt},
  };
  constexpr int64_t kCount = 4096;
  std::vector<Case> cases;
  for (const char* dtype : {"float32", "float64"}) {
    for (const Function& function : kFunctions) {
      for (const bool in_vectors : {false, true}) {
        const PrimFunc loops = Parsed(
            absl::StrCat("A: T.Buffer((4096,), \"", dtype,
                         "\"), B: T.Buffer((4096,), \"", dtype, "\")"),
            in_vectors
                ? absl::StrCat("for i in range(512):\n    B[T.Ramp(i * 8, 1, "
                               "8)] = T.",
                               function.name, "(A[T.Ramp(i * 8, 1, 8)])")
                : absl::StrCat("for i in range(4096):\n    B[i] = T.",
                               function.name, "(A[i])"));
        std::mt19937 random(3);
        MutableTensor x =
            *MutableTensor::Create(*DType::Parse(dtype), {kCount});
        VisitDType(x.dtype(), [&]<typename T>() {
          if constexpr (std::is_floating_point_v<T>) {
            int64_t i = 0;
            for (T& v : x.span<T>()) {
              const double unit = static_cast<double>(random()) / 0x1p32 - 0.5;
              v = static_cast<T>(i % 4 == 0   ? unit * 2
                                 : i % 4 == 1 ? unit * 20
                                 : i % 4 == 2 ? unit * 300
                                              : unit * 1e7);
              ++i;
            }
          }
        });
        const Tensor argument = std::move(x).Freeze();
        const absl::StatusOr<Tensor> expected = function.kernel(argument);
        EXPECT_TRUE(expected.ok()) << expected.status();
        if (!expected.ok()) continue;
        Case one;
        one.function = {absl::StrCat(function.name, "_", dtype), loops, ""};
        one.arguments = {argument, argument};
        one.expected = {argument, *expected};
        cases.push_back(std::move(one));
      }
    }
  }
  return cases;
}

}  // namespace baton::tir
