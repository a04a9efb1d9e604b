// A fixed arrival trace through one of ns-3's queue discs before a link of 10 Mbit/s: what it drops or
// marks, and when.
//
// Stands on the headers and libraries of ns-3 alone; it must not know what Sojourn's disciplines do.
// The steps are those of crates/switch/tests/second_sources/link.rs. Chance is replaced by the numbers
// that Sojourn's disciplines throw. With `undo`, the places where the disc departs from its source are
// put right from outside, through its private state; docs/second-sources.md says which and why.
//
//     ns3_drops DISC SEED undo|as-is NAME=VALUE... < arrivals > signals
//
// An arrival is a line of time in ns, bytes, flow and ECN field; a signal one of packet and time, with
// `mark` if it was not dropped.

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

// Private state, opened the one way that C++ leaves: explicit instantiation may name private members.
template <typename Tag, typename Tag::Member member>
struct Open
{
    friend typename Tag::Member Get(Tag)
    {
        return member;
    }
};

#define OPEN(tag, type, disc, name)                                                                \
    struct tag                                                                                     \
    {                                                                                              \
        using Member = type disc::*;                                                               \
        friend Member Get(tag);                                                                    \
    };                                                                                             \
    template struct Open<tag, &disc::name>

#define OPEN_METHOD(tag, result, disc, name, ...)                                                  \
    struct tag                                                                                     \
    {                                                                                              \
        using Member = result (disc::*)(__VA_ARGS__);                                              \
        friend Member Get(tag);                                                                    \
    };                                                                                             \
    template struct Open<tag, &disc::name>

OPEN(CodelCount, TracedValue<uint32_t>, CoDelQueueDisc, m_count);
OPEN(CodelLastCount, TracedValue<uint32_t>, CoDelQueueDisc, m_lastCount);
OPEN(CodelDropping, TracedValue<bool>, CoDelQueueDisc, m_dropping);
OPEN(CodelRecInvSqrt, uint16_t, CoDelQueueDisc, m_recInvSqrt);
OPEN(CodelDropNext, TracedValue<uint32_t>, CoDelQueueDisc, m_dropNext);
OPEN(RedRandom, Ptr<UniformRandomVariable>, RedQueueDisc, m_uv);
OPEN(RedAverage, double, RedQueueDisc, m_qAvg);
OPEN(RedWeight, double, RedQueueDisc, m_qW);
OPEN(RedOld, uint32_t, RedQueueDisc, m_old);
OPEN(RedCount, uint32_t, RedQueueDisc, m_count);
OPEN(RedCountBytes, uint32_t, RedQueueDisc, m_countBytes);
OPEN(RedIdle, uint32_t, RedQueueDisc, m_idle);
OPEN(RedIdleTime, Time, RedQueueDisc, m_idleTime);
OPEN(RedPacketsPerSecond, double, RedQueueDisc, m_ptc);
OPEN(RedMinTh, double, RedQueueDisc, m_minTh);
OPEN(RedMaxTh, double, RedQueueDisc, m_maxTh);
OPEN(RedGentle, bool, RedQueueDisc, m_isGentle);
OPEN_METHOD(RedEstimator, double, RedQueueDisc, Estimator, uint32_t, uint32_t, double, double);
OPEN_METHOD(RedDropEarly, bool, RedQueueDisc, DropEarly, Ptr<QueueDiscItem>, uint32_t);
OPEN(PieRandom, Ptr<UniformRandomVariable>, PieQueueDisc, m_uv);
OPEN(PieAccumulated, double, PieQueueDisc, m_accuProb);

// The generator of Sojourn's disciplines: PCG-XSH-RR with 128 bits of state, of which a throw has the
// upper 60 of 64 bits.
class Dice : public UniformRandomVariable
{
  public:
    explicit Dice(uint64_t seed)
    {
        Next();
        m_state += seed;
        Next();
    }

    double GetValue() override
    {
        return std::ldexp(static_cast<double>(Next() >> 4), -60);
    }

  private:
    using Wide = unsigned __int128;

    static constexpr Wide Word(uint64_t high, uint64_t low)
    {
        return Wide{high} << 64 | low;
    }

    uint64_t Next()
    {
        const Wide old = m_state;
        m_state = old * Word(0x2360ed051fc65da4, 0x4385df649fccf645) +
                  (Word(0x2fe0e169ffbd06e3, 0x5bc307bd4d2f814f) << 1 | 1);
        const uint64_t shifted = static_cast<uint64_t>(((old >> 29) ^ old) >> 58);
        const unsigned turn = static_cast<unsigned>(old >> 122);
        return shifted >> turn | shifted << (-turn & 63);
    }

