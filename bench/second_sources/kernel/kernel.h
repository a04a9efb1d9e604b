/* What a qdisc of the Linux kernel needs around it, as far as its decisions go, in user space.
 *
 * Declares under the kernel's names the few things that the qdiscs use beside their netlink code: packets,
 * lists, a clock, counters that nobody reads. It knows no discipline. Every header that a qdisc includes
 * becomes this one, but for the kernel's own codel.h, codel_impl.h, codel_qdisc.h and pie.h. */

#ifndef SECOND_SOURCES_KERNEL_H
#define SECOND_SOURCES_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef u64 ktime_t;
typedef u64 netdev_features_t;
typedef u64 psched_time_t;

#define __rcu
#define IS_ENABLED(option) 0
#define fallthrough
#define likely(x) (x)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define U8_MAX UINT8_MAX
#define BITS_PER_BYTE 8
#define NSEC_PER_SEC 1000000000L
#define KTIME_MAX INT64_MAX
#define BIT(n) (1u << (n))
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L
#define USEC_PER_MSEC 1000L
#define typecheck(type, x) 1
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define clamp_t(type, x, least, most)                                                              \
    ((type)(x) < (type)(least) ? (type)(least) : min_t(type, x, most))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define do_div(n, base) ((n) /= (base))
#define div64_u64(n, base) ((u64)(n) / (base))
#define div_u64(n, base) ((u64)(n) / (base))
#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))
#define timer_container_of(variable, timer, member)                                                \
    container_of(timer, __typeof__(*(variable)), member)
#define BUILD_BUG_ON(x)
#define htons(x) ((u16)(x))
#define prefetch(x)
#define EXPORT_SYMBOL_GPL(x)

/* The clock, and the numbers that are drawn: the program's. */
u64 ktime_get_ns(void);
u32 get_random_u32(void);
u16 get_random_u16(void);
void get_random_bytes(void *bytes, size_t length);
#define ktime_add_ns(a, b) ((a) + (b))
#define ktime_add_ms(a, b) ((a) + (b)*NSEC_PER_MSEC)
#define ktime_get() ktime_get_ns()
#define ktime_sub(a, b) ((a) - (b))
#define ktime_to_ns(a) ((s64)(a))
#define ktime_before(a, b) ((s64)(a) < (s64)(b))
#define ktime_after(a, b) ((s64)(a) > (s64)(b))
#define ktime_compare(a, b) (((s64)(a) > (s64)(b)) - ((s64)(a) < (s64)(b)))
/* Packet schedulers count ticks of 64 ns. */
#define PSCHED_NS2TICKS(x) ((x) >> 6)
#define PSCHED_TICKS_PER_SEC PSCHED_NS2TICKS(NSEC_PER_SEC)
#define psched_get_time() PSCHED_NS2TICKS(ktime_get_ns())

static inline u64 mul_u32_u32(u32 a, u32 b)
{
    return (u64)a * b;
}
#define upper_32_bits(x) ((u32)((x) >> 32))
#define lower_32_bits(x) ((u32)(x))

static inline u32 reciprocal_scale(u32 value, u32 end)
{
    return (u32)(((u64)value * end) >> 32);
}

/* Lists. */
struct list_head {
    struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
    list->next = list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
    return list->next == list;
}

static inline void list_add_tail(struct list_head *item, struct list_head *list)
{
    item->prev = list->prev;
    item->next = list;
    list->prev->next = item;
    list->prev = item;
}

static inline void list_del_init(struct list_head *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    INIT_LIST_HEAD(item);
}

static inline void list_move_tail(struct list_head *item, struct list_head *list)
{
    list_del_init(item);
    list_add_tail(item, list);
}
#define list_first_entry(list, type, member) container_of((list)->next, type, member)

/* Packets. `number`, `ect` and `marked` are the program's. */
struct sk_buff {
    struct sk_buff *next;
    unsigned int len, truesize;
    u32 priority, mark, hash;
    bool l4_hash;
    unsigned long cb[8];
    u64 number;
    u8 ect;
    bool marked;
};

struct qdisc_skb_cb {
    unsigned int pkt_len;
    u16 pkt_segs;
    u32 data[12];
};

static inline struct qdisc_skb_cb *qdisc_skb_cb(const struct sk_buff *skb)
{
    return (struct qdisc_skb_cb *)skb->cb;
}
#define qdisc_cb_private_validate(skb, size) ((void)(skb))

