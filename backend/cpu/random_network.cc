#include "baton/backend/cpu/random_network.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"

namespace baton::cpu {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMaxElements = 6000;
constexpr char kFloat32[] = "float32";

struct Value {
  std::string name;
  std::string dtype;
  Shape shape;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t dim(int64_t axis) const { return shape[static_cast<size_t>(axis)]; }
};

int64_t SizeOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         [](int64_t a, int64_t b) { return a * b; });
}

std::string Text(const Shape& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

std::string TypeText(const Shape& shape, absl::string_view dtype) {
  return absl::StrCat("Tensor[(", absl::StrJoin(shape, ", "), "), ", dtype,
                      "]");
}

// Writes calls of calls that were written before. A form of a call draws its
// attributes without regard to whether they fit: a call without a type is
// dropped.
class Generator {
 public:
  // Writes the expression of a call of `x`; empty if there is none.
  using Write = std::string (Generator::*)(const Value& x);
  struct Form {
    const char* name;
    Write write;
  };
  static std::vector<Form> FloatForms(const RandomNetworkOptions& options);
  static std::vector<Form> ByteForms();
  // These move elements of any type.
  static std::vector<Form> MoveForms();

  Generator(uint32_t seed, const RandomNetworkOptions& options)
      : random_(seed), options_(options) {}

  absl::StatusOr<RandomNetwork> Run() {
    Value first = {
        "%x", options_.has_bytes ? AnyByteType() : options_.float_type, {}};
    if (options_.spatial_dims == 0) {
      first.shape = {Of(1, 3), Of(1, 13), OneOf({8, 15, 16, 20, 33})};
    } else {
      first.shape = {OneIn(5) ? 2 : 1, Channels()};
      for (int i = 0; i < options_.spatial_dims; ++i) {
        first.shape.push_back(Of(1, options_.spatial_dims == 1   ? 40
                                    : options_.spatial_dims == 2 ? 12
                                                                 : 5));
      }
    }
    params_.push_back(absl::StrCat("%x: ", TypeText(first.shape, first.dtype)));
    values_.push_back(first);
    const std::vector<Form> float_forms = FloatForms(options_);
    const std::vector<Form> byte_forms = ByteForms();
    for (int i = 0; i < options_.size; ++i) {
      const int64_t count = static_cast<int64_t>(values_.size());
      const Value x = values_[static_cast<size_t>(
          OneIn(3) ? Of(0, count - 1)
                   : Of(std::max<int64_t>(0, count - 3), count - 1))];
      const std::vector<Form>& forms =
          x.dtype == options_.float_type ? float_forms : byte_forms;
      Try(x, forms[static_cast<size_t>(
                 Of(0, static_cast<int64_t>(forms.size()) - 1))]);
    }
    RandomNetwork network;
    network.forms = std::move(forms_);
    // The last value, and up to two others, which steps then cannot do without.
    std::vector<std::string> results = {values_.back().name};
    for (int64_t i = Of(0, 2); i > 0; --i) {
      results.push_back(
          values_[static_cast<size_t>(
                      Of(0, static_cast<int64_t>(values_.size()) - 1))]
              .name);
    }
    network.text =
        ModuleText(absl::StrCat("(", absl::StrJoin(results, ", "), ",)"));
    return network;
  }

 private:
  // --- Draws ---------------------------------------------------------------

  int64_t Of(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() %
                                      static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(int64_t n) { return Of(1, n) == 1; }
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return *(values.begin() + Of(0, static_cast<int64_t>(values.size()) - 1));
  }
  const char* AnyOf(std::initializer_list<const char*> values) {
    return OneOf<const char*>(values);
  }
  int64_t Channels() {
    return OneOf<int64_t>({1, 3, 8, 15, 16, 17, 24, 32, 34, 40, 48, 64});
  }
  std::string AnyByteType() { return AnyOf({"uint8", "int8"}); }
  const char* Bool(bool value) { return value ? "True" : "False"; }
  // As many numbers as `count`, each of Of(low, high).
  Shape Numbers(int64_t count, int64_t low, int64_t high) {
    Shape numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(Of(low, high));
    return numbers;
  }
  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) {
      std::swap(
          values[i - 1],
          values[static_cast<size_t>(Of(0, static_cast<int64_t>(i) - 1))]);
    }
  }
  int64_t Axis(const Value& x) { return Of(0, x.rank() - 1); }
  // An axis, counted from the front or from the back.
  int64_t AnyAxis(const Value& x) {
    return Axis(x) - (OneIn(2) ? x.rank() : 0);
  }

  // --- Text ----------------------------------------------------------------

  std::string ModuleText(absl::string_view result) const {
    return absl::StrCat("#[version = \"0.0.5\"]\ndef @main(",
                        absl::StrJoin(params_, ", "), ") {\n", body_, "  ",
                        result, "\n}\n");
  }

  // A weight, or now and then an input that is no constant.
  std::string Param(const Shape& shape, absl::string_view dtype) {
    const std::string name =
        absl::StrCat(OneIn(12) ? "%p" : "%w", num_names_++);
    params_.push_back(absl::StrCat(name, ": ", TypeText(shape, dtype)));
    return name;
  }
  std::string Weight(const Shape& shape) {
    return Param(shape, options_.float_type);
  }

  std::string Let(absl::string_view expression) {
    const std::string name = absl::StrCat("%v", num_names_++);
    absl::StrAppend(&body_, "  let ", name, " = ", OfFloatType(expression),
                    ";\n");
    return name;
  }

  // The expression with floats of the network's type. A number that is an
  // operand is behind a space or a parenthesis; one of an attribute is not, or
  // is in a list.
  std::string OfFloatType(absl::string_view expression) const {
    if (options_.float_type == kFloat32) return std::string(expression);
    std::string text;
    bool is_in_list = false;
    for (size_t i = 0; i < expression.size();) {
      const char before = i == 0 ? ' ' : expression[i - 1];
      if (before == '[' || before == ']') is_in_list = before == '[';
      const size_t end = !is_in_list && (before == ' ' || before == '(')
                             ? FloatEnd(expression, i)
                             : i;
      if (end == i) {
        text += expression[i++];
        continue;
      }
      absl::StrAppend(&text, "cast(", expression.substr(i, end - i),
                      ", dtype=\"float32\")");
      i = end;
    }
    return absl::StrReplaceAll(text, {{kFloat32, options_.float_type}});
  }

  // The end of the number of type float32 at `i`; `i` if there is none.
  static size_t FloatEnd(absl::string_view text, size_t i) {
    const size_t end = text.find_first_not_of("0123456789.e-", i);
    return end != text.npos && end > i && text[end] == 'f' &&
                   (end + 1 == text.size() ||
                    !absl::ascii_isalnum(
                        static_cast<unsigned char>(text[end + 1])))
               ? end + 1
               : i;
  }

  // Adds the call if it has a type, of a tensor that is not too large.
  void Try(const Value& x, const Form& form) {
    const size_t num_params = params_.size();
    const std::string body = body_;
    const std::string expression = (this->*form.write)(x);
    if (!expression.empty()) {
      Value y;
      y.name = Let(expression);
      if (FindType(y)) {
        values_.push_back(std::move(y));
        forms_.push_back(form.name);
        return;
      }
    }
    params_.resize(num_params);
    body_ = body;
  }

  bool FindType(Value& y) const {
    const absl::StatusOr<IRModule> parsed = ParseModule(ModuleText(y.name));
    if (!parsed.ok()) return false;
    const absl::StatusOr<IRModule> module = relay::InferTypes(*parsed);
    if (!module.ok()) return false;
    const relay::Function main = module->Find<relay::Function>("main");
    const auto* const type = main->body()->type().As<TensorTypeNode>();
    if (type == nullptr) return false;
    const auto dims = ConstDims(type->shape());
    if (!dims.has_value()) return false;
    y.shape.assign(dims->begin(), dims->end());
    y.dtype = type->dtype().ToString();
    const int64_t size = SizeOf(y.shape);
    const bool has_forms =
        y.dtype == options_.float_type ||
        (options_.has_bytes && (y.dtype == "uint8" || y.dtype == "int8"));
    return has_forms && size > 0 && size <= kMaxElements && y.rank() > 0 &&
           y.rank() <= 6;
  }

  // Another value for which `fits` is true; null if there is none.
  template <typename Fits>
  const Value* Other(const Fits& fits) {
    std::vector<const Value*> found;
    for (const Value& value : values_) {
      if (fits(value)) found.push_back(&value);
    }
    return found.empty() ? nullptr
                         : found[static_cast<size_t>(
                               Of(0, static_cast<int64_t>(found.size()) - 1))];
  }

  // --- Windows -------------------------------------------------------------

  struct Window {
    int64_t groups = 1;
    int64_t channels = 1;  // of the result
    Shape kernel;
    Shape strides;
    std::string attrs;  // strides, padding, dilation
  };

  Window AnyWindow(const Value& x) {
    const int64_t d = x.rank() - 2;
    Window window;
    window.kernel = OneIn(3)   ? Shape(static_cast<size_t>(d), 1)
                    : OneIn(6) ? Numbers(d, 1, 7)
                    : OneIn(3) ? Shape(static_cast<size_t>(d), 3)
                               : Numbers(d, 1, 3);
    window.strides = OneIn(2) ? Shape(static_cast<size_t>(d), 1)
                              : Numbers(d, 1, OneIn(4) ? 4 : 2);
    const Shape dilation =
        OneIn(4) ? Numbers(d, 1, 3) : Shape(static_cast<size_t>(d), 1);
    Shape padding;
    const int64_t form = Of(0, 5);
    for (int side = 0; side < 2; ++side) {
      for (int64_t i = 0; i < d; ++i) {
        const int64_t reach = (window.kernel[static_cast<size_t>(i)] - 1) *
                              dilation[static_cast<size_t>(i)];
        padding.push_back(form == 0   ? 0
                          : form == 1 ? Of(0, reach + 2)
                          : form == 2 ? Of(0, std::max<int64_t>(reach, 1))
                                      : reach / 2);
      }
    }
    window.attrs = absl::StrCat("strides=", Text(window.strides),
                                ", padding=", Text(padding),
                                ", dilation=", Text(dilation));
    return window;
  }

  // Groups and channels of the result, for `in` channels.
  void AddGroups(int64_t in, Window& window) {
    window.channels = Channels();
    const int64_t form = Of(0, 5);
    if (form == 0) {
      window.groups = in;
      window.channels = in * (OneIn(3) ? Of(2, 3) : 1);
    } else if (form <= 2) {
      for (const int64_t groups : {17, 2, 3, 4, 8}) {
        if (in % groups == 0 && OneIn(2)) window.groups = groups;
      }
      window.channels =
          window.groups * OneOf<int64_t>({1, 2, 3, 4, 7, 8, 16, 17});
    }
  }

  std::string Conv(const Value& x) {
    if (x.rank() < 3 || x.rank() > 5) return "";
    Window window = AnyWindow(x);
    AddGroups(x.dim(1), window);
    Shape weight = {window.channels, x.dim(1) / window.groups};
    weight.insert(weight.end(), window.kernel.begin(), window.kernel.end());
    return absl::Substitute(
        "nn.conv$0d($1, $2, $3, groups=$4, channels=$5, kernel_size=$6)",
        x.rank() - 2, x.name, Weight(weight), window.attrs, window.groups,
        window.channels, Text(window.kernel));
  }

  std::string ConvTranspose(const Value& x) {
    if (x.rank() < 3 || x.rank() > 5) return "";
    Window window = AnyWindow(x);
    if (OneIn(4)) {
      AddGroups(x.dim(1), window);
    } else {
      window.channels = Channels();
    }
    Shape weight = {x.dim(1), window.channels / window.groups};
    Shape more(window.strides.size(), 0);
    for (size_t i = 0; i < more.size(); ++i) {
      if (OneIn(3)) more[i] = Of(0, window.strides[i] - 1);
    }
    weight.insert(weight.end(), window.kernel.begin(), window.kernel.end());
    return absl::Substitute(
        "nn.conv$0d_transpose($1, $2, $3, groups=$4, channels=$5, "
        "kernel_size=$6, output_padding=$7)",
        x.rank() - 2, x.name, Weight(weight), window.attrs, window.groups,
        window.channels, Text(window.kernel), Text(more));
  }

  std::string Pool(const Value& x) {
    if (x.rank() < 3 || x.rank() > 5) return "";
    const int64_t d = x.rank() - 2;
    const bool is_max = OneIn(2);
    const Shape kernel =
        OneIn(2) ? Numbers(d, 1, 4) : Shape(static_cast<size_t>(d), Of(1, 3));
    const Shape dilation =
        OneIn(5) ? Numbers(d, 1, 2) : Shape(static_cast<size_t>(d), 1);
    Shape padding;
    for (int side = 0; side < 2; ++side) {
      for (const int64_t extent : kernel) {
        padding.push_back(OneIn(2) ? 0 : Of(0, extent - 1));
      }
    }
    for (size_t i = 0; i < kernel.size(); ++i) {
      // Kernels refuse windows that do not fit.
      if (x.shape[2 + i] + padding[i] + padding[kernel.size() + i] <=
          (kernel[i] - 1) * dilation[i]) {
        return "";
      }
    }
    std::string call = absl::Substitute(
        "nn.$0_pool$1d($2, pool_size=$3, strides=$4, dilation=$5, padding=$6, "
        "ceil_mode=$7",
        is_max ? "max" : "avg", d, x.name, Text(kernel), Text(Numbers(d, 1, 3)),
        Text(dilation), Text(padding), Bool(OneIn(2)));
    if (!is_max) {
      absl::StrAppend(&call, ", count_include_pad=", Bool(OneIn(2)));
    }
    return call + ")";
  }

  std::string AdaptivePool(const Value& x) {
    if (x.rank() < 3 || x.rank() > 5) return "";
    const int64_t d = x.rank() - 2;
    if (d == 2 && OneIn(2)) {
      return absl::Substitute("nn.global_$0_pool2d($1)", AnyOf({"avg", "max"}),
                              x.name);
    }
    return absl::Substitute("nn.adaptive_$0_pool$1d($2, output_size=$3)",
                            AnyOf({"avg", "max"}), d, x.name,
                            Text(Numbers(d, 1, 5)));
  }

  // --- Elements ------------------------------------------------------------

  std::string Activation(const Value& x) {
    return absl::Substitute(
        AnyOf({"nn.relu($0)",
               "nn.relu($0)",
               "clip($0, a_min=0f, a_max=6f)",
               "clip($0, a_min=-0.5f, a_max=0.7f)",
               "nn.leaky_relu($0, alpha=0.1f)",
               "sigmoid($0)",
               "tanh($0)",
               "erf($0)",
               "exp(minimum($0, 3f))",
               "sqrt(abs($0))",
               "abs($0)",
               "negative($0)",
               "log(add(abs($0), 1f))",
               "rsqrt(add(abs($0), "
               "0.01f))",
               "floor($0)",
               "round($0)",
               "sin($0)",
               "multiply($0, sigmoid($0))",
               "multiply($0, multiply(clip(add($0, 3f), a_min=0f, a_max=6f), "
               "0.166667f))",
               "multiply(multiply($0, 0.5f), add(1f, erf(multiply($0, "
               "0.707107f))))",
               "power($0, 2f)",
               "multiply($0, tanh(log(add(1f, exp(minimum($0, "
               "20f))))))",
               "sign($0)",
               "ceil($0)"}),
        x.name);
  }

  std::string Prelu(const Value& x) {
    const int64_t axis = Axis(x);
    return absl::Substitute("nn.prelu($0, $1, axis=$2)", x.name,
                            Weight({x.dim(axis)}), axis);
  }

  std::string BiasAdd(const Value& x) {
    const int64_t axis = Axis(x);
    return absl::Substitute("nn.bias_add($0, $1, axis=$2)", x.name,
                            Weight({x.dim(axis)}), axis);
  }

  // An operand that broadcasts: one of each channel, row, column or image.
  std::string WithWeight(const Value& x) {
    Shape shape = x.shape;
    for (int64_t& extent : shape) {
      if (!OneIn(3)) extent = 1;
    }
    if (OneIn(2) && x.rank() > 1) {
      std::fill(shape.begin(), shape.end(), 1);
      shape[1] = x.dim(1);
    }
    while (!shape.empty() && shape[0] == 1 && OneIn(2)) {
      shape.erase(shape.begin());
    }
    const std::string weight = Weight(shape);
    const char* const op = AnyOf({"add", "add", "multiply", "multiply",
                                  "subtract", "maximum", "minimum", "divide"});
    return OneIn(2) ? absl::Substitute("$0($1, $2)", op, x.name, weight)
                    : absl::Substitute("$0($2, $1)", op, x.name, weight);
  }

  std::string Binary(const Value& x) {
    const Value* const y = Other([&x](const Value& other) {
      return other.dtype == x.dtype && other.shape == x.shape &&
             other.name != x.name;
    });
    if (y == nullptr) return "";
    return absl::Substitute(
        AnyOf({"add($0, $1)", "add($0, $1)", "add($1, $0)",
               "nn.relu(add($0, $1))", "multiply($0, $1)", "subtract($0, $1)",
               "maximum($0, $1)", "divide($0, add(abs($1), 1f))",
               "where(less($0, $1), $0, multiply($1, 0.5f))",
               "where(greater_equal($1, $0), $0, 0f)"}),
        x.name, y->name);
  }

  // An operand of any shape that broadcasts with `x`.
  std::string Broadcast(const Value& x) {
    const Value* const y = Other([&x](const Value& other) {
      if (other.dtype != x.dtype || other.shape == x.shape) return false;
      for (int64_t i = 1; i <= std::min(x.rank(), other.rank()); ++i) {
        const int64_t a = x.dim(x.rank() - i);
        const int64_t b = other.dim(other.rank() - i);
        if (a != b && a != 1 && b != 1) return false;
      }
      return true;
    });
    if (y == nullptr) return "";
    return absl::Substitute(AnyOf({"add($0, $1)", "multiply($1, $0)",
                                   "subtract($0, $1)", "maximum($1, $0)"}),
                            x.name, y->name);
  }

  std::string Halves(const Value& x) {
    const char* const type = AnyOf({"float16", "bfloat16"});
    return absl::Substitute(
        "cast(multiply(cast($0, dtype=\"$1\"), cast($0, dtype=\"$1\")), "
        "dtype=\"float32\")",
        x.name, type);
  }

  std::string Integers(const Value& x) {
    return absl::Substitute(
        AnyOf({"cast(multiply(cast(round(multiply($0, 9f)), dtype=\"int32\"), "
               "3), dtype=\"float32\")",
               "cast(cast(multiply($0, 100f), dtype=\"int8\"), "
               "dtype=\"float32\")",
               "cast(add(cast($0, dtype=\"int64\"), cast(2, "
               "dtype=\"int64\")), dtype=\"float32\")",
               "cast(logical_and(less($0, 0.5f), greater($0, -0.5f)), "
               "dtype=\"float32\")"}),
        x.name);
  }

  // --- Moves ---------------------------------------------------------------

  std::string Concat(const Value& x) {
    const int64_t axis = OneIn(2) && x.rank() > 1 ? 1 : Axis(x);
    std::vector<std::string> parts;
    for (const Value& other : values_) {
      if (other.dtype != x.dtype || other.rank() != x.rank()) continue;
      bool fits = true;
      for (int64_t i = 0; i < x.rank(); ++i) {
        fits = fits && (i == axis || other.dim(i) == x.dim(i));
      }
      if (fits && (parts.size() < 3 || OneIn(3))) parts.push_back(other.name);
    }
    if (OneIn(4)) parts.push_back(x.name);
    Shuffle(parts);
    return absl::StrCat("concatenate((", absl::StrJoin(parts, ", "),
                        ",), axis=", axis, ")");
  }

  std::string Split(const Value& x) {
    const int64_t axis = OneIn(2) && x.rank() > 1 ? 1 : Axis(x);
    const int64_t extent = x.dim(axis);
    if (extent < 2) return "";
    for (const int64_t sections : {4, 3, 2}) {
      if (extent % sections != 0 || !OneIn(2)) continue;
      const std::string parts =
          Let(absl::Substitute("split($0, indices_or_sections=$1, axis=$2)",
                               x.name, sections, axis));
      return absl::StrCat(parts, ".", Of(0, sections - 1));
    }
    const std::string parts =
        Let(absl::Substitute("split($0, indices_or_sections=[$1], axis=$2)",
                             x.name, Of(1, extent - 1), axis));
    return absl::StrCat(parts, ".", Of(0, 1));
  }

  std::string Slice(const Value& x) {
    const int64_t axis = Axis(x);
    const int64_t extent = x.dim(axis);
    if (OneIn(4)) {
      return absl::Substitute(
          "strided_slice($0, begin=[$1], end=[-$2], strides=[-$3], axes=[$4])",
          x.name, extent - 1, extent + 1, Of(1, 2), axis);
    }
    const int64_t begin = Of(0, extent - 1);
    return absl::Substitute(
        "strided_slice($0, begin=[$1], end=[$2], strides=[$3], axes=[$4])",
        x.name, begin, Of(begin + 1, extent), OneIn(3) ? Of(2, 3) : 1, axis);
  }

  std::string Pad(const Value& x) {
    const char* const mode = AnyOf(
        {"constant", "constant", "edge", "reflect", "SYMMETRIC", "REFLECT"});
    const bool is_reflected = mode[0] == 'r' || mode[0] == 'R';
    std::vector<std::string> width;
    for (int64_t i = 0; i < x.rank(); ++i) {
      // A reflection is not wider than what is reflected.
      const int64_t most =
          mode[0] == 'c' || mode[0] == 'e'
              ? 3
              : std::min<int64_t>(3, x.dim(i) - (is_reflected ? 1 : 0));
      width.push_back(i > 1 || OneIn(6) ? Text(Numbers(2, 0, most)) : "[0, 0]");
    }
    if (mode[0] == 'S' || mode[0] == 'R') {
      return absl::Substitute("nn.mirror_pad($0, pad_width=[$1], mode=\"$2\")",
                              x.name, absl::StrJoin(width, ", "), mode);
    }
    return absl::Substitute(
        "nn.pad($0, $1, pad_width=[$2], pad_mode=\"$3\")", x.name,
        x.dtype == options_.float_type ? AnyOf({"0f", "0.25f", "-3f"})
                                       : AnyOf({"0", "3", "127"}),
        absl::StrJoin(width, ", "), mode);
  }

  std::string Transpose(const Value& x) {
    std::vector<int64_t> axes(x.shape.size());
    std::iota(axes.begin(), axes.end(), int64_t{0});
    if (OneIn(3) && x.rank() > 2) {
      // Channels become the last or the first axis but one.
      if (OneIn(2)) {
        std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
      } else {
        std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
      }
    } else {
      Shuffle(axes);
    }
    return absl::Substitute("transpose($0, axes=$1)", x.name, Text(axes));
  }

  std::string Reshape(const Value& x) {
    Shape shape = x.shape;
    switch (Of(0, 3)) {
      case 0:  // two axes are one
        if (shape.size() < 2) return "";
        {
          const auto i = static_cast<size_t>(Of(0, x.rank() - 2));
          shape[i] *= shape[i + 1];
          shape.erase(shape.begin() + static_cast<ptrdiff_t>(i) + 1);
        }
        break;
      case 1: {  // one axis is two
        const auto i = static_cast<size_t>(Axis(x));
        const int64_t factor = Of(2, 4);
        if (shape[i] % factor != 0) return "";
        shape[i] /= factor;
        shape.insert(shape.begin() + static_cast<ptrdiff_t>(i), factor);
        break;
      }
      case 2:
        return absl::Substitute("nn.batch_flatten($0)", x.name);
      default:
        if (OneIn(2)) {
          return absl::Substitute("expand_dims($0, axis=$1)", x.name,
                                  Of(0, x.rank()));
        }
        shape = {1, SizeOf(shape)};
    }
    return absl::Substitute("reshape($0, newshape=$1)", x.name, Text(shape));
  }

  // Channels of groups take turns.
  std::string ShuffleChannels(const Value& x) {
    if (x.rank() < 3) return "";
    for (const int64_t groups : {4, 3, 2, 17}) {
      if (x.dim(1) % groups != 0) continue;
      Shape apart = x.shape;
      apart[1] /= groups;
      apart.insert(apart.begin() + 1, groups);
      std::vector<int64_t> axes(apart.size());
      std::iota(axes.begin(), axes.end(), int64_t{0});
      std::swap(axes[1], axes[2]);
      const std::string moved =
          Let(absl::Substitute("transpose(reshape($0, newshape=$1), axes=$2)",
                               x.name, Text(apart), Text(axes)));
      return absl::Substitute("reshape($0, newshape=$1)", moved, Text(x.shape));
    }
    return "";
  }

  std::string DepthToSpace(const Value& x) {
    if (x.rank() != 4) return "";
    const int64_t block = Of(2, 3);
    if (x.dim(1) % (block * block) == 0) {
      return absl::Substitute(
          "nn.depth_to_space($0, block_size=$1, mode=\"$2\")", x.name, block,
          AnyOf({"DCR", "CDR"}));
    }
    if (x.dim(2) % block != 0 || x.dim(3) % block != 0) return "";
    return absl::Substitute("nn.space_to_depth($0, block_size=$1)", x.name,
                            block);
  }

  std::string Take(const Value& x) {
    const int64_t axis = Axis(x);
    if (OneIn(2)) {
      // As a resize to nearest elements.
      const int64_t factor = Of(2, 3);
      const int64_t count = factor * x.dim(axis);
      return absl::Substitute(
          "take($0, divide(arange(0, $1, 1, start=0, stop=$1, step=1, "
          "dtype=\"int32\"), $2), axis=$3)",
          x.name, count, factor, axis);
    }
    return absl::Substitute(
        "take($0, $1, axis=$2, mode=\"$3\")", x.name,
        Param(Numbers(Of(0, 2), 1, 4), AnyOf({"int32", "int64"})), AnyAxis(x),
        AnyOf({"clip", "wrap"}));
  }

  std::string Repeat(const Value& x) {
    switch (Of(0, 2)) {
      case 0:
        return absl::Substitute("reverse($0, axis=$1)", x.name, Axis(x));
      case 1:
        return absl::Substitute("repeat($0, repeats=$1, axis=$2)", x.name,
                                Of(1, 3), Axis(x));
      default:
        return absl::Substitute("tile($0, reps=$1)", x.name,
                                Text(Numbers(x.rank(), 1, 2)));
    }
  }

  std::string Resize(const Value& x) {
    if (x.rank() < 3 || x.rank() > 5) return "";
    const int64_t d = x.rank() - 2;
    Shape size;
    for (int64_t i = 2; i < x.rank(); ++i) {
      size.push_back(OneIn(2) ? 2 * x.dim(i) : Of(1, 2 * x.dim(i) + 1));
    }
    std::vector<const char*> roi(x.shape.size() - 2, "0f");
    for (int64_t i = 0; i < d; ++i) roi.push_back(AnyOf({"1f", "0.7f"}));
    return absl::Substitute(
        "image.resize$0d($1, size=$2, roi=[$3], method=\"$4\", "
        "coordinate_transformation_mode=\"$5\", rounding_method=\"$6\"$7)",
        d, x.name, Text(size), absl::StrJoin(roi, ", "),
        AnyOf({"nearest_neighbor", "linear", "linear", "cubic"}),
        AnyOf({"half_pixel", "align_corners", "asymmetric",
               "pytorch_half_pixel", "tf_half_pixel_for_nn",
               "tf_crop_and_resize"}),
        AnyOf({"round", "floor", "ceil", "round_prefer_ceil"}),
        OneIn(3) ? ", cubic_alpha=-0.75f, cubic_exclude=1" : "");
  }

  std::string Upsampling(const Value& x) {
    if (x.rank() != 4) return "";
    return absl::Substitute(
        "nn.upsampling($0, scale_h=$1f, scale_w=$2f, method=\"$3\", "
        "align_corners=$4)",
        x.name, Of(1, 2), Of(1, 3), AnyOf({"nearest_neighbor", "bilinear"}),
        Bool(OneIn(2)));
  }

  // --- Reductions ----------------------------------------------------------

  std::string Reduce(const Value& x) {
    Shape axes;
    for (int64_t i = 0; i < x.rank(); ++i) {
      if (OneIn(3)) axes.push_back(i);
    }
    if (axes.empty()) axes.push_back(-1);
    if (OneIn(3) && x.rank() > 2) {
      axes.clear();
      for (int64_t i = 2; i < x.rank(); ++i) axes.push_back(i);
    }
    const char* const keep = Bool(!OneIn(3));
    if (OneIn(6)) {
      const char* const op = AnyOf({"argmax", "argmin"});
      return absl::Substitute(
          "cast($0($1, axis=[$2], keepdims=$3, select_last_index=$4), "
          "dtype=\"float32\")",
          op, x.name, axes[0], keep, Bool(OneIn(2)));
    }
    if (OneIn(6)) {
      return absl::Substitute(
          "variance($0, mean($0, axis=$1, keepdims=True), axis=$1, "
          "keepdims=$2)",
          x.name, Text(axes), keep);
    }
    return absl::Substitute("$0($1, axis=$2, keepdims=$3)",
                            AnyOf({"sum", "mean", "max", "min", "prod"}),
                            x.name, Text(axes), keep);
  }

  // The difference to, or the share of, what is reduced.
  std::string Centered(const Value& x) {
    const int64_t axis = Axis(x);
    return absl::Substitute(
        AnyOf({"subtract($0, mean($0, axis=[$1], keepdims=True))",
               "divide($0, add(sum(abs($0), axis=[$1], keepdims=True), "
               "0.5f))",
               "multiply($0, sigmoid(mean($0, axis=[$1], keepdims=True)))",
               "exp(subtract($0, max($0, axis=[$1], keepdims=True)))"}),
        x.name, axis);
  }

  std::string Softmax(const Value& x) {
    return absl::Substitute(
        "$0($1, axis=$2)",
        AnyOf({"nn.softmax", "nn.softmax", "nn.log_softmax"}), x.name,
        OneIn(2) ? -1 : AnyAxis(x));
  }

  std::string Normalization(const Value& x) {
    const int64_t axis = Axis(x);
    switch (Of(0, 5)) {
      case 0:
        return absl::Substitute("nn.layer_norm($0, $1, $2, axis=$3)", x.name,
                                Weight({x.dim(axis)}), Weight({x.dim(axis)}),
                                axis);
      case 1:
        if (x.rank() < 3) return "";
        return absl::Substitute("nn.instance_norm($0, $1, $2)", x.name,
                                Weight({x.dim(1)}), Weight({x.dim(1)}));
      case 2: {
        if (x.rank() < 3) return "";
        int64_t groups = 1;
        for (const int64_t g : {2, 3, 4, 8}) {
          if (x.dim(1) % g == 0 && OneIn(2)) groups = g;
        }
        return absl::Substitute("nn.group_norm($0, $1, $2, num_groups=$3)",
                                x.name, Weight({x.dim(1)}), Weight({x.dim(1)}),
                                groups);
      }
      case 3: {
        const std::string norm = Let(absl::Substitute(
            "nn.batch_norm($0, $1, $2, $3, abs($4), axis=$5)", x.name,
            Weight({x.dim(axis)}), Weight({x.dim(axis)}), Weight({x.dim(axis)}),
            Weight({x.dim(axis)}), axis));
        return norm + ".0";
      }
      case 4:
        return absl::Substitute("nn.l2_normalize($0, eps=0.001f, axis=[$1])",
                                x.name, axis);
      default: {
        const std::string centered = Let(absl::Substitute(
            "subtract($0, mean($0, axis=[-1], keepdims=True))", x.name));
        const std::string variance = Let(absl::Substitute(
            "mean(power($0, 2f), axis=[-1], keepdims=True)", centered));
        return absl::Substitute(
            "add(multiply(divide($0, sqrt(add($1, 1e-05f))), $2), $3)",
            centered, variance, Weight({x.shape.back()}),
            Weight({x.shape.back()}));
      }
    }
  }

  std::string Lrn(const Value& x) {
    if (x.rank() != 4) return "";
    return absl::Substitute("nn.lrn($0, size=$1)", x.name, 1 + 2 * Of(0, 3));
  }

  std::string Scan(const Value& x) {
    const int64_t axis = AnyAxis(x);
    if (OneIn(2)) {
      return absl::Substitute("cumsum($0, axis=$1, exclusive=$2)", x.name, axis,
                              Bool(OneIn(3)));
    }
    const int64_t extent = x.dim(axis < 0 ? axis + x.rank() : axis);
    const std::string both = Let(absl::Substitute(
        "topk($0, k=$1, axis=$2, is_ascend=$3, dtype=\"int32\")", x.name,
        Of(1, extent), axis, Bool(OneIn(2))));
    return OneIn(2) ? both + ".0"
                    : absl::Substitute("cast($0.1, dtype=\"float32\")", both);
  }

  // --- Products ------------------------------------------------------------

  std::string Dense(const Value& x) {
    const int64_t terms = x.shape.back();
    const int64_t units = OneOf<int64_t>({1, 3, 16, 17, 33, 48});
    if (OneIn(3)) {
      return absl::Substitute("nn.matmul($0, $1, units=$2)", x.name,
                              Weight({terms, units}), units);
    }
    return absl::Substitute("nn.dense($0, $1, units=$2)", x.name,
                            Weight({units, terms}), units);
  }

  std::string BatchMatmul(const Value& x) {
    if (x.rank() != 3) return "";
    const bool transpose_a = OneIn(4);
    const bool transpose_b = OneIn(2);
    const int64_t terms = x.dim(transpose_a ? 1 : 2);
    const Value* const y = Other([&](const Value& other) {
      return other.dtype == x.dtype && other.rank() == 3 &&
             (other.dim(0) == x.dim(0) || other.dim(0) == 1) &&
             other.dim(transpose_b ? 2 : 1) == terms;
    });
    const int64_t columns = Of(1, 20);
    const std::string right =
        y != nullptr  ? y->name
        : transpose_b ? Weight({OneIn(2) ? 1 : x.dim(0), columns, terms})
                      : Weight({OneIn(2) ? 1 : x.dim(0), terms, columns});
    return absl::Substitute(
        "nn.batch_matmul($0, $1, transpose_a=$2, transpose_b=$3)", x.name,
        right, Bool(transpose_a), Bool(transpose_b));
  }

  // Heads of an attention of the rows of `x` with themselves.
  std::string Attention(const Value& x) {
    if (x.rank() != 3) return "";
    const int64_t b = x.dim(0);
    const int64_t t = x.dim(1);
    const int64_t heads = Of(1, 3);
    const int64_t size = Of(1, 9);
    const auto project = [&](const char* axes, const Shape& shape) {
      const std::string rows =
          Let(absl::Substitute("nn.dense($0, $1, units=$2)", x.name,
                               Weight({heads * size, x.dim(2)}), heads * size));
      return Let(absl::Substitute(
          "reshape(transpose(reshape($0, newshape=[$1, $2, $3, $4]), "
          "axes=[$5]), newshape=$6)",
          rows, b, t, heads, size, axes, Text(shape)));
    };
    const bool joint = OneIn(2);
    const std::string q = project("0, 2, 1, 3", {b * heads, t, size});
    const std::string k = joint ? project("0, 2, 1, 3", {b * heads, t, size})
                                : project("0, 2, 3, 1", {b * heads, size, t});
    const std::string v = project("0, 2, 1, 3", {b * heads, t, size});
    std::string scores = Let(absl::Substitute(
        "multiply(nn.batch_matmul($0, $1, transpose_b=$2), 0.4f)", q, k,
        Bool(joint)));
    if (OneIn(2)) {
      scores = Let(
          absl::Substitute("add($0, $1)", scores,
                           Weight(OneIn(2) ? Shape{t, t} : Shape{1, 1, t})));
    }
    const std::string mixed = Let(absl::Substitute(
        "nn.batch_matmul(nn.softmax($0), $1, transpose_b=False)", scores, v));
    return absl::Substitute(
        "reshape(transpose(reshape($0, newshape=[$1, $2, $3, $4]), axes=[0, "
        "2, 1, 3]), newshape=[$1, $3, $5])",
        mixed, b, heads, t, size, heads * size);
  }

  // Steps of an LSTM or a GRU along axis 1, unrolled.
  std::string Recurrence(const Value& x) {
    if (x.rank() != 3 || x.dim(1) > 4) return "";
    const int64_t b = x.dim(0);
    const int64_t width = OneOf<int64_t>({3, 8, 16});
    const bool is_gru = OneIn(3);
    const int64_t gates = is_gru ? 3 : 4;
    const std::string wx = Weight({gates * width, x.dim(2)});
    const std::string wh = Weight({gates * width, width});
    const std::string bias = Weight({gates * width});
    std::string h = Weight({b, width});
    std::string c = Weight({b, width});
    std::vector<std::string> states;
    for (int64_t t = 0; t < x.dim(1); ++t) {
      const std::string row = Let(absl::Substitute(
          "reshape(strided_slice($0, begin=[$1], end=[$2], strides=[1], "
          "axes=[1]), newshape=[$3, $4])",
          x.name, t, t + 1, b, x.dim(2)));
      const std::string in = Let(absl::Substitute(
          "add(nn.dense($0, $1, units=$2), $3)", row, wx, gates * width, bias));
      const std::string back = Let(
          absl::Substitute("nn.dense($0, $1, units=$2)", h, wh, gates * width));
      const auto part = [&](const std::string& whole) {
        return Let(absl::Substitute("split($0, indices_or_sections=$1, axis=1)",
                                    whole, gates));
      };
      if (is_gru) {
        const std::string a = part(in);
        const std::string r = part(back);
        const std::string z =
            Let(absl::Substitute("sigmoid(add($0.0, $1.0))", a, r));
        const std::string n = Let(absl::Substitute(
            "tanh(add($0.2, multiply(sigmoid(add($0.1, $1.1)), $1.2)))", a, r));
        h = Let(absl::Substitute(
            "add(multiply(subtract(1f, $0), $1), multiply($0, $2))", z, n, h));
      } else {
        const std::string g =
            part(Let(absl::Substitute("add($0, $1)", in, back)));
        c = Let(absl::Substitute(
            "add(multiply(sigmoid($0.2), $1), multiply(sigmoid($0.0), "
            "tanh($0.3)))",
            g, c));
        h = Let(absl::Substitute("multiply(sigmoid($0.1), tanh($1))", g, c));
      }
      states.push_back(h);
    }
    return OneIn(2) ? h
                    : absl::StrCat("stack((", absl::StrJoin(states, ", "),
                                   ",), axis=1)");
  }

  // --- Bytes ---------------------------------------------------------------

  static const char* Low(absl::string_view type) {
    return type == "uint8" ? "0f" : "-128f";
  }
  static const char* High(absl::string_view type) {
    return type == "uint8" ? "255f" : "127f";
  }
  // A zero point of a byte.
  std::string Zero(absl::string_view type) {
    return absl::StrCat(OneIn(3)          ? 0
                        : type == "uint8" ? Of(0, 255)
                                          : Of(-128, 127));
  }

  // Bytes of the floats `real`, which are divided by `scale`.
  std::string Quantized(absl::string_view real, absl::string_view scale,
                        absl::string_view type) {
    return absl::Substitute(
        "cast(clip(add(round(divide($0, $1)), $2f), a_min=$3, a_max=$4), "
        "dtype=\"$5\")",
        real, scale, Zero(type), Low(type), High(type), type);
  }
  std::string Dequantized(const Value& x, absl::string_view scale) {
    if (OneIn(3)) {
      return absl::Substitute("multiply(cast($0, dtype=\"float32\"), $1)",
                              x.name, scale);
    }
    return absl::Substitute(
        "multiply(cast(subtract(cast($0, dtype=\"int32\"), $1), "
        "dtype=\"float32\"), $2)",
        x.name, Zero(x.dtype), scale);
  }

  std::string Quantize(const Value& x) {
    const std::string type = AnyByteType();
    return Quantized(x.name, AnyOf({"0.05f", "0.017f", "0.5f"}), type);
  }

  std::string Dequantize(const Value& x) {
    return Dequantized(x, AnyOf({"0.05f", "0.017f", "0.001f"}));
  }

  // Bytes or floats of int32 sums of `terms` products.
  std::string OfSums(std::string sums, int64_t terms, const Shape& channel) {
    if (OneIn(2)) {
      sums = absl::Substitute(
          AnyOf({"add($0, $1)", "subtract($0, $1)", "add($1, $0)"}), sums,
          Param(channel, "int32"));
    }
    sums = Let(sums);
    const double scale = static_cast<double>(Of(50, 200)) /
                         (9400.0 * std::sqrt(static_cast<double>(terms)));
    const std::string number = absl::StrCat(static_cast<float>(scale), "f");
    std::string real = absl::Substitute(
        "multiply(cast($0, dtype=\"float32\"), $1)", sums,
        OneIn(3) ? absl::Substitute("multiply($0, $1)", Weight(channel), number)
                 : number);
    if (OneIn(4)) return real;
    if (OneIn(3)) {
      real = absl::Substitute("add($0, $1)", real, Weight(channel));
    }
    if (OneIn(3)) {
      real = absl::Substitute(
          AnyOf({"nn.relu($0)", "clip($0, a_min=0f, a_max=60f)"}), real);
    }
    const std::string type = AnyByteType();
    if (OneIn(3)) {
      return absl::Substitute(
          "cast(clip(round($0), a_min=$1, a_max=$2), dtype=\"$3\")", real,
          Low(type), High(type), type);
    }
    return Quantized(real, AnyOf({"1f", "0.7f", "0.07f"}), type);
  }

  std::string ByteConv(const Value& x) {
    if (x.rank() != 4 && x.rank() != 3) return "";
    Window window = AnyWindow(x);
    AddGroups(x.dim(1), window);
    std::string data = x.name;
    if (OneIn(3)) {
      std::vector<std::string> width = {"[0, 0]", "[0, 0]"};
      for (int64_t i = 2; i < x.rank(); ++i) {
        width.push_back(Text(Numbers(2, 0, 2)));
      }
      data = Let(absl::Substitute("nn.pad($0, $1, pad_width=[$2])", data,
                                  Zero(x.dtype), absl::StrJoin(width, ", ")));
    }
    Shape weight = {window.channels, x.dim(1) / window.groups};
    weight.insert(weight.end(), window.kernel.begin(), window.kernel.end());
    Shape channel(x.shape.size(), 1);
    channel[1] = window.channels;
    if (OneIn(2)) channel.erase(channel.begin());
    return OfSums(
        absl::Substitute(
            "nn.conv$0d($1, $2, $3, groups=$4, channels=$5, "
            "kernel_size=$6, out_dtype=\"int32\")",
            x.rank() - 2, data, Param(weight, OneIn(4) ? "uint8" : "int8"),
            window.attrs, window.groups, window.channels, Text(window.kernel)),
        SizeOf(weight) / window.channels, channel);
  }

  std::string ByteDense(const Value& x) {
    const int64_t terms = x.shape.back();
    const int64_t units = OneOf<int64_t>({1, 3, 16, 17, 33, 48});
    std::string data = x.name;
    std::string weight = Param({units, terms}, OneIn(4) ? "uint8" : "int8");
    if (OneIn(2)) {
      data = Let(absl::Substitute("subtract(cast($0, dtype=\"int32\"), $1)",
                                  data, Zero(x.dtype)));
      weight = absl::Substitute("cast($0, dtype=\"int32\")", weight);
    }
    return OfSums(
        absl::Substitute("nn.dense($0, $1, units=$2, out_dtype=\"int32\")",
                         data, weight, units),
        terms, {units});
  }

  std::string BytePool(const Value& x) {
    if (x.rank() != 4) return "";
    if (OneIn(3)) {
      return absl::Substitute(
          "cast(mean(cast($0, dtype=\"float32\"), axis=[2, 3], "
          "keepdims=True), dtype=\"$1\")",
          x.name, x.dtype);
    }
    const int64_t kernel = Of(1, 3);
    if (x.dim(2) < kernel || x.dim(3) < kernel) return "";
    const std::string attrs = absl::Substitute(
        "pool_size=[$0, $0], strides=$1, padding=$2, ceil_mode=$3", kernel,
        Text(Numbers(2, 1, 2)), Text(Numbers(4, 0, kernel - 1)),
        Bool(OneIn(3)));
    if (OneIn(3)) {
      return absl::Substitute(
          "cast(nn.avg_pool2d(cast($0, dtype=\"int32\"), $1), dtype=\"$2\")",
          x.name, attrs, x.dtype);
    }
    return absl::Substitute("nn.max_pool2d($0, $1)", x.name, attrs);
  }

  std::string ByteSum(const Value& x) {
    const Value* const y = Other([this, &x](const Value& other) {
      return other.shape == x.shape && other.dtype != options_.float_type;
    });
    if (y == nullptr) return "";
    return Quantized(
        absl::Substitute("$0($1, $2)", AnyOf({"add", "add", "multiply"}),
                         Dequantized(x, "0.05f"), Dequantized(*y, "0.031f")),
        AnyOf({"0.08f", "0.043f"}), AnyByteType());
  }

  std::string ByteElements(const Value& x) {
    return absl::Substitute(
        AnyOf({"clip($0, a_min=3f, a_max=100f)", "maximum($0, $0)",
               "cast(add(cast($0, dtype=\"int32\"), 5), dtype=\"$1\")",
               "cast(minimum(cast($0, dtype=\"int16\"), cast(100, "
               "dtype=\"int16\")), dtype=\"$1\")"}),
        x.name, x.dtype);
  }

  std::mt19937 random_;
  const RandomNetworkOptions options_;
  std::vector<Value> values_;
  std::vector<std::string> params_;
  std::string body_;
  std::vector<std::string> forms_;
  int num_names_ = 0;
};

