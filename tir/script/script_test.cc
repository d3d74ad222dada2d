// Texts that the reference printed are read, and printed byte for byte.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/text_file.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/script_printer.h"
#include "baton/tir/ir/script_reader.h"
#include "baton/tir/ir/stmt.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;

struct Recorded {
  std::string name;
  std::string text;
};

const std::vector<Recorded>& Texts() {
  static const auto& texts = *[] {
    auto* result = new std::vector<Recorded>;
    const absl::StatusOr<std::string> file =
        ReadTextFile("tir/testdata/scripts.txt");
    EXPECT_TRUE(file.ok()) << file.status();
    if (!file.ok()) return result;
    for (absl::string_view line : absl::StrSplit(*file, '\n')) {
      if (absl::ConsumePrefix(&line, "----- ")) {
        result->push_back({std::string(line), ""});
      } else if (!result->empty()) {
        absl::StrAppend(&result->back().text, line, "\n");
      }
    }
    // The part behind the last line feed is no line.
    if (!result->empty()) result->back().text.pop_back();
    return result;
  }();
  return texts;
}

IRModule Parsed(absl::string_view text) {
  absl::StatusOr<IRModule> module = ParseModule(text, "test.tir");
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? *std::move(module) : IRModule();
}

std::string Mistake(absl::string_view text) {
  return std::string(ParseModule(text, "test.tir").status().message());
}

TEST(ScriptTest, RecordedTextsComeBackByteForByte) {
  EXPECT_GT(Texts().size(), 100u);
  for (const Recorded& recorded : Texts()) {
    SCOPED_TRACE(recorded.name);
    const absl::StatusOr<IRModule> module =
        ParseModule(recorded.text, recorded.name);
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(AsText(*module), recorded.text);
  }
}

// The reference reads -0 as Python does, as 0: the sign would be lost.
TEST(ScriptTest, NumbersComeBackAsTheyWere) {
  for (const char* const number : {"T.float32(-0)",
                                   "T.float32(0)",
                                   "T.float64(-0)",
                                   "T.float16(-0)",
                                   "T.bfloat16(-0)",
                                   "T.e4m3_float8(-0)",
                                   "T.Broadcast(T.float32(-0), 4)",
                                   "T.float32(\"inf\")",
                                   "T.float64(\"-inf\")",
                                   "T.float16(\"nan\")",
                                   "T.bfloat16(\"-inf\")",
                                   "T.e5m2_float8(\"inf\")",
                                   "T.e5m2_float8(\"nan\")",
                                   "T.float64(1.7976931348623157e+308)",
                                   "T.float64(4.9406564584124654e-324)",
                                   "T.float64(1.2345678901234567e+19)",
                                   "T.float32(16777217)",
                                   "T.float16(65504)",
                                   "T.int64(9223372036854775807)",
                                   "T.int64(-9223372036854775808)",
                                   "T.uint64(9223372036854775807)",
                                   "T.uint64(-1)",
                                   "-2147483648",
                                   "T.int8(-128)",
                                   "T.uint8(255)"}) {
    const std::string text = absl::StrCat(
        "@I.ir_module\nclass Module:\n    @T.prim_func\n"
        "    def main():\n        T.evaluate(",
        number, ")\n");
    EXPECT_EQ(AsText(Parsed(text)), text);
  }
  const auto evaluates = [](absl::string_view number) {
    return Parsed(absl::StrCat("@T.prim_func\ndef main():\n    T.evaluate(",
                               number, ")\n"));
  };
  EXPECT_FALSE(
      StructuralEqual(evaluates("T.float32(-0)"), evaluates("T.float32(0)")));
  for (const char* const number : {"-0.0", "T.float32(-0.0)", "-T.float32(0)",
                                   "T.float32(---0)", "T.float32(0.0 * -1)"}) {
    EXPECT_TRUE(StructuralEqual(evaluates(number), evaluates("T.float32(-0)")))
        << number;
  }
  const std::string constant =
      "@I.ir_module\nclass Module:\n    @T.prim_func\n    def main():\n"
      "        c = T.allocate_const([0, -0, \"inf\", \"-inf\", \"nan\"], "
      "\"float32\", [5])\n"
      "        T.evaluate(c)\n";
  EXPECT_EQ(AsText(Parsed(constant)), constant);
}

