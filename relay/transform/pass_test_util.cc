#include "baton/relay/transform/pass_test_util.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/infer_type.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/text_parser.h"
#include "baton/ir/text_printer.h"
#include "baton/ir/type.h"
#include "baton/ir/well_formed.h"
#include "baton/relay/op/tensor.h"
#include "baton/runtime/evaluator.h"
#include "baton/runtime/value.h"
#include "baton/testing/inputs.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;

IRModule TypedOrFail(const IRModule& module) {
  const absl::StatusOr<IRModule> typed = InferTypes(module);
  EXPECT_THAT(typed, IsOk()) << ToText(module);
  return typed.ok() ? *typed : IRModule();
}

// Builds expressions from those that were built before. Scopes nest; an
// expression is good in the scope of the innermost let variable or parameter
// that it depends on, and in all scopes inside of that.
class Generator {
 public:
  Generator(uint32_t seed, const RandomProgramOptions& options)
      : random_(seed), options_(options), left_(options.size) {}

  IRModule Run() {
    std::vector<Var> params;
    for (const char* name : {"x", "y", "z"}) {
      params.push_back(Var(name, {2}));
      Know(params.back(), 0);
    }
    Expr body = Scope(0);
    return TypedOrFail(
        IRModule::FromExpr(Function(std::move(params), std::move(body))));
  }

 private:
  struct Known {
    Expr expr;
    int scope;  // how many scopes are around it at least
  };

  int Random(int n) { return static_cast<int>(random_() % n); }
  void Know(Expr expr, int scope) {
    known_.push_back({std::move(expr), scope});
  }
  // Recent ones more often than old ones.
  Known Pick() {
    const int n = static_cast<int>(known_.size());
    return known_[Random(2) == 0 ? Random(n) : n - 1 - Random(n < 4 ? n : 4)];
  }

  // Some expression on what is known in `scope`; known itself from then on.
  Expr Dataflow() {
    --left_;
    const Known a = Pick();
    const Known b = Pick();
    int scope = std::max(a.scope, b.scope);
    Expr expr;
    switch (Random(7)) {
      case 0:
        expr = TupleGetItem(Tuple({a.expr, b.expr}), Random(2));
        break;
      case 1:
        expr = Multiply(a.expr, Const(0.5f));
        scope = a.scope;
        break;
      case 2: {
        const Var p(absl::StrCat("p", left_), {2});
        // The callee shares `b` with what is around it.
        expr = Call(Function({p}, Subtract(p, b.expr)), {a.expr});
        break;
      }
      case 3:
        expr = Const(0.25f * static_cast<float>(Random(4)));
        expr = Add(expr, a.expr);
        scope = a.scope;
        break;
      default:
        expr = Random(2) == 0 ? Add(a.expr, b.expr) : Maximum(a.expr, b.expr);
        break;
    }
    Know(expr, scope);
    return expr;
  }

  // What follows in `scope`, to its end.
  Expr Scope(int scope) {
    const size_t outside = known_.size();
    Expr result = Rest(scope);
    // What depends on the variables of the scope is not known outside.
    size_t kept = outside;
    for (size_t i = outside; i < known_.size(); ++i) {
      if (known_[i].scope < scope) known_[kept++] = known_[i];
    }
    known_.resize(kept);
    return result;
  }

  Expr Value(int scope) {
    switch (Random(6)) {
      case 0:
        return Pick().expr;
      case 1:
        return Branch(scope);
      case 2:
        return Scope(scope + 1);
      default:
        return Dataflow();
    }
  }

  Expr Branch(int scope) {
    --left_;
    const Expr cond = Less(Sum(Pick().expr), Const(0.0f));
    Expr yes = Scope(scope + 1);
    Expr no = Scope(scope + 1);
    return If(cond, std::move(yes), std::move(no));
  }

  Expr Rest(int scope) {
    if (left_ <= 0 || Random(6) == 0) {
      return Random(4) == 0 ? Branch(scope) : Dataflow();
    }
    if (options_.effects && Random(3) == 0) return Effect(scope);
    if (Random(5) == 0) return LocalFunction(scope);
    --left_;
    const Var var(absl::StrCat("v", left_));
    Expr value = Value(scope);
    Know(var, scope + 1);
    return Let(var, std::move(value), Scope(scope + 1));
  }

