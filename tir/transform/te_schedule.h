// Functions that schedules of tensor expressions made, which have no blocks.

#ifndef BATON_TIR_TRANSFORM_TE_SCHEDULE_H_
#define BATON_TIR_TRANSFORM_TE_SCHEDULE_H_

#include "baton/tir/ir/function.h"

namespace baton::tir {

// True if the attribute `from_legacy_te_schedule` of `function` is true. Passes
// over blocks leave such a function as it is.
bool IsFromTeSchedule(const PrimFunc& function);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_TE_SCHEDULE_H_
