#include "baton/tir/ir/expr.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"

namespace baton::tir {

absl::string_view BinaryOpName(BinaryOp op) {
  constexpr absl::string_view kNames[] = {
      "Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max",
      "EQ",  "NE",  "LT",  "LE",  "GT",  "GE",       "And",      "Or"};
  return kNames[static_cast<int>(op)];
}

absl::string_view IterVarTypeName(IterVarType type) {
  constexpr absl::string_view kNames[] = {
      "DataPar",  "ThreadIndex", "CommReduce",   "Ordered",   "Opaque",
      "Unrolled", "Vectorized",  "Parallelized", "Tensorized"};
  return kNames[static_cast<int>(type)];
}

Binary::Binary(BinaryOp op, PrimExpr a, PrimExpr b, Span span) {
  const DType dtype =
      IsLogical(op) ? WithLanes(DType::Bool(), a.dtype().lanes()) : a.dtype();
  *this = Binary(
      new BinaryNode(op, dtype, std::move(a), std::move(b), std::move(span)));
}

Shuffle::Shuffle(std::vector<PrimExpr> vectors, std::vector<PrimExpr> indices,
                 Span span) {
  const DType dtype =
      WithLanes(vectors[0].dtype(), static_cast<int>(indices.size()));
  *this = Shuffle(new ShuffleNode(std::move(vectors), std::move(indices), dtype,
                                  std::move(span)));
}

BufferNode::BufferNode(Parts parts, Span span)
    : PrimExprNode(kKind, parts.dtype, std::move(span)),
      buffer_kind_(parts.kind),
      data_(std::move(parts.data)),
      shape_(std::move(parts.shape)),
      strides_(std::move(parts.strides)),
      elem_offset_(std::move(parts.elem_offset)),
      axis_separators_(std::move(parts.axis_separators)),
      alignment_(parts.alignment <= 0 ? kDefaultAlignment : parts.alignment),
      offset_factor_(parts.offset_factor == 0 ? 1 : parts.offset_factor),
      name_(std::move(parts.name)) {
  if (!elem_offset_.defined()) {
    elem_offset_ = IntImm(shape_.empty() ? kInt32 : shape_[0].dtype(), 0);
  }
}

absl::Status ExpectPart(const Expr& part, absl::string_view field) {
  if (part.defined()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": it is missing"));
}

absl::Status BufferNode::Derive(BufferNode& node) {
  if (absl::Status status = ExpectPart(node.data_, "data"); !status.ok()) {
    return status;
  }
  return ExpectPart(node.elem_offset_, "elem_offset");
}

absl::string_view BufferNode::scope() const {
  return data_->scope().empty() ? absl::string_view("global")
                                : absl::string_view(data_->scope());
}

BufferNode::Parts BufferNode::parts() const {
  return {.name = name_,
          .data = data_,
          .dtype = dtype(),
          .shape = shape_,
          .strides = strides_,
          .elem_offset = elem_offset_,
          .axis_separators = axis_separators_,
          .alignment = alignment_,
          .offset_factor = offset_factor_,
          .kind = buffer_kind_};
}

void AppendDefinedVars(const Buffer& buffer, std::vector<Var>& vars) {
  const auto add = [&vars](const PrimExpr& e) {
    const auto* var = e.As<VarNode>();
    if (var == nullptr) return;
    const Var handle(var);
    if (std::find(vars.begin(), vars.end(), handle) == vars.end()) {
      vars.push_back(handle);
    }
  };
  add(buffer->data());
  for (const PrimExpr& extent : buffer->shape()) add(extent);
  for (const PrimExpr& stride : buffer->strides()) add(stride);
  add(buffer->elem_offset());
}

DType AccessDType(const Buffer& buffer, absl::Span<const PrimExpr> indices) {
  const int lanes = indices.empty() ? 1 : indices.back().dtype().lanes();
  return WithLanes(buffer.dtype(), buffer.dtype().lanes() * lanes);
}

BufferLoad::BufferLoad(Buffer buffer, std::vector<PrimExpr> indices,
                       Span span) {
  const DType dtype = AccessDType(buffer, indices);
  *this = BufferLoad(new BufferLoadNode(std::move(buffer), std::move(indices),
                                        dtype, std::move(span)));
}

Reduce::Reduce(CommReducer combiner, std::vector<PrimExpr> source,
               std::vector<PrimExpr> init, std::vector<IterVar> axis,
               PrimExpr condition, int64_t value_index, Span span) {
  const DType dtype = source[static_cast<size_t>(value_index)].dtype();
  *this = Reduce(new ReduceNode(
      std::move(combiner), std::move(source), std::move(init), std::move(axis),
      std::move(condition), value_index, dtype, std::move(span)));
}

absl::Status CommReducerNode::Derive(CommReducerNode& node) {
  const size_t size = node.lhs_.size();
  if (node.rhs_.size() == size && node.result_.size() == size &&
      node.identity_.size() == size) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("rhs: the lists have several lengths");
}

absl::Status ReduceNode::Derive(ReduceNode& node) {
  if (node.value_index_ >= 0 &&
      static_cast<size_t>(node.value_index_) < node.source_.size()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("value_index: there is no such source");
}

absl::Status DictNode::Derive(DictNode& node) {
  if (node.keys_.size() != node.values_.size()) {
    return absl::InvalidArgumentError("values: there is not one for each key");
  }
  for (size_t i = 1; i < node.keys_.size(); ++i) {
    if (node.keys_[i - 1] >= node.keys_[i]) {
      return absl::InvalidArgumentError("keys: they are not sorted");
    }
  }
  return absl::OkStatus();
}

PrimExpr DictNode::Find(absl::string_view key) const {
  const auto found = std::lower_bound(keys_.begin(), keys_.end(), key);
  if (found == keys_.end() || *found != key) return {};
  return values_[static_cast<size_t>(found - keys_.begin())];
}

Dict Dict::Of(std::vector<Entry> entries, Span span) {
  return entries.empty() ? Dict() : OfAll(std::move(entries), std::move(span));
}

Dict Dict::OfAll(std::vector<Entry> entries, Span span) {
  std::stable_sort(
      entries.begin(), entries.end(),
      [](const Entry& a, const Entry& b) { return a.first < b.first; });
  std::vector<std::string> keys;
  std::vector<PrimExpr> values;
  for (Entry& entry : entries) {
    if (!keys.empty() && keys.back() == entry.first) {
      values.back() = std::move(entry.second);
      continue;
    }
    keys.push_back(std::move(entry.first));
    values.push_back(std::move(entry.second));
  }
  return Dict(
      new DictNode(std::move(keys), std::move(values), std::move(span)));
}

std::vector<Dict::Entry> Dict::Entries() const {
  std::vector<Entry> entries;
  if (!defined()) return entries;
  const DictNode& dict = *get();
  entries.reserve(dict.keys().size());
  for (size_t i = 0; i < dict.keys().size(); ++i) {
    entries.emplace_back(dict.keys()[i], dict.values()[i]);
  }
  return entries;
}

bool IsConst(const PrimExpr& e, int64_t value) {
  const auto* imm = e.As<IntImmNode>();
  return imm != nullptr && imm->value() == value;
}

}  // namespace baton::tir
