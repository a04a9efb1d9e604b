/* sch_cake.c: as `tc qdisc add ... cake unlimited besteffort` sets it up, with a full packet of 1514 bytes, or with
 * `cobalt` its AQM alone around one list. Times are given in ns. It must not know how the trace is passed. */

static struct cake_sched_data cake;
/* The only queue of COBALT alone. */
static struct cake_flow *alone;

static u32 priority_of(unsigned int flow)
{
    return flow;
}

unsigned int full_packet(void)
{
    return 1514;
}

u32 get_random_u32(void)
{
    return (u32)(draw() >> 32);
}

u16 get_random_u16(void)
{
    return (u16)(draw() >> 48);
}

/* Each flow has a source of its own, all have one destination. */
void skb_flow_dissect_flow_keys(const struct sk_buff *skb, struct flow_keys *keys, unsigned int flags)
{
    (void)flags;
    memset(keys, 0, sizeof(*keys));
    keys->control.addr_type = FLOW_DISSECTOR_KEY_IPV4_ADDRS;
    keys->addrs.v4addrs.src = skb->priority;
    keys->addrs.v4addrs.dst = 7;
    keys->ports.ports = skb->priority;
}

/* Flows and hosts of the traces fall into sets of their own. */
u32 flow_hash_from_keys(struct flow_keys *keys)
{
    return keys->addrs.v4addrs.src * 8 + keys->addrs.v4addrs.dst * 128 + (keys->ports.ports ? 65536 : 0);
}

static void cake_reconfigure(struct Qdisc *sch)
{
    (void)sch;
}

static void set_up(void)
{
    struct cake_sched_data *q = &cake;

    root.private = q;
    root.handle = 1 << 16;
    q->flow_mode = given("flow_mode", CAKE_FLOW_TRIPLE);
    q->buffer_limit = given("memlimit", 10240 * full_packet());
    q->tin_cnt = 1;
    quantum_div[0] = ~0;
    for (u32 i = 1; i <= CAKE_QUEUES; i++)
        quantum_div[i] = 65535 / i;
    q->tins = calloc(CAKE_MAX_TINS, sizeof(*q->tins));
    for (u32 i = 0; i < CAKE_MAX_TINS; i++) {
        struct cake_tin_data *b = &q->tins[i];

        INIT_LIST_HEAD(&b->new_flows);
        INIT_LIST_HEAD(&b->old_flows);
        INIT_LIST_HEAD(&b->decaying_flows);
        b->flow_quantum = full_packet();
        b->tin_quantum = 65535;
        b->cparams.target = given("target", 5 * NSEC_PER_MSEC);
        b->cparams.interval = given("interval", 100 * NSEC_PER_MSEC);
        b->cparams.p_inc = 1 << 24;
        b->cparams.p_dec = 1 << 20;
        for (u32 j = 0; j < CAKE_QUEUES; j++) {
            u32 k = j * CAKE_MAX_TINS + i;

            INIT_LIST_HEAD(&b->flows[j].flowchain);
            cobalt_vars_init(&b->flows[j].cvars);
            q->overflow_heap[k].t = i;
            q->overflow_heap[k].b = j;
            b->overflow_idx[j] = k;
        }
    }
    alone = given("cobalt", 0) ? &q->tins->flows[0] : NULL;
}

/* COBALT alone learns at the end of an idle time that the queue was empty. */
static void enqueue_alone(struct sk_buff *skb)
{
    if (!alone->head)
        cobalt_queue_empty(&alone->cvars, &cake.tins->cparams, now);
    cobalt_set_enqueue_time(skb, now);
    flow_queue_add(alone, skb);
    cake.buffer_used += skb->len;
    while (cake.buffer_used > cake.buffer_limit) {
        struct sk_buff *oldest = dequeue_head(alone);

        cobalt_queue_full(&alone->cvars, &cake.tins->cparams, now);
        cake.buffer_used -= oldest->len;
        dropped(oldest);
    }
}

static struct sk_buff *dequeue_alone(void)
{
    struct sk_buff *skb;

    while ((skb = dequeue_head(alone))) {
        cake.buffer_used -= skb->len;
        if (!cobalt_should_drop(&alone->cvars, &cake.tins->cparams, now, skb, 0) || !alone->head)
            break;
        dropped(skb);
    }
    return skb;
}

static void enqueue(struct sk_buff *skb)
{
    struct sk_buff *to_free = NULL;

    if (alone)
        enqueue_alone(skb);
    else
        cake_enqueue(skb, &root, &to_free);
}

static struct sk_buff *dequeue(void)
{
    return alone ? dequeue_alone() : cake_dequeue(&root);
}

static u64 period(void)
{
    return 0;
}

static void update(void)
{
}
