// Describes the remarks of passes, for lists of passes.
//
//   BATON_REGISTER_REMARKS("FuseOps",
//                          {.passed = "a group became one function",
//                           .missed = "why a call was not fused with its use"});

#ifndef BATON_IR_REMARK_DOCS_H_
#define BATON_IR_REMARK_DOCS_H_

#include "baton/base/macros.h"
#include "baton/base/registry.h"

namespace baton {

// A clause for each kind of remark (ir/pass_log.h) that a pass emits; empty for
// the others.
struct RemarkDocs {
  const char* passed = "";
  const char* missed = "";
  const char* analysis = "";
};

// By the name of the pass.
Registry<RemarkDocs>& RemarkDocsOfPasses();

#define BATON_REGISTER_REMARKS(pass, ...)               \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_remark_registration_) =                     \
      ::baton::RemarkDocsOfPasses().Register(pass,      \
                                             ::baton::RemarkDocs(__VA_ARGS__))

}  // namespace baton

#endif  // BATON_IR_REMARK_DOCS_H_
