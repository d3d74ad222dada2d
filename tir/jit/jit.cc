#include "baton/tir/jit/jit.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/tir/codegen/function_parts.h"
#include "baton/tir/codegen/llvm_source.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/interpreter/scalar.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/jit/llvm_library.h"

namespace baton::tir {
namespace {

// Values of enumerations in llvm-c/*.h.
constexpr int kReturnStatus = 2;         // LLVMVerifierFailureAction
constexpr int kPositionIndependent = 2;  // LLVMRelocMode
constexpr int kCodeModelOfJit = 1;       // LLVMCodeModel

using EntryFunction = int32_t (*)(const void* const* arguments);

absl::Status Failure(absl::string_view doing, absl::string_view message) {
  return absl::InternalError(
      absl::StrCat("the just-in-time compiler, ", doing, ": ", message));
}

// Takes a message of LLVM.
std::string Taken(const LlvmLibrary& llvm, char* message) {
  if (message == nullptr) return "no message";
  std::string text = message;
  llvm.DisposeMessage(message);
  return text;
}

absl::Status ToStatus(const LlvmLibrary& llvm, absl::string_view doing,
                      LlvmError* error) {
  if (error == nullptr) return absl::OkStatus();
  char* const message = llvm.GetErrorMessage(error);
  const absl::Status status = Failure(doing, message);
  llvm.DisposeErrorMessage(message);
  return status;
}

// Reads, verifies and optimizes `text`. Owned by the caller.
absl::StatusOr<LlvmModule*> OptimizedModule(const LlvmLibrary& llvm,
                                            const std::string& text, int level,
                                            LlvmTargetMachine* machine,
                                            LlvmContext* context) {
  LlvmModule* module = nullptr;
  char* message = nullptr;
  if (llvm.ParseIRInContext(context,
                            llvm.CreateMemoryBufferWithMemoryRangeCopy(
                                text.data(), text.size(), "loops"),
                            &module, &message) != 0) {
    return Failure("reading", Taken(llvm, message));
  }
  absl::Status status;
  message = nullptr;
  if (llvm.VerifyModule(module, kReturnStatus, &message) != 0) {
    status = Failure("verifying", message == nullptr ? "" : message);
  }
  if (message != nullptr) llvm.DisposeMessage(message);
  if (status.ok()) {
    // Versions differ in parts of it that no text of Baton uses.
    LlvmDataLayout* const layout = llvm.CreateTargetDataLayout(machine);
    llvm.SetModuleDataLayout(module, layout);
    llvm.DisposeTargetData(layout);
    LlvmPassOptions* const options = llvm.CreatePassBuilderOptions();
    status = ToStatus(
        llvm, "optimizing",
        llvm.RunPasses(module, absl::StrCat("default<O", level, ">").c_str(),
                       machine, options));
    llvm.DisposePassBuilderOptions(options);
  }
  if (status.ok()) return module;
  llvm.DisposeModule(module);
  return status;
}

// A number as the C++ type of a parameter has it (CppValueType).
uint64_t BitsOf(DType dtype, const Argument& argument) {
  const Scalar value =
      argument.real.has_value()
          ? ConvertScalar({.f = *argument.real}, DType::Float(64), dtype)
          : ConvertScalar({.i = argument.integer}, DType::Int(64), dtype);
  // All targets are little-endian.
  if (!dtype.is_float()) return static_cast<uint64_t>(value.i);
  uint64_t bits = 0;
  if (dtype.bits() == 64) {
    std::memcpy(&bits, &value.f, sizeof(value.f));
  } else {
    const auto narrow = static_cast<float>(value.f);
    std::memcpy(&bits, &narrow, sizeof(narrow));
  }
  return bits;
}

}  // namespace

struct JitProgram::Code {
  struct Function {
    PrimFunc function;
    CppEmitted emitted;
    EntryFunction entry = nullptr;
  };

