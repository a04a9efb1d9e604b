//! Runner: the thread that owns the switch, receives and transmits frames, and serves timers.
//!
//! It sleeps until just before the next timer and then spins, because a sleep alone ends tens of
//! microseconds late. Other threads send closures to the switch, which run between two frames. Rows
//! leave through a bounded ring. If it is full, rows are counted as lost, and no packet waits for
//! them.

use crate::delay_line::{DelayLine, Way};
use crate::flow_ids::{FlowKey, Flows};
use crate::interface::{Interface, LONGEST};
use crate::packet_id::identity;
use crate::report::{LiveReport, PortReport};
use crate::tx_delay::Lateness;
use crate::waker::{Waiter, Waker, pair};
use crate::{Clock, LiveError, syscalls};
use sojourn_packet::{Packet, PacketId, PortId, Rate, Time};
use sojourn_switch::{Observation, Switch};
use std::os::fd::RawFd;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::JoinHandle;

/// Longest sleep of the thread, which bounds its reaction to a stop request.
const LONGEST_SLEEP: Time = Time::from_millis(10);
/// Time between retries of a failed interface.
const RETRY: Time = Time::from_millis(100);
/// Number of buffers kept for further frames.
const BUFFERS: usize = 4_096;

/// A port of the switch and its interface.
pub struct LivePort {
    /// The port.
    pub id: PortId,
    /// The interface.
    pub interface: Box<dyn Interface>,
    /// True if the port has a shaper, so that the delay of its frames is meaningful.
    pub shapes: bool,
    /// Emulated link behind it, with a rate and delays that the interface lacks.
    pub link: Link,
}

/// Properties of the link behind a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Direction towards the switch.
    pub incoming: Way,
    /// Direction away from it.
    pub outgoing: Way,
    /// Ethernet address of the only host on the link: all frames there are sent to it, whatever
    /// address the program has written.
    pub peer: Option<[u8; 6]>,
}

/// Direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the switch.
    Incoming,
    /// Away from it.
    Outgoing,
}

/// Change of a link's direction during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayChange {
    /// New delay of a class.
    Delay(usize, Time),
    /// New rate; not zero.
    Rate(Rate),
}

/// Options of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Time for which the thread spins before a timer instead of sleeping. Default 60 us.
    pub spin: Time,
    /// Run with real-time priority, if permitted. Default true.
    pub realtime: bool,
    /// Maximum number of rows waiting to be taken. Default 262,144.
    pub rows: usize,
    /// Maximum number of arrivals waiting to be taken. Default 0: none is recorded.
    pub arrivals: usize,
    /// Packets have the ids by which other switches know them ([`identity`]) instead of their order
    /// of arrival. Default false.
    pub identify: bool,
}

/// A frame that was passed to the switch: from all of them the run can be repeated in virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Time of arrival.
    pub at: Time,
    /// Input port.
    pub port: PortId,
    /// The frame.
    pub packet: Packet,
}

impl Default for Options {
    fn default() -> Options {
        let (spin, rows) = (Time(60_000), 1 << 18);
        Options { spin, realtime: true, rows, arrivals: 0, identify: false }
    }
}

/// Work on the switch at a given time.
pub type Work = Box<dyn FnOnce(&mut Switch, Time) + Send>;

/// Request to the thread.
enum Request {
    /// Work on the switch.
    Work(Work),
    /// Requests a report of the run so far. Not a work item, because percentiles take time.
    Report(Sender<LiveReport>),
    /// Change of a direction of a port's link.
    Change(PortId, Direction, WayChange),
    /// End of the run.
    Stop,
}

/// Final state of a stopped switch.
pub struct End {
    /// The switch at its end.
    pub switch: Switch,
    /// Report of the run.
    pub report: LiveReport,
    /// Rows that were not taken.
    pub rows: Vec<Observation>,
    /// Arrivals that were not taken.
    pub arrivals: Vec<Arrived>,
    /// Flows, by number from 1 on.
    pub flows: Vec<FlowKey>,
}

/// A running switch.
pub struct Live {
    handle: LiveHandle,
    rows: Receiver<Observation>,
    arrivals: Receiver<Arrived>,
    thread: Option<JoinHandle<(Switch, LiveReport, Vec<FlowKey>)>>,
}