    Wide m_state = 0;
};

// A packet of the trace.
class Item : public QueueDiscItem
{
  public:
    Item(uint64_t number, uint32_t size, uint32_t flow, unsigned ecn)
        : QueueDiscItem(Create<Packet>(size), Address(), 0x0800),
          m_number(number),
          m_flow(flow),
          m_ecn(ecn)
    {
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        m_marked = m_ecn != 0;
        return m_marked;
    }

    uint32_t Hash(uint32_t) const override
    {
        return m_flow;
    }

    const uint64_t m_number;
    bool m_marked = false;

  private:
    const uint32_t m_flow;
    const unsigned m_ecn;
};

// What is put right in a disc around its own steps.
class Repair
{
  public:
    virtual ~Repair() = default;

    virtual void BeforeDequeue()
    {
    }

    virtual void AfterDequeue(Ptr<Item>)
    {
    }

    // True if the packet has to be dropped although the disc would not.
    virtual bool BeforeEnqueue(Ptr<Item>)
    {
        return false;
    }

    virtual void AfterEnqueue(Ptr<Item>)
    {
    }
};

// CoDel's arithmetic. ns-3 counts time in ticks of 1024 ns and comes near to interval / sqrt(count) by
// steps of Newton's iteration on 16 bits. Here time passes 512 times as slowly, so that a tick is two of
// our nanoseconds, a step starts where it should end, and what it still lacks is made good after it. What
// is due a gap after a mark was due, ns-3 has a gap after it was made; that is put right as well.
class ExactCodel : public Repair
{
  public:
    explicit ExactCodel(Ptr<CoDelQueueDisc> disc)
        : m_disc(disc)
    {
    }

    void BeforeDequeue() override
    {
        m_count = *m_disc.*Get(CodelCount());
        m_dropping = *m_disc.*Get(CodelDropping());
        m_dropNext = *m_disc.*Get(CodelDropNext());
        const uint32_t last = *m_disc.*Get(CodelLastCount());
        const uint32_t next = m_dropping ? m_count + 1 : m_count - last;
        if (next > 1)
        {
            const double root = 65536.0 / std::sqrt(static_cast<double>(next));
            *m_disc.*Get(CodelRecInvSqrt()) = static_cast<uint16_t>(root);
        }
    }

    void AfterDequeue(Ptr<Item>) override
    {
        const uint32_t count = *m_disc.*Get(CodelCount());
        TracedValue<uint32_t>& dropNext = *m_disc.*Get(CodelDropNext());
        if (dropNext == m_dropNext)
        {
            return;
        }
        if (m_dropping)
        {
            // The drop that ended a drop state was counted and not followed by another gap.
            const uint32_t gaps = *m_disc.*Get(CodelDropping()) ? count : count - 1;
            uint32_t exact = m_dropNext;
            for (uint32_t n = m_count + 1; n <= gaps; ++n)
            {
                exact += Gap(n);
            }
            dropNext = exact;
        }
        else
        {
            dropNext = static_cast<uint32_t>(Simulator::Now().GetNanoSeconds() >> 10) + Gap(count);
        }
    }

  private:
    uint32_t Gap(uint32_t count) const
    {
        const double interval = m_disc->GetInterval().GetNanoSeconds() / 1024.0;
        return static_cast<uint32_t>(std::llround(interval / std::sqrt(count)));
    }

    Ptr<CoDelQueueDisc> m_disc;
    uint32_t m_count = 0;
    uint32_t m_dropNext = 0;
    bool m_dropping = false;
};

// The same for the CoDel of each flow, with the rule for small backlogs at a full packet of 1514 bytes.
class ExactFqCodel : public Repair
{
  public:
    explicit ExactFqCodel(Ptr<FqCoDelQueueDisc> disc)
        : m_disc(disc)
    {
    }

    void AfterEnqueue(Ptr<Item>) override
    {
        for (std::size_t flow = m_flows.size(); flow < m_disc->GetNQueueDiscClasses(); ++flow)
        {
            Ptr<QueueDisc> child = m_disc->GetQueueDiscClass(flow)->GetQueueDisc();
            child->SetAttribute("MinBytes", UintegerValue(1515));
            m_flows.emplace_back(DynamicCast<CoDelQueueDisc>(child));
        }
    }

    void BeforeDequeue() override
    {
        for (ExactCodel& flow : m_flows)
        {
            flow.BeforeDequeue();
        }
    }

    void AfterDequeue(Ptr<Item> sent) override
    {
        for (ExactCodel& flow : m_flows)
        {
            flow.AfterDequeue(sent);
        }
    }

