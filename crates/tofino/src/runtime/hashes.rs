//! Hashes that the control plane sets while packets pass.

use super::symmetric_hash::mix;
use super::{Runtime, value};
use num_bigint::BigUint;
use sojourn_control::runtime_control::find_name;
use sojourn_control::{ControlError, HashRead, Number};
use sojourn_externs::hash_setting::{HashFunction, HashSetting, HashShape, SetHash};
use sojourn_p4::interp::{Context, PacketOut};
use sojourn_p4::ir::ExternCall;

/// A hash that can be set.
#[derive(Clone, Debug)]
pub(crate) struct SettableHash {
    pub name: String,
    /// Index in the runtime's list.
    pub place: u32,
    pub shape: HashShape,
    /// By input, what it is if it is a number.
    pub constants: Vec<Option<BigUint>>,
    pub setting: HashSetting,
}

impl Runtime {
    /// `hash.get(data)` of a hash that was set.
    pub(super) fn set_hash(
        &mut self,
        hash: u32,
        bits: u32,
        symmetric: Option<u32>,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) -> u128 {
        if value(call, 0).is_none() {
            return 0;
        }
        self.bytes_of_first(call, bits, ctx);
        let mut bytes = self.scratch.take();
        let Some(set) = &self.set_hashes[hash as usize] else { return 0 };
        if let (Some(symmetric), true) = (symmetric, set.has_all_inputs()) {
            mix(&self.symmetric[symmetric as usize], bits, &mut bytes);
        }
        set.compute(&bytes, bits)
    }

    /// Sets a hash; what it was set to.
    ///
    /// # Errors
    /// There is none with this name, or the setting is not possible.
    pub(crate) fn change_hash(
        &mut self,
        name: &str,
        setting: &HashSetting,
    ) -> Result<HashSetting, ControlError> {
        let at = self.find_hash(name)?;
        let known = &mut self.settable[at];
        let place = known.place as usize;
        let made = match *setting == HashSetting::default() {
            true => None,
            false => {
                let made = SetHash::new(setting, &known.shape, &self.hashes[place].algorithm);
                let made =
                    made.map_err(|why| ControlError::Message(format!("hash `{name}`: {why}")))?;
                Some(Box::new(made))
            }
        };
        self.set_hashes[place] = made;
        Ok(std::mem::replace(&mut known.setting, setting.clone()))
    }

    /// Setting of a hash, and its result for inputs that are not constants.
    ///
    /// # Errors
    /// There is none with this name, or it has other inputs.
    pub(crate) fn read_hash(
        &self,
        name: &str,
        inputs: &[BigUint],
    ) -> Result<HashRead, ControlError> {
        let known = &self.settable[self.find_hash(name)?];
        let algorithm = &self.hashes[known.place as usize].algorithm;
        let set = SetHash::new(&known.setting, &known.shape, algorithm);
        let set = set.map_err(ControlError::Message)?;
        let mut bytes = PacketOut::new();
        let bits: u32 = known.shape.inputs.iter().sum();
        bytes.append(0, bits.next_multiple_of(8) - bits);
        let (missing, mut given) = (BigUint::ZERO, inputs.iter());
        for (width, constant) in known.shape.inputs.iter().zip(&known.constants) {
            let value = constant.as_ref().or_else(|| given.next()).unwrap_or(&missing);
            if value.bits() > u64::from(*width) {
                let why = format!("hash `{name}`: {value:#x} does not fit into {width} bits");
                return Err(ControlError::Message(why));
            }
            for bit in (0..u64::from(*width)).rev() {
                bytes.append(value.bit(bit).into(), 1);
            }
        }
        bytes.align();
        let (low, count) = known.shape.used;
        let used = u128::MAX >> (128 - count.clamp(1, 128)) << low;
        let value = set.compute(bytes.bytes(), bits) & used;
        let [value, seed] = [value, set.seed()].map(|word| Number(word.into()));
        let function = HashFunction::from_algorithm(set.algorithm());
        let (setting, inputs) = (known.setting.clone(), known.shape.inputs.clone());
        Ok(HashRead { setting, inputs, function, value, seed })
    }

    fn find_hash(&self, name: &str) -> Result<usize, ControlError> {
        find_name(self.settable.iter().map(|known| known.name.as_str()), "hash", name)
    }
}
