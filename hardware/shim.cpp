// A module of this folder's kind (README.md, "A module of your own") behind a C ABI, so that Sojourn
// can ask it about packets. Compiled with what Verilator makes of the module.
//
// The clock runs only while a question is open: from `ask`, `put` or `shed` until what is said last has
// been clocked in. A module without a port `put` says one thing of each question, which ends with it.
// Two copies of the module are asked the same. In one, bits that nobody has set are 0, in the other
// they are 1; if their answers differ, the answer hangs on an X. HAVE_X is where the port `x` is declared,
// as text, if the module has it.
#include "Vaqm.h"
#include "verilated.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Fatal {
    std::string said;
};

struct Copy {
    VerilatedContext context;
    std::unique_ptr<Vaqm> top;
    uint32_t taken_at = 0;  // the cycle in which the last question was taken; 0: not yet

    explicit Copy(int unset) {
        context.randReset(unset);
        top = std::make_unique<Vaqm>(&context, "");
        top->clk = 0;
        top->rst = 1;
        top->ask = 0;
#ifdef HAVE_PUT
        top->put = 0;
#endif
#ifdef HAVE_SHED
        top->shed = 0;
#endif
        for (int cycle = 0; cycle < 4; ++cycle) tick();
        top->rst = 0;
    }

    void low() {
        top->clk = 0;
        top->eval();
    }

    void tick() {
        low();
        top->clk = 1;
        top->eval();
    }
};

struct Module {
    Copy zeros{0}, ones{1};
    std::string said;
};

}  // namespace

// Verilator's way to end a program is not ours: a module's $stop or $fatal ends its run.
void vl_fatal(const char* file, int line, const char*, const char* message) {
    throw Fatal{std::string(file && *file ? file : "module") + ":" + std::to_string(line) + ": " + message};
}
void vl_stop(const char* file, int line, const char* scope) { vl_fatal(file, line, scope, "$stop"); }
void vl_finish(const char* file, int line, const char* scope) { vl_fatal(file, line, scope, "$finish"); }

enum : uint32_t { ASK = 0, PUT = 1, SHED = 2 };

struct Question {
    uint64_t now, enqueued;
    uint32_t kind, target, interval, maxpacket, quantum, limit, backlog, hash;
    uint16_t length, packet;
    uint8_t ecn, capable;
};

// What is said: of a packet, whose number is in the upper half, or that this was all, or both. Or why
// nothing is.
enum : uint32_t { DROP = 1, MARK = 2, ANSWER = 4, DONE = 8 };
enum : uint32_t { HUNG = 1u << 8, UNKNOWN = 1u << 9, FATAL = 1u << 10 };
// What a module can do.
enum : uint32_t { KEEPS_ORDER = 1, SHEDS = 2 };

