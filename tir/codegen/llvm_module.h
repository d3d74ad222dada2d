// Parts of a module of LLVM's text: types, operands, and what its functions
// share.

#ifndef BATON_TIR_CODEGEN_LLVM_MODULE_H_
#define BATON_TIR_CODEGEN_LLVM_MODULE_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/ir/span.h"
#include "baton/tir/codegen/function_parts.h"
#include "baton/tir/codegen/llvm_source.h"

namespace baton::tir::llvm {

// The type of one lane of a value: halves are computed as floats. Empty for
// types that have no values.
std::string LaneType(DType dtype);

// `<8 x float>`; `type` itself for one lane.
std::string InLanes(const std::string& type, int lanes);

// The type of a value: `<8 x float>`.
std::string ValueType(DType dtype);

// The type of one element in memory.
std::string StoredType(DType dtype);

// The suffix of an intrinsic for values of a type: `v8f32`, `i64`.
std::string Suffix(DType dtype);

// The bits of a double: text of a float or a double.
std::string RealText(double value);

// The constant `text` in all lanes: `<float 1.0, float 1.0>`.
std::string InAllLanes(const std::string& lane_type, const std::string& text,
                       int lanes);

// An operand: the name of a register, or a constant.
struct Value {
  DType dtype;
  std::string text;
  Interval range;
};

// True unless `value` is in a register.
bool IsConstant(const Value& value);

// `i32 %x`
std::string Typed(const Value& value);

// The way in which a function of floats is computed.
enum class FloatForm {
  kDefined,    // @baton.NAME.f32, which the module contains
  kIntrinsic,  // @llvm.NAME
  kLibrary,    // of libm, with the suffix `f` for floats
  kDouble,     // of libm, in double
};
struct FloatFunction {
  const char* name;
  FloatForm form;
  int arity = 1;
};
inline constexpr FloatFunction kFloatFunctions[] = {
    {"exp", FloatForm::kDefined},
    {"tanh", FloatForm::kDefined},
    {"sigmoid", FloatForm::kDefined},
    {"erf", FloatForm::kDefined},
    {"log", FloatForm::kDefined},
    {"log2", FloatForm::kDefined},
    {"log10", FloatForm::kDefined},
    {"sin", FloatForm::kDefined},
    {"cos", FloatForm::kDefined},
    {"tan", FloatForm::kDefined},
    {"sinh", FloatForm::kDefined},
    {"cosh", FloatForm::kDefined},
    {"asin", FloatForm::kDefined},
    {"acos", FloatForm::kDefined},
    {"atan", FloatForm::kDefined},
    {"asinh", FloatForm::kDefined},
    {"acosh", FloatForm::kDefined},
    {"atanh", FloatForm::kDefined},
    {"pow", FloatForm::kDefined, 2},
    {"sqrt", FloatForm::kIntrinsic},
    {"floor", FloatForm::kIntrinsic},
    {"ceil", FloatForm::kIntrinsic},
    {"round", FloatForm::kIntrinsic},
    {"nearbyint", FloatForm::kIntrinsic},
    {"trunc", FloatForm::kIntrinsic},
    {"fabs", FloatForm::kIntrinsic},
    {"copysign", FloatForm::kIntrinsic, 2},
    {"fma", FloatForm::kIntrinsic, 3},
    {"nextafter", FloatForm::kLibrary, 2},
    {"fmod", FloatForm::kLibrary, 2},
    {"exp2", FloatForm::kDouble},
    {"log1p", FloatForm::kDouble},
    {"atan2", FloatForm::kDouble, 2},
    {"hypot", FloatForm::kDouble, 2},
};

// The parts of a module that its functions share.
class Module {
 public:
  explicit Module(const LlvmSourceOptions& options) : options_(options) {}

  const LlvmSourceOptions& options() const { return options_; }

  // Declares a function of libm or an intrinsic: `double @exp2(double)`.
  void Declare(std::string prototype) {
    declarations_.insert(std::move(prototype));
  }
  void UseConversion(const char* name, int lanes) {
    conversions_.insert({name, lanes});
  }
  // Adds a function of the vector mathematics: `baton.exp.f32`.
  void UseMathFunction(const std::string& name);
  void UsePower() { uses_power_ = true; }
  void UseMultiplyShift() { uses_multiply_shift_ = true; }

  // The number of a group of attributes for functions of a target.
  int AttributesOf(const LlvmTarget& target);

  // Adds a node of metadata and returns its number.
  int AddMetadata(std::string text);
  // The metadata of a loop that is to be unrolled.
  int UnrolledLoop();

  // The metadata of a function; `name` is what debuggers show.
  int AddSubprogram(const std::string& name, const std::string& symbol,
                    const Span& span);
  // The metadata of a place in a function.
  int AddLocation(const Span& span, int subprogram);

  // The text behind the definitions of functions of loops: definitions of the
  // functions that they call, declarations, attributes and metadata.
  std::string Rest(absl::string_view definitions);

  static constexpr int kLibraryAttributes = 1000;

 private:
  // Declares the function of `float @powf(float %x, float %y)`.
  void DeclareCalled(absl::string_view call);

  int FileOf(const Span& span);

  const LlvmSourceOptions& options_;
  std::set<std::string> declarations_;
  std::map<std::string, std::string> math_functions_;  // by name
  std::set<std::pair<std::string, int>> conversions_;
  std::vector<std::string> attributes_;
  std::vector<std::string> metadata_;
  FlatHashMap<std::string, int> files_;
  FlatHashMap<std::string, int> locations_;
  int unroll_ = -1;
  int unit_ = -1;  // of the line table
  int type_ = -1;
  bool uses_power_ = false;
  bool uses_multiply_shift_ = false;
};

}  // namespace baton::tir::llvm

#endif  // BATON_TIR_CODEGEN_LLVM_MODULE_H_
