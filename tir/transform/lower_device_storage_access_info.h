// LowerDeviceStorageAccessInfo: replaces `T.tvm_access_ptr` by addresses of
// elements.
//
//   T.tvm_access_ptr(T.type_annotation("float32"), A, 8, 4, 1)
//       =>  T.address_of(A_1[8])

#ifndef BATON_TIR_TRANSFORM_LOWER_DEVICE_STORAGE_ACCESS_INFO_H_
#define BATON_TIR_TRANSFORM_LOWER_DEVICE_STORAGE_ACCESS_INFO_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Memory of a scope with a tag (`global.cache`) is an error: in TVM it needs a
// description of the device's memory, and none can be registered here.
Pass LowerDeviceStorageAccessInfo();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_DEVICE_STORAGE_ACCESS_INFO_H_
