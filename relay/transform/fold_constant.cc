#include "baton/relay/transform/fold_constant.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/fill.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/device/on_device.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/strided_slice.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

BATON_REGISTER_CONFIG(
    kMaxFoldedBytes, int64_t, "limits.max_folded_bytes", int64_t{4} << 20,
    "The most bytes that FoldConstant may add to the constants of a module. "
    "Its functions share them equally, but 64 KiB are allowed to each, and "
    "always four times the bytes of its own constants.");

BATON_STATISTIC(kFolded, "FoldConstant", "folded",
                "Calls replaced by constants.");
BATON_STATISTIC(kFoldedBytes, "FoldConstant", "bytes",
                "Bytes of the constants that replaced calls.");

// Calls of constants stay: why.
void EmitNotFolded(const CallNode* call, RemarkText reason,
                   absl::string_view error = "") {
  if (!WantsRemarks(RemarkKind::kMissed)) return;
  Remark remark{.kind = RemarkKind::kMissed,
                .node = Expr(call),
                .reason = std::move(reason)};
  if (!error.empty()) remark.args = {{"error", error}};
  LogRemark(std::move(remark));
}

// The bytes of the tensors of a constant, or a tuple of constants. A fill has
// none.
int64_t BytesOf(const Expr& folded) {
  if (const auto* constant = folded.As<ConstantNode>()) {
    return constant->value().byte_size();
  }
  if (folded.Is<CallNode>()) return 0;
  int64_t bytes = 0;
  for (const Expr& field : folded.As<TupleNode>()->fields()) {
    bytes += BytesOf(field);
  }
  return bytes;
}

// The result of `call` is over a limit: `max_elements=5`.
void EmitOverLimit(const CallNode* call, int64_t bytes,
                   const std::string& limit) {
  if (!WantsRemarks(RemarkKind::kMissed)) return;
  LogRemark({.kind = RemarkKind::kMissed,
             .node = Expr(call),
             .reason = "the result is over the limit",
             .args = {{"bytes", bytes}, {"limit", limit}}});
}

void EmitFolded(const CallNode* call, const Expr& folded) {
  kFolded.Add(1);
  if (!SomeoneListens()) return;
  const int64_t bytes = BytesOf(folded);
  kFoldedBytes.Add(bytes);
  if (!WantsRemarks(RemarkKind::kPassed)) return;
  LogRemark({.kind = RemarkKind::kPassed,
             .node = Expr(call),
             .reason = "computed",
             .args = {{"bytes", bytes}}});
}

// The value of a constant or of a tuple of such; nullopt for anything else.
// `value_of` gives the values of other expressions, or nullopt.
std::optional<Value> ConstantValue(
    const Expr& expr,
    absl::FunctionRef<std::optional<Value>(const Expr&)> value_of) {
  struct Frame {
    const TupleNode* tuple;
    std::vector<Value> fields;
  };
  std::vector<Frame> frames;
  const Expr* next = &expr;
  while (true) {
    std::optional<Value> value;
    const ExprNode* node = IgnoringOnDevice(*next).get();
    if (node->kind() == ExprKind::kConstant) {
      value = Value(static_cast<const ConstantNode*>(node)->value());
    } else if (node->kind() == ExprKind::kTuple) {
      frames.push_back({static_cast<const TupleNode*>(node), {}});
    } else {
      value = value_of(*next);
      if (!value.has_value()) return std::nullopt;
    }
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (value.has_value()) frame.fields.push_back(*std::move(value));
      if (frame.fields.size() < frame.tuple->fields().size()) {
        next = &frame.tuple->fields()[frame.fields.size()];
        value.reset();
        break;
      }
      value = Value::MakeTuple(std::move(frame.fields));
      frames.pop_back();
    }
    if (frames.empty()) return value;
  }
}

bool IsConstant(const Expr& expr) {
  return IgnoringOnDevice(expr).Is<ConstantNode>();
}

bool IsConstantOrTuple(const Expr& expr) {
  const Expr& value = IgnoringOnDevice(expr);
  return value.Is<ConstantNode>() || value.Is<TupleNode>();
}

bool IsPrimitive(const ExprNode* node) {
  return node->kind() == ExprKind::kFunction &&
         static_cast<const FunctionNode*>(node)->IsPrimitive();
}

