// PIE on Tofino 1: drops in egress by a probability that packets update, each T_UPDATE one.
//
// R. Pan, P. Natarajan, F. Baker, G. White: RFC 8033, "Proportional Integral Controller Enhanced
// (PIE)". Names in comments are the RFC's.
//
//   stage  does                      for the next       with, from the stages before
//     0    delay, queue, dice        delay              times of the packet
//     1    units; [last_update]      delay, due         delay; epoch
//         [drop_prob]                p
//     2   [qdelay_old]               d_ref, old         delay, due
//          p - thrown                excess             p: a packet is dropped if any is left
//     3    delay - old               d_old              old
//     4    2 d_old, 8 d_old          twice, eightfold   d_old
//     5    10 d_old                  tenfold            twice, eightfold
//     6    d_ref + 10 d_old, both    rise, fall         d_ref, tenfold
//          signs
//     7    amount                    amount             p, rise: auto-tuning (section 4.2)
//                                    -> mirrored copy -> port 68 -> egress again
//
//   The copy, a synchronisation packet, passes the same stages: it adds its amount to drop_prob in
//   stage 1, or takes it away, and ends.
//
//   state        read by             written by
//   last_update  every data packet   the first one a T_UPDATE later: now
//   drop_prob    every data packet   the copy: + or - amount, within 0 and 1
//   qdelay_old   updating packets    updating packets: their delay
//
// Why a copy. By how much the probability changes depends on the probability itself (auto-tuning),
// and a packet may use a register once: it reads drop_prob in stage 1 and knows the amount in stage
// 7. So the packet is mirrored, once each T_UPDATE, and the copy brings the amount a microsecond
// later. If a copy is lost, one update is lost.
//
// What the paper by Kunze, Gunz, Saam, Wehrle and Rueth does ("Tofino + P4: A Strong Compound for
// AQM on High-Speed Networks?", IFIP/IEEE IM 2021; the programs are `published/pie-for-tofino`), and
// what this program does differently:
//  * Its PIE-DP updates by packets of the packet generator in a queue of their own, each 150 us;
//    PIE-Table reads changes out of 90,300 entries, and PIE-CP leaves them to a control plane. Here
//    a data packet updates, so nothing but a mirror session is set up; while no packet leaves,
//    nothing is updated.
//  * PIE-DP has no auto-tuning and the sign of the change of delay exchanged (docs/published.md).
//    Here both are as in the RFC.
//  * Its state belongs to a pipe. Here each queue of each port has its own.
//
// Where it leaves RFC 8033
//  * A packet is dropped behind the scheduler: its turn on the wire is spent, and the packets behind
//    it are the first to wait less.
//  * alpha and beta are 2^-3.1 = 0.116 and ten times that, 7 % below 1/8 and 1 1/4 Hz: products are
//    sums of shifts.
//  * Auto-tuning changes at powers of two near the RFC's powers of ten. A step up is at most 1/64
//    (section 5.5 says 2 %), a step down at most a quarter, and delays above 0.39 s count as that.
//  * The safeguards look at the packet's own delay and at the cells behind it, not at qdelay_old.
//  * No burst allowance (section 4.4): it would be one more register between two that depend on
//    each other. No decay by 2 % in an empty queue: nothing leaves it.
//  * Times are 32 bits of nanoseconds: a packet that waits longer than 4.29 s is misread.
#ifndef AQM_PIE_P4
#define AQM_PIE_P4

#ifndef QDELAY_REF
#define QDELAY_REF  15000000            // ns: latency to settle at
#endif
#ifndef T_UPDATE
#define T_UPDATE    15000000            // ns: time between two updates
#endif

#include "../common/chip.p4"
#define PIE_REF             (QDELAY_REF / 256)
#define PIE_HALF_REF        (QDELAY_REF / 512)
#define PIE_T_UPDATE        ((T_UPDATE + 32768) / 65536)

// What a synchronisation packet brings; the first byte of its header. KIND_DATA is 0.
const bit<8> KIND_RAISE = 1;
const bit<8> KIND_LOWER = 2;

const MirrorType_t PIE_MIRROR  = 1;
const MirrorId_t   PIE_SESSION = 100;

// Two packets and less are never dropped: the cells of a full frame behind the one that leaves.
const bit<19> PIE_ONE_PACKET_CELLS = FULL_FRAME_CELLS;

// In front of a synchronisation packet.
header pie_h {
    bit<8>  kind;                       // KIND_RAISE or KIND_LOWER
    bit<16> queue;                      // index of the state
    bit<32> amount;                     // 2^-32
}

// What the egress deparser needs to write that header.
struct pie_t {
    MirrorId_t session;
    bit<8>  kind;
    bit<16> queue;
    bit<32> amount;
}

