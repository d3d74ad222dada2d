#include "baton/ir/remark_docs.h"

#include "baton/base/registry.h"

namespace baton {

Registry<RemarkDocs>& RemarkDocsOfPasses() {
  static auto& registry = *Registry<RemarkDocs>::NewGlobal("pass with remarks");
  return registry;
}

}  // namespace baton
