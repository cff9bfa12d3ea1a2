#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
#
# Installs what Warpline needs on Debian 12, and only what is missing.
#   install-deps.sh          all of it: to build, to test, to check
#   install-deps.sh build    what building and running the programs needs
#   install-deps.sh --list   prints the packages and installs nothing
set -euo pipefail

build=(
    g++ cmake ninja-build ccache mold
    qt6-base-dev libqt6opengl6-dev                 # the window; Charts asks for OpenGL to be there
    qt6-charts-dev qt6-svg-dev
    qt6-qpa-plugins                                # X11, Wayland through XWayland, offscreen
    libfmt-dev libcli11-dev libboost1.81-dev
    zlib1g-dev libdeflate-dev libzstd-dev          # compressed traces, linked statically,
    libarchive-dev libbz2-dev liblzma-dev          # with what libarchive's static library needs
    nettle-dev libgmp-dev libxml2-dev
    libxxhash-dev
    libsqlite3-dev                                 # memory snapshots in SQLite
    libbenchmark-dev
    fonts-inter fonts-dejavu-core                  # for drawing where no desktop brings fonts
)
test=(
    python3
    clang-format clang-tidy
    desktop-file-utils appstream shared-mime-info  # validators of the desktop integration
    xvfb xdotool imagemagick                       # the window driven as by a person
)

packages=("${build[@]}")
case "${1:-all}" in
    all) packages+=("${test[@]}") ;;
    build) ;;
    --list)
        printf '%s\n' "${build[@]}" "${test[@]}"
        exit 0
        ;;
    *)
        sed -n 's/^#   //p' "$0" >&2
        exit 2
        ;;
esac

if ! command -v apt-get >/dev/null; then
    echo "install-deps.sh: this system has no apt-get; the build needs the equivalents of: ${packages[*]}" >&2
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install-deps.sh: not root and no sudo; please install: ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "Installing ${missing[*]}"
install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" >/dev/null
}
# The package lists may be absent or old; fetch them only if it does not work with those at hand.
if ! install 2>/dev/null; then
    "${as_root[@]}" apt-get -qq update
    install
fi
