#include "baton/tir/schedule/edit.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

Var CopyVar(const Var& var, absl::string_view suffix, DType dtype) {
  return Var(new VarNode(absl::StrCat(var->name(), suffix), dtype,
                         var->is_size(), var->typed_pointer(), var->element(),
                         var->scope(), var->span()));
}

Var CopyVar(const Var& var, absl::string_view suffix) {
  return CopyVar(var, suffix, var.dtype());
}

Stmt FlatSeq(const std::vector<Stmt>& seq) {
  std::vector<Stmt> flat;
  for (const Stmt& stmt : seq) AppendFlattened(stmt, flat);
  return MakeSeq(std::move(flat));
}

std::vector<Stmt> SeqOf(const Stmt& stmt) {
  if (const auto* seq = stmt.As<SeqStmtNode>()) {
    return {seq->seq().begin(), seq->seq().end()};
  }
  return {stmt};
}

std::vector<Stmt> TakeDefinitions(Stmt& body) {
  std::vector<Stmt> definitions;
  while (true) {
    if (const auto* constant = body.As<AllocateConstNode>()) {
      definitions.push_back(body);
      body = Stmt(constant->body());
    } else if (const auto* declaration = body.As<DeclBufferNode>()) {
      definitions.push_back(body);
      body = Stmt(declaration->body());
    } else {
      return definitions;
    }
  }
}

Stmt AroundDefinitions(absl::Span<const Stmt> definitions, Stmt body) {
  for (auto it = definitions.rbegin(); it != definitions.rend(); ++it) {
    if (const auto* node = it->As<AllocateConstNode>()) {
      body = AllocateConst(node->var(), node->dtype(),
                           {node->extents().begin(), node->extents().end()},
                           node->data(), node->annotations(), std::move(body),
                           node->span());
    } else if (const auto* node = it->As<DeclBufferNode>()) {
      body = DeclBuffer(node->buffer(), std::move(body), node->span());
    }
  }
  return body;
}

Dict WithAnnotation(const Dict& annotations, absl::string_view key,
                    PrimExpr value) {
  std::vector<Dict::Entry> entries = annotations.Entries();
  entries.push_back({std::string(key), std::move(value)});
  return Dict::Of(std::move(entries));
}

Dict WithoutAnnotation(const Dict& annotations, absl::string_view key) {
  std::vector<Dict::Entry> entries = annotations.Entries();
  std::erase_if(entries,
                [key](const Dict::Entry& entry) { return entry.first == key; });
  return Dict::Of(std::move(entries));
}

For SerialLoop(const Var& var, const PrimExpr& min, const PrimExpr& extent,
               Stmt body) {
  // Constants have the type of the variable.
  const auto promoted = [&var](const PrimExpr& e) {
    const auto* imm = e.As<IntImmNode>();
    return imm == nullptr ? e : IntImm(var.dtype(), imm->value());
  };
  return For({.loop_var = var,
              .min = promoted(min),
              .extent = promoted(extent),
              .kind = ForKind::kSerial,
              .thread = {},
              .annotations = {},
              .body = std::move(body)});
}

Stmt WithBody(const ForNode* loop, Stmt body) {
  ForNode::Parts parts = loop->parts();
  parts.body = std::move(body);
  return For(std::move(parts), loop->span());
}

Range PointRange(const PrimExpr& index) {
  return {index, IntImm(index.dtype(), 1)};
}

BufferRegion PointRegion(const Buffer& buffer,
                         absl::Span<const PrimExpr> indices) {
  std::vector<Range> region;
  for (const PrimExpr& index : indices) {
    if (const auto* ramp = index.As<RampNode>()) {
      region.push_back(
          {ramp->base(), IntImm(ramp->base().dtype(), ramp->lanes())});
    } else {
      region.push_back(PointRange(index));
    }
  }
  return BufferRegion(buffer, std::move(region));
}

BufferRegion RegionOf(absl::Span<const BufferRegion> regions,
                      const Buffer& buffer) {
  for (const BufferRegion& region : regions) {
    if (region->buffer() == buffer) return region;
  }
  return {};
}

Buffer WithScope(const Buffer& buffer, absl::string_view scope) {
  BufferNode::Parts parts = buffer->parts();
  parts.data = Var::Pointer(
      absl::StrCat(parts.data->name(), "_", scope),
      parts.data->typed_pointer() ? parts.data->element() : parts.dtype,
      std::string(scope));
  parts.name = absl::StrCat(parts.name, "_", scope);
  return Buffer(std::move(parts));
}

Buffer WithDType(const Buffer& buffer, DType dtype) {
  BufferNode::Parts parts = buffer->parts();
  parts.data = Var::Pointer(parts.data->name(), dtype, parts.data->scope());
  parts.dtype = dtype;
  return Buffer(std::move(parts));
}

std::vector<BufferRegion> ReplaceBuffer(absl::Span<const BufferRegion> regions,
                                        const Buffer& source,
                                        const Buffer& target) {
  std::vector<BufferRegion> result(regions.begin(), regions.end());
  for (BufferRegion& region : result) {
    if (region->buffer() != source) continue;
    region =
        BufferRegion(target, {region->region().begin(), region->region().end()},
                     region->span());
  }
  return result;
}

std::vector<MatchRegion> ReplaceBuffer(absl::Span<const MatchRegion> matches,
                                       const Buffer& source,
                                       const Buffer& target) {
  std::vector<MatchRegion> result(matches.begin(), matches.end());
  for (MatchRegion& match : result) {
    const BufferRegion& region = match->source();
    if (region->buffer() != source) continue;
    match = MatchRegion(match->buffer(),
                        BufferRegion(target, {region->region().begin(),
                                              region->region().end()}),
                        match->span());
  }
  return result;
}

std::vector<BufferRegion> ReplaceRegion(absl::Span<const BufferRegion> regions,
                                        const Buffer& source,
                                        const BufferRegion& target) {
  std::vector<BufferRegion> result(regions.begin(), regions.end());
  for (BufferRegion& region : result) {
    if (region->buffer() == source) region = target;
  }
  return result;
}

PrimExpr BufferReplacer::VisitVar(const VarNode* var) {
  const auto it = buffers_.find(var);
  if (it == buffers_.end()) return Var(var);
  return it->second->data();
}

Buffer BufferReplacer::RewriteBuffer(const Buffer& buffer) {
  const auto it = buffers_.find(buffer->data().get());
  return it == buffers_.end() ? buffer : it->second;
}

PrimExpr BufferReplacer::VisitMatchRegion(const MatchRegionNode* match) {
  const auto it = buffers_.find(match->source()->buffer()->data().get());
  if (it == buffers_.end()) return MatchRegion(match);
  const Buffer new_source = it->second;
  const Buffer matched = MatchedBuffer(match->buffer(), new_source);
  if (matched != match->buffer()) {
    buffers_[match->buffer()->data().get()] = matched;
  }
  return MatchRegion(
      matched,
      BufferRegion(new_source, {match->source()->region().begin(),
                                match->source()->region().end()}),
      match->span());
}

}  // namespace baton::tir