// Free variables match by position.
constexpr StructuralEqualOptions kMapFree = {.map_free_vars = true};

TEST(ScriptTest, NumbersAreReadAsPythonReadsThem) {
  const auto evaluates = [](absl::string_view number) {
    return absl::StrCat("@T.prim_func\ndef main():\n    T.evaluate(", number,
                        ")\n");
  };
  for (const absl::string_view number :
       {"0x10", "0X1_0", "0x_10", "0o20", "0b1_0000", "1_6", "16"}) {
    EXPECT_TRUE(
        StructuralEqual(Parsed(evaluates(number)), Parsed(evaluates("16"))))
        << number;
  }
  EXPECT_TRUE(StructuralEqual(Parsed(evaluates("1_000.5")),
                              Parsed(evaluates("1000.5"))));
  for (const absl::string_view number :
       {"0x", "0b12", "0o8", "0xg", "1_", "1a", "0x10_", "0x1__0", "012", "0_1",
        "1__0", "1._5"}) {
    EXPECT_THAT(Mistake(evaluates(number)), HasSubstr("this is no number"))
        << number;
  }
  EXPECT_THAT(Mistake(evaluates("0x10000000000000000")),
              HasSubstr("this integer has more than 64 bits"));
}

TEST(ScriptTest, ReadingTwiceGivesEqualModules) {
  for (const Recorded& recorded : Texts()) {
    SCOPED_TRACE(recorded.name);
    const IRModule a = Parsed(recorded.text);
    const IRModule b = Parsed(recorded.text);
    EXPECT_TRUE(StructuralEqual(a, b, kMapFree));
    EXPECT_EQ(StructuralHash(a), StructuralHash(b));
  }
}

TEST(ScriptTest, BinaryFilesKeepAllThatIsPrinted) {
  for (const Recorded& recorded : Texts()) {
    SCOPED_TRACE(recorded.name);
    const IRModule module = Parsed(recorded.text);
    const absl::StatusOr<BinaryModule> binary = WriteBinary(module);
    ASSERT_TRUE(binary.ok()) << binary.status();
    const absl::StatusOr<BinaryContent> read =
        ReadBinary(binary->ToString(), nullptr, "file");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(AsText(read->module), recorded.text);
    EXPECT_TRUE(StructuralEqual(module, read->module, kMapFree));
  }
}

constexpr absl::string_view kText = R"(@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi] * T.float32(2)
)";

TEST(ScriptTest, NamesOfVariablesDoNotCount) {
  const IRModule module = Parsed(kText);
  const IRModule renamed = Parsed(absl::StrReplaceAll(
      kText, {{"vi", "vx"}, {"for i in", "for k in"}, {", i)", ", k)"}}));
  EXPECT_TRUE(StructuralEqual(module, renamed));
  EXPECT_EQ(StructuralHash(module), StructuralHash(renamed));
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{
           {"range(16)", "range(15)"},
           {"spatial(", "reduce("},
           {"B[vi] = A[vi]", "B[vi] = B[vi]"},
           {"T.float32(2)", "T.float32(3)"},
           {"range(", "T.parallel("},
           {"(16,), \"float32\")):", "(17,), \"float32\")):"}}) {
    const IRModule other = Parsed(absl::StrReplaceAll(kText, {{from, to}}));
    EXPECT_FALSE(StructuralEqual(module, other)) << to;
    EXPECT_NE(StructuralHash(module), StructuralHash(other)) << to;
  }
}

// The type of a pointer may name no scope: that is the global memory, too.
TEST(ScriptTest, PointersWithoutScopeAreGlobal) {
  const auto function = [](absl::string_view type) {
    return Parsed(absl::StrCat("@T.prim_func\ndef main(p: T.handle(", type,
                               ")):\n    A = T.Buffer((16,), data=p)\n"
                               "    A[0] = T.float32(1)\n"));
  };
  const IRModule none = function("\"float32\"");
  const IRModule global = function("\"float32\", \"global\"");
  EXPECT_TRUE(StructuralEqual(none, global));
  EXPECT_EQ(StructuralHash(none), StructuralHash(global));
  EXPECT_THAT(AsText(none), HasSubstr("T.handle(\"float32\")"));
  EXPECT_THAT(AsText(global), HasSubstr("T.handle(\"float32\", \"global\")"));
  const IRModule shared = function("\"float32\", \"shared\"");
  EXPECT_FALSE(StructuralEqual(none, shared));
  EXPECT_NE(StructuralHash(none), StructuralHash(shared));
  for (const IRModule* module : {&none, &global, &shared}) {
    const absl::StatusOr<BinaryModule> binary = WriteBinary(*module);
    ASSERT_TRUE(binary.ok()) << binary.status();
    const absl::StatusOr<BinaryContent> read =
        ReadBinary(binary->ToString(), nullptr, "file");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(AsText(read->module), AsText(*module));
  }
}

