// Converters of RNN, LSTM, GRU and com.microsoft's DynamicQuantizeLSTM: unrolled
// over time if the number of steps is known; otherwise a function that calls
// itself.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/dynamic_quantize.h"
#include "baton/onnx/ops/expect_shape.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/formulas.h"
#include "baton/onnx/ops/recursive_function.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

constexpr int64_t kMaxSteps = 10'000;
constexpr int64_t kMaxHidden = int64_t{1} << 40;

struct Activation {
  std::string name;  // in lower case
  double alpha;
  double beta;
};

absl::StatusOr<Expr> Apply(const Activation& f, const Expr& x,
                           const Expr& like) {
  const auto scalar = [&like](double value) { return ScalarLike(value, like); };
  if (f.name == "tanh") return relay::Tanh(x);
  if (f.name == "sigmoid") return relay::Sigmoid(x);
  if (f.name == "relu") return relay::nn::Relu(x);
  if (f.name == "affine") {
    return Add(Multiply(scalar(f.alpha), x), scalar(f.beta));
  }
  if (f.name == "leakyrelu") return relay::nn::LeakyRelu(x, f.alpha);
  if (f.name == "thresholdedrelu") {
    return relay::Where(relay::Greater(x, scalar(f.alpha)), x, scalar(0));
  }
  if (f.name == "scaledtanh") {
    return Multiply(scalar(f.alpha), relay::Tanh(Multiply(scalar(f.beta), x)));
  }
  if (f.name == "hardsigmoid") {
    return relay::Clip(Add(Multiply(scalar(f.alpha), x), scalar(f.beta)), 0, 1);
  }
  if (f.name == "elu") {
    return ExponentialUnit(x, f.alpha, 1, like);
  }
  if (f.name == "softsign") {
    return relay::Divide(x, Add(scalar(1), relay::Abs(x)));
  }
  if (f.name == "softplus") {
    return Add(relay::nn::Relu(x),
               LogOnePlus(relay::Exp(relay::Negative(relay::Abs(x))), like));
  }
  return absl::UnimplementedError(
      absl::StrCat("the activation '", f.name, "' is not supported"));
}

// The activations of the node; `defaults` for each direction if it has none.
absl::StatusOr<std::vector<Activation>> Activations(
    NodeContext& node, const std::vector<std::string>& defaults,
    int directions) {
  std::vector<std::string> names = node.Strings("activations");
  if (names.empty()) {
    for (int d = 0; d < directions; ++d) {
      names.insert(names.end(), defaults.begin(), defaults.end());
    }
  }
  if (names.size() != defaults.size() * directions) {
    return absl::InvalidArgumentError(
        "the attribute activations has the wrong number of elements");
  }
  const std::vector<double> alphas = node.Floats("activation_alpha");
  const std::vector<double> betas = node.Floats("activation_beta");
  // Numbers are for those activations in turn that take one.
  size_t alpha = 0;
  size_t beta = 0;
  std::vector<Activation> result;
  for (const std::string& name : names) {
    Activation f{absl::AsciiStrToLower(name), 0, 0};
    const auto take = [](const std::vector<double>& values, size_t& next,
                         double otherwise) {
      return next < values.size() ? values[next++] : otherwise;
    };
    if (f.name == "affine" || f.name == "scaledtanh") {
      f.alpha = take(alphas, alpha, 1);
      f.beta = take(betas, beta, f.name == "affine" ? 0 : 1);
    } else if (f.name == "leakyrelu") {
      f.alpha = take(alphas, alpha, 0.01);
    } else if (f.name == "thresholdedrelu" || f.name == "elu") {
      f.alpha = take(alphas, alpha, 1);
    } else if (f.name == "hardsigmoid") {
      f.alpha = take(alphas, alpha, 0.2);
      f.beta = take(betas, beta, 0.5);
    }
    result.push_back(std::move(f));
  }
  return result;
}

// Element `i` of the first axis, without that axis.
Expr Slice(const Expr& x, int64_t i) {
  return relay::Squeeze(relay::StridedSlice(x, {i}, {i + 1}, {.axes = Ints{0}}),
                        Ints{0});
}

// Columns [begin, end) of the last axis.
Expr Columns(const Expr& x, int64_t begin, int64_t end) {
  return relay::StridedSlice(x, {begin}, {end}, {.axes = Ints{-1}});
}

struct State {
  Expr h;
  Expr c;  // of an LSTM
};

