#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
#
# Starts WARPLINE under Xvfb, opens SAMPLE and uses it as a person would: keys, mouse, what is on the screen.
#   window.sh WARPLINE SAMPLE
set -euo pipefail

program=$1
sample=$2
for tool in Xvfb xdotool import convert; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: $tool is not installed (packaging/install-deps.sh test brings it)"
        exit 77
    fi
done

work=$(mktemp -d)
xvfb= app=
cleanup() {
    [ -z "$app" ] || kill "$app" 2>/dev/null || true
    [ -z "$xvfb" ] || kill "$xvfb" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

fail() {
    echo "FAILED: $*" >&2
    cat "$work/stderr" >&2 || true
    exit 1
}

# A display of its own: Xvfb picks a free number and writes it to the file.
Xvfb -displayfd 3 -screen 0 1440x900x24 -nolisten tcp 3>"$work/display" 2>/dev/null &
xvfb=$!
for _ in $(seq 100); do
    [ -s "$work/display" ] && break
    sleep 0.1
done
[ -s "$work/display" ] || fail "Xvfb did not start"
DISPLAY=:$(cat "$work/display")
export DISPLAY
export QT_QPA_PLATFORM=xcb XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
unset WAYLAND_DISPLAY

title() { xdotool getwindowname "$window" 2>/dev/null || true; }
until_title() { # PATTERN SECONDS
    for _ in $(seq $(($2 * 10))); do
        [[ $(title) == $1 ]] && return 0
        kill -0 "$app" 2>/dev/null || fail "the program ended while waiting for the title $1"
        sleep 0.1
    done
    fail "the title is '$(title)', not $1"
}
picture() { import -silent -window root "$work/$1.png"; }
# How many pixels differ between two pictures.
difference() { (compare -metric AE "$work/$1.png" "$work/$2.png" null: 2>&1 || true) | sed 's/[^0-9.e+].*//'; }
until_changed() { # FROM TO WHAT
    for _ in $(seq 100); do
        picture "$2"
        [ "$(printf '%.0f' "$(difference "$1" "$2")")" -gt 200 ] && return 0
        sleep 0.1
    done
    fail "$3 changed nothing on the screen"
}
keys() { xdotool key --window "$window" --clearmodifiers "$@"; }

"$program" "$sample" >"$work/stdout" 2>"$work/stderr" &
app=$!
window=
for _ in $(seq 300); do
    window=$(xdotool search --onlyvisible --pid "$app" --name Warpline 2>/dev/null | head -1 || true)
    [ -n "$window" ] && break
    kill -0 "$app" 2>/dev/null || fail "the program ended before it had a window"
    sleep 0.1
done
[ -n "$window" ] || fail "there is no window"
xdotool windowsize --sync "$window" 1400 860 || true
xdotool windowfocus --sync "$window" || true

echo "the sample opens"
until_title "gpt.json.gz*Warpline" 60
sleep 1
picture whole
colours=$(convert "$work/whole.png" -format '%k' info:)
[ "$colours" -gt 60 ] || fail "the picture has only $colours colours: nothing is drawn"

echo "W zooms the timeline"
xdotool mousemove --window "$window" 700 250
xdotool click --window "$window" 1
keys w w w
until_changed whole zoomed "zooming"

echo "the search finds and steps"
keys ctrl+f
xdotool type --window "$window" --delay 20 "cunn_SoftMax"
keys Return
until_changed zoomed found "searching"
keys Escape Escape

echo "a layout of its own for the ops, and dark"
picture before
keys ctrl+2
until_changed before ops "the layout"

echo "the palette runs a command"
keys ctrl+shift+p
sleep 0.5
palette=$(xdotool search --onlyvisible --pid "$app" --name Commands 2>/dev/null | head -1 || true)
[ -n "$palette" ] || fail "Ctrl+Shift+P opened no palette"
xdotool type --delay 20 "colours dark"
xdotool key Return
dark() {
    picture dark
    [ "$(convert "$work/dark.png" -colorspace Gray -format '%[fx:mean<0.35]' info:)" = 1 ]
}
for _ in $(seq 50); do
    dark && break
    sleep 0.1
done
dark || fail "the dark colours did not come"

echo "Ctrl+W closes, Ctrl+Q ends"
xdotool windowfocus --sync "$window" || true
keys ctrl+w
until_title "Warpline" 10
keys ctrl+q || true # the window may be gone before the keys are let go again
for _ in $(seq 100); do
    kill -0 "$app" 2>/dev/null || break
    sleep 0.1
done
kill -0 "$app" 2>/dev/null && fail "Ctrl+Q did not end the program"
status=0
wait "$app" || status=$?
app=
[ "$status" -eq 0 ] || fail "the program ended with $status"
grep -iE "QObject|qt\.|warning" "$work/stderr" && fail "Qt complained"
echo "done"