  private:
    Ptr<FqCoDelQueueDisc> m_disc;
    std::vector<ExactCodel> m_flows;
};

// The paper's RED: an empty queue is idle from the departure of its last packet, its average falls by m
// steps and not m + 1, and the packet with which the average comes above min_th is the first of a count
// and may be dropped as any other. If bytes are counted, p_b goes by the packet's size before p_a is made of
// it, which comes to the same as a count of packets of that size. A packet that finds one packet (or byte)
// or none queued is spared by ns-3; with it ns-3's own steps are taken here, one by one.
class PaperRed : public Repair
{
  public:
    PaperRed(Ptr<RedQueueDisc> disc, Ptr<Dice> dice)
        : m_disc(disc),
          m_dice(dice)
    {
    }

    bool BeforeEnqueue(Ptr<Item> item) override
    {
        uint32_t& count = *m_disc.*Get(RedCount());
        uint32_t& bytes = *m_disc.*Get(RedCountBytes());
        bytes = count * item->GetSize();
        const uint32_t queued = m_disc->GetInternalQueue(0)->GetCurrentSize().GetValue();
        const bool idle = *m_disc.*Get(RedIdle()) == 1;
        const double rate = *m_disc.*Get(RedPacketsPerSecond());
        const auto missed = idle ? uint32_t(rate * (Simulator::Now() - m_since).GetSeconds()) : 0;
        double& average = *m_disc.*Get(RedAverage());
        const double weight = *m_disc.*Get(RedWeight());
        const double next = ((*m_disc).*Get(RedEstimator()))(queued, missed + 1, average, weight);
        m_spared = queued <= 1 && next >= *m_disc.*Get(RedMinTh());
        if (!m_spared)
        {
            return false;
        }
        average = m_average = next;
        count = *m_disc.*Get(RedOld()) == 1 ? count + 1 : 0;
        bytes = count * item->GetSize();
        const double limit = *m_disc.*Get(RedMaxTh()) * (*m_disc.*Get(RedGentle()) ? 2 : 1);
        const bool forced = next >= limit;
        count = forced ? 0 : count;
        const bool dropped = forced || ((*m_disc).*Get(RedDropEarly()))(item, queued);
        m_count = count;
        *m_disc.*Get(RedOld()) = 1;
        m_above = true;
        if (dropped && idle)
        {
            average /= 1.0 - weight;
        }
        *m_disc.*Get(RedIdle()) = dropped && idle ? 1 : 0;
        return dropped;
    }

    void AfterEnqueue(Ptr<Item>) override
    {
        if (m_spared)
        {
            *m_disc.*Get(RedAverage()) = m_average;
            *m_disc.*Get(RedCount()) = m_count;
            *m_disc.*Get(RedOld()) = 1;
            return;
        }
        const bool above = *m_disc.*Get(RedOld()) == 1;
        if (above && !m_above)
        {
            *m_disc.*Get(RedCount()) = 0;
            m_dice->GetValue();
        }
        m_above = above;
    }

    void AfterDequeue(Ptr<Item> sent) override
    {
        const bool empty = m_disc->GetNPackets() == 0;
        if (sent && empty)
        {
            *m_disc.*Get(RedAverage()) /= 1.0 - *m_disc.*Get(RedWeight());
            m_since = Simulator::Now();
        }
        if (empty)
        {
            *m_disc.*Get(RedIdle()) = 1;
            *m_disc.*Get(RedIdleTime()) = m_since;
        }
    }

  private:
    Ptr<RedQueueDisc> m_disc;
    Ptr<Dice> m_dice;
    Time m_since;
    bool m_above = false;
    // Of the packet that comes: ns-3 would spare it, and what its steps have come to.
    bool m_spared = false;
    double m_average = 0;
    uint32_t m_count = 0;
};

// RFC 8033 forgets the accumulated probability with each packet that the dice decide against, also with
// one that is marked.
class EvenPie : public Repair
{
  public:
    explicit EvenPie(Ptr<PieQueueDisc> disc)
        : m_disc(disc)
    {
    }

    void AfterEnqueue(Ptr<Item> item) override
    {
        if (item->m_marked)
        {
            *m_disc.*Get(PieAccumulated()) = 0;
        }
    }

  private:
    Ptr<PieQueueDisc> m_disc;
};

struct Arrival
{
    int64_t time;
    uint32_t size;
    uint32_t flow;
    unsigned ecn;
};

// The disc, the link behind it and the trace before it.
class Bench
{
  public:
    // With a scale, time passes that much more slowly.
    Bench(Ptr<QueueDisc> disc, Repair* repair, int64_t scale, std::vector<Arrival> arrivals)
        : m_disc(disc),
          m_repair(repair),
          m_scale(scale),
          m_arrivals(std::move(arrivals))
    {
        m_disc->TraceConnectWithoutContext("Drop", MakeCallback(&Bench::Dropped, this));
    }

