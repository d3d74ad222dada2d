// Makes nodes that steps of schedules need from existing ones.

#ifndef BATON_TIR_SCHEDULE_EDIT_H_
#define BATON_TIR_SCHEDULE_EDIT_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// Another variable of the same type; `dtype`, if given, replaces the type.
Var CopyVar(const Var& var, absl::string_view suffix);
Var CopyVar(const Var& var, absl::string_view suffix, DType dtype);

// A statement for all of `seq`, nested sequences taken apart.
Stmt FlatSeq(const std::vector<Stmt>& seq);
// The statements of a sequence; else the statement alone.
std::vector<Stmt> SeqOf(const Stmt& stmt);

// TakeDefinitions() removes the constants and the declarations of buffers at
// the begin of `body` and returns them; AroundDefinitions() nests `body` in
// them.
std::vector<Stmt> TakeDefinitions(Stmt& body);
Stmt AroundDefinitions(absl::Span<const Stmt> definitions, Stmt body);

Dict WithAnnotation(const Dict& annotations, absl::string_view key,
                    PrimExpr value);
Dict WithoutAnnotation(const Dict& annotations, absl::string_view key);

// A serial loop from 0.
For SerialLoop(const Var& var, const PrimExpr& min, const PrimExpr& extent,
               Stmt body);
Stmt WithBody(const ForNode* loop, Stmt body);

// The region of one element.
BufferRegion PointRegion(const Buffer& buffer,
                         absl::Span<const PrimExpr> indices);
Range PointRange(const PrimExpr& index);
// The only region of `buffer` in `regions`; null if there is none.
BufferRegion RegionOf(absl::Span<const BufferRegion> regions,
                      const Buffer& buffer);

// A buffer like `buffer` in another scope of memory or of another data type.
Buffer WithScope(const Buffer& buffer, absl::string_view scope);
Buffer WithDType(const Buffer& buffer, DType dtype);

// The regions and matches in which `target` replaces `source`.
std::vector<BufferRegion> ReplaceBuffer(absl::Span<const BufferRegion> regions,
                                        const Buffer& source,
                                        const Buffer& target);
std::vector<MatchRegion> ReplaceBuffer(absl::Span<const MatchRegion> matches,
                                       const Buffer& source,
                                       const Buffer& target);
std::vector<BufferRegion> ReplaceRegion(absl::Span<const BufferRegion> regions,
                                        const Buffer& source,
                                        const BufferRegion& target);

// Replaces buffers, and their pointers, by others.
class BufferReplacer : public Rewriter {
 public:
  BufferReplacer(const Buffer& old_buffer, const Buffer& new_buffer) {
    buffers_[old_buffer->data().get()] = new_buffer;
  }

 protected:
  PrimExpr VisitVar(const VarNode* var) override;
  Buffer RewriteBuffer(const Buffer& buffer) override;
  PrimExpr VisitMatchRegion(const MatchRegionNode* match) override;
  // The buffer that a block matches to a region of a replaced one.
  virtual Buffer MatchedBuffer(const Buffer& matched,
                               const Buffer& /*new_source*/) {
    return matched;
  }

  FlatHashMap<const VarNode*, Buffer> buffers_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_EDIT_H_
