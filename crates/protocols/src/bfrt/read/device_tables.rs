//! Tables that every Tofino has: ports, queues, the packet generator, the device.

use super::Reader;
use super::messages::absent;
use crate::bfrt::device_tables::{Fixed, field as fixed_field};
use crate::bfrt::fields::{Datum, Row, number_in};
use crate::bfrt::schema::Table;
use crate::bfrt::store::Entry;
use crate::bfrt::write::{
    application_read, buffer_read, color_read, place_of, pool_of, port_and_queue, recirculates,
};
use crate::failure::Failure;
use sojourn_packet::ReportMode;
use sojourn_switch::{PortId, PortStatistics, QueueSettings, ShapedRate};
use sojourn_target::target::DeviceTables;

impl Reader<'_> {
    /// Entry of a table that every Tofino has: what the switch says, completed by what was written.
    pub(super) fn fixed(&self, table: &Table, fixed: Fixed, key: &[u64]) -> Result<Entry, Failure> {
        let written = self.store.entry(table.id, key);
        let ports = || self.switch.statistics().ports;
        let mut row = match fixed {
            Fixed::Mirror | Fixed::Group | Fixed::Node => {
                return written.cloned().ok_or_else(|| absent(table));
            }
            Fixed::Application => return self.application(table, key),
            Fixed::GeneratorBuffer => return Ok(of_row(self.generator_buffer(key))),
            Fixed::PoolConfig | Fixed::PoolCounter => return Ok(of_row(self.pool(fixed, key)?)),
            Fixed::NodeScheduling | Fixed::NodeShaping => {
                return self.scheduler_node(table, fixed, key, &ports());
            }
            Fixed::QueueMap
            | Fixed::QueueShaping
            | Fixed::QueueScheduling
            | Fixed::QueueBuffer
            | Fixed::QueueConfig
            | Fixed::QueueColor
            | Fixed::QueueCounter => return self.queue(table, fixed, key, &ports()),
            Fixed::Device => device(&ports(), self.count, &self.schema.chip),
            Fixed::Buffer => {
                let cells = self.switch.statistics().buffer.total_cells;
                Row::from([
                    (fixed_field::CELL_BYTES, Datum::number(self.switch.cell_bytes())),
                    (fixed_field::BUFFER_CELLS, Datum::number(cells)),
                ])
            }
            Fixed::PipeScheduling => {
                Row::from([(fixed_field::FLOW_CONTROL_ENABLE, Datum::Bool(true))])
            }
            Fixed::PipeConfig => self.pipe_config(table, &ports()),
            Fixed::ReplicationPort
            | Fixed::Port
            | Fixed::PortStatistics
            | Fixed::PortConfig
            | Fixed::PortShaping
            | Fixed::PortScheduling
            | Fixed::GeneratorPort
            | Fixed::SnapshotContainers => self.port_of(table, fixed, key, &ports())?,
        };
        row.extend(written.map(|entry| entry.row.clone()).unwrap_or_default());
        Ok(of_row(row))
    }

    /// An application of a packet generator.
    fn application(&self, table: &Table, key: &[u64]) -> Result<Entry, Failure> {
        let generators = self.switch.generators();
        let applications = generators.applications();
        let number = u8::try_from(at(key, 0)).ok().filter(|number| *number < applications);
        let number = number.ok_or_else(|| absent(table))?;
        let (action, row) = application_read(generators, self.pipes, self.count.max(1), number);
        Ok(Entry { action, row })
    }

    /// Bytes of a packet generator's buffer; the key has their offset and number.
    fn generator_buffer(&self, key: &[u64]) -> Row {
        let [offset, size] = [0, 1].map(|part| at(key, part).min(u64::from(u16::MAX)) as usize);
        let pipe = self.first_pipe().min(3) as u8;
        let bytes = self.switch.generators().buffer(pipe, offset, size);
        let bytes = bytes.into_iter().map(u32::from).collect();
        Row::from([(fixed_field::BUFFER, Datum::Numbers(bytes))])
    }

    /// Size or occupancy of a pool of cells.
    fn pool(&self, fixed: Fixed, key: &[u64]) -> Result<Row, Failure> {
        let pool = self.switch.pools()[usize::from(pool_of(key)?)];
        Ok(match fixed {
            Fixed::PoolConfig => Row::from([(fixed_field::POOL_SIZE, Datum::number(pool.size))]),
            _ => Row::from([
                (fixed_field::POOL_USAGE, Datum::number(pool.usage.cells)),
                (fixed_field::POOL_WATERMARK, Datum::number(pool.usage.peak)),
            ]),
        })
    }

    /// Entry of a table of queues. A queue whose settings are unknown has what was written.
    fn queue(
        &self,
        table: &Table,
        fixed: Fixed,
        key: &[u64],
        ports: &[PortStatistics],
    ) -> Result<Entry, Failure> {
        let written = self.store.entry(table.id, key).map(|entry| entry.row.clone());
        let mut written = written.unwrap_or_default();
        let (number, queue) =
            port_and_queue(ports, key, &self.schema.chip).ok_or_else(|| absent(table))?;
        let statistics = ports.iter().find(|port| port.port.0 == number);
        let statistics = statistics.and_then(|port| port.queues.get(usize::from(queue)));
        let settings = self.switch.queue_settings(PortId(number), queue);
        let mut row = match (fixed, settings, statistics) {
            (Fixed::QueueBuffer, Some(settings), _) => return Ok(buffer_read(&settings.share)),
            (Fixed::QueueColor, Some(settings), _) => {
                return Ok(of_row(color_read(settings.share.colors)));
            }
            (Fixed::QueueConfig, Some(settings), _) => {
                let reports = Datum::Bool(settings.reports);
                return Ok(of_row(Row::from([(fixed_field::REPORTS, reports)])));
            }
            (Fixed::QueueScheduling, Some(settings), _) => {
                written.extend(scheduling(&settings, &self.schema.chip));
                return Ok(of_row(written));
            }
            (Fixed::QueueMap, ..) => Row::from([
                (fixed_field::MAP_PORT, Datum::number(number)),
                (fixed_field::MAP_QUEUE, Datum::number(queue)),
            ]),
            (Fixed::QueueCounter, _, Some(queue)) => Row::from([
                (fixed_field::DROPPED, Datum::number(queue.tail_drops.packets)),
                (fixed_field::USAGE, Datum::number(queue.cells)),
                (fixed_field::WATERMARK, Datum::number(queue.peak_cells)),
            ]),
            _ => Row::new(),
        };
        row.extend(written);
        Ok(of_row(row))
    }

    /// The row of a table of ports; `$PORT` has none of ports that were removed.
    fn port_of(
        &self,
        table: &Table,
        fixed: Fixed,
        key: &[u64],
        ports: &[PortStatistics],
    ) -> Result<Row, Failure> {
        let port = ports.iter().find(|port| u64::from(port.port.0) == at(key, 0));
        let port = port.filter(|port| fixed != Fixed::Port || !self.is_removed(port.port.0));
        Ok(self.port(fixed, port.ok_or_else(|| absent(table))?))
    }

    /// How a port loops back.
    fn loopback(&self, port: u16) -> &'static str {
        match recirculates(port, &self.schema.chip) {
            true => "BF_LPBK_MAC_NEAR",
            false => "BF_LPBK_NONE",
        }
    }

    fn port(&self, fixed: Fixed, port: &PortStatistics) -> Row {
        match fixed {
            Fixed::Port => Row::from([
                (fixed_field::PORT_ENABLE, Datum::Bool(true)),
                (fixed_field::LOOPBACK, Datum::text(self.loopback(port.port.0))),
                (fixed_field::PORT_VALID, Datum::Bool(true)),
                (fixed_field::PORT_UP, Datum::Bool(!self.down.contains(&port.port.0))),
            ]),
            Fixed::PortStatistics => {
                let twice = |ids: [u32; 2], value: u64| ids.map(|id| (id, Datum::number(value)));
                let (received, sent) = (port.received, port.sent);
                [
                    twice(fixed_field::FRAMES_RECEIVED, received.packets),
                    twice(fixed_field::OCTETS_RECEIVED, received.bytes),
                    twice(fixed_field::FRAMES_SENT, sent.packets),
                    twice(fixed_field::OCTETS_SENT, sent.bytes),
                ]
                .into_iter()
                .flatten()
                .collect()
            }
            Fixed::PortConfig => {
                let place = u32::from(port.port.0 & 0x7f);
                let each = u32::from(self.schema.chip.group_ports);
                let first = place_of(port, &self.schema.chip).first as u32;
                let queues = 0..port.queues.len() as u32;
                Row::from([
                    (fixed_field::PORT_GROUP, Datum::number(place / each)),
                    (fixed_field::PLACE_IN_GROUP, Datum::number(place % each)),
                    (fixed_field::QUEUES, Datum::number(port.queues.len())),
                    (fixed_field::INGRESS_QUEUES, Datum::Numbers(queues.clone().collect())),
                    (
                        fixed_field::EGRESS_QUEUES,
                        Datum::Numbers(queues.map(|queue| first + queue).collect()),
                    ),
                ])
            }
            Fixed::PortScheduling => {
                let shaped = (fixed_field::PORT_SHAPED, Datum::Bool(port.shaper.is_some()));
                self.nodes_of(port.port).into_iter().chain([shaped]).collect()
            }
            Fixed::ReplicationPort => Row::from([
                (fixed_field::BACKUP_PORT, Datum::number(port.port.0)),
                (fixed_field::FORWARDS, Datum::Bool(true)),
                (fixed_field::TO_CPU, Datum::Bool(false)),
            ]),
            Fixed::PortShaping => shaping(port),
            Fixed::GeneratorPort => {
                let number = port.port.0;
                let (generates, matches) = self.switch.generators().is_on(port.port);
                Row::from([
                    (
                        fixed_field::RECIRCULATES,
                        Datum::Bool(recirculates(number, &self.schema.chip)),
                    ),
                    (fixed_field::GENERATES, Datum::Bool(generates)),
                    (fixed_field::MATCHES, Datum::Bool(matches)),
                    (fixed_field::CLEAR_DOWN, Datum::Bool(false)),
                ])
            }
            _ => Row::new(),
        }
    }

    /// Deflection queue of the first addressed pipe, if one is set, and the depths that queues report.
    fn pipe_config(&self, table: &Table, ports: &[PortStatistics]) -> Row {
        let pipe = self.first_pipe();
        let mode = match self.switch.report_mode(pipe as u16) {
            ReportMode::Any => "ANY",
            ReportMode::Color => "COLOR",
        };
        let mut row = Row::from([(fixed_field::REPORT_MODE, Datum::text(mode))]);
        let Some(entry) = self.store.entry(table.id, &[u64::from(pipe)]) else { return row };
        let of = |id: u32| number_in(&entry.row, id).unwrap_or(0);
        let key = [fixed_field::DROPS_GROUP, fixed_field::DROPS_QUEUE].map(of);
        let is_there =
            |port: &&PortStatistics| self.count <= 1 || u32::from(port.port.0 >> 7) == pipe;
        let ports: Vec<PortStatistics> = ports.iter().filter(is_there).cloned().collect();
        if let Some((port, queue)) = port_and_queue(&ports, &key, &self.schema.chip) {
            row.insert(fixed_field::DROPS_PORT, Datum::number(port));
            row.insert(fixed_field::DROPS_PORT_QUEUE, Datum::number(queue));
        }
        row.extend(entry.row.clone());
        row
    }

    pub(super) fn is_removed(&self, port: u16) -> bool {
        self.store.removed_ports.contains(&port)
    }
}