// A file of version 2 that has a pointer without scope, as it was written before
// pointers without scope compared as global ones.
constexpr absl::string_view kFileOfPointers =
    "894241544f4e0d0a0200000000000000e401000000000000a40100000000000046cb"
    "22802ede388b0000000000000000000000000000000080d31547f1ca17293a0a0a03"
    "74697212035661723a0d0a037469721206496e74496d6d3a0d0a0374697212064275"
    "666665723a110a03746972120a4275666665724c6f61643a120a03746972120b4275"
    "6666657253746f72653a0f0a0374697212085072696d46756e63220862060a046d61"
    "696e221afa011712157a060803104018010a0608021020180118012a01702222fa01"
    "1f121d7a060803104018010a06080210201801180122067368617265642a0171220f"
    "fa010c080112087a04102018010810220dfa010a080112067a0410201801221dfa01"
    "1a080212167a0608021020180108021201042005304038014a0141220ffa010c0801"
    "12087a04102018010810220dfa010a080112067a0410201801221dfa011a08021216"
    "7a0608021020180108031201072008304038014a0142220dfa010a080112067a0410"
    "2018012214fa01110803120d7a06080210201801080912010a220dfa010a08011206"
    "7a0410201801220efa010b080412070806100b1a010c221972170a1522046d61696e"
    "4a0d676c6f62616c5f73796d626f6c2213fa01100805120c0a0202032a020803300d"
    "380e2a040801100f";

TEST(ScriptTest, FilesOfPointersStay) {
  const IRModule module = Parsed(
      "@T.prim_func\n"
      "def main(p: T.handle(\"float32\"), q: T.handle(\"float32\", "
      "\"shared\")):\n"
      "    A = T.Buffer((16,), data=p)\n"
      "    B = T.Buffer((16,), data=q, scope=\"shared\")\n"
      "    A[0] = B[0]\n");
  const absl::StatusOr<BinaryModule> written = WriteBinary(module);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(absl::BytesToHexString(written->ToString()), kFileOfPointers);
  const absl::StatusOr<BinaryContent> read =
      ReadBinary(absl::HexStringToBytes(kFileOfPointers), nullptr, "file");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(AsText(read->module), AsText(module));
  EXPECT_TRUE(StructuralEqual(read->module, module));
}

// The variable of a let in a header is declared before the loop.
TEST(ScriptTest, HeadersOfLoopsMayHaveLets) {
  const std::string script = R"(
@T.prim_func
def main(A: T.Buffer((16,), "int32")):
    x = T.int32()
    for i in range(T.Let(x * x, where={x: 3})):
        y = T.int32()
        for j in T.unroll(T.Let(y + i, where={y: 1})):
            A[j] = 0
)";
  const IRModule module = Parsed(script);
  const std::string printed = AsText(module);
  EXPECT_THAT(printed, HasSubstr("        x = T.int32()\n        for i in "));
  EXPECT_EQ(AsText(Parsed(printed)), printed);
  EXPECT_TRUE(StructuralEqual(Parsed(printed), module));
}