/// Handle for requests to a running switch, which may be cloned.
///
/// ```
/// use sojourn_live::{Live, LiveHandle, Options};
/// use sojourn_switch::{PortId, Switch, SwitchConfig, CrossConnect};
/// let wire = CrossConnect::between(PortId(1), PortId(2));
/// let switch = Switch::new(SwitchConfig::default(), Box::new(wire));
/// # if let Ok(switch) = switch {
/// let live = Live::start(switch, Vec::new(), Options { realtime: false, ..Options::default() })?;
/// let handle: LiveHandle = live.handle().clone(); // For another thread.
/// live.stop();
/// assert_eq!(handle.with(|_, now| now), None, "nobody is there");
/// # }
/// # Ok::<(), sojourn_live::LiveError>(())
/// ```
#[derive(Clone)]
pub struct LiveHandle {
    requests: Sender<Request>,
    waker: Waker,
}

impl LiveHandle {
    fn send(&self, request: Request) -> bool {
        let sent = self.requests.send(request).is_ok();
        self.waker.wake();
        sent
    }

    /// Submits work on the switch, executed between two frames at the time passed to it. False if
    /// the thread has ended. A caller with many work items must wait for results in between.
    pub fn submit(&self, work: Work) -> bool {
        self.send(Request::Work(work))
    }

    /// Executes work on the switch between two frames, at the time passed to it, and returns its
    /// result; `None` if the thread has ended.
    pub fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Switch, Time) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = channel();
        let work = move |switch: &mut Switch, now: Time| {
            // The caller may have dropped its request.
            let _ = answer.send(work(switch, now));
        };
        self.submit(Box::new(work)).then(|| answered.recv().ok()).flatten()
    }
}

impl Live {
    /// Starts an idle switch between interfaces.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        switch: Switch,
        ports: Vec<LivePort>,
        options: Options,
    ) -> Result<Live, LiveError> {
        let (requests, to_do) = channel();
        let (row, rows) = sync_channel(options.rows);
        let (arrival, arrivals) = sync_channel(options.arrivals);
        let out = (row, (options.arrivals > 0).then_some(arrival));
        let (waker, waiter) = pair().map_err(LiveError::Thread)?;
        let runner = Runner::new(switch, ports, options, (to_do, waiter), out);
        let named = std::thread::Builder::new().name("switch".into());
        let thread = named.spawn(move || runner.run()).map_err(LiveError::Thread)?;
        let handle = LiveHandle { requests, waker };
        Ok(Live { handle, rows, arrivals, thread: Some(thread) })
    }

    /// Handle for requests to the switch.
    pub fn handle(&self) -> &LiveHandle {
        &self.handle
    }

    /// As [`LiveHandle::with`].
    pub fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Switch, Time) -> T + Send + 'static,
    ) -> Option<T> {
        self.handle.with(work)
    }

    /// Report of interfaces and departures so far; `None` if the thread has ended.
    pub fn report(&self) -> Option<LiveReport> {
        let (answer, answered) = channel();
        self.handle.send(Request::Report(answer)).then(|| answered.recv().ok()).flatten()
    }

    /// Changes a direction of a port's link, for later frames.
    pub fn change(&self, port: PortId, direction: Direction, change: WayChange) {
        // A failed send means that the thread has ended.
        let _ = self.handle.send(Request::Change(port, direction, change));
    }

    /// Pending rows and frames.
    pub fn take(&self) -> Vec<Observation> {
        self.rows.try_iter().collect()
    }

    /// Pending arrivals, in the order in which they were passed to the switch.
    pub fn take_arrivals(&self) -> Vec<Arrived> {
        self.arrivals.try_iter().collect()
    }

    /// Ends the thread. `None` if it has panicked.
    pub fn stop(mut self) -> Option<End> {
        self.handle.send(Request::Stop);
        let (switch, report, flows) = self.thread.take()?.join().ok()?;
        let (rows, arrivals) = (self.take(), self.take_arrivals());
        Some(End { switch, report, rows, arrivals, flows })
    }
}

impl Drop for Live {
    /// Dropping the owner ends the switch, even if other handles remain.
    fn drop(&mut self) {
        self.handle.send(Request::Stop);
    }
}

/// A port in the thread.
struct Attached {
    port: LivePort,
    report: PortReport,
    /// Time of the next retry after a failure.
    retry: Time,
    /// True if it was absent at the last attempt to open it.
    gone: bool,
    /// True if frames are queued for it.
    pending: bool,
    /// Delayed arrivals.
    incoming: DelayLine,
    /// Delayed departures.
    outgoing: DelayLine,
}

impl Attached {
    /// Passes a frame to the interface, which sends it with the next flush.
    fn send(&mut self, mut packet: Packet) {
        if let (Some(peer), Some(to)) = (&self.port.link.peer, packet.bytes.first_chunk_mut()) {
            *to = *peer;
        }
        self.port.interface.queue(packet.bytes, packet.zeros as usize);
        self.pending = true;
    }

