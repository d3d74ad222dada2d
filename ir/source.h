// Source text and places in it, for diagnostics.

#ifndef BATON_IR_SOURCE_H_
#define BATON_IR_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/ir/node.h"

namespace baton {

// A named text: a file, standard input, a string in a test.
class Source {
 public:
  // `first_line`: the number of the first line, if `text` is a part of
  // something longer.
  Source(std::string name, std::string text, int first_line = 1);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

  struct Position {
    int line;    // from the first line's number
    int column;  // from 1, in bytes
  };
  Position PositionOf(int64_t offset) const;
  // The line of that number without its line feed; empty if there is none.
  absl::string_view Line(int line) const;

 private:
  std::string name_;
  std::string text_;
  int first_line_;
  std::vector<int64_t> line_starts_;
};

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

#endif  // BATON_IR_SOURCE_H_
