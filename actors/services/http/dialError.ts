import { lookUp } from '../../../base/values/lookUp.ts';

/** Go's messages for connection errors, as in the kubelet. */
const DIAL_MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  EINVAL: 'connect: invalid argument',
  ETIMEDOUT: 'connect: connection timed out',
};

/** Joins a host and port into an address, with an IPv6 host in brackets. */
export const joinHostPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Returns the code of a system error, or an empty string for any other error. */
export const errorCode = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Returns Go's message for a failed connection attempt, or undefined for any other error. */
export function dialFailureMessage(error: unknown, host: string, port: number): string | undefined {
  const code = errorCode(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  return lookUp(DIAL_MESSAGES, code) && `dial tcp ${joinHostPort(host, port)}: ${lookUp(DIAL_MESSAGES, code)}`;
}

/** Returns Go's message for a reset connection, or undefined for any other error. */
export const readFailureMessage = (error: unknown): string | undefined =>
  errorCode(error) === 'ECONNRESET' ? 'read: connection reset by peer' : undefined;
