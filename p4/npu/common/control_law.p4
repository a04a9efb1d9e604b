// CoDel's control law, INTERVAL / sqrt(count), as on the SmartNICs of the ICC 2021 paper: "an exact
// lookup table for the values count = 1..16", and beyond these by the number of leading zeros, which
// takes the power of two below: up to 41 % too long.
#ifndef COMMON_CONTROL_LAW_P4
#define COMMON_CONTROL_LAW_P4

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
            // 2^60 / sqrt(count), rounded
            32w1  : SPACING(1152921504606846976);
            32w2  : SPACING(815238614083298888);
            32w3  : SPACING(665639541039271463);
            32w4  : SPACING(576460752303423488);
            32w5  : SPACING(515602171404449357);
            32w6  : SPACING(470678233294770047);
            32w7  : SPACING(435763368909732258);
            32w8  : SPACING(407619307041649444);
            32w9  : SPACING(384307168202282325);
            32w10 : SPACING(364585791794594743);
            32w11 : SPACING(347618913046628728);
            32w12 : SPACING(332819770519635731);
            32w13 : SPACING(319762892418852209);
            32w14 : SPACING(308131233148766834);
            32w15 : SPACING(297683052455114400);
            32w16 : SPACING(288230376151711744);
            // the leading zeros
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