void Append(const std::vector<Generator::Form>& more,
            std::vector<Generator::Form>& forms) {
  forms.insert(forms.end(), more.begin(), more.end());
}

std::vector<Generator::Form> Generator::FloatForms(
    const RandomNetworkOptions& options) {
  std::vector<Form> forms = {
      {"activation", &Generator::Activation},
      {"prelu", &Generator::Prelu},
      {"bias_add", &Generator::BiasAdd},
      {"with_weight", &Generator::WithWeight},
      {"binary", &Generator::Binary},
      {"broadcast", &Generator::Broadcast},
      {"halves", &Generator::Halves},
      {"integers", &Generator::Integers},
  };
  Append(MoveForms(), forms);
  Append({{"reduce", &Generator::Reduce},
          {"centered", &Generator::Centered},
          {"softmax", &Generator::Softmax},
          {"normalization", &Generator::Normalization},
          {"scan", &Generator::Scan},
          {"dense", &Generator::Dense}},
         forms);
  if (options.spatial_dims < 2) {
    // Others seldom have three dimensions.
    forms.push_back({"batch_matmul", &Generator::BatchMatmul});
    forms.push_back({"attention", &Generator::Attention});
    forms.push_back({"recurrence", &Generator::Recurrence});
  }
  if (options.spatial_dims > 0) {
    // Networks of maps consist of these for the most part.
    for (int i = 0; i < 3; ++i) {
      forms.push_back({"conv", &Generator::Conv});
      forms.push_back({"activation", &Generator::Activation});
      forms.push_back({"pool", &Generator::Pool});
      forms.push_back({"with_weight", &Generator::WithWeight});
      forms.push_back({"binary", &Generator::Binary});
    }
    forms.push_back({"conv", &Generator::Conv});
    forms.push_back({"conv", &Generator::Conv});
    forms.push_back({"conv_transpose", &Generator::ConvTranspose});
    forms.push_back({"adaptive_pool", &Generator::AdaptivePool});
    forms.push_back({"shuffle", &Generator::ShuffleChannels});
    forms.push_back({"concat", &Generator::Concat});
    forms.push_back({"split", &Generator::Split});
    forms.push_back({"resize", &Generator::Resize});
  }
  if (options.spatial_dims == 2) {
    forms.push_back({"depth_to_space", &Generator::DepthToSpace});
    forms.push_back({"upsampling", &Generator::Upsampling});
    forms.push_back({"lrn", &Generator::Lrn});
  }
  if (options.has_bytes) {
    for (int i = 0; i < 12; ++i) {
      forms.push_back({"quantize", &Generator::Quantize});
    }
  }
  return forms;
}