static inline unsigned int qdisc_pkt_len(const struct sk_buff *skb)
{
    return skb->len;
}
#define skb_mark_not_on_list(skb) ((skb)->next = NULL)
#define skb_list_walk_safe(first, skb, following)                                                  \
    for ((skb) = (first); (skb) && ((following) = (skb)->next, 1); (skb) = (following))

/* The ECN field. */
enum { INET_ECN_NOT_ECT, INET_ECN_ECT_1, INET_ECN_ECT_0, INET_ECN_CE, INET_ECN_MASK = 3 };

static inline int INET_ECN_set_ce(struct sk_buff *skb)
{
    if (skb->ect == INET_ECN_NOT_ECT)
        return 0;
    skb->marked = true;
    return 1;
}

static inline int skb_get_dsfield(struct sk_buff *skb)
{
    return skb->ect;
}
struct iphdr {
    u8 tos;
};
struct ipv6hdr {
    u8 tos;
};
enum { ETH_P_IP = 0x0800, ETH_P_IPV6 = 0x86dd };
#define skb_protocol(skb, skip) ETH_P_IP
#define skb_network_offset(skb) 0
#define pskb_may_pull(skb, length) ((void)(length), true)
#define skb_try_make_writable(skb, length) 0
#define ip_hdr(skb) (skb)
#define ipv6_hdr(skb) (skb)
#define ipv4_get_dsfield(skb) ((skb)->ect)
#define ipv6_get_dsfield(skb) ((skb)->ect)

/* Segments that wait to be split: there are none. */
#define NETIF_F_GSO_MASK 0
#define skb_is_gso(skb) false
#define netif_skb_features(skb) 0
#define skb_gso_segment(skb, features) ((struct sk_buff *)NULL)
#define IS_ERR_OR_NULL(pointer) (!(pointer))
#define consume_skb(skb) ((void)(skb))

/* Qdiscs. */
struct qdisc_skb_head {
    struct sk_buff *head, *tail;
    u32 qlen;
};

struct gnet_stats_queue {
    u32 qlen, backlog, drops, requeues, overlimits;
};

struct Qdisc {
    u32 limit, handle, flags;
    struct qdisc_skb_head q, gso_skb;
    struct gnet_stats_queue qstats;
    void *dev_queue;
    void *private;
};

struct tcf_proto;
struct tcf_block;
struct nlattr;
struct netlink_ext_ack;
struct tcf_result {
    u32 classid;
};
enum { NET_XMIT_SUCCESS, NET_XMIT_DROP, NET_XMIT_CN };
enum { __NET_XMIT_STOLEN = 0x10000, __NET_XMIT_BYPASS = 0x20000 };
#define TC_H_MAJ(h) ((h)&0xffff0000u)
#define TC_H_MIN(h) ((h)&0x0000ffffu)
#define rcu_dereference_bh(pointer) (pointer)
#define tcf_classify(...) (-1)
#define tcf_classify_qdisc(...) (-1)
#define skb_get_hash(skb) 0u

/* The flow of a packet, as its headers tell it: source, destination and ports. What they are, and what hash
 * belongs to them, is the driver's. */
struct flow_keys {
    struct {
        u16 addr_type;
    } control;
    struct {
        u8 ip_proto;
    } basic;
    struct {
        u32 flow_label;
    } tags;
    struct {
        u32 keyid;
    } keyid;
    struct {
        u32 ports;
    } ports;
    struct {
        struct {
            u32 src, dst;
        } v4addrs;
        struct {
            u32 src, dst;
        } v6addrs;
    } addrs;
};
enum { FLOW_DISSECTOR_KEY_IPV4_ADDRS = 1, FLOW_DISSECTOR_KEY_IPV6_ADDRS };
enum { FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL };
void skb_flow_dissect_flow_keys(const struct sk_buff *skb, struct flow_keys *keys, unsigned int flags);
u32 flow_hash_from_keys(struct flow_keys *keys);

/* CAKE's flow modes, and its configuration, of which only flows and memory are set. */
enum {
    CAKE_FLOW_NONE,
    CAKE_FLOW_SRC_IP = 1,
    CAKE_FLOW_DST_IP = 2,
    CAKE_FLOW_HOSTS = 3,
    CAKE_FLOW_FLOWS = 4,
    CAKE_FLOW_DUAL_SRC = 5,
    CAKE_FLOW_DUAL_DST = 6,
    CAKE_FLOW_TRIPLE = 7
};
enum { CAKE_ATM_NONE, CAKE_ATM_ATM, CAKE_ATM_PTM };
enum { CAKE_ACK_NONE, CAKE_ACK_FILTER, CAKE_ACK_AGGRESSIVE };
/* What its file has and make.py leaves out. */
#define cake_update_flowkeys(keys, skb) false
#define cake_ack_filter(q, flow) ((struct sk_buff *)NULL)
#define cake_overhead(q, skb) ((skb)->len)
#define cake_select_tin(sch, skb) (((struct cake_sched_data *)qdisc_priv(sch))->tins)