  Expr LocalFunction(int scope) {
    --left_;
    const Var f(absl::StrCat("f", left_));
    const Var p(absl::StrCat("p", left_), {2});
    const auto outside = static_cast<std::ptrdiff_t>(known_.size());
    Know(p, scope + 1);
    // Calls are shared as if they had no effects; so they must have none.
    std::vector<Var> cells;
    cells.swap(cells_);
    Expr body = Scope(scope + 1);
    cells.swap(cells_);
    known_.erase(known_.begin() + outside);
    const Expr function = Function({p}, std::move(body));
    const int calls = Random(3);
    for (int i = 0; i < calls; ++i) {
      Know(Call(f, {Pick().expr}), scope + 1);
    }
    return Let(f, function, Scope(scope + 1));
  }

  Expr Effect(int scope) {
    --left_;
    const Var v(absl::StrCat("r", left_));
    if (cells_.empty() || Random(3) == 0) {
      cells_.push_back(v);
      Expr content = Pick().expr;
      Expr body = Scope(scope + 1);
      cells_.pop_back();
      return Let(v, RefCreate(std::move(content)), std::move(body));
    }
    const Var cell = cells_[Random(static_cast<int>(cells_.size()))];
    if (Random(2) == 0) {
      Expr content = Pick().expr;
      return Let(v, RefWrite(cell, std::move(content)), Scope(scope + 1));
    }
    Know(v, scope + 1);
    return Let(v, RefRead(cell), Scope(scope + 1));
  }

  std::mt19937 random_;
  const RandomProgramOptions options_;
  int left_;
  std::vector<Known> known_;
  std::vector<Var> cells_;
};

}  // namespace

IRModule ParseTyped(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text);
  EXPECT_THAT(module, IsOk()) << text;
  return module.ok() ? TypedOrFail(*module) : IRModule();
}

bool SameValue(const Value& a, const Value& b) {
  if (a.is_tensor()) return b.is_tensor() && a.tensor() == b.tensor();
  if (!a.is_tuple()) return !b.is_tensor() && !b.is_tuple();
  if (!b.is_tuple() || a.fields().size() != b.fields().size()) return false;
  for (size_t i = 0; i < a.fields().size(); ++i) {
    if (!SameValue(a.fields()[i], b.fields()[i])) return false;
  }
  return true;
}

IRModule RunChecked(const Pass& pass, const IRModule& module) {
  const std::string before = AsText(module);
  const absl::StatusOr<IRModule> result = pass(module);
  EXPECT_THAT(result, IsOk()) << before;
  if (!result.ok()) return module;
  EXPECT_EQ(AsText(module), before) << "the input was touched";
  EXPECT_THAT(CheckWellFormed(*result), IsOk()) << before << "became\n"
                                                << ToText(*result);
  const IRModule typed = TypedOrFail(*result);
  EXPECT_THAT(testing::CheckRoundTrip(typed, /*typed=*/true), IsOk());
  const Function main = module.Find("main");
  if (!main.defined() || !HasKernels(main)) return typed;
  const auto inputs = testing::RandomInputs(main, /*seed=*/1);
  if (!inputs.ok()) return typed;
  const EvaluateOptions options = {.max_call_depth = 1000};
  const absl::StatusOr<Value> want =
      EvaluateFunction(module, "main", *inputs, options);
  if (!want.ok()) return typed;
  const absl::StatusOr<Value> got =
      EvaluateFunction(typed, "main", *inputs, options);
  EXPECT_THAT(got, IsOk()) << before << "became\n" << ToText(typed);
  if (got.ok()) {
    EXPECT_TRUE(SameValue(*got, *want)) << before << "became\n"
                                        << ToText(typed);
  }
  return typed;
}

void ExpectPassMakes(const Pass& pass, absl::string_view before,
                     absl::string_view after) {
  const IRModule result = RunChecked(pass, ParseTyped(before));
  EXPECT_EQ(FirstDifference(result, ParseTyped(after)), std::nullopt)
      << ToText(result);
}

void ExpectPassLeaves(const Pass& pass, absl::string_view text) {
  const IRModule module = ParseTyped(text);
  const absl::StatusOr<IRModule> result = pass(module);
  EXPECT_THAT(result, IsOk());
  if (!result.ok()) return;
  EXPECT_TRUE(result->SameAs(module)) << ToText(*result);
}

IRModule RandomProgram(uint32_t seed, const RandomProgramOptions& options) {
  return Generator(seed, options).Run();
}

}  // namespace baton::relay