namespace {

void tell(Vaqm& top, const Question& q) {
    top.now = q.now & 0xffffffffffffull;
#ifdef HAVE_ENQUEUED
    top.enqueued = q.enqueued & 0xffffffffffffull;
#endif
#ifdef HAVE_TARGET
    top.target = q.target;
#endif
#ifdef HAVE_INTERVAL
    top.interval = q.interval;
#endif
#ifdef HAVE_MAXPACKET
    top.maxpacket = q.maxpacket;
#endif
#ifdef HAVE_ECN
    top.ecn = q.ecn;
#endif
#ifdef HAVE_QUANTUM
    top.quantum = q.quantum;
#endif
#ifdef HAVE_LIMIT
    top.limit = q.limit;
#endif
#ifdef HAVE_QUEUE_ID
    top.queue_id = 0;
#endif
#ifdef HAVE_BACKLOG
    top.backlog = q.backlog;
#endif
#ifdef HAVE_ARRIVING
    top.arriving = q.packet;
#endif
#ifdef HAVE_HASH
    top.hash = q.hash;
#endif
#ifdef HAVE_LENGTH
    top.length = q.length;
#endif
#ifdef HAVE_CAPABLE
    top.capable = q.capable;
#endif
}

// Which question is asked; after it has been taken, none.
void raise(Vaqm& top, uint32_t ask, uint32_t put, uint32_t shed) {
    top.ask = ask;
#ifdef HAVE_PUT
    top.put = put;
#endif
#ifdef HAVE_SHED
    top.shed = shed;
#endif
}

// What the module says before the clock's edge.
uint32_t said(const Vaqm& top) {
    uint32_t verdict = 0;
    if (top.answer) {
        verdict = ANSWER | (top.drop ? DROP : 0);
#ifdef HAVE_MARK
        if (top.mark) verdict |= MARK;
#endif
#ifdef HAVE_LEAVING
        verdict |= static_cast<uint32_t>(top.leaving) << 16;
#endif
    }
#ifdef HAVE_DONE
    const bool sent = top.answer && !top.drop;
    return top.done || sent ? verdict | DONE : verdict;
#else
    return verdict ? verdict | DONE : 0;
#endif
}

// Clocks the module until it says something. While a question is not taken, nothing is an answer to it.
uint32_t run(Copy& copy, bool waits, uint32_t most, uint32_t& cycles) {
    Vaqm& top = *copy.top;
    if (waits) copy.taken_at = 0;
    for (cycles = 1; cycles <= most; ++cycles) {
        copy.low();
#ifdef HAVE_READY
        const bool taken = waits && top.ready;
#else
        const bool taken = waits;
#endif
        const uint32_t verdict = taken || !waits ? said(top) : 0;
        top.clk = 1;
        top.eval();
        if (taken) {
            waits = false;
            copy.taken_at = cycles;
            raise(top, 0, 0, 0);
        }
        if (verdict) return verdict;
    }
    raise(top, 0, 0, 0);
    return HUNG;
}

std::string port(const char* declared, const char* name) { return std::string(declared) + ": `" + name + "`"; }

// The port that a question waits for.
std::string waited_for(bool taken) {
#ifdef HAVE_READY
    if (!taken) return port(HAVE_READY, "ready");
#endif
    (void)taken;
    return port(HAVE_ANSWER, "answer");
}

// The port that is not the same in both copies, by what they have said, at once or not.
std::string unknown(const Module& module, uint32_t verdict, uint32_t other, bool at_once) {
    if (module.zeros.taken_at != module.ones.taken_at) return waited_for(false);
    const uint32_t differs = verdict ^ other;
    if (!at_once || differs & (ANSWER | HUNG)) return waited_for(true);
#ifdef HAVE_MARK
    if (differs & MARK) return port(HAVE_MARK, "mark");
#endif
#ifdef HAVE_LEAVING
    if (differs >> 16) return port(HAVE_LEAVING, "leaving");
#endif
#ifdef HAVE_DONE
    if (!(differs & DROP)) return port(HAVE_DONE, "done");
#endif
    return port(HAVE_DROP, "drop");
}

// Both copies; what they do not agree on is unknown.
template <typename Run>
uint32_t both(Module& module, uint32_t* cycles, Run run) {
    try {
        uint32_t others = 0;
        const uint32_t verdict = run(module.zeros, *cycles);
        const uint32_t other = run(module.ones, others);
        const bool at_once = *cycles == others;
        if (verdict != other || !at_once) {
            module.said = unknown(module, verdict, other, at_once);
            return UNKNOWN;
        }
        if (verdict == HUNG) module.said = waited_for(module.zeros.taken_at != 0);
        return verdict;
    } catch (const Fatal& fatal) {
        module.said = fatal.said;
        return FATAL;
    }
}

}  // namespace

EXPORT uint32_t aqm_abi() { return 2; }

EXPORT uint32_t aqm_can() {
    uint32_t can = 0;
#ifdef HAVE_PUT
    can |= KEEPS_ORDER;
#endif
#ifdef HAVE_SHED
    can |= SHEDS;
#endif
    return can;
}

EXPORT void* aqm_new() {
    try {
        return new Module;
    } catch (const Fatal& fatal) {
        std::fprintf(stderr, "%s\n", fatal.said.c_str());
        return nullptr;
    }
}

EXPORT void aqm_delete(void* module) { delete static_cast<Module*>(module); }

// Asks; the first thing that is said.
EXPORT uint32_t aqm_ask(void* of, const Question* question, uint32_t most, uint32_t* cycles) {
    return both(*static_cast<Module*>(of), cycles, [&](Copy& copy, uint32_t& taken) {
        tell(*copy.top, *question);
        raise(*copy.top, question->kind == ASK, question->kind == PUT, question->kind == SHED);
        return run(copy, true, most, taken);
    });
}

// The next thing.
EXPORT uint32_t aqm_more(void* of, uint32_t most, uint32_t* cycles) {
    return both(*static_cast<Module*>(of), cycles, [&](Copy& copy, uint32_t& taken) {
        return run(copy, false, most, taken);
    });
}

// What the module said when it ended itself; else the port by which it was wrong.
EXPORT const char* aqm_said(const void* of) { return static_cast<const Module*>(of)->said.c_str(); }