// The common part of the three operators.
class Recurrent {
 public:
  Recurrent(NodeContext& node, int gates, std::vector<std::string> defaults)
      : node_(node), gates_(gates), defaults_(std::move(defaults)) {}

  absl::StatusOr<Outputs> Convert();

 protected:
  // One direction's parameters.
  struct Weights {
    // (gates * hidden, hidden); int32 (hidden, gates * hidden) if quantized.
    Expr r;
    Expr r_scale;  // a scalar or (gates * hidden) if quantized; else null
    Expr rb;       // (gates * hidden); null without biases
    Expr p;        // (3 * hidden), of an LSTM with peepholes; else null
    const Activation* f;
  };
  virtual ~Recurrent() = default;
  // `x`: (batch, gates * hidden), what the input gives, with its bias.
  virtual absl::StatusOr<State> Step(const Weights& weights, Expr x,
                                     const State& state) = 0;
  virtual bool has_cell() const { return false; }
  // True if the gates are the last axis of W and R, not that before it.
  virtual bool has_gates_last() const { return false; }
  // Returns the product of `x`, (steps, batch, input), and the input weights of
  // direction `d`: (steps, batch, gates * hidden).
  virtual absl::StatusOr<Expr> InputProduct(const Expr& x, int d) {
    return Expr(relay::nn::Dense(x, Slice(node_.Input(1), d)));
  }
  // Sets `r` and `r_scale` of direction `d`.
  virtual absl::Status SetRecurrence(int d, Weights& weights) {
    BATON_ASSIGN_OR_RETURN(weights.r, node_.Typed(Slice(node_.Input(2), d)));
    return absl::OkStatus();
  }

  Expr Gate(const Expr& x, int i) const {
    return Columns(x, i * hidden_, (i + 1) * hidden_);
  }
  // Rows of a matrix or a vector with the gates along the first axis.
  Expr GateRows(const Expr& x, int begin, int end) const {
    return relay::StridedSlice(x, {begin * hidden_}, {end * hidden_},
                               {.axes = Ints{0}});
  }
  absl::StatusOr<Expr> Activate(const Activation& f, Expr x) const {
    if (clip_ > 0) x = relay::Clip(std::move(x), -clip_, clip_);
    return Apply(f, x, like_);
  }
  Expr Scalar(double value) const { return ScalarLike(value, like_); }

 private:
  // Refuses weights, biases, lengths and initial states whose shapes do not fit
  // the extents of X and R.
  absl::Status CheckShapes(const Dim& input_size, const Dim& batch,
                           int64_t hidden, int directions,
                           bool batch_first) const;

  // The results of the steps of one direction.
  struct Steps {
    Expr outputs;  // (steps, batch, hidden)
    State last;    // (batch, hidden)
  };
  // The state after step `t` and what the step gives, (batch, hidden). A
  // sequence that has ended keeps its state and gives zeros. `lengths` may be
  // null.
  absl::StatusOr<State> MaskedStep(const Weights& weights, Expr x,
                                   const State& state, const Expr& lengths,
                                   const Expr& t, Expr& output);
  // `x`: (steps, batch, gates * hidden), what the input gives.
  absl::StatusOr<Steps> Unrolled(const Weights& weights, const Expr& x,
                                 int64_t steps, State state,
                                 const Expr& lengths);
  absl::StatusOr<Steps> Recursive(const Weights& weights, const Expr& x,
                                  const State& state, const Expr& lengths);

 protected:
  NodeContext& node_;
  const int gates_;
  const std::vector<std::string> defaults_;
  int64_t hidden_ = 0;
  double clip_ = 0;
  Expr like_;
};

absl::StatusOr<State> Recurrent::MaskedStep(const Weights& weights, Expr x,
                                            const State& state,
                                            const Expr& lengths, const Expr& t,
                                            Expr& output) {
  BATON_ASSIGN_OR_RETURN(State next, Step(weights, std::move(x), state));
  BATON_ASSIGN_OR_RETURN(next.h, node_.Typed(std::move(next.h)));
  if (next.c.defined()) {
    BATON_ASSIGN_OR_RETURN(next.c, node_.Typed(std::move(next.c)));
  }
  output = next.h;
  if (!lengths.defined()) return next;
  const Expr runs = relay::ExpandDims(relay::Greater(lengths, t), 1);
  output = relay::Where(runs, next.h, Scalar(0));
  BATON_ASSIGN_OR_RETURN(next.h,
                         node_.Typed(relay::Where(runs, next.h, state.h)));
  if (next.c.defined()) {
    BATON_ASSIGN_OR_RETURN(next.c,
                           node_.Typed(relay::Where(runs, next.c, state.c)));
  }
  return next;
}

