#include "baton/testing/random_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/relay/op/builders.h"

namespace baton::testing {
namespace {

using relay::Call;
using relay::Function;
using relay::Let;
using relay::Pattern;
using relay::TupleGetItem;
using relay::TypeData;
using relay::Var;

namespace nn = relay::nn;
using relay::Const;

// The sorts of expressions: every sort is one type.
enum class Sort {
  kVector,   // (2)
  kMatrix,   // (2, 4)
  kImage,    // (1, 4, 5, 5)
  kPair,     // (vector, matrix)
  kClosure,  // fn (vector) -> vector
  kChoice,   // the data type below
};

constexpr absl::string_view kChoiceType = R"(
  type Choice {
    Leaf(Tensor[(2), float32]),
    Both(Tensor[(2), float32], Choice),
    Neither,
  })";

Type TypeOf(Sort sort, const TypeData& choice) {
  const DType f32 = DType::Float(32);
  switch (sort) {
    case Sort::kVector:
      return TensorType({2}, f32);
    case Sort::kMatrix:
      return TensorType({2, 4}, f32);
    case Sort::kImage:
      return TensorType({1, 4, 5, 5}, f32);
    case Sort::kPair:
      return TupleType({TensorType({2}, f32), TensorType({2, 4}, f32)});
    case Sort::kClosure:
      return FuncType({TensorType({2}, f32)}, TensorType({2}, f32));
    case Sort::kChoice:
      return choice->constructors()[1]->inputs()[1];
  }
  return {};
}

// Builds expressions from those that were built before. Scopes nest; an
// expression is good in the scope of the innermost let variable or parameter
// that it depends on, and in all scopes inside of that.
class Generator {
 public:
  Generator(uint32_t seed, const RandomProgramOptions& options)
      : random_(seed),
        constants_(seed + 1),
        options_(options),
        left_(options.size) {}

  absl::StatusOr<IRModule> Run() {
    IRModule module;
    if (options_.data_types) {
      BATON_ASSIGN_OR_RETURN(module, ParseModule(kChoiceType));
      choice_ = module.FindType<TypeData>("Choice");
    }
    if (options_.functions) {
      for (int i = Random(3); i > 0; --i) {
        const std::string name = absl::StrCat("g", i);
        const int left = left_;
        left_ = std::max(2, left / 4);
        module.Set(name, TopLevel({"a"}, Sort::kVector));
        left_ = left - left / 4;
        globals_.push_back(GlobalVar(name));
      }
      if (options_.doubling) AddDoubling(module);
    }
    const Sort sort =
        options_.networks
            ? OneOf({Sort::kVector, Sort::kMatrix, Sort::kImage, Sort::kPair})
            : Sort::kVector;
    module.Set("main", TopLevel({"x", "y", "z"}, sort));
    return relay::InferTypes(module);
  }

 private:
  struct Known {
    Expr expr;
    int scope;  // how many scopes are around it at least
    Sort sort;
  };

  int Random(int n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return *(values.begin() + Random(static_cast<int>(values.size())));
  }
  std::string Name(absl::string_view prefix) {
    return absl::StrCat(prefix, names_++);
  }
  const Known& Know(Expr expr, int scope, Sort sort) {
    known_.push_back({std::move(expr), scope, sort});
    return known_.back();
  }

  // A sort for a let or a function.
  Sort AnySort() {
    const int n = Random(12);
    if (options_.networks && n < 5) {
      return n < 2 ? Sort::kMatrix : n < 4 ? Sort::kImage : Sort::kPair;
    }
    if (options_.data_types && n < 7) return Sort::kChoice;
    if (options_.functions && n < 8) return Sort::kClosure;
    return Sort::kVector;
  }

