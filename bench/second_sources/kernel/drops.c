/* A fixed arrival trace through a qdisc of the Linux kernel before a link of 10 Mbit/s: what it drops or
 * marks, and when.
 *
 * QDISC names a file with the kernel's own code without its netlink part, and DRIVER the file beside this one
 * that sets it up; kernel.h stands for the rest of the kernel. The steps are those of
 * crates/switch/tests/second_sources/link.rs. It must not know which qdisc it is.
 *
 *     drops SEED NAME=VALUE... < arrivals > signals
 *
 * An arrival is a line of time in ns, bytes, flow and ECN field; a signal one of packet and time, with
 * `mark` if it was not dropped. */

#include "kernel.h"
#include QDISC

#include <inttypes.h>
#include <stdio.h>

static u64 now;
static struct Qdisc root;

u64 ktime_get_ns(void)
{
    return now;
}

/* What a driver does after a drop. */
static void (*when_dropped)(void);

void dropped(struct sk_buff *skb)
{
    printf("%" PRIu64 " %" PRIu64 "\n", skb->number, now);
    free(skb);
    if (when_dropped)
        when_dropped();
}

static int words;
static char **word;

/* The number that was given for a name, or what it is otherwise. */
static u64 given(const char *name, u64 otherwise)
{
    size_t length = strlen(name);

    for (int i = 2; i < words; i++)
        if (!strncmp(word[i], name, length) && word[i][length] == '=')
            return strtoull(word[i] + length + 1, NULL, 10);
    return otherwise;
}

#include "dice.h"
#include DRIVER

/* The packet on the link has been sent at this instant; UINT64_MAX if there is none. */
static u64 free_at = UINT64_MAX;

static void take(void)
{
    struct sk_buff *skb = dequeue();

    free_at = skb ? now + 800ull * skb->len : UINT64_MAX;
    if (skb && skb->marked)
        printf("%" PRIu64 " %" PRIu64 " mark\n", skb->number, now);
    free(skb);
}

static u64 updates;

/* Lets timer and link do what is due; the timer first, as the disciplines do. */
static void run_until(u64 time)
{
    for (;;) {
        u64 due = period() ? (updates + 1) * period() : UINT64_MAX;

        if (due <= free_at && due <= time) {
            now = due;
            updates++;
            update();
        } else if (free_at <= time && free_at != UINT64_MAX) {
            now = free_at;
            take();
        } else {
            now = time;
            return;
        }
    }
}

int main(int argc, char **argv)
{
    u64 time;
    unsigned int size, flow, ect;

    if (argc < 2) {
        fprintf(stderr, "drops SEED NAME=VALUE... < arrivals > signals\n");
        return 2;
    }
    words = argc;
    word = argv;
    throw_from(strtoull(argv[1], NULL, 10));
    set_up();
    for (u64 number = 0; scanf("%" SCNu64 " %u %u %u", &time, &size, &flow, &ect) == 4; number++) {
        struct sk_buff *skb = calloc(1, sizeof(*skb));

        run_until(time);
        skb->number = number;
        skb->len = skb->truesize = size;
        skb->priority = priority_of(flow);
        skb->ect = ect;
        qdisc_skb_cb(skb)->pkt_len = size;
        enqueue(skb);
        if (free_at == UINT64_MAX)
            take();
    }
    while (free_at != UINT64_MAX)
        run_until(free_at);
    return 0;
}
