//! Hashes, checksums, random numbers and digests.

use super::{Runtime, Site};
use sojourn_control::digest::Digest;
use sojourn_externs::call::{answer, scalar};
use sojourn_externs::checksum::OnesComplement;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::ExternCall;

impl Runtime {
    /// Writes the bytes of an input; a field of an invalid header is omitted and counted as a fault.
    fn write(&mut self, input: u32, call: &ExternCall, ctx: &Context<'_>) {
        if let Some(field) = self.inputs[input as usize].write(ctx, &mut self.scratch) {
            self.faults.invalid_hash(field, call.span);
        }
    }

    /// The hash of an input, 64 bits wide.
    pub(super) fn hash(
        &mut self,
        algorithm: u32,
        input: u32,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) -> u128 {
        self.write(input, call, ctx);
        self.hashes[algorithm as usize].of_bytes(self.scratch.bytes()).into()
    }

    /// Executes a call of a checksum, a random number or a digest.
    pub(super) fn value(&mut self, site: Site, call: &ExternCall, ctx: &mut Context<'_>) {
        match site {
            Site::ClearChecksum(at) => self.checksums[at as usize].bytes.clear(),
            Site::UpdateChecksum { checksum, input } => {
                self.write(input, call, ctx);
                let bytes = self.scratch.bytes();
                self.checksums[checksum as usize].bytes.extend_from_slice(bytes);
            }
            Site::GetChecksum(at) => {
                let checksum = &self.checksums[at as usize];
                answer(call, ctx, checksum.algorithm.of_bytes(&checksum.bytes).into());
            }
            Site::ClearSum(at) => self.sums[at as usize] = OnesComplement::new(),
            Site::AddToSum { sum, input } => {
                self.write(input, call, ctx);
                self.sums[sum as usize].add(self.scratch.bytes());
            }
            Site::SubtractFromSum { sum, input } => {
                self.write(input, call, ctx);
                self.sums[sum as usize].subtract(self.scratch.bytes());
            }
            Site::GetSum(at) => answer(call, ctx, self.sums[at as usize].checksum(false).into()),
            Site::GetSumState(at) => answer(call, ctx, self.sums[at as usize].sum().into()),
            Site::SetSumState(at) => {
                let mut sum = OnesComplement::new();
                sum.add(&(scalar(call, 0, ctx) as u16).to_be_bytes());
                self.sums[at as usize] = sum;
            }
            Site::Random(at) => {
                let random = &mut self.randoms[at as usize];
                let value = random.least + random.generator.up_to(random.most - random.least);
                answer(call, ctx, value);
            }
            Site::Digest { digest, input } => {
                self.inputs[input as usize].write(ctx, &mut self.scratch);
                let name = self.digest_names[digest as usize].clone();
                let bytes = self.scratch.bytes().into();
                self.digests.push(Digest { name, at: self.now, bytes });
            }
            _ => {}
        }
    }
}