  // Picks a known expression of `sort`, recent ones more often than old ones.
  Known Pick(Sort sort) {
    std::vector<size_t> candidates;
    for (size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].sort == sort) candidates.push_back(i);
    }
    if (candidates.empty()) return Dataflow(sort);
    const int n = static_cast<int>(candidates.size());
    const int i = Random(2) == 0 ? Random(n) : n - 1 - Random(std::min(n, 4));
    return known_[candidates[static_cast<size_t>(i)]];
  }

  Function TopLevel(std::initializer_list<const char*> names, Sort sort) {
    known_.clear();
    std::vector<Var> params;
    const auto add = [&](const char* name, Sort of) {
      params.push_back(Var(name, TypeOf(of, choice_)));
      Know(params.back(), 0, of);
    };
    for (const char* name : names) add(name, Sort::kVector);
    if (options_.networks) {
      add("m", Sort::kMatrix);
      add("i", Sort::kImage);
    }
    Expr body = Scope(0, sort);
    return Function(std::move(params), std::move(body));
  }

  // Functions to inline: each calls the next one on its own result, twice.
  void AddDoubling(IRModule& module) {
    const int depth = 2 + Random(4);
    for (int i = 0; i <= depth; ++i) {
      std::vector<Var> params = {Var("a", TypeOf(Sort::kVector, choice_))};
      if (options_.networks) {
        params.emplace_back("m", TypeOf(Sort::kMatrix, choice_));
        params.emplace_back("i", TypeOf(Sort::kImage, choice_));
      }
      const auto next = [&](Expr a) {
        std::vector<Expr> args(params.begin(), params.end());
        args[0] = std::move(a);
        return Call(GlobalVar(absl::StrCat("d", i + 1)), args);
      };
      const Expr body = i < depth ? Expr(next(next(params[0])))
                                  : relay::Maximum(params[0], RandomConst({2}));
      module.Set(absl::StrCat("d", i),
                 Function(params, body, TypeOf(Sort::kVector, choice_))
                     .WithAttr(std::string(relay::attr::kInline), 1));
    }
    globals_.push_back(GlobalVar("d0"));
  }

  // Multiples of 1/16 up to 1/2, or from there to 1 if `positive`. Often with
  // zeros and ones, as of channels that are pruned and gammas that are not
  // trained yet, and with minus ones; now and then all of them tiny or huge, as
  // of units that differ. What is special takes nothing from other draws.
  Expr RandomConst(std::initializer_list<int64_t> shape,
                   bool positive = false) {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) {
      value =
          static_cast<float>(positive ? 8 + Random(9) : Random(17) - 8) / 16.0f;
    }
    if (constants_() % 3 == 0) {
      for (float& value : values) {
        const uint32_t special = constants_() % 8;
        if (special < 2) value = 0;
        if (special == 2) value = 1;
        if (special == 3 && !positive) value = -1;
      }
    }
    if (constants_() % 16 == 0) {
      // A power of two: what is computed has as many bits as before.
      const float scale = constants_() % 2 == 0 ? 0x1p-30f : 0x1p30f;
      for (float& value : values) value *= scale;
    }
    if (options_.special_constants && constants_() % 4 == 0) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(),
                                    kInfinity,
                                    -kInfinity,
                                    -0.0f,
                                    std::numeric_limits<float>::max(),
                                    std::numeric_limits<float>::lowest(),
                                    std::numeric_limits<float>::denorm_min(),
                                    std::numeric_limits<float>::min()};
      for (float& value : values) {
        if (constants_() % 3 == 0) {
          value = kSpecial[constants_() % std::size(kSpecial)];
        }
      }
    }
    return relay::Constant(
        *Tensor::FromValues<float>({shape.begin(), shape.size()}, values));
  }

  // Builds some expression on known ones, and makes it known.
  Known Dataflow(Sort sort) {
    --left_;
    scope_ = 0;
    Expr expr;
    switch (sort) {
      case Sort::kVector:
        expr = Vector();
        break;
      case Sort::kMatrix:
        expr = Matrix();
        break;
      case Sort::kImage:
        expr = Image();
        break;
      case Sort::kPair: {
        const Known a = Pick(Sort::kVector);
        const Known b = Pick(Sort::kMatrix);
        return Know(relay::Tuple({a.expr, b.expr}), std::max(a.scope, b.scope),
                    sort);
      }
      case Sort::kClosure: {
        const Known a = Pick(Sort::kVector);
        const Var p(Name("q"), {2});
        return Know(Function({p}, relay::Maximum(p, a.expr)), a.scope, sort);
      }
      case Sort::kChoice:
        return Choice();
    }
    return Know(std::move(expr), scope_, sort);
  }

  // An operand; the expression is as deep in scopes as its deepest operand.
  Expr Operand(Sort sort) {
    const int scope = scope_;
    const Known known = Pick(sort);
    scope_ = std::max(scope, known.scope);
    return known.expr;
  }
  Expr V() { return Operand(Sort::kVector); }
  Expr M() { return Operand(Sort::kMatrix); }
  Expr I() { return Operand(Sort::kImage); }

  Expr Vector() {
    if (options_.networks && Random(3) == 0) return NetworkVector();
    if (options_.functions && Random(5) == 0) {
      if (!globals_.empty() && Random(2) == 0) {
        std::vector<Expr> args = {V()};
        if (options_.networks) {
          args.push_back(M());
          args.push_back(I());
        }
        return Call(globals_[static_cast<size_t>(
                        Random(static_cast<int>(globals_.size())))],
                    args);
      }
      const Expr closure = Operand(Sort::kClosure);
      return Call(closure, {V()});
    }
    if (options_.casts && Random(4) == 0) return Casts();
    if (options_.towers && Random(6) == 0) return Tower();
    const Expr a = V();
    switch (Random(7)) {
      case 0:
        return TupleGetItem(relay::Tuple({a, V()}), Random(2));
      case 1:
        return relay::Multiply(a, Const(0.5f));
      case 2: {
        const Var p(Name("p"), {2});
        // The callee shares its operand with what is around it.
        return Call(Function({p}, relay::Subtract(p, V())), {a});
      }
      case 3:
        return relay::Add(Const(0.25f * static_cast<float>(Random(4))), a);
      case 4:
        return relay::Maximum(a, V());
      default:
        return relay::Add(a, V());
    }
  }

  // A chain of casts through two or three types, of numbers that some of them
  // do not hold.
  Expr Casts() {
    constexpr DType kTypes[] = {
        DType::Float(16), DType::Float(32), DType::Float(64), DType::BFloat(16),
        DType::Int(8),    DType::Int(16),   DType::Int(32),   DType::Int(64),
        DType::UInt(8),   DType::UInt(16),  DType::UInt(32),  DType::UInt(64),
        DType::Bool()};
    constexpr float kScales[] = {1,       100,     300,       2049,
                                 65535,   0x1p16f, 0x1.8p24f, 0x1.8p23f,
                                 0x1p31f, 0x1p32f, 0x1p63f,   1e-3f};
    Expr e = relay::Multiply(V(), Const(kScales[static_cast<size_t>(Random(
                                      static_cast<int>(std::size(kScales))))]));
    for (int i = 2 + Random(2); i > 0; --i) {
      e = relay::Cast(std::move(e), kTypes[static_cast<size_t>(Random(
                                        static_cast<int>(std::size(kTypes))))]);
    }
    return relay::Cast(std::move(e), DType::Float(32));
  }

  // A part of a tuple that shares its parts, at once or as the argument of a
  // function.
  Expr Tower() {
    const int depth = 2 + Random(5);
    Expr tower = V();
    Type type = TypeOf(Sort::kVector, choice_);
    for (int i = 0; i < depth; ++i) {
      tower = relay::Tuple({tower, tower});
      type = TupleType({type, type});
    }
    const auto part = [&](Expr whole) {
      for (int i = 0; i < depth; ++i) {
        whole = TupleGetItem(std::move(whole), Random(2));
      }
      return whole;
    };
    if (Random(2) == 0) return part(std::move(tower));
    const Var p(Name("p"), type);
    return Call(Function({p}, part(p)), {std::move(tower)});
  }

  Expr NetworkVector() {
    switch (Random(10)) {
      case 0:
        return relay::Sum(M(), {.axis = {{1}}});
      case 1:
        return relay::Max(M(), {.axis = {{1}}});
      case 2:
        return relay::Reshape(
            relay::Mean(M(), {.axis = {{-1}}, .keepdims = true}), {-1});
      case 3:
        return TupleGetItem(Operand(Sort::kPair), 0);
      case 4:
        return relay::StridedSlice(relay::Concatenate({V(), V()}, 0), {1}, {3});
      case 5:
        return relay::Where(relay::Less(V(), Const(0.0f)), V(), V());
      case 6:
        return relay::Cast(relay::Cast(V(), DType::Int(32)), DType::Float(32));
      case 7:
        // Uses only constants.
        return relay::Add(relay::Multiply(RandomConst({2}), Const(0.5f)), V());
      case 8:
        return relay::Take(V(), Const(*Tensor::FromValues<int32_t>(
                                    {2}, std::vector<int32_t>{1, 0})));
      default:
        return relay::Tanh(V());
    }
  }

  Expr Matrix() {
    switch (Random(17)) {
      case 0:
      case 1:
        return nn::Dense(M(), RandomConst({4, 4}));
      case 2:
        return relay::Add(M(), relay::ExpandDims(V(), 1));
      case 3:
        return nn::BiasAdd(M(), RandomConst({4}));
      case 4:
        return relay::Transpose(relay::Add(relay::Transpose(M()), Const(1.0f)));
      case 5:
        return nn::Softmax(M());
      case 6:
        return TupleGetItem(Operand(Sort::kPair), 1);
      case 7:
        return nn::Relu(M());
      case 8: {
        const Expr parts = relay::Split(M(), 2, 1);
        return relay::Concatenate(
            {TupleGetItem(parts, 1), TupleGetItem(parts, 0)}, 1);
      }
      case 9:
        return nn::LayerNorm(M(), RandomConst({4}, true), RandomConst({4}));
      case 10:
        return nn::Dropout(M());
      case 11:
        return relay::Add(
            M(), relay::Reshape(relay::Mean(I(), {.axis = {{2, 3}}}), {1, 4}));
      case 12:
        return relay::Multiply(M(), RandomConst({4}, true));
      case 13:
        return nn::Dense(nn::Relu(relay::Multiply(M(), RandomConst({4}, true))),
                         RandomConst({4, 4}));
      case 14:
        return nn::BatchFlatten(relay::Reshape(M(), {2, 2, 2}));
      case 15:
        return relay::Maximum(M(), M());
      default:
        return relay::Add(M(), M());
    }
  }

  Expr Conv(Expr data) {
    switch (Random(4)) {
      case 0:
        return nn::Conv2D(std::move(data), RandomConst({4, 1, 3, 3}),
                          {.padding = {1, 1},
                           .groups = 4,
                           .channels = 4,
                           .kernel_size = {3, 3}});
      case 1:
        return nn::Conv2D(
            std::move(data), RandomConst({4, 4, 3, 3}),
            {.padding = {1, 1}, .channels = 4, .kernel_size = {3, 3}});
      default:
        return nn::Conv2D(std::move(data), RandomConst({4, 4, 1, 1}),
                          {.channels = 4, .kernel_size = {1, 1}});
    }
  }

  Expr Image() {
    switch (Random(15)) {
      case 0:
      case 1:
        return Conv(I());
      case 2:
        return Conv(
            nn::Relu(relay::Multiply(I(), RandomConst({4, 1, 1}, true))));
      case 3:
        return relay::Multiply(Conv(I()), RandomConst({4, 1, 1}, true));
      case 4:
      case 5:
        return TupleGetItem(
            nn::BatchNorm(I(), RandomConst({4}, true), RandomConst({4}),
                          RandomConst({4}), RandomConst({4}, true)),
            0);
      case 6:
        return nn::BiasAdd(I(), RandomConst({4}));
      case 7:
        return nn::Relu(I());
      case 8:
        return nn::MaxPool2D(I(), {.pool_size = {3, 3}, .padding = {1, 1}});
      case 9:
        return nn::AvgPool2D(I(), {.pool_size = {3, 3}, .padding = {1, 1}});
      case 10:
        return nn::Conv2D(relay::Concatenate({I(), I()}, 1),
                          RandomConst({4, 8, 1, 1}),
                          {.channels = 4, .kernel_size = {1, 1}});
      case 11:
        return relay::Add(
            I(), relay::Reshape(relay::Sum(M(), {.axis = {{0}}}), {4, 1, 1}));
      case 12:
        return relay::Transpose(nn::Relu(relay::Transpose(I(), {{0, 2, 3, 1}})),
                                {{0, 3, 1, 2}});
      case 13:
        return relay::Maximum(I(), nn::GlobalAvgPool2D(I()));
      default:
        return relay::Add(I(), I());
    }
  }

  Known Choice() {
    const auto constructors = choice_->constructors();
    const int form = known_choices_++ == 0 ? 0 : Random(4);
    scope_ = 0;
    Expr expr;
    if (form == 1) {
      const Expr a = V();
      expr = Call(constructors[1], {a, Operand(Sort::kChoice)});
    } else if (form == 2) {
      expr = Call(constructors[2], absl::Span<const Expr>());
    } else {
      expr = Call(constructors[0], {V()});
    }
    return Know(std::move(expr), scope_, Sort::kChoice);
  }

  // The rest of `scope`, to its end.
  Expr Scope(int scope, Sort sort) {
    const size_t outside = known_.size();
    Expr result = Rest(scope, sort);
    // Expressions that depend on the variables of the scope cannot be used
    // outside.
    size_t kept = outside;
    for (size_t i = outside; i < known_.size(); ++i) {
      if (known_[i].scope < scope) known_[kept++] = known_[i];
    }
    known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(kept),
                 known_.end());
    return result;
  }

  // A scope with variables of its own.
  Expr ScopeOf(const std::vector<Var>& vars, int scope, Sort sort) {
    const auto outside = static_cast<std::ptrdiff_t>(known_.size());
    for (const Var& var : vars) Know(var, scope, Sort::kVector);
    Expr body = Scope(scope, sort);
    known_.erase(
        known_.begin() + outside,
        known_.begin() + outside + static_cast<std::ptrdiff_t>(vars.size()));
    return body;
  }

  Expr Value(int scope, Sort sort) {
    switch (Random(6)) {
      case 0:
        return Pick(sort).expr;
      case 1:
        return Branch(scope, sort);
      case 2:
        return Scope(scope + 1, sort);
      default:
        return Dataflow(sort).expr;
    }
  }

  Expr Branch(int scope, Sort sort) {
    --left_;
    if (options_.data_types && Random(2) == 0) return MatchOn(scope, sort);
    const Expr cond =
        relay::Less(relay::Sum(Pick(Sort::kVector).expr), Const(0.0f));
    Expr yes = Scope(scope + 1, sort);
    Expr no = Scope(scope + 1, sort);
    return relay::If(cond, std::move(yes), std::move(no));
  }

  Expr MatchOn(int scope, Sort sort) {
    const auto constructors = choice_->constructors();
    Expr data = Pick(Sort::kChoice).expr;
    std::vector<relay::Clause> clauses;
    const Var a(Name("a"));
    clauses.push_back(
        {Pattern::OfConstructor(constructors[0], {Pattern::OfVar(a)}),
         ScopeOf({a}, scope + 1, sort)});
    if (Random(2) == 0) {
      const Var b(Name("b"));
      const Var c(Name("c"));
      clauses.push_back(
          {Pattern::OfConstructor(
               constructors[1],
               {Pattern::OfVar(b),
                Pattern::OfConstructor(constructors[0], {Pattern::OfVar(c)})}),
           ScopeOf({b, c}, scope + 1, sort)});
    }
    clauses.push_back({Pattern::Wildcard(), Scope(scope + 1, sort)});
    return relay::Match(std::move(data), std::move(clauses));
  }

  Expr Rest(int scope, Sort sort) {
    if (left_ <= 0 || Random(6) == 0) {
      return Random(4) == 0 && left_ > -options_.size ? Branch(scope, sort)
                                                      : Dataflow(sort).expr;
    }
    if (options_.effects && Random(3) == 0) return Effect(scope, sort);
    if (Random(5) == 0) return LocalFunction(scope, sort);
    --left_;
    const Var var(Name("v"));
    const Sort of = AnySort();
    Expr value = Value(scope, of);
    Know(var, scope + 1, of);
    return Let(var, std::move(value), Scope(scope + 1, sort));
  }

  Expr LocalFunction(int scope, Sort sort) {
    --left_;
    // Calls are shared as if they had no effects; so they must have none.
    std::vector<Var> cells;
    cells.swap(cells_);
    const Var p(Name("p"), {2});
    Var f;
    Function function;
    Sort result = AnySort();
    const bool recursive = options_.functions && Random(2) == 0;
    if (recursive) {
      // Counts `n` down to the end.
      const DType i32 = DType::Int(32);
      const Var n(Name("n"), {}, i32);
      const Type type = TypeOf(result, choice_);
      f = Var(Name("f"),
              FuncType({TensorType::Scalar(i32), p->annotation()}, type));
      Expr end = ScopeOf({p}, scope + 1, result);
      const size_t outside = known_.size();
      Know(p, scope + 1, Sort::kVector);
      Expr next = Dataflow(Sort::kVector).expr;
      known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(outside),
                   known_.end());
      next = Call(f, {relay::Subtract(n, Const(1)), next});
      function = Function(
          {n, p}, relay::If(relay::Less(n, Const(1)), std::move(end), next),
          type);
    } else {
      f = Var(Name("f"));
      function = Function({p}, ScopeOf({p}, scope + 1, result));
    }
    cells.swap(cells_);
    const int calls = Random(3);
    for (int i = 0; i < calls; ++i) {
      const Known arg = Pick(Sort::kVector);
      std::vector<Expr> args;
      if (recursive) args.push_back(Const(Random(4)));
      args.push_back(arg.expr);
      Know(Call(f, args), scope + 1, result);
    }
    if (!recursive && result == Sort::kVector && options_.functions) {
      Know(f, scope + 1, Sort::kClosure);
    }
    return Let(f, function, Scope(scope + 1, sort));
  }

  Expr Effect(int scope, Sort sort) {
    --left_;
    const Var v(Name("r"));
    if (cells_.empty() || Random(3) == 0) {
      Expr content = Pick(Sort::kVector).expr;
      cells_.push_back(v);
      Expr body = Scope(scope + 1, sort);
      cells_.pop_back();
      return Let(v, relay::RefCreate(std::move(content)), std::move(body));
    }
    const Var cell =
        cells_[static_cast<size_t>(Random(static_cast<int>(cells_.size())))];
    if (Random(2) == 0) {
      Expr content = Pick(Sort::kVector).expr;
      return Let(v, relay::RefWrite(cell, std::move(content)),
                 Scope(scope + 1, sort));
    }
    Know(v, scope + 1, Sort::kVector);
    return Let(v, relay::RefRead(cell), Scope(scope + 1, sort));
  }

  std::mt19937 random_;
  std::mt19937 constants_;  // which of their elements are special
  const RandomProgramOptions options_;
  int left_;
  int names_ = 0;
  int scope_ = 0;  // of the expression under construction
  int known_choices_ = 0;
  TypeData choice_;
  std::vector<GlobalVar> globals_;
  std::vector<Known> known_;
  std::vector<Var> cells_;
};

