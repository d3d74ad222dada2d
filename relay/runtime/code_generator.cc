#include "baton/relay/runtime/code_generator.h"

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/target.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/tensor_fits.h"
#include "baton/relay/ir/text_attr.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {
namespace {

absl::Status CheckName(const Artifact& artifact) {
  const auto is_good = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '-' || c == '.';
  };
  const std::string& name = artifact.name;
  if (!name.empty() && name[0] != '.' && absl::c_all_of(name, is_good)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the artifact's name \"", name, "\" is not that of a file"));
}

// Calls `fn`, which others wrote. `where` begins its errors.
template <typename Fn>
std::invoke_result_t<Fn&> CallForeign(absl::string_view where, Fn&& fn) {
  absl::Status error;
  try {
    std::invoke_result_t<Fn&> result = fn();
    if (result.ok()) return result;
    error = result.status();
  } catch (const std::bad_alloc&) {
    return OutOfMemoryError(where);
  } catch (const std::exception& e) {
    error = absl::InternalError(absl::StrCat("an exception: ", e.what()));
  } catch (...) {
    error = absl::InternalError("an exception");
  }
  return absl::Status(error.code(), absl::StrCat(where, ": ", error.message()));
}

// OK if `root_value`, which errors call `what`, is of type `root_type`.
absl::Status CheckType(absl::string_view what, const Value& root_value,
                       const Type& root_type) {
  std::vector<std::pair<const Value*, const TypeNode*>> work = {
      {&root_value, root_type.get()}};
  while (!work.empty()) {
    const auto [value, type_node] = work.back();
    work.pop_back();
    const Type type(type_node);
    if (const auto* tuple = type.As<TupleTypeNode>()) {
      const size_t size = tuple->fields().size();
      if (!value->is_tuple() || value->fields().size() != size) {
        return absl::InternalError(
            absl::StrCat(what, " must be a tuple of ", size, " fields"));
      }
      for (size_t i = 0; i < size; ++i) {
        work.push_back({&value->fields()[i], tuple->fields()[i].get()});
      }
      continue;
    }
    const auto* wanted = type.As<TensorTypeNode>();
    if (wanted == nullptr) continue;
    if (!value->is_tensor() || !TensorFits(value->tensor(), *wanted)) {
      return absl::InternalError(
          absl::StrCat(what, " must be ", type.ToString(), ", found ",
                       value->is_tensor() ? value->tensor().TypeToString()
                                          : "another value"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

Registry<CodeGenerator>& CodeGenerators() {
  static auto& registry = *Registry<CodeGenerator>::NewGlobal("code generator");
  return registry;
}

absl::StatusOr<Artifact> GenerateCodeOf(absl::string_view name,
                                        const Function& function,
                                        const Target& target) {
  return CallForeign(
      absl::StrCat("code for @", name), [&]() -> absl::StatusOr<Artifact> {
        const std::string* compiler = TextAttr(*function, attr::kCompiler);
        if (compiler == nullptr) {
          return absl::InvalidArgumentError("the function is for no compiler");
        }
        const std::string* symbol = TextAttr(*function, attr::kGlobalSymbol);
        if (symbol == nullptr) {
          return absl::InvalidArgumentError(absl::StrCat(
              "the function has no attribute ", attr::kGlobalSymbol));
        }
        if (!function->type().defined()) {
          return absl::FailedPreconditionError("the function has no type");
        }
        BATON_ASSIGN_OR_RETURN(const CodeGenerator* generator,
                               CodeGenerators().Get(*compiler));
        if (generator->generate == nullptr &&
            generator->generate_for_target == nullptr) {
          return absl::UnimplementedError(
              absl::StrCat("code generator ", *compiler, " makes no code"));
        }
        BATON_ASSIGN_OR_RETURN(
            Artifact artifact,
            generator->generate_for_target != nullptr
                ? generator->generate_for_target(function, *symbol, target)
                : generator->generate(function, *symbol));
        BATON_RETURN_IF_ERROR(CheckName(artifact));
        return artifact;
      });
}

absl::StatusOr<std::vector<Artifact>> ArtifactsOf(const IRModule& module) {
  std::vector<Artifact> result;
  FlatHashMap<std::string, std::string> makers;  // functions, by artifact
  for (const auto& [var, function] : module.functions<Function>()) {
    const std::string* name = TextAttr(*function, attr::kArtifactName);
    const std::string* bytes = TextAttr(*function, attr::kArtifact);
    if (name == nullptr || bytes == nullptr) continue;
    result.push_back({*name, *bytes});
    absl::Status status = CheckName(result.back());
    const auto [it, is_new] = makers.try_emplace(*name, var->name());
    if (!is_new) {
      status = absl::AlreadyExistsError(absl::StrCat(
          "the artifact ", *name, " is that of @", it->second, " already"));
    }
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat("code for @", var->name(),
                                                      ": ", status.message()));
    }
  }
  return result;
}

absl::StatusOr<ExternalFunction> LoadExternalFunction(
    const Function& function) {
  const std::string* compiler = TextAttr(*function, attr::kCompiler);
  const std::string* name = TextAttr(*function, attr::kArtifactName);
  const std::string* bytes = TextAttr(*function, attr::kArtifact);
  if (compiler == nullptr || name == nullptr || bytes == nullptr) {
    return ExternalFunction();
  }
  const std::string* symbol = TextAttr(*function, attr::kGlobalSymbol);
  const std::string where =
      absl::StrCat("external function ", symbol == nullptr ? *name : *symbol);
  absl::StatusOr<ExternalFunction> loaded =
      CallForeign(where, [&]() -> absl::StatusOr<ExternalFunction> {
        BATON_ASSIGN_OR_RETURN(const CodeGenerator* generator,
                               CodeGenerators().Get(*compiler));
        if (generator->load == nullptr) return ExternalFunction();
        return generator->load(function, {*name, *bytes});
      });
  if (!loaded.ok() || *loaded == nullptr) return loaded;
  return ExternalFunction([run = *std::move(loaded), where,
                           function](absl::Span<const Value> args) {
    return CallForeign(where, [&]() -> absl::StatusOr<Value> {
      const size_t num_params = function->params().size();
      if (args.size() != num_params) {
        return absl::InvalidArgumentError(absl::StrCat(
            "expected ", num_params, " arguments, found ", args.size()));
      }
      for (size_t i = 0; i < num_params; ++i) {
        BATON_RETURN_IF_ERROR(CheckType(absl::StrCat("argument ", i), args[i],
                                        function->params()[i]->type()));
      }
      BATON_ASSIGN_OR_RETURN(Value result, run(args));
      BATON_RETURN_IF_ERROR(
          CheckType("the result", result, function->body()->type()));
      return result;
    });
  });
}

}  // namespace baton::relay