enum qdisc_drop_reason {
    QDISC_DROP_OVERLIMIT,
    QDISC_DROP_CONGESTED,
    QDISC_DROP_L4S_STEP_NON_ECN,
};

/* What the program does with a packet that is dropped. */
void dropped(struct sk_buff *skb);
/* What a driver does about a packet that has left its list, so many being left behind. */
static void (*when_taken)(struct sk_buff *skb, u32 behind);
/* The size of a full packet, as the program has it. */
unsigned int full_packet(void);

#define qdisc_dev(sch) NULL
#define psched_mtu(device) full_packet()
#define qdisc_lock(sch) NULL
#define qdisc_root_sleeping(sch) NULL
#define qdisc_priv(sch) ((sch)->private)
#define qdisc_qlen(sch) ((int)(sch)->q.qlen)
#define qdisc_qlen_inc(sch) ((sch)->q.qlen++)
#define qdisc_qlen_dec(sch) ((sch)->q.qlen--)
#define qdisc_tree_reduce_backlog(...) ((void)0)
#define qdisc_qstats_overlimit(sch) ((sch)->qstats.overlimits++)
#define qdisc_qstats_drop(sch) ((sch)->qstats.drops++)
#define qdisc_bstats_update(sch, skb) ((void)0)
#define kfree_skb(skb) dropped(skb)
#define kfree_skb_reason(skb, reason) dropped(skb)
#define rtnl_kfree_skbs(head, tail) ((void)(head), (void)(tail))
#define __qdisc_drop(skb, to_free) dropped(skb)
#define __skb_queue_head(list, skb) ((void)(skb))
#define skb_peek(list) ((list)->head)

static inline void qdisc_qstats_backlog_inc(struct Qdisc *sch, const struct sk_buff *skb)
{
    sch->qstats.backlog += skb->len;
}

static inline void qdisc_qstats_backlog_dec(struct Qdisc *sch, const struct sk_buff *skb)
{
    sch->qstats.backlog -= skb->len;
}

static inline int qdisc_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
    (void)to_free;
    sch->qstats.drops++;
    dropped(skb);
    return NET_XMIT_DROP;
}
#define qdisc_drop_reason(skb, sch, to_free, reason) qdisc_drop(skb, sch, to_free)
#define qdisc_dequeue_drop(sch, skb, reason) qdisc_drop(skb, sch, NULL)

static inline int qdisc_enqueue_tail(struct sk_buff *skb, struct Qdisc *sch)
{
    skb->next = NULL;
    if (sch->q.tail)
        sch->q.tail->next = skb;
    else
        sch->q.head = skb;
    sch->q.tail = skb;
    sch->q.qlen++;
    qdisc_qstats_backlog_inc(sch, skb);
    return NET_XMIT_SUCCESS;
}

static inline struct sk_buff *__qdisc_dequeue_head(struct qdisc_skb_head *list)
{
    struct sk_buff *skb = list->head;

    if (skb) {
        list->head = skb->next;
        if (!list->head)
            list->tail = NULL;
        skb->next = NULL;
        list->qlen--;
        if (when_taken)
            when_taken(skb, list->qlen);
    }
    return skb;
}

static inline struct sk_buff *qdisc_dequeue_head(struct Qdisc *sch)
{
    struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

    if (skb)
        qdisc_qstats_backlog_dec(sch, skb);
    return skb;
}
#define qdisc_peek_head(sch) ((sch)->q.head)

/* Timers and locks: the program calls what a timer would. */
struct hrtimer {
    u64 expires;
};
struct timer_list {
    u64 expires;
};
struct qdisc_watchdog {
    u64 expires;
};
#define qdisc_watchdog_schedule_ns(watchdog, time) ((watchdog)->expires = (time))
#define WARN_ON(x) ((void)(x))
#define usecs_to_jiffies(us) (us)
typedef int spinlock_t;
enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
#define hrtimer_set_expires(timer, time) ((timer)->expires = (time))
#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)
#define spin_lock(lock) ((void)(lock))
#define spin_unlock(lock) ((void)(lock))

#endif
