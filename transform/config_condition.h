// WhenConfig: runs passes if a setting of the context has a given value.
//
//   WhenConfig{key=tir.use_async_copy}(tir.LowerAsyncDMA)
//   WhenConfig{key=tir.disable_storage_rewrite,is=false}(tir.StorageRewrite)
//
// Named pipelines, which are text, have such steps.

#ifndef BATON_TRANSFORM_CONFIG_CONDITION_H_
#define BATON_TRANSFORM_CONFIG_CONDITION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton {

struct WhenConfigOptions {
  // A registered setting, true or false.
  std::string key;
  bool is = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("key", &WhenConfigOptions::key, "A setting that is true or false.");
    v("is", &WhenConfigOptions::is, "The value for which the passes run.");
  }
};

// Runs `passes` in order where the setting has the value. An error if there is
// no such setting, or one of another type.
absl::StatusOr<Pass> WhenConfig(std::vector<Pass> passes,
                                WhenConfigOptions options);

}  // namespace baton

#endif  // BATON_TRANSFORM_CONFIG_CONDITION_H_
