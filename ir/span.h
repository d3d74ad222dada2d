// Where in a source text a node comes from, for diagnostics.

#ifndef BATON_IR_SPAN_H_
#define BATON_IR_SPAN_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "baton/base/source.h"
#include "baton/ir/node.h"

namespace baton {

// A stretch of a source, `[begin, end)` in bytes.
class SpanNode : public Node {
 public:
  using Handle = class Span;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kSpan;
  }
  SpanNode(std::shared_ptr<const Source> source, int64_t begin, int64_t end)
      : Node(NodeKind::kSpan),
        source_(std::move(source)),
        begin_(begin),
        end_(end) {}

  const Source& source() const { return *source_; }
  const std::shared_ptr<const Source>& shared_source() const { return source_; }
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }

 private:
  friend class internal::ChildSink;
  friend void internal::DestroyGraph(const Node* node);

  std::shared_ptr<const Source> source_;
  int64_t begin_;
  int64_t end_;
};

// Null where a node comes from no text.
class Span : public NodeRef {
 public:
  BATON_HANDLE(Span, NodeRef, SpanNode)
  Span(std::shared_ptr<const Source> source, int64_t begin, int64_t end)
      : NodeRef(new SpanNode(std::move(source), begin, end)) {}
};

}  // namespace baton

#endif  // BATON_IR_SPAN_H_
