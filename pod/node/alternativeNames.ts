/** The names and addresses that a certificate is good for beside its subject. */

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

/** What a node is asked by: the addresses of its Node, in a stable order (`addressesToHostnamesAndIPs` of a kubelet). */
export function namesOf(addresses: readonly NodeAddress[]): AlternativeNames {
  const ofTypes = (types: readonly string[], isWanted: (address: string) => boolean) => {
    const found = addresses.filter(({ type, address }) => types.includes(type) && address !== '' && isWanted(address));
    return [...new Set(found.map(({ address }) => address))].sort();
  };
  return { dnsNames: ofTypes(DNS_TYPES, (address) => !isIp(address)), ips: ofTypes(IP_TYPES, isIp) };
}

/** Whether all these names are among those. */
export const covers = (names: AlternativeNames, wanted: AlternativeNames): boolean =>
  wanted.dnsNames.every((name) => names.dnsNames.includes(name)) && wanted.ips.every((ip) => names.ips.includes(ip));

const isIp = (address: string): boolean => address.includes(':') || /^\d+(\.\d+){3}$/.test(address);
