// Products with sparse operands: values, column indices and row pointers (CSR),
// or blocks of them (BSR).

#ifndef BATON_RELAY_OP_NN_SPARSE_H_
#define BATON_RELAY_OP_NN_SPARSE_H_

#include <string>

#include "baton/base/fields.h"
#include "baton/ir/type.h"

namespace baton::relay {

struct SparseDenseAttrs {
  bool sparse_lhs = false;

  static constexpr char kTypeKey[] = "relay.attrs.SparseDenseAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("sparse_lhs", &SparseDenseAttrs::sparse_lhs,
      "Whether the sparse operand is the left one.");
  }
};

struct SparseTransposeAttrs {
  static constexpr char kTypeKey[] = "relay.attrs.SparseTransposeAttrs";
  template <typename V>
  static void VisitFields(V& /*v*/) {}
};

struct SparseConv2DAttrs {
  std::string layout = "NHWC";
  Dims kernel_size = {1, 1};

  static constexpr char kTypeKey[] = "relay.attrs.SparseConv2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("layout", &SparseConv2DAttrs::layout, "Layout of the data.");
    v("kernel_size", &SparseConv2DAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_NN_SPARSE_H_
