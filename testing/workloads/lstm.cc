// An unrolled LSTM (Hochreiter and Schmidhuber, 1997), as the reference's
// `relay.testing.lstm` builds it: each step calls a separate function and has
// its own input `%data` and its own weights.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/workloads/layers.h"
#include "baton/testing/workloads/options.h"
#include "baton/testing/workloads/workload.h"

namespace baton::testing {
namespace {

using relay::Add;
using relay::Function;
using relay::Multiply;
using relay::Sigmoid;
using relay::Tanh;
using relay::TupleGetItem;
using relay::Var;
namespace nn = relay::nn;

struct LstmOptions {
  int64_t iterations = 8;
  int64_t num_hidden = 128;
  int64_t batch_size = 1;
  DType dtype = DType::Float(32);

  template <typename V>
  static void VisitFields(V& v) {
    using O = LstmOptions;
    v("iterations", &O::iterations, "Steps.");
    v("num_hidden", &O::num_hidden, "Size of the input and of the state.");
    v("batch_size", &O::batch_size, "Sequences at a time.");
    v("dtype", &O::dtype, "float16, float32 or float64.");
  }
};

// Bindings of variables, and then the expression that uses them.
class Scope {
 public:
  Var Let(const std::string& name, const Type& type, const Expr& value) {
    bindings_.emplace_back(Var(name, type), value);
    return bindings_.back().first;
  }
  Expr Return(Expr body) const {
    for (auto it = bindings_.rbegin(); it != bindings_.rend(); ++it) {
      body = baton::relay::Let(it->first, it->second, body);
    }
    return body;
  }

 private:
  std::vector<std::pair<Var, Expr>> bindings_;
};

class Lstm {
 public:
  explicit Lstm(const LstmOptions& options)
      : iterations_(options.iterations),
        shape_({options.batch_size, options.num_hidden}),
        dtype_(options.dtype),
        units_(4 * options.num_hidden),
        input_(TensorType({options.batch_size, options.num_hidden}, dtype_)),
        gates_(TensorType({options.batch_size, units_}, dtype_)),
        weight_(TensorType({units_, options.num_hidden}, dtype_)),
        bias_(TensorType({units_}, dtype_)),
        state_(TupleType({input_, input_})),
        result_(TupleType({input_, state_})) {}

  Function Network() const {
    Scope scope;
    const Var zeros = scope.Let("zeros", input_, relay::Zeros(shape_, dtype_));
    Var state = scope.Let("init_states", state_, relay::Tuple({zeros, zeros}));
    Var out = zeros;
    for (int64_t i = 0; i < iterations_; ++i) {
      const Var call = scope.Let(
          absl::StrCat("call_", i), result_,
          relay::Call(Cell(), {Var("data", input_), state,
                               Var(absl::StrCat("i2h_", i, "_weight"), weight_),
                               Var(absl::StrCat("i2h_", i, "_bias"), bias_),
                               Var(absl::StrCat("h2h_", i, "_weight"), weight_),
                               Var(absl::StrCat("h2h_", i, "_bias"), bias_)}));
      out = scope.Let(absl::StrCat("out_", i), input_, TupleGetItem(call, 0));
      state =
          scope.Let(absl::StrCat("states_", i), state_, TupleGetItem(call, 1));
    }
    const Expr body = scope.Return(out);
    return Function(relay::FreeVars(body), body, input_);
  }

 private:
  // One step: input, state (hidden, cell) and weights to the output and the
  // next state.
  Function Cell() const {
    const Var inputs("inputs", input_), states("states", state_);
    const Var i2h_weight("i2h_weight", weight_), i2h_bias("i2h_bias", bias_);
    const Var h2h_weight("h2h_weight", weight_), h2h_bias("h2h_bias", bias_);
    const auto dense = [&](const Expr& data, const Var& weight,
                           const Var& bias) {
      return nn::BiasAdd(nn::Dense(data, weight, {.units = units_}), bias, -1);
    };
    Scope scope;
    const Var i2h =
        scope.Let("i2h", gates_, dense(inputs, i2h_weight, i2h_bias));
    const Var h2h = scope.Let(
        "h2h", gates_, dense(TupleGetItem(states, 0), h2h_weight, h2h_bias));
    const Var gates = scope.Let("gates", gates_, Add(i2h, h2h));
    const Var slices =
        scope.Let("slice_gates", TupleType({input_, input_, input_, input_}),
                  relay::Split(gates, 4, /*axis=*/1));
    const Var in_gate =
        scope.Let("in_gate", input_, Sigmoid(TupleGetItem(slices, 0)));
    const Var forget_gate =
        scope.Let("forget_gate", input_, Sigmoid(TupleGetItem(slices, 1)));
    const Var in_transform =
        scope.Let("in_transform", input_, Tanh(TupleGetItem(slices, 2)));
    const Var out_gate =
        scope.Let("out_gate", input_, Sigmoid(TupleGetItem(slices, 3)));
    const Var next_c =
        scope.Let("next_c", input_,
                  Add(Multiply(forget_gate, TupleGetItem(states, 1)),
                      Multiply(in_gate, in_transform)));
    const Var next_h =
        scope.Let("next_h", input_, Multiply(out_gate, Tanh(next_c)));
    const Var ret = scope.Let(
        "ret", result_, relay::Tuple({next_h, relay::Tuple({next_h, next_c})}));
    return Function(
        {inputs, states, i2h_weight, i2h_bias, h2h_weight, h2h_bias},
        scope.Return(ret), result_);
  }

  int64_t iterations_;
  std::vector<int64_t> shape_;  // of the input and of both parts of the state
  DType dtype_;
  int64_t units_;  // of the four gates together
  Type input_, gates_, weight_, bias_, state_, result_;
};

absl::StatusOr<Function> BuildLstm(const LstmOptions& options) {
  BATON_RETURN_IF_ERROR(CheckPositive("iterations", options.iterations));
  BATON_RETURN_IF_ERROR(CheckPositive("num_hidden", options.num_hidden));
  BATON_RETURN_IF_ERROR(CheckPositive("batch_size", options.batch_size));
  BATON_RETURN_IF_ERROR(CheckDType(options.dtype));
  return Lstm(options).Network();
}

const WorkloadRegistration kLstm(
    "lstm", "Unrolled LSTM; every step is a call of a function.", BuildLstm);

}  // namespace
}  // namespace baton::testing
