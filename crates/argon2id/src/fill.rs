//! Filling of the memory (RFC 9106, 3.2 to 3.4), for one lane.

use argon2::{Algorithm, Block, Params};

use crate::OUTPUT_LEN;
use crate::blake::{self, InitialHash};
use crate::kernel::Kernel;

/// Slices of a pass.
const SLICES: usize = 4;
/// Pseudo-random numbers in a block.
const NUMBERS: usize = 128;

pub(crate) fn hash(
    kernel: Kernel,
    password: &[u8],
    salt: &[u8],
    params: &Params,
    memory: &mut [Block],
    output: &mut [u8; OUTPUT_LEN],
) {
    let initial = InitialHash::new(password, salt, params);
    for (index, block) in (0..2).zip(memory.iter_mut()) {
        *block = initial.block(index);
    }
    for pass in 0..params.t_cost() {
        for slice in 0..SLICES {
            Segment { kernel, params, pass, slice, length: memory.len() / SLICES }.fill(memory);
        }
    }
    if let Some(last) = memory.last() {
        blake::output(last, output);
    }
}

/// A quarter of a pass.
struct Segment<'a> {
    kernel: Kernel,
    params: &'a Params,
    pass: u32,
    slice: usize,
    /// Number of blocks in a segment.
    length: usize,
}

impl Segment<'_> {
    fn fill(&self, memory: &mut [Block]) {
        // The first half of the first pass refers to blocks that depend on no secret (argon2i), the rest to others.
        let mut addresses = (self.is_first_pass() && self.slice < SLICES / 2).then(|| Addresses::of(self));
        let first = if self.is_first_pass() && self.slice == 0 { 2 } else { 0 };
        for index in first..self.length {
            let current = self.slice * self.length + index;
            let previous = current.checked_sub(1).unwrap_or(memory.len() - 1);
            let number = match &mut addresses {
                Some(addresses) => addresses.number(self.kernel, index),
                None => word(&memory[previous], 0),
            };
            let reference = self.reference(index, number);
            // The current block is neither of the other two.
            let (before, rest) = memory.split_at_mut(current);
            let Some((block, after)) = rest.split_first_mut() else { return };
            let at =
                |place: usize| if place < current { &before[place] } else { &after[place - current - 1] };
            self.kernel.compress(at(previous), at(reference), block, !self.is_first_pass());
        }
    }

    const fn is_first_pass(&self) -> bool {
        self.pass == 0
    }

    /// Maps a pseudo-random number to the place of a block that was filled before (RFC 9106, 3.4.2).
    fn reference(&self, index: usize, number: u64) -> usize {
        let lane = SLICES * self.length;
        let (filled, start) = if self.is_first_pass() {
            (self.slice * self.length, 0)
        } else {
            (lane - self.length, (self.slice + 1) % SLICES * self.length)
        };
        let area = (filled + index - 1) as u64;
        let low = number & u64::from(u32::MAX);
        let distance = (area * ((low * low) >> 32)) >> 32;
        let place = start as u64 + area - 1 - distance;
        usize::try_from(place).unwrap_or_default() % lane
    }
}

/// Pseudo-random numbers that depend on the parameters alone.
struct Addresses {
    input: Block,
    numbers: Block,
    /// Number of blocks made so far.
    made: usize,
}

impl Addresses {
    fn of(segment: &Segment<'_>) -> Self {
        const LANE: u64 = 0;
        let blocks = (SLICES * segment.length) as u64;
        let (passes, kind) = (u64::from(segment.params.t_cost()), Algorithm::Argon2id as u64);
        let mut input = Block::new();
        let parameters = [u64::from(segment.pass), LANE, segment.slice as u64, blocks, passes, kind];
        input.as_mut()[..parameters.len()].copy_from_slice(&parameters);
        Self { input, numbers: Block::new(), made: 0 }
    }

    fn number(&mut self, kernel: Kernel, index: usize) -> u64 {
        /// Place of the counter, behind the parameters.
        const COUNTER: usize = 6;
        if self.made <= index / NUMBERS {
            self.made = index / NUMBERS + 1;
            self.input.as_mut()[COUNTER] = self.made as u64;
            let (zero, mut half) = (Block::new(), Block::new());
            kernel.compress(&zero, &self.input, &mut half, false);
            kernel.compress(&zero, &half, &mut self.numbers, false);
        }
        word(&self.numbers, index % NUMBERS)
    }
}

fn word(block: &Block, index: usize) -> u64 {
    block.as_ref()[index]
}
