// SPDX-License-Identifier: GPL-3.0-or-later
// Files of a node by their content: "<base>/store/<sha256>". A file is there whole and right, or not at all; what
// arrived of one that is under way is kept (<sha256>.part) and continued.
#pragma once

#include "core/base/sha256.h"
#include "runner/agent/system/trusted_path.h"
#include "runner/protocol/hash_cache.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// A file on its way into the store.
class Incoming {
public:
    [[nodiscard]] uint64_t offset() const { return offset_; } // bytes that are already there
    Expected<void> append(std::string_view bytes);
    // While its sender is silent another session may go on with the file; nothing may be appended meanwhile.
    void let_go();
    // False when another session has the file, or had it and changed it: then this one is over.
    bool take_back();

private:
    friend class Store;
    FileDescriptor file_;
    std::filesystem::path part_;
    std::string sha256_;
    uint64_t size_ = 0, offset_ = 0;
    uint64_t handed_ = 0; // of which the disk has been told
    Sha256 hash_; // of what is there
};

class Store {
public:
    explicit Store(std::filesystem::path base, GroupFolders group_writable = {});

    // The place of a file with this content: in the store, or the first candidate that has it where nobody can put
    // another one (trusted_path.h). A file of the store whose content is wrong is removed, so that it is sent again.
    std::optional<std::filesystem::path> find(
        const std::string& sha256, uint64_t size, const std::vector<std::string>& candidates);
    // Takes the content from the first candidate that has it, wherever that is; nothing where there is no room.
    std::optional<std::filesystem::path> copy(
        const std::string& sha256, uint64_t size, const std::vector<std::string>& candidates);
    // Verifies a file against its hash, and that nobody else can put another one there; the Problem names it.
    Expected<void> verify(const std::filesystem::path& file, const std::string& sha256);

    [[nodiscard]] std::filesystem::path place(const std::string& sha256) const;
    // Begins or continues a file; nothing when another session is writing it, unless `beside` it: then what that one
    // has so far is copied and continued.
    Expected<std::optional<Incoming>> begin(const std::string& sha256, uint64_t size, bool beside = false);
    // What another session is writing: the bytes so far, and who it is (runner/agent/system/lock_holder.h).
    struct Rival {
        uint64_t bytes = 0;
        std::string process;
    };
    [[nodiscard]] Rival rival(const std::string& sha256) const;
    // Checks size and hash and puts the file in its place; a wrong one is thrown away.
    Expected<void> finish(Incoming incoming);

private:
    [[nodiscard]] bool holds(
        const FileDescriptor& file, const std::filesystem::path& name, const std::string& sha256, uint64_t size);
    bool copy_one(const std::filesystem::path& file, const std::string& sha256, uint64_t size);
    [[nodiscard]] std::filesystem::path part(const std::string& sha256) const;

    std::filesystem::path folder_;
    GroupFolders group_writable_;
    HashCache hashes_;
};

} // namespace fourfold
