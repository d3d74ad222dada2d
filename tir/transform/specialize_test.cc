#include "baton/tir/transform/specialize.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/testing/status_matchers.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

PrimFunc Parsed(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text, "test.tir");
  EXPECT_THAT(module.status(), testing::IsOk());
  return module.ok() ? module->Find<PrimFunc>("main") : PrimFunc();
}

constexpr absl::string_view kCopy = R"(
@T.prim_func
def main(a: T.handle, n: T.int32, q: T.int32):
    A = T.match_buffer(a, (n, 8), "float32", elem_offset=q)
    for i, j in T.grid(n, 8):
        A[i, j] = A[i, j] + T.float32(1)
)";

TEST(SpecializedTest, NothingKeepsTheFunction) {
  const PrimFunc function = Parsed(kCopy);
  BATON_ASSERT_OK_AND_ASSIGN(const PrimFunc same, Specialized(function, {}));
  EXPECT_EQ(same, function);
}

// A value may be an expression of new variables, or another parameter.
TEST(SpecializedTest, ValuesAreExpressions) {
  const PrimFunc function = Parsed(kCopy);
  const Var n = function->params()[1];
  const Var q = function->params()[2];
  const ParamValue values[] = {{n, Mul(Var("x", kInt32), IntImm(kInt32, 8))},
                               {q, IntImm(kInt32, 0)}};
  BATON_ASSERT_OK_AND_ASSIGN(const PrimFunc symbolic,
                             Specialized(function, values));
  EXPECT_TRUE(StructuralEqual(symbolic, Parsed(R"(
@T.prim_func
def main(a: T.handle):
    x = T.int32()
    A = T.match_buffer(a, (x * 8, 8), "float32", elem_offset=0)
    for i, j in T.grid(x * 8, 8):
        A[i, j] = A[i, j] + T.float32(1)
)"),
                              {.map_free_vars = true}));
  const ParamValue equal[] = {{q, n}};
  BATON_ASSERT_OK_AND_ASSIGN(const PrimFunc one, Specialized(function, equal));
  EXPECT_TRUE(StructuralEqual(one, Parsed(R"(
@T.prim_func
def main(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (n, 8), "float32", elem_offset=n)
    for i, j in T.grid(n, 8):
        A[i, j] = A[i, j] + T.float32(1)
)")));
}

TEST(SpecializedTest, RefusesValuesOfAnotherSort) {
  const PrimFunc function = Parsed(kCopy);
  const auto error_of = [&](const Var& param, const PrimExpr& value) {
    const ParamValue values[] = {{param, value}};
    return std::string(Specialized(function, values).status().message());
  };
  const Var a = function->params()[0];
  const Var n = function->params()[1];
  using ::testing::HasSubstr;
  EXPECT_THAT(error_of(Var("z", kInt32), n), HasSubstr("z is no parameter"));
  EXPECT_THAT(error_of(a, n), HasSubstr("its value is a buffer"));
  EXPECT_THAT(error_of(n, function->BufferOf(0)), HasSubstr("has no buffer"));
  EXPECT_THAT(error_of(n, IntImm(DType::Int(64), 3)),
              HasSubstr("n has the type int32, its value has int64"));
  EXPECT_THAT(error_of(n, Add(n, IntImm(kInt32, 1))),
              HasSubstr("a value uses a parameter that has a value, too"));
}

}  // namespace
}  // namespace baton::tir
