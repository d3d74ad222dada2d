#include "baton/relay/ir/param_devices.h"

#include <algorithm>
#include <utility>

#include "baton/base/hash_table.h"
#include "baton/relay/ir/virtual_device.h"

namespace baton::relay {

DictAttrs WithParamDevices(const DictAttrs& attrs, AttrList devices) {
  const bool known =
      std::any_of(devices.begin(), devices.end(),
                  [](const AttrValue& device) { return !device.is_none(); });
  return known ? attrs.With(kParamVirtualDevices, std::move(devices))
               : attrs.Without(kParamVirtualDevices);
}

absl::Span<const AttrValue> ParamDevices(const FunctionNode& function) {
  const AttrValue* devices = function.attrs().Find(kParamVirtualDevices);
  const AttrList* list = devices == nullptr ? nullptr : devices->As<AttrList>();
  if (list == nullptr || list->size() != function.params().size()) return {};
  return *list;
}

DictAttrs AttrsWithParams(const FunctionNode& function,
                          absl::Span<const Var> params) {
  const absl::Span<const AttrValue> devices = ParamDevices(function);
  if (devices.empty()) return function.attrs();
  FlatHashMap<const VarNode*, const AttrValue*> device_of;
  for (size_t i = 0; i < devices.size(); ++i) {
    device_of[function.params()[i].get()] = &devices[i];
  }
  AttrList kept;
  for (const Var& param : params) {
    const auto it = device_of.find(param.get());
    kept.push_back(it == device_of.end() ? AttrValue() : *it->second);
  }
  return WithParamDevices(function.attrs(), std::move(kept));
}

DictAttrs AttrsWithNumParams(const FunctionNode& function, size_t num_params) {
  const absl::Span<const AttrValue> devices = ParamDevices(function);
  if (devices.empty()) return function.attrs();
  AttrList kept(devices.begin(), devices.end());
  kept.resize(num_params);
  return WithParamDevices(function.attrs(), std::move(kept));
}

}  // namespace baton::relay