    /// Opens the interface again, if it exists; the next retry is later, because an interface that
    /// is down exists and fails at once.
    fn open_again(&mut self, now: Time) -> bool {
        self.gone = !self.port.interface.reopen();
        self.retry = now + RETRY;
        !self.gone
    }
}

/// Recorder of arrivals, if enabled.
struct Arrivals {
    to: Option<SyncSender<Arrived>>,
    lost: u64,
}

impl Arrivals {
    fn note(&mut self, at: Time, port: PortId, packet: &Packet) {
        if let Some(to) = &self.to {
            let arrived = Arrived { at, port, packet: packet.clone() };
            self.lost += u64::from(to.try_send(arrived).is_err());
        }
    }
}

struct Runner {
    switch: Switch,
    clock: Clock,
    ports: Vec<Attached>,
    options: Options,
    requests: Receiver<Request>,
    waiter: Waiter,
    rows: SyncSender<Observation>,
    arrivals: Arrivals,
    buffers: Vec<Vec<u8>>,
    packets: u64,
    flows: Flows,
    lateness: Lateness,
    rows_lost: u64,
    nowhere: u64,
    realtime: bool,
}

impl Runner {
    fn new(
        switch: Switch,
        ports: Vec<LivePort>,
        options: Options,
        (requests, waiter): (Receiver<Request>, Waiter),
        (rows, arrivals): (SyncSender<Observation>, Option<SyncSender<Arrived>>),
    ) -> Runner {
        let attached = |mut port: LivePort| {
            let interface = port.interface.name().to_owned();
            let report = PortReport { port: port.id.0, interface, ..PortReport::default() };
            let incoming = DelayLine::new(std::mem::take(&mut port.link.incoming));
            let outgoing = DelayLine::new(std::mem::take(&mut port.link.outgoing));
            let (retry, gone, pending) = (Time::ZERO, false, false);
            Attached { port, report, retry, gone, pending, incoming, outgoing }
        };
        let ports: Vec<_> = ports.into_iter().map(attached).collect();
        Runner {
            switch,
            clock: Clock::start(),
            ports,
            options,
            requests,
            waiter,
            rows,
            arrivals: Arrivals { to: arrivals, lost: 0 },
            buffers: Vec::new(),
            packets: 0,
            flows: Flows::default(),
            lateness: Lateness::default(),
            rows_lost: 0,
            nowhere: 0,
            realtime: false,
        }
    }

    fn run(mut self) -> (Switch, LiveReport, Vec<FlowKey>) {
        self.realtime = self.options.realtime && syscalls::realtime().is_ok();
        // Frames queued in the sockets before the start are not part of this run.
        self.ports.iter_mut().for_each(|at| {
            at.port.interface.lost();
        });
        loop {
            self.waiter.reset();
            let asked = match self.requests.try_recv() {
                Ok(Request::Stop) | Err(TryRecvError::Disconnected) => break,
                Ok(request) => {
                    self.answer(request);
                    true
                }
                Err(TryRecvError::Empty) => false,
            };
            let received = self.receive();
            self.release();
            self.switch.advance(self.clock.now());
            self.transmit();
            self.record();
            if received == 0 && !asked {
                self.rest();
            }
        }
        let report = self.report();
        (self.switch, report, self.flows.told_apart())
    }

    fn answer(&mut self, request: Request) {
        match request {
            Request::Work(work) => {
                let now = self.clock.now();
                self.switch.advance(now);
                work(&mut self.switch, now);
            }
            Request::Report(to) => {
                let report = self.report();
                // The caller may have dropped its request.
                let _ = to.send(report);
            }
            Request::Change(port, direction, change) => {
                for at in self.ports.iter_mut().filter(|at| at.port.id == port) {
                    let way = match direction {
                        Direction::Incoming => &mut at.incoming,
                        Direction::Outgoing => &mut at.outgoing,
                    };
                    match change {
                        WayChange::Delay(class, delay) => way.set(class, delay),
                        WayChange::Rate(rate) => way.set_rate(rate),
                    }
                }
            }
            // Handled by the loop.
            Request::Stop => {}
        }
    }

