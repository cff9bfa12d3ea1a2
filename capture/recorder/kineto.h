// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpline::capture {

/// What PyTorch's own profiler is asked for.
struct KinetoRequest {
    std::string output;          ///< NAME.json; each process writes NAME_PID.json
    std::int64_t durationMs = 0; ///< so long, or
    std::int64_t iterations = 0; ///< so many optimizer steps, beginning at a multiple of `roundUp`
    std::int64_t roundUp = 1;
    bool shapes = true;
    bool stacks = true;
    bool modules = true;
    bool flops = false;
    bool memory = true;
};
/// The request in the words of kineto's configuration.
std::string kinetoConfiguration(const KinetoRequest& request);

/// Plays the daemon that a PyTorch program started with KINETO_USE_DAEMON=1 asks for work: answers each
/// process once with the request, when it is armed. Datagrams over UNIX sockets in a private folder.
class KinetoDaemon {
  public:
    KinetoDaemon() = default;
    ~KinetoDaemon();
    KinetoDaemon(const KinetoDaemon&) = delete;
    KinetoDaemon& operator=(const KinetoDaemon&) = delete;

    /// `folder` exists, is ours alone, and short: socket names are.
    Result<Done> open(const std::string& folder);
    /// What a program's environment needs to find the daemon.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
    /// From now on whoever asks gets this, once a process.
    void arm(const KinetoRequest& request) { m_configuration = kinetoConfiguration(request); }
    /// Answers what has come; waits up to `ms` for the first message.
    void serve(int ms);
    /// Processes that reported, and those that were given the request.
    [[nodiscard]] const std::set<std::int32_t>& known() const { return m_known; }
    [[nodiscard]] const std::set<std::int32_t>& asked() const { return m_asked; }

  private:
    void answer(std::string_view message, const std::string& to);
    void send(const char* type, std::string_view payload, const std::string& to) const;

    int m_file = -1;
    std::string m_folder;
    std::string m_path;
    std::string m_configuration;
    std::set<std::int32_t> m_known;
    std::set<std::int32_t> m_asked;
};

} // namespace warpline::capture
