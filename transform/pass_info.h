// PassInfo: the name, level, documentation and promises of a pass.

#ifndef BATON_TRANSFORM_PASS_INFO_H_
#define BATON_TRANSFORM_PASS_INFO_H_

#include <string>
#include <vector>

namespace baton {

// What a pass works on.
enum class PassGranularity {
  kModule,    // a whole module at once
  kFunction,  // one function at a time
  kSequence,  // other passes
};

// A waiver: a law of testing/pass_laws.h that a pass does not keep.
struct PassException {
  std::string law;  // `no_op`
  std::string reason;
};

// Written with designated initializers, in this order:
//
//   {.name = "FuseOps",
//    .required = {"InferType"},
//    .doc = "Groups calls into primitive functions.",
//    .idempotent = true}
struct PassInfo {
  std::string name;
  // A Sequential runs the pass if the context's level is at least this.
  int opt_level = 0;
  // Names of the passes that a Sequential runs before this one.
  std::vector<std::string> required = {};
  // One line; a longer explanation may follow an empty line.
  std::string doc = {};

  // Forms of programs, by name (form.h): those that the pass must be given,
  // those that its result has, and those that its result may lack although
  // what it was given had them.
  std::vector<std::string> needs = {};
  std::vector<std::string> establishes = {};
  std::vector<std::string> destroys = {};

  // Promises, which the tests of all passes check.

  // Run on its own result, the pass changes nothing.
  bool idempotent = false;
  // Bit-exact: the results of the program keep their bits. A pass that
  // reassociates floating-point arithmetic says false, and `tolerance` is the
  // relative error within which results stay.
  bool exact = true;
  double tolerance = 1e-5;

  // Waivers for the other laws that the pass does not keep.
  std::vector<PassException> exceptions = {};

  // Options, as pipelines write them between the braces, with which the tests
  // of all passes run this pass, besides the defaults: `inline_once=true`. A
  // pass with required options has at least one example.
  std::vector<std::string> examples = {};

  // For passes that do not optimize (inference, printing): bisection neither
  // skips nor counts them.
  bool always_run = false;

  // Set by the function that creates the pass.
  PassGranularity granularity = PassGranularity::kModule;

  // The text that traces print, for example:
  //   The meta data of the pass - pass name: FoldConstant, opt_level: 2,
  //   required passes: []
  // (one line), ending in a line feed.
  std::string ToString() const;
};

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_INFO_H_