/// An entry without an action.
fn of_row(row: Row) -> Entry {
    Entry { action: 0, row }
}

/// A part of a key; 0 if the key is shorter.
fn at(key: &[u64], part: usize) -> u64 {
    key.get(part).copied().unwrap_or(0)
}

/// Shaper of a port, in the hardware's granularity.
fn shaping(port: &PortStatistics) -> Row {
    let Some(shaper) = port.shaper else { return Row::new() };
    let (unit, rate) = match shaper.rate {
        ShapedRate::Bits(rate) => ("BPS", rate.0 / 1_000),
        ShapedRate::Packets(rate) => ("PPS", rate),
    };
    Row::from([
        (fixed_field::UNIT, Datum::text(unit)),
        (fixed_field::PORT_RATE, Datum::number(rate)),
        (fixed_field::PORT_BURST, Datum::number(shaper.burst)),
    ])
}

/// Place of a queue in the scheduler; on Tofino 2 its one mode of flow control.
fn scheduling(settings: &QueueSettings, chip: &DeviceTables) -> Row {
    let mode = (chip.generation == 2).then(|| (fixed_field::FLOW_CONTROL, Datum::text("XOFF")));
    let row = Row::from([
        (fixed_field::QUEUE_PRIORITY, Datum::Text(settings.level.to_string())),
        (fixed_field::QUEUE_WEIGHT, Datum::number(settings.weight)),
        (fixed_field::QUEUE_GUARANTEED, Datum::Bool(false)),
        (fixed_field::QUEUE_SCHEDULED, Datum::Bool(!settings.paused)),
    ]);
    let node = settings.node.map(|node| (fixed_field::QUEUE_NODE, Datum::number(node)));
    row.into_iter().chain(mode).chain(node).collect()
}

