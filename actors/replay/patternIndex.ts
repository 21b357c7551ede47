/** Searches strings for many patterns at once. */

/** Minimum length of a pattern. Shorter patterns occur in too many strings. */
export const MIN_PATTERN_LENGTH = 6;
/**
 * Up to this number of prefixes, each prefix is searched for individually, which is faster than looking up every
 * substring of a string.
 */
const MAX_LINEAR_PREFIXES = 128;

/**
 * A set of patterns of at least `MIN_PATTERN_LENGTH` characters. The time of a search depends on the length of the
 * string and on the number of patterns whose prefix occurs in it, but not on the number of other patterns. A node can
 * have 50,000 patterns, and most strings contain none.
 */
export class PatternIndex {
  /** Keyed by their first `MIN_PATTERN_LENGTH` characters. */
  readonly #patternsByPrefix = new Map<string, Set<string>>();

  constructor(patterns: Iterable<string> = []) {
    for (const pattern of patterns) this.add(pattern);
  }

  add(pattern: string): void {
    const prefix = pattern.slice(0, MIN_PATTERN_LENGTH);
    const prefixPatterns = this.#patternsByPrefix.get(prefix);
    if (prefixPatterns === undefined) this.#patternsByPrefix.set(prefix, new Set([pattern]));
    else prefixPatterns.add(pattern);
  }

  delete(pattern: string): void {
    const prefix = pattern.slice(0, MIN_PATTERN_LENGTH);
    const prefixPatterns = this.#patternsByPrefix.get(prefix);
    prefixPatterns?.delete(pattern);
    if (prefixPatterns?.size === 0) this.#patternsByPrefix.delete(prefix);
  }

  /** Returns the patterns that occur in a string. */
  findIn(text: string): string[] {
    const matchingPatterns: string[] = [];
    for (const prefix of this.#findPrefixes(text)) {
      for (const pattern of this.#patternsByPrefix.get(prefix) ?? [])
        if (text.includes(pattern)) matchingPatterns.push(pattern);
    }
    return matchingPatterns;
  }

  #findPrefixes(text: string): Iterable<string> {
    const occursInText = (prefix: string) => text.includes(prefix);
    if (this.#patternsByPrefix.size <= MAX_LINEAR_PREFIXES)
      return [...this.#patternsByPrefix.keys()].filter(occursInText);
    const prefixes = new Set<string>();
    for (let start = 0; start + MIN_PATTERN_LENGTH <= text.length; start += 1) {
      const textPrefix = text.slice(start, start + MIN_PATTERN_LENGTH);
      if (this.#patternsByPrefix.has(textPrefix)) prefixes.add(textPrefix);
    }
    return prefixes;
  }
}
