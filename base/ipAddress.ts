/**
 * Parses, compares and prints IP addresses as Kubernetes does (`ParseIPSloppy` of k8s.io/utils/net, `net.IP` of Go).
 * The same address can be written in several ways, so addresses are compared by value, never as strings.
 */

type IpFamily = 4 | 6;

/** An address as bytes. An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) has family 4. */
interface IpAddress {
  readonly family: IpFamily;
  /** The 4 or 16 bytes of the address in network order. */
  readonly bytes: readonly number[];
}

const V4_BYTES = 4;
const V6_BYTES = 16;
/** The prefix of IPv4-mapped IPv6 addresses. */
const V4_MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Parses an IP address. Octets are decimal and may have leading zeros. Returns undefined for anything else, such as an
 * address with a zone.
 */
function parseIp(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const octets = parseOctets(text);
    return octets && { family: 4, bytes: octets };
  }
  const bytes = parseV6Bytes(text);
  if (bytes === undefined) return undefined;
  return startsWith(bytes, V4_MAPPED_PREFIX)
    ? { family: 4, bytes: bytes.slice(V4_MAPPED_PREFIX.length) }
    : { family: 6, bytes };
}

function parseOctets(text: string): number[] | undefined {
  const octetStrings = text.split('.');
  if (octetStrings.length !== 4 || !octetStrings.every((part) => /^\d+$/.test(part))) return undefined;
  const octets = octetStrings.map(Number);
  return octets.every((octet) => octet <= 0xff) ? octets : undefined;
}

function parseV6Bytes(text: string): number[] | undefined {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const headBytes = parseGroups(head, tail === undefined);
  const tailBytes = parseGroups(tail ?? '', true);
  if (headBytes === undefined || tailBytes === undefined) return undefined;
  const missingBytes = V6_BYTES - headBytes.length - tailBytes.length;
  // "::" represents at least one group.
  if (tail === undefined ? missingBytes !== 0 : missingBytes < 2) return undefined;
  return [...headBytes, ...Array<number>(missingBytes).fill(0), ...tailBytes];
}

/** Parses groups separated by colons into bytes. The last 32 bits may be written as a dotted-decimal IPv4 address. */
function parseGroups(text: string, mayEndInOctets: boolean): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    const octets = mayEndInOctets && index === groups.length - 1 ? parseOctets(group) : undefined;
    if (octets !== undefined) {
      bytes.push(...octets);
      continue;
    }
    if (!/^[\da-f]{1,4}$/i.test(group)) return undefined;
    const groupValue = Number.parseInt(group, 16);
    bytes.push(groupValue >> 8, groupValue & 0xff);
  }
  return bytes;
}

const startsWith = (bytes: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => bytes[index] === byte);

/**
 * Returns an address in the canonical form that Kubernetes prints (RFC 5952), or undefined if the text is not an
 * address.
 */
export function canonicalIp(text: string): string | undefined {
  const ip = parseIp(text);
  if (ip === undefined) return undefined;
  return ip.family === 4 ? ip.bytes.join('.') : formatV6(ip.bytes);
}

/** Formats an IPv6 address. The first of the longest runs of at least two zero groups is shortened to `::`. */
function formatV6(bytes: readonly number[]): string {
  const groups = Array.from({ length: V6_BYTES / 2 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  let longestRun = { start: 0, length: 0 };
  let runLength = 0;
  for (const [index, group] of groups.entries()) {
    runLength = group === '0' ? runLength + 1 : 0;
    if (runLength > longestRun.length) longestRun = { start: index + 1 - runLength, length: runLength };
  }
  if (longestRun.length < 2) return groups.join(':');
  const { start } = longestRun;
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + longestRun.length).join(':')}`;
}

/** Returns the canonical form of an address, or the text itself if it is not an address. */
export const canonicalIpOrText = (text: string): string => canonicalIp(text) ?? text;

/** Whether two strings denote the same address or, if they are not addresses, are equal. */
export const isSameIp = (first: string, second: string): boolean =>
  canonicalIpOrText(first) === canonicalIpOrText(second);

/** Returns the family of an address, or undefined if the text is not an address. */
export const ipFamily = (text: string): IpFamily | undefined => parseIp(text)?.family;

/** Whether an address is in a subnet such as `192.0.2.0/24`. Behaves like Go's `net.IPNet.Contains`. */
export function isIpInSubnet(text: string, subnet: string): boolean {
  const [network = '', prefix = '', ...more] = subnet.split('/');
  const [ip, first] = [parseIp(text), parseIp(network)];
  const addressBytes = network.includes(':') ? V6_BYTES : V4_BYTES;
  if (ip === undefined || first === undefined || more.length > 0 || !/^\d+$/.test(prefix)) return false;
  if (Number(prefix) > 8 * addressBytes || ip.family !== first.family) return false;
  // The prefix length of an IPv4-mapped network includes the 96 bits before the IPv4 address.
  const prefixBits = Number(prefix) - 8 * (addressBytes - first.bytes.length);
  return first.bytes.every((byte, index) => {
    const networkBits = Math.min(8, Math.max(0, prefixBits - 8 * index));
    const mask = (0xff << (8 - networkBits)) & 0xff;
    return (byte & mask) === ((ip.bytes[index] ?? 0) & mask);
  });
}

const isIpInAnySubnet = (text: string, subnets: readonly string[]): boolean =>
  subnets.some((subnet) => isIpInSubnet(text, subnet));

/** Whether the address is a loopback address (`net.IP.IsLoopback`). */
export const isLoopbackIp = (text: string): boolean => isIpInAnySubnet(text, ['127.0.0.0/8', '::1/128']);

/** Whether the address is a multicast address (`net.IP.IsMulticast`). */
export const isMulticastIp = (text: string): boolean => isIpInAnySubnet(text, ['224.0.0.0/4', 'ff00::/8']);

/** Whether the address is a link-local unicast address (`net.IP.IsLinkLocalUnicast`). */
export const isLinkLocalIp = (text: string): boolean => isIpInAnySubnet(text, ['169.254.0.0/16', 'fe80::/10']);

/**
 * Whether the address is the unspecified address, which represents all addresses of a host (`net.IP.IsUnspecified`).
 */
export const isUnspecifiedIp = (text: string): boolean => isIpInAnySubnet(text, ['0.0.0.0/32', '::/128']);

/**
 * Orders a pod's addresses as they appear in its status, environment variables and hosts file: the first address of the
 * node's primary family, then the first address of the other family (`sortPodIPs` in `pkg/kubelet/kubelet_pods.go`). A
 * node without addresses is treated as an IPv4 node.
 */
export function orderedPodIps(podIps: readonly string[], hostIps: readonly string[]): string[] {
  const primaryFamily = ipFamily(hostIps[0] ?? '') ?? 4;
  const primaryIp = podIps.find((ip) => ipFamily(ip) === primaryFamily);
  const secondaryIp = podIps.find((ip) => ipFamily(ip) === (primaryFamily === 4 ? 6 : 4));
  return [primaryIp, secondaryIp].flatMap((ip) => (ip === undefined ? [] : [canonicalIpOrText(ip)]));
}