TEST(ScriptTest, RegionsDoNotUseVariablesOfLets) {
  EXPECT_THAT(AsText(Parsed(R"(
@T.prim_func
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    for i in range(15):
        with T.block("B"):
            vi = T.axis.spatial(15, i)
            x: T.int32 = vi + 1
            y: T.int32 = B[vi]
            z = T.int32()
            B[x] = A[x - 1] + T.Let(A[x + z], where={z: 0}) * B[y]
)")),
              HasSubstr("                T.reads(B[0:16], A[vi:vi + 2])\n"
                        "                T.writes(B[vi + 1])\n"));
}

// `a < b == c` would be two comparisons joined by `and`.
TEST(ScriptTest, ComparisonsOfComparisonsHaveParentheses) {
  for (const absl::string_view condition :
       {"(A[vi] < B[vi]) == (A[vi] != B[vi])", "A[vi] < B[vi] and A[vi] < A[0]",
        "((A[vi] < B[vi]) != (B[vi] < A[vi])) == (A[vi] == B[vi])"}) {
    const std::string text = absl::StrReplaceAll(
        kText, {{"A[vi] * T.float32(2)",
                 absl::StrCat("T.Select(", condition, ", A[vi], B[vi])")},
                {"T.reads(A[vi])", "T.reads(A[vi], B[vi], A[0])"}});
    EXPECT_THAT(AsText(Parsed(text)),
                HasSubstr(absl::StrCat("T.Select(", condition, ", A[vi]")));
  }
}

// The reference writes the buffer before the branch's only statement, where its
// memory is not defined.
TEST(ScriptTest, BuffersStandWithinTheirMemory) {
  for (const char* const memory :
       {"T.allocate([4], \"int32\", \"global\")",
        "T.allocate_const([3, 1, 2, 0], \"int32\", [4])"}) {
    const std::string text = absl::StrCat(
        "@I.ir_module\nclass Module:\n    @T.prim_func\n"
        "    def main(A: T.Buffer((4,), \"int32\")):\n"
        "        if A[0] < 3:\n"
        "            B = ",
        memory,
        "\n"
        "            B_1 = T.Buffer((4,), \"int32\", data=B)\n"
        "            A[1] = B_1[0]\n");
    EXPECT_EQ(AsText(Parsed(text)), text);
  }
}

TEST(ScriptTest, SugarIsRead) {
  const IRModule module = Parsed(R"(# from tvm.script import tir as T
from tvm.script import ir as I
import tvm

@I.ir_module
class Other:  # a comment
    @T.prim_func
    def main(a: T.handle, b: T.handle) -> None:
        """A docstring."""
        A = T.match_buffer(a, [16, 16], dtype="int32")
        B = T.match_buffer(b, (16, 16), "int32")
        for i, j in T.grid(4 * 4, 16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads([A[vi, 0:16]])
                T.writes(B[vi, vj])
                if vi < 8 and not vj == 3:
                    B[vi, vj] = A[vi, vj] + 0 + 2 * 3
                elif vi > 10:
                    B[vi, vj] += -1
                else:
                    B[vi, vj] = (
                        A[vi, vj]
                        >> 1
                    )
)");
  EXPECT_EQ(AsText(module), R"(@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((16, 16), "int32"), B: T.Buffer((16, 16), "int32")):
        # with T.block("root"):
        for i, j in T.grid(16, 16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, 0:16])
                T.writes(B[vi, vj])
                if vi < 8 and not vj == 3:
                    B[vi, vj] = A[vi, vj] + 6
                else:
                    if vi > 10:
                        B[vi, vj] = B[vi, vj] + -1
                    else:
                        B[vi, vj] = T.shift_right(A[vi, vj], 1)
)");
}

TEST(ScriptTest, FunctionsStandByThemselves) {
  const IRModule module = Parsed(R"(@T.prim_func
def second(n: T.int32):
    T.evaluate(n)

@T.prim_func(private=True)
def first(n: T.int32):
    second(n)
)");
  ASSERT_EQ(module.size(), 2);
  EXPECT_EQ(AsScript(module.Find<PrimFunc>("first"), "first"),
            "@T.prim_func(private=True)\n"
            "def first(n: T.int32):\n"
            "    second(n)");
  EXPECT_EQ(AsText(module), R"(@I.ir_module
class Module:
    @T.prim_func(private=True)
    def first(n: T.int32):
        Module.second(n)

    @T.prim_func
    def second(n: T.int32):
        T.evaluate(n)
)");
}

TEST(ScriptTest, MissingRegionsAreFound) {
  const std::string text = absl::StrReplaceAll(
      kText, {{"T.reads(A[vi])", "pass"}, {"T.writes(B[vi])", "pass"}});
  const std::string complete = AsText(Parsed(kText));
  EXPECT_EQ(AsText(Parsed(text)), complete);
  // One of the two, as it is written.
  EXPECT_EQ(
      AsText(Parsed(absl::StrReplaceAll(kText, {{"T.reads(A[vi])", "pass"}}))),
      complete);
  // Over all values of the loops inside; what the initialization writes is not
  // read; the buffers of the block itself are not listed.
  EXPECT_EQ(AsText(Parsed(R"(@T.prim_func
def main(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            C = T.alloc_buffer((1,))
            with T.init():
                B[vi] = T.float32(0)
            for k in range(8):
                with T.block("C"):
                    vk = T.axis.reduce(8, k)
                    C[0] = A[vi, vk + 4]
                    B[vi] = B[vi] + C[0]
)")),
            R"(@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 4:12])
                T.writes(B[vi])
                C = T.alloc_buffer((1,))
                with T.init():
                    B[vi] = T.float32(0)
                for k in range(8):
                    with T.block("C"):
                        vk = T.axis.reduce(8, k)
                        T.reads(A[vi, vk + 4], B[vi], C[0])
                        T.writes(C[0], B[vi])
                        C[0] = A[vi, vk + 4]
                        B[vi] = B[vi] + C[0]
)");
  EXPECT_THAT(Mistake(R"(@T.prim_func
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.evaluate(A.data)
)"),
              HasSubstr("test.tir:4:9: error: this block uses the pointer of a "
                        "buffer"));
}

// The function `main` of two buffers with that body, as it is printed.
std::string PrintedBody(absl::string_view body) {
  const std::string text = AsText(Parsed(
      absl::StrCat("@T.prim_func\ndef main(A: T.Buffer((4, 8), \"int32\"), "
                   "C: T.Buffer((64,), \"float32\")):\n",
                   body)));
  std::string result;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "        ")) {
      absl::StrAppend(&result, line, "\n");
    }
  }
  return result;
}

