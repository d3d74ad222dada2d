// Binds the parts of buffers and scalars to the values that a caller passes.

#ifndef BATON_TIR_TRANSFORM_ARG_BINDER_H_
#define BATON_TIR_TRANSFORM_ARG_BINDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// Fields of the arrays and values of the runtime, as numbers of
// T.tvm_struct_get().
enum class StructField {
  kArrAddr,
  kArrData,
  kArrShape,
  kArrStrides,
  kArrNDim,
  kArrTypeCode,
  kArrTypeBits,
  kArrTypeLanes,
  kArrByteOffset,
  kArrDeviceId,
  kArrDeviceType,
  kArrKindBound,
  kValueContent,
};
PrimExpr StructGet(DType dtype, const PrimExpr& handle, int index,
                   StructField field);

// Statements, each with a body without effect: the last is the innermost.
using Nest = std::vector<Stmt>;
// `body` within the statements of `nest`. In a sequence it takes the place of
// the last statement.
Stmt MergeNest(absl::Span<const Stmt> nest, Stmt body);
// A statement without effect.
Stmt NoOpStmt();

class ArgBinder {
 public:
  // The definitions, in order.
  const Nest& definitions() const { return definitions_; }
  // The checks of values that are bound twice or are constant.
  const Nest& asserts() const { return asserts_; }
  bool IsBound(const Var& var) const { return bound_.Contains(var.get()); }
  // An error if a check always fails.
  const absl::Status& status() const { return status_; }

  // Defines `arg` if it is a variable without a value; else checks that it has
  // `value`. Returns true if it is defined. `name` is the name of the argument
  // in the messages of checks, here and below.
  bool Bind(const PrimExpr& arg, const PrimExpr& value,
            const std::string& name);
  // Binds all of `buffer` to the array `handle` and checks the array.
  void BindArray(const Buffer& buffer, const PrimExpr& device_type,
                 const PrimExpr& device_id, const Var& handle,
                 const std::string& name);

 private:
  void Assert(const PrimExpr& condition, const std::string& name);
  void BindStrides(const Buffer& buffer, const Buffer& shape,
                   const Buffer& strides, const std::string& name);
  void BindOffset(const Buffer& buffer, const Var& handle,
                  const std::string& name);

  Nest definitions_;
  Nest asserts_;
  NodeSet bound_;
  Analyzer analyzer_;
  absl::Status status_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_ARG_BINDER_H_
