#include "baton/tir/interpreter/interpreter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/interpreter/instructions.h"
#include "baton/tir/interpreter/scalar.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// If the order of iterations makes a difference, so many parallel loops are
// tried one by one to find the loop that is the cause.
constexpr size_t kMaxParallelLoops = 32;

// Memory that a pointer points to. `is_set` has a flag for each byte.
struct Memory : std::enable_shared_from_this<Memory> {
  std::string name;
  std::vector<char> bytes;
  std::vector<char> is_set;
};

// The value of an expression: an element for each lane, or a pointer.
struct Value {
  absl::InlinedVector<Scalar, 1> lanes;
  std::shared_ptr<Memory> memory;
  int64_t offset = 0;         // of a pointer, in bytes
  bool is_undefined = false;  // of T.undef()
};

Value OfScalar(Scalar scalar) {
  Value result;
  result.lanes.push_back(scalar);
  return result;
}
Value OfInteger(int64_t value) { return OfScalar({.i = value}); }

// True if the value is one defined number.
bool IsNumber(const Value& value) {
  return value.lanes.size() == 1 && value.memory == nullptr &&
         !value.is_undefined;
}

void SetInteger(Value& value, int64_t integer) {
  if (IsNumber(value)) {
    value.lanes[0] = {.i = integer};
  } else {
    value = OfInteger(integer);
  }
}

// The bounds of a region along one axis.
struct Interval {
  int64_t begin;
  int64_t end;
};
struct TouchedRegion {
  const BufferNode* buffer;
  absl::InlinedVector<Interval, 4> axes;
};
// A block that runs: the regions that it may touch, and its own buffers.
struct ActiveBlock {
  const BlockNode* block;
  std::vector<TouchedRegion> reads;
  std::vector<TouchedRegion> writes;
  std::vector<const BufferNode*> own;
};

// The layout of a buffer at the moment. The pointer variable of the buffer, or
// the match of its region, owns `memory`.
struct View {
  Memory* memory = nullptr;
  int64_t base = 0;  // the byte of element zero
  absl::InlinedVector<int64_t, 4> shape;
  absl::InlinedVector<int64_t, 4> strides;
  int64_t element_bytes = 0;
};

// A buffer that matches a region of another one.
struct MatchedView {
  View view;
  std::shared_ptr<Memory> memory;
};

class Machine {
 public:
  // If `only_loop` is not null, only its iterations are shuffled.
  explicit Machine(const InterpretOptions& options,
                   const ForNode* only_loop = nullptr)
      : options_(options),
        random_(options.shuffle_seed),
        only_loop_(only_loop) {}

  // The first parallel loops that ran more than one iteration.
  const std::vector<const ForNode*>& parallel_loops() const {
    return parallel_loops_;
  }
  // The name of the parameter of a result of Run().
  absl::string_view NameOfResult(size_t i) const {
    if (i >= results_.size()) return "the spare bytes";
    return results_[i].first->name();
  }

  absl::StatusOr<std::vector<Tensor>> Run(
      const PrimFunc& function, absl::Span<const Argument> arguments) {
    BATON_RETURN_IF_ERROR(Bind(function, arguments));
    if (ok()) Run(function->body());
    BATON_RETURN_IF_ERROR(status_);
    std::vector<Tensor> results;
    for (const auto& [pointer, was] : results_) {
      BATON_ASSIGN_OR_RETURN(Tensor contents, ContentsOf(pointer, was));
      results.push_back(std::move(contents));
    }
    if (options_.stand_in_for_externs || options_.spare_bytes != 0) {
      results.push_back(Digest());
    }
    return results;
  }

  absl::StatusOr<std::vector<int64_t>> BindOnly(
      const PrimFunc& function, absl::Span<const Argument> arguments) {
    copies_memory_ = false;
    BATON_RETURN_IF_ERROR(Bind(function, arguments));
    std::vector<int64_t> extents;
    for (const Var& var : function->defined()) {
      const Value* value = values_.Find(var.get());
      const bool is_number = value != nullptr && !value->lanes.empty();
      extents.push_back(is_number ? value->lanes[0].i : 0);
    }
    return extents;
  }

 private:
  bool ok() const { return status_.ok() && !returned_; }

  // Ends the run with an error at `node`.
  Value Fail(const Node* node, std::string message) {
    if (!status_.ok()) return {};
    Span span;
    if (node != nullptr) span = static_cast<const ExprNode*>(node)->span();
    if (!span.defined()) span = statement_span_;
    status_ = ErrorAt(span, std::move(message));
    return {};
  }

  bool Step(const Node* node) {
    if (++steps_ <= options_.max_steps) return true;
    if (!status_.ok()) return false;
    Fail(node, absl::StrCat("more than ", options_.max_steps,
                            " steps, which is the limit here; smaller extents "
                            "need fewer"));
    status_ = absl::ResourceExhaustedError(status_.message());
    return false;
  }

  // --- Parameters ------------------------------------------------------------

