// Libraries of models, compiled and run.

#include "baton/backend/library/compile_model.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/library/compiled_test.h"
#include "baton/backend/library/plan_values.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/instrument_bound_checkers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Call;
using relay::Var;

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kScale[] = R"(@T.prim_func
def scale(x: T.Buffer((4, 8), "float32"), w: T.Buffer((8,), "float32"), y: T.Buffer((4, 8), "float32")):
    T.func_attr({"tir.noalias": T.bool(True)})
    for i in range(4):
        for j in range(8):
            y[i, j] = T.max(x[i, j] * w[j], T.float32(0))
)";
constexpr char kAdd[] = R"(@T.prim_func
def add(x: T.Buffer((4, 8), "float32"), s: T.Buffer((4, 8), "float32"), y: T.Buffer((4, 8), "float32")):
    for i in range(4):
        for j in range(8):
            y[i, j] = x[i, j] + s[i, j]
)";

tir::PrimFunc Parsed(const char* text, absl::string_view name) {
  const absl::StatusOr<IRModule> module = ParseModule(text, "test.tir");
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? module->Find<tir::PrimFunc>(name) : tir::PrimFunc();
}

TensorType MapType() { return TensorType({Dim(4), Dim(8)}, DType::Float(32)); }

// y = add(relu(x * w), state), and y is the next state. `swapped`: the operands
// of add change places.
IRModule Accumulator(bool swapped = false) {
  IRModule module;
  module.Set("scale", Parsed(kScale, "scale"));
  module.Set("add", Parsed(kAdd, "add"));
  const Var x("x", MapType());
  const Var state("state", MapType());
  const relay::Constant w(*Tensor::FromValues<float>(
      {8}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  const Call scaled(module.FindGlobalVar("scale"), {x, w}, Attrs(), {},
                    MapType());
  const Expr first = swapped ? Expr(state) : Expr(scaled);
  const Expr second = swapped ? Expr(scaled) : Expr(state);
  const Call sum(module.FindGlobalVar("add"), {first, second}, Attrs(), {},
                 MapType());
  module.Set("main",
             relay::Function({x, state}, relay::Tuple({sum, scaled, sum})));
  return module;
}

CompileModelOptions Options() {
  CompileModelOptions options;
  options.name = "accumulator";
  options.cpp_class = "acme::models::Accumulator";
  options.model = "a*/b.onnx";
  options.input_names = {"input.1", "class"};
  options.output_names = {"sum", "input/1", "next"};
  options.isas = {tir::CppIsa::kAvx512, tir::CppIsa::kAvx2, tir::CppIsa::kSse2};
  return options;
}

std::string Folder() { return ::testing::TempDir(); }

void WriteObject(const tir::ElfObject& object, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const absl::Status status =
      WriteElfObject(object, [&file](absl::string_view part) {
        file << part;
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
}

bool Has(const std::string& tool) {
  return std::system(
             absl::StrCat(tool, " --version >/dev/null 2>&1").c_str()) == 0;
}

// The output of a command in the folder of the test; `exit` where it fails.
std::string OutputOf(const std::string& command) {
  const std::string path = Folder() + "/output";
  const int code = std::system(
      absl::StrCat("cd ", Folder(), " && ", command, " >", path, " 2>&1")
          .c_str());
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (code != 0) text << "exit " << code;
  return text.str();
}

constexpr char kUse[] = R"(
#include <cstdio>
#include "accumulator.h"
alignas(64) static unsigned char arena[acme::models::Accumulator::kArenaBytes];
int main() {
  acme::models::Accumulator model(arena);
  float x[32], sum[32], scaled[32];
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i - 8);
  for (int run = 0; run < 3; ++run) {
    model.Run({x}, {sum, scaled});
    std::printf("%g %g %g\n", sum[0], sum[9], scaled[31]);
  }
  model.Reset();
  model.Run({x}, {sum, scaled});
  std::printf("%g\n", sum[9]);
  return acme::models::Accumulator::IsSupported() ? 0 : 1;
}
)";

TEST(CompileModelTest, StateIsKeptBetweenRuns) {
  CompileModelOptions options = Options();
  options.state = {{"next", "class"}};
  const absl::StatusOr<CompiledModel> model =
      CompileModel(Accumulator(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->weight_bytes, 32);
  EXPECT_GE(model->arena_bytes, model->arena_lower_bound);
  // The places of the state are exchanged: nothing is copied.
  EXPECT_THAT(model->files[0].text, HasSubstr("is_odd_ = !is_odd_;"));
  EXPECT_THAT(model->files[3].text, Not(HasSubstr("memcpy(arena")));
  for (const CompiledModel::File& file : model->files) {
    std::ofstream(absl::StrCat(Folder(), "/", file.name)) << file.text;
  }
  WriteObject(model->weights, Folder() + "/accumulator_weights.o");
  std::ofstream(Folder() + "/use.cc") << kUse;
  for (const char* compiler : {"g++", "clang++"}) {
    if (!Has(compiler)) continue;
    const std::string flags =
        " -Wall -Wextra -Werror -fno-exceptions -fno-rtti -O2 ";
    EXPECT_EQ(
        OutputOf(absl::StrCat(compiler, " -std=c++17", flags,
                              "-c accumulator_avx512.cc accumulator_avx2.cc "
                              "accumulator_sse2.cc && ",
                              // The header is C++11.
                              compiler, " -std=c++11", flags,
                              "use.cc accumulator_*.o -o use && ./use")),
        "0 2 184\n0 4 184\n0 6 184\n2\n")
        << compiler;
  }
  if (!Has("g++") || !Has("nm")) GTEST_SKIP() << "there is no g++ or no nm";
  // Functions of libc alone are undefined beside the model's own.
  for (absl::string_view line :
       absl::StrSplit(OutputOf("nm -u accumulator_sse2.o accumulator_avx2.o "
                               "accumulator_avx512.o"),
                      '\n', absl::SkipWhitespace())) {
    EXPECT_TRUE(absl::StrContains(line, "accumulator_") ||
                absl::StrContains(line, "memcpy") ||
                absl::StrContains(line, "memset"))
        << line;
  }
  // Functions that models share: weak, in groups, and no shared library's.
  EXPECT_THAT(OutputOf("readelf -s -W accumulator_sse2.o | grep scale_"),
              HasSubstr("WEAK   HIDDEN"));
  EXPECT_THAT(OutputOf("readelf -S -W accumulator_sse2.o"),
              Not(HasSubstr(".init_array")));
}

TEST(CompileModelTest, NoOutputAndNoInputIsStateTwice) {
  CompileModelOptions options = Options();
  options.state = {{"next", "class"}, {"next", "class"}};
  EXPECT_THAT(CompileModel(Accumulator(), options).status().message(),
              HasSubstr("is state twice"));
}

TEST(CompileModelTest, EqualModelsGiveEqualFiles) {
  const absl::StatusOr<CompiledModel> first =
      CompileModel(Accumulator(), Options());
  const absl::StatusOr<CompiledModel> second =
      CompileModel(Accumulator(), Options());
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_EQ(first->files.size(), 5u);
  for (size_t i = 0; i < first->files.size(); ++i) {
    EXPECT_EQ(first->files[i].text, second->files[i].text);
  }
  const std::string& header = first->files[0].text;
  EXPECT_THAT(header, HasSubstr("const float* input_1;  // float32[4,8]"));
  EXPECT_THAT(header, HasSubstr("const float* class_;"));
  EXPECT_THAT(header, HasSubstr("float* input_1;"));
  EXPECT_THAT(header, HasSubstr("The model a./b.onnx."));
  EXPECT_THAT(first->files[4].text, HasSubstr("\"weight_bytes\":32"));
}

// The symbol of the weights has the hash that ties header, sources and object.
TEST(CompileModelTest, OperandsOfStepsAreHashed) {
  const absl::StatusOr<CompiledModel> first =
      CompileModel(Accumulator(), Options());
  const absl::StatusOr<CompiledModel> second =
      CompileModel(Accumulator(/*swapped=*/true), Options());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->weights.tables[0].symbol, second->weights.tables[0].symbol);
}

// The checks of InstrumentBoundCheckers end a run before the access.
TEST(CompileModelTest, ChecksBounds) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  IRModule module;
  module.Set("pick", Parsed(R"(@T.prim_func
def pick(x: T.Buffer((8,), "float32"), i: T.Buffer((4,), "int32"), y: T.Buffer((4,), "float32")):
    T.attr(x.data, "buffer_bound", T.tvm_tuple(8))
    for k in range(4):
        y[k] = x[i[k]]
)",
                            "pick"));
  const Var x("x", TensorType({Dim(8)}, DType::Float(32)));
  const Var i("i", TensorType({Dim(4)}, DType::Int(32)));
  module.Set("main",
             relay::Function(
                 {x, i}, Call(module.FindGlobalVar("pick"), {x, i}, Attrs(), {},
                              TensorType({Dim(4)}, DType::Float(32)))));
  const absl::StatusOr<IRModule> checked =
      tir::InstrumentBoundCheckers()(module);
  ASSERT_TRUE(checked.ok()) << checked.status();
  CompileModelOptions options;
  options.name = "picked";
  options.cpp_class = "Picked";
  options.isas = {tir::CppIsa::kSse2};
  const absl::StatusOr<CompiledModel> model = CompileModel(*checked, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const CompiledModel::File& file : model->files) {
    std::ofstream(absl::StrCat(Folder(), "/", file.name)) << file.text;
  }
  WriteObject(model->weights, Folder() + "/picked_weights.o");
  std::ofstream(Folder() + "/picked_use.cc") << R"(
#include <cstdio>
#include "picked.h"
int main() {
  alignas(64) unsigned char arena[Picked::kArenaBytes];
  Picked model(arena);
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[4];
  const int indices[4] = {0, 7, 8, -1};
  for (const int last : indices) {
    const std::int32_t i[4] = {1, 7, last, 2};
    const int code = static_cast<int>(model.Run({x, i}, {y}));
    std::printf("%d %g\n", code, y[0]);
  }
}
)";
  EXPECT_EQ(OutputOf("g++ -std=c++17 -Wall -Wextra -Werror -O1 "
                     "-fsanitize=address,undefined -fno-sanitize-recover=all "
                     "picked_use.cc picked_sse2.cc picked_weights.o -o picked "
                     "-lm && ./picked"),
            "0 1\n0 1\n1 1\n1 1\n");
}

