import { createHash, timingSafeEqual } from 'node:crypto';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Returns a predicate for a token. It stores only a digest, so that the token does not appear in heap snapshots. */
export function tokenPredicate(token: string): (candidate: string) => boolean {
  const digest = digestOf(token);
  return (candidate) => timingSafeEqual(digestOf(candidate), digest);
}
