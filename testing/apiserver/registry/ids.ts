/** What the server makes up: UIDs, and ends of names. */
import { randomInt, randomUUID } from 'node:crypto';

export interface Ids {
  uid(): string;
  /** A name that begins so. */
  nameAfter(prefix: string): string;
  /** So many characters that names may have. */
  suffix(): string;
}

/** Without vowels: no words come out (`util/rand` of apimachinery). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX = 5;
const LONGEST_PREFIX = 63 - SUFFIX;

const suffix = (): string => Array.from({ length: SUFFIX }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

export const randomIds: Ids = {
  uid: () => randomUUID(),
  nameAfter: (prefix) => prefix.slice(0, LONGEST_PREFIX) + suffix(),
  suffix,
};
