// RemoveWeightLayoutRewriteBlock: removes blocks that rewrite the layout of
// weights; the function takes weights that have the new layout already.
//
//   with T.block("layout"):        B: T.Buffer((4, 16), ...) is the parameter;
//       W[j, i] = B[i, j]          the block does nothing

#ifndef BATON_TIR_TRANSFORM_REMOVE_WEIGHT_LAYOUT_REWRITE_BLOCK_H_
#define BATON_TIR_TRANSFORM_REMOVE_WEIGHT_LAYOUT_REWRITE_BLOCK_H_

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct RemoveWeightLayoutRewriteBlockOptions {
  bool skip_ndarray_rewrite = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("skip_ndarray_rewrite",
      &RemoveWeightLayoutRewriteBlockOptions::skip_ndarray_rewrite,
      "Constants get the new shape, but keep the order of their elements.");
  }
};

// Applies to blocks with the annotation `meta_schedule.layout_rewrite_preproc`.
// The caller must pass rewritten weights; the pass rewrites constants.
Pass RemoveWeightLayoutRewriteBlock(
    RemoveWeightLayoutRewriteBlockOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_REMOVE_WEIGHT_LAYOUT_REWRITE_BLOCK_H_