class ReplaceOne final : public relay::ExprMutator {
 public:
  ReplaceOne(const ExprNode* target, Expr by)
      : target_(target), by_(std::move(by)) {}

 protected:
  Expr Before(const ExprNode* node) override {
    return node == target_ ? by_ : Expr();
  }

 private:
  const ExprNode* target_;
  const Expr by_;
};

class Shrinker {
 public:
  Shrinker(IRModule module, absl::FunctionRef<bool(const IRModule&)> fails,
           int max_calls)
      : module_(std::move(module)), fails_(fails), calls_left_(max_calls) {}

  IRModule Run() {
    while (calls_left_ > 0 && Step()) {
    }
    return module_;
  }

 private:
  // True if the module became smaller.
  bool Step() {
    const IRModule module = module_;
    for (const auto& d : module.functions<Function>()) {
      if (d.var->name() == "main") continue;
      IRModule without = module;
      without.Remove(d.var->name());
      if (Try(without)) return true;
    }
    for (const TypeData& type : module.types<TypeData>()) {
      IRModule without;
      for (const TypeData& other : module.types<TypeData>()) {
        if (!(other == type)) without.SetType(other);
      }
      for (const auto& d : module.functions<Function>()) {
        without.Set(d.var, d.function);
      }
      if (Try(without)) return true;
    }
    for (const auto& d : module.functions<Function>()) {
      if (StepIn(d)) return true;
    }
    return false;
  }

