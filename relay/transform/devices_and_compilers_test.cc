// Passes that place a program on devices and give parts of it to other
// compilers: which devices functions made of a planned one have, partitioning
// with pattern tables that the tests register, and code generators that they
// register.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/target.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/virtual_device.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/pattern_table.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/relay/transform/annotate_target.h"
#include "baton/relay/transform/generate_code.h"
#include "baton/relay/transform/lambda_lift.h"
#include "baton/relay/transform/merge_compiler_regions.h"
#include "baton/relay/transform/merge_composite.h"
#include "baton/relay/transform/partition_graph.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/plan_devices.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/pass_laws.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::ParseTyped;
using ::baton::testing::StatusIs;
using ::testing::SizeIs;

// PlanDevices for the CPU and the GPU, which is the default.
absl::StatusOr<IRModule> Planned(const IRModule& module) {
  const PassContext context({.config = {{"relay.fallback_device_type", 2}}});
  return context.Run([&] {
    return PlanDevices({.targets = {"llvm", "cuda"}})(module);
  });
}

TEST(PlanDevicesTest, AsksTheTargetOfTheContext) {
  const PassContext context(
      {.target = {.kind = "llvm", .options = {"-opt-level=3"}}});
  const IRModule module = ParseTyped("def @main(%x: float32) { exp(%x) }");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule planned, context.Run([&] {
    return PlanDevices()(module);
  }));
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule by_option,
      PlanDevices({.targets = {"llvm -opt-level=3"}})(module));
  EXPECT_FALSE(planned.SameAs(module));
  EXPECT_EQ(ToText(planned), ToText(by_option));
}

// Functions that are made of a planned one say where their parameters are.
TEST(PlanDevicesTest, DevicesGoWithTheirParameters) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule planned, Planned(ParseTyped(R"(
    def @main(%a: Tensor[(5, 7), float32], %b: Tensor[(5, 7), float32],
              %c: Tensor[(5, 7), float32]) {
      let %d = on_device(negative(%a), virtual_device="cpu");
      let %f = fn (%x: Tensor[(5, 7), float32]) {
        %0 = add(add(%a, %d), %x);
        subtract(on_device(%0, virtual_device="cpu"), %b)
      };
      %f(%c)
    })")));
  const Function main = planned.Find<Function>("main");
  const absl::Span<const AttrValue> devices = ParamDevices(*main);
  ASSERT_EQ(devices.size(), 3);
  EXPECT_NE(devices[0], devices[1]);

  absl::flat_hash_map<const VarNode*, Expr> values;
  values[main->params()[0].get()] =
      Constant(*Tensor::Zeros(DType::Float(32), {5, 7}));
  const Function bound = Bind(main, values);
  EXPECT_EQ(ParamDevices(*bound), devices.subspan(1));

  BATON_ASSERT_OK_AND_ASSIGN(const IRModule lifted, LambdaLift()(planned));
  EXPECT_EQ(lifted.size(), 2);
  for (const auto& [var, function] : lifted.functions<Function>()) {
    EXPECT_EQ(ParamDevices(*function).size(), function->params().size());
    EXPECT_NE(function->attrs().Find(kVirtualDevice), nullptr);
    if (var->name() == "main") continue;
    // It captures %a, %d and %b.
    const absl::Span<const AttrValue> captured = ParamDevices(*function);
    ASSERT_EQ(captured.size(), 3);
    EXPECT_EQ(captured[0], devices[0]);
    EXPECT_EQ(captured[1], devices[0]);
    EXPECT_EQ(captured[2], devices[1]);
  }
  // The annotations are the plan: only the result of the closure's call, a
  // function, gets an annotation.
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, PlanDevices()(lifted));
  for (const auto& [var, function] : lifted.functions<Function>()) {
    if (var->name() == "main") continue;
    EXPECT_TRUE(StructuralEqual(again.Find(var->name()), function))
        << ToText(again);
  }
}

// A list of devices of which none is known is no list: text says nothing
// either.
TEST(PlanDevicesTest, WhatIsCapturedFromNowhere) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule lifted, LambdaLift()(ParseTyped(R"(
    def @main(%x: float32) {
      fn (%y {virtual_device="cpu"}: float32, virtual_device="cpu") { %x }
    })")));
  ASSERT_EQ(lifted.size(), 2);
  for (const auto& [var, function] : lifted.functions<Function>()) {
    EXPECT_EQ(function->attrs().Find(kParamVirtualDevices), nullptr);
    EXPECT_EQ(function->attrs().Find(kVirtualDevice) != nullptr,
              var->name() != "main");
  }
}

