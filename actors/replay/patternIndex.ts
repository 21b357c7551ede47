/** Searches texts for many patterns at once. */

/** Minimum length of a pattern. */
export const MIN_PATTERN_LENGTH = 6;
/**
 * Maximum number of prefixes that are searched for individually, which is faster than looking up every substring of a
 * text.
 */
const MAX_SEARCHED_PREFIXES = 128;

/**
 * A set of patterns of at least `MIN_PATTERN_LENGTH` characters. A search takes time for each character of the text and
 * for each pattern whose prefix the text contains, but not for the other patterns. A node can have 50,000 patterns, and
 * most texts contain none.
 */
export class PatternIndex {
  /** Keyed by their first `MIN_PATTERN_LENGTH` characters. */
  readonly #patterns = new Map<string, Set<string>>();

  constructor(patterns: Iterable<string> = []) {
    for (const pattern of patterns) this.add(pattern);
  }

  add(pattern: string): void {
    const prefix = pattern.slice(0, MIN_PATTERN_LENGTH);
    const patterns = this.#patterns.get(prefix);
    if (patterns === undefined) this.#patterns.set(prefix, new Set([pattern]));
    else patterns.add(pattern);
  }

  delete(pattern: string): void {
    const prefix = pattern.slice(0, MIN_PATTERN_LENGTH);
    const patterns = this.#patterns.get(prefix);
    patterns?.delete(pattern);
    if (patterns?.size === 0) this.#patterns.delete(prefix);
  }

  /** Returns the patterns that a text contains. */
  findIn(text: string): string[] {
    const matches: string[] = [];
    for (const prefix of this.#prefixesIn(text)) {
      for (const pattern of this.#patterns.get(prefix) ?? []) if (text.includes(pattern)) matches.push(pattern);
    }
    return matches;
  }

  #prefixesIn(text: string): Iterable<string> {
    const isInText = (prefix: string) => text.includes(prefix);
    if (this.#patterns.size <= MAX_SEARCHED_PREFIXES) return [...this.#patterns.keys()].filter(isInText);
    const prefixes = new Set<string>();
    for (let start = 0; start + MIN_PATTERN_LENGTH <= text.length; start += 1) {
      const part = text.slice(start, start + MIN_PATTERN_LENGTH);
      if (this.#patterns.has(part)) prefixes.add(part);
    }
    return prefixes;
  }
}
