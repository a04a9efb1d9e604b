/* The least that carries frames between two interfaces: what the live switch is measured against.
 *
 *     cc -O2 -o forwarder forwarder.c && ./forwarder INTERFACE INTERFACE
 *
 * Packet sockets, batches in and out, past the kernel's own queues, at real-time priority: as the
 * live switch takes its frames, without a switch. It looks at no frame, spins no time away and keeps
 * no count. Prints `ready`; runs until it is killed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { BATCH = 64, LONGEST = 9022, WAITING = 8 << 20 };

static void check(int result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

static int opened(const char *name)
{
    int on = 1, waiting = WAITING;
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
    check(fd, "socket");
    check(setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on), "ignore outgoing");
    check(setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on), "bypass");
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &waiting, sizeof waiting) < 0)
        check(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &waiting, sizeof waiting), "buffer");
    struct packet_mreq all = {.mr_ifindex = (int)if_nametoindex(name), .mr_type = PACKET_MR_PROMISC};
    check(setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all), name);
    struct sockaddr_ll to = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(ETH_P_ALL),
                             .sll_ifindex = all.mr_ifindex};
    check(bind(fd, (struct sockaddr *)&to, sizeof to), name);
    return fd;
}

static char frames[BATCH][LONGEST];

/* One batch; how many frames it was. */
static int carry(int from, int to)
{
    struct mmsghdr heads[BATCH] = {0};
    struct iovec parts[BATCH];
    for (int at = 0; at < BATCH; at++) {
        parts[at] = (struct iovec){.iov_base = frames[at], .iov_len = LONGEST};
        heads[at].msg_hdr.msg_iov = &parts[at];
        heads[at].msg_hdr.msg_iovlen = 1;
    }
    int got = recvmmsg(from, heads, BATCH, MSG_DONTWAIT, NULL);
    for (int at = 0; at < got; at++)
        parts[at].iov_len = heads[at].msg_len;
    for (int done = 0; done < got;) {
        int sent = sendmmsg(to, heads + done, got - done, MSG_DONTWAIT);
        done += sent > 0 ? sent : 1;
    }
    return got > 0 ? got : 0;
}

int main(int count, char **names)
{
    if (count != 3) {
        fprintf(stderr, "forwarder INTERFACE INTERFACE\n");
        return 2;
    }
    int one = opened(names[1]), other = opened(names[2]);
    struct sched_param first = {.sched_priority = 2};
    if (sched_setscheduler(0, SCHED_FIFO, &first) < 0)
        fprintf(stderr, "without real-time priority\n");
    puts("ready");
    fflush(stdout);
    struct pollfd asked[] = {{.fd = one, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    for (;;)
        if (carry(one, other) + carry(other, one) == 0)
            poll(asked, 2, -1);
}
