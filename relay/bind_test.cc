#include "baton/relay/bind.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;

TEST(BindTest, ReplacesParametersByConstantsThatShareTheBuffer) {
  const Var x("x", {2});
  const Var w("w", {2});
  const Function f({x, w}, Tuple({x, w, w}));
  const Tensor value = *Tensor::Ones(DType::Float(32), {2});
  const absl::StatusOr<Function> bound = BindParamsByName(f, {{"w", value}});
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_EQ((*bound)->params().size(), 1u);
  EXPECT_EQ((*bound)->params()[0], x);
  const auto fields = (*bound)->body().As<TupleNode>()->fields();
  EXPECT_EQ(fields[0], x);
  EXPECT_EQ(fields[1], fields[2]);
  EXPECT_TRUE(fields[1].As<ConstantNode>()->value().SharesBufferWith(value));
}

TEST(BindTest, NothingToBindIsTheSameFunction) {
  const Var x("x", {2});
  const Function f({x}, x);
  EXPECT_EQ(*BindParamsByName(f, {}), f);
}

TEST(BindTest, Refusals) {
  const Var x("x", {2});
  const Function f({x}, x);
  const Function twice({x, Var("x", {2})}, x);
  const Tensor good = *Tensor::Ones(DType::Float(32), {2});
  const Tensor bad_shape = *Tensor::Ones(DType::Float(32), {3});
  const Tensor bad_dtype = *Tensor::Ones(DType::Int(32), {2});
  absl::Status status = BindParamsByName(f, {{"xx", good}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no parameter \"xx\"; did you mean \"x\"?"));
  EXPECT_THAT(
      std::string(BindParamsByName(twice, {{"x", good}}).status().message()),
      HasSubstr("several parameters named \"x\""));
  for (const Tensor& bad : {bad_shape, bad_dtype}) {
    status = BindParamsByName(f, {{"x", bad}}).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("cannot bind %x"));
  }
}

}  // namespace
}  // namespace baton::relay
