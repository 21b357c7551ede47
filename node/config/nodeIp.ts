/** The addresses that a node is told to be known by, in the forms that a kubelet takes (`--node-ip`). */
import { isIP, isIPv6 } from 'node:net';
import * as z from 'zod/mini';

const addressesIn = (text: string): string[] =>
  text.trim() === '' ? [] : text.split(',').map((address) => address.trim());

/** Nothing is as if the flag were not there: installers write it so. */
export const nodeIpsFlag = z.pipe(
  z.custom<string>((value) => typeof value === 'string' && areNodeIps(addressesIn(value)), {
    error: 'expected an IP address, a comma-separated IPv4 and IPv6 address, or 0.0.0.0 or :: alone',
  }),
  z.transform(addressesIn),
);

function areNodeIps(addresses: readonly string[]): boolean {
  const families = addresses.map((address) => isIP(address));
  const isPair = !families.includes(0) && new Set(families).size === families.length;
  return isPair && (addresses.length < 2 || !addresses.some(isUnspecified));
}

/** Whether it stands for whatever the host has, of this family first: `0.0.0.0`, `::`. */
export const isUnspecified = (address: string): boolean => address === '0.0.0.0' || /^[0:]*:[0:]*$/.test(address);

/** Those of the preferred family first. */
export const byFamily = (addresses: readonly string[], prefersIpv6: boolean): readonly string[] =>
  prefersIpv6 ? addresses.toSorted((one, other) => Number(isIPv6(other)) - Number(isIPv6(one))) : addresses;
