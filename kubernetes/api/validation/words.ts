import * as z from 'zod/mini';
import type { Problem } from '../problem.ts';
import { dnsLabel as labelProblems, dnsSubdomain as subdomainProblems } from './nameRules.ts';

/** A problem in the words of `util/validation/field/errors.go` of apimachinery, as are the ones below. */
export function invalid(path: string, value: unknown, detail: string): Problem {
  return { path, message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

/** One problem for each rule that a value breaks. */
export const allInvalid = (path: string, value: unknown, details: readonly string[]): Problem[] =>
  details.map((detail) => invalid(path, value, detail));

export function required(path: string, detail?: string): Problem {
  return { path, message: detail === undefined ? 'Required value' : `Required value: ${detail}` };
}

export const duplicate = (path: string, value: string): Problem => ({
  path,
  message: `Duplicate value: ${JSON.stringify(value)}`,
});

export const notFound = (path: string, value: string, detail?: string): Problem => ({
  path,
  message: `Not found: ${JSON.stringify(value)}${detail === undefined ? '' : `: ${detail}`}`,
});

/** `supported` is in the order in which Kubernetes lists the values. */
export const notSupported = (path: string, value: unknown, supported: readonly string[]): Problem => ({
  path,
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`,
});

export const tooLong = (path: string, maxBytes: number): Problem => ({
  path,
  message: `Too long: may not be more than ${maxBytes} bytes`,
});

export const tooMany = (path: string, count: number, maxCount: number): Problem => ({
  path,
  message: `Too many: ${count}: must have at most ${maxCount} items`,
});

export function forbidden(path: string, detail: string): Problem {
  return { path, message: `Forbidden: ${detail}` };
}

/** Checks a value against a list; undefined is a pointer that is not set, and an empty text is a wrong value. */
export function oneOf(path: string, value: string | undefined, supported: readonly string[]): Problem[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

/** Checks a value against a list where an empty text is a missing one. */
export function requiredOneOf(path: string, value: string | undefined, supported: readonly string[]): Problem[] {
  return value ? oneOf(path, value, supported) : [required(path)];
}

export const requiredText = (path: string, value: string | undefined): Problem[] => (value ? [] : [required(path)]);

export const dnsLabel = (path: string, value: string): Problem[] => allInvalid(path, value, labelProblems(value));

export const dnsSubdomain = (path: string, value: string): Problem[] =>
  allInvalid(path, value, subdomainProblems(value));

/** A label that must be there. */
export const requiredLabel = (path: string, value: string): Problem[] =>
  value === '' ? [required(path)] : dnsLabel(path, value);

export const inRange = (path: string, value: number | undefined, least: number, most: number): Problem[] =>
  value === undefined || (value >= least && value <= most)
    ? []
    : [invalid(path, value, `must be between ${least} and ${most}, inclusive`)];

export const portNumber = (path: string, value: number): Problem[] => inRange(path, value, 1, 65535);

export function notNegative(path: string, value: number | undefined): Problem[] {
  return value !== undefined && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
}

export const positive = (path: string, value: number): Problem[] =>
  value > 0 ? [] : [invalid(path, value, 'must be greater than zero')];

const isIpv4 = (value: string): boolean => z.safeParse(z.ipv4(), value).success;
const isIpv6 = (value: string): boolean => z.safeParse(z.ipv6(), value).success;

/** An address without leading zeros that is no IPv4 address in an IPv6 one (`util/validation/ip.go`). */
export function ipAddress(path: string, value: string): Problem[] {
  if (isIpv4(value)) return [];
  if (isIpv6(value)) {
    const isMapped = /^(?:0*:){0,5}:?ffff:(?:(?:\d+\.){3}\d+|[0-9a-f]{1,4}:[0-9a-f]{1,4})$/i.test(value);
    return isMapped ? [invalid(path, value, 'must not be an IPv4-mapped IPv6 address')] : [];
  }
  return isIpv4(value.replaceAll(/(^|\.)0+(?=\d)/g, '$1'))
    ? [invalid(path, value, 'must not have leading 0s')]
    : [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

/** A path without an element `..`. */
export const noBacksteps = (path: string, value: string): Problem[] =>
  value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : [];

/** A path below a volume: relative, and never upwards (C26). */
export const pathInVolume = (path: string, value: string): Problem[] => [
  ...(value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : []),
  ...noBacksteps(path, value),
];

/** A path below a volume that does not begin as the volume's own files do. */
export const ownPathInVolume = (path: string, value: string): Problem[] => [
  ...pathInVolume(path, value),
  ...(value.startsWith('..') && !value.startsWith('../') ? [invalid(path, value, "must not start with '..'")] : []),
];

const LARGEST_MODE = 0o777;

export const fileMode = (path: string, mode: number | undefined): Problem[] =>
  mode === undefined || (mode >= 0 && mode <= LARGEST_MODE)
    ? []
    : [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
