/** Searches texts for many patterns at once. */

/** Minimum length of a pattern. */
export const MIN_PATTERN_LENGTH = 6;
/** Maximum number of beginnings that are searched for one by one, which is faster than looking up each part of a text. */
const FEW_BEGINNINGS = 128;

/**
 * A set of patterns of at least `MIN_PATTERN_LENGTH` characters. A search takes time for each character of the text and for each
 * pattern whose beginning the text contains, but not for the other patterns. A node can have 50,000 patterns, and most texts
 * contain none.
 */
export class PatternIndex {
  /** Keyed by their first `MIN_PATTERN_LENGTH` characters. */
  readonly #patterns = new Map<string, Set<string>>();

  constructor(patterns: Iterable<string> = []) {
    for (const pattern of patterns) this.add(pattern);
  }

  add(pattern: string): void {
    const beginning = pattern.slice(0, MIN_PATTERN_LENGTH);
    const patterns = this.#patterns.get(beginning);
    if (patterns === undefined) this.#patterns.set(beginning, new Set([pattern]));
    else patterns.add(pattern);
  }

  delete(pattern: string): void {
    const beginning = pattern.slice(0, MIN_PATTERN_LENGTH);
    const patterns = this.#patterns.get(beginning);
    patterns?.delete(pattern);
    if (patterns?.size === 0) this.#patterns.delete(beginning);
  }

  /** Returns the patterns that a text contains. */
  foundIn(text: string): string[] {
    const found: string[] = [];
    for (const beginning of this.#beginningsIn(text)) {
      for (const pattern of this.#patterns.get(beginning) ?? []) if (text.includes(pattern)) found.push(pattern);
    }
    return found;
  }

  #beginningsIn(text: string): Iterable<string> {
    const isInText = (beginning: string) => text.includes(beginning);
    if (this.#patterns.size <= FEW_BEGINNINGS) return [...this.#patterns.keys()].filter(isInText);
    const beginnings = new Set<string>();
    for (let start = 0; start + MIN_PATTERN_LENGTH <= text.length; start += 1) {
      const part = text.slice(start, start + MIN_PATTERN_LENGTH);
      if (this.#patterns.has(part)) beginnings.add(part);
    }
    return beginnings;
  }
}