    void Plan()
    {
        const bool more = m_next < m_arrivals.size();
        if (m_freeAt >= 0 && (!more || m_freeAt <= m_arrivals[m_next].time))
        {
            Simulator::Schedule(Until(m_freeAt), &Bench::Free, this);
        }
        else if (more)
        {
            Simulator::Schedule(Until(m_arrivals[m_next].time), &Bench::Arrive, this);
        }
        else
        {
            Simulator::Stop();
        }
    }

  private:
    int64_t Now() const
    {
        return Simulator::Now().GetNanoSeconds() / m_scale;
    }

    Time Until(int64_t instant) const
    {
        return NanoSeconds(instant * m_scale) - Simulator::Now();
    }

    void Free()
    {
        Take();
        Plan();
    }

    void Arrive()
    {
        const Arrival& arrival = m_arrivals[m_next];
        Ptr<Item> item = Create<Item>(m_next, arrival.size, arrival.flow, arrival.ecn);
        if (m_repair->BeforeEnqueue(item))
        {
            Dropped(item);
        }
        else
        {
            m_disc->Enqueue(item);
            m_repair->AfterEnqueue(item);
        }
        ++m_next;
        if (m_freeAt < 0)
        {
            Take();
        }
        Plan();
    }

    void Take()
    {
        m_repair->BeforeDequeue();
        Ptr<Item> sent = DynamicCast<Item>(m_disc->Dequeue());
        m_repair->AfterDequeue(sent);
        m_freeAt = sent ? Now() + int64_t{800} * sent->GetSize() : -1;
        if (sent && sent->m_marked)
        {
            Tell(sent->m_number, " mark");
        }
    }

    void Dropped(Ptr<const QueueDiscItem> item)
    {
        Tell(DynamicCast<const Item>(item)->m_number, "");
    }

    void Tell(uint64_t number, const char* kind)
    {
        std::cout << number << ' ' << Now() << kind << '\n';
    }

    Ptr<QueueDisc> m_disc;
    Repair* m_repair;
    int64_t m_scale;
    std::vector<Arrival> m_arrivals;
    std::size_t m_next = 0;
    int64_t m_freeAt = -1;
};

std::vector<Arrival>
ReadArrivals()
{
    std::vector<Arrival> arrivals;
    for (Arrival a; std::cin >> a.time >> a.size >> a.flow >> a.ecn;)
    {
        arrivals.push_back(a);
    }
    return arrivals;
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc < 4)
    {
        std::cerr << "ns3_drops DISC SEED undo|as-is NAME=VALUE... < arrivals > signals\n";
        return 2;
    }
    ObjectFactory factory(std::string("ns3::") + argv[1]);
    Ptr<QueueDisc> disc = factory.Create<QueueDisc>();
    for (int i = 4; i < argc; ++i)
    {
        const std::string pair = argv[i];
        const std::size_t equals = pair.find('=');
        disc->SetAttribute(pair.substr(0, equals), StringValue(pair.substr(equals + 1)));
    }
    const bool undo = std::string(argv[3]) == "undo";
    Ptr<Dice> dice = Create<Dice>(std::stoull(argv[2]));
    std::unique_ptr<Repair> repair = std::make_unique<Repair>();
    int64_t scale = 1;
    if (Ptr<CoDelQueueDisc> codel = DynamicCast<CoDelQueueDisc>(disc); codel && undo)
    {
        repair = std::make_unique<ExactCodel>(codel);
        scale = 512;
    }
    if (Ptr<FqCoDelQueueDisc> fair = DynamicCast<FqCoDelQueueDisc>(disc))
    {
        fair->SetQuantum(1514);
        if (undo)
        {
            repair = std::make_unique<ExactFqCodel>(fair);
            scale = 512;
        }
    }
    if (Ptr<RedQueueDisc> red = DynamicCast<RedQueueDisc>(disc))
    {
        *red.*Get(RedRandom()) = dice;
        if (undo)
        {
            repair = std::make_unique<PaperRed>(red, dice);
        }
    }
    if (Ptr<PieQueueDisc> pie = DynamicCast<PieQueueDisc>(disc))
    {
        *pie.*Get(PieRandom()) = dice;
        if (undo)
        {
            repair = std::make_unique<EvenPie>(pie);
        }
    }
    disc->Initialize();
    Bench bench(disc, repair.get(), scale, ReadArrivals());
    bench.Plan();
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