TEST(ScriptTest, ReadsSugar) {
  EXPECT_EQ(PrintedBody("    for i, *j in T.grid(2, *A.shape):\n"
                        "        A[j] = A[(*j,)] + i\n"),
            "for i, j_0, j_1 in T.grid(2, 4, 8):\n"
            "    A[j_0, j_1] = A[j_0, j_1] + i\n");
  EXPECT_EQ(PrintedBody("    for i in T.grid(*A.shape):\n"
                        "        with T.block(\"B\"):\n"
                        "            v = T.axis.remap(\"SS\", [*i])\n"
                        "            A[v] += 1\n"),
            "# with T.block(\"root\"):\n"
            "for i_0, i_1 in T.grid(4, 8):\n"
            "    with T.block(\"B\"):\n"
            "        v_0, v_1 = T.axis.remap(\"SS\", [i_0, i_1])\n"
            "        T.reads(A[v_0, v_1])\n"
            "        T.writes(A[v_0, v_1])\n"
            "        A[v_0, v_1] = A[v_0, v_1] + 1\n");
  EXPECT_EQ(PrintedBody("    x = T.meta_var(A[0, 0] + 1)\n"
                        "    a, b = T.meta_var((2, x))\n"
                        "    A[1, a] = x * b\n"),
            "A[1, 2] = (A[0, 0] + 1) * (A[0, 0] + 1)\n");
  EXPECT_EQ(PrintedBody("    C.vstore(8, C.vload([0], \"float32x4\"))\n"
                        "    C[0] = A[0, 0].astype(\"float32\")\n"
                        "    C[1] = T.cast(A[0, 0], \"float32\")\n"),
            "C[8:12] = C[0:4]\n"
            "C[0] = T.Cast(\"float32\", A[0, 0])\n"
            "C[1] = T.Cast(\"float32\", A[0, 0])\n");
  EXPECT_EQ(
      PrintedBody("    T.evaluate(A.access_ptr(\"rw\", offset=3))\n"),
      "T.tvm_access_ptr(T.type_annotation(\"int32\"), A.data, 3, 29, 3)\n");
  EXPECT_EQ(PrintedBody("    C[0] = T.min_value(\"float32\")\n"
                        "    A[0, 0] = T.max_value(\"int32\")\n"
                        "    A[0, 1] = T.ceildiv(A[0, 0], 4)\n"),
            "C[0] = T.float32(-3.4028234663852886e+38)\n"
            "A[0, 0] = 2147483647\n"
            "A[0, 1] = (A[0, 0] + 3) // 4\n");
}

