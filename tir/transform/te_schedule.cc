#include "baton/tir/transform/te_schedule.h"

#include <cstdint>

#include "baton/base/attr_value.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

bool IsFromTeSchedule(const PrimFunc& function) {
  const AttrValue* value = function->attrs().Find("from_legacy_te_schedule");
  if (value == nullptr) return false;
  if (const bool* flag = value->As<bool>()) return *flag;
  const int64_t* number = value->As<int64_t>();
  return number != nullptr && *number != 0;
}

}  // namespace baton::tir