std::vector<Generator::Form> Generator::ByteForms() {
  std::vector<Form> forms = {{"byte_conv", &Generator::ByteConv},
                             {"byte_conv", &Generator::ByteConv},
                             {"byte_conv", &Generator::ByteConv},
                             {"byte_conv", &Generator::ByteConv},
                             {"byte_dense", &Generator::ByteDense},
                             {"byte_dense", &Generator::ByteDense},
                             {"byte_pool", &Generator::BytePool},
                             {"byte_pool", &Generator::BytePool},
                             {"byte_sum", &Generator::ByteSum},
                             {"byte_sum", &Generator::ByteSum},
                             {"byte_elements", &Generator::ByteElements},
                             {"dequantize", &Generator::Dequantize}};
  Append(MoveForms(), forms);
  forms.push_back({"shuffle", &Generator::ShuffleChannels});
  return forms;
}

std::vector<Generator::Form> Generator::MoveForms() {
  return {
      {"concat", &Generator::Concat},       {"split", &Generator::Split},
      {"slice", &Generator::Slice},         {"pad", &Generator::Pad},
      {"transpose", &Generator::Transpose}, {"reshape", &Generator::Reshape},
      {"take", &Generator::Take},           {"repeat", &Generator::Repeat}};
}

}  // namespace

absl::StatusOr<RandomNetwork> MakeRandomNetwork(
    uint32_t seed, const RandomNetworkOptions& options) {
  return Generator(seed, options).Run();
}

std::vector<std::string> RandomNetworkForms(
    const RandomNetworkOptions& options) {
  std::vector<std::string> names;
  for (const Generator::Form& form : Generator::FloatForms(options)) {
    names.emplace_back(form.name);
  }
  if (options.has_bytes) {
    for (const Generator::Form& form : Generator::ByteForms()) {
      names.emplace_back(form.name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace baton::cpu
