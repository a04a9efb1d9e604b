//! Translation of headers to Cranelift's IR: packet bytes to slots, and slots to packet bytes.
//!
//! If the packet has too few bytes, or the buffer too little room, the function stops and the
//! caller executes the operation.

use crate::lower::Lower;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value, types};
use cranelift_frontend::Variable;
use sojourn_p4::interp::jit_tier::{
    At, Elision, Emitted, Ends, FrontRead, LongRead, Op, Piece, Read,
};
use sojourn_p4::interp::jit_tier::{To, UnitCode, Writer};

/// Bytes behind a header's end that may be overwritten: it is written in words of eight.
const BEHIND: usize = 8;

/// Ends of the packet that the function uses: pointers, and numbers of bytes.
pub struct Packet {
    ahead: Option<[Variable; 2]>,
    room: Option<[Variable; 2]>,
}

/// Offsets of those fields.
const AHEAD_ENDS: [i32; 2] = [Ends::FIELDS[0] as i32, Ends::FIELDS[1] as i32];
const ROOM_ENDS: [i32; 2] = [Ends::FIELDS[2] as i32, Ends::FIELDS[3] as i32];

impl Packet {
    /// Allocates the variables that the code needs.
    pub fn new(code: &UnitCode, word: &mut impl FnMut() -> Variable) -> Packet {
        let reads = |op: &Op| {
            matches!(op, Op::Read { .. } | Op::Skip { .. } | Op::Eval { .. } | Op::Stay { .. })
        };
        let reads = code.ops().iter().any(reads);
        let emits = |op: &Op| matches!(op, Op::Emit { .. } | Op::EmitEach { .. });
        let emits = code.ops().iter().any(emits);
        let mut both = || [word(), word()];
        Packet { ahead: reads.then(&mut both), room: emits.then(&mut both) }
    }

    fn all(&self) -> Vec<(Variable, i32)> {
        let of = |end: Option<[Variable; 2]>, fields: [i32; 2]| {
            end.into_iter().flat_map(move |end| end.into_iter().zip(fields))
        };
        of(self.ahead, AHEAD_ENDS).chain(of(self.room, ROOM_ENDS)).collect()
    }
}

/// Loads the caller's ends.
pub fn take(lower: &mut Lower<'_>) {
    for (variable, field) in lower.packet.all() {
        let flags = MemFlags::trusted();
        let value = lower.builder.ins().load(types::I64, flags, lower.ends, field);
        lower.builder.def_var(variable, value);
    }
}

/// Stores the current ends for the caller.
pub fn give_back(lower: &mut Lower<'_>) {
    for (variable, field) in lower.packet.all() {
        let value = lower.builder.use_var(variable);
        lower.builder.ins().store(MemFlags::trusted(), value, lower.ends, field);
    }
}

/// Extracts headers at once.
pub fn read(lower: &mut Lower<'_>, at: To, run: u32, to: To) {
    let Some([ahead_end, left_end]) = lower.packet.ahead else { return };
    let reader = lower.code.reader(run);
    let left = lower.builder.use_var(left_end);
    let window = reader.window as i64;
    let short = lower.builder.ins().icmp_imm(IntCC::UnsignedLessThan, left, window);
    lower.stop_if(short, at);
    let ahead = lower.builder.use_var(ahead_end);
    for field in &reader.reads {
        let value = short_field(lower, ahead, field);
        lower.set_slot(field.to, value);
    }
    for field in &reader.long_reads {
        let value = long_field(lower, ahead, field);
        lower.set_halves(field.to, value);
    }
    for field in &reader.front {
        let value = front_field(lower, field);
        lower.set_slot(field.to, value);
    }
    let one = lower.constant(1);
    reader.valid.iter().for_each(|valid| lower.set_slot(*valid, one));
    pass(lower, reader.bytes as i64);
    lower.jump(to);
}

/// Advances the read end.
fn pass(lower: &mut Lower<'_>, bytes: i64) {
    let Some(end) = lower.packet.ahead else { return };
    for (variable, moved) in end.into_iter().zip([bytes, -bytes]) {
        let value = lower.builder.use_var(variable);
        let value = lower.builder.ins().iadd_imm(value, moved);
        lower.builder.def_var(variable, value);
    }
}

