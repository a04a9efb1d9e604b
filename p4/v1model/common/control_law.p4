// CoDel's parameters and its control law, INTERVAL / sqrt(count), as a table.
//
// P4 has no square root, but a table can hold its values. Its entries are the program's own, so that
// no control plane has to fill it. There are two such tables:
//
//  * By longest prefix, as the 2018 paper has it: the number of leading zeros says between which
//    powers of two the count lies, and the lower one is taken. Right for 1, 2, 4, 8, ...; in
//    between up to 41 % too long.
//  * With CONTROL_LAW_EXACT defined, more entries beside these: one for each count up to 1023, right
//    to a nanosecond, and one for each seven leading bits beyond, right to 0.4 %. At a count of
//    1023 a packet is dropped each 3 ms.
#ifndef COMMON_CONTROL_LAW_P4
#define COMMON_CONTROL_LAW_P4

#include "time.p4"

// RFC 8289, sections 4.3 and 4.4. A program may define others before it includes an AQM.
#ifndef TARGET
#define TARGET      5000000             // ns: delay that may stand in a queue for good
#endif
#ifndef INTERVAL
#define INTERVAL    100000000           // ns: time a sender needs to react to a drop
#endif

// INTERVAL times a fraction of 2^60, rounded. The compiler computes it.
#define SPACING(fraction)   space((INTERVAL * (fraction) + (1 << 59)) >> 60)

// For counts from 2^k on; 2^60 / sqrt(2) is 815238614083298888.
#define AT_EVEN_POWER(k)    SPACING(1 << (60 - k / 2))
#define AT_ODD_POWER(k)     SPACING(815238614083298888 >> (k / 2))

control ControlLaw(in bit<32> count, out time_t spacing) {

    action space(time_t nanoseconds) {
        spacing = nanoseconds;
    }

    table interval_by_sqrt {
        key = { count : lpm; }
        actions = { space; }
        const default_action = AT_ODD_POWER(31);
        const entries = {
#ifdef CONTROL_LAW_EXACT
#include "control_law_exact.p4"
#endif
            32w0 &&& 0xfffffffe : AT_EVEN_POWER(0);
            32w0 &&& 0xfffffffc : AT_ODD_POWER(1);
            32w0 &&& 0xfffffff8 : AT_EVEN_POWER(2);
            32w0 &&& 0xfffffff0 : AT_ODD_POWER(3);
            32w0 &&& 0xffffffe0 : AT_EVEN_POWER(4);
            32w0 &&& 0xffffffc0 : AT_ODD_POWER(5);
            32w0 &&& 0xffffff80 : AT_EVEN_POWER(6);
            32w0 &&& 0xffffff00 : AT_ODD_POWER(7);
            32w0 &&& 0xfffffe00 : AT_EVEN_POWER(8);
            32w0 &&& 0xfffffc00 : AT_ODD_POWER(9);
            32w0 &&& 0xfffff800 : AT_EVEN_POWER(10);
            32w0 &&& 0xfffff000 : AT_ODD_POWER(11);
            32w0 &&& 0xffffe000 : AT_EVEN_POWER(12);
            32w0 &&& 0xffffc000 : AT_ODD_POWER(13);
            32w0 &&& 0xffff8000 : AT_EVEN_POWER(14);
            32w0 &&& 0xffff0000 : AT_ODD_POWER(15);
            32w0 &&& 0xfffe0000 : AT_EVEN_POWER(16);
            32w0 &&& 0xfffc0000 : AT_ODD_POWER(17);
            32w0 &&& 0xfff80000 : AT_EVEN_POWER(18);
            32w0 &&& 0xfff00000 : AT_ODD_POWER(19);
            32w0 &&& 0xffe00000 : AT_EVEN_POWER(20);
            32w0 &&& 0xffc00000 : AT_ODD_POWER(21);
            32w0 &&& 0xff800000 : AT_EVEN_POWER(22);
            32w0 &&& 0xff000000 : AT_ODD_POWER(23);
            32w0 &&& 0xfe000000 : AT_EVEN_POWER(24);
            32w0 &&& 0xfc000000 : AT_ODD_POWER(25);
            32w0 &&& 0xf8000000 : AT_EVEN_POWER(26);
            32w0 &&& 0xf0000000 : AT_ODD_POWER(27);
            32w0 &&& 0xe0000000 : AT_EVEN_POWER(28);
            32w0 &&& 0xc0000000 : AT_ODD_POWER(29);
            32w0 &&& 0x80000000 : AT_EVEN_POWER(30);
        }
    }

    apply {
        interval_by_sqrt.apply();
    }
}

#endif
