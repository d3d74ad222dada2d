#include "baton/backend/cpu/padded_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/known_sizes.h"
#include "baton/backend/cpu/padded_rules.h"
#include "baton/backend/cpu/value_ranges.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::cpu {
namespace {

using relay::CallNode;
using relay::Const;
using relay::FunctionNode;
using relay::Var;
using relay::VarNode;

constexpr DType kInt64 = DType::Int(64);

absl::Status Refused(absl::string_view reason) {
  return absl::UnimplementedError(reason);
}

Expr Number(int64_t value) { return Const(Tensor::Scalar<int64_t>(value)); }

// The extents of a tensor behind its first axis; nullopt if one is not known.
std::optional<std::vector<int64_t>> ElementShape(const Type& type) {
  const auto* tensor = type.As<TensorTypeNode>();
  if (tensor == nullptr || tensor->rank() == 0) return std::nullopt;
  std::vector<int64_t> shape;
  for (int i = 1; i < tensor->rank(); ++i) {
    if (!tensor->dim(i).is_const()) return std::nullopt;
    shape.push_back(tensor->dim(i).value());
  }
  return shape;
}

bool HasRows(const Type& type, int64_t rows) {
  const auto* tensor = type.As<TensorTypeNode>();
  return tensor != nullptr && tensor->rank() > 0 && tensor->dim(0).is_const() &&
         tensor->dim(0).value() == rows;
}

class LoopPadder {
 public:
  LoopPadder(const CallNode& call, absl::Span<const Padded> args,
             ValueRanges& ranges, const IRModule& module)
      : call_(call),
        args_(args),
        ranges_(ranges),
        module_(module),
        loop_(*call.op().As<relay::LetNode>()),
        function_(*LoopOf(call)) {}

  absl::StatusOr<Padded> Run() {
    BATON_RETURN_IF_ERROR(FindParts());
    BATON_RETURN_IF_ERROR(FindStacks());
    BATON_RETURN_IF_ERROR(FindBound());
    BATON_RETURN_IF_ERROR(CheckRest());
    return Build();
  }

 private:
  size_t num_params() const { return function_.params().size(); }
  const Var& param(size_t i) const { return function_.params()[i]; }
  const Expr& next(size_t i) const { return next_->args()[i]; }
  bool IsStack(size_t i) const { return elements_[i].defined(); }

  // The number of the parameter that `expr` is.
  std::optional<size_t> ParamOf(const Expr& expr) const {
    for (size_t i = 0; i < num_params(); ++i) {
      if (param(i).get() == expr.get()) return i;
    }
    return std::nullopt;
  }

  absl::Status FindParts() {
    const auto* branch = function_.body().As<relay::IfNode>();
    if (branch != nullptr) {
      next_ = branch->true_branch().As<CallNode>();
      results_ = branch->false_branch().As<relay::TupleNode>();
      condition_ = branch->cond();
    }
    if (next_ == nullptr || results_ == nullptr ||
        next_->op().get() != loop_.var().get() ||
        next_->args().size() != num_params() || args_.size() != num_params()) {
      return Refused("it is no loop that calls itself at its end");
    }
    return absl::OkStatus();
  }

  // Stacks have no row before the first round; each round adds one.
  absl::Status FindStacks() {
    elements_.resize(num_params());
    for (size_t i = 0; i < num_params(); ++i) {
      const Type& type = param(i)->type();
      if (HasKnownSizes(type)) continue;
      const auto* concatenation = next(i).As<CallNode>();
      const auto* parts = concatenation != nullptr &&
                                  concatenation->op() == BATON_OP("concatenate")
                              ? concatenation->arg(0).As<relay::TupleNode>()
                              : nullptr;
      const auto shape = ElementShape(type);
      const bool is_stack =
          shape.has_value() && HasRows(args_[i].value->type(), 0) &&
          parts != nullptr && parts->fields().size() == 2 &&
          parts->fields()[0].get() == param(i).get() &&
          HasRows(parts->fields()[1]->type(), 1) &&
          ElementShape(parts->fields()[1]->type()) == shape &&
          AttrsOrDefaults<relay::ConcatenateAttrs>(concatenation->attrs())
                  .axis == 0;
      if (!is_stack) {
        return Refused(absl::StrCat("a round changes the size of %",
                                    param(i)->name(), ", ", type.ToString()));
      }
      elements_[i] = parts->fields()[1];
    }
    return absl::OkStatus();
  }

  // The number that `expr`, which no round changes, is at most.
  std::optional<int64_t> MostOf(const Expr& expr) {
    if (const auto value = relay::ConstantInts(expr);
        value.has_value() && value->size() == 1) {
      return value->front();
    }
    const std::optional<size_t> i = ParamOf(expr);
    if (!i.has_value() || next(*i).get() != expr.get()) return std::nullopt;
    return ranges_.Of(args_[*i].value).most;
  }

  struct Rounds {
    int64_t most = 0;    // of them
    size_t counter = 0;  // the parameter that counts them
    int64_t first = 0;   // its value in the first one
  };