absl::StatusOr<Recurrent::Steps> Recurrent::Unrolled(const Weights& weights,
                                                     const Expr& x,
                                                     int64_t steps, State state,
                                                     const Expr& lengths) {
  std::vector<Expr> outputs;
  for (int64_t t = 0; t < steps; ++t) {
    const Expr step = lengths.defined()
                          ? ScalarLike(static_cast<double>(t), lengths)
                          : Expr();
    BATON_ASSIGN_OR_RETURN(
        state, MaskedStep(weights, Slice(x, t), state, lengths, step,
                          outputs.emplace_back()));
  }
  return Steps{relay::Stack(std::move(outputs), 0), std::move(state)};
}

//   let %loop = fn (%t, %outputs, %h, %c, ...) -> (...) {
//     if (%t < %steps) {
//       %loop(%t + 1, concatenate((%outputs, <of the step>)), <state>, ...)
//     } else { (%outputs, %h, %c) }
//   };
//   %loop(0, <no outputs>, <first state>, ...)
//
// What the steps use of the values around is a parameter, or would be computed
// in each step; constants are not.
absl::StatusOr<Recurrent::Steps> Recurrent::Recursive(const Weights& weights,
                                                      const Expr& x,
                                                      const State& state,
                                                      const Expr& lengths) {
  RecursiveFunction function(node_);
  const auto int64 = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const TensorTypeNode& state_type = *state.h->tensor_type();
  BATON_ASSIGN_OR_RETURN(
      const Expr t,
      function.AddParam("t", int64(0), TensorType::Scalar(DType::Int(64))));
  // (0, batch, hidden), to which the steps are added.
  BATON_ASSIGN_OR_RETURN(const Expr none, node_.Typed(relay::StridedSlice(
                                              relay::ExpandDims(state.h, 0),
                                              {0}, {0}, {.axes = Ints{0}})));
  BATON_ASSIGN_OR_RETURN(
      const Expr outputs,
      function.AddParam(
          "outputs", none,
          TensorType({Dim::Any(), state_type.dim(0), state_type.dim(1)},
                     state_type.dtype())));
  State current;
  BATON_ASSIGN_OR_RETURN(current.h,
                         function.AddParam("h", state.h, state.h->type()));
  if (has_cell()) {
    BATON_ASSIGN_OR_RETURN(current.c,
                           function.AddParam("c", state.c, state.c->type()));
  }
  BATON_ASSIGN_OR_RETURN(const Expr data, function.Capture("x", x));
  BATON_ASSIGN_OR_RETURN(const Expr ends, function.Capture("lengths", lengths));
  Weights inside = weights;
  BATON_ASSIGN_OR_RETURN(inside.r, function.Capture("r", weights.r));
  BATON_ASSIGN_OR_RETURN(inside.r_scale,
                         function.Capture("r_scale", weights.r_scale));
  BATON_ASSIGN_OR_RETURN(inside.rb, function.Capture("rb", weights.rb));
  BATON_ASSIGN_OR_RETURN(inside.p, function.Capture("p", weights.p));
  const Expr step =
      ends.defined() ? relay::Cast(t, ends->tensor_type()->dtype()) : Expr();
  BATON_ASSIGN_OR_RETURN(const Expr from_input,
                         node_.Typed(relay::Take(data, t, {.axis = 0})));
  Expr output;
  BATON_ASSIGN_OR_RETURN(
      const State next,
      MaskedStep(inside, from_input, current, ends, step, output));
  function.SetNext(t, relay::Add(t, int64(1)));
  function.SetNext(
      outputs, relay::Concatenate({outputs, relay::ExpandDims(output, 0)}, 0));
  function.SetNext(current.h, next.h);
  std::vector<Expr> results = {outputs, current.h};
  if (has_cell()) {
    function.SetNext(current.c, next.c);
    results.push_back(current.c);
  }
  BATON_ASSIGN_OR_RETURN(
      const Outputs all,
      function.Call(relay::Less(t, ExtentOf(data, 0)), std::move(results)));
  return Steps{all[0], {all[1], has_cell() ? all[2] : Expr()}};
}

