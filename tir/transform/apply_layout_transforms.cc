#include "baton/tir/transform/apply_layout_transforms.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/index_map.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/script_reader.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr absl::string_view kLayoutTransforms = "layout_transforms";

using Maps = std::vector<IndexMap>;

// A map, as a node or as the text of a lambda.
absl::StatusOr<IndexMap> MapOf(const PrimExpr& e, const Span& span) {
  if (const auto* map = e.As<IndexMapNode>()) return IndexMap(map);
  const auto* text = e.As<StringImmNode>();
  if (text == nullptr) {
    return ErrorAt(span, "a layout is a list of maps of indices");
  }
  const absl::StatusOr<PrimExpr> parsed =
      ParseScriptExpr(absl::StrCat("T.index_map(", text->value(), ")"), {});
  if (!parsed.ok()) {
    return ErrorAt(span, absl::StrCat("the layout `", text->value(),
                                      "` is no map of indices: ",
                                      parsed.status().message()));
  }
  return IndexMap(parsed->As<IndexMapNode>());
}

absl::StatusOr<Maps> MapsOf(const PrimExpr& list, const Span& span) {
  const auto* node = list.defined() ? list.As<ListNode>() : nullptr;
  if (node == nullptr) {
    return ErrorAt(span, "a layout is a list of maps of indices");
  }
  Maps maps;
  for (const PrimExpr& item : node->items()) {
    BATON_ASSIGN_OR_RETURN(IndexMap map, MapOf(item, span));
    maps.push_back(std::move(map));
  }
  return maps;
}

// The layouts of the buffers of a function.
class Layouts final : public Visitor {
 public:
  absl::Status Find(const PrimFunc& function) {
    for (const Buffer& buffer : function->buffers()) AddBuffer(buffer);
    Visit(function->body());
    BATON_RETURN_IF_ERROR(status_);
    const AttrValue* attr = function->attrs().Find(kLayoutTransformMapAttr);
    if (attr == nullptr) return absl::OkStatus();
    const PrimExpr value = ExprOfAttr(*attr);
    const auto* dict = value.defined() ? value.As<DictNode>() : nullptr;
    if (dict == nullptr) {
      return ErrorAt(function->span(),
                     absl::StrCat("the attribute ", kLayoutTransformMapAttr,
                                  " is no dictionary of lists of maps"));
    }
    for (size_t i = 0; i < dict->keys().size(); ++i) {
      const std::string& name = dict->keys()[i];
      const auto found = by_name_.find(name);
      if (found == by_name_.end() || found->second.size() != 1) {
        return ErrorAt(
            function->span(),
            absl::StrCat(
                "the attribute ", kLayoutTransformMapAttr, " names ", name,
                ", and ",
                found == by_name_.end() ? "no buffer" : "more than one buffer",
                " of parameters or of T.realize has this name"));
      }
      BATON_ASSIGN_OR_RETURN(Maps maps,
                             MapsOf(dict->values()[i], function->span()));
      maps_[found->second[0].get()] = std::move(maps);
    }
    return absl::OkStatus();
  }

  // Null if the buffer keeps its layout.
  const Maps* Of(const BufferNode* buffer) const { return maps_.Find(buffer); }
  bool empty() const { return maps_.empty() && !has_statements_; }
  // True for buffers of parameters and realized ones.
  bool HasMemory(const BufferNode* buffer) const {
    return known_.Contains(buffer);
  }

  // The buffer and the list of maps of a statement `layout_transforms`; null
  // otherwise.
  static const ListNode* Subject(const AttrStmtNode* node) {
    return node->key() == kLayoutTransforms ? node->node().As<ListNode>()
                                            : nullptr;
  }

 protected:
  void VisitBufferRealize(const BufferRealizeNode* node) override {
    AddBuffer(node->buffer());
    Visitor::VisitBufferRealize(node);
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    if (const ListNode* subject = Subject(node)) {
      has_statements_ = true;
      const auto* buffer = subject->items().size() == 2
                               ? subject->items()[0].As<BufferNode>()
                               : nullptr;
      absl::StatusOr<Maps> maps =
          buffer == nullptr
              ? ErrorAt(node->span(),
                        "a layout is of [BUFFER, [T.index_map(...), ...]]")
              : MapsOf(subject->items()[1], node->span());
      if (!maps.ok()) {
        if (status_.ok()) status_ = maps.status();
        return;
      }
      maps_[buffer] = *std::move(maps);
    }
    Visitor::VisitAttrStmt(node);
  }

 private:
  void AddBuffer(const Buffer& buffer) {
    if (known_.Insert(buffer.get())) by_name_[buffer->name()].push_back(buffer);
  }

  NodeMap<Maps> maps_;
  NodeSet known_;
  FlatHashMap<std::string, std::vector<Buffer>> by_name_;
  bool has_statements_ = false;
  absl::Status status_;
};

class LayoutApplier final : public Rewriter {
 public:
  explicit LayoutApplier(const Layouts& layouts) : layouts_(layouts) {}

