# Clean Debian 12 roots, to be sourced by scripts that use what a new user has: packaging/test and .ci/bare. Needs root and debootstrap.
# SPDX-License-Identifier: Apache-2.0

# enter_namespace SCRIPT ARGUMENT..: continues in a mount namespace, so that what is mounted ends with the script. Ends with 77 if the
# machine does not allow it.
enter_namespace() {
  [ -z "${WORMCUBE_IN_NAMESPACE:-}" ] || return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null || ! unshare --mount true 2>/dev/null; then
    echo "skipped: this test needs root, debootstrap and mount namespaces"
    exit 77
  fi
  exec unshare --mount --fork env WORMCUBE_IN_NAMESPACE=1 "$@"
}

# make_bare FOLDER: what debootstrap installs at least, unless it is there.
make_bare() {
  [ -e "$1/etc/debian_version" ] && return
  rm -rf "$1" "$1.part"
  debootstrap --variant=minbase bookworm "$1.part" >"$1.log" || { tail "$1.log"; exit 1; }
  mv "$1.part" "$1"
}

# fresh BARE FOLDER: a copy of the bare root, in $root.
fresh() {
  root=$2
  cp -a "$1" "$root"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  # As every installed system has: a name that nobody knows is asked for 5 s whenever an MPI program starts.
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(hostname)" >"$root/etc/hosts"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --rbind /sys "$root/sys"  # MPI libraries look for network and cores there
}

# inside COMMAND..: in $root, with a clean environment; $path stands before PATH.
inside() { env -i PATH="${path:-}/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }

# remove FOLDER: the roots in it.
remove_roots() {
  umount --recursive --lazy "$1"/*/proc "$1"/*/dev "$1"/*/sys 2>/dev/null || true
  rm -rf --one-file-system "$1"
}
