/** Parses `--node-ip` in the forms that the kubelet accepts. */
import * as z from 'zod/mini';
import { canonicalIpOrText, ipFamily, isUnspecifiedIp } from '../../../base/ipAddress.ts';

const parseAddresses = (text: string): string[] =>
  text.trim() === '' ? [] : text.split(',').map((address) => canonicalIpOrText(address.trim()));

/** Schema of `--node-ip`. An empty value is treated as unset, because some installers pass an empty value. */
export const nodeIpsFlagSchema = z.pipe(
  z.custom<string>((value) => typeof value === 'string' && isValidNodeIpList(parseAddresses(value)), {
    error: 'expected an IP address, a comma-separated IPv4 and IPv6 address, or 0.0.0.0 or :: alone',
  }),
  z.transform(parseAddresses),
);

function isValidNodeIpList(addresses: readonly string[]): boolean {
  const ipFamilies = addresses.map(ipFamily);
  const areDistinctFamilies = !ipFamilies.includes(undefined) && new Set(ipFamilies).size === ipFamilies.length;
  return areDistinctFamilies && (addresses.length < 2 || !addresses.some(isUnspecifiedIp));
}

/** Sorts addresses so that the preferred family comes first. */
export const sortByFamily = (addresses: readonly string[], prefersIpv6: boolean): readonly string[] =>
  prefersIpv6
    ? addresses.toSorted((left, right) => Number(ipFamily(right) === 6) - Number(ipFamily(left) === 6))
    : addresses;
