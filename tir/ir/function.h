// Functions of the level of loops.
//
//   @T.prim_func
//   def main(A: T.Buffer((128,), "float32"), n: T.int32):
//       ...

#ifndef BATON_TIR_IR_FUNCTION_H_
#define BATON_TIR_IR_FUNCTION_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// The attribute with the name under which a function is linked. A function
// without it is private.
inline constexpr absl::string_view kGlobalSymbol = "global_symbol";
// In a function's attributes a target is a dictionary with this key only, whose
// value is the configuration.
inline constexpr absl::string_view kTargetKey = "T.target";

// A buffer that the caller passes by the parameter of that index.
struct ParamBuffer {
  int64_t param = 0;
  Buffer buffer;
};

// `defined` are the variables that the buffers of the parameters define: their
// pointers, and extents, strides and offsets that are variables.
class PrimFuncNode final : public BaseFuncNode {
 public:
  BATON_NODE(PrimFunc, BaseFuncNode, TirKind::kPrimFunc)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  struct Parts {
    std::vector<Var> params;
    std::vector<ParamBuffer> buffers;  // by ascending `param`
    DType ret_type;                    // void: none
    Stmt body;
    DictAttrs attrs;
  };
  PrimFuncNode(Parts parts, Span span);
  absl::Span<const Var> params() const { return params_; }
  // The buffer of a parameter; null if it has none.
  Buffer BufferOf(int param) const;
  absl::Span<const int64_t> buffer_params() const { return buffer_params_; }
  absl::Span<const Buffer> buffers() const { return buffers_; }
  absl::Span<const Var> defined() const { return defined_; }
  DType ret_type() const { return ret_type_; }
  const Stmt& body() const { return body_; }
  Parts parts() const;

  static constexpr auto Fields() {
    return field::List(
        field::Binder<1, &PrimFuncNode::params_>("params"),
        field::Binder<2, &PrimFuncNode::defined_>("defined"),
        field::Data<3, &PrimFuncNode::buffer_params_>("buffer_params"),
        field::Annotation<4, &PrimFuncNode::buffers_>("buffers"),
        field::Data<5, &PrimFuncNode::ret_type_>("ret_type"),
        field::Child<6, &PrimFuncNode::body_>("body"),
        field::Attrs<7, &PrimFuncNode::attrs_>("attrs"));
  }
  static absl::Status Derive(PrimFuncNode& node);

 private:
  std::vector<Var> params_;
  std::vector<Var> defined_;
  std::vector<int64_t> buffer_params_;
  std::vector<Buffer> buffers_;
  DType ret_type_;
  Stmt body_;
};

class PrimFunc : public BaseFunc {
 public:
  BATON_HANDLE(PrimFunc, BaseFunc, PrimFuncNode)
  explicit PrimFunc(PrimFuncNode::Parts parts, Span span = {})
      : BaseFunc(new PrimFuncNode(std::move(parts), std::move(span))) {}
};

// Values of function attributes as expressions, and back. A bool, an int32, a
// string, a list and a dictionary are values of these kinds; other immediates
// are dictionaries with one key, `T.` and the data type; targets: see
// kTargetKey.
PrimExpr ExprOfAttr(const AttrValue& value);
// False for an expression that a function's attributes cannot hold.
bool AttrOfExpr(const PrimExpr& e, AttrValue& value);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_FUNCTION_H_
