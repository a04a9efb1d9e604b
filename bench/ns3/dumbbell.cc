// The comparison's scenario in ns-3: long-lived CUBIC flows through one CoDel queue.
//
// Stands on the headers and libraries of ns-3 alone and does as little as ns-3 allows: one node for
// each sender, one switch, one receiver, no traces, no helpers that look at packets. It prints one
// line of JSON: packets offered to the bottleneck, seconds of the simulation itself, and counts that
// show that the scenario did what it should.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

struct Scenario
{
    uint32_t flows = 10;
    std::string rate = "100Mbps";
    std::string limit = "1940000B"; // the queue's
    double shortest = 5.0;          // round-trip times, ms: spread evenly
    double longest = 10.0;
    double seconds = 10.0;
};

// TCP as Linux has it, as far as ns-3 does.
void
ConfigureTcp()
{
    const uint32_t buffer = 16 << 20; // never the limit
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
}

// One flow: a sender on a link of its own, which holds half of the round-trip time in either
// direction, and its socket at the receiver.
void
AddFlow(const Scenario& scenario, uint32_t flow, Ptr<Node> hub, Ipv4Address to)
{
    static Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    static PointToPointHelper access;
    const double step = flow / static_cast<double>(std::max(scenario.flows - 1, 1u));
    const double rtt = scenario.shortest + (scenario.longest - scenario.shortest) * step;

    Ptr<Node> sender = CreateObject<Node>();
    InternetStackHelper().Install(sender);
    access.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    access.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2000)));
    NetDeviceContainer devices = access.Install(sender, hub);
    addresses.Assign(devices);
    addresses.NewNetwork();
    Ipv4StaticRoutingHelper routing;
    Ptr<Ipv4> ip = sender->GetObject<Ipv4>();
    routing.GetStaticRouting(ip)->SetDefaultRoute(
        hub->GetObject<Ipv4>()->GetAddress(flow + 2, 0).GetLocal(), 1);

    const uint16_t port = 5000 + flow;
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, port));
    bulk.SetAttribute("SendSize", UintegerValue(64 << 10));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(NodeList::GetNode(1));
    // Flows start within 10 ms, as in Sojourn, so that they do not march in step.
    bulk.Install(sender).Start(MilliSeconds(10) * flow / scenario.flows);
}

} // namespace

int
main(int argc, char* argv[])
{
    Scenario scenario;
    CommandLine command;
    command.AddValue("flows", "number of flows", scenario.flows);
    command.AddValue("rate", "of the bottleneck", scenario.rate);
    command.AddValue("limit", "of the queue", scenario.limit);
    command.AddValue("shortest", "round-trip time, ms", scenario.shortest);
    command.AddValue("longest", "round-trip time, ms", scenario.longest);
    command.AddValue("seconds", "simulated", scenario.seconds);
    command.Parse(argc, argv);
    ConfigureTcp();

    Ptr<Node> hub = CreateObject<Node>();
    Ptr<Node> receiver = CreateObject<Node>();
    InternetStackHelper internet;
    internet.Install(hub);
    internet.Install(receiver);
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(scenario.rate));
    // The queue is CoDel's, not the device's.
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    NetDeviceContainer devices = bottleneck.Install(hub, receiver);
    // Acknowledgements are not what is measured: their way back is not narrow.
    devices.Get(1)->SetAttribute("DataRate", StringValue("100Gbps"));
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue(scenario.limit));
    QueueDiscContainer disc = control.Install(devices.Get(0));
    Ipv4AddressHelper addresses("192.168.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(receiver->GetObject<Ipv4>())->SetDefaultRoute(interfaces.GetAddress(0), 1);
    for (uint32_t flow = 0; flow < scenario.flows; ++flow)
    {
        AddFlow(scenario, flow, hub, interfaces.GetAddress(1));
    }

    Simulator::Stop(Seconds(scenario.seconds));
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t processor = std::clock();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    const double used = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
    const QueueDisc::Stats stats = disc.Get(0)->GetStats();
    std::cout << "{\"packets\": " << stats.nTotalReceivedPackets
              << ", \"sent\": " << stats.nTotalSentPackets
              << ", \"dropped\": " << stats.nTotalDroppedPackets
              << ", \"events\": " << Simulator::GetEventCount()
              << ", \"seconds\": " << wall.count() << ", \"processor\": " << used << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