  // The bound that `condition` gives the rounds, if it compares a counter with
  // what no round changes.
  std::optional<Rounds> RoundsOf(const Expr& condition) {
    const auto* compare = condition.As<CallNode>();
    if (compare == nullptr) return std::nullopt;
    const Op less = BATON_OP("less");
    const Op less_equal = BATON_OP("less_equal");
    const Op greater = BATON_OP("greater");
    const Op greater_equal = BATON_OP("greater_equal");
    const Expr& op = compare->op();
    const bool is_up = op == less || op == less_equal;
    if (!is_up && op != greater && op != greater_equal) return std::nullopt;
    const Expr& counter = compare->arg(is_up ? 0 : 1);
    const std::optional<size_t> i = ParamOf(counter);
    if (!i.has_value()) return std::nullopt;
    const std::optional<int64_t> first = CounterStart(*i);
    const std::optional<int64_t> most = MostOf(compare->arg(is_up ? 1 : 0));
    if (!first.has_value() || !most.has_value()) return std::nullopt;
    const __int128 rounds = __int128{*most} - *first +
                            (op == less_equal || op == greater_equal ? 1 : 0);
    constexpr int64_t kMany = int64_t{1} << 40;
    return Rounds{static_cast<int64_t>(std::clamp<__int128>(rounds, 0, kMany)),
                  *i, *first};
  }

  // The number of the first round if parameter `i` counts rounds.
  std::optional<int64_t> CounterStart(size_t i) {
    const auto* type = param(i)->type().As<TensorTypeNode>();
    if (type == nullptr || type->rank() != 0 || !type->dtype().is_integral()) {
      return std::nullopt;
    }
    const auto* sum = next(i).As<CallNode>();
    if (sum == nullptr || sum->op() != BATON_OP("add")) return std::nullopt;
    const int at = sum->arg(0).get() == param(i).get() ? 1 : 0;
    if (sum->arg(1 - at).get() != param(i).get() ||
        relay::ConstantScalar(sum->arg(at)) != 1.0) {
      return std::nullopt;
    }
    const ValueRange first = ranges_.Of(args_[i].value);
    if (first.least != first.most) return std::nullopt;
    return first.least;
  }

  // The least of the bounds of the conditions that must all hold.
  absl::Status FindBound() {
    std::optional<Rounds> least;
    std::vector<Expr> conditions = {condition_};
    while (!conditions.empty()) {
      const Expr one = std::move(conditions.back());
      conditions.pop_back();
      const auto* both = one.As<CallNode>();
      if (both != nullptr && both->op() == BATON_OP("logical_and")) {
        conditions.push_back(both->arg(0));
        conditions.push_back(both->arg(1));
        continue;
      }
      const std::optional<Rounds> rounds = RoundsOf(one);
      if (!rounds.has_value()) continue;
      if (!least.has_value() || rounds->most < least->most) least = rounds;
    }
    if (!least.has_value()) return Refused(kNoBound);
    rounds_ = *least;
    for (size_t i = 0; i < num_params(); ++i) {
      if (!IsStack(i)) continue;
      __int128 elements = rounds_.most;
      const std::vector<int64_t> shape = *ElementShape(param(i)->type());
      for (const int64_t extent : shape) {
        elements *= extent;
        if (elements > kMostElements) break;
      }
      if (elements <= kMostElements) continue;
      // Only its type bounds the number of rounds then.
      return Refused(rounds_.most > kMostElements
                         ? std::string(kNoBound)
                         : absl::StrCat(rounds_.most,
                                        " rounds may stack more than ",
                                        kMostElements, " elements"));
    }
    return absl::OkStatus();
  }

  // All but the additions to the stacks has constant sizes.
  absl::Status CheckKnown(const Expr& expr) const {
    absl::Status status;
    relay::PostOrderVisit(expr, [&](const ExprNode* node) {
      if (!status.ok()) return;
      const std::optional<size_t> i = ParamOf(Expr(node));
      if (i.has_value() && IsStack(*i)) {
        status = Refused(absl::StrCat("it computes with %", param(*i)->name(),
                                      ", to which its rounds add"));
        return;
      }
      const auto* call = Expr(node).As<CallNode>();
      const bool is_branch = Expr(node).Is<relay::IfNode>();
      if ((call == nullptr && !is_branch) || HasKnownSizes(node->type())) {
        return;
      }
      status = Refused(
          absl::StrCat("in a round, values decide how large the result of ",
                       is_branch                    ? "a branch"
                       : call->op_node() != nullptr ? call->op_node()->name()
                                                    : "a function",
                       " is"));
    });
    return status;
  }
  absl::Status CheckRest() const {
    BATON_RETURN_IF_ERROR(CheckKnown(condition_));
    for (size_t i = 0; i < num_params(); ++i) {
      BATON_RETURN_IF_ERROR(CheckKnown(IsStack(i) ? elements_[i] : next(i)));
    }
    for (const Expr& result : results_->fields()) {
      const std::optional<size_t> i = ParamOf(result);
      if (i.has_value() && IsStack(*i)) continue;
      BATON_RETURN_IF_ERROR(CheckKnown(result));
    }
    return absl::OkStatus();
  }

