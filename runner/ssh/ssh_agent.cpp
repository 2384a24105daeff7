// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_agent.h"

#include "core/base/file_descriptor.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>

namespace fourfold {

bool agent_answers(const std::string& socket, double seconds)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.empty() || socket.size() >= sizeof address.sun_path)
        return true;
    std::memcpy(address.sun_path, socket.c_str(), socket.size() + 1);
    const FileDescriptor line(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!line.valid())
        return true;
    if (::connect(line.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return errno != EAGAIN; // so many wait for it already
    // SSH_AGENTC_REQUEST_IDENTITIES (draft-miller-ssh-agent, section 4.4), of one byte.
    constexpr std::array<unsigned char, 5> kQuestion{0, 0, 0, 1, 11};
    if (::send(line.get(), kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) != ssize_t(kQuestion.size()))
        return true;
    pollfd answer{line.get(), POLLIN, 0};
    constexpr int kPerSecond = 1000;
    return ::poll(&answer, 1, static_cast<int>(seconds * kPerSecond)) != 0;
}

} // namespace fourfold
