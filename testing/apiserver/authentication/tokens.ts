/** Who asks: whoever the token of a request belongs to. */
import { Failure } from '../failures.ts';
import type { User } from '../request.ts';

export const unauthorized = (): Failure => new Failure(401, 'Unauthorized', 'Unauthorized');

const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Undefined for a token that nobody has; without one, it is anybody. */
export function userOf(
  authorization: string | undefined,
  byToken: (token: string) => User | undefined,
): User | undefined {
  if (authorization === undefined) return ANONYMOUS;
  const token = /^Bearer\s+(?<token>\S+)$/i.exec(authorization)?.groups?.token;
  const user = token === undefined ? undefined : byToken(token);
  return user && authenticated(user);
}

/** Whoever is known belongs to a group of all who are. */
export const authenticated = (user: User): User => ({ ...user, groups: [...user.groups, 'system:authenticated'] });
