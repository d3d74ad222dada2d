#include "baton/relay/transform/strip_compiler_attrs.h"

#include "absl/strings/string_view.h"
#include "baton/ir/attrs.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/code_generator.h"

namespace baton::relay {

DictAttrs StripCompilerAttrs(DictAttrs attrs) {
  for (const absl::string_view name :
       {attr::kPrimitive, attr::kComposite, attr::kCompiler, attr::kExtern,
        attr::kGlobalSymbol, attr::kArtifactName, attr::kArtifact}) {
    attrs = attrs.Without(name);
  }
  return attrs;
}

}  // namespace baton::relay