// True for a call of a primitive function that Baton itself computes, on
// constants.
bool IsPrimitiveCallOfConstants(const CallNode* call) {
  const auto* function = call->op().As<FunctionNode>();
  return function != nullptr && function->IsPrimitive() &&
         function->attrs().Find(attr::kCompiler) == nullptr &&
         std::all_of(call->args().begin(), call->args().end(),
                     IsConstantOrTuple);
}

// A tensor whose elements are all the same.
struct Fill {
  Tensor element;  // of any shape
  TensorShape shape;

  int64_t num_elements() const {
    return NumElements(element.dtype(), shape)
        .value_or(std::numeric_limits<int64_t>::max());
  }
};

// The smallest result that is a call of `full`, in bytes.
constexpr int64_t kFillBytes = 4096;

// The tensor that `expr`, a call of `full`, makes; nullopt for anything else.
std::optional<Fill> FillOfCall(const Expr& expr) {
  const auto* call = expr.As<CallNode>();
  if (call == nullptr || call->num_args() != 1) return std::nullopt;
  const OpNode* op = call->op_node();
  if (op == nullptr || op->name() != "full") return std::nullopt;
  const auto* attrs = call->attrs_as<InitOpAttrs>();
  const auto* constant = call->arg(0).As<ConstantNode>();
  if (attrs == nullptr || !attrs->shape.has_value() || constant == nullptr ||
      constant->value().num_elements() != 1 ||
      (attrs->dtype != DType() && attrs->dtype != constant->value().dtype())) {
    return std::nullopt;
  }
  return Fill{constant->value(), {attrs->shape->begin(), attrs->shape->end()}};
}

// False if a field is neither a constant, a tuple nor a fill.
bool MayBeConstantTuple(const TupleNode* tuple) {
  return std::all_of(
      tuple->fields().begin(), tuple->fields().end(), [](const Expr& field) {
        const Expr& value = IgnoringOnDevice(field);
        return IsConstantOrTuple(value) || FillOfCall(value).has_value();
      });
}

// False only if ConstantFolder leaves `node` as it is, unless it changes
// something below.
bool MayFold(const ExprNode* node, const FoldConstantOptions& options) {
  switch (ExprKindOf(node)) {
    case ExprKind::kLet:
      return IsConstant(static_cast<const LetNode*>(node)->value());
    case ExprKind::kIf:
      return IsConstant(static_cast<const IfNode*>(node)->cond());
    case ExprKind::kTupleGetItem:
      return IgnoringOnDevice(
                 static_cast<const TupleGetItemNode*>(node)->tuple())
          .Is<TupleNode>();
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      const OpNode* op = call->op_node();
      if (op == nullptr) {
        return options.in_memory && IsPrimitiveCallOfConstants(call);
      }
      if (call->num_args() == 0) return false;
      if (ShapeQueries().Get(*op) != nullptr) return true;
      // Remarks say which calls have tuples that are computed in part.
      const bool reports_missed = WantsRemarks(RemarkKind::kMissed);
      for (const Expr& arg : call->args()) {
        const ExprNode* const value = IgnoringOnDevice(arg).get();
        if (value->kind() == ExprKind::kConstant) continue;
        if (value->kind() != ExprKind::kTuple) return false;
        if (!reports_missed &&
            !MayBeConstantTuple(static_cast<const TupleNode*>(value))) {
          return false;
        }
      }
      return true;
    }
    default:
      return false;
  }
}

// As FillOfCall, and for a constant whose elements are all the same.
std::optional<Fill> FillOf(const Expr& expr) {
  const auto* constant = expr.As<ConstantNode>();
  if (constant == nullptr) return FillOfCall(expr);
  if (!IsFill(constant->value())) return std::nullopt;
  const Tensor& value = constant->value();
  return Fill{value, {value.shape().begin(), value.shape().end()}};
}

