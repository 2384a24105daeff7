// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_authenticate.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "runner/ssh/home_path.h"
#include "runner/ssh/known_hosts.h"
#include "runner/ssh/ssh_agent.h"

#include <libssh/callbacks.h>

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace fourfold {

namespace {

constexpr int kMostRounds = 8; // of keyboard-interactive
constexpr int kMostTries = 3; // of its answers, as ssh has it
constexpr std::size_t kLongestPrompt = 500;

// What a host sends is shown to a person.
std::string harmless(const char* text)
{
    return printable(text ? text : "", kLongestPrompt);
}

std::string login_name(ssh_session session)
{
    char* value = nullptr;
    if (ssh_options_get(session, SSH_OPTIONS_USER, &value) != SSH_OK || !value)
        return {};
    std::string out = value;
    ssh_string_free_char(value);
    return out;
}

void say_right(const SshPrompts& prompts)
{
    if (prompts.right)
        prompts.right();
}

// Whether a passphrase that is known, or that the user gives, works.
bool unlock(const SshPrompts& prompts, const std::string& name, const std::string& what,
    const std::function<bool(const char*)>& works)
{
    bool asked = false;
    std::function<std::optional<std::string>()> ask;
    if (prompts.secret)
        ask = [&] { return prompts.secret({name, "passphrase of " + what, false, std::exchange(asked, true)}); };
    if (!Passphrases::of_this_program().try_each(works, ask))
        return false;
    if (asked)
        say_right(prompts);
    return true;
}

// `tried` says which key it was.
Expected<int> with_key_file(ssh_session session, const std::string& name, const std::string& key_file,
    const SshPrompts& prompts, std::string& tried)
{
    const std::string file = expanded_home(key_file);
    if (access(file.c_str(), R_OK) != 0)
        return Problem{
            ProblemCode::not_found, "the key file cannot be read", "check key_file of the target", name + ": " + file};
    const auto content = read_text_file(file, 1u << 20);
    if (!content || content->find("PRIVATE KEY-----") == std::string::npos)
        return Problem{ProblemCode::bad_input, "the key file holds no private key",
            "name the private one in key_file, without .pub", name + ": " + file};
    ssh_key raw = nullptr;
    const auto load = [&](const char* passphrase) {
        return ssh_pki_import_privkey_file(file.c_str(), passphrase, nullptr, nullptr, &raw) == SSH_OK;
    };
    if (!load(nullptr) && !unlock(prompts, name, file, load))
        return Problem{ProblemCode::refused,
            "the key file is protected by a passphrase, which was not given or is not right",
            std::string(prompts.secret ? "try again with the passphrase"
                                       : "start it at a terminal or in the desktop, which ask")
                + ", or load the key into ssh-agent (ssh-add) and leave key_file out",
            name + ": " + file};
    const SshKey key(raw);
    tried = "tried " + file + ", " + type_of(raw) + " " + fingerprint_of(raw);
    return ssh_userauth_publickey(session, nullptr, raw);
}

// For keys that libssh finds itself (configured and default ones): it asks only for a key that the host accepts.
struct PassphraseAttempt {
    const char* passphrase = nullptr; // null: only say whether one is wanted
    bool wanted = false;
};

int give_passphrase(const char*, char* buffer, std::size_t size, int, int, void* data)
{
    auto& attempt = *static_cast<PassphraseAttempt*>(data);
    attempt.wanted = true;
    if (!attempt.passphrase || std::strlen(attempt.passphrase) >= size)
        return -1;
    std::strcpy(buffer, attempt.passphrase);
    return 0;
}

int with_found_keys(ssh_session session, const std::string& name, const SshPrompts& prompts)
{
    PassphraseAttempt attempt;
    ssh_callbacks_struct callbacks{};
    callbacks.userdata = &attempt;
    callbacks.auth_function = give_passphrase;
    ssh_callbacks_init(&callbacks);
    ssh_set_callbacks(session, &callbacks);
    int result = ssh_userauth_publickey_auto(session, nullptr, nullptr);
    if (attempt.wanted && result == SSH_AUTH_DENIED) {
        unlock(prompts, name, "your SSH key", [&](const char* passphrase) {
            attempt.passphrase = passphrase;
            result = ssh_userauth_publickey_auto(session, nullptr, nullptr);
            return result == SSH_AUTH_SUCCESS || result == SSH_AUTH_PARTIAL;
        });
    }
    // The session outlives what the callbacks point to.
    static ssh_callbacks_struct kNone = [] {
        ssh_callbacks_struct none{};
        ssh_callbacks_init(&none);
        return none;
    }();
    ssh_set_callbacks(session, &kNone);
    return result;
}

// One-time codes and the like: every question of the host goes to the user. `again`: the answers before were not right;
// afterwards whether these are not.
int try_questions(ssh_session session, const std::string& name, const SshPrompts& prompts, bool& again)
{
    int result = ssh_userauth_kbdint(session, nullptr, nullptr);
    bool refused = std::exchange(again, false);
    for (int round = 0; result == SSH_AUTH_INFO && round < kMostRounds; ++round) {
        const int count = ssh_userauth_kbdint_getnprompts(session);
        const std::string heading = harmless(ssh_userauth_kbdint_getinstruction(session));
        for (int i = 0; i < count; ++i) {
            char echo = 0;
            const std::string prompt
                = harmless(ssh_userauth_kbdint_getprompt(session, static_cast<unsigned>(i), &echo));
            auto answer = prompts.secret(
                {name, (heading.empty() ? "" : heading + " ") + prompt, echo != 0, std::exchange(refused, false)});
            if (!answer)
                return SSH_AUTH_DENIED;
            again = true;
            ssh_userauth_kbdint_setanswer(session, static_cast<unsigned>(i), answer->c_str());
            forget(*answer);
        }
        result = ssh_userauth_kbdint(session, nullptr, nullptr);
        again = again && result == SSH_AUTH_DENIED;
    }
    return result;
}

int with_questions(ssh_session session, const std::string& name, const SshPrompts& prompts)
{
    bool again = false;
    int result = try_questions(session, name, prompts, again);
    for (int tries = 1; again && tries < kMostTries; ++tries)
        result = try_questions(session, name, prompts, again);
    if (result == SSH_AUTH_SUCCESS)
        say_right(prompts);
    return result;
}

std::string names_of(int methods)
{
    std::string out;
    for (const auto& [method, name] :
        {std::pair(SSH_AUTH_METHOD_PASSWORD, "passwords"), std::pair(SSH_AUTH_METHOD_INTERACTIVE, "questions"),
            std::pair(SSH_AUTH_METHOD_HOSTBASED, "host keys"), std::pair(SSH_AUTH_METHOD_GSSAPI_MIC, "Kerberos")}) {
        if ((methods & static_cast<int>(method)) != 0)
            out += (out.empty() ? "" : ", ") + std::string(name);
    }
    return out.empty() ? "no way to log in" : out;
}

} // namespace

Expected<void> authenticate(
    ssh_session session, const std::string& name, const std::string& key_file, const SshPrompts& prompts)
{
    int result = ssh_userauth_none(session, nullptr);
    if (result == SSH_AUTH_SUCCESS)
        return {};
    if (result == SSH_AUTH_ERROR)
        return Problem{ProblemCode::network,
            std::string("the connection broke while logging in: ") + ssh_get_error(session), {}, name};
    const int methods = ssh_userauth_list(session, nullptr);
    const char* const agent = std::getenv("SSH_AUTH_SOCK");
    std::string tried = agent ? "tried those of ssh-agent and ~/.ssh" : "tried those of ~/.ssh; no ssh-agent runs here";
    constexpr double kAgentSeconds = 5;
    if (agent && key_file.empty() && !agent_answers(agent, kAgentSeconds)) {
        tried = "tried those of ~/.ssh; the ssh-agent at " + std::string(agent) + " does not answer";
        if (prompts.note)
            prompts.note(name, "the ssh-agent at " + std::string(agent) + " does not answer: its keys are not tried");
        ssh_options_set(session, SSH_OPTIONS_IDENTITY_AGENT, "/dev/null");
    }
    if ((methods & SSH_AUTH_METHOD_PUBLICKEY) != 0) {
        if (key_file.empty()) {
            result = with_found_keys(session, name, prompts);
        } else {
            FOURFOLD_TRY(result, with_key_file(session, name, key_file, prompts, tried));
        }
        if (result == SSH_AUTH_SUCCESS)
            return {};
    }
    // After a key the host may want a second factor (`partial`); without any key it may want questions alone.
    const bool partial = result == SSH_AUTH_PARTIAL;
    const bool questions = (ssh_userauth_list(session, nullptr) & SSH_AUTH_METHOD_INTERACTIVE) != 0;
    if (questions && prompts.secret && with_questions(session, name, prompts) == SSH_AUTH_SUCCESS)
        return {};
    const std::string user = login_name(session);
    std::string message
        = "the host accepts none of your keys" + (user.empty() ? "" : " for user " + user) + ": " + tried;
    std::string hint
        = "add your public key to ~/.ssh/authorized_keys on the host, or load the right key into ssh-agent";
    if (partial || ((methods & SSH_AUTH_METHOD_PUBLICKEY) == 0 && questions)) {
        message = "the host wants answers (a one-time code) that were not given or not right";
        hint = prompts.secret ? "try again" : "run it where it can ask you, from a terminal or the desktop";
    } else if ((methods & SSH_AUTH_METHOD_PUBLICKEY) == 0) {
        message = "the host does not allow keys: it offers " + names_of(methods);
        hint = "let its sshd take public keys (PubkeyAuthentication yes); passwords are not used";
    }
    return Problem{ProblemCode::refused, message, hint, name};
}

} // namespace fourfold
