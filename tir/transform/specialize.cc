#include "baton/tir/transform/specialize.h"

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
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/global_references.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// The values of variables; an error for a variable with two.
class Values {
 public:
  explicit Values(const PrimFunc& function) : function_(function) {}

  absl::Status Add(const ParamValue& given) {
    const absl::Span<const Var> params = function_->params();
    const auto param = std::find(params.begin(), params.end(), given.param);
    if (param == params.end()) {
      return Error(absl::StrCat(given.param->name(), " is no parameter"));
    }
    const Buffer own =
        function_->BufferOf(static_cast<int>(param - params.begin()));
    const auto* buffer = given.value.As<BufferNode>();
    if (own.defined() != (buffer != nullptr)) {
      return Error(absl::StrCat("the parameter ", given.param->name(),
                                own.defined()
                                    ? " has a buffer: its value is a buffer"
                                    : " has no buffer"));
    }
    return buffer == nullptr ? Set(given.param, given.value)
                             : Match(own, *buffer);
  }

  // An error if a value uses a variable that is replaced.
  absl::Status Check() const {
    for (const PrimExpr& value : exprs_) {
      if (UsesVar(value, [this](const VarNode* var) {
            return Find(var) != nullptr;
          })) {
        return Error("a value uses a parameter that has a value, too");
      }
    }
    return absl::OkStatus();
  }

  const PrimExpr* Find(const VarNode* var) const { return values_.Find(var); }
  bool empty() const { return values_.empty(); }

 private:
  absl::Status Error(std::string message) const {
    return ErrorAt(function_->span(), std::move(message));
  }

  absl::Status Set(const Var& var, const PrimExpr& value) {
    if (var.dtype() != value.dtype()) {
      return Error(absl::StrCat(var->name(), " has the type ",
                                var.dtype().ToString(), ", its value has ",
                                value.dtype().ToString()));
    }
    const auto [known, is_new] = values_.TryEmplace(var.get());
    if (!is_new && !ExprDeepEqual(*known, value)) {
      return Error(absl::StrCat(var->name(), " gets two different values"));
    }
    *known = value;
    exprs_.push_back(value);
    return absl::OkStatus();
  }

  absl::Status Match(const Buffer& own, const BufferNode& other) {
    if (own->shape().size() != other.shape().size() ||
        own->strides().size() != other.strides().size() ||
        own->alignment() != other.alignment() ||
        own->offset_factor() != other.offset_factor()) {
      return Error(absl::StrCat("the value of buffer ", own->name(),
                                " has another number of axes or strides, or "
                                "another alignment or offset factor"));
    }
    const auto match = [&](const PrimExpr& old,
                           const PrimExpr& value) -> absl::Status {
      if (ExprDeepEqual(old, value)) return absl::OkStatus();
      if (const auto* var = old.As<VarNode>()) return Set(Var(var), value);
      return Error(absl::StrCat("an extent, a stride or the offset of buffer ",
                                own->name(),
                                " is another one, and no variable"));
    };
    for (size_t i = 0; i < other.shape().size(); ++i) {
      BATON_RETURN_IF_ERROR(match(own->shape()[i], other.shape()[i]));
    }
    for (size_t i = 0; i < other.strides().size(); ++i) {
      BATON_RETURN_IF_ERROR(match(own->strides()[i], other.strides()[i]));
    }
    return match(own->elem_offset(), other.elem_offset());
  }

  const PrimFunc& function_;
  NodeMap<PrimExpr> values_;
  std::vector<PrimExpr> exprs_;  // all of `values_`
};

class Specializer final : public Rewriter {
 public:
  explicit Specializer(const Values& values) : values_(values) {}

  PrimFunc Run(const PrimFunc& function) {
    PrimFuncNode::Parts parts = function->parts();
    // The parameters that stay, and their new indices.
    std::vector<Var> params;
    std::vector<int64_t> index(parts.params.size(), -1);
    for (size_t i = 0; i < parts.params.size(); ++i) {
      if (values_.Find(parts.params[i].get()) != nullptr) continue;
      index[i] = static_cast<int64_t>(params.size());
      params.push_back(parts.params[i]);
    }
    parts.params = std::move(params);
    for (ParamBuffer& entry : parts.buffers) {
      entry.param = index[static_cast<size_t>(entry.param)];
      entry.buffer = RewriteBuffer(entry.buffer);
    }
    parts.body = Rewrite(parts.body);
    return PrimFunc(std::move(parts), function->span());
  }

 protected:
  PrimExpr VisitVar(const VarNode* var) override {
    const PrimExpr* value = values_.Find(var);
    return value == nullptr ? Var(var) : *value;
  }
  PrimExpr VisitBinary(const BinaryNode* node) override {
    PrimExpr a = Rewrite(node->a());
    PrimExpr b = Rewrite(node->b());
    if (a == node->a() && b == node->b()) return Binary(node);
    return MakeBinary(node->op(), std::move(a), std::move(b));
  }
  PrimExpr VisitNot(const NotNode* node) override {
    PrimExpr a = Rewrite(node->a());
    if (const auto* imm = a.As<IntImmNode>()) {
      return MakeConst(node->dtype(), imm->value() == 0 ? 1 : 0);
    }
    return a == node->a() ? Not(node) : Not(std::move(a), node->span());
  }
  Buffer RewriteBuffer(const Buffer& buffer) override {
    if (const Buffer* known = buffers_.Find(buffer)) return *known;
    BufferNode::Parts parts = buffer->parts();
    Buffer result = RewriteExtents(parts)
                        ? Buffer(std::move(parts), buffer->span())
                        : buffer;
    buffers_.Set(buffer, result);
    return result;
  }

