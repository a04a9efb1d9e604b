//! Ingress metadata for the traffic manager: the fields that the control sets for its packet.

use super::gress::Gress;
use super::metadata::{IntrinsicField, Role};
use sojourn_p4::interp::Frame;
use sojourn_packet::dataplane::{Admission, PortId, Replication};

/// The fields that say it.
#[derive(Clone, Debug)]
pub struct Admitted {
    unicast: IntrinsicField,
    bypass: IntrinsicField,
    cos: IntrinsicField,
    queue: IntrinsicField,
    color: IntrinsicField,
    deflect: IntrinsicField,
    groups: [IntrinsicField; 2],
    l1_exclusion: IntrinsicField,
    l2_exclusion: IntrinsicField,
    rid: IntrinsicField,
    copy_to_cpu: IntrinsicField,
    /// There may be copies.
    copies: bool,
    /// True if there are settings of the packet itself in addition to the port.
    more: bool,
    drop_ctl: IntrinsicField,
}

impl Admitted {
    /// Of an ingress pass.
    pub fn new(gress: &Gress) -> Admitted {
        let tm = |name| gress.control.answer(Role::ForTrafficManager, name);
        let field = |name| tm(name).0;
        let copies = ["mcast_grp_a", "mcast_grp_b", "copy_to_cpu"];
        let more = ["bypass_egress", "ingress_cos", "qid", "packet_color", "deflect_on_drop"];
        Admitted {
            more: more.into_iter().any(|name| field(name).is_some()),
            copies: copies.into_iter().any(|name| field(name).is_some()),
            unicast: tm("ucast_egress_port"),
            bypass: tm("bypass_egress"),
            cos: tm("ingress_cos"),
            queue: tm("qid"),
            color: tm("packet_color"),
            deflect: tm("deflect_on_drop"),
            groups: [tm("mcast_grp_a"), tm("mcast_grp_b")],
            l1_exclusion: tm("level1_exclusion_id"),
            l2_exclusion: tm("level2_exclusion_id"),
            rid: tm("rid"),
            copy_to_cpu: tm("copy_to_cpu"),
            drop_ctl: gress.control.answer(Role::ForDeparser, "drop_ctl"),
        }
    }

    /// Destinations of a packet and its copies, for the traffic manager.
    pub fn read(&self, frame: &Frame) -> Admission {
        let replication = self.copies.then(|| self.replication(frame)).flatten();
        Admission { replication, ..self.read_alone(frame) }
    }

    /// The same of the packet alone.
    #[inline(always)]
    pub fn read_alone(&self, frame: &Frame) -> Admission {
        if self.drop_ctl.or_zero(frame) & 1 != 0 {
            return Admission::default();
        }
        let unicast = self.unicast.get(frame).map(|port| PortId(port as u16));
        if !self.more {
            return Admission { unicast, ..Admission::default() };
        }
        let word = |field: IntrinsicField| field.or_zero(frame) as u8;
        Admission {
            unicast,
            queue: word(self.queue),
            cos: word(self.cos),
            color: word(self.color),
            bypass_egress: self.bypass.or_zero(frame) != 0,
            deflect_on_drop: self.deflect.or_zero(frame) != 0,
            replication: None,
        }
    }

    /// True if the traffic manager may make copies.
    #[inline(always)]
    pub fn copies(&self) -> bool {
        self.copies
    }

    /// Copies requested from the traffic manager. The first bit of `drop_ctl` stops the packet and
    /// its copies, the second the copy for the CPU.
    #[inline(never)]
    fn replication(&self, frame: &Frame) -> Option<Replication> {
        let drop = self.drop_ctl.or_zero(frame);
        let word = |field: IntrinsicField| field.or_zero(frame) as u16;
        let group = |field: IntrinsicField| field.get(frame).map(|id| id as u16);
        let groups = self.groups.map(group);
        let copy_to_cpu = self.copy_to_cpu.or_zero(frame) != 0 && drop & 2 == 0;
        if drop & 1 != 0 {
            return copy_to_cpu.then(|| Replication { copy_to_cpu, ..Replication::default() });
        }
        let wanted = copy_to_cpu || groups.iter().any(Option::is_some);
        wanted.then(|| Replication {
            groups,
            copy_to_cpu,
            rid: word(self.rid),
            l1_exclusion: word(self.l1_exclusion),
            l2_exclusion: word(self.l2_exclusion),
        })
    }
}