// The text of the target that a script writes, as it is printed.
std::string PrintedTarget(absl::string_view target) {
  std::string body = PrintedBody(
      absl::StrCat("    T.attr(", target, ", \"target\", 0)\n    pass\n"));
  absl::string_view text = body;
  EXPECT_TRUE(absl::ConsumePrefix(&text, "T.attr(T.target(")) << body;
  return std::string(text.substr(0, text.rfind("), \"target\"")));
}

TEST(ScriptTest, TargetsHaveWhatTheirKindsAdd) {
  const std::string cuda =
      "{\"arch\": \"sm_80\", \"host\": {\"keys\": [\"cpu\"], \"kind\": "
      "\"llvm\", \"tag\": \"\"}, \"keys\": [\"cuda\", \"gpu\"], \"kind\": "
      "\"cuda\", \"max_num_threads\": 1024, \"tag\": \"\", "
      "\"thread_warp_size\": 32}";
  for (const char* const text :
       {"T.target({\"kind\": \"cuda\", \"arch\": \"sm_80\"}, host=\"llvm\")",
        "T.target({\"kind\": \"cuda\", \"arch\": \"sm_80\", "
        "\"host\": \"llvm\"})",
        "T.target({\"kind\": \"cuda\", \"arch\": \"sm_80\", "
        "\"host\": {\"kind\": \"llvm\"}})",
        "T.target({\"kind\": \"cuda\", \"arch\": \"sm_80\", "
        "\"host\": T.target({\"kind\": \"llvm\"})})",
        "T.target(\"cuda -arch sm_80 -host=llvm\")"}) {
    EXPECT_EQ(PrintedTarget(text), cuda) << text;
  }
  // Given keys stand for those of the kind; so do those of processors of Arm.
  EXPECT_EQ(PrintedTarget("T.target({\"kind\": \"llvm\", \"keys\": [\"a\"], "
                          "\"device\": \"b\"})"),
            "{\"device\": \"b\", \"keys\": [\"a\", \"b\"], \"kind\": "
            "\"llvm\", \"tag\": \"\"}");
  EXPECT_EQ(PrintedTarget("T.target(\"llvm -mtriple=aarch64-linux-gnu "
                          "-num-cores=4 -fast-math\")"),
            "{\"fast-math\": 1, \"keys\": [\"arm_cpu\", \"cpu\"], \"kind\": "
            "\"llvm\", \"mtriple\": \"aarch64-linux-gnu\", \"num-cores\": 4, "
            "\"tag\": \"\"}");
  EXPECT_EQ(PrintedTarget("T.target(\"llvm -cl-opt='-a b',-c\")"),
            "{\"cl-opt\": [\"-a b\", \"-c\"], \"keys\": [\"cpu\"], "
            "\"kind\": \"llvm\", \"tag\": \"\"}");
  EXPECT_EQ(PrintedTarget("T.target({\"kind\": \"vulkan\"})"),
            "{\"keys\": [\"vulkan\", \"gpu\"], \"kind\": \"vulkan\", "
            "\"max_num_threads\": 256, \"max_threads_per_block\": 256, "
            "\"supports_float32\": T.bool(True), \"supports_int32\": "
            "T.bool(True), \"tag\": \"\", \"thread_warp_size\": 1}");
}

