// Divides the bytes of a compiled object among the steps of the model that the
// object computes.
//
//   BATON_ASSIGN_OR_RETURN(CodeSizes sizes,
//                          CodeSizesOf(object, num_steps, steps_of));
//   // Of steps, of other code, and of the file's tables: all of the object.
//
// A function belongs to the steps that call it, and so do the functions and
// constants to which it refers. If several steps use them, their bytes are
// divided among these steps.

#ifndef BATON_BACKEND_LIBRARY_CODE_SIZES_H_
#define BATON_BACKEND_LIBRARY_CODE_SIZES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

struct CodeSizes {
  std::vector<int64_t> of_steps;
  // The bytes that belong to no step, by section: code that calls the steps and
  // that chooses the instruction set, functions that are not called, weights,
  // tables for debuggers and exceptions.
  std::vector<std::pair<std::string, int64_t>> of_sections;
  // Headers and tables of the file, for the linker.
  int64_t of_tables = 0;

  int64_t Total() const;
};

// `object`: the contents of an ELF file. `steps_of` returns the steps that a
// symbol belongs to; none for unknown symbols.
absl::StatusOr<CodeSizes> CodeSizesOf(
    absl::string_view object, size_t num_steps,
    absl::FunctionRef<std::vector<size_t>(absl::string_view symbol)> steps_of);

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_CODE_SIZES_H_