// The result of a strided_slice of a constant, which shares the constant's
// buffer. Nullopt unless the slice has adjacent elements, and at least half of
// all: the weights of one direction of a recurrence are such a slice.
std::optional<Tensor> SharedSlice(const CallNode& call,
                                  absl::Span<const Value> args) {
  // A slice keeps all of the constant in memory: twice what it needs at most,
  // four times for a slice of a slice.
  constexpr int64_t kMostParts = 2;
  // Copying a smaller one takes no longer.
  constexpr int64_t kLeastBytes = 4096;
  const auto* attrs = call.attrs_as<StridedSliceAttrs>();
  if (attrs == nullptr || args.size() != 1 || !args[0].is_tensor() ||
      call.op_node()->name() != "strided_slice") {
    return std::nullopt;
  }
  const Tensor& whole = args[0].tensor();
  TensorShape shape(whole.shape().begin(), whole.shape().end());
  const auto slices = SlicesOf(std::vector<Dim>(shape.begin(), shape.end()),
                               *attrs, CrossedEnds::kEmpty);
  if (!slices.ok()) return std::nullopt;
  TensorShape first(shape.size(), 0);
  for (const AxisSlice& slice : *slices) {
    if (slice.stride != 1 || slice.end < slice.begin) return std::nullopt;
    shape[static_cast<size_t>(slice.axis)] = slice.end - slice.begin;
    first[static_cast<size_t>(slice.axis)] = slice.begin;
  }
  // Behind the first dimension of several elements, all elements are there.
  int64_t begin = 0;
  int64_t elements = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (elements > 1 && shape[d] != whole.shape()[d]) return std::nullopt;
    begin = begin * whole.shape()[d] + first[d];
    elements *= shape[d];
  }
  const int64_t bytes = elements * whole.dtype().bytes();
  if (bytes < kLeastBytes || bytes < whole.byte_size() / kMostParts) {
    return std::nullopt;
  }
  absl::StatusOr<Tensor> part = whole.Part(begin, shape);
  return part.ok() ? std::optional(*std::move(part)) : std::nullopt;
}

// Calls `fn` for the constants that make up `expr`, a constant, a fill or a
// tuple of such; others are passed over.
template <typename Fn>
void ForEachConstant(const Expr& expr, Fn&& fn) {
  std::vector<const ExprNode*> pending = {IgnoringOnDevice(expr).get()};
  while (!pending.empty()) {
    const ExprNode* node = pending.back();
    pending.pop_back();
    if (node->kind() == ExprKind::kConstant) {
      fn(static_cast<const ConstantNode*>(node));
    } else if (node->kind() == ExprKind::kTuple) {
      for (const Expr& field : static_cast<const TupleNode*>(node)->fields()) {
        pending.push_back(IgnoringOnDevice(field).get());
      }
    } else if (FillOfCall(Expr(node)).has_value()) {
      pending.push_back(static_cast<const CallNode*>(node)->arg(0).get());
    }
  }
}

// The size of a tensor, or of all tensors of a tuple: at most the largest
// int64_t.
struct Size {
  int64_t elements = 0;
  int64_t bytes = 0;

  void Add(DType dtype, absl::Span<const int64_t> shape) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const int64_t more = NumElements(dtype, shape).value_or(kMost);
    const int64_t width = std::max(dtype.bytes(), 1);
    const int64_t more_bytes = more > kMost / width ? kMost : more * width;
    elements = more > kMost - elements ? kMost : elements + more;
    bytes = more_bytes > kMost - bytes ? kMost : bytes + more_bytes;
  }
};

// The size of values of `type`; nullopt where the type leaves that open.
std::optional<Size> SizeOf(const Type& type) {
  Size size;
  const auto add = [&size](const Type& part) {
    const auto* tensor = part.As<TensorTypeNode>();
    if (tensor == nullptr) return false;
    const auto dims = ConstDims(tensor->shape());
    if (!dims.has_value()) return false;
    size.Add(tensor->dtype(), *dims);
    return true;
  };
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr) return add(type) ? std::optional(size) : std::nullopt;
  for (const Type& field : tuple->fields()) {
    if (!add(field)) return std::nullopt;
  }
  return size;
}

Size SizeOf(const Value& value) {
  Size size;
  if (value.is_tensor()) {
    size.Add(value.tensor().dtype(), value.tensor().shape());
  } else if (value.is_tuple()) {
    for (const Value& field : value.fields()) {
      if (!field.is_tensor()) continue;
      size.Add(field.tensor().dtype(), field.tensor().shape());
    }
  }
  return size;
}

// The bytes of the constants in `expr`.
int64_t ConstantBytes(const Expr& expr) {
  int64_t bytes = 0;
  PostOrderVisit(expr, [&bytes](const ExprNode* node) {
    if (node->kind() != ExprKind::kConstant) return;
    bytes += static_cast<const ConstantNode*>(node)->value().byte_size();
  });
  return bytes;
}