TEST(ScriptTest, TargetsHaveLocatedMistakes) {
  const auto mistake = [](absl::string_view target) {
    return Mistake(
        absl::StrCat("@T.prim_func\ndef main():\n    T.attr(T.target(", target,
                     "), \"target\", 0)\n    pass\n"));
  };
  for (const auto& [target, message] :
       std::vector<std::pair<const char*, const char*>>{
           {"\"cuda -max_num_threads=many\"",
            "the option max_num_threads of this target is an integer of 32 "
            "bits, not `many`"},
           {"\"cuda -max_num_threads=4294967296\"", "an integer of 32 bits"},
           {"\"llvm -opt-level=\"", "expected a value of the option"},
           {"\"llvm -mcpu=a -mcpu=b\"",
            "the option mcpu is given a second time"},
           {"\"llvm mcpu\"", "expected an option -name=value, got mcpu"},
           {"\"llvm -mcpu='a\"", "a quote ' is not closed"},
           {"\"\"", "expected the kind of a target"},
           {"{\"tag\": \"\"}", "the target has no entry `kind`"},
           {"{\"kind\": \"cuda\", \"max_num_threads\": \"8\"}",
            "the option max_num_threads of this target is an integer"},
           {"{\"kind\": \"llvm\", \"mattr\": \"+avx\"}",
            "the option mattr of this target is a list of strings"},
           {"{\"kind\": \"llvm\", \"mcpu\": 8}",
            "the option mcpu of this target is a string"},
           {"{\"kind\": \"cuda\", \"arch\": \"80\"}",
            "the option arch of a target of kind cuda begins with sm_, this "
            "is 80"},
           {"{\"kind\": \"cuda\", \"host\": 8}", "host of this target is a"},
           {"{\"kind\": \"cuda\", \"host\": \"llvm\"}, host=\"llvm\"",
            "the target has a host"}}) {
    EXPECT_THAT(mistake(target), HasSubstr("test.tir:3:")) << target;
    EXPECT_THAT(mistake(target), HasSubstr(message)) << target;
  }
}

TEST(ScriptTest, ReadsCallsByNameAndConstantsByType) {
  EXPECT_EQ(
      PrintedBody(
          "    A[0, 0] = T.Call(\"int32\", \"tir.bitwise_and\", [A[0, 1], 3])\n"
          "    C[0] = T.FloatImm(\"float32\", 2)\n"
          "    A[0, 1] = T.IntImm(\"int32\", 4)\n"
          "    A[0, 2] = T.BufferLoad(A, [1, 2])\n"
          "    C[1] = T.infinity(\"float32\")\n"
          "    if T.isfinite(C[2]):\n"
          "        C[3] = T.if_then_else(T.isinf(C[2]), C[4], C[5])\n"),
      "A[0, 0] = T.bitwise_and(A[0, 1], 3)\n"
      "C[0] = T.float32(2)\n"
      "A[0, 1] = 4\n"
      "A[0, 2] = A[1, 2]\n"
      "C[1] = T.float32(\"inf\")\n"
      "if not (T.fabs(C[2]) == T.float32(\"inf\") and not T.isnan(C[2])) and "
      "not T.isnan(C[2]):\n"
      "    C[3] = T.if_then_else(T.fabs(C[2]) == T.float32(\"inf\") and not "
      "T.isnan(C[2]), C[4], C[5])\n");
}

TEST(ScriptTest, BuffersWithoutScopeAreGlobal) {
  const std::string text =
      "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\", scope=\"\")):\n"
      "    B = T.alloc_buffer((4,), scope=\"\")\n"
      "    for i in range(4):\n"
      "        with T.block(\"B\"):\n"
      "            vi = T.axis.spatial(4, i)\n"
      "            B[vi] = A[vi]\n";
  const IRModule module = Parsed(text);
  EXPECT_TRUE(StructuralEqual(Parsed(AsText(module)), module));
}

TEST(ScriptTest, SugarHasLocatedMistakes) {
  const auto mistake = [](absl::string_view body) {
    return Mistake(absl::StrCat(
        "@T.prim_func\ndef main(A: T.Buffer((4, 8), \"int32\")):\n", body));
  };
  EXPECT_THAT(mistake("    for i, j, k in T.grid(*A.shape):\n        pass\n"),
              HasSubstr("3:20: error: T.grid has 2 values for 3 names"));
  EXPECT_THAT(mistake("    for *i, *j in T.grid(2, 3):\n        pass\n"),
              HasSubstr("3:13: error: this is the second `*`"));
  EXPECT_THAT(mistake("    A[*A, 0] = 1\n"),
              HasSubstr("3:8: error: only a list or a tuple is unpacked"));
  EXPECT_THAT(mistake("    T.evaluate(A.vlod(0))\n"),
              HasSubstr("a buffer has no `vlod`"));
  EXPECT_THAT(mistake("    T.evaluate(A.vload([0, 0], \"float32\"))\n"),
              HasSubstr("a float32 cannot be accessed in a buffer of int32"));
  EXPECT_THAT(mistake("    T.evaluate(T.max_value(\"uint64\"))\n"),
              HasSubstr("uint64 has no such constant"));
  EXPECT_THAT(mistake("    B = T.preflattened_buffer(A, (32,))\n"),
              HasSubstr("T.preflattened_buffer is not read: buffers of "
                        "parameters keep their shapes"));
}

