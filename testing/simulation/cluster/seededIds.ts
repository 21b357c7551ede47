/** UIDs and name suffixes of an API server, drawn from a seed. */
import type { Ids } from '../../apiserver/registry/ids.ts';
import type { Random } from '../random.ts';

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const HEX = '0123456789abcdef';
const SUFFIX = 5;
const UID_PARTS = [8, 4, 4, 4, 12] as const;

export function seededIds(random: Random): Ids {
  const randomString = (from: string, count: number) =>
    Array.from({ length: count }, () => from[random.between(0, from.length - 1)]).join('');
  const suffix = () => randomString(ALPHABET, SUFFIX);
  return {
    uid: () => UID_PARTS.map((length) => randomString(HEX, length)).join('-'),
    nameAfter: (prefix) => prefix + suffix(),
    suffix,
  };
}
