/* Sends frames again and again, at a rate or as fast as an interface takes them.
 *
 *     cc -O2 -o generator generator.c && ./generator INTERFACE COUNT RATE < FRAMES
 *
 * FRAMES is for each frame its length, two bytes in network order, and its bytes; COUNT how many are
 * sent in all, RATE frames a second, 0 for no limit. Prints how many the interface took, and the
 * seconds it needed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum { BATCH = 64, MOST = 1 << 16, LONGEST = 9022 };

static struct iovec frames[MOST];

static int read_frames(void)
{
    unsigned char length[2];
    int count = 0;
    while (count < MOST && fread(length, 1, 2, stdin) == 2) {
        size_t bytes = (size_t)length[0] << 8 | length[1];
        if (bytes > LONGEST)
            return 0;
        void *frame = malloc(bytes);
        if (!frame || fread(frame, 1, bytes, stdin) != bytes)
            return 0;
        frames[count++] = (struct iovec){.iov_base = frame, .iov_len = bytes};
    }
    return count;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static void until(double due)
{
    double left = due - now();
    if (left > 0) {
        struct timespec rest = {.tv_sec = (time_t)left, .tv_nsec = (left - (time_t)left) * 1e9};
        nanosleep(&rest, NULL);
    }
}

int main(int count, char **words)
{
    int kinds = read_frames();
    if (count != 4 || kinds == 0) {
        fprintf(stderr, "generator INTERFACE COUNT RATE < FRAMES\n");
        return 2;
    }
    long long wanted = atoll(words[2]), tried = 0, taken = 0;
    double rate = atof(words[3]), start = now();
    int on = 1, fd = socket(AF_PACKET, SOCK_RAW, 0);
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(words[1])};
    if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        perror(words[1]);
        return 1;
    }
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    struct mmsghdr heads[BATCH] = {0};
    while (tried < wanted) {
        int batch = wanted - tried < BATCH ? (int)(wanted - tried) : BATCH;
        for (int at = 0; at < batch; at++) {
            heads[at].msg_hdr.msg_iov = &frames[(tried + at) % kinds];
            heads[at].msg_hdr.msg_iovlen = 1;
        }
        if (rate > 0)
            until(start + tried / rate);
        int sent = sendmmsg(fd, heads, batch, 0);
        /* What an interface does not take is not sent again. */
        tried += sent > 0 ? sent : 1;
        taken += sent > 0 ? sent : 0;
    }
    printf("%lld %.6f\n", taken, now() - start);
    return 0;
}
