#!/usr/bin/env bash
# Run by chroot.sh in the fresh system, where /package has kma.deb and the consumers: chroot_inside.sh VERSION [TOOL]
set -euo pipefail
version=$1
tool=${2:-}
cd /package

step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }

# Whether the command prints the text; shows what it prints.
prints() {
    local text=$1 output
    shift
    output=$("$@")
    echo "$output"
    grep -qF "$text" <<<"$output" || {
        echo "chroot_inside.sh: $* does not print \"$text\"" >&2
        return 1
    }
}

step Installing the package and compilers
apt-get update -qq
# Without recommended packages, so that what the package needs and does not name is missed.
apt-get install -y -qq --no-install-recommends ./kma.deb g++ cmake make pkgconf pocl-opencl-icd >/tmp/apt.log 2>&1 || {
    cat /tmp/apt.log
    exit 1
}
dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' kma

step A consumer by find_package
cmake -S consumer -B build -D WANTED_VERSION="$version"
cmake --build build --verbose | tee build.log
if grep -q -- '-isystem */usr/include\( \|$\)' build.log; then
    echo "chroot_inside.sh: the compiler is told -isystem /usr/include, which breaks #include_next" >&2
    exit 1
fi
prints "5000 of 5000 numbers" build/consumer

step The same by pkg-config
g++ -std=c++20 -Wall -Wextra -Werror consumer/consumer.cpp -o by_pkg_config $(pkg-config --cflags --libs --static kma)
prints "5000 of 5000 numbers" ./by_pkg_config

step The OpenCL C files without the library
gcc -std=c11 -Wall -Wextra /usr/share/doc/kma/examples/c/list.c -o list -lOpenCL
prints "1000 items, sum 499500" ./list consumer/raw.cl Portable "-I $(pkg-config --variable=cldir kma)"

if [ -n "$tool" ]; then
    step The program
    prints "Portable Computing Language" "$tool" devices
fi

step Removing the package
dpkg --purge kma
left=$(find /etc /opt /usr -iname '*kma*')
if [ -n "$left" ]; then
    echo "chroot_inside.sh: the package leaves behind $left" >&2
    exit 1
fi
step Done
