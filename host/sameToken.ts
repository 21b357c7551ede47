import { createHash, timingSafeEqual } from 'node:crypto';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether two tokens are equal. The comparison takes the same time wherever they differ. */
export const isSameToken = (given: string, token: string): boolean => timingSafeEqual(digestOf(given), digestOf(token));

/** Returns a predicate for a token. It stores a digest, so that the token is not in a heap snapshot. */
export function tokenPredicate(token: string): (given: string) => boolean {
  const digest = digestOf(token);
  return (given) => timingSafeEqual(digestOf(given), digest);
}