  bool StepIn(const IRModule::DefinitionOf<Function>& d) {
    const Function& function = d.function;
    const std::vector<Var> params(function->params().begin(),
                                  function->params().end());
    const auto with = [&](std::vector<Var> new_params, Expr body) {
      IRModule module = module_;
      module.Set(d.var, Function(std::move(new_params), std::move(body), {},
                                 {function->type_params().begin(),
                                  function->type_params().end()},
                                 function->attrs()));
      return module;
    };
    for (size_t i = 0; i < params.size(); ++i) {
      std::vector<Var> rest = params;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (Try(with(std::move(rest), function->body()))) return true;
    }
    // Wholes before their parts.
    std::vector<const ExprNode*> nodes;
    relay::PostOrderVisit(function->body(),
                          [&](const ExprNode* node) { nodes.push_back(node); });
    std::reverse(nodes.begin(), nodes.end());
    // Any part for the whole, whatever its type.
    for (size_t i = 1; i < nodes.size(); ++i) {
      if (IsLeaf(nodes[i]->kind()) ||
          nodes[i]->kind() == relay::ExprKind::kFunction) {
        continue;
      }
      if (Try(with(params, Expr(nodes[i])))) return true;
    }
    for (const ExprNode* node : nodes) {
      if (IsLeaf(node->kind()) || !node->type().defined()) continue;
      for (const Expr& by : Smaller(node, params)) {
        if (Try(with(params, *ReplaceOne(node, by).Mutate(function->body())))) {
          return true;
        }
      }
    }
    return false;
  }

