import { createHash, timingSafeEqual } from 'node:crypto';

const computeDigest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Returns a predicate that compares candidates with a token. Stores only a digest of the token, so that the token does
 * not appear in heap snapshots.
 */
export function createTokenMatcher(token: string): (candidate: string) => boolean {
  const digest = computeDigest(token);
  return (candidate) => timingSafeEqual(computeDigest(candidate), digest);
}