  const LlvmLibrary* llvm = nullptr;
  LlvmJit* jit = nullptr;
  std::vector<Function> functions;
};

JitProgram::JitProgram(std::unique_ptr<const Code> code)
    : code_(std::move(code)) {}

JitProgram::~JitProgram() {
  if (code_->jit == nullptr) return;
  LlvmError* const error = code_->llvm->OrcDisposeLLJIT(code_->jit);
  if (error != nullptr) {
    code_->llvm->DisposeErrorMessage(code_->llvm->GetErrorMessage(error));
  }
}

absl::StatusOr<std::shared_ptr<const JitProgram>> JitProgram::Compile(
    absl::Span<const CppFunction> functions, const JitOptions& options) {
  if (options.optimization_level < 0 || options.optimization_level > 3) {
    return absl::InvalidArgumentError(
        "JitOptions::optimization_level is from 0 to 3");
  }
  BATON_ASSIGN_OR_RETURN(const LlvmLibrary* const library, LlvmLibrary::Get());
  const LlvmLibrary& llvm = *library;
  LlvmSourceOptions source_options;
  LlvmTarget& target = source_options.target;
  target.triple = Taken(llvm, llvm.GetDefaultTargetTriple());
  target.cpu = Taken(llvm, llvm.GetHostCPUName());
  target.features = Taken(llvm, llvm.GetHostCPUFeatures());
  source_options.entries = true;
  BATON_ASSIGN_OR_RETURN(LlvmSource source,
                         WriteLlvmSource(functions, source_options));

  LlvmTargetRef* machine_kind = nullptr;
  char* message = nullptr;
  if (llvm.GetTargetFromTriple(target.triple.c_str(), &machine_kind,
                               &message) != 0) {
    return Failure("finding the machine", Taken(llvm, message));
  }
  LlvmTargetMachine* const machine = llvm.CreateTargetMachine(
      machine_kind, target.triple.c_str(), target.cpu.c_str(),
      target.features.c_str(), options.optimization_level, kPositionIndependent,
      kCodeModelOfJit);
  LlvmThreadSafeContext* const context = llvm.OrcCreateNewThreadSafeContext();
  const absl::StatusOr<LlvmModule*> module =
      OptimizedModule(llvm, source.text, options.optimization_level, machine,
                      llvm.OrcThreadSafeContextGetContext(context));
  // Takes the machine.
  LlvmMachineBuilder* const machine_builder =
      llvm.OrcJITTargetMachineBuilderCreateFromTargetMachine(machine);
  LlvmJitBuilder* const builder = llvm.OrcCreateLLJITBuilder();
  llvm.OrcLLJITBuilderSetJITTargetMachineBuilder(builder, machine_builder);
  auto code = std::make_unique<Code>();
  code->llvm = library;
  const absl::Status created =
      ToStatus(llvm, "starting", llvm.OrcCreateLLJIT(&code->jit, builder));
  LlvmThreadSafeModule* const shared_module =
      module.ok() ? llvm.OrcCreateNewThreadSafeModule(*module, context)
                  : nullptr;
  llvm.OrcDisposeThreadSafeContext(context);  // the module shares it
  if (!module.ok() || !created.ok()) {
    if (shared_module != nullptr) {
      llvm.OrcDisposeThreadSafeModule(shared_module);
    }
    if (!created.ok()) code->jit = nullptr;
    JitProgram(std::move(code));  // ends the compiler
    return module.ok() ? created : module.status();
  }

  LlvmJit* const jit = code->jit;
  for (size_t i = 0; i < functions.size(); ++i) {
    code->functions.push_back(
        {functions[i].function, std::move(source.functions[i]), nullptr});
  }
  std::vector<Code::Function>& compiled = code->functions;
  std::shared_ptr<const JitProgram> program(new JitProgram(std::move(code)));
  LlvmJitLibrary* const main = llvm.OrcLLJITGetMainJITDylib(jit);
  // Functions of libc and libm are found in the process.
  LlvmSymbolGenerator* generator = nullptr;
  const absl::Status found = ToStatus(
      llvm, "finding the C library",
      llvm.OrcCreateDynamicLibrarySearchGeneratorForProcess(
          &generator, llvm.OrcLLJITGetGlobalPrefix(jit), nullptr, nullptr));
  if (!found.ok()) {
    llvm.OrcDisposeThreadSafeModule(shared_module);
    return found;
  }
  llvm.OrcJITDylibAddGenerator(main, generator);
  BATON_RETURN_IF_ERROR(
      ToStatus(llvm, "adding the functions",
               llvm.OrcLLJITAddLLVMIRModule(jit, main, shared_module)));
  for (Code::Function& function : compiled) {
    uint64_t address = 0;
    BATON_RETURN_IF_ERROR(
        ToStatus(llvm, "linking",
                 llvm.OrcLLJITLookup(
                     jit, &address,
                     absl::StrCat(function.emitted.name, ".entry").c_str())));
    function.entry = reinterpret_cast<EntryFunction>(address);
  }
  return program;
}

absl::StatusOr<std::vector<Tensor>> JitProgram::Run(
    int64_t index, absl::Span<const Argument> arguments) const {
  if (index < 0 || index >= static_cast<int64_t>(code_->functions.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("JitProgram: there is no function ", index, " of ",
                     code_->functions.size()));
  }
  const Code::Function& function = code_->functions[index];
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> extents,
                         BindExtents(function.function, arguments));
  const absl::Span<const Var> defined = function.function->defined();
  const std::vector<CppParam>& params = function.emitted.params;

  std::vector<Tensor> memory(arguments.size());  // by parameter
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].tensor.has_value()) memory[i] = *arguments[i].tensor;
  }
  std::vector<uint64_t> numbers(params.size());
  std::vector<const void*> pointers(params.size());
  Tensor workspace;
  for (size_t i = 0; i < params.size(); ++i) {
    const CppParam& param = params[i];
    switch (param.kind) {
      case CppParam::Kind::kPointer: {
        Tensor& contents = memory[param.index];
        if (param.is_written) {
          BATON_ASSIGN_OR_RETURN(
              MutableTensor copy,
              MutableTensor::Uninitialized(contents.dtype(), contents.shape()));
          std::memcpy(copy.data(), contents.data(), contents.bytes().size());
          contents = std::move(copy).Freeze();
        }
        pointers[i] = contents.data();
        break;
      }
      case CppParam::Kind::kNumber:
        numbers[i] = BitsOf(param.dtype, arguments[param.index]);
        pointers[i] = &numbers[i];
        break;
      case CppParam::Kind::kExtent:
        for (size_t k = 0; k < defined.size(); ++k) {
          if (defined[k].get() == param.variable) {
            numbers[i] = static_cast<uint64_t>(extents[k]);
          }
        }
        pointers[i] = &numbers[i];
        break;
      case CppParam::Kind::kConstant:
        pointers[i] = function.emitted.constants[param.index].data();
        break;
      case CppParam::Kind::kWorkspace: {
        BATON_ASSIGN_OR_RETURN(
            MutableTensor bytes,
            MutableTensor::Uninitialized(DType::UInt(8),
                                         {function.emitted.workspace_bytes}));
        workspace = std::move(bytes).Freeze();
        pointers[i] = workspace.data();
        break;
      }
    }
  }
  if (function.entry(pointers.data()) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("function ", function.emitted.name,
                     ": an asserted condition does not hold"));
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].tensor.has_value()) results.push_back(memory[i]);
  }
  return results;
}

}  // namespace baton::tir