// The pass has a waiver for programs without a plan, so these break no law.
TEST(PlanDevicesTest, MayRefuse) {
  const Pass pass = PlanDevices({.targets = {"llvm", "cuda"}});
  const IRModule module = ParseTyped(R"(
    def @main(%x {virtual_device="cpu"}: float32,
              %y {virtual_device="cuda"}: float32) { add(%x, %y) })");
  EXPECT_FALSE(pass(module).ok());
  EXPECT_THAT(testing::CheckPassLaws(pass, module), testing::IsOk());
}

// Takes about two thirds of all operators.
PatternTable SomeOperators() {
  PatternTable table;
  for (const OpNode* op : OpRegistry::Global().List()) {
    size_t sum = 0;
    for (const char c : op->name()) sum += static_cast<unsigned char>(c);
    if (sum % 3 != 0) table.operators.push_back({op->name()});
  }
  const DataflowPattern x = Wildcard(), y = Wildcard();
  table.composites = {
      {.name = "some.add_of_product",
       .pattern = IsOp("add")(IsOp("multiply")(x, y), Wildcard())},
      {.name = "some.unary_of_unary",
       .pattern =
           IsOp("exp")(IsOp("tanh")(x)) | IsOp("nn.relu")(IsOp("add")(x, y))}};
  return table;
}
BATON_REGISTER_PATTERN_TABLE("some", SomeOperators);

BATON_REGISTER_PATTERN_TABLE("relu", [] {
  return PatternTable{.operators = {{.op = "nn.relu"}}};
});

BATON_REGISTER_PATTERN_TABLE_TEXT("acme", "acme.patterns", R"(
  pattern @acme.add_relu "Both in one instruction." {
    match { nn.relu(%x + %y) }
    where { dtype(%x) == "float32", shape(%x) == [2] }
  }
  pattern @acme.add {
    match { %x + %y }
  })");

Pass Pipeline(absl::string_view text) {
  const absl::StatusOr<Pass> pass = ParsePipeline(text);
  EXPECT_TRUE(pass.ok()) << pass.status();
  return *pass;
}

// A pass that runs these.
Pass AsOne(absl::string_view text) {
  return CreateModulePass(
      [pass = Pipeline(text)](const IRModule& module, const PassContext&) {
        return pass(module);
      },
      {.name = "Partition",
       .doc = "Partitions.",
       .waivers = {{"no_op", "Annotations come and go."}}});
}

// The whole way.
constexpr char kSome[] =
    "MergeComposite{compilers=[some]},AnnotateTarget{targets=[some]},"
    "MergeCompilerRegions,PartitionGraph";

