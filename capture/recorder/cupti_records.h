// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// CUPTI's activity records as bytes. The places of the fields below are the same in every version since
/// CUDA 11 (CUpti_ActivityKernel4 to 10, Memcpy4 to 6, Memset3 and 4, Memory2 to 4 ...): later versions only
/// add at the end, so that a shorter record lacks a field and a longer one has more than is read here. So the
/// recorder needs no CUPTI, and takes records from whichever version the program has.
namespace warpline::capture::cupti {

using Record = std::span<const std::uint8_t>;

/// A field, or 0 where the record is too short to have it.
template <class T>
T get(Record r, std::size_t at) {
    T value{};
    if (at + sizeof value <= r.size())
        std::memcpy(&value, r.data() + at, sizeof value);
    return value;
}

enum class Kind : std::uint32_t {
    Memcpy = 1,
    Memset = 2,
    Kernel = 3,
    Driver = 4,
    Runtime = 5,
    Device = 8,
    Context = 9,
    ConcurrentKernel = 10,
    Name = 11,
    Marker = 12,
    MarkerData = 13,
    Overhead = 17,
    MemcpyPeer = 22,
    CudaEvent = 36,
    Stream = 37,
    Synchronization = 38,
    Memory = 49,
    MemoryPool = 50,
    GraphTrace = 51,
};

namespace kernel {
inline constexpr std::size_t kLeast = 112;
inline constexpr std::size_t kRegisters = 6, kStart = 16, kEnd = 24, kDevice = 40, kContext = 44,
                             kStream = 48, kGrid = 52, kBlock = 64, kStaticShared = 76, kDynamicShared = 80,
                             kLocalPerThread = 84, kCorrelation = 92, kName = 104, kGraphNode = 144,
                             kGraph = 156;
} // namespace kernel
namespace memcpy_ {
inline constexpr std::size_t kLeast = 48;
inline constexpr std::size_t kCopyKind = 4, kSource = 5, kDestination = 6, kFlags = 7, kBytes = 8,
                             kStart = 16, kEnd = 24, kDevice = 32, kContext = 36, kStream = 40,
                             kCorrelation = 44, kGraphNode = 64, kGraph = 72;
inline constexpr std::size_t kPeerSourceDevice = 44, kPeerDestinationDevice = 52, kPeerCorrelation = 60;
} // namespace memcpy_
namespace memset_ {
inline constexpr std::size_t kLeast = 48;
inline constexpr std::size_t kValue = 4, kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32, kContext = 36,
                             kStream = 40, kCorrelation = 44, kMemoryKind = 50, kGraphNode = 64, kGraph = 72;
} // namespace memset_
namespace api {
inline constexpr std::size_t kLeast = 40;
inline constexpr std::size_t kCallback = 4, kStart = 8, kEnd = 16, kProcess = 24, kThread = 28,
                             kCorrelation = 32, kResult = 36;
} // namespace api
namespace device {
inline constexpr std::size_t kLeast = 144;
inline constexpr std::size_t kMemory = 16, kMultiprocessors = 44, kMajor = 104, kMinor = 108, kId = 112,
                             kUuid = 120, kName = 136;
} // namespace device
namespace context {
inline constexpr std::size_t kLeast = 16;
inline constexpr std::size_t kId = 4, kDevice = 8, kNullStream = 14;
} // namespace context
namespace name {
inline constexpr std::size_t kLeast = 32;
inline constexpr std::size_t kObject = 4, kFirst = 8, kSecond = 12, kThird = 16, kName = 24;
inline constexpr std::uint32_t kThread = 2, kDevice = 3, kStream = 5;
} // namespace name
namespace marker {
inline constexpr std::size_t kLeast = 56;
inline constexpr std::size_t kFlags = 4, kTime = 8, kId = 16, kThread = 28, kName = 40, kDomain = 48;
inline constexpr std::uint32_t kInstant = 1, kStart = 2, kEnd = 4;
} // namespace marker
namespace marker_data {
inline constexpr std::size_t kLeast = 32;
inline constexpr std::size_t kFlags = 4, kId = 8, kPayloadKind = 12, kPayload = 16, kColor = 24,
                             kCategory = 28;
inline constexpr std::uint32_t kHasColor = 2;
inline constexpr std::uint32_t kDouble = 0, kUint64 = 1, kInt64 = 4;
} // namespace marker_data
namespace overhead {
inline constexpr std::size_t kLeast = 40;
inline constexpr std::size_t kKind = 4, kThread = 16, kStart = 24, kEnd = 32;
} // namespace overhead
namespace sync {
inline constexpr std::size_t kLeast = 40;
inline constexpr std::size_t kType = 4, kStart = 8, kEnd = 16, kCorrelation = 24, kContext = 28, kStream = 32,
                             kEvent = 36;
inline constexpr std::uint32_t kNone = 0xFFFFFFFF; ///< of stream and event
} // namespace sync
namespace memory {
inline constexpr std::size_t kLeast = 112;
inline constexpr std::size_t kOperation = 4, kKind = 8, kCorrelation = 12, kAddress = 16, kBytes = 24,
                             kTime = 32, kDevice = 52, kContext = 56, kStream = 60, kPoolType = 80,
                             kPoolAddress = 88, kPoolSize = 104, kPoolUsed = 112;
inline constexpr std::uint32_t kAllocation = 1, kRelease = 2;
} // namespace memory
namespace pool {
inline constexpr std::size_t kLeast = 64;
inline constexpr std::size_t kOperation = 4, kDevice = 20, kSize = 40, kTime = 56, kUsed = 64;
inline constexpr std::uint32_t kDestroyed = 2;
} // namespace pool
namespace graph {
inline constexpr std::size_t kLeast = 40;
inline constexpr std::size_t kCorrelation = 4, kStart = 8, kEnd = 16, kDevice = 24, kGraph = 28,
                             kContext = 32, kStream = 36;
} // namespace graph
namespace stream {
inline constexpr std::size_t kLeast = 24;
inline constexpr std::size_t kContext = 4, kId = 8, kPriority = 12, kFlag = 16;
} // namespace stream

} // namespace warpline::capture::cupti
