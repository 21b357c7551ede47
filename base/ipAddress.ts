/**
 * IP addresses as Kubernetes parses, compares and prints them (`ParseIPSloppy` of k8s.io/utils/net, `net.IP` of Go). One
 * address can be written in several ways, so addresses are compared by value, never as text.
 */

type IpFamily = 4 | 6;

/** An address by value. An IPv4 address that is written as an IPv6 one (`::ffff:192.0.2.1`) has family 4. */
interface IpAddress {
  readonly family: IpFamily;
  /** The bytes in network order, 4 or 16. */
  readonly bytes: readonly number[];
}

const V4_BYTES = 4;
const V6_BYTES = 16;
/** The prefix of IPv4 addresses written as IPv6. */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** Parses an address. Octets may have leading zeros, and are decimal. Undefined for anything else, such as an address with a zone. */
function parseIp(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const octets = octetsIn(text);
    return octets && { family: 4, bytes: octets };
  }
  const bytes = v6BytesIn(text);
  if (bytes === undefined) return undefined;
  return startsWith(bytes, MAPPED) ? { family: 4, bytes: bytes.slice(MAPPED.length) } : { family: 6, bytes };
}

function octetsIn(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d+$/.test(part))) return undefined;
  const octets = parts.map(Number);
  return octets.every((octet) => octet <= 0xff) ? octets : undefined;
}

function v6BytesIn(text: string): number[] | undefined {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const before = groupsIn(head, tail === undefined);
  const after = groupsIn(tail ?? '', true);
  if (before === undefined || after === undefined) return undefined;
  const missing = V6_BYTES - before.length - after.length;
  // "::" stands for at least one group.
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined;
  return [...before, ...Array<number>(missing).fill(0), ...after];
}

/** The bytes of groups separated by colons. The last group of an address may be four octets. */
function groupsIn(text: string, mayEndInOctets: boolean): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    const octets = mayEndInOctets && index === groups.length - 1 ? octetsIn(group) : undefined;
    if (octets !== undefined) {
      bytes.push(...octets);
      continue;
    }
    if (!/^[\da-f]{1,4}$/i.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(value >> 8, value & 0xff);
  }
  return bytes;
}

const startsWith = (bytes: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => bytes[index] === byte);

/** An address in the one form in which Kubernetes prints it (RFC 5952). Undefined if the text is not an address. */
export function canonicalIp(text: string): string | undefined {
  const ip = parseIp(text);
  if (ip === undefined) return undefined;
  return ip.family === 4 ? ip.bytes.join('.') : v6Text(ip.bytes);
}

/** Shortens the first of the longest runs of at least two zero groups. */
function v6Text(bytes: readonly number[]): string {
  const groups = Array.from({ length: V6_BYTES / 2 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  let longest = { start: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === '0' ? length + 1 : 0;
    if (length > longest.length) longest = { start: index + 1 - length, length };
  }
  if (longest.length < 2) return groups.join(':');
  const { start } = longest;
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + longest.length).join(':')}`;
}

/** The address in canonical form, or the text itself if it is not an address. */
export const canonicalOr = (text: string): string => canonicalIp(text) ?? text;

/** Whether two texts are the same address, or the same text if they are not addresses. */
export const isSameIp = (one: string, other: string): boolean => canonicalOr(one) === canonicalOr(other);

/** The family of an address. Undefined if the text is not an address. */
export const ipFamily = (text: string): IpFamily | undefined => parseIp(text)?.family;

/** Whether an address is in a subnet such as `192.0.2.0/24`, as `net.IPNet.Contains` decides. */
export function isIpInSubnet(text: string, subnet: string): boolean {
  const [network = '', prefix = '', ...more] = subnet.split('/');
  const [ip, first] = [parseIp(text), parseIp(network)];
  const written = network.includes(':') ? V6_BYTES : V4_BYTES;
  if (ip === undefined || first === undefined || more.length > 0 || !/^\d+$/.test(prefix)) return false;
  if (Number(prefix) > 8 * written || ip.family !== first.family) return false;
  // The prefix of an IPv4 network that is written as IPv6 counts the bits in front of it as well.
  const bits = Number(prefix) - 8 * (written - first.bytes.length);
  return first.bytes.every((byte, index) => {
    const ofByte = Math.min(8, Math.max(0, bits - 8 * index));
    const mask = (0xff << (8 - ofByte)) & 0xff;
    return (byte & mask) === ((ip.bytes[index] ?? 0) & mask);
  });
}

const isInAny = (text: string, subnets: readonly string[]): boolean =>
  subnets.some((subnet) => isIpInSubnet(text, subnet));

/** Whether only the host itself reaches the address (`net.IP.IsLoopback`). */
export const isLoopbackIp = (text: string): boolean => isInAny(text, ['127.0.0.0/8', '::1/128']);

/** Whether it is a multicast address (`net.IP.IsMulticast`). */
export const isMulticastIp = (text: string): boolean => isInAny(text, ['224.0.0.0/4', 'ff00::/8']);

/** Whether it is a link-local unicast address (`net.IP.IsLinkLocalUnicast`). */
export const isLinkLocalIp = (text: string): boolean => isInAny(text, ['169.254.0.0/16', 'fe80::/10']);

/** Whether it stands for all addresses of a host (`net.IP.IsUnspecified`). */
export const isUnspecifiedIp = (text: string): boolean => isInAny(text, ['0.0.0.0/32', '::/128']);

/**
 * The addresses of a pod in the order in which its status, its variables and its hosts file have them: the first of the
 * family of the node's primary address, then the first of the other family (`sortPodIPs` in
 * `pkg/kubelet/kubelet_pods.go`). A node without addresses counts as one of IPv4.
 */
export function orderedPodIps(podIps: readonly string[], hostIps: readonly string[]): string[] {
  const primary = ipFamily(hostIps[0] ?? '') ?? 4;
  const first = podIps.find((ip) => ipFamily(ip) === primary);
  const second = podIps.find((ip) => ipFamily(ip) === (primary === 4 ? 6 : 4));
  return [first, second].flatMap((ip) => (ip === undefined ? [] : [canonicalOr(ip)]));
}