control Pie(
        in pie_h sync,                  // valid: a synchronisation packet
        inout pie_t md,
        in bit<32> arrival,             // ns, global_tstamp[31:0] of ingress; data packets only
        in bit<48> departure,           // ns, global_tstamp of egress
        in egress_intrinsic_metadata_t eg_intr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {

    bit<32> nanoseconds;                // sojourn time
    bit<32> epoch;                      // now in units of 65.536 us
    bit<32> delay;                      // sojourn time in units of 256 ns
    bit<32> above_half;                 // what it has above QDELAY_REF / 2
    bit<8>  due;                        // this packet updates
    bit<32> p;                          // drop_prob, 2^-32
    bit<32> thrown;
    bit<32> excess;                     // p - thrown, or 0
    bit<32> old;                        // qdelay_old
    bit<32> d_ref;
    bit<32> d_old;
    bit<32> twice;
    bit<32> eightfold;
    bit<32> tenfold;
    bit<32> rise;                       // d_ref + 10 d_old: alpha and beta are 1 to 10
    bit<32> fall;                       // the same with the other sign
    bit<8>  spared;                     // next to nothing behind this packet

    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) queue_number;
    Random<bit<32>>() random;

    // By itself: hash and random number of one action would not fit beside each other.
    action draw() {
        thrown = random.get();
    }

    // ---- Stage 1 ---------------------------------------------------------------------------

    action compute_units() {
        delay = nanoseconds >> 8;
    }

    Register<int<32>, bit<16>>(QUEUE_STATES) last_update;
    RegisterAction<int<32>, bit<16>, bit<8>>(last_update) last_update_test = {
        void apply(inout int<32> state, out bit<8> is_due) {
            is_due = 0;
            if ((int<32>)epoch - state >= PIE_T_UPDATE) {
                is_due = 1;
                state = (int<32>)epoch;
            }
        }
    };
    action test_last_update() { due = last_update_test.execute(md.queue); }

    Register<bit<32>, bit<16>>(QUEUE_STATES) drop_prob;
    RegisterAction<bit<32>, bit<16>, bit<32>>(drop_prob) drop_prob_read = {
        void apply(inout bit<32> state, out bit<32> word) {
            word = state;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(drop_prob) drop_prob_raise = {
        void apply(inout bit<32> state) {
            state = state |+| sync.amount;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(drop_prob) drop_prob_lower = {
        void apply(inout bit<32> state) {
            state = state |-| sync.amount;
        }
    };
    action read_drop_prob() { p = drop_prob_read.execute(md.queue); }
    action raise_drop_prob() { drop_prob_raise.execute(md.queue); }
    action lower_drop_prob() { drop_prob_lower.execute(md.queue); }

    // ---- Stage 2 ---------------------------------------------------------------------------

    Register<bit<32>, bit<16>>(QUEUE_STATES) qdelay_old;
    RegisterAction<bit<32>, bit<16>, bit<32>>(qdelay_old) qdelay_old_update = {
        void apply(inout bit<32> state, out bit<32> before) {
            before = state;
            state = delay;
        }
    };
    action update_qdelay_old() { old = qdelay_old_update.execute(md.queue); }

    action compute_excess() {
        excess = p |-| thrown;
    }
    action compute_above_half() {
        above_half = delay |-| PIE_HALF_REF;
    }
    action compute_d_ref() {
        d_ref = delay - PIE_REF;
    }

    // ---- Stages 3 to 6: alpha (delay - QDELAY_REF) + beta (delay - qdelay_old) ----------------

    action compute_d_old() {
        d_old = delay - old;
    }
    action compute_multiples() {
        twice = d_old << 1;
        eightfold = d_old << 3;
    }
    action compute_tenfold() {
        tenfold = eightfold + twice;
    }
    action compute_rise() {
        rise = d_ref + tenfold;
    }
    action compute_fall() {
        fall = 0 - rise;
    }

    // ---- Stages 7 and 8: the amount ----------------------------------------------------------
    // 2^7 for each unit, divided as section 4.2 has it: by 1 from a probability of 1/8 on (RFC 0.1),
    // by 2 from 2^-7 on (0.01), by 8 from 2^-10 (0.001), by 32 from 2^-13 (0.0001), by 128 from 2^-17
    // (0.00001), by 512 from 2^-20 (0.000001), by 2048 below.

    action raise_most()    { md.kind = KIND_RAISE; md.amount = 0x04000000; }
    action lower_most()    { md.kind = KIND_LOWER; md.amount = 0x40000000; }
    action raise_by_1()    { md.kind = KIND_RAISE; md.amount = rise << 7; }
    action raise_by_2()    { md.kind = KIND_RAISE; md.amount = rise << 6; }
    action raise_by_8()    { md.kind = KIND_RAISE; md.amount = rise << 4; }
    action raise_by_32()   { md.kind = KIND_RAISE; md.amount = rise << 2; }
    action raise_by_128()  { md.kind = KIND_RAISE; md.amount = rise; }
    action raise_by_512()  { md.kind = KIND_RAISE; md.amount = rise >> 2; }
    action raise_by_2048() { md.kind = KIND_RAISE; md.amount = rise >> 4; }
    action lower_by_1()    { md.kind = KIND_LOWER; md.amount = fall << 7; }
    action lower_by_2()    { md.kind = KIND_LOWER; md.amount = fall << 6; }
    action lower_by_8()    { md.kind = KIND_LOWER; md.amount = fall << 4; }
    action lower_by_32()   { md.kind = KIND_LOWER; md.amount = fall << 2; }
    action lower_by_128()  { md.kind = KIND_LOWER; md.amount = fall; }
    action lower_by_512()  { md.kind = KIND_LOWER; md.amount = fall >> 2; }
    action lower_by_2048() { md.kind = KIND_LOWER; md.amount = fall >> 4; }

    table tune {
        key = {
            rise : ternary;
            p    : ternary;
        }
        actions = {
            raise_most; lower_most;
            raise_by_1; raise_by_2; raise_by_8; raise_by_32; raise_by_128; raise_by_512;
            raise_by_2048;
            lower_by_1; lower_by_2; lower_by_8; lower_by_32; lower_by_128; lower_by_512;
            lower_by_2048;
        }
        const default_action = lower_most();
        const entries = {
            // Rising, a step of at most 1/64: below 2^19 units without division.
            (0x00000000 &&& 0xfff80000, 0x00000000 &&& 0xfffff000) : raise_by_2048();
            (0x00000000 &&& 0xfff80000, 0x00000000 &&& 0xffff8000) : raise_by_512();
            (0x00000000 &&& 0xfff80000, 0x00000000 &&& 0xfff80000) : raise_by_128();
            (0x00000000 &&& 0xfff80000, 0x00000000 &&& 0xffc00000) : raise_by_32();
            (0x00000000 &&& 0xfff80000, 0x00000000 &&& 0xfe000000) : raise_by_8();
            (0x00000000 &&& 0xfff80000, 0x00000000 &&& 0xe0000000) : raise_by_2();
            (0x00000000 &&& 0xfff80000, _)                         : raise_by_1();
            // Rising by more, and small probabilities: 2^24 units are 0.39 s.
            (0x00000000 &&& 0xff000000, 0x00000000 &&& 0xfffff000) : raise_by_2048();
            (0x00000000 &&& 0xff000000, 0x00000000 &&& 0xffff8000) : raise_by_512();
            (0x00000000 &&& 0xff000000, 0x00000000 &&& 0xfff80000) : raise_by_128();
            (0x00000000 &&& 0xff000000, 0x00000000 &&& 0xffc00000) : raise_by_32();
            (0x00000000 &&& 0x80000000, _)                         : raise_most();
            // Falling by less than 2^23 units.
            (0xff800000 &&& 0xff800000, 0x00000000 &&& 0xfffff000) : lower_by_2048();
            (0xff800000 &&& 0xff800000, 0x00000000 &&& 0xffff8000) : lower_by_512();
            (0xff800000 &&& 0xff800000, 0x00000000 &&& 0xfff80000) : lower_by_128();
            (0xff800000 &&& 0xff800000, 0x00000000 &&& 0xffc00000) : lower_by_32();
            (0xff800000 &&& 0xff800000, 0x00000000 &&& 0xfe000000) : lower_by_8();
            (0xff800000 &&& 0xff800000, 0x00000000 &&& 0xe0000000) : lower_by_2();
            (0xff800000 &&& 0xff800000, _)                         : lower_by_1();
        }
        size = 32;
    }

    // A gateway orders 12 bits, a range key 20.
    action spare() {
        spared = 1;
    }
    action expose() {
        spared = 0;
    }
    table depth {
        key = { eg_intr_md.deq_qdepth : range; }
        actions = { spare; expose; }
        const default_action = expose();
        const entries = {
            (0 .. PIE_ONE_PACKET_CELLS) : spare();
        }
        size = 1;
    }

    // A field, even for a constant: a mirror header is made of fields.
    action mirror() {
        eg_dprsr_md.mirror_type = PIE_MIRROR;
        md.session = PIE_SESSION;
    }
    action drop_packet() {
        eg_dprsr_md.drop_ctl = 1;
    }

    apply {
        if (sync.isValid()) {
            md.queue = sync.queue;
            if (sync.kind == KIND_RAISE) {
                raise_drop_prob();
            } else {
                lower_drop_prob();
            }
            drop_packet();
        } else {
            // Stage 0
            md.queue = queue_number.get(QUEUE_NUMBER_FIELDS(eg_intr_md));
            md.kind = KIND_DATA;
            nanoseconds = departure[31:0] - arrival;
            epoch = departure[47:16];
            draw();
            depth.apply();
            // Stage 1
            compute_units();
            test_last_update();
            read_drop_prob();
            // Stage 2 and 3: section 4.1. RFC: spared while qdelay_old is below half of QDELAY_REF
            // and the probability is below 0.2; here 0.25.
            compute_excess();
            compute_above_half();
            if (excess != 0 && spared == 0) {
                if (above_half != 0 || p[31:30] != 0) {
                    drop_packet();
                }
            }
            // Stages 2 to 8: section 4.2
            if (due == 1) {
                update_qdelay_old();
                compute_d_ref();
                compute_d_old();
                compute_multiples();
                compute_tenfold();
                compute_rise();
                compute_fall();
                tune.apply();
                mirror();
            }
        }
    }
}

#endif