TEST(PatternTableTest, ReadsText) {
  BATON_ASSERT_OK_AND_ASSIGN(const PatternTable table,
                             ParsePatternTable("acme", R"(
      pattern @acme.double "Twice." {
        match { %x + %x }
      })"));
  ASSERT_EQ(table.composites.size(), 1);
  EXPECT_EQ(table.composites[0].name, "acme.double");
  EXPECT_EQ(table.composites[0].doc, "Twice.");
}

TEST(PatternTableTest, RefusesWrongText) {
  EXPECT_THAT(
      ParsePatternTable("acme", "pattern @other.double { match { %x + %x } }"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "pattern table of acme: the name of pattern @other.double does "
               "not begin with `acme.`"));
  EXPECT_THAT(
      ParsePatternTable(
          "acme", "pattern @acme.double {\n  match { ad(%x, %x) }\n}", "table"),
      StatusIs(absl::StatusCode::kInvalidArgument, "table:2:11"));
  EXPECT_THAT(
      ParsePatternTable("acme",
                        "pattern @acme.double { match { %x } replace { %x } }"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "expected `match`, `where` or `}`, found `replace`"));
  EXPECT_THAT(ParsePatternTable("acme", "rule @acme.double { match { %x } }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "expected a pattern, found `rule`"));
}

TEST(PatternTableTest, UnknownOperatorsAreErrors) {
  const LazyPatternTable table([]() -> absl::StatusOr<PatternTable> {
    return PatternTable{.operators = {{"nn.rely"}}};
  });
  EXPECT_THAT(table.Get("acme"),
              StatusIs(absl::StatusCode::kNotFound, "nn.relu"));
}

TEST(MergeCompositeTest, TriesPatternsInOrder) {
  ExpectPassMakes(Pipeline("MergeComposite{compilers=[acme]}"), R"(
      def @main(%a: Tensor[(2), float32], %b: Tensor[(2), float32]) {
        add(nn.relu(add(%a, %b)), %a)
      })",
                  R"(
      def @main(%a: Tensor[(2), float32], %b: Tensor[(2), float32]) {
        %0 = fn (%x: Tensor[(2), float32], %y: Tensor[(2), float32],
                 PartitionedFromPattern="add_nn.relu_",
                 Composite="acme.add_relu") {
          nn.relu(add(%x, %y))
        };
        %1 = fn (%x1: Tensor[(2), float32], %y1: Tensor[(2), float32],
                 PartitionedFromPattern="add_", Composite="acme.add") {
          add(%x1, %y1)
        };
        %1(%0(%a, %b), %a)
      })");
}

// The shape keeps the first pattern away.
TEST(MergeCompositeTest, AsksConditions) {
  ExpectPassMakes(Pipeline("MergeComposite{compilers=[acme]}"), R"(
      def @main(%a: Tensor[(3), float32]) { nn.relu(add(%a, %a)) })",
                  R"(
      def @main(%a: Tensor[(3), float32]) {
        %0 = fn (%x: Tensor[(3), float32],
                 PartitionedFromPattern="add_", Composite="acme.add") {
          add(%x, %x)
        };
        nn.relu(%0(%a))
      })");
}

TEST(MergeCompositeTest, TakesPatternsInCpp) {
  const DataflowPattern x = Wildcard("x");
  const Pass pass = MergeCompositePatterns(
      {{.name = "twice",
        .pattern = x + x,
        .accepts = [=](const PatternMatch& m) { return m[x].Is<VarNode>(); }}});
  ExpectPassMakes(pass, R"(
      def @main(%a: float32) { %0 = add(%a, %a); add(%0, %0) })",
                  R"(
      def @main(%a: float32) {
        %0 = fn (%y: float32, PartitionedFromPattern="add_",
                 Composite="twice") { add(%y, %y) };
        %1 = %0(%a);
        add(%1, %1)
      })");
}

// Expectations below are those of the reference's test_pass_annotate_target.py.

TEST(AnnotateTargetTest, EndsEachUseApart) {
  for (const bool non_calls : {false, true}) {
    const Pass pass = AnnotateTarget(
        {.targets = {"relu"}, .include_non_call_ops = non_calls});
    ExpectPassMakes(pass, R"(
        def @main(%x: Tensor[(2), float32]) {
          %0 = nn.relu(%x);
          add(abs(%0), abs(%0))
        })",
                    R"(
        def @main(%x: Tensor[(2), float32]) {
          %0 = annotation.compiler_begin(%x, compiler="relu");
          %1 = nn.relu(%0);
          %2 = annotation.compiler_end(%1, compiler="relu");
          %3 = annotation.compiler_begin(%2, compiler="default");
          %4 = abs(%3);
          %5 = annotation.compiler_end(%1, compiler="relu");
          %6 = annotation.compiler_begin(%5, compiler="default");
          %7 = abs(%6);
          %8 = annotation.compiler_end(%4, compiler="default");
          %9 = annotation.compiler_begin(%8, compiler="default");
          %10 = annotation.compiler_end(%7, compiler="default");
          %11 = annotation.compiler_begin(%10, compiler="default");
          %12 = add(%9, %11);
          annotation.compiler_end(%12, compiler="default")
        })");
  }
}

TEST(AnnotateTargetTest, KeepsOtherAnnotations) {
  const absl::string_view program = R"(
      def @main(%x: Tensor[(2), float32]) {
        %0 = fn (%y: Tensor[(2), float32], Composite="a.f") { exp(%y) };
        %1 = fn (%z: Tensor[(2), float32], Composite="b.f") { tanh(%z) };
        %2 = %0(%x);
        (log(%2), %1(%2), %1(%1(%x)))
      })";
  for (const char* non_calls : {"", ",include_non_call_ops=false"}) {
    const IRModule module = ParseTyped(program);
    const IRModule together = RunChecked(
        Pipeline(absl::StrCat("AnnotateTarget{targets=[a,b]", non_calls, "}")),
        module);
    const IRModule apart = RunChecked(
        Pipeline(absl::StrCat("AnnotateTarget{targets=[a]", non_calls,
                              "},AnnotateTarget{targets=[b]", non_calls, "}")),
        module);
    EXPECT_TRUE(StructuralEqual(together, apart));
    const IRModule again = RunChecked(
        Pipeline(absl::StrCat("AnnotateTarget{targets=[a,b]", non_calls, "}")),
        together);
    EXPECT_TRUE(StructuralEqual(together, again));
  }
}

