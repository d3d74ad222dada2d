// LLVM's shared library, opened at run time: the functions of its C interface
// that a compiler in the process needs. No program needs LLVM to be built, to
// be linked or to start.

#ifndef BATON_TIR_JIT_LLVM_LIBRARY_H_
#define BATON_TIR_JIT_LLVM_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace baton::tir {

// Objects of LLVM. They are owned as llvm-c/*.h says.
struct LlvmContext;
struct LlvmModule;
struct LlvmMemoryBuffer;
struct LlvmTargetRef;
struct LlvmTargetMachine;
struct LlvmDataLayout;
struct LlvmPassOptions;
struct LlvmError;
struct LlvmThreadSafeContext;
struct LlvmThreadSafeModule;
struct LlvmMachineBuilder;
struct LlvmJitBuilder;
struct LlvmJit;
struct LlvmJitLibrary;
struct LlvmSymbolGenerator;

// The functions, named as in llvm-c/*.h without `LLVM`. Enumerations are `int`.
struct LlvmLibrary {
  // Opens the newest of the versions 19 and 16 that is installed, and prepares
  // it for code of this machine. An error if there is none. Each call returns
  // what the first one did. Safe to call from several threads.
  static absl::StatusOr<const LlvmLibrary*> Get();

  std::string file;  // `libLLVM-16.so.1`

  char* (*GetHostCPUName)();
  char* (*GetHostCPUFeatures)();
  char* (*GetDefaultTargetTriple)();
  void (*DisposeMessage)(char* message);
  char* (*GetErrorMessage)(LlvmError* error);
  void (*DisposeErrorMessage)(char* message);

  LlvmMemoryBuffer* (*CreateMemoryBufferWithMemoryRangeCopy)(const char* data,
                                                             size_t bytes,
                                                             const char* name);
  int (*ParseIRInContext)(LlvmContext* context, LlvmMemoryBuffer* text,
                          LlvmModule** module, char** message);
  int (*VerifyModule)(LlvmModule* module, int action, char** message);
  void (*DisposeModule)(LlvmModule* module);

  int (*GetTargetFromTriple)(const char* triple, LlvmTargetRef** target,
                             char** message);
  LlvmTargetMachine* (*CreateTargetMachine)(LlvmTargetRef* target,
                                            const char* triple, const char* cpu,
                                            const char* features, int level,
                                            int relocation, int code_model);
  LlvmDataLayout* (*CreateTargetDataLayout)(LlvmTargetMachine* machine);
  void (*SetModuleDataLayout)(LlvmModule* module, LlvmDataLayout* layout);
  void (*DisposeTargetData)(LlvmDataLayout* layout);
  LlvmPassOptions* (*CreatePassBuilderOptions)();
  void (*DisposePassBuilderOptions)(LlvmPassOptions* options);
  LlvmError* (*RunPasses)(LlvmModule* module, const char* passes,
                          LlvmTargetMachine* machine, LlvmPassOptions* options);

  LlvmThreadSafeContext* (*OrcCreateNewThreadSafeContext)();
  LlvmContext* (*OrcThreadSafeContextGetContext)(
      LlvmThreadSafeContext* context);
  void (*OrcDisposeThreadSafeContext)(LlvmThreadSafeContext* context);
  LlvmThreadSafeModule* (*OrcCreateNewThreadSafeModule)(
      LlvmModule* module, LlvmThreadSafeContext* context);
  void (*OrcDisposeThreadSafeModule)(LlvmThreadSafeModule* module);
  LlvmMachineBuilder* (*OrcJITTargetMachineBuilderCreateFromTargetMachine)(
      LlvmTargetMachine* machine);
  LlvmJitBuilder* (*OrcCreateLLJITBuilder)();
  void (*OrcLLJITBuilderSetJITTargetMachineBuilder)(
      LlvmJitBuilder* builder, LlvmMachineBuilder* machine);
  LlvmError* (*OrcCreateLLJIT)(LlvmJit** jit, LlvmJitBuilder* builder);
  LlvmError* (*OrcDisposeLLJIT)(LlvmJit* jit);
  char (*OrcLLJITGetGlobalPrefix)(LlvmJit* jit);
  LlvmJitLibrary* (*OrcLLJITGetMainJITDylib)(LlvmJit* jit);
  LlvmError* (*OrcCreateDynamicLibrarySearchGeneratorForProcess)(
      LlvmSymbolGenerator** generator, char prefix, void* filter,
      void* filter_context);
  void (*OrcJITDylibAddGenerator)(LlvmJitLibrary* library,
                                  LlvmSymbolGenerator* generator);
  LlvmError* (*OrcLLJITAddLLVMIRModule)(LlvmJit* jit, LlvmJitLibrary* library,
                                        LlvmThreadSafeModule* module);
  LlvmError* (*OrcLLJITLookup)(LlvmJit* jit, uint64_t* address,
                               const char* name);
};

}  // namespace baton::tir

#endif  // BATON_TIR_JIT_LLVM_LIBRARY_H_
