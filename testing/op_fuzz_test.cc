// Tests arbitrary calls of operators, with arbitrary attributes and arguments.
// Inference refuses the call or gives it a type; evaluation refuses it or gives
// a value; passes leave a program that can be typed. Nothing requests more
// memory than the limits allow.
//
// The input bytes seed the decisions: the operator, the value of each
// attribute, the types of the arguments.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/base/limits.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"

namespace baton {
namespace {

using relay::Value;

// The limit for one tensor. The time of a kernel may grow with the product of
// the sizes of two tensors.
constexpr int64_t kMaxTensorBytes = 1 << 16;

[[noreturn]] void Fail(absl::string_view what, absl::string_view text) {
  std::fprintf(stderr, "%s\n%s\n", std::string(what).c_str(),
               std::string(text.substr(0, 10000)).c_str());
  std::abort();
}

// Random decisions; the same for the same bytes.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) {
    // FNV-1a.
    for (size_t i = 0; i < size; ++i) {
      state_ = (state_ ^ data[i]) * 0x100000001b3;
    }
  }

  // In [0, n).
  size_t Below(size_t n) {
    // splitmix64 (Steele, Lea and Flood, 2014).
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<size_t>((x ^ (x >> 31)) % n);
  }
  bool OneIn(size_t n) { return Below(n) == 0; }
  template <typename T>
  const T& OneOf(absl::Span<const T> values) {
    return values[Below(values.size())];
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325;
};

constexpr int64_t kInts[] = {
    0, 1, -1, 2, 3, 4, -2, -5, 1000000, INT32_MAX, INT32_MIN, INT64_MAX,
    INT64_MIN, (int64_t{1} << 15) + 1, (int64_t{1} << 16) - 1,
    (int64_t{1} << 20) + 1, int64_t{1} << 21, (int64_t{1} << 30) - 1,
    (int64_t{1} << 30) + 1, int64_t{1} << 31, (int64_t{1} << 31) + 1,
    // The squares of these wrap to 0, 1 and more.
    int64_t{1} << 32, (int64_t{1} << 32) - 1, (int64_t{1} << 32) + 1,
    3037000500, int64_t{1} << 33, int64_t{1} << 48, int64_t{1} << 61,
    int64_t{1} << 62, -(int64_t{1} << 62), (int64_t{1} << 62) - 1,
    -(int64_t{1} << 32)};
constexpr double kFloats[] = {0.0,
                              1.0,
                              -1.0,
                              0.5,
                              1e-5,
                              -0.0,
                              3e38,
                              1e308,
                              4.9e-324,
                              2147483648.0,
                              -9.3e18,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
constexpr absl::string_view kStrings[] = {
    "NCHW",      "NHWC",   "OIHW",    "HWIO",      "NCHW4c",
    "OIHW4i4o",  "NCW",    "NCDHW",   "OIW",       "OIDHW",
    "GOIHW",     "NC",     "",        "constant",  "edge",
    "reflect",   "both",   "values",  "indices",   "clip",
    "wrap",      "fast",   "xy",      "ij",        "end",
    "size",      "add",    "mul",     "mean",      "update",
    "DCR",       "CDR",    "linear",  "cubic",     "nearest_neighbor",
    "float32",   "UPWARD", "floor",   "ij,jk->ik", "...ij->...ji",
    "SYMMETRIC", "onnx",   "\xff\0x", "4h16w2c",   "NCHW2147483647c"};
constexpr DType kDTypes[] = {
    DType::Float(32), DType::Float(32), DType::Float(32), DType::Float(64),
    DType::Float(16), DType::Int(8),    DType::Int(16),   DType::Int(32),
    DType::Int(32),   DType::Int(64),   DType::UInt(8),   DType::UInt(16),
    DType::UInt(32),  DType::UInt(64),  DType::Bool()};
constexpr int64_t kExtents[] = {
    0, 1, 2, 3, 4, 5, 8, -1, 64, 1 << 20, int64_t{1} << 31, Dim::kMax};
constexpr absl::string_view kPasses[] = {
    "FoldConstant",
    "SimplifyInference",
    "FuseOps",
    "DefuseOps",
    "CanonicalizeOps",
    "EliminateCommonSubexpr",
    "BackwardFoldScaleAxis",
    "ForwardFoldScaleAxis",
    "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,default]}}",
    "DeadCodeElimination",
    "ToANormalForm",
    "ToBasicBlockNormalForm",
    "ToGraphNormalForm"};

class Program {
 public:
  explicit Program(Choices& choices) : choices_(choices) {}

  void Run() {
    static const auto* const ops = new std::vector<Op>(AllOps());
    const Op op = choices_.OneOf<Op>(*ops);
    if (op->index() < 0) return;
    Shape();
    const int arity =
        op->arity() >= 0 ? op->arity() : static_cast<int>(choices_.Below(4));
    std::vector<Expr> args;
    for (int i = 0; i < arity; ++i) args.push_back(Argument(i));
    Attrs attrs;
    if (op->attrs_type() != nullptr) {
      absl::StatusOr<Attrs> made =
          op->attrs_type()->FromValues(Values(op->attrs_type()->fields()));
      if (!made.ok()) return;
      attrs = *std::move(made);
    }
    const IRModule module = relay::ModuleFromExpr(
        relay::Function(params_, relay::Call(op, args, attrs)));
    const absl::StatusOr<IRModule> typed = relay::InferTypes(module);
    if (!typed.ok()) {
      if (typed.status().message().empty()) Fail("an error says nothing", "");
      return;
    }
    const std::string text = AsText(*typed);
    // Text has no negative extents.
    if (!has_negative_extent_) {
      const absl::StatusOr<IRModule> again = ParseModule(text, "printed");
      if (!again.ok()) Fail(again.status().message(), text);
    }
    if (choices_.OneIn(3)) RunPass(*typed, text);
    Evaluate(*typed, text);
  }

 private:
  static std::vector<Op> AllOps() {
    std::vector<Op> ops;
    for (const OpNode* op : OpRegistry::Global().List()) ops.push_back(Op(op));
    return ops;
  }

  // Types.

  int64_t Extent() {
    return choices_.OneIn(8) ? choices_.OneOf<int64_t>(kExtents)
                             : static_cast<int64_t>(1 + choices_.Below(5));
  }

  // The shape that most arguments have.
  void Shape() {
    const size_t rank =
        choices_.OneIn(40) ? 8 + choices_.Below(60) : choices_.Below(6);
    for (size_t i = 0; i < rank; ++i) shape_.push_back(Extent());
  }

  TensorType ArgumentType() {
    const DType dtype =
        choices_.OneIn(2) ? DType::Float(32) : choices_.OneOf<DType>(kDTypes);
    Dims shape(shape_.begin(), shape_.end());
    switch (choices_.Below(8)) {
      case 0:
        shape.clear();
        break;
      case 1:
        shape = {shape.empty() ? Dim(1) : shape.back()};
        break;
      case 2:
        shape = {shape.size() < 2 ? Dim(3) : shape[1]};
        break;
      case 3:
        shape.clear();
        for (size_t i = choices_.Below(6); i > 0; --i) {
          shape.push_back(Extent());
        }
        break;
      case 4:
        if (!shape.empty()) shape[choices_.Below(shape.size())] = Extent();
        break;
      case 5:
        if (!shape.empty() && choices_.OneIn(4)) {
          shape[choices_.Below(shape.size())] = Dim::Any();
        }
        break;
      default:
        break;
    }
    for (const Dim& dim : shape) {
      has_negative_extent_ |= dim.is_const() && dim.value() < 0;
    }
    return TensorType(shape, dtype);
  }

  Expr Argument(int i) {
    if (choices_.OneIn(i == 0 ? 6 : 12)) {
      std::vector<Expr> fields;
      for (size_t n = choices_.Below(4); n > 0; --n) {
        fields.push_back(choices_.OneIn(3) || fields.empty() ? Argument(i)
                                                             : fields[0]);
      }
      return relay::Tuple(std::move(fields));
    }
    const TensorType type = ArgumentType();
    if (choices_.OneIn(3)) {
      const auto shape = ConstDims(type->shape());
      if (shape.has_value()) {
        absl::StatusOr<Tensor> tensor = Elements(type->dtype(), *shape);
        if (tensor.ok()) return relay::Constant(*std::move(tensor));
      }
    }
    const relay::Var var(absl::StrCat("p", params_.size()), type);
    params_.push_back(var);
    return var;
  }

  // Values.

  absl::StatusOr<Tensor> Elements(DType dtype,
                                  absl::Span<const int64_t> shape) {
    absl::StatusOr<MutableTensor> tensor = MutableTensor::Create(dtype, shape);
    if (!tensor.ok()) return tensor.status();
    const bool tame = !choices_.OneIn(3);
    VisitDType(dtype, [&]<typename T>() {
      for (T& x : tensor->span<T>()) {
        if constexpr (std::is_same_v<T, bool>) {
          x = choices_.OneIn(2);
        } else if constexpr (std::is_integral_v<T>) {
          x = static_cast<T>(tame ? choices_.Below(4)
                                  : choices_.OneOf<int64_t>(kInts));
        } else {
          x = static_cast<T>(static_cast<float>(
              tame ? static_cast<double>(choices_.Below(9)) / 4 - 1
                   : choices_.OneOf<double>(kFloats)));
        }
      }
    });
    return std::move(*tensor).Freeze();
  }

  absl::StatusOr<Value> ValueOf(const Type& type) {
    const auto* tensor = type.As<TensorTypeNode>();
    if (tensor == nullptr) return absl::UnimplementedError("no tensor");
    TensorShape shape;
    for (const Dim& dim : tensor->shape()) {
      shape.push_back(dim.is_const() ? dim.value() : Extent());
    }
    absl::StatusOr<Tensor> elements = Elements(tensor->dtype(), shape);
    if (!elements.ok()) return elements.status();
    return Value(*std::move(elements));
  }

  // Attributes.

  int64_t Int() {
    if (choices_.OneIn(6)) return choices_.OneOf<int64_t>(kInts);
    return static_cast<int64_t>(choices_.Below(6)) - 1;
  }

  AttrValue List(absl::string_view element) {
    AttrList list;
    size_t size = choices_.Below(5);
    if (choices_.OneIn(3)) size = shape_.size();
    if (choices_.OneIn(3)) size = shape_.size() < 2 ? 0 : shape_.size() - 2;
    if (choices_.OneIn(500)) {
      list.assign(1000000, ValueFor(element, /*depth=*/2));
      return list;
    }
    for (size_t i = 0; i < size; ++i) list.push_back(ValueFor(element, 1));
    return list;
  }

  // A value for a field whose type is so called, as a rule.
  AttrValue ValueFor(absl::string_view type, int depth = 0) {
    if (choices_.OneIn(30)) return AttrValue();
    if (choices_.OneIn(30)) type = "value";
    if (absl::EndsWith(type, "?")) type.remove_suffix(1);
    if (absl::StartsWith(type, "[") && depth < 3) {
      return List(type.substr(1, type.size() - 2));
    }
    if (type == "bool") return choices_.OneIn(2);
    if (type == "int") return Int();
    if (type == "dim") {
      return choices_.OneIn(12) ? AttrValue(Dim::Any()) : AttrValue(Int());
    }
    if (type == "float") {
      return choices_.OneIn(2) ? choices_.OneOf<double>(kFloats)
                               : static_cast<double>(Int());
    }
    if (type == "string") {
      return std::string(choices_.OneOf<absl::string_view>(kStrings));
    }
    if (type == "dtype") return choices_.OneOf<DType>(kDTypes);
    switch (choices_.Below(7)) {
      case 0:
        return Int();
      case 1:
        return std::string(choices_.OneOf<absl::string_view>(kStrings));
      case 2:
        return depth < 3 ? List("int") : AttrValue(Int());
      case 3:
        return choices_.OneOf<double>(kFloats);
      case 4:
        return AttrValue();
      case 5:
        return choices_.OneOf<DType>(kDTypes);
      default:
        return choices_.OneIn(2);
    }
  }

  AttrMap Values(const FieldList& fields) {
    AttrMap values;
    for (const Field& field : fields.fields()) {
      if (!field.required() && choices_.OneIn(2)) continue;
      values.emplace_back(field.name(), ValueFor(field.type_name()));
    }
    return values;
  }

  // The steps for a program with types.

  void RunPass(const IRModule& module, const std::string& text) {
    const absl::string_view name = choices_.OneOf<absl::string_view>(kPasses);
    const absl::StatusOr<Pass> pass = ParsePipeline(name);
    if (!pass.ok()) Fail(pass.status().message(), name);
    PassContext context(
        {.opt_level = 4,
         .config = {{"limits.max_tensor_bytes", kMaxTensorBytes}}});
    const absl::StatusOr<IRModule> result =
        context.Run([&] { return (*pass)(module); });
    if (!result.ok()) return;
    const absl::StatusOr<IRModule> typed = relay::InferTypes(*result);
    if (!typed.ok()) {
      Fail(absl::StrCat(name, ": ", typed.status().message()), text);
    }
  }

  void Evaluate(const IRModule& module, const std::string& text) {
    const relay::Function main = module.Find<relay::Function>("main");
    if (!relay::HasKernels(main)) return;
    std::vector<Value> args;
    for (const relay::Var& param : main->params()) {
      absl::StatusOr<Value> value = ValueOf(param->type());
      if (!value.ok()) return;
      args.push_back(*std::move(value));
    }
    const absl::StatusOr<Value> result =
        relay::EvaluateFunction(module, "main", args);
    if (!result.ok() && result.status().message().empty()) {
      Fail("an error says nothing", text);
    }
  }

  Choices& choices_;
  std::vector<int64_t> shape_;
  bool has_negative_extent_ = false;
  std::vector<relay::Var> params_;
};

}  // namespace
}  // namespace baton

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const baton::Limits limits = {.max_tensor_bytes = baton::kMaxTensorBytes};
  const baton::ScopedLimits scope(limits);
  baton::Choices choices(data, size);
  baton::Program(choices).Run();
  return 0;
}
