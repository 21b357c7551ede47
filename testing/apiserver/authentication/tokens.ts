/** Authentication by bearer token. */
import { Failure } from '../failures/failures.ts';
import type { User } from '../requests/request.ts';

export const unauthorized = (): Failure => new Failure(401, 'Unauthorized', 'Unauthorized');

const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/**
 * Returns the user of a bearer token, undefined if the token is unknown, and the anonymous user if there is no token.
 */
export function userOf(
  authorization: string | undefined,
  byToken: (token: string) => User | undefined,
): User | undefined {
  if (authorization === undefined) return ANONYMOUS;
  const token = /^Bearer\s+(?<token>\S+)$/i.exec(authorization)?.groups?.token;
  const user = token === undefined ? undefined : byToken(token);
  return user && authenticated(user);
}

/** Adds the group of authenticated users. */
export const authenticated = (user: User): User => ({ ...user, groups: [...user.groups, 'system:authenticated'] });