TEST(AnnotateTargetTest, LeavesWhatComputesNothing) {
  ExpectPassLeaves(AnnotateTarget({.targets = {"some"}}), "def @main() { () }");
  ExpectPassLeaves(AnnotateTarget({.targets = {"some"}}),
                   "def @main(%x: float32) { %x }");
}

TEST(MergeCompilerRegionsTest, JoinsAcrossBranchesOnlyWhereNothingIsBetween) {
  // The program of the reference's test_if_else: add0 is not joined with the
  // last region.
  const IRModule module = ParseTyped(R"(
      def @main(%data: Tensor[(1, 32), float32]) {
        %0 = add(%data, %data);
        %1 = abs(%0);
        %2 = less(sum(%0), sum(%1));
        %3 = if (%2) { nn.relu(%0) } else { nn.relu(%1) };
        add(%0, nn.relu(%3))
      })");
  const IRModule result =
      RunChecked(Pipeline("AnnotateTarget{targets=[some]},MergeCompilerRegions,"
                          "PartitionGraph"),
                 module);
  EXPECT_GT(result.size(), 2);
}

// Regions in the bodies of lets and literals see what is bound there, and are
// not joined with others.
TEST(PartitionTest, KeepsScopes) {
  const IRModule module = ParseTyped(R"(
      def @main(%x: Tensor[(2), float32]) {
        %0 = nn.relu(%x);
        %1 = (
          let %y = abs(%0);
          fn (%z: Tensor[(2), float32]) { nn.relu(add(%z, nn.relu(%y))) }
        );
        (%1(%0), %0, let %v = abs(%x); nn.relu(%v))
      })");
  const IRModule result = RunChecked(Pipeline(kSome), module);
  EXPECT_GT(result.size(), 1);
}

TEST(PartitionTest, KeepsTheLawsOfPasses) {
  const auto check = [](absl::string_view passes, uint32_t seed, int count) {
    const absl::Status status =
        testing::CheckPassOnRandomPrograms(AsOne(passes), seed, count);
    EXPECT_TRUE(status.ok()) << passes << ": " << status.message();
  };
  const int most = testing::LongOrShort(60, 20);
  check(kSome, 1, most);
  check(
      "AnnotateTarget{targets=[some],include_non_call_ops=false},"
      "MergeCompilerRegions,PartitionGraph{bind_constants=false}",
      100, most);
  check(
      "MergeComposite{compilers=[some]},AnnotateTarget{targets=[some]},"
      "PartitionGraph",
      200, most / 2);
}

TEST(PartitionTest, TakesDeepPrograms) {
  const absl::Status status = testing::CheckPassStack(AsOne(kSome));
  EXPECT_TRUE(status.ok()) << status.message();
}

using Override = ScopedOverride<CodeGenerator>;

// Makes that of every function, under its symbol and `suffix`.
CodeGenerator Makes(std::string bytes, std::string suffix = ".c") {
  return {
      .doc = "For tests.",
      .generate = [=](const Function&,
                      const std::string& symbol) -> absl::StatusOr<Artifact> {
        return Artifact{absl::StrCat(symbol, suffix), bytes};
      }};
}

constexpr char kModule[] = R"(
    def @main(%x: float32) -> float32 { add(@acme_0(%x), @other_0(%x)) }
    def @acme_0(%y: float32, Compiler="acme", global_symbol="acme_0")
        -> float32 { exp(%y) }
    def @other_0(%y: float32, Compiler="other", global_symbol="other_0")
        -> float32 { log(%y) })";

const GenerateCodeOptions kAcme = {.compilers = {"acme"}};

TEST(GenerateCodeTest, CodeIsPartOfTheModuleAndItsFiles) {
  std::string bytes = "int main;\n\"\\";
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  const Override acme(&CodeGenerators(), "acme", Makes(bytes));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             GenerateCode(kAcme)(ParseTyped(kModule)));
  const auto check = [&](const IRModule& read) {
    EXPECT_TRUE(StructuralEqual(read, module));
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Artifact> artifacts,
                               ArtifactsOf(read));
    ASSERT_THAT(artifacts, SizeIs(1));
    EXPECT_EQ(artifacts[0].name, "acme_0.c");
    EXPECT_EQ(artifacts[0].bytes, bytes);
  };
  check(module);
  BATON_ASSERT_OK_AND_ASSIGN(const BinaryModule file, WriteBinary(module));
  BATON_ASSERT_OK_AND_ASSIGN(const BinaryContent binary,
                             ReadBinary(file.ToString(), nullptr, "test"));
  check(binary.module);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule text, ParseModule(AsText(module)));
  check(text);
}

