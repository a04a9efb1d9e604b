/* sch_pie.c: as `tc qdisc add ... pie` sets it up, without its estimator of the departure rate, with a full
 * packet of 1514 bytes. Its timer runs from time zero, each 15 ms exactly. It must not know how the trace
 * is passed. */

static struct pie_sched_data pie;

/* Sojourn throws a number for each packet that fits, the kernel only if it needs one. */
static u64 thrown;

void get_random_bytes(void *bytes, size_t length)
{
    memcpy(bytes, &thrown, length);
}

static u32 priority_of(unsigned int flow)
{
    (void)flow;
    return 0;
}

unsigned int full_packet(void)
{
    return 1514;
}

u32 get_random_u32(void)
{
    abort();
}

static void set_up(void)
{
    root.private = &pie;
    pie_params_init(&pie.params);
    pie_vars_init(&pie.vars);
    pie.params.ecn = given("ecn", 0);
    root.limit = given("limit", pie.params.limit);
}

static void enqueue(struct sk_buff *skb)
{
    struct sk_buff *to_free = NULL;

    if ((u32)qdisc_qlen(&root) < root.limit)
        thrown = draw();
    pie_qdisc_enqueue(skb, &root, &to_free);
}

static struct sk_buff *dequeue(void)
{
    return pie_qdisc_dequeue(&root);
}

static u64 period(void)
{
    return 15 * NSEC_PER_MSEC;
}

static void update(void)
{
    pie_calculate_probability(&pie.params, &pie.vars, root.qstats.backlog);
}
