/** A small generator of numbers in [0, 1), the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Gives ids as containerd's: 64 hex digits, never the same twice, because the last ones count them. */
export function idsFrom(random: () => number): () => string {
  let given = 0;
  return () => {
    const digits = Array.from({ length: 13 }, () => hex4(random())).join('');
    return digits + (given++).toString(16).padStart(12, '0');
  };
}

function hex4(fraction: number): string {
  return Math.floor(fraction * 0x10000)
    .toString(16)
    .padStart(4, '0');
}

/** Gives process ids, each one more than the one before. */
export function pidsFrom(first: number): () => number {
  let next = first;
  return () => next++;
}
