import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a token that is given is the right one: told in the same time wherever they differ. */
export function isSameToken(given: string, token: string): boolean {
  const [one, other] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
