// Writes constants as an ELF64 relocatable file, which a linker takes like a
// compiled source: weights never pass through a compiler.
//
//   ElfObject object;
//   object.machine = ElfMachine::kX86_64;
//   object.constants = {{"mlp_weights", bytes}};
//   BATON_RETURN_IF_ERROR(WriteElfObject(object, append));
//
// The constants are in one section that is read-only and shared by processes:
// `.rodata`, or on x86-64 from `large_bytes` on `.lrodata`, which code of the
// small model does not have to reach. Equal constants give equal bytes.

#ifndef BATON_TIR_CODEGEN_ELF_OBJECT_H_
#define BATON_TIR_CODEGEN_ELF_OBJECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace baton::tir {

enum class ElfMachine { kX86_64, kAArch64 };

// A global symbol and its contents, aligned to ElfObject::kAlignment.
struct ElfConstant {
  std::string symbol;
  // The pieces of the contents, one after another, which must outlive the
  // object. Each begins at a multiple of kAlignment from the symbol.
  std::vector<absl::string_view> pieces;
};

struct ElfObject {
  static constexpr int64_t kAlignment = 64;
  ElfMachine machine = ElfMachine::kX86_64;
  std::vector<ElfConstant> constants;
  // Sections of that many bytes and more are large ones.
  int64_t large_bytes = int64_t{1} << 30;
};

// Calls `append` with parts of the file, in order. Fails where a symbol is
// empty, has a NUL, or is given twice, and where `append` fails.
absl::Status WriteElfObject(
    const ElfObject& object,
    absl::FunctionRef<absl::Status(absl::string_view)> append);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_ELF_OBJECT_H_
