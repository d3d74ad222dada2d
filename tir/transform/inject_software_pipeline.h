// InjectSoftwarePipeline: runs the stages of a loop's body for different steps
// side by side.
//
//   for i in T.serial(16, annotations={"software_pipeline_stage": [0, 1], ...}):
//       B[0] = A[i]                 B[0] = A[0]
//       C[i] = B[0]                 for i in range(15):
//                                       B[(i + 1) % 2] = A[i + 1]
//                                       C[i] = B[i % 2]
//                                   C[15] = B[15 % 2]

#ifndef BATON_TIR_TRANSFORM_INJECT_SOFTWARE_PIPELINE_H_
#define BATON_TIR_TRANSFORM_INJECT_SOFTWARE_PIPELINE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// A statement of stage s runs s steps later; `software_pipeline_order` gives
// the order of the statements in a step. A buffer that a later stage than its
// writer uses gets a version for each step between the two. Stages of
// `software_pipeline_async_stages` copy asynchronously: their users wait.
Pass InjectSoftwarePipeline();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_SOFTWARE_PIPELINE_H_