// The amount by which folding may enlarge the constants of a function. The size
// of a result is added; that of its arguments, which it replaces, is subtracted
// once, since other calls may use them, too.
class Budget {
 public:
  // `root` is the function, one of `num_functions`, which share
  // limits.max_folded_bytes.
  Budget(const FoldConstantOptions& options, const Expr& root,
         int num_functions, int64_t max_folded_bytes)
      : options_(options),
        root_(root),
        num_functions_(num_functions),
        max_folded_bytes_(std::min(kUnlimited, max_folded_bytes)) {}

  // Empty if `call`, of constants, may become constants of that size; otherwise
  // the limit that forbids it.
  std::string Exceeded(const Call& call, const Size& size) {
    Size given, replaced;
    ForEachArgument(call, [&](const ConstantNode* constant, bool first) {
      const Tensor& value = constant->value();
      given.Add(value.dtype(), value.shape());
      if (first) replaced.Add(value.dtype(), value.shape());
    });
    if (size.elements > given.elements &&
        size.elements > options_.max_elements) {
      return absl::StrCat("max_elements=", options_.max_elements);
    }
    if (size.elements - replaced.elements >
        std::min(kUnlimited, options_.max_growth) - grown_.elements) {
      return absl::StrCat("max_growth=", options_.max_growth);
    }
    const int64_t gain = size.bytes - replaced.bytes;
    if (!options_.in_memory && gain > Share() - grown_.bytes &&
        gain > BytesLeft() && gain > 0) {
      return LimitOfBytes();
    }
    return "";
  }

  // The bytes that the constants may still gain.
  int64_t BytesLeft() {
    if (own_bytes_ < 0) own_bytes_ = ConstantBytes(root_);
    return std::max(Share(), 4 * own_bytes_) - grown_.bytes;
  }

  std::string LimitOfBytes() const {
    std::string limit =
        absl::StrCat("limits.max_folded_bytes=", max_folded_bytes_);
    if (num_functions_ > 1) {
      absl::StrAppend(&limit, " for ", num_functions_, " functions");
    }
    return limit;
  }

  // Takes that from the budget.
  void Spend(const Call& call, const Expr& folded) {
    ForEachArgument(call, [&](const ConstantNode* constant, bool first) {
      if (!first) return;
      grown_.elements -= constant->value().num_elements();
      grown_.bytes -= constant->value().byte_size();
      replaced_.insert(constant);
    });
    Add(folded);
  }

  // Takes the bytes of `folded`, which replaces no constant.
  void Add(const Expr& folded) {
    ForEachConstant(folded, [&](const ConstantNode* constant) {
      grown_.elements += constant->value().num_elements();
      grown_.bytes += constant->value().byte_size();
      // It may have the address of a constant that was destroyed.
      replaced_.erase(constant);
    });
  }

 private:
  // Sums with it do not overflow.
  static constexpr int64_t kUnlimited = int64_t{1} << 60;

  // Each constant of the arguments of `call` once, and whether no call was
  // folded before that had it.
  template <typename Fn>
  void ForEachArgument(const Call& call, Fn&& fn) {
    absl::InlinedVector<const ConstantNode*, 4> seen;
    for (const Expr& arg : call->args()) {
      ForEachConstant(
          arg, [&](const ConstantNode* constant) { seen.push_back(constant); });
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const ConstantNode* constant : seen) {
      fn(constant, !replaced_.contains(constant));
    }
  }

  // The bytes that the function may gain even if it has no constants.
  int64_t Share() const {
    constexpr int64_t kLeast = 1 << 16;
    const int64_t limit = max_folded_bytes_;
    return std::max(limit / num_functions_, std::min(limit, kLeast));
  }

  const FoldConstantOptions& options_;
  const Expr& root_;
  const int num_functions_;
  const int64_t max_folded_bytes_;
  int64_t own_bytes_ = -1;  // not counted yet
  Size grown_;
  FlatHashSet<const ConstantNode*> replaced_;
};

class ConstantFolder : public ExprMutator {
 public:
  ConstantFolder(const FoldConstantOptions& options, const Expr& root,
                 int num_functions, int64_t max_folded_bytes)
      : options_(options),
        budget_(options_, root, num_functions, max_folded_bytes) {}

 protected:
  Expr Before(const ExprNode* node) override {
    return IsPrimitive(node) ? Expr(node) : Expr();
  }