/// Properties of the chip, as far as this switch models them.
fn device(ports: &[PortStatistics], pipes: usize, chip: &DeviceTables) -> Row {
    let (loops, fronts): (Vec<u32>, Vec<u32>) = ports
        .iter()
        .map(|port| u32::from(port.port.0))
        .partition(|p| recirculates(*p as u16, chip));
    let (cpu, fronts): (Vec<u32>, Vec<u32>) =
        fronts.into_iter().partition(|port| chip.processor.0.contains(&((port & 0x7f) as u16)));
    Row::from([
        (fixed_field::SKU, Datum::text("UNKNOWN")),
        (fixed_field::FRONT_PORTS, Datum::number(fronts.len())),
        (fixed_field::PCIE_PORT, Datum::number(chip.processor.1)),
        (fixed_field::CPU_PORTS, Datum::Numbers(cpu)),
        (fixed_field::INTERNAL_PORTS, Datum::Numbers(Vec::new())),
        (fixed_field::PIPES, Datum::number(pipes.max(1))),
        (fixed_field::STAGES, Datum::number(chip.stages)),
        (fixed_field::PORTS, Datum::number(ports.len())),
        (fixed_field::EXTERNAL_PORTS, Datum::Numbers(fronts)),
        (fixed_field::RECIRCULATION_PORTS, Datum::Numbers(loops)),
    ])
}
