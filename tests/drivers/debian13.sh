#!/usr/bin/env bash
# A Debian 13 in a folder: its PoCL 6.0 and Mesa's rusticl are newer than this machine's drivers. Usage:
#   debian13.sh ROOT make                              makes it and installs the drivers, unless it is there
#   debian13.sh ROOT run DRIVER FOLDER… -- COMMAND…    runs a command there with one driver, pocl or rusticl
# FOLDER: what the command needs of this machine, at the same place and read-only. The programs are this machine's own, which a newer
# system's libraries serve. Needs root; make needs debootstrap and a network, too.
set -euo pipefail
root=$1
action=$2
done_mark=$root/var/lib/kma-drivers

fail() {
    echo "debian13.sh: $*" >&2
    exit 1
}

inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} "${environment[@]}" chroot "$root" "$@"
}

make_root() {
    rm -rf --one-file-system "$root"
    local mirror
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | sort -u | head -n 1)
    debootstrap --variant=minbase trixie "$root" "${mirror:-http://deb.debian.org/debian}"
    mount -t proc proc "$root/proc"
    environment=()
    inside apt-get install -y -qq --no-install-recommends pocl-opencl-icd mesa-opencl-icd ocl-icd-libopencl1 libpng16-16t64
    touch "$done_mark"
}

run() {
    local driver=$3
    shift 3
    mount -t proc proc "$root/proc"
    mount --bind -o ro /sys "$root/sys" # where PoCL counts the cores
    mount --bind /dev "$root/dev"
    while [ "$1" != -- ]; do
        mkdir -p "$root$1"
        mount --bind "$1" "$root$1"
        mount -o remount,bind,ro "$root$1"
        shift
    done
    shift
    environment=(KMA_DEVICE="Portable Computing Language")
    [ "$driver" = rusticl ] && environment=(KMA_DEVICE=rusticl RUSTICL_ENABLE=llvmpipe)
    local name
    for name in ${!KMA_TEST_@}; do
        environment+=("$name=${!name}")
    done
    inside "$@"
}

if [ "${KMA_IN_NAMESPACE:-}" != "$root" ]; then
    [ "$(id -u)" -eq 0 ] || fail "needs root: run ctest as root"
    for program in debootstrap unshare; do
        command -v $program >/dev/null || fail "$program not found: apt-get install debootstrap util-linux"
    done
    [ "$action" = make ] && [ -e "$done_mark" ] && exit
    # In a namespace of its own, so that mounts and processes end with the script, however it ends.
    KMA_IN_NAMESPACE=$root exec unshare --mount --pid --fork --kill-child "$0" "$@"
fi
case $action in
make) make_root ;;
run) run "$@" ;;
*) fail "unknown action $action" ;;
esac