  // Expressions of the type of `node` to put in its place.
  static std::vector<Expr> Smaller(const ExprNode* node,
                                   const std::vector<Var>& params) {
    constexpr size_t kMax = 12;
    std::vector<Expr> result;
    const auto add = [&](const Expr& expr) {
      if (expr.get() != node && expr->type().defined() &&
          expr->kind() != relay::ExprKind::kConstant &&
          StructuralEqual(expr->type(), node->type())) {
        result.push_back(expr);
      }
    };
    for (const Var& param : params) add(param);
    if (node->kind() == relay::ExprKind::kLet) {
      const auto* let = static_cast<const relay::LetNode*>(node);
      result.push_back(relay::Substitute(
          let->body(), {{static_cast<const relay::VarNode*>(let->var().get()),
                         let->value()}}));
    }
    // Parts, the nearest first.
    std::vector<Expr> queue;
    absl::flat_hash_set<const ExprNode*> seen;
    const auto push_children = [&](const ExprNode* of) {
      relay::ForEachChild(of, [&](const Expr& child) {
        if (seen.insert(child.get()).second) queue.push_back(child);
      });
    };
    push_children(node);
    for (size_t i = 0; i < queue.size() && result.size() < kMax; ++i) {
      const Expr part = queue[i];
      add(part);
      push_children(part.get());
    }
    if (const TensorTypeNode* type = node->tensor_type()) {
      std::vector<int64_t> shape;
      for (const Dim& dim : type->shape()) {
        if (!dim.is_const()) return result;
        shape.push_back(dim.value());
      }
      const absl::StatusOr<Tensor> ones = Tensor::Ones(type->dtype(), shape);
      if (ones.ok()) result.push_back(relay::Constant(*ones));
    }
    return result;
  }