 private:
  const Values& values_;
  BufferMap buffers_;
};

absl::StatusOr<PrimExpr> ConstantOf(DType dtype, int64_t number,
                                    absl::string_view name) {
  if (FitsDType(number, dtype)) return MakeConst(dtype, number);
  return absl::InvalidArgumentError(absl::StrCat(
      number, " for ", name, " is out of the range of ", dtype.ToString()));
}

// The number or the numbers in `value`, as constants of the types of `like`.
absl::StatusOr<std::vector<PrimExpr>> Numbers(const AttrValue& value,
                                              absl::Span<const PrimExpr> like,
                                              absl::string_view name) {
  const auto* list = value.As<AttrList>();
  const absl::Span<const AttrValue> items =
      list == nullptr ? absl::Span<const AttrValue>(&value, 1)
                      : absl::Span<const AttrValue>(*list);
  std::vector<PrimExpr> result;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto* number = items[i].As<int64_t>();
    if (number == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected integers for ", name));
    }
    BATON_ASSIGN_OR_RETURN(
        PrimExpr constant,
        ConstantOf(i < like.size() ? like[i].dtype() : kInt32, *number, name));
    result.push_back(std::move(constant));
  }
  return result;
}

// The buffer `own` with the parts that `value` gives it.
absl::StatusOr<PrimExpr> BufferFor(const Buffer& own, const AttrValue& value) {
  BufferNode::Parts parts = own->parts();
  const auto* map = value.As<AttrMap>();
  const AttrMap only_shape = {{"shape", value}};
  for (const auto& [key, part] : map == nullptr ? only_shape : *map) {
    if (key == "shape") {
      BATON_ASSIGN_OR_RETURN(parts.shape,
                             Numbers(part, own->shape(), own->name()));
    } else if (key == "strides") {
      BATON_ASSIGN_OR_RETURN(parts.strides,
                             Numbers(part, own->strides(), own->name()));
    } else if (key == "elem_offset" && part.As<int64_t>() != nullptr) {
      BATON_ASSIGN_OR_RETURN(parts.elem_offset,
                             ConstantOf(own->elem_offset().dtype(),
                                        *part.As<int64_t>(), own->name()));
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("a buffer has no integer `", key,
                       "`: known are shape, strides and elem_offset"));
    }
  }
  return Buffer(std::move(parts), own->span());
}

absl::StatusOr<ParamValue> ValueOf(const PrimFunc& function,
                                   absl::string_view name,
                                   const AttrValue& value) {
  std::vector<std::string> names;
  for (size_t i = 0; i < function->params().size(); ++i) {
    const Var& param = function->params()[i];
    const Buffer buffer = function->BufferOf(static_cast<int>(i));
    names.push_back(buffer.defined() ? buffer->name() : param->name());
    if (param->name() != name && names.back() != name) continue;
    ParamValue result = {param, {}};
    if (buffer.defined()) {
      BATON_ASSIGN_OR_RETURN(result.value, BufferFor(buffer, value));
      return result;
    }
    const auto* number = value.As<int64_t>();
    if (number == nullptr || !param.dtype().is_integral()) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected an integer for the integer ", name));
    }
    BATON_ASSIGN_OR_RETURN(result.value,
                           ConstantOf(param.dtype(), *number, name));
    return result;
  }
  return ErrorAt(function->span(),
                 absl::StrCat("the function has no parameter `", name, "`",
                              DidYouMean(name, names)));
}

}  // namespace

absl::StatusOr<PrimFunc> Specialized(const PrimFunc& function,
                                     absl::Span<const ParamValue> values) {
  Values all(function);
  for (const ParamValue& value : values) {
    BATON_RETURN_IF_ERROR(all.Add(value));
  }
  BATON_RETURN_IF_ERROR(all.Check());
  return all.empty() ? function : Specializer(all).Run(function);
}

Pass Specialize(SpecializeOptions options) {
  return CreateModulePass(
      [options](IRModule module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        if (options.params.empty()) return module;
        BATON_ASSIGN_OR_RETURN(const PrimFunc function,
                               module.Lookup<PrimFunc>(options.function));
        std::vector<ParamValue> values;
        for (const auto& [name, value] : options.params) {
          BATON_ASSIGN_OR_RETURN(ParamValue given,
                                 ValueOf(function, name, value));
          values.push_back(std::move(given));
        }
        BATON_ASSIGN_OR_RETURN(PrimFunc result, Specialized(function, values));
        const auto calls = [&](const std::string& name) {
          return name == options.function;
        };
        const bool loses_params =
            result->params().size() < function->params().size();
        for (const IRModule::Definition& other : module.functions()) {
          if (loses_params && AnyGlobalReference(other.function, calls)) {
            return ErrorAt(
                other.function->span(),
                absl::StrCat("@", other.var->name(), " calls @",
                             options.function, ", which loses parameters"));
          }
        }
        module.Set(options.function, std::move(result));
        return module;
      },
      {.name = "tir.Specialize",
       .doc = "Gives parameters of a function their values.",
       .waivers = {{"runs", "Refuses names that are no parameters."},
                   {"values", "The function gets other parameters."}},
       .examples = {"params={A:[16]}"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.Specialize", Specialize);

}  // namespace baton::tir
