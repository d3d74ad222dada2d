#include "baton/tir/ir/stmt.h"

#include <utility>
#include <vector>

#include "baton/tir/ir/expr.h"

namespace baton::tir {

Stmt MakeSeq(std::vector<Stmt> seq) {
  if (seq.empty()) return Evaluate(IntImm(kInt32, 0));
  if (seq.size() == 1) return std::move(seq[0]);
  return SeqStmt(std::move(seq));
}

BlockNode::BlockNode(Parts parts, Span span)
    : StmtNode(kKind, std::move(span)),
      iter_vars_(std::move(parts.iter_vars)),
      alloc_buffers_(std::move(parts.alloc_buffers)),
      match_buffers_(std::move(parts.match_buffers)),
      reads_(std::move(parts.reads)),
      writes_(std::move(parts.writes)),
      annotations_(std::move(parts.annotations)),
      init_(std::move(parts.init)),
      body_(std::move(parts.body)),
      name_(std::move(parts.name)) {
  for (const Buffer& buffer : alloc_buffers_) {
    AppendDefinedVars(buffer, defined_);
  }
  for (const MatchRegion& match : match_buffers_) {
    AppendDefinedVars(match->buffer(), defined_);
  }
}

BlockNode::Parts BlockNode::parts() const {
  return {.name = name_,
          .iter_vars = iter_vars_,
          .reads = reads_,
          .writes = writes_,
          .alloc_buffers = alloc_buffers_,
          .match_buffers = match_buffers_,
          .annotations = annotations_,
          .init = init_,
          .body = body_};
}

}  // namespace baton::tir
