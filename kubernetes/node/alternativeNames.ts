/** The names and addresses that a certificate is good for beside its subject. */
import { canonicalOr, ipFamily, isSameIp } from '../../base/ipAddress.ts';

export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly ips: readonly string[];
}

/** An address as a Node has it: `{ type: 'InternalIP', address: '192.0.2.1' }`. */
export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

export const NO_NAMES: AlternativeNames = { dnsNames: [], ips: [] };

const DNS_TYPES: readonly string[] = ['Hostname', 'ExternalDNS', 'InternalDNS'];
const IP_TYPES: readonly string[] = ['Hostname', 'ExternalIP', 'InternalIP'];

/**
 * The names and addresses at which clients reach a node, from the addresses of its Node, each once and in a stable order
 * (`addressesToHostnamesAndIPs` in `pkg/kubelet/certificate/kubelet.go`).
 */
export function namesOf(addresses: readonly NodeAddress[]): AlternativeNames {
  const ofTypes = (types: readonly string[], isWanted: (address: string) => boolean) => {
    const found = addresses.filter(({ type, address }) => types.includes(type) && address !== '' && isWanted(address));
    return [...new Set(found.map(({ address }) => canonicalOr(address)))].sort();
  };
  return { dnsNames: ofTypes(DNS_TYPES, (address) => !isIp(address)), ips: ofTypes(IP_TYPES, isIp) };
}

/**
 * Whether a certificate with these names is good for all the names that are wanted (`certSatisfiesTemplateLocked` in
 * `util/certificate/certificate_manager.go` of client-go). A certificate and a Node may write one address differently.
 */
export const covers = (names: AlternativeNames, wanted: AlternativeNames): boolean =>
  wanted.dnsNames.every((name) => names.dnsNames.includes(name)) &&
  wanted.ips.every((ip) => names.ips.some((each) => isSameIp(each, ip)));

const isIp = (address: string): boolean => ipFamily(address) !== undefined;
