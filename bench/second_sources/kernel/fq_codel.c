/* sch_fq_codel.c: as `tc qdisc add ... fq_codel` sets it up, with a full packet of 1514 bytes. Times are
 * given in ns. It must not know how the trace is passed. */

static struct fq_codel_sched_data fq_codel;

/* A priority chooses the queue, so that no two flows share one. */
static u32 priority_of(unsigned int flow)
{
    return root.handle | (flow + 1);
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
    struct fq_codel_sched_data *q = &fq_codel;

    root.private = q;
    root.handle = 1 << 16;
    root.limit = given("limit", 10240);
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
    q->cparams.ecn = given("ecn", 1);
    q->cparams.mtu = full_packet();
    if (given("ce_threshold", 0))
        q->cparams.ce_threshold = given("ce_threshold", 0) >> CODEL_SHIFT;
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

static u64 period(void)
{
    return 0;
}

static void update(void)
{
}