  // True for the row of `stack`, of `rank` axes, that a round sets.
  Expr IsRowOfRound(int rank) const {
    std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
    shape[0] = rounds_.most;
    return relay::Equal(
        relay::Reshape(
            relay::Arange(Number(0), Number(rounds_.most), Number(1), kInt64),
            shape),
        Round(param(rounds_.counter)));
  }
  // The number of rounds before the counter has the value `counter`.
  Expr Round(const Expr& counter) const {
    return relay::Subtract(relay::Cast(counter, kInt64), Number(rounds_.first));
  }

  absl::StatusOr<Padded> Build() {
    std::vector<Var> params;
    std::vector<Type> param_types;
    std::vector<Expr> nexts;
    std::vector<Expr> initial;
    for (size_t i = 0; i < num_params(); ++i) {
      if (!IsStack(i)) {
        params.push_back(param(i));
        nexts.push_back(next(i));
        initial.push_back(args_[i].value);
      } else {
        std::vector<int64_t> shape = *ElementShape(param(i)->type());
        shape.insert(shape.begin(), rounds_.most);
        const DType dtype = param(i)->type().As<TensorTypeNode>()->dtype();
        params.emplace_back(param(i)->name(), TensorType::Of(shape, dtype));
        nexts.push_back(
            relay::Where(IsRowOfRound(static_cast<int>(shape.size())),
                         elements_[i], params.back()));
        initial.push_back(relay::Zeros(shape, dtype));
      }
      param_types.push_back(params.back()->annotation());
    }
    std::vector<Expr> results;
    for (const Expr& result : results_->fields()) {
      const std::optional<size_t> i = ParamOf(result);
      results.push_back(i.has_value() ? params[*i] : result);
    }
    results.push_back(params[rounds_.counter]);
    std::vector<Type> types;
    for (const Expr& result : results) {
      const auto* var = result.As<VarNode>();
      types.push_back(result->type().defined() || var == nullptr
                          ? result->type()
                          : var->annotation());
    }
    const Type result_type = TupleType(std::move(types));
    const Var loop(loop_.var()->name(),
                   FuncType(std::move(param_types), result_type));
    const relay::Function function(
        params,
        relay::If(condition_, relay::Call(loop, std::move(nexts)),
                  relay::Tuple(std::move(results))),
        result_type);
    BATON_ASSIGN_OR_RETURN(
        const Expr all,
        relay::InferTypeOf(
            relay::Call(relay::Let(loop, function, loop), std::move(initial),
                        Attrs(), {}, Type(), call_.span()),
            &module_));
    const auto field = [&](size_t k) {
      return relay::TupleGetItem(all, static_cast<int>(k));
    };
    const size_t count = results_->fields().size();
    BATON_ASSIGN_OR_RETURN(const Expr rounds,
                           relay::InferTypeOf(Round(field(count)), &module_));
    Padded result;
    for (size_t k = 0; k < count; ++k) {
      Padded& padded = result.fields.emplace_back();
      BATON_ASSIGN_OR_RETURN(padded.value,
                             relay::InferTypeOf(field(k), &module_));
      const std::optional<size_t> i = ParamOf(results_->fields()[k]);
      if (!i.has_value() || !IsStack(*i)) continue;
      padded.extents.resize(static_cast<size_t>(padded.rank()));
      padded.extents[0] = rounds;
    }
    return result;
  }

  // As for other results of which values decide the size.
  static constexpr int64_t kMostElements = int64_t{1} << 24;
  static constexpr char kNoBound[] =
      "its number of rounds has no bound: a Loop of ONNX has one if its input "
      "M is a constant, or is bounded by other nodes, as by Min";

  const CallNode& call_;
  const absl::Span<const Padded> args_;
  ValueRanges& ranges_;
  const IRModule& module_;
  const relay::LetNode& loop_;
  const FunctionNode& function_;
  Expr condition_;
  const CallNode* next_ = nullptr;
  const relay::TupleNode* results_ = nullptr;
  std::vector<Expr> elements_;  // what rounds add to a stack; null for others
  Rounds rounds_;
};

}  // namespace

const FunctionNode* LoopOf(const CallNode& call) {
  const auto* let = call.op().As<relay::LetNode>();
  if (let == nullptr || let->body().get() != let->var().get()) return nullptr;
  return let->value().As<FunctionNode>();
}

absl::StatusOr<Padded> PadLoop(const CallNode& call,
                               absl::Span<const Padded> args,
                               ValueRanges& ranges, const IRModule& module) {
  for (const Padded& arg : args) {
    if (arg.is_padded()) {
      return Refused("it takes a value of which values decide the size");
    }
  }
  return LoopPadder(call, args, ranges, module).Run();
}

}  // namespace baton::cpu
