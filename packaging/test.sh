#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
#
# Installs what is missing, builds everything with warnings as errors and runs all tests. Everything is run even if
# a test fails, so that one run tells all; the exit status is 0 only if all passed.
#   test.sh [--quick|--all]
#     --quick: without the build that has no Qt
#     --all:   model, views and command line under the address and undefined behaviour sanitizers too, and the threads
#              under the thread sanitizer
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
failed=()
summary=()

step() {
    printf '\n== %s (%d s)\n' "$1" $SECONDS
}
# build PRESET [--target TARGET...] -- [CMAKE OPTION...]
build() {
    local preset=$1 targets=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        targets+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    cmake --preset "$preset" --log-level=WARNING "$@"
    cmake --build --preset "$preset" "${targets[@]}"
}
run_tests() {
    local preset=$1 log=build/$1/ctest.log
    shift
    ctest --preset "$preset" "$@" 2>&1 | tee "$log" || failed+=("tests of $preset")
    summary+=("$preset: $(grep -E 'tests passed' "$log" || echo 'no result')")
}

packaging/install-deps.sh

step "Build, warnings are errors"
build ci
step "Tests"
run_tests ci

if [ "${1:-}" != --quick ]; then
    step "Command line on a machine without Qt"
    build cli -- -DWARPLINE_WERROR=ON -DCMAKE_DISABLE_FIND_PACKAGE_Qt6=ON
    build/cli/warpline-cli --version || failed+=("command line without Qt")
fi

if [ "${1:-}" = --all ]; then
    step "Model under the address and undefined behaviour sanitizers"
    build asan --target model_tests
    run_tests asan -L model
    step "Views and command line under the address and undefined behaviour sanitizers"
    build asan --target views_tests warpline-cli
    run_tests asan -L 'views|cli'
    step "Threads under the thread sanitizer"
    build tsan --target thread_tests
    run_tests tsan -L threads
fi

step "Summary"
printf '%s\n' "${summary[@]}"
if [ ${#failed[@]} -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
