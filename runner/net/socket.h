// SPDX-License-Identifier: GPL-3.0-or-later
// Stream sockets between the nodes of a run, on numeric addresses.
#pragma once

#include "core/base/expected.h"
#include "core/base/file_descriptor.h"

#include <sys/socket.h>

#include <chrono>
#include <string>
#include <string_view>

namespace fourfold {

using Deadline = std::chrono::steady_clock::time_point;
Deadline seconds_from_now(double seconds);
// Milliseconds until then, as poll() takes them: at least 0, rounded up.
int milliseconds_until(Deadline deadline);

// A numeric address as the kernel takes it; 0 when it is none, else its length.
socklen_t socket_address(const std::string& address, int port, sockaddr_storage& storage);
// Its text without the port; empty when it is neither IPv4 nor IPv6.
std::string address_text(const sockaddr* address);

struct Listener {
    FileDescriptor socket; // close-on-exec, already listening
    int port = 0;
};
// Listens on that address alone, on `port` or (0) on a free one. Fails with network when this node does not have the
// address, or the port is taken.
Expected<Listener> listen_on(const std::string& address, int port = 0);
// Whether the descriptor is a socket that listens on this port.
bool is_listening(int fd, int port);

// A blocking stream socket connected to a numeric address. In `error` 0 or the errno of the attempt.
FileDescriptor try_connect(const std::string& address, int port, Deadline deadline, int& error);
// Whether such an error has nothing to do with the other end, so that waiting for that is of no use.
bool lies_with_this_node(int error);
std::string why_not_connected(int error);
std::string cure_of_connection(int error); // empty: none is known
// The same, with the reason as a Problem (network).
Expected<FileDescriptor> connect_to(const std::string& address, int port, double timeout_s);

void set_no_delay(int fd);
void set_blocking(int fd, bool blocking);
// False when the connection broke or the time was up before every byte went over.
bool read_fully(int fd, char* to, std::size_t size, Deadline deadline);
bool send_fully(int fd, std::string_view bytes, Deadline deadline);

} // namespace fourfold
