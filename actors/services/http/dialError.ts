import { lookUp } from '../../../base/lookUp.ts';

/** What went wrong with a connection, in the words that a kubelet's users know. */
const DIALING: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  EINVAL: 'connect: invalid argument',
  ETIMEDOUT: 'connect: connection timed out',
};

/** A host and port as one address; one of IPv6 in brackets. */
export const addressOf = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** The code of a system's error; empty when it is none. */
export const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Why no connection came about; undefined when it is something else that went wrong. */
export function dialFailure(error: unknown, host: string, port: number): string | undefined {
  const code = codeOf(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  return lookUp(DIALING, code) && `dial tcp ${addressOf(host, port)}: ${lookUp(DIALING, code)}`;
}

/** Why a connection that had come about broke off; undefined when it is something else that went wrong. */
export const readFailure = (error: unknown): string | undefined =>
  codeOf(error) === 'ECONNRESET' ? 'read: connection reset by peer' : undefined;