  Expr AfterLetValue(const LetNode* /*let*/, const Expr& value) override {
    return IsConstant(value) ? value : Expr();
  }

  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    return IsConstant(let->value()) ? let->body() : Expr(let);
  }

  Expr VisitIf(const IfNode* /*original*/, If branch) override {
    const std::optional<double> cond =
        ConstantScalar(IgnoringOnDevice(branch->cond()));
    if (!cond.has_value()) return branch;
    return *cond != 0 ? branch->true_branch() : branch->false_branch();
  }

  Expr VisitTupleGetItem(const TupleGetItemNode* /*original*/,
                         TupleGetItem item) override {
    const auto* tuple = IgnoringOnDevice(item->tuple()).As<TupleNode>();
    if (tuple == nullptr || item->index() < 0 ||
        item->index() >= static_cast<int>(tuple->fields().size())) {
      return item;
    }
    const Expr& field = tuple->fields()[item->index()];
    const CallNode* on_device = AsOnDevice(item->tuple());
    return on_device == nullptr ? field : OnDeviceLike(on_device, field);
  }

  Expr VisitCall(const CallNode* original, Call call) override {
    const OpNode* op = call->op_node();
    if (op == nullptr) return FoldPrimitive(original, call);
    if (call->num_args() == 0) return call;
    if (Expr shape = FoldShape(original, *op)) {
      if (!MayRewrite()) return call;
      budget_.Add(shape);
      EmitFolded(original, shape);
      return shape;
    }
    bool has_fills = false;
    for (const Expr& arg : call->args()) {
      if (IsConstantOrTuple(arg)) continue;
      if (!IsKeptFill(arg)) return call;
      has_fills = true;
    }
    if (IsStateful(call->op()) || IsDeviceCopy(call->op())) {
      EmitNotFolded(original, "the operator has effects");
      return call;
    }
    if (Kernels().Get(*op) == nullptr) {
      EmitNotFolded(original, "the operator has no kernel");
      return call;
    }
    if (IsQuantized(call->op())) {
      if (!options_.fold_qnn) {
        EmitNotFolded(original,
                      "the option fold_qnn leaves quantized operators out");
        return call;
      }
    } else if (IsNonComputational(call->op())) {
      EmitNotFolded(original, "the operator computes nothing");
      return call;
    }
    absl::InlinedVector<Value, 4> args;  // without those that are fills
    for (const Expr& arg : call->args()) {
      std::optional<Value> value =
          ConstantValue(arg, [&](const Expr& other) -> std::optional<Value> {
            if (!IsKeptFill(other)) return std::nullopt;
            has_fills = true;
            return Value();
          });
      if (!value.has_value()) {
        EmitNotFolded(original, "a field of a tuple is no constant");
        return call;
      }
      args.push_back(*std::move(value));
    }
    // Kernels may read the type of the call.
    const absl::StatusOr<Expr> typed = InferTypeOf(call);
    if (!typed.ok()) {
      EmitNotFolded(original, "the call has no type", typed.status().message());
      return call;
    }
    const std::optional<Size> size = SizeOf((*typed)->type());
    std::string limit;
    int64_t bytes = 0;  // that are over the limit
    if (size.has_value()) {
      limit = budget_.Exceeded(call, *size);
      bytes = size->bytes;
    }
    if (options_.keep_fills &&
        (has_fills || !limit.empty() || FillOfCall(call).has_value())) {
      if (Expr fill = FoldFills(*typed)) {
        if (fill.get() == typed->get()) return call;
        if (!MayRewrite()) return call;
        budget_.Spend(call, fill);
        EmitFolded(original, fill);
        return fill;
      }
      // The fills become tensors, if they are not too large.
      for (size_t i = 0; has_fills && limit.empty() && i < args.size(); ++i) {
        std::optional<Value> value = ConstantValue(
            call->arg(i), [&](const Expr& other) -> std::optional<Value> {
              const std::optional<Fill> fill = FillOfCall(other);
              if (!fill.has_value()) return std::nullopt;
              Size whole;
              whole.Add(fill->element.dtype(), fill->shape);
              if (whole.bytes > budget_.BytesLeft()) {
                limit = budget_.LimitOfBytes();
                bytes = whole.bytes;
                return std::nullopt;
              }
              absl::StatusOr<Tensor> tensor = Repeated(*fill);
              if (!tensor.ok()) return std::nullopt;
              return Value(*std::move(tensor));
            });
        if (value.has_value()) {
          args[i] = *std::move(value);
        } else if (limit.empty()) {
          return call;  // without memory
        }
      }
    }
    if (!limit.empty()) {
      EmitOverLimit(original, bytes, limit);
      return call;
    }
    Limits limits = CurrentLimits();
    // The size is not known before the call is computed.
    const bool is_open = !size.has_value() && !options_.in_memory;
    if (is_open) {
      limits.max_tensor_bytes = std::min(
          limits.max_tensor_bytes,
          std::max<int64_t>(budget_.BytesLeft(), 0) + GivenBytes(args));
    }
    const absl::StatusOr<Value> result = [&]() -> absl::StatusOr<Value> {
      const CallNode& typed_call = *typed->As<CallNode>();
      if (auto part = SharedSlice(typed_call, args)) return Value(*part);
      const ScopedLimits scope(limits);
      return RunKernel(typed_call, args);
    }();
    if (!result.ok()) {
      if (is_open && absl::IsResourceExhausted(result.status())) {
        EmitNotFolded(original, "the result is over the limit",
                      budget_.LimitOfBytes());
        return call;
      }
      EmitNotFolded(original, "its kernel fails", result.status().message());
      return call;
    }
    if (!size.has_value()) {
      const Size actual = SizeOf(*result);
      limit = budget_.Exceeded(call, actual);
      if (!limit.empty()) {
        EmitOverLimit(original, actual.bytes, limit);
        return call;
      }
    }
    Expr folded = ToExpr(*result);
    if (!folded.defined()) {
      EmitNotFolded(original, "the result is no tensor");
      return call;
    }
    if (!MayRewrite()) return call;
    budget_.Spend(call, folded);
    EmitFolded(original, folded);
    return folded;
  }

 private:
  // True for a call of `full` that stays one.
  bool IsKeptFill(const Expr& expr) const {
    return options_.keep_fills && FillOfCall(expr).has_value();
  }

  // The bytes of the arguments.
  static int64_t GivenBytes(absl::Span<const Value> args) {
    int64_t bytes = 0;
    for (const Value& arg : args) bytes += SizeOf(arg).bytes;
    return bytes;
  }

  // A tensor of the elements of `fill`.
  static absl::StatusOr<Tensor> Repeated(const Fill& fill) {
    BATON_ASSIGN_OR_RETURN(
        MutableTensor tensor,
        MutableTensor::Uninitialized(fill.element.dtype(), fill.shape));
    const auto width = static_cast<size_t>(fill.element.dtype().bytes());
    char* out = static_cast<char*>(tensor.data());
    const auto num_bytes = static_cast<size_t>(tensor.byte_size());
    // Doubles what is there.
    size_t done = std::min(width, num_bytes);
    std::memcpy(out, fill.element.data(), done);
    while (done < num_bytes) {
      const size_t more = std::min(done, num_bytes - done);
      std::memcpy(out + done, out, more);
      done += more;
    }
    return std::move(tensor).Freeze();
  }

  // A call of `full`, or a constant if it is small; null on failure.
  static Expr ToExpr(const Fill& fill) {
    Size size;
    size.Add(fill.element.dtype(), fill.shape);
    if (size.bytes < kFillBytes) {
      absl::StatusOr<Tensor> tensor = Repeated(fill);
      return tensor.ok() ? Expr(Constant(*std::move(tensor))) : Expr();
    }
    const absl::StatusOr<Expr> call = InferTypeOf(
        Full(Constant(FirstElement(fill.element, {})),
             {fill.shape.begin(), fill.shape.end()}, fill.element.dtype()));
    return call.ok() ? *call : Expr();
  }

  // A constant for a tensor, or a fill that is kept; a tuple of them for a
  // tuple of tensors; null for anything else.
  Expr ToExpr(const Value& value) const {
    if (value.is_tensor()) return ToExpr(value.tensor());
    if (!value.is_tuple()) return {};
    std::vector<Expr> fields;
    for (const Value& field : value.fields()) {
      if (!field.is_tensor()) return {};
      fields.push_back(ToExpr(field.tensor()));
    }
    return Tuple(std::move(fields));
  }
  Expr ToExpr(const Tensor& tensor) const {
    if (options_.keep_fills && tensor.byte_size() >= kFillBytes &&
        IsFill(tensor)) {
      if (Expr fill = ToExpr(
              Fill{tensor, {tensor.shape().begin(), tensor.shape().end()}})) {
        return fill;
      }
    }
    return Constant(tensor);
  }

  // The fills that `arg` is: one, or those of a tuple. Empty if anything else
  // is in it, or a fill without elements.
  static std::vector<Fill> FillsOf(const Expr& arg) {
    std::vector<Fill> fills;
    const auto* tuple = arg.As<TupleNode>();
    const absl::Span<const Expr> parts =
        tuple == nullptr ? absl::MakeConstSpan(&arg, 1)
                         : absl::MakeConstSpan(tuple->fields());
    for (const Expr& part : parts) {
      std::optional<Fill> fill = FillOf(part);
      if (!fill.has_value() || fill->num_elements() == 0) return {};
      fills.push_back(*std::move(fill));
    }
    return fills;
  }

  // True if the elements of all `fills` have the same bytes.
  static bool AreAlike(absl::Span<const Fill> fills) {
    const auto bytes_of = [](const Fill& fill) {
      const Tensor& element = fill.element;
      return element.bytes().substr(
          0, static_cast<size_t>(element.dtype().bytes()));
    };
    return std::all_of(fills.begin(), fills.end(), [&](const Fill& fill) {
      return fill.element.dtype() == fills[0].element.dtype() &&
             bytes_of(fill) == bytes_of(fills[0]);
    });
  }

  // The result of the typed `call`, each argument of which is a fill, without
  // computing more than one element; null where that is not possible.
  static Expr FoldFills(const Expr& typed) {
    const auto* call = typed.As<CallNode>();
    const auto* type = typed->type().As<TensorTypeNode>();
    if (type == nullptr) return {};
    const auto dims = ConstDims(type->shape());
    if (!dims.has_value() ||
        NumElements(type->dtype(), *dims).value_or(1) == 0) {
      return {};
    }
    TensorShape shape(dims->begin(), dims->end());
    if (const std::optional<Fill> self = FillOfCall(typed)) {
      Size size;
      size.Add(self->element.dtype(), self->shape);
      return size.bytes < kFillBytes ? ToExpr(*self) : typed;
    }
    std::vector<Fill> fills;
    for (const Expr& arg : call->args()) {
      std::vector<Fill> of_arg = FillsOf(arg);
      const bool is_tuple = arg.Is<TupleNode>();
      if (of_arg.empty() ||
          (is_tuple && (call->num_args() > 1 || !AreAlike(of_arg) ||
                        !IsRearranging(call->op())))) {
        return {};
      }
      std::move(of_arg.begin(), of_arg.end(), std::back_inserter(fills));
    }
    if (IsRearranging(call->op())) {
      return fills[0].element.dtype() == type->dtype()
                 ? ToExpr(Fill{fills[0].element, std::move(shape)})
                 : Expr();
    }
    const FusionPattern* pattern = FusionPatterns().Get(*call->op_node());
    if (pattern == nullptr || *pattern > FusionPattern::kBroadcast ||
        IsIndexDependent(call->op())) {
      return {};
    }
    std::vector<Expr> elements;
    absl::InlinedVector<Value, 4> values;
    for (const Fill& fill : fills) {
      const Tensor element =
          FirstElement(fill.element, TensorShape(fill.shape.size(), 1));
      elements.push_back(Constant(element));
      values.push_back(Value(element));
    }
    const absl::StatusOr<Expr> small =
        InferTypeOf(Call(call->op(), std::move(elements), call->attrs()));
    if (!small.ok()) return {};
    const std::optional<Size> size = SizeOf((*small)->type());
    if (!size.has_value() || size->elements != 1) return {};
    const absl::StatusOr<Value> result =
        RunKernel(*small->As<CallNode>(), values);
    if (!result.ok() || !result->is_tensor() ||
        result->tensor().dtype() != type->dtype()) {
      return {};
    }
    return ToExpr(Fill{result->tensor(), std::move(shape)});
  }

  // With `in_memory`, the value of a call of a primitive function of constants.
  Expr FoldPrimitive(const CallNode* original, const Call& call) {
    if (!options_.in_memory || !IsPrimitiveCallOfConstants(call.get())) {
      return call;
    }
    bool is_pure = true;
    PostOrderVisit(call->op(), [&is_pure](const ExprNode* node) {
      if (node->kind() != ExprKind::kOp) return;
      const Expr op(node);
      if (IsStateful(op) || IsDeviceCopy(op)) is_pure = false;
    });
    if (!is_pure) return call;
    const absl::StatusOr<Expr> typed = InferTypeOf(call);
    if (!typed.ok()) return call;
    const std::optional<Size> size = SizeOf((*typed)->type());
    if (!size.has_value()) return call;
    if (const std::string limit = budget_.Exceeded(call, *size);
        !limit.empty()) {
      EmitOverLimit(original, size->bytes, limit);
      return call;
    }
    const absl::StatusOr<Value> result = Evaluate(*typed, nullptr);
    if (!result.ok()) {
      EmitNotFolded(original, "its function fails", result.status().message());
      return call;
    }
    Expr folded = ToExpr(*result);
    if (!folded.defined() || !MayRewrite()) return call;
    budget_.Spend(call, folded);
    EmitFolded(original, folded);
    return folded;
  }

  // The result of a shape query for a tensor with a known shape; otherwise
  // null.
  static Expr FoldShape(const CallNode* call, const OpNode& op) {
    const ShapeQuery* query = ShapeQueries().Get(op);
    if (query == nullptr) return {};
    TensorShape shape;
    if (const auto* constant =
            IgnoringOnDevice(call->arg(0)).As<ConstantNode>()) {
      shape.assign(constant->value().shape().begin(),
                   constant->value().shape().end());
    } else if (const TensorTypeNode* type = call->arg(0)->tensor_type()) {
      const auto dims = ConstDims(type->shape());
      if (!dims.has_value()) return {};
      shape.assign(dims->begin(), dims->end());
    } else {
      return {};
    }
    DType dtype = DType::Int(32);
    std::vector<int64_t> values(shape.begin(), shape.end());
    TensorShape result_shape = {static_cast<int64_t>(shape.size())};
    if (*query == ShapeQuery::kShape) {
      if (const auto* attrs = call->attrs_as<ShapeOfAttrs>()) {
        dtype = attrs->dtype;
      }
    } else {
      if (const auto* attrs = call->attrs_as<NdarraySizeAttrs>()) {
        dtype = attrs->dtype;
      }
      int64_t size = 1;
      for (int64_t d : shape) size *= d;
      values = {size};
      result_shape.clear();
    }
    if (!dtype.IsStorable()) return {};
    absl::StatusOr<MutableTensor> result =
        MutableTensor::Create(dtype, result_shape);
    if (!result.ok()) return {};
    VisitDType(dtype, [&]<typename T>() {
      for (size_t i = 0; i < values.size(); ++i) {
        result->span<T>()[i] = static_cast<T>(values[i]);
      }
    });
    return Constant(std::move(*result).Freeze());
  }

  const FoldConstantOptions options_;
  Budget budget_;
};

