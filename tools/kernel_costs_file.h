// Reads the table of a flag --kernel_costs.

#ifndef BATON_TOOLS_KERNEL_COSTS_FILE_H_
#define BATON_TOOLS_KERNEL_COSTS_FILE_H_

#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/kernel_costs.h"

namespace baton {

// Reads a table of costs (backend/cpu/kernel_costs.h). If the table does not have
// all rows, writes a line that names them to `notes`, unless that is null, after
// the name of the program that reads it. Errors have the place in the file.
absl::StatusOr<std::shared_ptr<const cpu::KernelCosts>> ReadKernelCosts(
    const std::string& path, std::ostream* notes, absl::string_view program);

}  // namespace baton

#endif  // BATON_TOOLS_KERNEL_COSTS_FILE_H_
