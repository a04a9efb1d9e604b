//! Hashes, counters, meters and filters in the match-action pipeline.

use super::symmetric_hash::mix;
use super::{Runtime, answer, scalar, value};
use sojourn_externs::hash::Algorithm;
use sojourn_externs::meter::Color;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{ExternCall, Value};

impl Runtime {
    /// `hash.get(data)`
    pub(super) fn hash(
        &mut self,
        hash: u32,
        bits: u32,
        symmetric: Option<u32>,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let Some(data) = value(call, 0) else { return };
        let width = self.hashes[hash as usize].width;
        if self.set_hashes[hash as usize].is_some() {
            let word = self.set_hash(hash, bits, symmetric, call, ctx);
            return answer(call, ctx, word);
        }
        if symmetric.is_none()
            && bits <= 128
            && matches!(self.hashes[hash as usize].algorithm, Algorithm::Identity)
        {
            let prepared = self.prepared.get(call.site.index());
            let joined = match prepared.and_then(|known| known.joined.as_ref()) {
                Some(joined) => joined.get(ctx.frame()),
                None => join(data, ctx),
            };
            let joined = joined & (u128::MAX >> (128 - width.clamp(1, 128)));
            return answer(call, ctx, joined);
        }
        self.bytes_of_first(call, bits, ctx);
        if let Some(symmetric) = symmetric {
            let mut bytes = self.scratch.take();
            mix(&self.symmetric[symmetric as usize], bits, &mut bytes);
            let word = self.hashes[hash as usize].algorithm.hash(&bytes, bits, width);
            return answer(call, ctx, word);
        }
        let word = self.hashes[hash as usize].algorithm.hash(self.scratch.bytes(), bits, width);
        answer(call, ctx, word);
    }

    /// `counter.count(index, adjust)`
    pub(super) fn count(
        &mut self,
        counter: u32,
        direct: bool,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let Some((index, adjust)) = place(direct, call, ctx) else { return };
        let counter = &mut self.counters[counter as usize].1;
        if direct {
            counter.grow(index + 1);
        }
        counter.count(index, self.pass.bytes, adjust);
    }

    /// `meter.execute(index, color, adjust)`
    pub(super) fn meter(
        &mut self,
        meter: u32,
        direct: bool,
        colored: bool,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let first = usize::from(!direct);
        let color = if colored { scalar(call, first, ctx) as u8 } else { Color::Green as u8 };
        let adjust = scalar(call, first + usize::from(colored), ctx) as u64;
        let index = match (direct, ctx.matched().and_then(|matched| matched.entry)) {
            (false, _) => scalar(call, 0, ctx) as usize,
            (true, Some(entry)) => entry.index(),
            (true, None) => return answer(call, ctx, color.into()),
        };
        let meter = &mut self.meters[meter as usize].1;
        if direct {
            meter.grow(index + 1);
        }
        let bytes = self.pass.bytes;
        let color = meter.execute(index, self.pass.now, bytes, adjust, Color::from_code(color));
        answer(call, ctx, color.into());
    }
}

impl Runtime {
    /// `filter.execute(value, index)`
    pub(super) fn filter(
        &mut self,
        filter: u32,
        direct: bool,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let given = scalar(call, 0, ctx) as u32;
        let index = match (direct, ctx.matched().and_then(|matched| matched.entry)) {
            (false, _) => scalar(call, 1, ctx) as usize,
            (true, Some(entry)) => entry.index(),
            // Without an entry there is no cell, and nothing comes out of the unit.
            (true, None) => return answer(call, ctx, 0),
        };
        let filter = &mut self.filters[filter as usize].1;
        if direct {
            filter.grow(index + 1);
        }
        let out = filter.execute(index, self.pass.now, given);
        answer(call, ctx, out.into());
    }
}

/// The fields of a value joined to one number, the first most significant.
fn join(value: &Value, ctx: &Context<'_>) -> u128 {
    fn add(value: &Value, ctx: &Context<'_>, joined: &mut u128) {
        match value {
            Value::Scalar(expr) => {
                *joined = joined.checked_shl(expr.scalar.width()).unwrap_or(0) | ctx.eval(expr);
            }
            Value::Struct { fields: parts, .. } | Value::Header { fields: parts, .. } => {
                parts.iter().for_each(|part| add(part, ctx, joined));
            }
            _ => {}
        }
    }
    let mut joined = 0;
    add(value, ctx, &mut joined);
    joined
}

/// Index and adjustment of a counter; none for a direct counter on a miss.
fn place(direct: bool, call: &ExternCall, ctx: &Context<'_>) -> Option<(usize, u64)> {
    if direct {
        let entry = ctx.matched()?.entry?;
        return Some((entry.index(), scalar(call, 0, ctx) as u64));
    }
    Some((scalar(call, 0, ctx) as usize, scalar(call, 1, ctx) as u64))
}
