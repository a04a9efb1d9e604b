//! Call sites, resolved when the program is loaded, and their execution.

use super::Runtime;
use sojourn_externs::call::{answer, scalar};
use sojourn_p4::interp::{Context, Halt};
use sojourn_p4::ir::{Arg, ExternCall, Value};

/// Resolved call site; numbers are indices into the lists of [`Runtime`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Site {
    /// No call that a pass makes.
    #[default]
    None,
    ReadRegister(u32),
    WriteRegister(u32),
    Count(u32),
    CountEntry(u32),
    /// `Meter.execute`; the second argument is the colour if there is one.
    Meter(u32),
    /// `DirectMeter.execute`; the first argument is the colour if there is one.
    MeterEntry(u32),
    Hash {
        algorithm: u32,
        input: u32,
    },
    /// `get_hash(base, data, max)`
    HashInRange {
        algorithm: u32,
        input: u32,
    },
    ClearChecksum(u32),
    UpdateChecksum {
        checksum: u32,
        input: u32,
    },
    GetChecksum(u32),
    ClearSum(u32),
    AddToSum {
        sum: u32,
        input: u32,
    },
    SubtractFromSum {
        sum: u32,
        input: u32,
    },
    GetSum(u32),
    GetSumState(u32),
    SetSumState(u32),
    Random(u32),
    Digest {
        digest: u32,
        input: u32,
    },
    /// True if the flag `wanted` of the first argument is set, `without` is not, and the port of the
    /// second argument is `PSA_PORT_RECIRCULATE` where that counts.
    Question {
        wanted: Option<u8>,
        without: [Option<u8>; 2],
        port: Option<u8>,
    },
    Assert,
}

impl Runtime {
    /// Executes a call.
    pub(super) fn execute(
        &mut self,
        site: Site,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) -> Result<(), Halt> {
        match site {
            Site::ReadRegister(register) => self.read_register(register, call, ctx),
            Site::WriteRegister(register) => self.write_register(register, call, ctx),
            Site::Count(counter) => self.count(counter, call, ctx),
            Site::CountEntry(counter) => self.count_entry(counter, ctx),
            Site::Meter(meter) => self.meter(meter, call, ctx),
            Site::MeterEntry(meter) => self.meter_entry(meter, call, ctx),
            Site::Hash { algorithm, input } => {
                let hash = self.hash(algorithm, input, call, ctx);
                answer(call, ctx, hash);
            }
            Site::HashInRange { algorithm, input } => {
                let hash = self.hash(algorithm, input, call, ctx);
                let (base, max) = (scalar(call, 0, ctx), scalar(call, 2, ctx));
                answer(call, ctx, base.wrapping_add(hash % max.max(1)));
            }
            Site::Question { wanted, without, port } => {
                let holds = wanted.is_none_or(|flag| member(call, 0, flag, ctx) != 0)
                    && without.iter().flatten().all(|flag| member(call, 0, *flag, ctx) == 0)
                    && port.is_none_or(|port| {
                        crate::metadata::recirculates(member(call, 1, port, ctx))
                    });
                answer(call, ctx, holds.into());
            }
            Site::Assert if scalar(call, 0, ctx) == 0 => {
                let message = format!("{} failed", call.name).into();
                return Err(Halt::Extern { message, span: call.span });
            }
            Site::Assert => {}
            Site::None => {
                return Err(Halt::NotImplemented { name: call.name.clone(), span: call.span });
            }
            other => self.value(other, call, ctx),
        }
        Ok(())
    }
}

/// A scalar member of a struct argument.
fn member(call: &ExternCall, argument: usize, member: u8, ctx: &Context<'_>) -> u128 {
    match call.args.get(argument) {
        Some(Arg::In(Value::Struct { fields, .. })) => {
            fields.get(usize::from(member)).map_or(0, |value| ctx.eval_value(value))
        }
        _ => 0,
    }
}
