import * as z from 'zod/mini';
import type { Problem } from '../problem.ts';
import { dnsLabelProblems as labelProblems, dnsSubdomainProblems as subdomainProblems } from './metadata/nameRules.ts';

/**
 * Creates a problem for an invalid value. This function and the ones below use the wording of
 * `util/validation/field/errors.go` of apimachinery.
 */
export function invalid(path: string, value: unknown, detail: string): Problem {
  return { path, message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

/** Creates a problem for each violated rule. */
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

/** Creates a problem for an unsupported value. `supported` is in the order in which Kubernetes lists the values. */
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

/** Checks an optional value against a list. Undefined is valid, but an empty string is not. */
export function validateOneOf(path: string, value: string | undefined, supported: readonly string[]): Problem[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

/** Checks a required value against a list. An empty string is treated as missing. */
export function validateRequiredOneOf(
  path: string,
  value: string | undefined,
  supported: readonly string[],
): Problem[] {
  return value ? validateOneOf(path, value, supported) : [required(path)];
}

export const validateRequiredText = (path: string, value: string | undefined): Problem[] =>
  value ? [] : [required(path)];

export const validateDnsLabel = (path: string, value: string): Problem[] =>
  allInvalid(path, value, labelProblems(value));

export const validateDnsSubdomain = (path: string, value: string): Problem[] =>
  allInvalid(path, value, subdomainProblems(value));

/** Checks a required DNS label. */
export const validateRequiredLabel = (path: string, value: string): Problem[] =>
  value === '' ? [required(path)] : validateDnsLabel(path, value);

export const validateRange = (path: string, value: number | undefined, min: number, max: number): Problem[] =>
  value === undefined || (value >= min && value <= max)
    ? []
    : [invalid(path, value, `must be between ${min} and ${max}, inclusive`)];

export const validatePortNumber = (path: string, value: number): Problem[] => validateRange(path, value, 1, 65535);

export function validateNotNegative(path: string, value: number | undefined): Problem[] {
  return value !== undefined && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
}

export const validatePositive = (path: string, value: number): Problem[] =>
  value > 0 ? [] : [invalid(path, value, 'must be greater than zero')];

const isIpv4 = (value: string): boolean => z.safeParse(z.ipv4(), value).success;
const isIpv6 = (value: string): boolean => z.safeParse(z.ipv6(), value).success;

/**
 * Checks an IP address, which must not have leading zeros or be an IPv4-mapped IPv6 address (`util/validation/ip.go`).
 */
export function validateIp(path: string, value: string): Problem[] {
  if (isIpv4(value)) return [];
  if (isIpv6(value)) {
    const isIpv4Mapped = /^(?:0*:){0,5}:?ffff:(?:(?:\d+\.){3}\d+|[0-9a-f]{1,4}:[0-9a-f]{1,4})$/i.test(value);
    return isIpv4Mapped ? [invalid(path, value, 'must not be an IPv4-mapped IPv6 address')] : [];
  }
  return isIpv4(value.replaceAll(/(^|\.)0+(?=\d)/g, '$1'))
    ? [invalid(path, value, 'must not have leading 0s')]
    : [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

/** Checks that a path does not contain `..`. */
export const validateNoBacksteps = (path: string, value: string): Problem[] =>
  value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : [];

/** Checks a path inside a volume, which must be relative and not contain `..` (C26). */
export const validatePathInVolume = (path: string, value: string): Problem[] => [
  ...(value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : []),
  ...validateNoBacksteps(path, value),
];

/**
 * Checks a path inside a volume. It must not conflict with the internal files of the volume, whose names start with
 * `..`.
 */
export const validateOwnPathInVolume = (path: string, value: string): Problem[] => [
  ...validatePathInVolume(path, value),
  ...(value.startsWith('..') && !value.startsWith('../') ? [invalid(path, value, "must not start with '..'")] : []),
];

const MAX_MODE = 0o777;

export const validateFileMode = (path: string, mode: number | undefined): Problem[] =>
  mode === undefined || (mode >= 0 && mode <= MAX_MODE)
    ? []
    : [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
