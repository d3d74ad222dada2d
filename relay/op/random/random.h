// Random number generators (`random.*`).

#ifndef BATON_RELAY_OP_RANDOM_RANDOM_H_
#define BATON_RELAY_OP_RANDOM_RANDOM_H_

#include <cstdint>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"

namespace baton::relay {

struct ThreefryGenerateAttrs {
  std::vector<int64_t> out_shape;

  static constexpr char kTypeKey[] = "relay.attrs.ThreefryGenerateAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("out_shape", &ThreefryGenerateAttrs::out_shape, "Shape of the result.",
      kRequired);
  }
};

struct UniformAttrs {
  std::vector<int64_t> out_shape;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.UniformAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("out_shape", &UniformAttrs::out_shape, "Shape of the result.", kRequired);
    v("out_dtype", &UniformAttrs::out_dtype, "float32 or float64.");
  }
};

struct NormalAttrs {
  std::vector<int64_t> out_shape;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.NormalAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("out_shape", &NormalAttrs::out_shape, "Shape of the result.", kRequired);
    v("out_dtype", &NormalAttrs::out_dtype, "float32 or float64.");
  }
};

struct MultinomialAttrs {
  int64_t num_samples = 1;

  static constexpr char kTypeKey[] = "relay.attrs.MultinomialAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("num_samples", &MultinomialAttrs::num_samples, "Number of samples.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_RANDOM_RANDOM_H_
