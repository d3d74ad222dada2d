#include "baton/tir/jit/llvm_library.h"

#include <dlfcn.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace baton::tir {
namespace {

#if defined(__aarch64__)
#define BATON_LLVM_MACHINE "AArch64"
#else
#define BATON_LLVM_MACHINE "X86"
#endif

template <typename F>
absl::Status Find(void* library, const std::string& file, const char* name,
                  F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (function != nullptr) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("the just-in-time compiler: ", file, " has no ", name));
}

absl::StatusOr<LlvmLibrary> Open() {
  LlvmLibrary result;
  void* library = nullptr;
  // Packages libllvm19 and libllvm16 of Debian. Earlier versions do not read
  // opaque pointers.
  for (const char* file :
       {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-16.so.1"}) {
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    result.file = file;
    break;
  }
  if (library == nullptr) {
    return absl::UnavailableError(
        "the just-in-time compiler needs LLVM's shared library, and none is "
        "installed: Debian's packages libllvm19 and libllvm16 have it");
  }
  absl::Status status;
#define BATON_FIND(NAME) \
  status.Update(Find(library, result.file, "LLVM" #NAME, result.NAME))
  BATON_FIND(GetHostCPUName);
  BATON_FIND(GetHostCPUFeatures);
  BATON_FIND(GetDefaultTargetTriple);
  BATON_FIND(DisposeMessage);
  BATON_FIND(GetErrorMessage);
  BATON_FIND(DisposeErrorMessage);
  BATON_FIND(CreateMemoryBufferWithMemoryRangeCopy);
  BATON_FIND(ParseIRInContext);
  BATON_FIND(VerifyModule);
  BATON_FIND(DisposeModule);
  BATON_FIND(GetTargetFromTriple);
  BATON_FIND(CreateTargetMachine);
  BATON_FIND(CreateTargetDataLayout);
  BATON_FIND(SetModuleDataLayout);
  BATON_FIND(DisposeTargetData);
  BATON_FIND(CreatePassBuilderOptions);
  BATON_FIND(DisposePassBuilderOptions);
  BATON_FIND(RunPasses);
  BATON_FIND(OrcCreateNewThreadSafeContext);
  BATON_FIND(OrcThreadSafeContextGetContext);
  BATON_FIND(OrcDisposeThreadSafeContext);
  BATON_FIND(OrcCreateNewThreadSafeModule);
  BATON_FIND(OrcDisposeThreadSafeModule);
  BATON_FIND(OrcJITTargetMachineBuilderCreateFromTargetMachine);
  BATON_FIND(OrcCreateLLJITBuilder);
  BATON_FIND(OrcLLJITBuilderSetJITTargetMachineBuilder);
  BATON_FIND(OrcCreateLLJIT);
  BATON_FIND(OrcDisposeLLJIT);
  BATON_FIND(OrcLLJITGetGlobalPrefix);
  BATON_FIND(OrcLLJITGetMainJITDylib);
  BATON_FIND(OrcCreateDynamicLibrarySearchGeneratorForProcess);
  BATON_FIND(OrcJITDylibAddGenerator);
  BATON_FIND(OrcLLJITAddLLVMIRModule);
  BATON_FIND(OrcLLJITLookup);
#undef BATON_FIND
  for (const char* part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter"}) {
    void (*initialize)() = nullptr;
    status.Update(
        Find(library, result.file,
             absl::StrCat("LLVMInitialize" BATON_LLVM_MACHINE, part).c_str(),
             initialize));
    if (initialize != nullptr) initialize();
  }
  if (!status.ok()) return status;
  return result;
}

}  // namespace

absl::StatusOr<const LlvmLibrary*> LlvmLibrary::Get() {
  static const auto& library = *new absl::StatusOr<LlvmLibrary>(Open());
  if (!library.ok()) return library.status();
  return &*library;
}

}  // namespace baton::tir
