// Operators that sort, scan, search and transform sequences; and einsum.

#ifndef BATON_RELAY_OP_TENSOR_SEQUENCE_H_
#define BATON_RELAY_OP_TENSOR_SEQUENCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// cumsum, cumprod
struct ScanopAttrs {
  std::optional<int64_t> axis;
  DType dtype;
  bool exclusive = false;

  static constexpr char kTypeKey[] = "relay.attrs.ScanopAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ScanopAttrs::axis,
      "The axis to scan; the flattened data if not given.");
    v("dtype", &ScanopAttrs::dtype,
      "Element type of the result; that of the data if unset.");
    v("exclusive", &ScanopAttrs::exclusive,
      "Leave the element itself out of its sum.");
  }
};

struct UniqueAttrs {
  bool sorted = true;
  bool return_counts = false;

  static constexpr char kTypeKey[] = "relay.attrs.UniqueAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("sorted", &UniqueAttrs::sorted, "Whether the result is sorted.");
    v("return_counts", &UniqueAttrs::return_counts,
      "Whether to count each value.");
  }
};

struct EinsumAttrs {
  std::string equation;

  static constexpr char kTypeKey[] = "relay.attrs.EinsumAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("equation", &EinsumAttrs::equation,
      "The product and the sums, in Einstein notation.", kRequired);
  }
};

struct StftAttrs {
  int n_fft = -1;
  int hop_length = -1;
  int win_length = -1;
  bool normalized = false;
  bool onesided = true;

  static constexpr char kTypeKey[] = "relay.attrs.StftAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("n_fft", &StftAttrs::n_fft, "Size of the transform.");
    v("hop_length", &StftAttrs::hop_length, "Step of the window.");
    v("win_length", &StftAttrs::win_length, "Size of the window.");
    v("normalized", &StftAttrs::normalized,
      "Whether the result is normalized.");
    v("onesided", &StftAttrs::onesided, "Leave out the redundant half.");
  }
};

struct DFTAttrs {
  bool inverse = false;

  static constexpr char kTypeKey[] = "relay.attrs.DFTAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("inverse", &DFTAttrs::inverse, "Whether to transform back.");
  }
};

// argsort, sort
struct ArgsortAttrs {
  int axis = -1;
  bool is_ascend = true;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.ArgsortAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ArgsortAttrs::axis, "The axis to sort along.");
    v("is_ascend", &ArgsortAttrs::is_ascend,
      "Ascending order; otherwise descending.");
    v("dtype", &ArgsortAttrs::dtype, "Element type of the result.");
  }
};

struct TopKAttrs {
  std::optional<int64_t> k;
  int axis = -1;
  std::string ret_type = "both";
  bool is_ascend = false;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.TopkAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("k", &TopKAttrs::k, "The number of elements; all if below 1.", kRequired);
    v("axis", &TopKAttrs::axis, "The axis to search along.");
    v("ret_type", &TopKAttrs::ret_type, "both, values or indices.");
    v("is_ascend", &TopKAttrs::is_ascend,
      "Ascending order; otherwise descending.");
    v("dtype", &TopKAttrs::dtype, "Element type of the result.");
  }
};

struct SearchSortedAttrs {
  bool right = false;
  DType dtype = DType::Int(32);

  static constexpr char kTypeKey[] = "relay.attrs.SearchSortedAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("right", &SearchSortedAttrs::right,
      "Find the last position instead of the first.");
    v("dtype", &SearchSortedAttrs::dtype, "Element type of the result.");
  }
};

// Builders of calls.

Expr Argsort(Expr data, ArgsortAttrs attrs = {});
Expr Sort(Expr data, ArgsortAttrs attrs = {});
Expr TopK(Expr data, TopKAttrs attrs);
Expr CumSum(Expr data, ScanopAttrs attrs = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_SEQUENCE_H_
