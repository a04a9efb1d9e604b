/* A fixed arrival trace through a qdisc of the Linux kernel before a link of 10 Mbit/s: what it drops or
 * marks, and when.
 *
 * QDISC names a file with the kernel's own code up to its netlink part, FQ_CODEL or DUALPI2 says which it
 * is; kernel.h stands for the rest of the kernel. The steps are those of
 * crates/switch/tests/second_sources/link.rs. It must not know what Sojourn's disciplines do, but for the
 * numbers that they throw.
 *
 *     kernel_drops SEED NAME=VALUE... < arrivals > signals
 *
 * An arrival is a line of time in ns, bytes, flow and ECN field; a signal one of packet and time, with
 * `mark` if it was not dropped. */

#include "kernel.h"
#include QDISC

#include <inttypes.h>
#include <stdio.h>

static u64 now;
static u64 seed;
static struct Qdisc root;

u64 ktime_get_ns(void)
{
    return now;
}

void dropped(struct sk_buff *skb)
{
    printf("%" PRIu64 " %" PRIu64 "\n", skb->number, now);
    free(skb);
}

/* The number that was given for a name, or what it is otherwise. */
static u64 given(int argc, char **argv, const char *name, u64 otherwise)
{
    size_t length = strlen(name);

    for (int i = 2; i < argc; i++)
        if (!strncmp(argv[i], name, length) && argv[i][length] == '=')
            return strtoull(argv[i] + length + 1, NULL, 10);
    return otherwise;
}

#ifdef FQ_CODEL

static struct fq_codel_sched_data fq_codel;

/* The priority that chooses a queue, so that no two flows share one. */
#define FLOW_OF(flow) (root.handle | ((flow) + 1))

unsigned int full_packet(void)
{
    return 1514;
}

u32 get_random_u32(void)
{
    abort();
}

static void set_up(int argc, char **argv)
{
    struct fq_codel_sched_data *q = &fq_codel;

    root.private = q;
    root.handle = 1 << 16;
    root.limit = given(argc, argv, "limit", 10240);
    q->flows_cnt = 1024;
    q->flows = calloc(q->flows_cnt, sizeof(*q->flows));
    q->backlogs = calloc(q->flows_cnt, sizeof(*q->backlogs));
    q->memory_limit = U32_MAX;
    q->drop_batch_size = 64;
    q->quantum = full_packet();
    INIT_LIST_HEAD(&q->new_flows);
    INIT_LIST_HEAD(&q->old_flows);
    codel_params_init(&q->cparams);
    codel_stats_init(&q->cstats);
    q->cparams.ecn = given(argc, argv, "ecn", 1);
    q->cparams.mtu = full_packet();
    for (u32 i = 0; i < q->flows_cnt; i++) {
        INIT_LIST_HEAD(&q->flows[i].flowchain);
        codel_vars_init(&q->flows[i].cvars);
    }
}

static void enqueue(struct sk_buff *skb)
{
    struct sk_buff *to_free = NULL;

    fq_codel_enqueue(skb, &root, &to_free);
}

static struct sk_buff *dequeue(void)
{
    return fq_codel_dequeue(&root);
}

static u64 next_update(void)
{
    return UINT64_MAX;
}

static void update(void)
{
}

#else

static struct dualpi2_sched_data dualpi2;

/* The ECN field chooses the queue, the priority does not. */
#define FLOW_OF(flow) ((void)(flow), 0)
static struct Qdisc l_queue;
static bool early;

/* The generator of Sojourn's disciplines: PCG-XSH-RR with 128 bits of state. */
typedef unsigned __int128 wide;
static wide state;

static u64 draw(void)
{
    const wide multiplier = (wide)0x2360ed051fc65da4 << 64 | 0x4385df649fccf645;
    const wide increment = ((wide)0x2fe0e169ffbd06e3 << 64 | 0x5bc307bd4d2f814f) << 1 | 1;
    wide old = state;
    u64 shifted = (u64)(((old >> 29) ^ old) >> 58);
    unsigned int turn = (unsigned int)(old >> 122);

    state = old * multiplier + increment;
    return shifted >> turn | shifted << (-turn & 63);
}

