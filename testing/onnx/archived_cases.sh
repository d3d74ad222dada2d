# Sourced by tests: the cases of ONNX that they run.

# unpack_cases ARCHIVE FOLDER STEP OUT: sets `cases` to the folders of the cases
# in an archive of tar, in order, and of those in a folder. Of the archive, only
# each STEPth case, from the first on, is unpacked, into OUT.
unpack_cases() {
  local archive="$1" folder="$2" step="$3" out="$4" models archived i
  mapfile -t cases < <(tar --list --file="${archive}" | sed -n 's|/model.onnx$||p' | sort)
  models=("${folder}"/*/model.onnx)
  archived="${#cases[@]}"
  for ((i = 0; i < archived; i += step)); do
    echo "${cases[i]}"
  done | tar --extract --file="${archive}" --directory="${out}" --files-from=-
  cases=("${cases[@]/#/${out}/}" "${models[@]%/model.onnx}")
}
