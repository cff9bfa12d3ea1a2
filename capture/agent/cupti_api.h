// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cupti.h>

namespace warpline::agent {

/// CUPTI's functions, found at run time in the library that the process uses anyway. Those that older
/// versions lack are null.
struct CuptiApi {
    decltype(&::cuptiGetVersion) getVersion;
    decltype(&::cuptiGetResultString) getResultString;
    decltype(&::cuptiSubscribe) subscribe;
    decltype(&::cuptiUnsubscribe) unsubscribe;
    decltype(&::cuptiEnableCallback) enableCallback;
    decltype(&::cuptiEnableDomain) enableDomain;
    decltype(&::cuptiGetCallbackName) getCallbackName;
    decltype(&::cuptiActivityRegisterCallbacks) registerCallbacks;
    decltype(&::cuptiActivityEnable) enable;
    decltype(&::cuptiActivityDisable) disable;
    decltype(&::cuptiActivityFlushAll) flushAll;
    decltype(&::cuptiActivityGetNextRecord) getNextRecord;
    decltype(&::cuptiActivityGetNumDroppedRecords) getDropped;
    decltype(&::cuptiGetTimestamp) getTimestamp;
    // Later than CUDA 11.
    decltype(&::cuptiFinalize) finalize;
    decltype(&::cuptiActivityFlushPeriod) flushPeriod;
    decltype(&::cuptiSetThreadIdType) setThreadIdType;
    decltype(&::cuptiActivityRegisterTimestampCallback) registerTimestampCallback;
    decltype(&::cuptiActivityEnableRuntimeApi) enableRuntimeApi;
    decltype(&::cuptiActivityEnableDriverApi) enableDriverApi;

    void* library = nullptr;
    char path[512] = {}; ///< where it lies

    /// Finds and opens CUPTI: the path of WARPLINE_CUPTI, what the process has mapped, what the loader finds,
    /// the toolkit's usual places. False where there is none, or one that lacks what is needed; `why` (of
    /// `size` bytes) then gets a sentence.
    bool load(char* why, unsigned size);
};

} // namespace warpline::agent
