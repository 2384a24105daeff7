// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rehearsal/rehearsal_words.h"

#include "core/base/text.h"

namespace fourfold {

std::string rank_words(const RankProgram& program)
{
    return text_of("rank %d (%s)", program.rank, program.place.c_str());
}

std::string pass_words(const Action& action)
{
    const char* kind = action.kind == ActionKind::forward ? "forward"
        : action.kind == ActionKind::weight_gradient      ? "weight gradient"
        : action.kind == ActionKind::input_gradient       ? "input gradient"
                                                          : "backward";
    return text_of("%s of micro-batch %d, chunk %d", kind, action.micro_batch, action.chunk);
}

std::string operation_words(const RankProgram& program, int operation)
{
    const WireOperation& asked = program.operations[std::size_t(operation)];
    std::string text = text_of("operation %d", operation + 1);
    if (asked.pass >= 0)
        text += " in the " + pass_words(program.passes[std::size_t(asked.pass)].action);
    text += ": ";
    for (const WireMessage& message : asked.messages)
        text += text_of("%s rank %d, ", message.sends ? "a send to" : "a receive from", message.peer);
    if (asked.messages.empty())
        text += asked.kind + " ";
    return text + "on " + program.wires[std::size_t(asked.wire)].name;
}

std::string shape_words(const WireOperation& asked)
{
    return asked.kind + (asked.reduction.empty() ? "" : " (" + asked.reduction + ")") + " of "
        + std::to_string(asked.elements) + " " + asked.type;
}

} // namespace fourfold
