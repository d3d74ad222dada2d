// Span: the place of a node in a source text, for diagnostics.

#ifndef BATON_IR_SPAN_H_
#define BATON_IR_SPAN_H_

#include <cstdint>
#include <memory>

#include "baton/base/source.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"

namespace baton {

// The bytes [begin, end) of a source.
class SpanNode : public Node {
 public:
  BATON_NODE(Span, Node, IrKind::kSpan)
  SpanNode(const std::shared_ptr<const Source>& source, int64_t begin,
           int64_t end)
      : Node(kKind), source_(source), begin_(begin), end_(end) {}

  const Source& source() const { return *source_; }
  const std::shared_ptr<const Source>& shared_source() const { return source_; }
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }

  static constexpr auto Fields() {
    return field::List(field::Data<0, &SpanNode::source_>("source"),
                       field::Data<0, &SpanNode::begin_>("begin"),
                       field::Data<0, &SpanNode::end_>("end"));
  }

 private:
  std::shared_ptr<const Source> source_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
};

// Null if the node has no source text.
class Span : public NodeRef {
 public:
  BATON_HANDLE(Span, NodeRef, SpanNode)
  Span(const std::shared_ptr<const Source>& source, int64_t begin, int64_t end)
      : NodeRef(new SpanNode(source, begin, end)) {}
};

}  // namespace baton

#endif  // BATON_IR_SPAN_H_
