//! CoDel as RFC 8289 has it, written for TNA without a thought for stages: the hypothetical program
//! of section IV.A of the CoDel-ACT paper (2024), Listings 1 and 2. The state variables are shared
//! by codel_init and codel_update. It is refused, and the tests say for what.

const bit<32> TARGET = 5000000;                 // ns
const bit<32> SIXTEEN_INTERVALS = 1600000000;   // ns

#include "../shared/egress.p4"
    // ---- The state variables of the paper's Figure 4 ----------------------------------------------

    Register<bit<8>, bit<9>>(512) dropping;
    RegisterAction<bit<8>, bit<9>, bit<1>>(dropping) chk_first_violation = {
        void apply(inout bit<8> value, out bit<1> is_first) {
            is_first = 0;
            if (meta.above_target == 1) {
                if (value == 0) {
                    is_first = 1;
                }
                value = 1;
            } else {
                value = 0;
            }
        }
    };

    Register<bit<32>, bit<9>>(512) count;
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) read_count = {
        void apply(inout bit<32> value, out bit<32> result) { result = value; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) write_count = {
        void apply(inout bit<32> value) { value = meta.count; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) increment_count = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = value + 1;
            result = value;
        }
    };

    Register<bit<32>, bit<9>>(512) last_count;
    RegisterAction<bit<32>, bit<9>, bit<32>>(last_count) swap_last_count = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = meta.count;
        }
    };

    Register<int<32>, bit<9>>(512) drop_next;
    RegisterAction<int<32>, bit<9>, bit<32>>(drop_next) read_drop_next = {
        void apply(inout int<32> value, out bit<32> result) { result = (bit<32>) value; }
    };
    RegisterAction<int<32>, bit<9>, bit<1>>(drop_next) is_due = {
        void apply(inout int<32> value, out bit<1> due) {
            due = 0;
            if ((int<32>) meta.now - value >= 0) {
                due = 1;
            }
        }
    };
    RegisterAction<int<32>, bit<9>, bit<32>>(drop_next) write_drop_next = {
        void apply(inout int<32> value) { value = (int<32>) hdr.report.drop_next; }
    };

    // ---- INTERVAL / sqrt(count), exact ------------------------------------------------------------

    bit<32> gap = 0;
    action set_gap(bit<32> interval_by_sqrt) {
        gap = interval_by_sqrt;
    }
    table init_law {
        key = { meta.count : exact; }
        actions = { set_gap; }
        size = 1024;
    }
    table update_law {
        key = { meta.count : exact; }
        actions = { set_gap; }
        size = 1024;
    }

    action measure() {
        meta.now = prsr.global_tstamp[31:0];
        meta.delay = meta.now - hdr.report.extra;
    }

    bit<32> missing;
    action compare() {
        missing = TARGET |-| meta.delay;
    }

    apply {
        measure();
        compare();
        if (missing == 0) {
            meta.above_target = 1;
        }
        bit<1> is_first = chk_first_violation.execute(eg.egress_port);
        if (is_first == 1) {
            // ---- Listing 1: codel_init ----
            meta.count = read_count.execute(eg.egress_port);
            bit<32> delta = swap_last_count.execute(eg.egress_port);
            delta = meta.count - delta;
            bit<32> since = read_drop_next.execute(eg.egress_port);
            since = meta.now - since;
            since = since |-| SIXTEEN_INTERVALS;
            if (delta[31:1] != 0 && since == 0) {
                meta.count = delta;
            } else {
                meta.count = 1;
            }
            write_count.execute(eg.egress_port);
            init_law.apply();
            hdr.report.drop_next = meta.now + gap;
            write_drop_next.execute(eg.egress_port);
        } else if (meta.above_target == 1) {
            // ---- Listing 2: codel_update ----
            meta.due = is_due.execute(eg.egress_port);
            if (meta.due == 1) {
                dprs.drop_ctl = 1;
                meta.count = increment_count.execute(eg.egress_port);
                update_law.apply();
                hdr.report.drop_next = read_drop_next.execute(eg.egress_port);
                hdr.report.drop_next = hdr.report.drop_next + gap;
                write_drop_next.execute(eg.egress_port);
            }
        }
    }
#include "../shared/egress_end.p4"