  absl::Status Bind(const PrimFunc& function,
                    absl::Span<const Argument> arguments) {
    const absl::Span<const Var> params = function->params();
    if (arguments.size() != params.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the function has ", params.size(), " parameters, got ",
                       arguments.size(), " arguments"));
    }
    // Numbers first: shapes may use them.
    for (size_t i = 0; i < params.size(); ++i) {
      const Argument& argument = arguments[i];
      if (argument.tensor.has_value()) continue;
      const DType dtype = params[i].dtype();
      if (dtype.code() == DType::Code::kHandle) {
        return absl::InvalidArgumentError(absl::StrCat(
            "parameter ", params[i]->name(), " is a buffer, got a number"));
      }
      Value value;
      value.lanes.push_back(
          argument.real.has_value()
              ? ConvertScalar({.f = *argument.real}, DType::Float(64), dtype)
              : ConvertScalar({.i = argument.integer}, DType::Int(64), dtype));
      values_[params[i].get()] = std::move(value);
    }
    for (size_t i = 0; i < params.size(); ++i) {
      if (!arguments[i].tensor.has_value()) continue;
      const Buffer buffer = function->BufferOf(static_cast<int>(i));
      if (buffer.defined()) {
        BATON_RETURN_IF_ERROR(BindBuffer(buffer, *arguments[i].tensor));
      } else if (params[i].dtype() == kHandle) {
        BindMemory(params[i], *arguments[i].tensor);
      } else {
        return absl::InvalidArgumentError(absl::StrCat(
            "parameter ", params[i]->name(), " is a number, got a tensor"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status BindBuffer(const Buffer& buffer, const Tensor& tensor) {
    const auto mismatch = [&] {
      return absl::InvalidArgumentError(absl::StrCat("buffer ", buffer->name(),
                                                     " does not hold a ",
                                                     tensor.TypeToString()));
    };
    const DType dtype = buffer.dtype();
    if (tensor.dtype() != WithLanes(dtype, 1)) return mismatch();
    const size_t rank = buffer->shape().size();
    const bool is_vector = dtype.lanes() != 1;
    if (tensor.shape().size() != rank + (is_vector ? 1 : 0)) return mismatch();
    if (is_vector && tensor.shape()[rank] != dtype.lanes()) return mismatch();
    for (size_t i = 0; i < buffer->shape().size(); ++i) {
      const PrimExpr& extent = buffer->shape()[i];
      const int64_t dim = tensor.shape()[i];
      const auto* var = extent.As<VarNode>();
      if (var != nullptr && !values_.Contains(var)) {
        values_[var] = OfInteger(dim);
      } else if (EvalInteger(extent) != dim) {
        return status_.ok() ? mismatch() : status_;
      }
    }
    int64_t stride = 1;
    for (size_t i = buffer->strides().size(); i-- > 0;) {
      BindOrCheck(buffer->strides()[i], stride, "stride", buffer);
      stride *= tensor.shape()[i];
    }
    if (buffer->elem_offset().defined()) {
      BindOrCheck(buffer->elem_offset(), 0, "offset", buffer);
    }
    BindMemory(buffer->data(), tensor);
    return status_;
  }

  // Makes `pointer` point to a copy of `tensor`.
  void BindMemory(const Var& pointer, const Tensor& tensor) {
    SetMemory(pointer, tensor);
    results_.push_back({pointer, tensor});
  }

  void SetMemory(const Var& pointer, const Tensor& tensor) {
    if (!copies_memory_) return;
    auto memory = std::make_shared<Memory>();
    memory->name = pointer->name();
    const absl::string_view bytes = tensor.bytes();
    memory->bytes.assign(bytes.begin(), bytes.end());
    memory->bytes.resize(bytes.size() +
                         static_cast<size_t>(options_.spare_bytes));
    memory->is_set.assign(memory->bytes.size(), true);
    Value value;
    value.memory = std::move(memory);
    values_[pointer.get()] = std::move(value);
  }

  // Binds a variable without a value; another expression must have `value`.
  void BindOrCheck(const PrimExpr& e, int64_t value, absl::string_view part,
                   const Buffer& buffer) {
    const auto* var = e.As<VarNode>();
    if (var != nullptr && !values_.Contains(var)) {
      values_[var] = OfInteger(value);
      return;
    }
    const int64_t found = EvalInteger(e);
    if (ok() && found != value) {
      Fail(buffer.get(),
           absl::StrCat("the ", part, " of buffer ", buffer->name(), " is ",
                        found, ", the memory's is ", value));
    }
  }

  // The memory behind `pointer` as a tensor with the type of `was`.
  absl::StatusOr<Tensor> ContentsOf(const Var& pointer, const Tensor& was) {
    BATON_ASSIGN_OR_RETURN(MutableTensor result,
                           MutableTensor::Create(was.dtype(), was.shape()));
    const std::vector<char>& bytes = values_.Find(pointer.get())->memory->bytes;
    std::copy(bytes.begin(),
              bytes.end() - static_cast<std::ptrdiff_t>(options_.spare_bytes),
              static_cast<char*>(result.data()));
    return std::move(result).Freeze();
  }

  // A hash of the calls of external functions, of the memory that they returned
  // and of the spare bytes of parameters.
  Tensor Digest() {
    for (const auto& memory : returned_memory_) {
      AddToDigest(memory->bytes.data(), memory->bytes.size());
    }
    const auto spare = static_cast<size_t>(options_.spare_bytes);
    for (const auto& [pointer, was] : results_) {
      const std::vector<char>& bytes =
          values_.Find(pointer.get())->memory->bytes;
      AddToDigest(bytes.data() + (bytes.size() - spare), spare);
    }
    return Tensor::Scalar(static_cast<int64_t>(digest_));
  }

  // FNV-1a.
  void AddToDigest(const char* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      digest_ = (digest_ ^ static_cast<unsigned char>(bytes[i])) *
                uint64_t{1099511628211U};
    }
  }

  // --- Memory ----------------------------------------------------------------

  void AllocateMemory(const Var& pointer, DType dtype,
                      absl::Span<const PrimExpr> extents, const Node* node) {
    int64_t elements = dtype.lanes();
    for (const PrimExpr& extent : extents) {
      const int64_t n = EvalInteger(extent);
      if (!ok()) return;
      if (n < 0 || (n > 0 && elements > kMaxBytes / n)) {
        Fail(node, absl::StrCat("cannot allocate an axis of ", n));
        return;
      }
      elements *= n;
    }
    const int64_t bytes = elements * ElementBytes(dtype);
    if (bytes > kMaxBytes) {
      Fail(node, absl::StrCat("cannot allocate ", bytes, " bytes"));
      return;
    }
    // Clearing memory takes time, too.
    steps_ += bytes / 64;
    const auto size = static_cast<size_t>(bytes + options_.spare_bytes);
    Value value;
    value.memory = std::make_shared<Memory>();
    value.memory->name = pointer->name();
    value.memory->bytes.resize(size, kUnwritten);
    value.memory->is_set.resize(size);
    values_[pointer.get()] = std::move(value);
  }

  // The memory and layout of `buffer` now; false after an error.
  bool ViewOf(const Buffer& buffer, View& view) {
    if (const MatchedView* match = matched_.Find(buffer.get())) {
      view = match->view;
      return ok();
    }
    const Value* pointer = values_.Find(buffer->data().get());
    if (pointer == nullptr || pointer->memory == nullptr) {
      Fail(buffer.get(),
           absl::StrCat("buffer ", buffer->name(), " has no memory here"));
      return false;
    }
    view.memory = pointer->memory.get();
    view.base = pointer->offset;
    view.element_bytes = ElementBytes(buffer.dtype()) * buffer.dtype().lanes();
    for (const PrimExpr& extent : buffer->shape()) {
      view.shape.push_back(EvalInteger(extent));
    }
    if (buffer->strides().empty()) {
      view.strides.resize(view.shape.size());
      int64_t stride = 1;
      for (size_t i = view.shape.size(); i-- > 0;) {
        view.strides[i] = stride;
        stride *= view.shape[i];
      }
    } else {
      for (const PrimExpr& stride : buffer->strides()) {
        view.strides.push_back(EvalInteger(stride));
      }
    }
    if (view.strides.size() != view.shape.size()) {
      Fail(buffer.get(),
           absl::StrCat("buffer ", buffer->name(), " has ", view.shape.size(),
                        " axes and ", view.strides.size(), " strides"));
    }
    if (buffer->elem_offset().defined()) {
      view.base += EvalInteger(buffer->elem_offset()) * view.element_bytes;
    }
    return ok();
  }

  // The bytes of the element at `index`; null after an error. Marks them as
  // written, or checks that they were.
  char* Locate(const Buffer& buffer, const View& view,
               absl::Span<const int64_t> index, bool is_store,
               const Node* node) {
    if (index.size() != view.shape.size()) {
      Fail(node,
           absl::StrCat("buffer ", buffer->name(), " has ", view.shape.size(),
                        " axes, got ", index.size(), " indices"));
      return nullptr;
    }
    int64_t at = 0;
    bool overflows = false;
    for (size_t i = 0; i < index.size(); ++i) {
      if (options_.spare_bytes == 0 &&
          (index[i] < 0 || index[i] >= view.shape[i])) {
        Fail(node,
             absl::StrCat("index ", index[i], " of axis ", i, " of buffer ",
                          buffer->name(), " is not below ", view.shape[i]));
        return nullptr;
      }
      int64_t step = 0;
      overflows |= __builtin_mul_overflow(index[i], view.strides[i], &step) ||
                   __builtin_add_overflow(at, step, &at);
    }
    int64_t first = 0;
    overflows |= __builtin_mul_overflow(at, view.element_bytes, &first) ||
                 __builtin_add_overflow(first, view.base, &first);
    Memory& memory = *view.memory;
    if (overflows || first < 0 ||
        first >
            static_cast<int64_t>(memory.bytes.size()) - view.element_bytes) {
      Fail(node, absl::StrCat("an access of buffer ", buffer->name(),
                              " is outside of its memory ", memory.name));
      return nullptr;
    }
    CheckTouched(buffer, index, is_store, node);
    return memory.bytes.data() + first;
  }

  // Checks the access against the regions of the block that runs.
  void CheckTouched(const Buffer& buffer, absl::Span<const int64_t> index,
                    bool is_store, const Node* node) {
    if (!options_.check_regions || blocks_.empty()) return;
    const ActiveBlock& active = blocks_.back();
    // A block without regions is one for which the script did not write them.
    if (active.reads.empty() && active.writes.empty()) return;
    if (std::find(active.own.begin(), active.own.end(), buffer.get()) !=
        active.own.end()) {
      return;
    }
    const auto covers = [&](const std::vector<TouchedRegion>& regions) {
      for (const TouchedRegion& region : regions) {
        if (region.buffer != buffer.get()) continue;
        if (region.axes.size() != index.size()) return true;
        bool inside = true;
        for (size_t i = 0; i < index.size(); ++i) {
          inside &=
              index[i] >= region.axes[i].begin && index[i] < region.axes[i].end;
        }
        if (inside) return true;
      }
      return false;
    };
    if (covers(active.writes) || (!is_store && covers(active.reads))) return;
    Fail(node,
         absl::StrCat("block ", active.block->name(),
                      is_store ? " writes " : " reads ", buffer->name(), "[",
                      absl::StrJoin(index, ", "), "], which its ",
                      is_store ? "T.writes" : "T.reads", " does not name"));
  }

  // The elements at `indices`, one of which may be a vector, of a load or store.
  // Calls `fn(bytes, lane)` with the bytes of each of them.
  template <typename Fn>
  void ForEachElement(const Buffer& buffer, absl::Span<const PrimExpr> indices,
                      bool is_store, const Node* node, const Fn& fn) {
    absl::InlinedVector<int64_t, 4> index(indices.size());
    // The indices that are not one number, by axis.
    absl::InlinedVector<std::pair<size_t, Value>, 1> others;
    size_t lanes = 1;
    for (size_t i = 0; i < indices.size(); ++i) {
      Scalar number;
      if (EvalNumber(indices[i], number)) {
        index[i] = number.i;
        continue;
      }
      if (!ok()) return;
      lanes = std::max(lanes, rest_.lanes.size());
      others.emplace_back(i, std::move(rest_));
    }
    View view;
    if (!ViewOf(buffer, view)) return;
    for (size_t lane = 0; lane < lanes; ++lane) {
      for (const auto& [axis, value] : others) {
        index[axis] = value.lanes[value.lanes.size() == 1 ? 0 : lane].i;
      }
      char* bytes = Locate(buffer, view, index, is_store, node);
      if (!ok()) return;
      fn(bytes, lane, *view.memory);
      if (!ok()) return;
    }
  }

  bool Load(const BufferLoadNode* node, Scalar& number) {
    Value result;
    const Buffer& buffer = node->buffer();
    const DType dtype = WithLanes(buffer.dtype(), 1);
    const int64_t size = ElementBytes(dtype);
    ForEachElement(
        buffer, node->indices(), /*is_store=*/false, node,
        [&](const char* bytes, size_t /*lane*/, const Memory& memory) {
          for (int part = 0; part < buffer.dtype().lanes(); ++part) {
            const char* element = bytes + part * size;
            const auto first =
                static_cast<size_t>(element - memory.bytes.data());
            if (options_.check_initialized && memory.is_set[first] == 0) {
              Fail(node, absl::StrCat("an element of buffer ", buffer->name(),
                                      " is read before it is written"));
              return;
            }
            result.lanes.push_back(LoadScalar(dtype, element));
          }
        });
    return Settle(std::move(result), number);
  }

  void Store(const BufferStoreNode* node) {
    Value value;
    Scalar number;
    const bool is_number = EvalNumber(node->value(), number);
    if (!ok()) return;
    if (!is_number) value = std::move(rest_);
    const absl::Span<const Scalar> elements =
        is_number ? absl::MakeConstSpan(&number, 1)
                  : absl::MakeConstSpan(value.lanes);
    const Buffer& buffer = node->buffer();
    const DType dtype = WithLanes(buffer.dtype(), 1);
    const int64_t size = ElementBytes(dtype);
    const auto parts = static_cast<size_t>(buffer.dtype().lanes());
    ForEachElement(
        buffer, node->indices(), /*is_store=*/true, node,
        [&](char* bytes, size_t lane, Memory& memory) {
          for (size_t part = 0; part < parts; ++part) {
            const size_t from = lane * parts + part;
            if (from >= elements.size()) return;
            char* element = bytes + static_cast<int64_t>(part) * size;
            StoreScalar(dtype, elements[from], element);
            const auto first =
                static_cast<size_t>(element - memory.bytes.data());
            std::fill_n(memory.is_set.begin() + static_cast<int64_t>(first),
                        size, value.is_undefined ? 0 : 1);
          }
        });
  }

  // --- Expressions -----------------------------------------------------------

  int64_t EvalInteger(const PrimExpr& e) {
    if (const auto* number = e.As<IntImmNode>()) return number->value();
    Scalar number;
    if (EvalNumber(e, number)) return number.i;
    return rest_.lanes.empty() ? 0 : rest_.lanes[0].i;
  }
  bool EvalCondition(const PrimExpr& e) { return EvalInteger(e) != 0; }

  Value Eval(const PrimExpr& e) {
    Scalar number;
    if (EvalNumber(e, number)) return OfScalar(number);
    return std::move(rest_);
  }

  // The value of an expression that is one number, as nearly all are: a Value
  // takes more time. False if it is not; then rest_ is the value, or empty after
  // an error.
  bool EvalNumber(const PrimExpr& e, Scalar& number) {
    if (!ok() || !Step(e.get())) return SetRest({});
    return OnDeepStack([&] { return EvalNode(e.get(), number); });
  }

  bool SetRest(Value value) {
    rest_ = std::move(value);
    return false;
  }

  // Returns as EvalNumber() does for `value`.
  bool Settle(Value value, Scalar& number) {
    if (!IsNumber(value)) return SetRest(std::move(value));
    number = value.lanes[0];
    return true;
  }

  bool EvalNode(const ExprNode* node, Scalar& number) {
    switch (node->kind().To<TirKind>()) {
      case TirKind::kVar: {
        const auto* var = static_cast<const VarNode*>(node);
        const Value* const value = values_.Find(var);
        if (value == nullptr) {
          return SetRest(Fail(node, absl::StrCat("variable ", var->name(),
                                                 " has no value here")));
        }
        if (!IsNumber(*value)) return SetRest(*value);
        number = value->lanes[0];
        return true;
      }
      case TirKind::kIntImm:
        number = {.i = static_cast<const IntImmNode*>(node)->value()};
        return true;
      case TirKind::kFloatImm: {
        const auto* real = static_cast<const FloatImmNode*>(node);
        number = ConvertScalar({.f = real->value()}, DType::Float(64),
                               real->dtype());
        return true;
      }
      case TirKind::kCast: {
        const auto* cast = static_cast<const CastNode*>(node);
        const DType from = WithLanes(cast->value().dtype(), 1);
        const DType to = WithLanes(cast->dtype(), 1);
        if (EvalNumber(cast->value(), number)) {
          number = ConvertScalar(number, from, to);
          return true;
        }
        for (Scalar& lane : rest_.lanes) lane = ConvertScalar(lane, from, to);
        return false;
      }
      case TirKind::kBinary:
        return EvalBinary(static_cast<const BinaryNode*>(node), number);
      case TirKind::kNot: {
        if (EvalNumber(static_cast<const NotNode*>(node)->a(), number)) {
          number.i = number.i == 0 ? 1 : 0;
          return true;
        }
        for (Scalar& lane : rest_.lanes) lane.i = lane.i == 0 ? 1 : 0;
        return false;
      }
      case TirKind::kSelect: {
        // A value that no lane selects is not computed: it may be out of
        // bounds.
        const auto* select = static_cast<const SelectNode*>(node);
        return Choose(select->condition(), select->true_value(),
                      select->false_value(), number);
      }
      case TirKind::kLet: {
        const auto* let = static_cast<const LetNode*>(node);
        Value value = Eval(let->value());
        if (!ok()) return SetRest({});
        values_[let->var().get()] = std::move(value);
        return EvalNumber(let->body(), number);
      }
      case TirKind::kBufferLoad:
        return Load(static_cast<const BufferLoadNode*>(node), number);
      case TirKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        const absl::Span<const PrimExpr> args = call->args();
        const auto* op = call->op().As<OpNode>();
        if (op != nullptr && args.size() == 3 &&
            op->name() == "tir.if_then_else") {
          return Choose(args[0], args[1], args[2], number);
        }
        return Settle(EvalCall(call), number);
      }
      default:
        return Settle(EvalOther(node), number);
    }
  }

  Value EvalOther(const ExprNode* node) {
    switch (node->kind().To<TirKind>()) {
      case TirKind::kRamp: {
        const auto* ramp = static_cast<const RampNode*>(node);
        const Value base = Eval(ramp->base());
        const Value stride = Eval(ramp->stride());
        Value value;
        if (!ok()) return value;
        const DType dtype = WithLanes(ramp->dtype(), 1);
        for (int lane = 0; lane < ramp->lanes(); ++lane) {
          Scalar step;
          Scalar element;
          ComputeBinary(BinaryOp::kMul, dtype, stride.lanes[0], {.i = lane},
                        step);
          ComputeBinary(BinaryOp::kAdd, dtype, base.lanes[0], step, element);
          value.lanes.push_back(element);
        }
        return value;
      }
      case TirKind::kBroadcast: {
        const auto* broadcast = static_cast<const BroadcastNode*>(node);
        Value value = Eval(broadcast->value());
        if (!ok()) return value;
        value.lanes.resize(static_cast<size_t>(broadcast->lanes()),
                           value.lanes[0]);
        return value;
      }
      case TirKind::kShuffle:
        return EvalShuffle(static_cast<const ShuffleNode*>(node));
      default:
        return Fail(node,
                    "this expression has no value: it is a part of a "
                    "definition or an annotation");
    }
  }

  // True if the first operand alone decides, as in C++: the second one is not
  // computed.
  static bool Decides(const BinaryNode* node, Scalar a) {
    const bool is_and = node->op() == BinaryOp::kAnd;
    return (is_and || node->op() == BinaryOp::kOr) && (a.i == 0) == is_and;
  }

  bool EvalBinary(const BinaryNode* node, Scalar& number) {
    Scalar a;
    if (!EvalNumber(node->a(), a)) {
      if (!ok()) return SetRest({});
      Value value = std::move(rest_);
      if (value.lanes.size() == 1 && Decides(node, value.lanes[0])) {
        return Settle(std::move(value), number);
      }
      const Value b = Eval(node->b());
      return Settle(Combine(node, std::move(value), b), number);
    }
    if (Decides(node, a)) {
      number = a;
      return true;
    }
    Scalar b;
    if (!EvalNumber(node->b(), b)) {
      const Value value = std::move(rest_);
      return Settle(Combine(node, OfScalar(a), value), number);
    }
    if (!ComputeBinary(node->op(), WithLanes(node->a().dtype(), 1), a, b,
                       number)) {
      return SetRest(Fail(node, "division by zero"));
    }
    return true;
  }

  // The result of a binary operation on two values.
  Value Combine(const BinaryNode* node, Value a, const Value& b) {
    if (!ok()) return {};
    const DType dtype = WithLanes(node->a().dtype(), 1);
    if (a.lanes.size() != b.lanes.size()) {
      return Fail(node, "the operands have different numbers of lanes");
    }
    for (size_t lane = 0; lane < a.lanes.size(); ++lane) {
      Scalar result;
      if (!ComputeBinary(node->op(), dtype, a.lanes[lane], b.lanes[lane],
                         result)) {
        return Fail(node, "division by zero");
      }
      a.lanes[lane] = result;
    }
    return a;
  }

  bool Choose(const PrimExpr& condition, const PrimExpr& true_value,
              const PrimExpr& false_value, Scalar& number) {
    Scalar chosen;
    if (EvalNumber(condition, chosen)) {
      return EvalNumber(chosen.i != 0 ? true_value : false_value, number);
    }
    if (!ok()) return SetRest({});
    const Value choice = std::move(rest_);
    if (choice.lanes.size() == 1) {
      return EvalNumber(choice.lanes[0].i != 0 ? true_value : false_value,
                        number);
    }
    Value yes = Eval(true_value);
    const Value no = Eval(false_value);
    if (!ok()) return SetRest({});
    for (size_t lane = 0; lane < choice.lanes.size(); ++lane) {
      if (choice.lanes[lane].i == 0) yes.lanes[lane] = no.lanes[lane];
    }
    return Settle(std::move(yes), number);
  }

  Value EvalShuffle(const ShuffleNode* node) {
    std::vector<Scalar> all;
    for (const PrimExpr& vector : node->vectors()) {
      const Value value = Eval(vector);
      all.insert(all.end(), value.lanes.begin(), value.lanes.end());
    }
    Value result;
    for (const PrimExpr& index : node->indices()) {
      const int64_t at = EvalInteger(index);
      if (!ok()) return {};
      if (at < 0 || at >= static_cast<int64_t>(all.size())) {
        return Fail(node, absl::StrCat("there is no lane ", at, " in ",
                                       all.size(), " lanes"));
      }
      result.lanes.push_back(all[static_cast<size_t>(at)]);
    }
    return result;
  }

  Value EvalCall(const CallNode* node) {
    const auto* op = node->op().As<OpNode>();
    if (op == nullptr) return CallFunction(node);
    absl::string_view name =
        absl::StripPrefix(absl::string_view(op->name()), "tir.");
    absl::Span<const PrimExpr> args = node->args();
    const auto* called = args.empty() ? nullptr : args[0].As<StringImmNode>();
    if (called != nullptr && IsInstruction(called->value())) {
      if (name == "call_llvm_pure_intrin" && args.size() > 2) {
        return EvalInstruction(node, called->value(), 2);
      }
      if (name == "call_pure_extern") {
        return EvalInstruction(node, called->value(), 1);
      }
    }
    OfTargets(node->dtype(), name, args);
    if (name == "likely" && args.size() == 1) return Eval(args[0]);
    if (name == "assume" && args.size() == 1) {
      const bool holds = EvalCondition(args[0]);
      if (ok() && !holds) return Fail(node, "an assumption does not hold");
      return OfInteger(1);
    }
    if (name == "undef") {
      Value value;
      value.lanes.resize(static_cast<size_t>(node->dtype().lanes()));
      value.is_undefined = true;
      return value;
    }
    if (name == "ret" && args.size() == 1) {
      returned_value_ = Eval(args[0]);
      if (ok()) returned_ = true;
      return returned_value_;
    }
    if (name == "large_uint_imm" && args.size() == 2) {
      const auto low = static_cast<uint64_t>(EvalInteger(args[0]));
      const auto high = static_cast<uint64_t>(EvalInteger(args[1]));
      return OfInteger(static_cast<int64_t>((high << 32) | low));
    }
    if (name == "address_of" && args.size() == 1) return AddressOf(node);
    if (name == "reinterpret" && args.size() == 1) return Reinterpret(node);
    if ((name == "vectorlow" || name == "vectorhigh") && args.size() == 1) {
      return HalfOf(node, name == "vectorhigh");
    }
    if (name == "call_pure_extern" && !args.empty()) return EvalExtern(node);
    if (name == "call_extern" && options_.stand_in_for_externs) {
      return StandIn(node);
    }
    if (name == "tvm_access_ptr" && args.size() == 5)
      return AccessPointer(node);
    if (name == "start_profile_intrinsic" || name == "end_profile_intrinsic") {
      return OfInteger(0);
    }
    std::vector<Value> values;
    size_t lanes = 1;
    for (const PrimExpr& arg : args) {
      if (arg.dtype().code() == DType::Code::kHandle) break;
      values.push_back(Eval(arg));
      if (!ok()) return {};
      lanes = std::max(lanes, values.back().lanes.size());
    }
    if (values.size() != args.size() || values.empty()) return Refuse(node);
    Value result;
    std::vector<Scalar> row(values.size());
    for (size_t lane = 0; lane < lanes; ++lane) {
      for (size_t i = 0; i < values.size(); ++i) {
        const auto& from = values[i].lanes;
        row[i] = from[from.size() == 1 ? 0 : lane];
      }
      Scalar element;
      if (!ComputeIntrinsic(name, WithLanes(args[0].dtype(), 1),
                            WithLanes(node->dtype(), 1), row, element)) {
        return Refuse(node);
      }
      result.lanes.push_back(element);
    }
    return result;
  }

  // Calls of LLVM's intrinsics and of functions of the C library on float32,
  // as calls of the intrinsics that compute the same.
  static void OfTargets(DType dtype, absl::string_view& name,
                        absl::Span<const PrimExpr>& args) {
    const auto* called = args.empty() ? nullptr : args[0].As<StringImmNode>();
    if (called == nullptr) return;
    absl::string_view other = called->value();
    if (name == "call_llvm_pure_intrin" && args.size() > 2 &&
        absl::ConsumePrefix(&other, "llvm.")) {
      name = other == "fmuladd" ? "fma" : other == "ctpop" ? "popcount" : other;
      args.remove_prefix(2);
    } else if (name == "call_pure_extern" && args.size() > 1 &&
               dtype == DType::Float(32) && absl::ConsumeSuffix(&other, "f")) {
      name = other;
      args.remove_prefix(1);
    }
  }

  // A call of a function of the C library, of doubles.
  Value EvalExtern(const CallNode* node) {
    const auto* name = node->args()[0].As<StringImmNode>();
    std::vector<Scalar> args;
    for (const PrimExpr& arg : node->args().subspan(1)) {
      if (arg.dtype() != DType::Float(64)) return Refuse(node);
      const Value value = Eval(arg);
      if (!ok()) return {};
      args.push_back(value.lanes[0]);
    }
    Value result;
    result.lanes.emplace_back();
    if (name == nullptr || node->dtype() != DType::Float(64) ||
        !ComputeExtern(name->value(), args, result.lanes[0])) {
      return Refuse(node);
    }
    return result;
  }

  // A number, or memory, in place of what an external function returns.
  Value StandIn(const CallNode* node) {
    const auto* name = node->args()[0].As<StringImmNode>();
    if (name == nullptr) return Refuse(node);
    AddToDigest(name->value().data(), name->value().size());
    for (const PrimExpr& arg : node->args().subspan(1)) {
      if (arg.As<StringImmNode>() != nullptr) continue;
      const Value value = Eval(arg);
      if (!ok()) return {};
      const DType dtype = WithLanes(arg.dtype(), 1);
      for (const Scalar& lane : value.lanes) {
        char bytes[8] = {};
        StoreScalar(dtype, lane, bytes);
        AddToDigest(bytes, sizeof(bytes));
      }
    }
    Value result;
    if (node->dtype().code() == DType::Code::kHandle) {
      constexpr size_t kBytes = 1024;
      result.memory = std::make_shared<Memory>();
      result.memory->name = std::string(name->value());
      result.memory->bytes.resize(kBytes);
      result.memory->is_set.resize(kBytes);
      returned_memory_.push_back(result.memory);
      return result;
    }
    const Scalar number =
        ConvertScalar({.i = static_cast<int64_t>(digest_ % 16)}, DType::Int(64),
                      WithLanes(node->dtype(), 1));
    result.lanes.assign(static_cast<size_t>(node->dtype().lanes()), number);
    return result;
  }

  // A call of a function of the module, with pointers and numbers.
  Value CallFunction(const CallNode* node) {
    const auto* var = node->op().As<GlobalVarNode>();
    PrimFunc callee;
    if (var != nullptr && options_.module != nullptr) {
      callee = options_.module->Find<PrimFunc>(var->name());
    }
    if (!callee.defined()) {
      return Fail(node, "a call of a function that is not known");
    }
    const absl::Span<const Var> params = callee->params();
    if (params.size() != node->args().size()) {
      return Fail(node, absl::StrCat(var->name(), " has ", params.size(),
                                     " parameters, got ", node->args().size(),
                                     " arguments"));
    }
    if (call_depth_ >= kMaxCallDepth) {
      return Fail(node,
                  absl::StrCat("calls are nested deeper than ", kMaxCallDepth));
    }
    // The callee sees none of the caller's variables and blocks.
    const auto inner = std::make_unique<Machine>(options_, only_loop_);
    for (size_t i = 0; i < params.size(); ++i) {
      Value value = Eval(node->args()[i]);
      if (!ok()) return {};
      const bool is_pointer = params[i].dtype() == kHandle;
      if (params[i].dtype() != node->args()[i].dtype() ||
          is_pointer != (value.memory != nullptr)) {
        return Fail(node, absl::StrCat("parameter ", params[i]->name(), " of ",
                                       var->name(), " gets another type"));
      }
      const Buffer buffer = callee->BufferOf(static_cast<int>(i));
      if (buffer.defined()) inner->values_[buffer->data().get()] = value;
      inner->values_[params[i].get()] = std::move(value);
    }
    inner->call_depth_ = call_depth_ + 1;
    inner->statement_span_ = statement_span_;
    SwapProgress(*inner);
    inner->Run(callee->body());
    SwapProgress(*inner);
    status_ = std::move(inner->status_);
    return std::move(inner->returned_value_);
  }

  // Swaps what goes on from one call to the next.
  void SwapProgress(Machine& other) {
    std::swap(random_, other.random_);
    std::swap(parallel_loops_, other.parallel_loops_);
    std::swap(returned_memory_, other.returned_memory_);
    std::swap(digest_, other.digest_);
    std::swap(steps_, other.steps_);
  }

  Value Refuse(const CallNode* node) {
    return Fail(node, absl::StrCat("T.", ScriptName(*node->op().As<OpNode>()),
                                   " cannot be interpreted"));
  }

  Value AddressOf(const CallNode* node) {
    const auto* load = node->args()[0].As<BufferLoadNode>();
    if (load == nullptr) return Refuse(node);
    View view;
    if (!ViewOf(load->buffer(), view)) return {};
    Value pointer;
    pointer.memory = view.memory->shared_from_this();
    pointer.offset = view.base;
    for (size_t i = 0; i < load->indices().size(); ++i) {
      pointer.offset += EvalInteger(load->indices()[i]) * view.strides[i] *
                        view.element_bytes;
    }
    return pointer;
  }

  // T.tvm_access_ptr(T.type_annotation(dtype), data, offset, extent, access).
  Value AccessPointer(const CallNode* node) {
    const absl::Span<const PrimExpr> args = node->args();
    Value pointer = Eval(args[1]);
    const int64_t offset = EvalInteger(args[2]);
    if (!ok()) return {};
    if (pointer.memory == nullptr) return Refuse(node);
    const DType dtype = args[0].dtype();
    int64_t bytes = 0;
    if (__builtin_mul_overflow(
            offset, int64_t{ElementBytes(dtype)} * dtype.lanes(), &bytes) ||
        __builtin_add_overflow(pointer.offset, bytes, &pointer.offset)) {
      Fail(node, "the offset of a pointer overflows");
      return {};
    }
    return pointer;
  }

  Value Reinterpret(const CallNode* node) {
    Value value = Eval(node->args()[0]);
    if (!ok()) return {};
    Value result;
    const Operand operand = {node->args()[0].dtype(), value.lanes};
    if (value.memory != nullptr ||
        !ReinterpretLanes(operand, WithLanes(node->dtype(), 1), result.lanes) ||
        result.lanes.size() != static_cast<size_t>(node->dtype().lanes())) {
      return Refuse(node);
    }
    return result;
  }

  // The first or the second half of a vector.
  Value HalfOf(const CallNode* node, bool is_second) {
    Value value = Eval(node->args()[0]);
    const auto lanes = static_cast<size_t>(node->dtype().lanes());
    if (!ok()) return {};
    if (value.lanes.size() != 2 * lanes) return Refuse(node);
    const auto begin = value.lanes.begin() +
                       static_cast<std::ptrdiff_t>(is_second ? lanes : 0);
    Value result;
    result.lanes.assign(begin, begin + static_cast<std::ptrdiff_t>(lanes));
    return result;
  }

  // A call of an instruction, whose operands begin at argument `first`.
  Value EvalInstruction(const CallNode* node, absl::string_view name,
                        size_t first) {
    std::vector<Operand> operands;
    for (size_t i = first; i < node->args().size(); ++i) {
      const PrimExpr& arg = node->args()[i];
      operands.push_back({arg.dtype(), Eval(arg).lanes});
      if (!ok()) return {};
    }
    Value result;
    if (!ComputeInstruction(name, operands, node->dtype(), result.lanes)) {
      return Refuse(node);
    }
    return result;
  }

  // --- Statements ------------------------------------------------------------

  void Run(const Stmt& stmt) {
    if (!stmt.defined() || !ok() || !Step(stmt.get())) return;
    if (stmt->span().defined()) statement_span_ = stmt->span();
    OnDeepStack([this, &stmt] { RunNode(stmt.get()); });
  }

  void RunNode(const ExprNode* node) {
    switch (node->kind().To<TirKind>()) {
      case TirKind::kLetStmt: {
        const auto* let = static_cast<const LetStmtNode*>(node);
        Value value = Eval(let->value());
        if (!ok()) return;
        values_[let->var().get()] = std::move(value);
        return Run(let->body());
      }
      case TirKind::kAttrStmt:
        return RunAttr(static_cast<const AttrStmtNode*>(node));
      case TirKind::kAssertStmt: {
        const auto* assertion = static_cast<const AssertStmtNode*>(node);
        const bool holds = EvalCondition(assertion->condition());
        if (!ok()) return;
        if (!holds) {
          const auto* text = assertion->message().As<StringImmNode>();
          Fail(node, absl::StrCat("an asserted condition does not hold",
                                  text == nullptr ? "" : ": ",
                                  text == nullptr ? "" : text->value()));
          return;
        }
        return Run(assertion->body());
      }
      case TirKind::kFor:
        return RunFor(static_cast<const ForNode*>(node));
      case TirKind::kWhile: {
        const auto* loop = static_cast<const WhileNode*>(node);
        while (EvalCondition(loop->condition()) && ok()) Run(loop->body());
        return;
      }
      case TirKind::kBufferStore:
        return Store(static_cast<const BufferStoreNode*>(node));
      case TirKind::kBufferRealize: {
        const auto* realize = static_cast<const BufferRealizeNode*>(node);
        const Buffer& buffer = realize->buffer();
        AllocateMemory(buffer->data(), buffer.dtype(), buffer->shape(), node);
        return Run(realize->body());
      }
      case TirKind::kAllocate: {
        const auto* allocate = static_cast<const AllocateNode*>(node);
        AllocateMemory(allocate->var(), allocate->dtype(), allocate->extents(),
                       node);
        return Run(allocate->body());
      }
      case TirKind::kAllocateConst: {
        const auto* constant = static_cast<const AllocateConstNode*>(node);
        SetMemory(constant->var(), constant->data());
        return Run(constant->body());
      }
      case TirKind::kDeclBuffer:
        return Run(static_cast<const DeclBufferNode*>(node)->body());
      case TirKind::kSeqStmt:
        for (const Stmt& part : static_cast<const SeqStmtNode*>(node)->seq()) {
          Run(part);
        }
        return;
      case TirKind::kIfThenElse: {
        const auto* branch = static_cast<const IfThenElseNode*>(node);
        const bool holds = EvalCondition(branch->condition());
        return Run(holds ? branch->then_case() : branch->else_case());
      }
      case TirKind::kEvaluate:
        Eval(static_cast<const EvaluateNode*>(node)->value());
        return;
      case TirKind::kBlockRealize:
        return RunBlock(static_cast<const BlockRealizeNode*>(node));
      case TirKind::kPrefetch:
        return;
      default:
        Fail(node, "this statement cannot be interpreted by itself");
        return;
    }
  }

  void RunAttr(const AttrStmtNode* node) {
    const auto* thread = node->node().As<IterVarNode>();
    const bool is_thread =
        node->key() == "thread_extent" || node->key() == "virtual_thread";
    if (!is_thread || thread == nullptr) return Run(node->body());
    const int64_t extent = EvalInteger(node->value());
    for (int64_t i = 0; i < extent && ok(); ++i) {
      values_[thread->var().get()] = OfInteger(i);
      Run(node->body());
    }
  }

  void RunFor(const ForNode* node) {
    const int64_t min = EvalInteger(node->min());
    const int64_t extent = EvalInteger(node->extent());
    if (!ok()) return;
    const VarNode* var = node->loop_var().get();
    const auto iterate = [&](int64_t i) {
      SetInteger(values_[var], min + i);
      if (node->thread().defined()) {
        values_[node->thread()->var().get()] = OfInteger(min + i);
      }
      Run(node->body());
    };
    if (node->for_kind() == ForKind::kParallel && extent > 1) {
      AddParallelLoop(node);
      if (IsShuffled(node) && extent <= options_.max_steps) {
        for (const int64_t i : ShuffledOrder(extent)) {
          if (!ok() || !Step(node)) return;
          iterate(i);
        }
        return;
      }
    }
    for (int64_t i = 0; i < extent && ok(); ++i) {
      if (!Step(node)) return;
      iterate(i);
    }
  }

  void AddParallelLoop(const ForNode* node) {
    if (parallel_loops_.size() < kMaxParallelLoops &&
        std::find(parallel_loops_.begin(), parallel_loops_.end(), node) ==
            parallel_loops_.end()) {
      parallel_loops_.push_back(node);
    }
  }
  bool IsShuffled(const ForNode* node) const {
    return options_.shuffle_seed != 0 &&
           (only_loop_ == nullptr || only_loop_ == node);
  }
  // The numbers below `extent`, not in ascending order.
  std::vector<int64_t> ShuffledOrder(int64_t extent) {
    std::vector<int64_t> order(static_cast<size_t>(extent));
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<int64_t>(i);
    }
    // std::shuffle() is another one in each library.
    for (size_t i = order.size(); i-- > 1;) {
      std::swap(order[i], order[random_() % (i + 1)]);
    }
    if (std::is_sorted(order.begin(), order.end())) {
      std::reverse(order.begin(), order.end());
    }
    return order;
  }

  void RunBlock(const BlockRealizeNode* node) {
    const Block& block = node->block();
    const absl::Span<const IterVar> vars = block->iter_vars();
    // All values are computed with the variables of the surrounding loops.
    absl::InlinedVector<Value, 6> values;
    for (const PrimExpr& value : node->iter_values()) {
      values.push_back(Eval(value));
    }
    if (!ok()) return;
    for (size_t i = 0; i < vars.size(); ++i) {
      values_[vars[i]->var().get()] = values[i];
    }
    const bool runs = EvalCondition(node->predicate());
    if (!ok() || !runs) return;
    bool starts = true;  // all reduction variables are at their beginning
    for (size_t i = 0; i < vars.size(); ++i) {
      const int64_t at = values[i].lanes.empty() ? 0 : values[i].lanes[0].i;
      if (!vars[i]->min().defined()) continue;
      const int64_t min = EvalInteger(vars[i]->min());
      const int64_t extent = EvalInteger(vars[i]->extent());
      if (!ok()) return;
      if (at < min || at >= min + extent) {
        Fail(node,
             absl::StrCat("variable ", vars[i]->var()->name(), " of block ",
                          block->name(), " is ", at, ", outside of its range"));
        return;
      }
      if (vars[i]->iter_type() == IterVarType::kCommReduce) {
        starts = starts && at == min;
      }
    }
    ActiveBlock active;
    active.block = block.get();
    for (const Buffer& buffer : block->alloc_buffers()) {
      AllocateMemory(buffer->data(), buffer.dtype(), buffer->shape(),
                     block.get());
      active.own.push_back(buffer.get());
    }
    for (const MatchRegion& match : block->match_buffers()) {
      BindMatch(match);
      active.own.push_back(match->buffer().get());
    }
    AddRegions(block->reads(), active.reads);
    AddRegions(block->writes(), active.writes);
    if (!ok()) return;
    blocks_.push_back(std::move(active));
    if (starts) Run(block->init());
    Run(block->body());
    blocks_.pop_back();
  }

  void AddRegions(absl::Span<const BufferRegion> regions,
                  std::vector<TouchedRegion>& touched) {
    if (!options_.check_regions) return;
    for (const BufferRegion& region : regions) {
      TouchedRegion& added =
          touched.emplace_back(TouchedRegion{region->buffer().get(), {}});
      for (const Range& range : region->region()) {
        const int64_t begin = EvalInteger(range.min);
        added.axes.push_back({begin, begin + EvalInteger(range.extent)});
      }
    }
  }

  // Makes the buffer of `match` a view of the region of its source: its last
  // axes are those of the region. Without strides of its own it has the
  // source's.
  void BindMatch(const MatchRegion& match) {
    const Buffer& buffer = match->buffer();
    View view;
    if (!ViewOf(match->source()->buffer(), view)) return;
    const absl::Span<const Range> region = match->source()->region();
    int64_t offset = 0;
    for (size_t i = 0; i < region.size(); ++i) {
      offset += EvalInteger(region[i].min) * view.strides[i];
    }
    std::shared_ptr<Memory> memory = view.memory->shared_from_this();
    Value pointer;
    pointer.memory = memory;
    values_[buffer->data().get()] = std::move(pointer);
    view.base += offset * view.element_bytes;
    if (buffer->elem_offset().As<VarNode>() != nullptr) {
      values_[buffer->elem_offset().get()] =
          OfInteger(view.base / std::max<int64_t>(view.element_bytes, 1));
    }
    const size_t rank = std::min(buffer->shape().size(), region.size());
    const size_t skipped = region.size() - rank;
    view.shape.clear();
    for (size_t i = 0; i < rank; ++i) {
      const int64_t extent = EvalInteger(region[skipped + i].extent);
      view.shape.push_back(extent);
      if (buffer->shape()[i].As<VarNode>() != nullptr) {
        values_[buffer->shape()[i].get()] = OfInteger(extent);
      }
      if (!buffer->strides().empty() &&
          buffer->strides()[i].As<VarNode>() != nullptr) {
        values_[buffer->strides()[i].get()] =
            OfInteger(view.strides[skipped + i]);
      }
    }
    view.strides.erase(view.strides.begin(),
                       view.strides.begin() + static_cast<int64_t>(skipped));
    matched_[buffer.get()] = {std::move(view), std::move(memory)};
  }

  static constexpr int64_t kMaxBytes = int64_t{1} << 28;
  static constexpr char kUnwritten = 0x5a;
  static constexpr int kMaxCallDepth = 100;

  const InterpretOptions& options_;
  std::mt19937_64 random_;
  const ForNode* only_loop_;
  std::vector<const ForNode*> parallel_loops_;
  NodeMap<Value> values_;         // of variables
  Value rest_;                    // see EvalNumber()
  NodeMap<MatchedView> matched_;  // of buffers that match regions of others
  std::vector<std::pair<Var, Tensor>> results_;  // pointers and arguments
  std::vector<ActiveBlock> blocks_;
  Span statement_span_;
  absl::Status status_;
  std::vector<std::shared_ptr<Memory>> returned_memory_;  // by stand-ins
  uint64_t digest_ = uint64_t{14695981039346656037U};
  int64_t steps_ = 0;
  bool returned_ = false;
  Value returned_value_;
  int call_depth_ = 0;
  bool copies_memory_ = true;  // of arguments
};

