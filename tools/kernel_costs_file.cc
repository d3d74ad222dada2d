#include "baton/tools/kernel_costs_file.h"

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"

namespace baton {

absl::StatusOr<std::shared_ptr<const cpu::KernelCosts>> ReadKernelCosts(
    const std::string& path, std::ostream* notes, absl::string_view program) {
  BATON_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  BATON_ASSIGN_OR_RETURN(cpu::KernelCosts costs,
                         cpu::KernelCosts::Parse(text, path));
  if (!costs.missing().empty() && notes != nullptr) {
    *notes << program << ": " << path
           << " lacks rows, which are those of the built-in table: "
           << absl::StrJoin(costs.missing(), ", ") << "\n";
  }
  return std::make_shared<const cpu::KernelCosts>(std::move(costs));
}

}  // namespace baton
