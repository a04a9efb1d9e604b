/* sch_codel.c: as `tc qdisc add ... codel` sets it up, with a full packet of 1514 bytes. Times are given in
 * ns. It must not know how the trace is passed. */

static struct codel_sched_data codel;

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
    root.private = &codel;
    root.limit = given("limit", DEFAULT_CODEL_LIMIT);
    codel_params_init(&codel.params);
    codel_vars_init(&codel.vars);
    codel_stats_init(&codel.stats);
    codel.params.mtu = full_packet();
    codel.params.ecn = given("ecn", 0);
    if (given("ce_threshold", 0))
        codel.params.ce_threshold = given("ce_threshold", 0) >> CODEL_SHIFT;
}

static void enqueue(struct sk_buff *skb)
{
    struct sk_buff *to_free = NULL;

    codel_qdisc_enqueue(skb, &root, &to_free);
}

static struct sk_buff *dequeue(void)
{
    return codel_qdisc_dequeue(&root);
}

static u64 period(void)
{
    return 0;
}

static void update(void)
{
}
