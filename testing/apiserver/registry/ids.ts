/** Generates UIDs and name suffixes. */
import { randomInt, randomUUID } from 'node:crypto';

export interface Ids {
  uid(): string;
  /** Returns a name with this prefix. */
  nameAfter(prefix: string): string;
  /** Returns a random suffix for names. */
  suffix(): string;
}

/** The alphabet has no vowels, so that suffixes do not form words (`util/rand` of apimachinery). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX = 5;
const LONGEST_PREFIX = 63 - SUFFIX;

const suffix = (): string => Array.from({ length: SUFFIX }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

export const randomIds: Ids = {
  uid: () => randomUUID(),
  nameAfter: (prefix) => prefix.slice(0, LONGEST_PREFIX) + suffix(),
  suffix,
};