  static int64_t Size(const IRModule& module) {
    int64_t size = static_cast<int64_t>(module.types().size());
    for (const auto& d : module.functions<Function>()) {
      relay::PostOrderVisit(d.function, [&](const ExprNode* node) {
        // A projection costs more than what a variable does; all that is
        // computed costs more than a constant.
        size += IsLeaf(node->kind()) ? 1 : 2;
      });
    }
    return size;
  }

  bool Try(const IRModule& candidate) {
    if (calls_left_ <= 0 || Size(candidate) >= Size(module_) ||
        !CheckWellFormed(candidate).ok()) {
      return false;
    }
    const absl::StatusOr<IRModule> typed = relay::InferTypes(candidate);
    if (!typed.ok()) return false;
    --calls_left_;
    if (!fails_(*typed)) return false;
    module_ = *typed;
    return true;
  }

  IRModule module_;
  absl::FunctionRef<bool(const IRModule&)> fails_;
  int calls_left_;
};

}  // namespace

RandomProgramOptions RandomProgramOptions::Mixed(uint32_t seed) {
  return {.size = 10 + static_cast<int>(seed / 16 % 7) * 10,
          .effects = (seed & 8) != 0,
          .networks = (seed & 1) == 0,
          .data_types = (seed & 2) != 0,
          .functions = (seed & 4) != 0};
}

RandomProgramOptions RandomProgramOptions::Hard(uint32_t seed) {
  RandomProgramOptions options = Mixed(seed);
  options.casts = true;
  options.special_constants = seed % 3 == 0;
  options.towers = seed % 5 == 0;
  options.doubling = true;
  return options;
}

absl::StatusOr<IRModule> RandomProgram(uint32_t seed,
                                       const RandomProgramOptions& options) {
  return Generator(seed, options).Run();
}

IRModule Shrink(IRModule module, absl::FunctionRef<bool(const IRModule&)> fails,
                int max_calls) {
  return Shrinker(std::move(module), fails, max_calls).Run();
}

}  // namespace baton::testing
