// MergeComposite, AnnotateTarget, MergeCompilerRegions and PartitionGraph, one
// by one and together.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/pattern_table.h"
#include "baton/relay/transform/annotate_target.h"
#include "baton/relay/transform/merge_compiler_regions.h"
#include "baton/relay/transform/merge_composite.h"
#include "baton/relay/transform/partition_graph.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/pass_laws.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::StatusIs;

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
       .exceptions = {{"no_op", "Annotations come and go."}}});
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
      {{.name = "twice", .pattern = x + x, .accepts = [=](const Match& m) {
          return m[x].Is<VarNode>();
        }}});
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
  // Of the reference's test_if_else: add0 is not joined with the last region.
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

TEST(MergeCompilerRegionsTest, SaysWhereAnnotationsAreWrong) {
  const auto run = [](absl::string_view body) {
    return MergeCompilerRegions()(ParseTyped(
        absl::StrCat("def @main(%x: float32, %y: float32) {\n", body, "\n}")));
  };
  EXPECT_THAT(run(R"(annotation.compiler_end(%x, compiler="acme"))"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "ends no region of compiler acme"));
  EXPECT_THAT(run(R"(%0 = annotation.compiler_begin(%x, compiler="a");
annotation.compiler_end(exp(%0), compiler="b"))"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "for compiler b ends a region of "
                       "compiler a"));
  EXPECT_THAT(run(R"(%0 = annotation.compiler_begin(%x, compiler="a");
%1 = add(%0, %y);
annotation.compiler_end(%1, compiler="a"))"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "operand 1 enters a region"));
}

TEST(PartitionGraphTest, FlattensTuples) {
  // The reference's test_flatten_tuple_output.
  ExpectPassMakes(PartitionGraph(), R"(
      def @main(%a: Tensor[(10), float32]) {
        %0 = annotation.compiler_begin(%a, compiler="t");
        %1 = split(%0, indices_or_sections=2);
        %2 = (%1.0, %1.1);
        %3 = annotation.compiler_end(%2, compiler="t");
        %4 = abs(%1.0);
        %5 = annotation.compiler_end(%4, compiler="t");
        (concatenate(%3), nn.relu(%5))
      })",
                  R"(
      def @main(%a: Tensor[(10), float32]) {
        %0 = @tvmgen_default_t_main_0(%a);
        %1 = (%0.0, %0.1);
        (concatenate(%1), nn.relu(%0.2))
      }
      def @tvmgen_default_t_main_0(%i: Tensor[(10), float32], Compiler="t",
          Primitive=1, Inline=1, global_symbol="tvmgen_default_t_main_0") {
        %0 = split(%i, indices_or_sections=2);
        %1 = %0.0;
        (%1, %0.1, abs(%0.0))
      })");
}

TEST(PartitionGraphTest, CleansNamesAndRenamesOthers) {
  const IRModule module = ParseTyped(R"(
      def @f.g(%x: float32, Compiler="other") -> float32 { exp(%x) }
      def @main(%x: float32) -> float32 {
        %0 = annotation.compiler_begin(%x, compiler="name++");
        annotation.compiler_end(log(%0), compiler="name++")
      }
      def @user(%x: float32) -> float32 { @f.g(%x) })");
  const IRModule result =
      RunChecked(PartitionGraph({.mod_name = "m-1"}), module);
  EXPECT_TRUE(result.Find("tvmgen_m_1_name___main_0").defined());
  const Function other = result.Find<Function>("tvmgen_m_1_f_g");
  ASSERT_TRUE(other.defined());
  EXPECT_EQ(*other->attrs().Find("global_symbol"), "tvmgen_m_1_f_g");
  EXPECT_FALSE(result.Find("f.g").defined());
}

TEST(PartitionGraphTest, LeavesProgramsWithoutRegions) {
  ExpectPassLeaves(PartitionGraph(), "def @main(%x: float32) { exp(%x) }");
}

TEST(PartitionGraphTest, SaysWhereRegionsAreNoFunctions) {
  EXPECT_THAT(PartitionGraph()(ParseTyped(R"(
def @main(%x: float32) {
  %0 = annotation.compiler_begin(%x, compiler="a");
  %1 = exp(%0);
  %2 = annotation.compiler_end(%1, compiler="a");
  %3 = annotation.compiler_begin(log(%2), compiler="a");
  %4 = add(%1, %3);
  annotation.compiler_end(%4, compiler="a")
})")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "a region of compiler a needs what is "
                       "computed from its results"));
  EXPECT_THAT(PartitionGraph()(ParseTyped(R"(
def @main(%x: bool) {
  %0 = annotation.compiler_begin(%x, compiler="a");
  %1 = logical_not(%0);
  %2 = annotation.compiler_end(%1, compiler="a");
  if (%1) { %2 } else { %x }
})")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "used outside of its region"));
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
  check(kSome, 1, 60);
  check(
      "AnnotateTarget{targets=[some],include_non_call_ops=false},"
      "MergeCompilerRegions,PartitionGraph{bind_constants=false}",
      100, 60);
  check(
      "MergeComposite{compilers=[some]},AnnotateTarget{targets=[some]},"
      "PartitionGraph",
      200, 30);
}

TEST(PartitionTest, TakesDeepPrograms) {
  const absl::Status status = testing::CheckPassStack(AsOne(kSome));
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace baton::relay
