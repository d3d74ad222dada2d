// Writes constants as an ELF64 relocatable file, which a linker takes like a
// compiled source: weights never pass through a compiler.
//
//   ElfObject object;
//   object.machine = ElfMachine::kX86_64;
//   object.constants = {{"mlp_weights", {bytes}}};
//   BATON_RETURN_IF_ERROR(WriteElfObject(object, append));
//
// The constants are in sections that are read-only and shared by processes:
// `.rodata`, or on x86-64 from `large_bytes` on `.lrodata`, which code of the
// small model does not have to reach. A mergeable constant has a section of its
// own, in a group with its symbol as the signature: a program that several
// objects with that group are linked to has one copy. A table has the addresses
// of constants; it is in `.data.rel.ro`. Equal objects give equal bytes.

#ifndef BATON_TIR_CODEGEN_ELF_OBJECT_H_
#define BATON_TIR_CODEGEN_ELF_OBJECT_H_

#include <cstddef>
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
  // True if all objects with this symbol have the same contents under it: the
  // linker keeps those of one object.
  bool is_mergeable = false;
};

// A global symbol of an array of pointers.
struct ElfTable {
  // A null pointer if `symbol` is empty, which is one of the object's constants
  // otherwise.
  struct Target {
    std::string symbol;
    int64_t offset = 0;
  };
  std::string symbol;
  std::vector<Target> targets;
};

struct ElfObject {
  static constexpr int64_t kAlignment = 64;
  static constexpr size_t kMaxMergeable = 30000;
  ElfMachine machine = ElfMachine::kX86_64;
  std::vector<ElfConstant> constants;
  std::vector<ElfTable> tables;
  // Sections are large ones if the constants have that many bytes or more.
  int64_t large_bytes = int64_t{1} << 30;
};

// Calls `append` with parts of the file, in order. Fails where a symbol is
// empty, has a NUL, is given twice, or is that of a target and of no constant;
// where there are more sections than the format's header counts, which has room
// for kMaxMergeable mergeable constants; and where `append` fails.
absl::Status WriteElfObject(
    const ElfObject& object,
    absl::FunctionRef<absl::Status(absl::string_view)> append);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_ELF_OBJECT_H_
