# What scripts/gpu-check --pack does: sourced, never run. Copies headers, libraries and CMake files of packages, as Debian
# lays them out, so that a machine without packages can build.

# The packages with headers that a build needs; LibTorch is the other machine's own.
wanted_packages() {
  scripts/install-dependencies --list --with-tests --without-torch | grep -E '(-dev|^libjs-chart\.js)$' |
    grep -vE '^(libopenblas|libopenmpi|libclang-rt)'
}

# Those, and the packages with headers that they depend on, as far as they are installed.
with_dependencies() {
  local package
  local -A seen=()
  local queue=("$@")
  while ((${#queue[@]} > 0)); do
    package=${queue[0]}
    queue=("${queue[@]:1}")
    [[ -z ${seen[$package]:-} ]] || continue
    seen[$package]=yes
    dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || continue
    printf '%s\n' "$package"
    # The compiler's own are the other machine's, too.
    mapfile -t -O "${#queue[@]}" queue < <(dpkg-query --show --showformat='${Depends}' "$package" | tr ',|' '\n' |
      sed -E 's/^ *([^ :(]+).*/\1/' | grep -E -- '-dev$' | grep -vE '^(libc6|linux-libc|libstdc\+\+|libgcc|libc)-?.*dev$' || true)
  done
}

# Of the paths of a package: headers, CMake files and what is embedded.
wanted_files() {
  grep -E '^/usr/(include/|lib/(.*/)?cmake/|share/cmake/|share/javascript/chart\.js/chart\.min\.js|share/doc/libjs-chart\.js/copyright)' |
    while read -r path; do [[ -d $path ]] || printf '%s\n' "$path"; done
}

# add_library ROOT FILE: the file behind a name, its link names, and all that it needs; not what every system has.
add_library() {
  local root=$1 folder=$1/usr/lib/x86_64-linux-gnu real name link needed
  real=$(readlink -f "$2")
  name=$(basename "$real")
  for link in "$(basename "$2")" "$(objdump --private-headers "$real" 2>/dev/null | awk '$1 == "SONAME" { print $2 }')"; do
    [[ -z $link || $link == "$name" ]] || ln -sfn "$name" "$folder/$link"
  done
  [[ ! -e $folder/$name ]] || return 0
  cp "$real" "$folder/"
  ldd "$real" 2>/dev/null | awk '$2 == "=>" && $3 ~ "^/" { print $3 }' |
    grep -vE '/(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s|gomp))\.so' | while read -r needed; do
    add_library "$root" "$needed"
  done
}

# pack_libraries DIR: writes DIR/libraries.tar.xz.
pack_libraries() {
  local into=$1 root packages package tool library
  for tool in dpkg-query objdump tar xz; do
    command -v "$tool" >/dev/null || die 2 "--pack needs $tool, as Debian 12 has it"
  done
  mapfile -t packages < <(wanted_packages)
  for package in "${packages[@]}"; do
    dpkg-query --show "$package" >/dev/null 2>&1 || die 2 "--pack needs $package: scripts/install-dependencies --with-tests"
  done
  mapfile -t packages < <(with_dependencies "${packages[@]}")
  root=$(mktemp -d)
  trap "rm -rf '$root'" EXIT
  mkdir -p "$into" "$root/usr/lib/x86_64-linux-gnu"
  dpkg --listfiles "${packages[@]}" | sort -u >"$root/listed"
  wanted_files <"$root/listed" | tar -C / --files-from=- --transform='s|^/||' -P -cf - | tar -C "$root" -xf -
  # Where only Debian's compilers look.
  if [[ -d $root/usr/include/x86_64-linux-gnu ]]; then
    cp -R --no-clobber "$root/usr/include/x86_64-linux-gnu/." "$root/usr/include/"
    rm -rf "$root/usr/include/x86_64-linux-gnu"
  fi
  # Archives only of what has no shared library.
  grep -E '^/usr/lib/.*\.(so|a)$' "$root/listed" | while read -r library; do
    case $library in
      *.so) [[ ! -e $library ]] || add_library "$root" "$library" ;;
      *.a) [[ -e ${library%.a}.so ]] || cp "$library" "$root/usr/lib/x86_64-linux-gnu/" ;;
    esac
  done
  rm "$root/listed"
  dpkg-query --show --showformat='${Package} ${Version}\n' "${packages[@]}" >"$root/packages.txt"
  sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release >"$root/system.txt"
  tar -C "$root" -cf - . | xz --threads=0 >"$into/libraries.tar.xz.part"
  mv "$into/libraries.tar.xz.part" "$into/libraries.tar.xz"
  say "$into/libraries.tar.xz: $(wc -l <"$root/packages.txt") packages, $(du -h "$into/libraries.tar.xz" | cut -f1)"
  # For whatever Python the other machine has; without it, the benchmarks there have nobody to compare with.
  python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$into" "$(grep '^opacus' benchmarks/peers/requirements.txt)" ||
    warn "Opacus was not packed: that needs Python's pip and a network"
}