/// Takes bytes off the packet.
pub fn skip(lower: &mut Lower<'_>, at: To, bytes: u64) {
    let Some([_, left]) = lower.packet.ahead else { return };
    let left = lower.builder.use_var(left);
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let short = lower.builder.ins().icmp_imm(IntCC::UnsignedLessThan, left, bytes);
    lower.stop_if(short, at);
    pass(lower, bytes);
    lower.jump(at + 1);
}

/// Continues behind a header that stays in the packet.
pub fn stay(lower: &mut Lower<'_>, bytes: u32, to: To, next: To) {
    let Some([_, left]) = lower.packet.ahead else { return };
    let left = lower.builder.use_var(left);
    let short = lower.builder.ins().icmp_imm(IntCC::UnsignedLessThan, left, i64::from(bytes));
    lower.branch(short, next, to);
}

/// Reads bits of the packet ahead of the cursor, and continues behind the check of their presence.
pub fn look_ahead(lower: &mut Lower<'_>, at: To, to: At) {
    let (Some([ahead, left]), Some((begin, end))) =
        (lower.packet.ahead, lower.code.looks_ahead(at as usize))
    else {
        return;
    };
    let first = begin / 8;
    let left = lower.builder.use_var(left);
    let wanted = i64::from(first) + 8;
    let short = lower.builder.ins().icmp_imm(IntCC::UnsignedLessThan, left, wanted);
    lower.stop_if(short, at);
    let ahead = lower.builder.use_var(ahead);
    let word = number(lower, types::I64, ahead, first as i32);
    let up = lower.builder.ins().ishl_imm(word, i64::from(begin % 8));
    let value = lower.builder.ins().ushr_imm(up, i64::from(64 - (end - begin)));
    lower.set_slot(to, value);
    lower.jump(at + 2);
}

/// A field of the packet's front.
fn front_field(lower: &mut Lower<'_>, field: &FrontRead) -> Value {
    let [first, second] = field.words.map(|word| lower.word(word));
    let (skew, width) = (i64::from(field.skew), i64::from(field.width));
    let up = lower.builder.ins().ishl_imm(first, skew);
    let whole = if field.words[0] == field.words[1] {
        up
    } else {
        let down = lower.builder.ins().ushr_imm(second, 64 - skew);
        lower.builder.ins().bor(up, down)
    };
    lower.builder.ins().ushr_imm(whole, 64 - width)
}

/// Bytes of the packet as one big-endian number.
fn number(lower: &mut Lower<'_>, ty: Type, ahead: Value, byte: i32) -> Value {
    let flags = MemFlags::new().with_notrap();
    let value = lower.builder.ins().load(ty, flags, ahead, byte);
    if ty == types::I8 { value } else { lower.builder.ins().bswap(value) }
}

fn short_field(lower: &mut Lower<'_>, ahead: Value, field: &Read) -> Value {
    let byte = i32::from(field.byte);
    // Whole bytes only.
    let whole = match (field.right, field.mask) {
        (0, 0xff) => Some(types::I8),
        (0, 0xffff) => Some(types::I16),
        (0, 0xffff_ffff) => Some(types::I32),
        _ => None,
    };
    if let Some(ty) = whole {
        let value = number(lower, ty, ahead, byte + 8 - ty.bytes() as i32);
        return lower.builder.ins().uextend(types::I64, value);
    }
    let word = number(lower, types::I64, ahead, byte);
    let right = field.right & 63;
    let value = match right {
        0 => word,
        _ => lower.builder.ins().ushr_imm(word, i64::from(right)),
    };
    // If the shift leaves only the field's bits, no mask is needed.
    if field.mask == u64::MAX >> right { value } else { lower.masked(value, field.mask) }
}

fn long_field(lower: &mut Lower<'_>, ahead: Value, field: &LongRead) -> [Value; 2] {
    let byte = i32::from(field.byte);
    let high = number(lower, types::I64, ahead, byte);
    let low = number(lower, types::I64, ahead, byte + 8);
    let value = lower.builder.ins().iconcat(low, high);
    let value = lower.builder.ins().ishl_imm(value, i64::from(field.skew));
    let value = lower.builder.ins().ushr_imm(value, i64::from(field.right));
    let (low, high) = lower.builder.ins().isplit(value);
    [low, high]
}

