// ConvertLayout: makes operators work in other data layouts.

#ifndef BATON_RELAY_TRANSFORM_CONVERT_LAYOUT_H_
#define BATON_RELAY_TRANSFORM_CONVERT_LAYOUT_H_

#include "baton/base/attr_value.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct ConvertLayoutOptions {
  AttrMap desired_layouts;

  template <typename V>
  static void VisitFields(V& v) {
    v("desired_layouts", &ConvertLayoutOptions::desired_layouts,
      "The layouts wanted, by operator: one for the data, for a convolution "
      "also one for the kernel, or `default` for the one that goes with it.");
  }
};

// Converts the named operators to the desired layouts, and lets other operators
// follow where they can, so that few tensors need a layout_transform:
//
//   ConvertLayout({.desired_layouts = {
//       {"nn.conv2d", AttrList{"NHWC", "default"}},
//       {"nn.max_pool2d", AttrList{"NHWC"}}}})
//
// Arguments and result of the function keep their layouts. Options with an
// unknown operator, or with layouts that an operator cannot have, are an error
// when the pass runs; a pass made by name reports them at once.
Pass ConvertLayout(ConvertLayoutOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CONVERT_LAYOUT_H_
