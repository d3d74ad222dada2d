// Writes the generated pages into the source tree: ./bazelw run //docs:update

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/docs/generated_pages.h"
#include "baton/tools/files.h"

namespace baton {
namespace {

absl::Status Update(const std::string& root) {
  BATON_ASSIGN_OR_RETURN(const std::vector<docs::GeneratedPage> pages,
                         docs::GeneratedPages(root));
  for (const docs::GeneratedPage& page : pages) {
    const std::string path = absl::StrCat(root, "/docs/", page.name);
    const absl::StatusOr<FileContent> old = MapFile(path);
    if (old.ok() && old->bytes == page.text) continue;
    BATON_RETURN_IF_ERROR(WriteFileAtomically(path, page.text));
    std::cout << "docs/" << page.name << "\n";
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace baton

int main() {
  // Bazel says where the sources are.
  const char* root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (root == nullptr) {
    std::cerr << "run this as: ./bazelw run //docs:update\n";
    return 1;
  }
  const absl::Status status = baton::Update(root);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
