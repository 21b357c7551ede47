import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { booleanSchema, enumSchema, integerSchema, listSchema, stringSchema } from '../fields/fields.ts';
import { nodeIpsFlagSchema } from '../fields/nodeIp.ts';
import { declareSettings } from './setting.ts';

const hostnameSchema = z.custom<string>(
  (value) =>
    typeof value === 'string' &&
    value.length <= 253 &&
    /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(value.trim().toLowerCase()),
  { error: 'expected a DNS name such as "node-1"' },
);

const addressSchema = z.custom<string>((value) => typeof value === 'string' && isIP(value) !== 0, {
  error: 'expected an IP address',
});

/** Settings for the names and addresses of the node and its pods, and for the host's iptables rules. */
export const networkSettings = () =>
  declareSettings({
    '--hostname-override': {
      type: hostnameSchema,
      flag: { argument: '<name>', help: 'name of the node (default: the host name)' },
    },
    '--node-ip': {
      type: nodeIpsFlagSchema,
      default: '',
      flag: {
        argument: '<address>',
        help: 'IP address of the node, or an IPv4 and an IPv6 address separated by a comma; 0.0.0.0 or :: use the addresses of the host and prefer that family',
      },
    },
    podCIDR: {
      type: stringSchema,
      effect: 'the CIDR of pod IP addresses that the runtime receives until the Node has one',
      flag: {
        name: '--pod-cidr',
        argument: '<cidr>',
        help: 'CIDR of pod IP addresses that the runtime receives until the Node has one (default: {default})',
      },
    },
    clusterDNS: {
      type: listSchema(addressSchema),
      default: [],
      effect: 'the DNS servers of pods with the policy ClusterFirst',
      unsupportedFlag: '--cluster-dns',
    },
    clusterDomain: {
      type: stringSchema,
      default: '',
      effect: 'the cluster domain, which is added to the search domains of these pods',
      unsupportedFlag: '--cluster-domain',
    },
    resolvConf: {
      type: stringSchema,
      isPath: true,
      default: '/etc/resolv.conf',
      allowsZeroValue: true,
      effect: 'the resolver configuration on which that of pods is based ({default})',
      unsupportedFlag: '--resolv-conf',
    },
    hairpinMode: {
      type: enumSchema('', 'promiscuous-bridge', 'hairpin-veth', 'none'),
      default: 'promiscuous-bridge',
      ignoredReason: 'it has no effect in a kubelet either',
      unsupportedFlag: '--hairpin-mode',
    },
    makeIPTablesUtilChains: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect:
        'whether `run` creates the iptables chains of a kubelet ({default}); `up` does so only if the file sets this field',
      unsupportedFlag: '--make-iptables-util-chains',
    },
    iptablesMasqueradeBit: {
      type: integerSchema(0, 31),
      default: 14,
      allowsZeroValue: true,
      ignoredReason: 'it has no effect in a kubelet either',
      unsupportedFlag: '--iptables-masquerade-bit',
    },
    iptablesDropBit: {
      type: integerSchema(0, 31),
      default: 15,
      allowsZeroValue: true,
      ignoredReason: 'it has no effect in a kubelet either',
      unsupportedFlag: '--iptables-drop-bit',
    },
  });