TEST(ScriptTest, MistakesAreLocated) {
  const auto mistake = [](absl::string_view from, absl::string_view to) {
    return Mistake(absl::StrReplaceAll(kText, {{from, to}}));
  };
  EXPECT_THAT(mistake("= A[vi]", "= C[vi]"),
              HasSubstr("test.tir:10:25: error: `C` is not defined here"));
  EXPECT_THAT(mistake("T.float32(2)", "T.flot32(2)"),
              HasSubstr("test.tir:10:33: error: there is no T.flot32"));
  EXPECT_THAT(mistake("range(16)", "range(16"), HasSubstr("test.tir:5:"));
  EXPECT_THAT(mistake("        for i in", "\tfor i in"),
              HasSubstr("indented by tabs"));
  EXPECT_THAT(mistake("\"B\"", "\"B"), HasSubstr("this string is not closed"));
  EXPECT_THAT(mistake("B[vi] =", "B[vi, 0] ="), "");
  EXPECT_THAT(mistake("vi = T.axis", "vi, vj = T.axis"),
              HasSubstr("this gives one variable"));
  EXPECT_THAT(mistake("def main", "def 1main"), HasSubstr("test.tir:4:"));
  EXPECT_THAT(Mistake("@T.prim_fun\ndef f():\n    pass\n"),
              HasSubstr("test.tir:1:1: error"));
}

TEST(ScriptTest, RulesOfFunctionsAreChecked) {
  EXPECT_TRUE(CheckWellFormed(Parsed(kText)).ok());
  EXPECT_THAT(
      std::string(CheckWellFormed(Parsed(absl::StrReplaceAll(
                                      kText, {{"B[vi] =", "B[vi, 0] ="}})))
                      .message()),
      HasSubstr("buffer B has 1 axes, this is an access by 2 indices"));
}

TEST(ScriptTest, DeepScriptsAreReadAndPrinted) {
  constexpr int kDepth = 20000;
  std::string text =
      "@I.ir_module\nclass Module:\n    @T.prim_func\n    def main(n: "
      "T.int32):\n";
  for (int i = 0; i < kDepth; ++i) {
    absl::StrAppend(&text, "        x_", i, ": T.int32 = n\n");
  }
  const std::string sum =
      absl::StrCat(std::string(kDepth, '('), "n", std::string(kDepth, ')'));
  absl::StrAppend(&text, "        T.evaluate(", sum, ")\n");
  std::string right = "n";
  for (int i = 0; i < kDepth; ++i) right += " - (n";
  right += " - n";
  right += std::string(kDepth, ')');
  absl::StrAppend(&text, "        T.evaluate(", right, ")\n");
  const IRModule module = Parsed(text);
  const std::string printed = AsText(module);
  EXPECT_EQ(printed, absl::StrReplaceAll(text, {{sum, "n"}}));
  EXPECT_TRUE(StructuralEqual(module, Parsed(printed)));
}

TEST(ScriptTest, ExpressionsStandByThemselves) {
  const std::vector<Var> vars = {Var("x", kInt32), Var("y", kInt32)};
  for (const char* text :
       {"T.max(0, 1 - x * 4) + x * 4", "T.Div(17 + x * 48, 16)", "x < y",
        "x // 4 % 2", "T.Select(x < 3, x, y)", "(x + y) * 2", "x - (y - 1)",
        "T.truncmod(x, 3)", "not x == y",
        "T.Ramp(x, 1, 4) + T.Broadcast(y, 4)"}) {
    const absl::StatusOr<PrimExpr> e = ParseScriptExpr(text, vars);
    ASSERT_TRUE(e.ok()) << e.status();
    EXPECT_EQ(AsScript(*e), text);
  }
  EXPECT_THAT(std::string(ParseScriptExpr("x + z", vars).status().message()),
              HasSubstr("`z` is not defined here"));
  EXPECT_THAT(std::string(ParseScriptExpr("x + ", vars).status().message()),
              HasSubstr("expected an expression"));
}

}  // namespace
}  // namespace baton::tir
