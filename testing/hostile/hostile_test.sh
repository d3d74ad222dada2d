#!/bin/bash
# Hostile inputs of a few KB are errors or right, within limits on processor
# time and memory; no program crashes.
#
# usage: hostile_test.sh BATON_OPT BATON_RUN FOLDER

set -uo pipefail

opt="$(realpath "$1")" run="$(realpath "$2")" in="$(realpath "$3")"
work="${TEST_TMPDIR:-$(mktemp -d)}"
cd "${work}" || exit 1

# Sanitizers reserve more addresses than there is memory.
limits="ulimit -t 20; ulimit -c 0"
if [[ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}${UBSAN_OPTIONS:-}" ]]; then
  limits+="; ulimit -v 2000000"
fi

failures=0
say() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect CODE TEXT COMMAND...: the command ends with CODE and says TEXT (a fixed
# string; any if empty).
expect() {
  local code="$1" text="$2" got
  shift 2
  (
    eval "${limits}"
    exec "$@"
  ) >out.txt 2>&1 </dev/null
  got=$?
  if [[ "${got}" != "${code}" ]]; then
    say "code ${got} in place of ${code}: $*"
    head -c 600 out.txt
  elif [[ -n "${text}" ]] && ! grep --quiet --fixed-strings -- "${text}" out.txt; then
    say "'${text}' is not in the output of $*"
    head -c 600 out.txt
  fi
}

# expect_text TEXT: the last command said TEXT, too.
expect_text() {
  if ! grep --quiet --fixed-strings -- "$1" out.txt; then
    say "'$1' is not in the output"
    head -c 600 out.txt
  fi
}

# expect_none PATTERN: what the last command said has no such byte.
expect_none() {
  if LC_ALL=C grep --quiet --perl-regexp -- "$1" out.txt; then
    say "$1 is in the output"
  fi
}

# same FILE FLAGS...: a program and what is exported of it compute the same.
same() {
  local file="$1"
  shift
  expect 0 "" "${opt}" "${in}/${file}" --emit=onnx --output=exported.onnx
  expect 0 "within tolerance" "${run}" "${in}/${file}" "$@" \
    --against=exported.onnx --rtol=0 --atol=0
}

# 1. Products of attributes.
expect 1 "do not fit" "${opt}" "${in}/b2s_fold.relay" --passes=FoldConstant \
  --check_values --emit=none
expect 1 "do not fit" "${run}" "${in}/b2s_fold.relay"

# 2. Casts through floats.
for passes in SimplifyExpr O1 O3; do
  expect 0 "" "${opt}" "${in}/cast_chain.relay" --passes="${passes}" \
    --check_values --emit=none
  expect 0 "within tolerance" "${run}" "${in}/cast_f16.relay" \
    --inputs="${in}/cast_f16.npz" --passes="${passes}" \
    --against="${in}/cast_f16.relay" --rtol=0 --atol=0
done

# 3 to 5. Exported models.
same gather_neg.relay --random_inputs
same floor_mod.relay --inputs="${in}/floor_mod.npz"
same clip64.relay --inputs="${in}/clip64.npz"
same pad64.relay --random_inputs

# 6. The ends of quantized types.
for file in quant_int32 quant_nan quant_ends; do
  for passes in qnn.CanonicalizeOps O2 O3; do
    expect 0 "" "${opt}" "${in}/${file}.relay" --passes="${passes}" \
      --check_values --emit=none
    expect 0 "within tolerance" "${run}" "${in}/${file}.relay" \
      --passes="${passes}" --against="${in}/${file}.relay" --rtol=0 --atol=0
  done
done

# 7. Types that share their parts.
for file in td60 td_if2 td_err; do
  for flags in "" --verify_each --print_changed=diff --verify_roundtrip \
    --print_changed=structural; do
    # shellcheck disable=SC2086
    expect 1 "limits.max_type_parts" "${opt}" "${in}/${file}.relay" \
      --passes=InferType ${flags}
  done
done
expect 1 "limits.max_type_parts" "${opt}" "${in}/td60.relay" \
  --passes=ToANormalForm,PartialEval,LambdaLift --emit=none
expect 1 "limits.max_type_parts" "${run}" "${in}/td60.relay" --random_inputs

# 8. Functions that double.
pipelines=(O3 InlineGlobals) functions=8 casts=1200
# The short form reads less of an endless stream as well.
stream=(--config=limits.max_stream_bytes=50000000)
if [[ "${BATON_LONG_TESTS:-0}" != 0 ]]; then
  pipelines=(O1 O3 InlineGlobals) functions=63 casts=2400 stream=()
fi
for passes in "${pipelines[@]}"; do
  expect 1 "limits.max_copied_nodes" "${opt}" "${in}/inline_bomb.relay" \
    --passes="${passes}" --emit=none
done
expect_text "InlineGlobals"
expect 0 "" "${opt}" "${in}/pe_double.relay" --passes=PartialEval --emit=none
if [[ "${BATON_LONG_TESTS:-0}" != 0 ]]; then
  expect 0 "" "${opt}" "${in}/globals_all_small.relay" \
    --passes=PartialEval,LambdaLift,DeadCodeElimination --emit=none
fi
# Each of the functions calls all of them.
{
  echo '#[version = "0.0.5"]'
  for ((i = 0; i < functions; ++i)); do
    echo "def @f${i}(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {"
    printf '  @f0(%%x)'
    for ((k = 1; k < functions; ++k)); do printf ' + @f%d(%%x)' "${k}"; done
    echo ' }'
  done
  echo 'def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { @f0(%x) }'
} >globals_all.relay
expect 0 "" "${opt}" globals_all.relay \
  --passes=PartialEval,LambdaLift,DeadCodeElimination --emit=none

# 9. Windows of padding.
for passes in FoldConstant O2 O3; do
  expect 0 "" "${opt}" "${in}/pool_fold.relay" --passes="${passes}" --emit=none
done
expect 0 "" "${run}" "${in}/pool_run.relay" --random_inputs
expect 0 "" "${run}" "${in}/pool_k2147483648.onnx" --random_inputs

# 10. A pipe as external data.
mkdir -p ext && cp "${in}"/ext/*.onnx ext && mkfifo -m 600 ext/pf
for program in "${opt}" "${run}"; do
  expect 1 "is no regular file" "${program}" ext/fifo.onnx
done

# 11. Numbers that flags may not be.
for flag in --rtol=nan --atol=nan --rtol=-1 --atol=inf --threads=-1 --bench=-1 \
  --warmup=-2 --opt_level=-7; do
  expect 1 "must be" "${run}" "${in}/pool_run.relay" --random_inputs "${flag}"
done
for flag in --max_error=nan --max_error=-0.5 --triage_seconds=nan \
  --triage_seconds=-1 --triage_memory_gb=-inf --triage_memory_gb=nan \
  --threads=-3 --stop_after=-2 --timing_threshold=nan --onnx_opset=99; do
  expect 1 "must be" "${opt}" "${in}/pool_fold.relay" "${flag}"
done
expect 1 "negative extent -1" "${run}" "${in}/ident32.onnx" --random_inputs \
  --input_shapes=x:[-1]

# 12 and 13. Names that are no text.
expect 1 "" "${opt}" ext/loc_esc.onnx --emit=none
expect_none '\x1b'
for file in baddims badutf; do
  "${run}" "${in}/${file}.onnx" --random_inputs >out.txt 2>&1
  expect_none '\x1b'
  for format in json trace; do
    rm -f profile.json
    "${run}" "${in}/${file}.onnx" --random_inputs --profile="${format}" \
      --report=profile.json >out.txt 2>&1
    if [[ -f profile.json ]] && ! iconv -f UTF-8 -t UTF-8 profile.json >/dev/null; then
      say "the ${format} of ${file}.onnx is no UTF-8"
    fi
  done
done

# 14. One file for two flags; a link stays one.
expect 1 "are one file" "${opt}" "${in}/pool_fold.relay" --output=one --report=one \
  --passes=InferType
ln -sf target link
expect 0 "" "${opt}" "${in}/pool_fold.relay" --output=link
[[ -L link && -s target ]] || say "--output=link does not write to its target"

# 15. More work than there is input.
{
  echo '#[version = "0.0.5"]'
  for ((i = 0; i < 6000; ++i)); do echo "def @a${i}(){@b${i}()}"; done
} >unknown.relay
expect 1 "100 errors in unknown.relay" "${opt}" unknown.relay --emit=none
{
  echo '#[version = "0.0.5"]'
  echo 'def @main(%x: Tensor[(2), float32]) {'
  for ((i = 0; i < casts; ++i)); do
    echo "  %${i} = cast($([[ ${i} == 0 ]] && echo %x || echo %$((i - 1))), dtype=\"float$((32 - i % 2 * 16))\");"
  done
  echo "  %$((casts - 1)) }"
} >casts.relay
expect 0 "" "${opt}" casts.relay --passes=SimplifyExpr --emit=none
{
  echo '#[version = "0.0.5"]'
  for ((i = 0; i < 2400; ++i)); do echo "def @f${i}(%x: int32) { @f$((i + 1))(%x) }"; done
  echo 'def @f2400(%x: int32) { %x }'
} >chain.relay
expect 0 "" "${opt}" chain.relay --passes=InferType --emit=none
expect 0 "" "${opt}" "${in}/gather_neg.relay" --flagfile="${in}/fixedpoint30.flags" \
  --emit=none
echo "--emit=none" >leaf.flags
next=leaf.flags
for ((i = 0; i < 26; ++i)); do
  echo "--flagfile=${next},${next}" >"twice${i}.flags"
  next="twice${i}.flags"
done
expect 1 "more than 1000 files of flags" "${opt}" --flagfile="${next}"
expect 1 "limits.max_stream_bytes" "${opt}" /dev/zero "${stream[@]}"

# 16. Integers that no double holds.
for value in 9007199254740993 9223372036854775807; do
  expect 0 "" "${run}" "${in}/ident64.onnx" --input_values="n:${value}" \
    --outputs=value.npz
done

if ((failures > 0)); then
  echo "${failures} checks failed"
  exit 1
fi
echo "all checks pass"
