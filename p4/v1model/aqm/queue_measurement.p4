// Writes how long a packet was queued into the first 32 bits of its TCP payload.
//
// After the 2018 P4-CoDel paper, section III. For tests that do not look at what they send: the receiver, or whoever captures behind the switch, reads each packet's queue delay from
// the packet itself (`sojourn delays CAPTURE`).
//
// The TCP checksum is changed by what has changed (RFC 1624): checksum' = ~(~checksum + ~old + new),
// in ones' complement, with old and new taken as 16-bit words. So nothing but the two fields is
// needed, and a packet that came with a wrong checksum still has a wrong one.
#ifndef AQM_QUEUE_MEASUREMENT_P4
#define AQM_QUEUE_MEASUREMENT_P4

#include "../common/headers.p4"

#define QUEUE_DELAY_BYTES 4

// Packets with less payload are left as they are. Whoever looks at small messages of its own, as iperf3
// does before and after it sends, is served by -D MEASURED_PAYLOAD=1000.
#ifndef MEASURED_PAYLOAD
#define MEASURED_PAYLOAD QUEUE_DELAY_BYTES
#endif

header queue_delay_h {
    bit<32> microseconds;               // whatever the payload begins with, before
}

control QueueMeasurement(
        inout tcp_h tcp,
        inout queue_delay_h queue_delay,    // valid if the packet has that much payload
        in standard_metadata_t standard_metadata) {

    bit<32> sum;

    // Adds a word in ones' complement; what is carried out of 16 bits comes in again below.
    action add(bit<16> word) {
        sum = sum + (bit<32>)word;
    }

    apply {
        if (queue_delay.isValid()) {
            sum = (bit<32>)(~tcp.checksum);
            add(~queue_delay.microseconds[31:16]);
            add(~queue_delay.microseconds[15:0]);
            queue_delay.microseconds = standard_metadata.deq_timedelta;
            add(queue_delay.microseconds[31:16]);
            add(queue_delay.microseconds[15:0]);
            // Five words carry at most 4, and adding that may carry once more.
            sum = (bit<32>)sum[15:0] + (bit<32>)sum[31:16];
            sum = (bit<32>)sum[15:0] + (bit<32>)sum[31:16];
            tcp.checksum = ~sum[15:0];
        }
    }
}

#endif
