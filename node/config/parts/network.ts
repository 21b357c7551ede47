import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { sysctlPattern } from '../admissionFields.ts';
import { boolean, list, oneOf, text, whole } from '../fields.ts';

const address = z.custom<string>((value) => typeof value === 'string' && isIP(value) !== 0, {
  error: 'expected an IP address',
});

/** Names and addresses that pods see, and the host's packet rules. */
export const network = () => ({
  clusterDomain: z.optional(text),
  clusterDNS: z.optional(list(address)),
  resolvConf: z.optional(text),
  hairpinMode: z.optional(oneOf('', 'promiscuous-bridge', 'hairpin-veth', 'none')),
  podCIDR: z.optional(text),
  makeIPTablesUtilChains: z.optional(boolean),
  iptablesMasqueradeBit: z.optional(whole(0, 31)),
  iptablesDropBit: z.optional(whole(0, 31)),
  allowedUnsafeSysctls: z.optional(list(sysctlPattern)),
});
