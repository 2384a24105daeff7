// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/known_hosts.h"

#include "core/base/json.h"
#include "core/base/paths.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

namespace fourfold {

std::filesystem::path own_known_hosts()
{
    return config_folder() / "known_hosts";
}

std::string fingerprint_of(ssh_key key)
{
    unsigned char* hash = nullptr;
    std::size_t size = 0;
    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != 0)
        return "(unreadable key)";
    char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
    std::string out = text ? text : "(unreadable key)";
    ssh_string_free_char(text);
    ssh_clean_pubkey_hash(&hash);
    return out;
}

std::string type_of(ssh_key key)
{
    const char* type = ssh_key_type(key) == SSH_KEYTYPE_ECDSA ? ssh_pki_key_ecdsa_name(key)
                                                              : ssh_key_type_to_char(ssh_key_type(key));
    return type ? type : "unknown";
}

HostKeyVerdict look_up_host_key(
    const std::vector<std::filesystem::path>& files, const std::string& host, int port, ssh_key key)
{
    const std::string name = port == 22 ? host : "[" + host + "]:" + std::to_string(port);
    HostKeyVerdict verdict;
    for (const auto& file : files) {
        const auto text = read_text_file(file, 16u << 20);
        if (!text)
            continue;
        std::istringstream lines(*text);
        std::string line;
        for (int number = 1; std::getline(lines, line); ++number) {
            std::size_t begin = line.find_first_not_of(" \t");
            if (begin == std::string::npos || line[begin] == '#')
                continue;
            bool revoked = false;
            if (line[begin] == '@') {
                if (line.compare(begin, 9, "@revoked ") != 0)
                    continue; // certificate authorities: libssh knows no host certificates
                revoked = true;
                begin = line.find_first_not_of(" \t", begin + 9);
                if (begin == std::string::npos)
                    continue;
            }
            if (line.ends_with('\r')) // of an editor elsewhere
                line.pop_back();
            ssh_knownhosts_entry* entry = nullptr;
            if (ssh_known_hosts_parse_line(name.c_str(), line.c_str() + begin, &entry) != SSH_OK)
                continue;
            const bool same = ssh_key_cmp(entry->publickey, key, SSH_KEY_CMP_PUBLIC) == 0;
            const bool same_type = type_of(entry->publickey) == type_of(key);
            const HostKeyVerdict against{HostKeyState::unknown, file.string(), number, fingerprint_of(entry->publickey),
                type_of(entry->publickey)};
            ssh_knownhosts_entry_free(entry);
            const auto speak_against = [&](HostKeyState state) {
                verdict = against;
                verdict.state = state;
            };
            if (revoked) {
                if (same) {
                    speak_against(HostKeyState::revoked);
                    return verdict;
                }
            } else if (same) {
                if (verdict.state == HostKeyState::unknown || verdict.state == HostKeyState::other_type)
                    verdict.state = HostKeyState::known;
            } else if (same_type) {
                speak_against(HostKeyState::changed);
            } else if (verdict.state == HostKeyState::unknown) {
                speak_against(HostKeyState::other_type);
            }
        }
    }
    return verdict;
}

Expected<void> remember_host_key(const std::filesystem::path& file, ssh_session session)
{
    char* text = nullptr;
    if (ssh_session_export_known_hosts_entry(session, &text) != SSH_OK || !text)
        return Problem{ProblemCode::failed, "the host key cannot be written down", {}, file.string()};
    std::string line = text;
    ssh_string_free_char(text);
    if (line.empty() || line.back() != '\n')
        line += '\n';
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0 || fchmod(fd, 0600) != 0
        || ::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()) || fsync(fd) != 0) {
        const int error = errno;
        if (fd >= 0)
            ::close(fd);
        return Problem{ProblemCode::io, std::string("the host key cannot be stored: ") + std::strerror(error),
            "make that file writable for you", file.string()};
    }
    ::close(fd);
    return {};
}

} // namespace fourfold
