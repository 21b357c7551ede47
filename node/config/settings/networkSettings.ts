import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { boolean, list, oneOf, text, whole } from '../fields.ts';
import { nodeIpsFlag } from '../nodeIp.ts';
import { declareSettings } from './setting.ts';

const hostname = z.custom<string>(
  (value) =>
    typeof value === 'string' &&
    value.length <= 253 &&
    /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(value.trim().toLowerCase()),
  { error: 'expected a DNS name such as "node-1"' },
);

const address = z.custom<string>((value) => typeof value === 'string' && isIP(value) !== 0, {
  error: 'expected an IP address',
});

/** Settings of the names and addresses of the node and its pods, and of the host's packet rules. */
export const networkSettings = () =>
  declareSettings({
    '--hostname-override': {
      type: hostname,
      flag: { argument: '<name>', help: "the node's name (default: the host's)" },
    },
    '--node-ip': {
      type: nodeIpsFlag,
      default: '',
      flag: {
        argument: '<address>',
        help: "the node's IP address, or a comma-separated IPv4 and IPv6 address; 0.0.0.0, ::: the host's, IPv4 or IPv6 first",
      },
    },
    podCIDR: {
      type: text,
      effect: 'the addresses of pods that the runtime is given, until the Node has some',
      flag: {
        name: '--pod-cidr',
        argument: '<cidr>',
        help: 'addresses of pods that the runtime is given, until the Node has some (default: {default})',
      },
    },
    clusterDNS: {
      type: list(address),
      default: [],
      effect: 'the DNS servers of pods with the policy ClusterFirst',
      missingFlag: '--cluster-dns',
    },
    clusterDomain: { type: text, default: '', effect: 'their search domain', missingFlag: '--cluster-domain' },
    resolvConf: {
      type: text,
      isPath: true,
      default: '/etc/resolv.conf',
      keepsZero: true,
      effect: "the host's resolv.conf, read for each pod ({default})",
      missingFlag: '--resolv-conf',
    },
    hairpinMode: {
      type: oneOf('', 'promiscuous-bridge', 'hairpin-veth', 'none'),
      default: 'promiscuous-bridge',
      ignored: 'it has no effect in a kubelet either',
      missingFlag: '--hairpin-mode',
    },
    makeIPTablesUtilChains: {
      type: boolean,
      default: true,
      keepsZero: true,
      ignored: 'no chains of iptables are created',
      missingFlag: '--make-iptables-util-chains',
    },
    iptablesMasqueradeBit: {
      type: whole(0, 31),
      default: 14,
      keepsZero: true,
      ignored: 'it has no effect in a kubelet either',
      missingFlag: '--iptables-masquerade-bit',
    },
    iptablesDropBit: {
      type: whole(0, 31),
      default: 15,
      keepsZero: true,
      ignored: 'it has no effect in a kubelet either',
      missingFlag: '--iptables-drop-bit',
    },
  });
