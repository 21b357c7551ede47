/** Returns a generator of pseudorandom numbers in [0, 1), which are determined by the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixedBits = Math.imul(state ^ (state >>> 15), 1 | state);
    mixedBits = (mixedBits + Math.imul(mixedBits ^ (mixedBits >>> 7), 61 | mixedBits)) ^ mixedBits;
    return ((mixedBits ^ (mixedBits >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Returns a generator of IDs in containerd's format, which is 64 hex digits. The last digits are a counter, which makes
 * the IDs unique.
 */
export function createIdGenerator(random: () => number): () => string {
  let count = 0;
  return () => {
    const digits = Array.from({ length: 13 }, () => fourHexDigits(random())).join('');
    return digits + (count++).toString(16).padStart(12, '0');
  };
}

function fourHexDigits(fraction: number): string {
  return Math.floor(fraction * 0x10000)
    .toString(16)
    .padStart(4, '0');
}

/** Returns a generator of consecutive process IDs. */
export function createPidGenerator(first: number): () => number {
  let nextPid = first;
  return () => nextPid++;
}
