// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// Opens whatever bytes it is given as a memory snapshot, and asks of it what a view asks. With libFuzzer
// (cmake -DWARPLINE_FUZZ=ON, Clang):
//     fuzz_snapshot CORPUS_FOLDER
// without it fuzz_main.cpp damages files at random.
#include "model/analysis/memory_holders.h"
#include "model/analysis/memory_oom.h"
#include "model/analysis/memory_peaks.h"
#include "model/import/import.h"
#include "model/query/memory_layout.h"
#include "model/query/memory_state.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/check_memory.h"
#include "tests/support/pack.h"
#include "tests/support/pickle.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpline;
    ImportOptions options;
    options.threads = 1;
    const auto opened = openFromMemory({reinterpret_cast<const char*>(data), size}, "fuzz", options);
    if (!opened.ok()) {
        // Whatever it is, the user is told in a sentence.
        if (opened.error().message.size() < 10 || opened.error().message.find('\n') != std::string::npos) {
            std::fprintf(stderr, "no sentence: \"%s\"\n", opened.error().message.c_str());
            std::abort();
        }
        return 0;
    }
    for (const MemoryHistoryPtr& history : opened.value().memory) {
        const std::string broken = test::brokenPromise(*history);
        if (!broken.empty()) {
            std::fprintf(stderr, "%s\n", broken.c_str());
            std::abort();
        }
        for (std::size_t i = 0; i < history->devices.size(); ++i) {
            const MemoryDevice& device = history->devices[i];
            const auto layout = MemoryLayout::build(history, i);
            LayoutFrame frame;
            layout->frame({MemoryAxis::Events, 0, device.lastMoment() + std::int64_t{1}},
                          {0, std::max<std::int64_t>(layout->peak(), 1)}, 20, 20, frame);
            layout->frame({MemoryAxis::Time, device.extent().begin, device.extent().end},
                          {0, std::max<std::int64_t>(layout->peak(), 1)}, 20, 20, frame);
            for (const Moment m : {Moment{0}, device.lastMoment() / 2, device.lastMoment()}) {
                (void)memoryState(device, layout->live(), m);
                (void)holdersAt(*history, device, layout->live(), m, {});
            }
            for (std::size_t oom = 0; oom < device.outOfMemory.size() && oom < 4; ++oom)
                (void)outOfMemoryReport(*history, device, layout->live(), oom);
            (void)localPeaks(device, MemoryCurve::Requested);
        }
    }
    return 0;
}

std::vector<std::string> fuzzSeeds() {
    using namespace pickle;
    const std::string frame =
        dict(item("filename", text("/a/model.py")) + item("line", number(3)) + item("name", text("forward")));
    const std::string block =
        dict(item("address", number(4096)) + item("size", number(512)) + item("requested_size", number(500)) +
             item("state", text("active_allocated")) + item("frames", "h\x01"));
    const std::string segment = dict(
        item("device", number(0)) + item("address", number(4096)) + item("total_size", number(2 << 20)) +
        item("allocated_size", number(512)) + item("active_size", number(512)) + item("stream", number(0)) +
        item("segment_type", text("small")) + item("segment_pool_id", "K\x01K\x02\x86") +
        item("is_expandable", "\x88") + item("blocks", list(block)));
    std::string events;
    for (int i = 0; i < 12; ++i) {
        events += entry("segment_map", 1 << 20, 1 << 20, 1'790'000'000'000'000 + i);
        events += entry("alloc", 4096 + (i % 3) * 512, 500, 1'790'000'000'000'000 + i);
        events += entry("free_requested", 4096, 500, 1'790'000'000'000'001 + i);
        events += entry("free_completed", 4096, 500, 1'790'000'000'000'001 + i);
        events += entry("segment_unmap", (1 << 20) + i * 4096, 8192, 1'790'000'000'000'001 + i);
    }
    events +=
        dict(item("action", text("oom")) + item("size", number(1 << 30)) + item("device_free", number(7)));
    const std::string mark = dict(item("name", text("Optimizer.step#A")) + item("stage", text("START")) +
                                  item("device", number(0)) + item("time_us", number(1'790'000'000'000'000)));
    const std::string whole =
        "\x80\x04" + list(frame) + "q\x01" + "0" +
        dict(item("segments", list(segment)) + item("device_traces", list(list(events))) +
             item("external_annotations", list(mark)) +
             item("allocator_settings", dict(item("max_split_size", number(-1))))) +
        ".";
    const std::string json =
        R"({"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "allocated_size": 512,
 "active_size": 512, "stream": 0, "segment_type": "small", "segment_pool_id": [0, 1],
 "blocks": [{"address": 4096, "size": 512, "requested_size": 500, "state": "active_pending_free",
             "frames": [{"filename": "a.py", "line": 1, "name": "f"}]}]}],
 "device_traces": [[{"action": "alloc", "addr": 4096, "size": 500, "stream": 0, "time_us": 1790000000000000,
                     "frames": [{"filename": "b.py", "line": 2, "name": "g"}]},
                    {"action": "free_completed", "addr": 8192, "size": 100, "stream": 7, "time_us": 1790000000000001}]],
 "allocator_settings": {"roundup_power2_divisions": {"1": 4}}})";
    return {whole, json, snapshot(events, segment), pack::gzip(whole),
            pack::zip({{"a.pickle", whole}, {"b.json", json}})};
}

const std::vector<std::string_view>& fuzzWords() {
    using namespace std::string_view_literals;
    static const std::vector<std::string_view> kWords = {"(",
                                                         ")",
                                                         "]",
                                                         "}",
                                                         "e",
                                                         "u",
                                                         "a",
                                                         "s",
                                                         ".",
                                                         "N",
                                                         "\x94",
                                                         "h\x01",
                                                         "q\x01",
                                                         "r\xFF\xFF\xFF\xFF",
                                                         "0",
                                                         "1",
                                                         "2",
                                                         "t",
                                                         "l",
                                                         "d",
                                                         "\x85",
                                                         "\x86",
                                                         "\x87",
                                                         "\x8f",
                                                         "\x90(",
                                                         "K\x05",
                                                         "M\xFF\xFF",
                                                         "J\xFF\xFF\xFF\xFF",
                                                         "\x8a\xFF",
                                                         "\x8b\xFF\xFF\xFF\x7F",
                                                         "X\xFF\xFF\xFF\xFF",
                                                         "\x8d\0\0\0\0\0\0\0\x7F"sv,
                                                         "c",
                                                         "R",
                                                         "b",
                                                         "\x93",
                                                         "G\x7F\xF0\0\0\0\0\0\0"sv,
                                                         "\x8a\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0"sv,
                                                         "\x8c\x06"
                                                         "action",
                                                         "\x8c\x05"
                                                         "alloc",
                                                         "\x8c\x06"
                                                         "blocks",
                                                         "\x8c\x06"
                                                         "frames",
                                                         "\x8c\x0a"
                                                         "total_size",
                                                         "{",
                                                         "[",
                                                         "\"",
                                                         ":",
                                                         ",",
                                                         "null",
                                                         "1e300"};
    return kWords;
}