  absl::StatusOr<PrimFunc> Run(const PrimFunc& function) {
    PrimFuncNode::Parts parts = function->parts();
    for (ParamBuffer& param : parts.buffers) {
      param.buffer = RewriteBuffer(param.buffer);
    }
    parts.body = Rewrite(function->body());
    BATON_RETURN_IF_ERROR(status_);
    parts.attrs = parts.attrs.Without(kLayoutTransformMapAttr);
    return PrimFunc(std::move(parts), function->span());
  }

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (Layouts::Subject(node) != nullptr) return Rewrite(node->body());
    const Stmt visited = Rewriter::VisitAttrStmt(node);
    const auto* attr = visited.As<AttrStmtNode>();
    const auto* buffer = attr->node().As<BufferNode>();
    if (buffer == nullptr || layouts_.Of(buffer) == nullptr) return visited;
    return AttrStmt(RewriteBuffer(Buffer(buffer)), attr->key(), attr->value(),
                    attr->body(), attr->span());
  }
  Stmt VisitBufferRealize(const BufferRealizeNode* node) override {
    const Maps* maps = layouts_.Of(node->buffer().get());
    if (maps == nullptr) return Rewriter::VisitBufferRealize(node);
    std::vector<Range> bounds = {node->bounds().begin(), node->bounds().end()};
    RewriteAll(bounds);
    for (const IndexMap& map : *maps) {
      absl::StatusOr<std::vector<Range>> mapped =
          MapRanges(map, bounds, analyzer_);
      if (!mapped.ok()) return Fail(mapped.status(), node);
      bounds = *std::move(mapped);
    }
    return BufferRealize(RewriteBuffer(node->buffer()), std::move(bounds),
                         Rewrite(node->condition()), Rewrite(node->body()),
                         node->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Maps* maps = layouts_.Of(node->buffer().get());
    if (maps == nullptr) return Rewriter::VisitBufferStore(node);
    PrimExpr value = Rewrite(node->value());
    return BufferStore(RewriteBuffer(node->buffer()), std::move(value),
                       Mapped(*maps, node), node->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    const Maps* maps = layouts_.Of(node->buffer().get());
    if (maps == nullptr) return Rewriter::VisitBufferLoad(node);
    return BufferLoad(RewriteBuffer(node->buffer()), Mapped(*maps, node),
                      node->span());
  }
  PrimExpr VisitBufferRegion(const BufferRegionNode* node) override {
    Refuse(node->buffer(), node->span());
    return Rewriter::VisitBufferRegion(node);
  }
  Stmt VisitPrefetch(const PrefetchNode* node) override {
    Refuse(node->buffer(), node->span());
    return Rewriter::VisitPrefetch(node);
  }
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Maps* maps = layouts_.Of(buffer.get());
    if (maps == nullptr) return buffer;
    if (const Buffer* known = buffers_.Find(buffer)) return *known;
    buffers_.Set(buffer, buffer);
    if (!layouts_.HasMemory(buffer.get()) || !buffer->strides().empty()) {
      Fail(ErrorAt(buffer->span(),
                   absl::StrCat("the layout of buffer ", buffer->name(),
                                " cannot be changed: ",
                                buffer->strides().empty()
                                    ? "it is neither of a parameter nor of "
                                      "T.realize"
                                    : "it has strides")));
      return buffer;
    }
    BufferNode::Parts parts = buffer->parts();
    for (const IndexMap& map : *maps) {
      absl::StatusOr<std::vector<PrimExpr>> shape =
          MapShape(map, parts.shape, analyzer_);
      if (!shape.ok()) {
        Fail(shape.status());
        return buffer;
      }
      parts.shape = *std::move(shape);
    }
    Buffer result(std::move(parts), buffer->span());
    buffers_.Set(buffer, result);
    return result;
  }

 private:
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  Stmt Fail(absl::Status status, const StmtNode* node) {
    Fail(std::move(status));
    return Stmt(node);
  }
  void Refuse(const Buffer& buffer, const Span& span) {
    if (layouts_.Of(buffer.get()) == nullptr) return;
    Fail(ErrorAt(span, absl::StrCat("the layout of buffer ", buffer->name(),
                                    " cannot be changed: a region of it is "
                                    "named here")));
  }

  // The indices of a load or store in the new layout.
  template <typename Access>
  std::vector<PrimExpr> Mapped(const Maps& maps, const Access* access) {
    std::vector<PrimExpr> indices = {access->indices().begin(),
                                     access->indices().end()};
    RewriteAll(indices);
    for (const IndexMap& map : maps) {
      absl::StatusOr<std::vector<PrimExpr>> mapped =
          MapIndices(map, indices, analyzer_);
      if (!mapped.ok()) {
        Fail(mapped.status());
        return indices;
      }
      indices = *std::move(mapped);
    }
    if (!KeepsLanes(access->indices(), indices)) {
      Fail(ErrorAt(
          access->span(),
          absl::StrCat("the layout of buffer ", access->buffer()->name(),
                       " cannot be changed: the vector of this access "
                       "would not be along the last axis")));
    }
    return indices;
  }

  const Layouts& layouts_;
  BufferMap buffers_;
  Analyzer analyzer_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<PrimFunc> WithLayoutsApplied(const PrimFunc& function) {
  Layouts layouts;
  BATON_RETURN_IF_ERROR(layouts.Find(function));
  if (layouts.empty() &&
      function->attrs().Find(kLayoutTransformMapAttr) == nullptr) {
    return function;
  }
  return LayoutApplier(layouts).Run(function);
}

Pass ApplyLayoutTransforms() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return WithLayoutsApplied(function);
      },
      {.name = "tir.ApplyLayoutTransforms",
       .doc = "Stores buffers in the layouts that a schedule of tensor "
              "expressions gives them.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.ApplyLayoutTransforms", ApplyLayoutTransforms);

}  // namespace baton::tir