// The first element that differs: `element 3 of p1`. Empty if there is none.
std::string FirstOther(const Machine& machine, absl::Span<const Tensor> a,
                       absl::Span<const Tensor> b) {
  for (size_t k = 0; k < a.size(); ++k) {
    const absl::string_view x = a[k].bytes();
    const absl::string_view y = b[k].bytes();
    if (x == y) continue;
    const auto place = static_cast<int64_t>(
        std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin());
    return absl::StrCat("element ", place / ElementBytes(a[k].dtype()), " of ",
                        machine.NameOfResult(k));
  }
  return "";
}

// How a run differs from `in_order` if the iterations of `only_loop`, or of all
// parallel loops, run in another order; empty if it does not.
std::string OtherInOrder(const PrimFunc& function,
                         absl::Span<const Argument> arguments,
                         const InterpretOptions& options,
                         const ForNode* only_loop,
                         absl::Span<const Tensor> in_order) {
  Machine machine(options, only_loop);
  const absl::StatusOr<std::vector<Tensor>> other =
      machine.Run(function, arguments);
  if (absl::IsResourceExhausted(other.status())) return "";
  if (!other.ok()) return std::string(other.status().message());
  const std::string place = FirstOther(machine, in_order, *other);
  return place.empty() ? "" : absl::StrCat(place, " is another one");
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> Interpret(
    const PrimFunc& function, absl::Span<const Argument> arguments,
    const InterpretOptions& options) {
  Machine machine(options);
  BATON_ASSIGN_OR_RETURN(std::vector<Tensor> results,
                         machine.Run(function, arguments));
  if (!options.check_order || machine.parallel_loops().empty()) return results;
  InterpretOptions shuffled = options;
  ++shuffled.shuffle_seed;
  std::string how =
      OtherInOrder(function, arguments, shuffled, nullptr, results);
  if (how.empty()) return results;
  const ForNode* guilty = machine.parallel_loops()[0];
  for (const ForNode* loop : machine.parallel_loops()) {
    const std::string alone =
        OtherInOrder(function, arguments, shuffled, loop, results);
    if (alone.empty()) continue;
    guilty = loop;
    how = alone;
    break;
  }
  const absl::Status status = ErrorAt(
      guilty->span(),
      absl::StrCat("iterations of parallel loop ", guilty->loop_var()->name(),
                   " depend on one another. In another order (seed ",
                   shuffled.shuffle_seed, "), ", how));
  return absl::FailedPreconditionError(status.message());
}

absl::StatusOr<std::vector<Argument>> ToArguments(
    const PrimFunc& function, absl::Span<const Tensor> tensors) {
  const absl::Span<const Var> params = function->params();
  if (tensors.size() != params.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the function has ", params.size(), " parameters, not ",
                     tensors.size()));
  }
  std::vector<Argument> arguments;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (params[i].dtype() == kHandle) {
      arguments.emplace_back(tensor);
    } else if (tensor.dtype().is_float()) {
      arguments.emplace_back(tensor.AtAsDouble(0));
    } else {
      arguments.emplace_back(tensor.AtAsInt64(0));
    }
  }
  return arguments;
}

absl::StatusOr<std::vector<int64_t>> BindExtents(
    const PrimFunc& function, absl::Span<const Argument> arguments) {
  return Machine({}).BindOnly(function, arguments);
}

}  // namespace baton::tir