/// Writes the valid headers of a list.
pub fn emit(lower: &mut Lower<'_>, at: To, (header, count): (u32, u16), to: To) {
    let Some([room_end, free_end]) = lower.packet.room else { return };
    let emitted = lower.code.emitted(header, count);
    let free = lower.builder.use_var(free_end);
    if lower.code.room().is_none() {
        let most = emitted.iter().map(|header| header.writer.bytes).sum::<usize>() + BEHIND;
        let full = lower.builder.ins().icmp_imm(IntCC::UnsignedLessThan, free, most as i64);
        lower.stop_if(full, at);
    }
    let begin = lower.builder.use_var(room_end);
    let mut room = begin;
    for Emitted { valid, writer, kept } in emitted {
        if *kept != Elision::No {
            take_back(lower, *valid, writer.bytes, *kept);
            continue;
        }
        let valid = lower.word(*valid);
        let [written, behind] = [(); 2].map(|()| lower.builder.create_block());
        let next = lower.builder.append_block_param(behind, types::I64);
        lower.builder.ins().brif(valid, written, &[], behind, &[room.into()]);
        lower.begin(written);
        write(lower, room, writer);
        let moved = lower.builder.ins().iadd_imm(room, writer.bytes as i64);
        lower.builder.ins().jump(behind, &[moved.into()]);
        lower.begin(behind);
        room = next;
    }
    lower.builder.def_var(room_end, room);
    let written = lower.builder.ins().isub(room, begin);
    let free = lower.builder.ins().isub(free, written);
    lower.builder.def_var(free_end, free);
    lower.jump(to);
}

/// Gives a valid header back to the packet, as if it had not been read.
fn take_back(lower: &mut Lower<'_>, valid: At, bytes: usize, kept: Elision) {
    if kept == Elision::Always {
        return pass(lower, -(bytes as i64));
    }
    let Some([ahead_end, left_end]) = lower.packet.ahead else { return };
    let valid = lower.word(valid);
    let (bytes, zero) = (lower.constant(bytes as u64), lower.constant(0));
    let bytes = lower.builder.ins().select(valid, bytes, zero);
    let (ahead, left) = (lower.builder.use_var(ahead_end), lower.builder.use_var(left_end));
    let ahead = lower.builder.ins().isub(ahead, bytes);
    let left = lower.builder.ins().iadd(left, bytes);
    lower.builder.def_var(ahead_end, ahead);
    lower.builder.def_var(left_end, left);
}

fn write(lower: &mut Lower<'_>, room: Value, writer: &Writer) {
    let mut word = None;
    for (at, piece) in writer.pieces.iter().enumerate() {
        let turned = turned(lower, writer, piece);
        let turned = lower.masked(turned, piece.mask);
        let whole = match word {
            Some(word) if piece.keep != 0 => lower.builder.ins().bor(word, turned),
            _ => turned,
        };
        word = Some(whole);
        // The next piece may write the same eight bytes.
        let next = writer.pieces.get(at + 1);
        if next.is_none_or(|next| next.keep == 0 || next.byte != piece.byte) {
            let bytes = lower.builder.ins().bswap(whole);
            let flags = MemFlags::new().with_notrap();
            lower.builder.ins().store(flags, bytes, room, i32::from(piece.byte));
        }
    }
}

/// The eight bytes with a piece of a slot.
fn turned(lower: &mut Lower<'_>, writer: &Writer, piece: &Piece) -> Value {
    let turn = i64::from(piece.turn);
    if writer.short {
        let word = lower.word(piece.a);
        return if turn == 0 { word } else { lower.builder.ins().rotl_imm(word, turn) };
    }
    let [low, high] = lower.halves(piece.a);
    let (low, high) = if turn < 64 { (low, high) } else { (high, low) };
    match turn % 64 {
        0 => low,
        turn => {
            let up = lower.builder.ins().ishl_imm(low, turn);
            let down = lower.builder.ins().ushr_imm(high, 64 - turn);
            lower.builder.ins().bor(up, down)
        }
    }
}