absl::Status Recurrent::CheckShapes(const Dim& input_size, const Dim& batch,
                                    int64_t hidden, int directions,
                                    bool batch_first) const {
  const Dim rows = gates_ * hidden;
  const auto matrices = [&](const Dim& gates, const Dim& others) {
    return has_gates_last() ? Dims{directions, others, gates}
                            : Dims{directions, gates, others};
  };
  const Dims initial = batch_first ? Dims{batch, directions, hidden}
                                   : Dims{directions, batch, hidden};
  const struct {
    int input;
    const char* name;
    Dims shape;
  } expected[] = {
      {1, "W", matrices(rows, input_size)},
      {2, "R", matrices(rows, hidden)},
      {3, "B", {directions, 2 * gates_ * hidden}},
      {4, "sequence_lens", {batch}},
      {5, "initial_h", initial},
      {6, "initial_c", initial},
      {7, "P", {directions, 3 * hidden}},
  };
  for (const auto& [input, name, shape] : expected) {
    if (input >= 6 && !has_cell()) break;
    BATON_RETURN_IF_ERROR(ExpectShape(node_, input, name, shape));
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> Recurrent::Convert() {
  Expr x = node_.Input(0);
  like_ = x;
  const bool batch_first = node_.Int("layout", 0) != 0;
  if (batch_first) {
    BATON_ASSIGN_OR_RETURN(x, node_.Typed(relay::Transpose(x, Ints{1, 0, 2})));
  }
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const Ints r_shape, ShapeOf(node_.Input(2)));
  const std::string direction = node_.String("direction", "forward");
  const int directions = direction == "bidirectional" ? 2 : 1;
  if (type->rank() != 3 || r_shape.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("X and R have ranks ", type->rank(), " and ",
                     r_shape.size(), ", where 3 is expected"));
  }
  hidden_ = r_shape[has_gates_last() ? 1 : 2];
  if (hidden_ > kMaxHidden) {
    return absl::InvalidArgumentError(
        absl::StrCat(hidden_, " hidden units, where at most ", kMaxHidden,
                     " are supported"));
  }
  BATON_RETURN_IF_ERROR(CheckShapes(type->dim(2), type->dim(1), hidden_,
                                    directions, batch_first));
  const Dim steps = type->dim(0);
  if (steps.is_const() && (steps.value() < 1 || steps.value() > kMaxSteps)) {
    return absl::UnimplementedError(
        absl::StrCat(steps.value(), " steps are not supported"));
  }
  clip_ = node_.Float("clip", 0);
  BATON_ASSIGN_OR_RETURN(const std::vector<Activation> activations,
                         Activations(node_, defaults_, directions));
  Expr lengths;
  if (node_.HasInput(4)) lengths = node_.Input(4);

  // `like`: (batch, gates * hidden)
  const auto initial = [&](int input, int d, const Expr& like) -> Expr {
    if (!node_.HasInput(input)) return relay::ZerosLike(Gate(like, 0));
    const Expr& given = node_.Input(input);
    return Slice(batch_first ? relay::Transpose(given, Ints{1, 0, 2}) : given,
                 d);
  };
  std::vector<Expr> all;                   // (steps, batch, hidden) a direction
  std::vector<std::vector<Expr>> last(2);  // (batch, hidden) a direction
  for (int d = 0; d < directions; ++d) {
    const bool reverse = direction == "reverse" || d == 1;
    const auto reversed = [&](Expr data) {
      if (!reverse) return data;
      return lengths.defined()
                 ? relay::Call(BATON_OP("reverse_sequence"), {data, lengths},
                               Attrs::Make(relay::ReverseSequenceAttrs{
                                   .seq_axis = 0, .batch_axis = 1}))
                 : Expr(relay::Reverse(data, 0));
    };
    Weights weights;
    BATON_RETURN_IF_ERROR(SetRecurrence(d, weights));
    weights.f = &activations[d * defaults_.size()];
    if (has_cell() && node_.HasInput(7)) {
      BATON_ASSIGN_OR_RETURN(weights.p, node_.Typed(Slice(node_.Input(7), d)));
    }
    // The input's part of all steps at once.
    BATON_ASSIGN_OR_RETURN(const Expr in_order, node_.Typed(reversed(x)));
    BATON_ASSIGN_OR_RETURN(Expr from_input, InputProduct(in_order, d));
    if (node_.HasInput(3)) {
      const Expr biases = Slice(node_.Input(3), d);
      const int64_t half = gates_ * hidden_;
      from_input = Add(std::move(from_input), Columns(biases, 0, half));
      BATON_ASSIGN_OR_RETURN(weights.rb,
                             node_.Typed(Columns(biases, half, 2 * half)));
    }
    BATON_ASSIGN_OR_RETURN(from_input, node_.Typed(from_input));
    State state;
    BATON_ASSIGN_OR_RETURN(state.h,
                           node_.Typed(initial(5, d, Slice(from_input, 0))));
    if (has_cell()) {
      BATON_ASSIGN_OR_RETURN(state.c,
                             node_.Typed(initial(6, d, Slice(from_input, 0))));
    }
    BATON_ASSIGN_OR_RETURN(
        Steps all_steps,
        steps.is_const()
            ? Unrolled(weights, from_input, steps.value(), state, lengths)
            : Recursive(weights, from_input, state, lengths));
    all.push_back(reversed(std::move(all_steps.outputs)));
    last[0].push_back(all_steps.last.h);
    last[1].push_back(all_steps.last.c);
  }
  Outputs result;
  // (steps, directions, batch, hidden), or (batch, steps, directions, hidden).
  Expr y = relay::Stack(std::move(all), 1);
  if (batch_first) y = relay::Transpose(std::move(y), Ints{2, 0, 1, 3});
  result.push_back(std::move(y));
  for (int k = 0; k < (has_cell() ? 2 : 1); ++k) {
    result.push_back(relay::Stack(std::move(last[k]), batch_first ? 1 : 0));
  }
  return result;
}