TEST(GenerateCodeTest, TheSameCodeLeavesTheModule) {
  const Override acme(&CodeGenerators(), "acme", Makes("code"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             GenerateCode(kAcme)(ParseTyped(kModule)));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, GenerateCode(kAcme)(module));
  EXPECT_TRUE(again.SameAs(module));
}

TEST(GenerateCodeTest, AsksTheGeneratorOfEachCompiler) {
  const Override acme(&CodeGenerators(), "acme", Makes("a"));
  EXPECT_THAT(GenerateCode()(ParseTyped(kModule)),
              StatusIs(absl::StatusCode::kNotFound,
                       "code for @other_0: unknown code generator \"other\""));
  const Override other(&CodeGenerators(), "other", Makes("b"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             GenerateCode()(ParseTyped(kModule)));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Artifact> artifacts,
                             ArtifactsOf(module));
  ASSERT_THAT(artifacts, SizeIs(2));
  EXPECT_EQ(artifacts[1].bytes, "b");
  EXPECT_THAT(GenerateCode({.compilers = {"acne"}})(ParseTyped(kModule)),
              StatusIs(absl::StatusCode::kNotFound, "acme"));
}

TEST(GenerateCodeTest, GivesTheTargetToTheGenerator) {
  const Override acme(
      &CodeGenerators(), "acme",
      CodeGenerator{.generate_for_target =
                        [](const Function&, const std::string& symbol,
                           const Target& target) -> absl::StatusOr<Artifact> {
        return Artifact{symbol + ".c", target.ToString()};
      }});
  const PassContext context({.target = {.kind = "llvm", .cpu = "skylake"}});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, context.Run([] {
    return GenerateCode(kAcme)(ParseTyped(kModule));
  }));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Artifact> artifacts,
                             ArtifactsOf(module));
  ASSERT_THAT(artifacts, SizeIs(1));
  EXPECT_EQ(artifacts[0].bytes, "llvm -mcpu=skylake");
}

TEST(GenerateCodeTest, NamesTheFunctionWhoseCodeIsWrong) {
  const auto generate = [](CodeGenerator generator,
                           const char* text = kModule) {
    const Override acme(&CodeGenerators(), "acme", std::move(generator));
    return GenerateCode(kAcme)(ParseTyped(text)).status();
  };
  const auto fails = [](const Function&,
                        const std::string&) -> absl::StatusOr<Artifact> {
    return absl::UnimplementedError("no exp here");
  };
  const auto throws = [](const Function&,
                         const std::string&) -> absl::StatusOr<Artifact> {
    throw std::runtime_error("no licence");
  };
  EXPECT_THAT(generate({.generate = fails}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "code for @acme_0: no exp here"));
  EXPECT_THAT(generate({.generate = throws}),
              StatusIs(absl::StatusCode::kInternal,
                       "code for @acme_0: an exception: no licence"));
  EXPECT_THAT(generate({}),
              StatusIs(absl::StatusCode::kUnimplemented, "makes no code"));
  EXPECT_THAT(generate(Makes("", "/../x")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "code for @acme_0: the artifact's name \"acme_0/../x\" "
                       "is not that of a file"));
  EXPECT_THAT(generate(Makes(""), R"(
      def @f(%x: int32, Compiler="acme") { %x })"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "code for @f: the function has no attribute "
                       "global_symbol"));
  EXPECT_THAT(generate(Makes(""), R"(
      def @f(%x: int32, Compiler="acme", global_symbol="same") { %x }
      def @g(%x: int32, Compiler="acme", global_symbol="same") { %x })"),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       "code for @g: the artifact same.c is that of @f "
                       "already"));
}

TEST(GenerateCodeTest, LimitsTheCodeOfAModule) {
  const Override acme(&CodeGenerators(), "acme", Makes(std::string(60, 'a')));
  const Override other(&CodeGenerators(), "other", Makes(std::string(50, 'b')));
  const PassContext context(
      {.config = {{"relay.GenerateCode.max_bytes", int64_t{100}}}});
  EXPECT_THAT(context.Run([] { return GenerateCode()(ParseTyped(kModule)); }),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "code for @other_0: 50 bytes are more than the setting "
                       "relay.GenerateCode.max_bytes (100) allows"));
}

}  // namespace
}  // namespace baton::relay