    /// Passes received frames to the switch, one batch for each port.
    fn receive(&mut self) -> usize {
        let now = self.clock.now();
        let mut all = 0;
        let Runner { ports, switch, clock, buffers, packets, flows, arrivals, options, .. } = self;
        for at in ports.iter_mut().filter(|at| at.retry <= now) {
            // The socket of an absent interface reports it once and is then silent.
            if at.gone && !at.open_again(now) {
                continue;
            }
            let (report, port, line) = (&mut at.report, at.port.id, &mut at.incoming);
            let got = at.port.interface.receive(&mut |arrival| {
                report.received += 1;
                report.received_bytes += arrival.length as u64;
                report.unfinished += u64::from(arrival.unfinished);
                if arrival.length > LONGEST {
                    report.oversized += 1;
                    return;
                }
                *packets += 1;
                let mut bytes = buffers.pop().unwrap_or_default();
                bytes.clear();
                bytes.extend_from_slice(arrival.bytes);
                let mut packet = Packet { id: PacketId(*packets), bytes, ..Packet::default() };
                packet.flow = flows.number(&packet);
                if options.identify {
                    packet.id = PacketId(identity(&packet));
                }
                let arrived = clock.now();
                if let Some(packet) = line.hold(arrived, packet) {
                    arrivals.note(arrived, port, &packet);
                    switch.receive(arrived, port, packet);
                }
            });
            match got {
                Ok(got) => all += got,
                Err(_) => {
                    at.report.failures += 1;
                    at.report.lost += at.port.interface.lost();
                    at.open_again(now);
                }
            }
        }
        all
    }

    /// Passes delayed frames that are due to the switch.
    fn release(&mut self) {
        for at in &mut self.ports {
            while let Some(packet) = at.incoming.due(self.clock.now()) {
                let now = self.clock.now();
                self.arrivals.note(now, at.port.id, &packet);
                self.switch.receive(now, at.port.id, packet);
            }
        }
    }

    /// Sends the frames that the switch has transmitted.
    fn transmit(&mut self) {
        for transmit in self.switch.take_transmits() {
            let Some(at) = self.ports.iter_mut().find(|at| at.port.id == transmit.port) else {
                self.nowhere += 1;
                self.buffers.push(transmit.packet.bytes);
                continue;
            };
            let length = transmit.packet.len().0;
            at.report.sent += 1;
            at.report.sent_bytes += length;
            if at.port.shapes {
                let now = self.clock.now();
                self.lateness.note(Time(now.0.saturating_sub(transmit.start.0)));
            }
            if let Some(packet) = at.outgoing.hold(self.clock.now(), transmit.packet) {
                at.send(packet);
            }
        }
        for at in &mut self.ports {
            while let Some(packet) = at.outgoing.due(self.clock.now()) {
                at.send(packet);
            }
            if !at.pending {
                continue;
            }
            at.pending = false;
            at.report.not_sent += at.port.interface.flush(&mut self.buffers) as u64;
        }
        self.buffers.truncate(BUFFERS);
    }

    fn record(&mut self) {
        for row in self.switch.take_observations() {
            self.rows_lost += u64::from(self.rows.try_send(row).is_err());
        }
    }

    /// Sleeps until a frame arrives or a timer is near.
    fn rest(&mut self) {
        let now = self.clock.now();
        let ways = self.ports.iter().flat_map(|at| [&at.incoming, &at.outgoing]);
        let held = ways.filter_map(DelayLine::next);
        let next = held.chain(self.switch.next_timer()).min();
        let left = next.map(|due| Time(due.0.saturating_sub(now.0)));
        let sleep = match left {
            Some(left) if left <= self.options.spin => return std::hint::spin_loop(),
            Some(left) => Time(left.0 - self.options.spin.0).min(LONGEST_SLEEP),
            None => LONGEST_SLEEP,
        };
        // A failed one would be readable for ever.
        let asked = self.ports.iter().filter(|at| at.retry <= now);
        let asked = asked.map(|at| at.port.interface.descriptor());
        let asked: Vec<RawFd> = asked.chain([self.waiter.descriptor()]).collect();
        syscalls::wait(&asked, sleep.0);
    }

    /// The counters at an instant that the switch has reached: everything that was due until
    /// `elapsed` has happened, so that virtual time repeats the run by the same instant.
    fn report(&mut self) -> LiveReport {
        let now = self.clock.now();
        self.switch.advance(now);
        self.transmit();
        self.record();
        for at in &mut self.ports {
            at.report.lost += at.port.interface.lost();
            at.report.not_held = at.incoming.dropped + at.outgoing.dropped;
        }
        LiveReport {
            started: self.clock.started(),
            elapsed: now.0,
            ports: self.ports.iter().map(|at| at.report.clone()).collect(),
            lateness: self.lateness.percentiles(),
            rows_lost: self.rows_lost,
            arrivals_lost: self.arrivals.lost,
            nowhere: self.nowhere,
            realtime: self.realtime,
        }
    }
}