class Rnn final : public Recurrent {
 public:
  explicit Rnn(NodeContext& node) : Recurrent(node, 1, {"Tanh"}) {}

 protected:
  absl::StatusOr<State> Step(const Weights& w, Expr x,
                             const State& state) override {
    Expr sum = Add(std::move(x), relay::nn::Dense(state.h, w.r));
    if (w.rb.defined()) sum = Add(std::move(sum), w.rb);
    BATON_ASSIGN_OR_RETURN(Expr h, Activate(w.f[0], std::move(sum)));
    return State{std::move(h), {}};
  }
};

// Gates in the order input, output, forget, cell.
class Lstm : public Recurrent {
 public:
  explicit Lstm(NodeContext& node)
      : Recurrent(node, 4, {"Sigmoid", "Tanh", "Tanh"}),
        input_forget_(node.Int("input_forget", 0) != 0) {}

 protected:
  bool has_cell() const override { return true; }
  // Returns the product of `h`, the outputs of the last step, (batch, hidden),
  // and the recurrence weights of all gates: (batch, gates * hidden).
  virtual absl::StatusOr<Expr> RecurrentProduct(const Expr& h,
                                                const Weights& w) {
    return Expr(relay::nn::Dense(h, w.r));
  }

  absl::StatusOr<State> Step(const Weights& w, Expr x,
                             const State& state) override {
    BATON_ASSIGN_OR_RETURN(Expr from_state, RecurrentProduct(state.h, w));
    Expr sum = Add(std::move(x), std::move(from_state));
    if (w.rb.defined()) sum = Add(std::move(sum), w.rb);
    const auto peep = [&](Expr gate, int i, const Expr& cell) {
      return w.p.defined() ? Add(std::move(gate), Multiply(Gate(w.p, i), cell))
                           : gate;
    };
    BATON_ASSIGN_OR_RETURN(const Expr input,
                           Activate(w.f[0], peep(Gate(sum, 0), 0, state.c)));
    Expr forget = Subtract(Scalar(1), input);
    if (!input_forget_) {
      BATON_ASSIGN_OR_RETURN(forget,
                             Activate(w.f[0], peep(Gate(sum, 2), 2, state.c)));
    }
    BATON_ASSIGN_OR_RETURN(const Expr candidate,
                           Activate(w.f[1], Gate(sum, 3)));
    const Expr c = Add(Multiply(forget, state.c), Multiply(input, candidate));
    BATON_ASSIGN_OR_RETURN(const Expr output,
                           Activate(w.f[0], peep(Gate(sum, 1), 1, c)));
    // The state itself is not clipped.
    BATON_ASSIGN_OR_RETURN(const Expr shown, Apply(w.f[2], c, like_));
    return State{Multiply(output, shown), c};
  }

 private:
  const bool input_forget_;
};

// W and R are bytes, with scales and zero points as inputs 8 to 11. The input,
// at once, and the outputs of each step are quantized by their ranges.
class DynamicQuantizeLstm final : public Lstm {
 public:
  using Lstm::Lstm;

