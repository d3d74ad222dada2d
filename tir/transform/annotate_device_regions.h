// AnnotateDeviceRegions: marks the statements of a function that run on its
// device.
//
//   T.attr(T.target({"kind": "cuda", ...}), "target", 0)
//   i = T.launch_thread("threadIdx.x", 16)

#ifndef BATON_TIR_TRANSFORM_ANNOTATE_DEVICE_REGIONS_H_
#define BATON_TIR_TRANSFORM_ANNOTATE_DEVICE_REGIONS_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Marks the outermost statements of threads, pipelines and device scopes in
// functions whose target has a host. Each function must have a target.
Pass AnnotateDeviceRegions();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_ANNOTATE_DEVICE_REGIONS_H_