TEST(CompileModelTest, NamesAllOperatorsWithoutLoops) {
  IRModule module;
  module.Set("scale", Parsed(kScale, "scale"));
  const Var x("x", MapType());
  const Expr x_args[] = {x};
  const Call first(Op::Find("exp"), x_args, Attrs(), {}, MapType());
  const Expr first_args[] = {first};
  const Call second(Op::Find("tanh"), first_args, Attrs(), {}, MapType());
  module.Set("main", relay::Function({x}, second));
  const absl::Status status = CompileModel(module, Options()).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("operator exp has no loops: it cannot be compiled"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("operator tanh"));
}

TEST(CompileModelTest, RefusesFlags) {
  CompileModelOptions options = Options();
  options.state = {{"sum", "nothing"}};
  EXPECT_EQ(CompileModel(Accumulator(), options).status().message(),
            "--state: the model has no input nothing; it has input.1, class");
  options = Options();
  options.cpp_class = "acme::class";
  EXPECT_EQ(CompileModel(Accumulator(), options).status().message(),
            "--cpp_class=acme::class: 'class' is no C++ identifier (write "
            "acme::Mlp)");
}

TEST(CompileModelTest, RunsTakeALimitedNumberOfThreads) {
  CompileModelOptions options = Options();
  options.threads = true;
  for (const int threads : {-1, 0, 65, std::numeric_limits<int>::max()}) {
    options.max_threads = threads;
    EXPECT_EQ(
        CompileModel(Accumulator(), options).status().message(),
        absl::StrCat("--max_threads=", threads, ": it must be from 1 to 64"));
  }
  options.max_threads = 1;
  options.isas = {tir::CppIsa::kSse2};
  const absl::StatusOr<CompiledModel> model =
      CompileModel(Accumulator(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(model->files[0].text, HasSubstr("kMaxThreads = 1;"));
  EXPECT_THAT(model->files[1].text, HasSubstr("const int level = 0;"));
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  for (const CompiledModel::File& file : model->files) {
    std::ofstream(absl::StrCat(Folder(), "/", file.name)) << file.text;
  }
  EXPECT_EQ(OutputOf("g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only "
                     "accumulator_sse2.cc"),
            "");
}

TEST(PlanValuesTest, AnyNanHasTheHashOfAnyOther) {
  // Numbers, of which the last ones are NaN; bytes are those of the machine.
  const auto bytes = [](auto... elements) {
    std::string result;
    const auto add = [&](auto element) {
      result.append(reinterpret_cast<const char*>(&element), sizeof(element));
    };
    (add(elements), ...);
    return result;
  };
  const struct {
    DType dtype;
    std::string a, same, other;
  } kCases[] = {
      {DType::Float(16),
       bytes(uint16_t{0x7c00}, uint16_t{0xfc00}, uint16_t{0x7e00}),
       bytes(uint16_t{0x7c00}, uint16_t{0xfc00}, uint16_t{0xfc01}),
       bytes(uint16_t{0x7c00}, uint16_t{0x7c00}, uint16_t{0x7e00})},
      {DType::BFloat(16), bytes(uint16_t{0x7f80}, uint16_t{0x7fc0}),
       bytes(uint16_t{0x7f80}, uint16_t{0xff81}),
       bytes(uint16_t{0xff80}, uint16_t{0x7fc0})},
      {DType::Float(32),
       bytes(uint32_t{0x7f800000}, uint32_t{0x80000000}, uint32_t{0x7fc00000}),
       bytes(uint32_t{0x7f800000}, uint32_t{0x80000000}, uint32_t{0xffc00000}),
       bytes(uint32_t{0x7f800000}, uint32_t{0}, uint32_t{0x7fc00000})},
      {DType::Float(64),
       bytes(uint64_t{0x7ff0000000000000}, uint64_t{0x7ff8000000000000}),
       bytes(uint64_t{0x7ff0000000000000}, uint64_t{0xfff8000000000001}),
       bytes(uint64_t{0x7ff0000000000000}, uint64_t{0xfff0000000000000})},
      {DType::Int(32), bytes(uint32_t{0x7fc00000}), bytes(uint32_t{0x7fc00000}),
       bytes(uint32_t{0xffc00000})},
  };
  for (const auto& one : kCases) {
    const FloatFormat format = FloatFormatOf(one.dtype);
    EXPECT_EQ(HashOfBytes(one.a, format), HashOfBytes(one.same, format))
        << one.dtype;
    EXPECT_NE(HashOfBytes(one.a, format), HashOfBytes(one.other, format))
        << one.dtype;
  }
  EXPECT_NE(HashOfBytes("ab", {}), HashOfBytes({"ab", 3}, {}));
}

TEST(CompileModelTest, TestsCompareWithGivenValues) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  CompileModelOptions options = Options();
  options.isas = {tir::CppIsa::kSse2};
  const absl::StatusOr<CompiledModel> model =
      CompileModel(Accumulator(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const CompiledModel::File& file : model->files) {
    std::ofstream(absl::StrCat(Folder(), "/", file.name)) << file.text;
  }
  WriteObject(model->weights, Folder() + "/accumulator_weights.o");
  // The tests do not compare which NaN an element is.
  std::vector<float> values(32, 1);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  const Tensor ones = *Tensor::FromValues<float>({4, 8}, values);
  std::vector<float> scaled;
  std::vector<float> sum;
  for (int i = 0; i < 32; ++i) {
    scaled.push_back(static_cast<float>(i % 8 + 1));
    sum.push_back(scaled.back() + 1);
  }
  scaled[3] = sum[3] = std::copysign(values[3], -1.0f);
  for (const bool wrong : {false, true}) {
    if (wrong) sum[7] += 1;
    const Tensor sums = *Tensor::FromValues<float>({4, 8}, sum);
    const TestCase test_case = {
        {},
        {ones, ones},
        {sums, *Tensor::FromValues<float>({4, 8}, scaled), sums}};
    const CompiledTest test =
        MakeCompiledTest(options, {}, absl::MakeConstSpan(&test_case, 1));
    std::ofstream(Folder() + "/accumulator_test.cc") << test.source;
    WriteObject(test.data, Folder() + "/accumulator_test_data.o");
    const std::string output = OutputOf(
        "g++ -std=c++17 -Wall -Wextra -Werror accumulator_test.cc "
        "accumulator_sse2.cc accumulator_weights.o accumulator_test_data.o -o "
        "accumulator_test && ./accumulator_test");
    if (wrong) {
      EXPECT_THAT(output, HasSubstr("output 0 differs from the evaluator's"));
    } else {
      EXPECT_EQ(output, "sse2\n");
    }
  }
}

}  // namespace
}  // namespace baton
