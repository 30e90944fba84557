# What the scripts beside this file share: sourced, never run. It moves to the repository's root, so
# that every script works from any directory.
set -euo pipefail
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
self=${script#"$(pwd -P)"/}

say() { printf '%s\n' "$*"; }
warn() { printf '%s: warning: %s\n' "$self" "$*" >&2; }
# die STATUS MESSAGE: status 2 is a mistake in how the script was called, or something only the user can mend.
die() {
  printf '%s: %s\n' "$self" "$2" >&2
  exit "$1"
}
# The comment that opens a script is its help: said once.
print_help() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$script"
  exit 0
}
bad_usage() { die 2 "unknown argument '$1'. See $self --help"; }

# step "Title" COMMAND...: runs it under a title and says how long it took, in plain lines that read well in a log.
# The file that FEDARENA_STEPS names collects them, so that .ci/run can end with a table of all.
step() {
  local title=$1 start=$SECONDS status=0
  shift
  say "==> $title"
  "$@" || status=$?
  [[ -z ${FEDARENA_STEPS:-} ]] || printf '%s\t%s\n' "$((SECONDS - start))" "$title" >>"$FEDARENA_STEPS"
  if ((status == 0)); then
    say "    done in $((SECONDS - start)) s"
  else
    say "    FAILED (exit status $status) after $((SECONDS - start)) s"
  fi
  return "$status"
}

# nproc heeds OMP_NUM_THREADS, which is about threads within a program, not about programs side by side.
core_count() { env --unset=OMP_NUM_THREADS --unset=OMP_THREAD_LIMIT nproc; }

# All cores, but no more than one compiler per 2 GiB of free memory: LibTorch's headers cost over 1 GiB each.
job_count() {
  local cores room
  cores=$(core_count)
  room=$(awk '/^MemAvailable/ { print int($2 / 2097152) }' /proc/meminfo)
  ((room >= 1)) || room=1
  echo "${FEDARENA_JOBS:-$((cores < room ? cores : room))}"
}

# Where scripts/install-dependencies puts a LibTorch when the system has no package for it.
pip_torch=build/pip-torch
# And a TensorBoard, for the test that reads event files back.
pip_tensorboard=build/pip-tensorboard

# Names that LibTorch to CMake, unless the user named another.
use_pip_torch() {
  local folders=("$PWD/$pip_torch"/lib/python3*/site-packages/torch)
  [[ -n ${CMAKE_PREFIX_PATH:-} || ! -d ${folders[0]} ]] || export CMAKE_PREFIX_PATH=${folders[0]}
}

# Installs what is missing; --without-torch when CMAKE_PREFIX_PATH brings another LibTorch.
install_dependencies() {
  local prefix options=("$@")
  while read -r -d: prefix; do
    # Either the folder that holds lib/ and include/, or share/cmake below it.
    if [[ -e $prefix/lib/libtorch_cpu.so || -e $prefix/../../lib/libtorch_cpu.so ]]; then
      options+=(--without-torch)
      break
    fi
  done <<<"${CMAKE_PREFIX_PATH:-}:"
  scripts/install-dependencies "${options[@]}"
}

# configure PRESET [CMAKE-ARGUMENT...]: says nothing unless it fails.
configure() {
  local preset=$1 log=build/$1/configure.log
  shift
  mkdir -p "$(dirname "$log")"
  use_pip_torch
  cmake --preset "$preset" "$@" >"$log" 2>&1 </dev/null && return
  cat "$log" >&2
  say "Configuring the preset '$preset' failed: the message above says why. If build/$preset dates from other settings (another LibTorch, say), remove it and try again." >&2
  return 1
}

# build PRESET [TARGET...]: builds everything, or the targets named. KEEP_GOING=yes builds what it can after an error,
# so that the tests of the rest still run.
build() {
  local preset=$1 native=()
  shift
  [[ ${KEEP_GOING:-} != yes ]] || native=(-- -k 0)
  cmake --build "build/$preset" --parallel "$(job_count)" ${1:+--target "$@"} "${native[@]}" </dev/null
}

# The C++ files of the repository, new ones included.
source_files() {
  local file
  git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' '*.cu' '*.cuh' | sort -u | while read -r file; do
    [[ ! -e $file ]] || printf '%s\n' "$file"
  done
}

# Ends with the remedy when a tool of --with-lint is not there.
need_lint_tools() {
  local tool
  for tool; do
    command -v "$tool" >/dev/null || die 2 "needs $tool: scripts/install-dependencies --with-lint"
  done
  # Versions lay out some lines differently; the repository follows the one of Debian 12.
  [[ $(clang-format --version) == *"version 14."* ]] ||
    warn "$(clang-format --version): files are laid out by version 14, others may disagree with it"
}
