/** Computes and compares the DNS names and IP addresses in the subject alternative names of certificates. */
import { canonicalIpOrText, ipFamily, isSameIp } from '../../base/ipAddress.ts';

export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly ips: readonly string[];
}

/** An address in a Node's status, e.g. `{ type: 'InternalIP', address: '192.0.2.1' }`. */
export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

export const NO_NAMES: AlternativeNames = { dnsNames: [], ips: [] };

const DNS_TYPES: readonly string[] = ['Hostname', 'ExternalDNS', 'InternalDNS'];
const IP_TYPES: readonly string[] = ['Hostname', 'ExternalIP', 'InternalIP'];

/**
 * Returns the DNS names and IP addresses under which clients can reach a node, without duplicates and in a stable order
 * (`addressesToHostnamesAndIPs` in `pkg/kubelet/certificate/kubelet.go`).
 */
export function alternativeNamesOf(addresses: readonly NodeAddress[]): AlternativeNames {
  const namesOfTypes = (types: readonly string[], isIncluded: (address: string) => boolean) => {
    const matchingAddresses = addresses.filter(
      ({ type, address }) => types.includes(type) && address !== '' && isIncluded(address),
    );
    return [...new Set(matchingAddresses.map(({ address }) => canonicalIpOrText(address)))].sort();
  };
  return { dnsNames: namesOfTypes(DNS_TYPES, (address) => !isIp(address)), ips: namesOfTypes(IP_TYPES, isIp) };
}

/**
 * Whether a certificate with `names` covers all names in `required`. IP addresses are compared by value, because a
 * certificate and a Node may format them differently (`certSatisfiesTemplateLocked` in
 * `util/certificate/certificate_manager.go` of client-go).
 */
export const coversNames = (names: AlternativeNames, required: AlternativeNames): boolean =>
  required.dnsNames.every((name) => names.dnsNames.includes(name)) &&
  required.ips.every((ip) => names.ips.some((each) => isSameIp(each, ip)));

const isIp = (address: string): boolean => ipFamily(address) !== undefined;
