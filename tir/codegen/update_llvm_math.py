"""Makes llvm_math.ll, the vector mathematics as text of LLVM.

  python3 tir/codegen/update_llvm_math.py           # needs clang++-16
  python3 tir/codegen/update_llvm_math.py --check   # as a test does

Its sources are runtime/kernels/internal/math.h, math_base.inc and math_any.inc.
The check fails if the file was made of other sources, or, where there is a
clang++-16, if that makes something else of them.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = "tir/codegen/"
SOURCES = [
    FOLDER + "math_base.inc",
    "runtime/kernels/internal/math.h",
    FOLDER + "math_any.inc",
]
RESULT = FOLDER + "llvm_math.ll"
COMPILER = "clang++-16"
# Names of functions of loops, and those of the mathematics.
UNARY = {
    "exp": "Exp", "tanh": "Tanh", "sigmoid": "Sigmoid", "erf": "Erf",
    "log": "Log", "log2": "Log2", "log10": "Log10", "sin": "AnySin",
    "cos": "AnyCos", "tan": "AnyTan", "sinh": "Sinh", "cosh": "Cosh",
    "asin": "Asin", "acos": "Acos", "atan": "Atan", "asinh": "Asinh",
    "acosh": "Acosh", "atanh": "Atanh",
}
BINARY = {"pow": "AnyPower"}
TYPES = {"f32": "float", "f64": "double"}


def read(path):
  with open(path) as file:
    return file.read()


def fingerprint():
  text = "".join(read(path) for path in SOURCES)
  return hashlib.sha256(text.encode()).hexdigest()


def cpp_source():
  base, math, other = (read(path) for path in SOURCES)
  lines = [
      line for line in math.splitlines()
      if not re.match(r"#|namespace |}  // namespace", line)
  ]
  math = "\n".join(lines).replace("std::", "base::")
  math = math.replace("BATON_LOOP", "__attribute__((always_inline))")
  text = ("#include <cstddef>\n#include <cstdint>\nnamespace math {\n"
          "namespace base {\n%s}\n%s\n%s}\n" % (base, math, other))
  for suffix, kind in TYPES.items():
    for name, function in UNARY.items():
      text += 'extern "C" %s baton_%s_%s(%s x) { return math::%s(x); }\n' % (
          kind, name, suffix, kind, function)
    for name, function in BINARY.items():
      text += ('extern "C" %s baton_%s_%s(%s x, %s y) '
               "{ return math::%s(x, y); }\n" % (kind, name, suffix, kind, kind,
                                                 function))
  return text


def compile_source(folder):
  source = os.path.join(folder, "math.cc")
  with open(source, "w") as file:
    file.write(cpp_source())
  return subprocess.run(
      [
          COMPILER, "--target=x86_64-pc-linux-gnu", "-std=c++17", "-O1",
          "-ffp-contract=off", "-fno-vectorize", "-fno-slp-vectorize",
          "-fno-math-errno", "-fno-discard-value-names", "-S", "-emit-llvm",
          source, "-o", "-"
      ],
      check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


def library_call(match):
  """A function of libm, which is no builtin of the compiler."""
  name, bits, arguments = match.groups()
  return "@%s%s(%s) #1000" % (name, "f" if bits == "32" else "", arguments)


def made():
  with tempfile.TemporaryDirectory() as folder:
    text = compile_source(folder)
  result = [
      "; Made by update_llvm_math.py of sources with this SHA-256:",
      "; " + fingerprint(),
  ]
  for head, body in re.findall(r"^define ([^{]*){\n(.*?)^}", text,
                               re.MULTILINE | re.DOTALL):
    kind, name, params = re.match(r".*?(float|double) @(\w+)\((.*)\)",
                                  head).groups()
    name = name.replace("_", ".")
    body = re.sub(r"@llvm\.(sin|cos|tan|pow)\.f(32|64)\((.*?)\)",
                  library_call, body)
    # Functions of libm have no attributes of the caller's module.
    body = re.sub(r"(@(?:erf|erff|tan|tanf)\(.*?\))(?: #\d+)?$", r"\1 #1000",
                  body, flags=re.MULTILINE)
    body = body.replace("tail call", "call").replace("noundef ", "")
    body = re.sub(r"^(.+:) +; preds.*$", r"\1", body, flags=re.MULTILINE)
    body = re.sub(r"(?m)^\n", "", body)
    body = re.sub(r"\) #(?!1000)\d+$", ")", body, flags=re.MULTILINE)
    result.append("define internal %s @%s(%s) alwaysinline #0 {\n%s}" %
                  (kind, name, params.replace("noundef ", ""), body))
  return "\n".join(result) + "\n"


def main():
  if "--check" not in sys.argv:
    with open(RESULT, "w") as file:
      file.write(made())
    return
  text = read(RESULT)
  if "; " + fingerprint() + "\n" not in text:
    sys.exit("%s was made of other sources: run python3 %supdate_llvm_math.py"
             % (RESULT, FOLDER))
  if shutil.which(COMPILER) is None:
    print("there is no %s: the text itself is not checked" % COMPILER)
  elif text != made():
    sys.exit("%s differs from what %s makes of its sources" % (RESULT,
                                                               COMPILER))


main()