 protected:
  bool has_gates_last() const override { return true; }

  absl::StatusOr<Expr> InputProduct(const Expr& x, int d) override {
    BATON_ASSIGN_OR_RETURN(const Expr w, Integers(1, 9, d));
    BATON_ASSIGN_OR_RETURN(const Expr used, UsedSteps(x));
    return QuantizedProduct(node_, used, w, Slice(node_.Input(8), d));
  }

  absl::Status SetRecurrence(int d, Weights& weights) override {
    BATON_ASSIGN_OR_RETURN(weights.r, Integers(2, 11, d));
    BATON_ASSIGN_OR_RETURN(weights.r_scale,
                           node_.Typed(Slice(node_.Input(10), d)));
    return absl::OkStatus();
  }

  absl::StatusOr<Expr> RecurrentProduct(const Expr& h,
                                        const Weights& w) override {
    return QuantizedProduct(node_, h, w.r, w.r_scale);
  }

 private:
  // The weights `i` of direction `d` as int32, less the zero points `zero`.
  absl::StatusOr<Expr> Integers(int i, int zero, int d) {
    constexpr DType kInt32 = DType::Int(32);
    return node_.Typed(
        Subtract(relay::Cast(Slice(node_.Input(i), d), kInt32),
                 relay::Cast(Slice(node_.Input(zero), d), kInt32)));
  }

  // `x`, (steps, batch, input), with zeros in the steps that no sequence has,
  // which do not count for the range.
  absl::StatusOr<Expr> UsedSteps(const Expr& x) {
    if (!node_.HasInput(4)) return x;
    const Expr& lengths = node_.Input(4);
    const Expr zero = ScalarLike(0, lengths);
    BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(lengths));
    const Expr steps = relay::Arange(zero, relay::Cast(ExtentOf(x, 0), dtype),
                                     ScalarLike(1, lengths), dtype);
    const Expr used = relay::Less(steps, relay::Max(lengths));
    return node_.Typed(
        relay::Where(relay::ExpandDims(used, 1, 2), x, Scalar(0)));
  }
};

// Gates in the order update, reset, hidden.
class Gru final : public Recurrent {
 public:
  explicit Gru(NodeContext& node)
      : Recurrent(node, 3, {"Sigmoid", "Tanh"}),
        linear_before_reset_(node.Int("linear_before_reset", 0) != 0) {}

 protected:
  absl::StatusOr<State> Step(const Weights& w, Expr x,
                             const State& state) override {
    Expr zr = relay::nn::Dense(state.h, GateRows(w.r, 0, 2));
    if (w.rb.defined()) zr = Add(std::move(zr), Columns(w.rb, 0, 2 * hidden_));
    const Expr sum = Add(Columns(x, 0, 2 * hidden_), std::move(zr));
    BATON_ASSIGN_OR_RETURN(const Expr update, Activate(w.f[0], Gate(sum, 0)));
    BATON_ASSIGN_OR_RETURN(const Expr reset, Activate(w.f[0], Gate(sum, 1)));
    const Expr rows = GateRows(w.r, 2, 3);
    const auto with_bias = [&](Expr value) {
      return w.rb.defined() ? Add(std::move(value), Gate(w.rb, 2)) : value;
    };
    Expr hidden =
        linear_before_reset_
            ? Multiply(reset, with_bias(relay::nn::Dense(state.h, rows)))
            : with_bias(relay::nn::Dense(Multiply(reset, state.h), rows));
    BATON_ASSIGN_OR_RETURN(
        const Expr candidate,
        Activate(w.f[1], Add(Gate(x, 2), std::move(hidden))));
    return State{Add(Multiply(Subtract(Scalar(1), update), candidate),
                     Multiply(update, state.h)),
                 {}};
  }

 private:
  const bool linear_before_reset_;
};

template <typename R>
absl::StatusOr<Outputs> Convert(NodeContext& node) {
  return R(node).Convert();
}

BATON_ONNX_CONVERTERS({
    {.op = "DynamicQuantizeLSTM",
     .convert = Convert<DynamicQuantizeLstm>,
     .domain = kMicrosoftDomain},
    {"GRU", Convert<Gru>, 7},
    {"LSTM", Convert<Lstm>, 7},
    {"RNN", Convert<Rnn>, 7},
});

}  // namespace
}  // namespace baton::onnx
