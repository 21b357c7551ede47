/**
 * Sets of CPUs, and of NUMA nodes, as ascending lists without duplicates. They are plain data, because they are part of
 * recordings. The text form is the kernel's list format, e.g. `0-3,8` (`k8s.io/utils/cpuset`).
 */

export type CpuSet = readonly number[];

export const NO_CPUS: CpuSet = [];

export const cpuSetOf = (numbers: Iterable<number>): CpuSet => [...new Set(numbers)].sort((a, b) => a - b);

export const unionOf = (...sets: readonly CpuSet[]): CpuSet => cpuSetOf(sets.flat());

export function without(set: CpuSet, removed: CpuSet): CpuSet {
  const removedNumbers = new Set(removed);
  return set.filter((each) => !removedNumbers.has(each));
}

export function intersectionOf(first: CpuSet, second: CpuSet): CpuSet {
  const members = new Set(second);
  return first.filter((each) => members.has(each));
}

export const isSameSet = (first: CpuSet, second: CpuSet): boolean =>
  first.length === second.length && first.every((each, index) => each === second[index]);

/** Formats a set as a list of ranges, e.g. `0-3,8`. Returns an empty string for the empty set. */
export function formatCpuSet(set: CpuSet): string {
  const ranges: { first: number; last: number }[] = [];
  for (const each of set) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last === each - 1) range.last = each;
    else ranges.push({ first: each, last: each });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/**
 * Maximum number of CPUs that a kernel supports (`NR_CPUS`). The limit prevents a damaged file from exhausting memory.
 */
const MAX_CPUS = 8_192;

/**
 * Parses a list of numbers and ranges. Throws an error with the kubelet's message, e.g. `strconv.Atoi: parsing "x":
 * invalid syntax`, if the text is not such a list.
 */
export function parseCpuSet(text: string): CpuSet {
  if (text === '') return NO_CPUS;
  return cpuSetOf(
    text.split(',').flatMap((range) => {
      const [first = 0, last = first, ...rest] = range.split('-', 3).map(parseNumber);
      if (rest.length > 0 || first > last) throw new Error(`invalid range "${range}" (${first} > ${last})`);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    }),
  );
}

function parseNumber(digits: string): number {
  if (!/^[0-9]+$/.test(digits)) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(digits)}: invalid syntax`);
  const number = Number(digits);
  if (number >= MAX_CPUS) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(digits)}: value out of range`);
  return number;
}

/** Calls `visit` with each combination of `size` of the items, in lexical order, until `visit` returns `stop`. */
export function visitCombinations<T>(
  items: readonly T[],
  size: number,
  visit: (combination: readonly T[]) => 'stop' | undefined,
): void {
  const descend = (start: number, chosenItems: readonly T[]): 'stop' | undefined => {
    if (chosenItems.length === size) return visit(chosenItems);
    for (let index = start; index <= items.length - (size - chosenItems.length); index += 1) {
      if (descend(index + 1, chosenItems.concat(items.slice(index, index + 1))) === 'stop') return 'stop';
    }
    return undefined;
  };
  if (size > 0) descend(0, []);
}