absl::StatusOr<Expr> Fold(const Expr& expr, const FoldConstantOptions& options,
                          int num_functions, int64_t max_folded_bytes) {
  // Looking is cheaper than rewriting.
  bool found = false;
  PostOrderVisit(
      expr,
      [&found](const ExprNode* node) { return !found && !IsPrimitive(node); },
      [&](const ExprNode* node) { found = found || MayFold(node, options); });
  if (!found) return expr;
  return ConstantFolder(options, expr, num_functions, max_folded_bytes)
      .Mutate(expr);
}

}  // namespace

absl::StatusOr<Expr> FoldConstantInExpr(const Expr& expr,
                                        const FoldConstantOptions& options) {
  return Fold(expr, options, 1, PassContext::Current().Get(kMaxFoldedBytes));
}

Pass FoldConstant(FoldConstantOptions options) {
  return CreateFunctionPass(
      [options](Function function, const IRModule& module,
                const PassContext& context) -> absl::StatusOr<Function> {
        BATON_ASSIGN_OR_RETURN(
            const Expr result,
            Fold(function, options, std::max(module.size(), 1),
                 context.Get(kMaxFoldedBytes)));
        return Function(result.As<FunctionNode>());
      },
      {.name = "FoldConstant",
       .opt_level = 2,
       .doc = "Computes what depends on constants only.",
       // A branch that an `if` becomes is bound to no variable. What a scope
       // and those inside it shared is left to these if only it is constant
       // around them.
       .invalidates = {"a_normal_form", "basic_block_normal_form"}},
      options);
}

BATON_REGISTER_PASS(FoldConstant);
BATON_REGISTER_REMARKS("FoldConstant",
                       {.passed = "a call was computed",
                        .missed = "why a call of constants was not computed"});

}  // namespace baton::relay
