// Methods of buffers in scripts, and the buffers that they declare.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/script_parser.h"

namespace baton::tir {

bool ScriptParser::CallMethod(
    const Value& method, Values args,
    std::vector<std::pair<std::string, Value>> keywords, int64_t end,
    Value* result) {
  Value form;
  if (!Compound(Value::kForm, std::move(args), method.begin, end, &form)) {
    return false;
  }
  form.text = method.text;
  form.parts->keywords = std::move(keywords);
  if (method.text == "astype") return CallAsType(method, form, result);
  if (method.text == "access_ptr") return CallAccessPtr(method, form, result);
  return CallLoadOrStore(method, form, result);
}

bool ScriptParser::CallAsType(const Value& method, const Value& form,
                              Value* result) {
  std::vector<const Value*> bound;
  DType dtype;
  PrimExpr value(method.node.As<PrimExprNode>());
  if (!Bind(form, {"dtype"}, 1, &bound) || !ToDType(*bound[0], &dtype)) {
    return false;
  }
  if (value.dtype().code() == DType::Code::kHandle ||
      dtype.lanes() != value.dtype().lanes()) {
    return Fail(form,
                absl::StrCat("there is no cast from ", value.dtype().ToString(),
                             " to ", dtype.ToString()));
  }
  *result = ExprValue(CastTo(dtype, std::move(value)), form.begin, form.end);
  return true;
}

bool ScriptParser::CallAccessPtr(const Value& method, const Value& form,
                                 Value* result) {
  std::vector<const Value*> bound;
  const Buffer buffer(method.node.As<BufferNode>());
  if (!Bind(form,
            {"access_mask", "ptr_type", "content_lanes", "offset", "extent"}, 1,
            &bound)) {
    return false;
  }
  int64_t mask = 0;
  if (bound[0]->Is(Value::kString)) {
    for (const char c : bound[0]->text) {
      if (c != 'r' && c != 'w') return Fail(*bound[0], "known are r and w");
      mask |= c == 'r' ? 1 : 2;
    }
  } else if (!ToInt(*bound[0], &mask)) {
    return false;
  }
  DType type = kHandle;
  int64_t lanes = 1;
  PrimExpr offset = IntImm(kInt32, 0);
  PrimExpr extent;
  if (bound[1] != nullptr && !ToDType(*bound[1], &type)) return false;
  if (bound[2] != nullptr && !ToInt(*bound[2], &lanes)) return false;
  if (bound[3] != nullptr && !ToExpr(*bound[3], &offset)) return false;
  if (bound[4] != nullptr && !ToExpr(*bound[4], &extent)) return false;
  if (lanes < 1 || lanes > 65535 || buffer.dtype().lanes() != 1) {
    return Fail(form, "1 to 65535 lanes of scalars are possible");
  }
  const absl::Span<const PrimExpr> shape = buffer->shape();
  PrimExpr place = buffer->elem_offset();
  if (!extent.defined()) {
    if (shape.empty()) {
      extent = IntImm(kInt32, 1);
    } else if (buffer->strides().size() == shape.size()) {
      extent = Sub(Mul(buffer->strides()[0], shape[0]), offset);
    } else {
      extent = IntImm(kInt32, 1);
      for (const PrimExpr& e : shape) extent = Mul(std::move(extent), e);
      extent = Sub(std::move(extent), offset);
    }
    if (lanes > 1) {
      extent = MakeBinary(BinaryOp::kDiv, std::move(extent),
                          MakeConst(place.dtype(), lanes));
    }
  }
  const PrimExpr e_type =
      Call(WithLanes(buffer.dtype(), static_cast<int>(lanes)),
           IntrinsicOp("type_annotation"), {});
  if (lanes > 1) {
    place = MakeBinary(BinaryOp::kDiv, place, MakeConst(place.dtype(), lanes));
  } else {
    place = Add(std::move(place), std::move(offset));
  }
  *result = ExprValue(Call(type, IntrinsicOp("tvm_access_ptr"),
                           {e_type, buffer->data(), std::move(place),
                            std::move(extent), IntImm(kInt32, mask)},
                           context_.SpanOf(form.begin, form.end)),
                      form.begin, form.end);
  return true;
}

bool ScriptParser::CallLoadOrStore(const Value& method, const Value& form,
                                   Value* result) {
  std::vector<const Value*> bound;
  const Buffer buffer(method.node.As<BufferNode>());
  const bool is_load = method.text == "vload";
  if (is_load ? !Bind(form, {"begin", "dtype"}, 1, &bound)
              : !Bind(form, {"begin", "value"}, 2, &bound)) {
    return false;
  }
  std::vector<PrimExpr> indices;
  DType dtype = buffer.dtype();
  if (!ToExprList(*bound[0], &indices)) return false;
  if (is_load) {
    if (bound[1] != nullptr && !ToDType(*bound[1], &dtype)) return false;
  } else {
    PrimExpr value;
    if (!ToExpr(*bound[1], &value)) return false;
    dtype = value.dtype();
  }
  const int lanes = dtype.lanes() / buffer.dtype().lanes();
  if (WithLanes(dtype, 1) != WithLanes(buffer.dtype(), 1) ||
      lanes * buffer.dtype().lanes() != dtype.lanes()) {
    return Fail(form, absl::StrCat("a ", dtype.ToString(),
                                   " cannot be accessed in a buffer of ",
                                   buffer.dtype().ToString()));
  }
  if (lanes > 1) {
    if (indices.empty() || !indices.back().dtype().is_integral()) {
      return Fail(*bound[0], "expected indices");
    }
    PrimExpr one = MakeConst(indices.back().dtype(), 1);
    indices.back() = Ramp(indices.back(), std::move(one), lanes);
  }
  if (is_load) {
    *result = ExprValue(BufferLoad(buffer, std::move(indices),
                                   context_.SpanOf(form.begin, form.end)),
                        form.begin, form.end);
    return true;
  }
  Values places;
  for (const PrimExpr& e : indices) {
    places.push_back(ExprValue(e, bound[0]->begin, bound[0]->end));
  }
  Value list;
  if (!Compound(Value::kTuple, std::move(places), bound[0]->begin,
                bound[0]->end, &list)) {
    return false;
  }
  Values items = {ExprValue(buffer, form.begin, form.end), *bound[1],
                  std::move(list)};
  if (!Compound(Value::kForm, std::move(items), form.begin, form.end, result)) {
    return false;
  }
  result->text = "buffer_store";
  return true;
}

// `form` is a call with the arguments of a buffer after `skip` others.
bool ScriptParser::MakeBuffer(const Value& form, absl::string_view name,
                              size_t skip, Buffer* buffer, bool* has_data) {
  std::vector<const Value*> all;
  const bool bound =
      skip == 0
          ? Bind(form,
                 {"shape", "dtype", "data", "strides", "elem_offset", "scope",
                  "align", "offset_factor", "buffer_type", "axis_separators"},
                 1, &all)
          : Bind(form,
                 {"param", "shape", "dtype", "data", "strides", "elem_offset",
                  "scope", "align", "offset_factor", "buffer_type",
                  "axis_separators"},
                 1, &all);
  if (!bound) return false;
  const std::vector<const Value*> args(
      all.begin() + static_cast<std::ptrdiff_t>(skip), all.end());
  BufferNode::Parts parts;
  parts.name = std::string(name);
  parts.dtype = DType::Float(32);
  if (args[0] != nullptr) {
    if (!ToExprList(*args[0], &parts.shape)) return false;
  } else {
    // The shape and the data type of the region.
    BufferRegion region;
    if (skip == 0 || !ToRegion(*all[0], &region)) {
      return Fail(form, absl::StrCat("T.", form.text, " lacks a shape"));
    }
    parts.dtype = region->buffer()->dtype();
    for (const Range& range : region->region()) {
      parts.shape.push_back(range.extent);
    }
  }
  for (size_t i = 0; i < parts.shape.size(); ++i) {
    if (!parts.shape[i].dtype().is_integral()) {
      return Fail(*args[0], "an extent is an integer");
    }
  }
  if (args[1] != nullptr && !ToDType(*args[1], &parts.dtype)) return false;
  std::string scope = "global";
  if (args[5] != nullptr && !ToText(*args[5], &scope)) return false;
  if (scope.empty()) scope = "global";
  *has_data = args[2] != nullptr;
  if (args[2] != nullptr) {
    if (!ToVar(*args[2], &parts.data)) return false;
    if (parts.data.dtype().code() != DType::Code::kHandle) {
      return Fail(*args[2], "expected a pointer");
    }
  } else {
    parts.data = Var::Pointer(
        std::string(name),
        parts.dtype == DType::Bool() ? DType::Int(8) : parts.dtype, scope);
  }
  if (args[3] != nullptr) {
    if (!args[3]->Is(Value::kTuple) && !args[3]->Is(Value::kList)) {
      return Fail(*args[3], "expected a tuple of strides");
    }
    for (const Value& stride : args[3]->items()) {
      if (stride.Is(Value::kString)) {
        parts.strides.push_back(Var(stride.text, kInt32));
        continue;
      }
      parts.strides.emplace_back();
      if (!ToExpr(stride, &parts.strides.back())) return false;
    }
  }
  if (args[4] != nullptr && !ToExpr(*args[4], &parts.elem_offset)) return false;
  if (args[6] != nullptr && !ToInt(*args[6], &parts.alignment)) return false;
  parts.offset_factor = 0;
  if (args[7] != nullptr && !ToInt(*args[7], &parts.offset_factor)) {
    return false;
  }
  if (!parts.elem_offset.defined() && parts.offset_factor != 0) {
    parts.elem_offset = Var(
        "elem_offset", parts.shape.empty() ? kInt32 : parts.shape[0].dtype());
  }
  if (args[8] != nullptr) {
    std::string kind;
    if (!ToText(*args[8], &kind)) return false;
    if (kind == "auto" || kind == "auto_broadcast") {
      parts.kind = BufferKind::kAutoBroadcast;
    } else if (kind != "default" && !kind.empty()) {
      return Fail(*args[8], "known are \"auto\" and \"default\"");
    }
  }
  if (args[9] != nullptr) {
    if (!args[9]->Is(Value::kList) && !args[9]->Is(Value::kTuple)) {
      return Fail(*args[9], "expected a list of integers");
    }
    for (const Value& item : args[9]->items()) {
      parts.axis_separators.emplace_back();
      if (!ToInt(item, &parts.axis_separators.back())) return false;
    }
  }
  *buffer = Buffer(std::move(parts), context_.SpanOf(form.begin, form.end));
  return true;
}

}  // namespace baton::tir
