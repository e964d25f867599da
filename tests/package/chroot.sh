#!/usr/bin/env bash
# Installs a .deb of kma on a fresh system of this machine's own release, made in a folder, with apt-get and nothing that
# its Depends do not bring but compilers and a driver; then chroot_inside.sh builds and runs consumers there. Usage:
#   chroot.sh ROOT DEB TESTS VERSION [TOOL]
# ROOT: the folder to make the system in, removed afterwards; TESTS: the folder of this script; TOOL: the name of the
# program that the package must have, if any. Needs root, debootstrap and the network.
set -euo pipefail
root=$1

fail() {
    echo "chroot.sh: $*" >&2
    exit 1
}

# In a namespace of its own, so that mounts and processes end with the script, however it ends.
inside_namespace() {
    local deb=$2 tests=$3 version=$4 tool=${5:-}
    . /etc/os-release
    local components=main mirror
    [ "$ID" = ubuntu ] && components=main,universe
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" | sort -u | head -n 1)
    [ -n "$mirror" ] || fail "apt-get has no source for $VERSION_CODENAME: add one to /etc/apt/sources.list"

    debootstrap --variant=minbase --components="$components" "$VERSION_CODENAME" "$root" "$mirror"
    mount -t proc proc "$root/proc"
    mount --bind -o ro /sys "$root/sys" # where PoCL counts the cores
    mkdir "$root/package"
    cp "$deb" "$root/package/kma.deb"
    cp -r "$tests/consumer" "$tests/chroot_inside.sh" "$root/package"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        KMA_DEVICE="Portable Computing Language" ${http_proxy:+http_proxy="$http_proxy"} \
        chroot "$root" bash /package/chroot_inside.sh "$version" "$tool"
}

if [ "${KMA_IN_NAMESPACE:-}" = "$root" ]; then
    inside_namespace "$@"
    exit
fi

[ "$(id -u)" -eq 0 ] || fail "needs root: run ctest as root, or configure with -DKMA_TEST_CHROOT=OFF"
for program in debootstrap unshare; do
    command -v $program >/dev/null || fail "$program not found: apt-get install debootstrap util-linux"
done
# Out here nothing is mounted in the folder.
remove_root() { rm -rf --one-file-system "$root"; }
trap remove_root EXIT
remove_root
KMA_IN_NAMESPACE=$root unshare --mount --pid --fork --kill-child "$0" "$@"
