#include "baton/tir/ir/function.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/tir/ir/call_type.h"

namespace baton::tir {

PrimFuncNode::PrimFuncNode(Parts parts, Span span)
    : BaseFuncNode(kKind, parts.attrs, CallTypeOf(parts), std::move(span)),
      params_(std::move(parts.params)),
      ret_type_(parts.ret_type),
      body_(std::move(parts.body)) {
  for (ParamBuffer& buffer : parts.buffers) {
    buffer_params_.push_back(buffer.param);
    AppendDefinedVars(buffer.buffer, defined_);
    buffers_.push_back(std::move(buffer.buffer));
  }
  // A parameter is not defined a second time by a buffer.
  std::vector<Var> defined;
  for (Var& var : defined_) {
    if (std::find(params_.begin(), params_.end(), var) == params_.end()) {
      defined.push_back(std::move(var));
    }
  }
  defined_ = std::move(defined);
}

absl::Status PrimFuncNode::Derive(PrimFuncNode& node) {
  if (node.buffer_params_.size() != node.buffers_.size()) {
    return absl::InvalidArgumentError(
        "buffers: there is not one for each of buffer_params");
  }
  int64_t last = -1;
  for (const int64_t param : node.buffer_params_) {
    if (param <= last || param >= static_cast<int64_t>(node.params_.size())) {
      return absl::InvalidArgumentError(
          "buffer_params: they are no ascending indices of parameters");
    }
    last = param;
  }
  SetFixedType(node, CallTypeOf(node.parts()));
  return absl::OkStatus();
}

Buffer PrimFuncNode::BufferOf(int param) const {
  const auto found =
      std::lower_bound(buffer_params_.begin(), buffer_params_.end(), param);
  if (found == buffer_params_.end() || *found != param) return {};
  return buffers_[static_cast<size_t>(found - buffer_params_.begin())];
}

PrimFuncNode::Parts PrimFuncNode::parts() const {
  Parts result = {.params = params_,
                  .buffers = {},
                  .ret_type = ret_type_,
                  .body = body_,
                  .attrs = attrs_};
  for (size_t i = 0; i < buffers_.size(); ++i) {
    result.buffers.push_back({buffer_params_[i], buffers_[i]});
  }
  return result;
}

// The depth of values is limited by the reader of texts and of binary files:
// these two functions may recurse over it.

PrimExpr ExprOfAttr(const AttrValue& value) {
  if (const bool* v = value.As<bool>()) return IntImm::Bool(*v);
  if (const int64_t* v = value.As<int64_t>()) return IntImm(kInt32, *v);
  if (const double* v = value.As<double>()) {
    return FloatImm(DType::Float(32), *v);
  }
  if (const std::string* v = value.As<std::string>()) return StringImm(*v);
  if (const DType* v = value.As<DType>()) return StringImm(v->ToString());
  if (const AttrList* list = value.As<AttrList>()) {
    std::vector<PrimExpr> items;
    for (const AttrValue& item : *list) items.push_back(ExprOfAttr(item));
    return List(std::move(items));
  }
  if (const AttrMap* map = value.As<AttrMap>()) {
    if (map->size() == 1) {
      const auto& [key, inner] = map->front();
      if (key == kTargetKey) {
        const PrimExpr config = ExprOfAttr(inner);
        if (const auto* dict = config.As<DictNode>()) return Target(Dict(dict));
      }
      absl::string_view name = key;
      if (absl::ConsumePrefix(&name, "T.")) {
        const absl::StatusOr<DType> dtype = DType::Parse(name);
        if (dtype.ok()) {
          if (const int64_t* v = inner.As<int64_t>()) return IntImm(*dtype, *v);
          if (const double* v = inner.As<double>()) return FloatImm(*dtype, *v);
        }
      }
    }
    std::vector<Dict::Entry> entries;
    for (const auto& [key, inner] : *map) {
      entries.emplace_back(key, ExprOfAttr(inner));
    }
    return Dict::OfAll(std::move(entries));
  }
  if (value.is_none()) return {};
  return StringImm(value.ToString());
}

bool AttrOfExpr(const PrimExpr& e, AttrValue& value) {
  if (!e.defined()) {
    value = AttrValue();
    return true;
  }
  if (const auto* imm = e.As<IntImmNode>()) {
    if (imm->dtype().is_bool()) {
      value = imm->value() != 0;
    } else if (imm->dtype() == kInt32) {
      value = imm->value();
    } else {
      value = AttrMap{{absl::StrCat("T.", imm->dtype().ToString()),
                       AttrValue(imm->value())}};
    }
    return true;
  }
  if (const auto* imm = e.As<FloatImmNode>()) {
    if (imm->dtype() == DType::Float(32)) {
      value = imm->value();
    } else {
      value = AttrMap{{absl::StrCat("T.", imm->dtype().ToString()),
                       AttrValue(imm->value())}};
    }
    return true;
  }
  if (const auto* text = e.As<StringImmNode>()) {
    value = text->value();
    return true;
  }
  if (const auto* list = e.As<ListNode>()) {
    AttrList items;
    for (const PrimExpr& item : list->items()) {
      items.emplace_back();
      if (!AttrOfExpr(item, items.back())) return false;
    }
    value = std::move(items);
    return true;
  }
  if (const auto* target = e.As<TargetNode>()) {
    AttrValue config;
    if (!AttrOfExpr(target->config(), config)) return false;
    value = AttrMap{{std::string(kTargetKey), std::move(config)}};
    return true;
  }
  if (const auto* dict = e.As<DictNode>()) {
    AttrMap entries;
    for (size_t i = 0; i < dict->keys().size(); ++i) {
      entries.emplace_back(dict->keys()[i], AttrValue());
      if (!AttrOfExpr(dict->values()[i], entries.back().second)) return false;
    }
    value = std::move(entries);
    return true;
  }
  return false;
}

}  // namespace baton::tir
