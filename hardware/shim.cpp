// A module of this folder's kind (README.md, "A module of your own") behind a C ABI, so that Sojourn
// can ask it about packets. Compiled with what Verilator makes of the module.
//
// The clock runs only while a question is open: from `ask` until the answer has been clocked in.
// Two copies of the module are asked the same. In one, bits that nobody has set are 0, in the other
// they are 1; if their answers differ, the answer hangs on an X.
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

    explicit Copy(int unset) {
        context.randReset(unset);
        top = std::make_unique<Vaqm>(&context, "");
        top->clk = 0;
        top->rst = 1;
        top->ask = 0;
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

struct Question {
    uint64_t now, enqueued;
    uint32_t target, interval, maxpacket, backlog;
    uint16_t length;
    uint8_t ecn, capable;
};

// Answers: bit 0 drop, bit 1 mark. Or why there is none:
enum : uint32_t { HUNG = 1u << 8, UNKNOWN = 1u << 9, FATAL = 1u << 10 };

namespace {

uint32_t asked(Copy& copy, const Question& q, uint32_t most, uint32_t& cycles) {
    Vaqm& top = *copy.top;
    top.now = q.now & 0xffffffffffffull;
    top.enqueued = q.enqueued & 0xffffffffffffull;
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
#ifdef HAVE_QUEUE_ID
    top.queue_id = 0;
#endif
#ifdef HAVE_BACKLOG
    top.backlog = q.backlog;
#endif
#ifdef HAVE_LENGTH
    top.length = q.length;
#endif
#ifdef HAVE_CAPABLE
    top.capable = q.capable;
#endif
    top.ask = 1;
    for (cycles = 1; cycles <= most; ++cycles) {
        copy.low();
#ifdef HAVE_READY
        const bool taken = top.ask && top.ready;
#else
        const bool taken = top.ask;
#endif
        // While the question is not taken, an answer would be none of ours.
        const bool answered = top.answer && (taken || !top.ask);
        uint32_t verdict = top.drop ? 1 : 0;
#ifdef HAVE_MARK
        if (top.mark) verdict |= 2;
#endif
        top.clk = 1;
        top.eval();
        if (taken) top.ask = 0;
        if (answered) return verdict;
    }
    top.ask = 0;
    return HUNG;
}

}  // namespace

EXPORT uint32_t aqm_abi() { return 1; }

EXPORT void* aqm_new() {
    try {
        return new Module;
    } catch (const Fatal& fatal) {
        std::fprintf(stderr, "%s\n", fatal.said.c_str());
        return nullptr;
    }
}

EXPORT void aqm_delete(void* module) { delete static_cast<Module*>(module); }

EXPORT uint32_t aqm_ask(void* of, const Question* question, uint32_t most, uint32_t* cycles) {
    Module& module = *static_cast<Module*>(of);
    try {
        uint32_t others = 0;
        const uint32_t verdict = asked(module.zeros, *question, most, *cycles);
        const uint32_t other = asked(module.ones, *question, most, others);
        return verdict == other && *cycles == others ? verdict : static_cast<uint32_t>(UNKNOWN);
    } catch (const Fatal& fatal) {
        module.said = fatal.said;
        return FATAL;
    }
}

// What the module said when it ended itself.
EXPORT const char* aqm_said(const void* of) { return static_cast<const Module*>(of)->said.c_str(); }
