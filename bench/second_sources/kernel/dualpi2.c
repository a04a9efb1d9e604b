/* sch_dualpi2.c, once as PI2 (Classic traffic alone, `drop_early`) and once as the DualPI2 of RFC 9332's
 * appendix A: what Linux does its own way there is put right from outside, and docs/second-sources.md says
 * what. It must not know how the trace is passed. */

static struct dualpi2_sched_data dualpi2;
static struct Qdisc l_queue;
static bool early;
/* Classic's weight in percent; zero for the time-shifted FIFO. */
static u8 protection;

/* The ECN field chooses the queue, the priority does not. */
static u32 priority_of(unsigned int flow)
{
    (void)flow;
    return 0;
}

/* PI2 leaves two full packets alone, and so does the kernel with its own weights. The RFC's DualPI2 does not, and so
 * that the kernel's does not either, a full packet is one byte, two of which are always there. */
unsigned int full_packet(void)
{
    return early ? 1515 : protection ? 1514 : 1;
}

/* PI2 throws two numbers for each packet, whether or not the first decides; the kernel asks for the
 * second one only if it needs it. */
static u32 thrown[2];
static int asked;

/* DualPI2 of the RFC does not throw but counts up (`recur`), for each queue apart. So that the kernel's
 * decides as often and at the same packets, what it draws is made from that count: nothing if the packet is
 * the one, the most there is if not. */
static double counts[2];
static bool again;

/* The packet that has just left its queue, and what is left behind it there. */
static struct sk_buff *head;
static u32 left;
static u32 th_len;

/* What a unit of the kernel's probability would be if its gains, whole numbers of 2^-32 per 64 ns, were whole
 * numbers of mHz, which differ from them by 2 in ten million: it adds up. */
static double whole;

static void has_left(struct sk_buff *skb, u32 behind)
{
    head = skb;
    left = behind;
    again = false;
}

/* The kernel marks above its step by itself; here it is told for which packets it may. They are looked at
 * where the RFC looks, when they leave, and they count up with a likelihood of one, the greater of two. */
static u32 counted_up(void)
{
    struct dualpi2_sched_data *q = &dualpi2;
    bool l = skb_is_l4s(head);
    double base = min_t(double, q->pi2_prob * whole, 1);
    bool overload = (u64)q->pi2_prob * q->coupling_factor > MAX_PROB;
    bool step = l && !overload && left > th_len && dualpi2_sojourn_time(head, now) > q->step_thresh;

    if (again) {
        again = false;
        return 0;
    }
    dualpi2_skb_cb(head)->apply_step = false;
    counts[l] += step ? 1 : l && !overload ? base * q->coupling_factor : base * base;
    if (counts[l] <= 1)
        return U32_MAX;
    counts[l] -= 1;
    if (step) {
        dualpi2_skb_cb(head)->apply_step = true;
        return U32_MAX;
    }
    /* It asks twice for what is squared. */
    again = !l || overload;
    return 0;
}

u32 get_random_u32(void)
{
    return early ? thrown[asked++] : counted_up();
}

/* The time-shifted FIFO of the RFC's section 4.2.2 in place of the kernel's weights: the sign of a credit
 * says whose turn it is. */
static u64 tshift;

static void choose_queue(void)
{
    struct sk_buff *l = qdisc_peek_head(&l_queue), *c = qdisc_peek_head(&root);

    if (l && c && !protection)
        dualpi2.c_protection_credit =
            dualpi2_sojourn_time(l, now) + tshift < dualpi2_sojourn_time(c, now);
}

static void set_up(void)
{
    struct dualpi2_sched_data *q = &dualpi2;

    when_taken = has_left;
    when_dropped = choose_queue;
    early = given("drop_early", 0);
    tshift = given("tshift", 50 * NSEC_PER_MSEC);
    th_len = given("th_len", 1);
    root.private = q;
    root.handle = 1 << 16;
    protection = given("protection", 0);
    root.qstats.backlog = early || protection ? 0 : 2;
    root.limit = given("limit", 100000);
    q->sch = &root;
    q->l_queue = &l_queue;
    q->memory_limit = U32_MAX;
    q->pi2_target = given("target", 15000000);
    q->pi2_tupdate = given("tupdate", 15000000);
    q->pi2_alpha = given("alpha", 0);
    q->pi2_beta = given("beta", 0);
    whole = q->pi2_alpha ? given("mhz", 0) * 64e-12 / q->pi2_alpha : 0;
    q->step_thresh = given("step", U32_MAX);
    q->ecn_mask = 1;
    q->coupling_factor = given("coupling", 2);
    q->drop_overload = given("drop_overload", 1);
    q->drop_early = early;
    dualpi2_calculate_c_protection(&root, q, protection);
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
    choose_queue();
    return dualpi2_qdisc_dequeue(&root);
}

static u64 period(void)
{
    return dualpi2.pi2_tupdate;
}

static void update(void)
{
    dualpi2.pi2_prob = calculate_probability(&root);
}