/* PI2 throws two numbers for each packet, whether or not the first decides; the kernel asks for the
 * second one only if it needs it. */
static u32 thrown[2];
static int asked;

/* DualPI2 of the RFC does not throw but counts up (`recur`), for each queue apart. So that the kernel's
 * decides as often and at the same packets, what it draws is made from that count: nothing if the packet is
 * the one, the most there is if not. */
static double counts[2];
static int l_len;
static bool again;

static u32 counted_up(void)
{
    struct dualpi2_sched_data *q = &dualpi2;
    bool l = qdisc_qlen(q->l_queue) != l_len;
    double base = q->pi2_prob / 4294967295.0;
    bool overload = (u64)q->pi2_prob * q->coupling_factor > MAX_PROB;

    if (again) {
        again = false;
        return 0;
    }
    l_len = qdisc_qlen(q->l_queue);
    counts[l] += l && !overload ? base * q->coupling_factor : base * base;
    if (counts[l] <= 1)
        return U32_MAX;
    counts[l] -= 1;
    /* It asks twice for what is squared. */
    again = !l || overload;
    return 0;
}

u32 get_random_u32(void)
{
    return early ? thrown[asked++] : counted_up();
}

/* PI2 leaves two full packets alone. The RFC's DualPI2 does not, and so that the kernel's does not either,
 * a full packet is one byte, two of which are always there. */
unsigned int full_packet(void)
{
    return early ? 1515 : 1;
}

static void set_up(int argc, char **argv)
{
    struct dualpi2_sched_data *q = &dualpi2;

    draw();
    state += seed;
    draw();
    early = given(argc, argv, "drop_early", 0);
    root.private = q;
    root.handle = 1 << 16;
    root.qstats.backlog = early ? 0 : 2;
    root.limit = given(argc, argv, "limit", 100000);
    q->sch = &root;
    q->l_queue = &l_queue;
    q->memory_limit = U32_MAX;
    q->pi2_target = given(argc, argv, "target", 15000000);
    q->pi2_tupdate = given(argc, argv, "tupdate", 15000000);
    q->pi2_alpha = given(argc, argv, "alpha", 0);
    q->pi2_beta = given(argc, argv, "beta", 0);
    q->step_thresh = U32_MAX;
    q->ecn_mask = 1;
    q->coupling_factor = given(argc, argv, "coupling", 2);
    q->drop_overload = true;
    q->drop_early = early;
    dualpi2_calculate_c_protection(&root, q, given(argc, argv, "wc", 0));
}

static void enqueue(struct sk_buff *skb)
{
    struct sk_buff *to_free = NULL;

    if (early && root.qstats.backlog >= 2 * full_packet()) {
        thrown[0] = (u32)(draw() >> 32);
        thrown[1] = (u32)(draw() >> 32);
        asked = 0;
    }
    dualpi2_qdisc_enqueue(skb, &root, &to_free);
}

static struct sk_buff *dequeue(void)
{
    l_len = qdisc_qlen(dualpi2.l_queue);
    again = false;
    return dualpi2_qdisc_dequeue(&root);
}

static u64 updates;

static u64 next_update(void)
{
    return (updates + 1) * dualpi2.pi2_tupdate;
}

static void update(void)
{
    updates++;
    dualpi2.pi2_prob = calculate_probability(&root);
}

#endif

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

/* Lets timer and link do what is due; the timer first, as the disciplines do. */
static void run_until(u64 time)
{
    for (;;) {
        u64 due = next_update();

        if (due <= free_at && due <= time) {
            now = due;
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
        fprintf(stderr, "kernel_drops SEED NAME=VALUE... < arrivals > signals\n");
        return 2;
    }
    seed = strtoull(argv[1], NULL, 10);
    set_up(argc, argv);
    for (u64 number = 0; scanf("%" SCNu64 " %u %u %u", &time, &size, &flow, &ect) == 4; number++) {
        struct sk_buff *skb = calloc(1, sizeof(*skb));

        run_until(time);
        skb->number = number;
        skb->len = skb->truesize = size;
        skb->priority = FLOW_OF(flow);
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
