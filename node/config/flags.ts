import * as z from 'zod/mini';
import { parsePageAddress } from '../../inspect/address.ts';
import { parseQuantity, wholeValue } from '../../kubernetes/api/quantity.ts';
import { labelsFlag, sysctlsFlag, taintsFlag } from './admissionFields.ts';
import { ConfigError, describeIssues } from './configError.ts';
import { boolean, directory, endpoint, listenAddress, oneOf, path, section, text, textLike, whole } from './fields.ts';
import { nodeIpsFlag } from './nodeIp.ts';
import { headersFlag, manifestUrl } from './urlFields.ts';

/** Whether a cloud controller sets the node's addresses. */
export const isExternal = (provider: string | undefined): boolean => provider === 'external';

const cloudProvider = textLike(
  '"external" or nothing, as the cloud providers inside of Kubernetes are gone',
  (text) => text === '' || isExternal(text),
);

const hostname = z.custom<string>(
  (value) =>
    typeof value === 'string' &&
    value.length <= 253 &&
    /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(value.trim().toLowerCase()),
  { error: 'expected a DNS name such as "node-1"' },
);

/** Parses a number. Anything else is returned unchanged, so that the error message can show it. */
function fromText(bounds: z.ZodMiniCustom<number, number>) {
  return z.pipe(
    z.transform((value: unknown) =>
      typeof value === 'string' && /^=?-?\d+$/.test(value) ? Number(value.replace('=', '')) : value,
    ),
    bounds,
  );
}

/** Minimum size of a recording in bytes. A smaller one could not hold a snapshot of a node with many pods. */
const LEAST_RECORD = 2 ** 20;

const recordSize = z.pipe(
  textLike('a quantity of bytes such as "64Mi", of at least 1Mi, or 0', (text) => {
    const isQuantity = parseQuantity(text) !== undefined;
    return isQuantity && (wholeValue(text) === 0 || wholeValue(text) >= LEAST_RECORD);
  }),
  z.transform((text: string) => wholeValue(text)),
);

const inspectAddress = textLike(
  'an IP address and a port such as "127.0.0.1:10270", with "?open" for a page without a token, or nothing',
  (text) => text === '' || parsePageAddress(text) !== undefined,
);

/** A limit, where a negative number means no limit. */
const wholeOrNone = whole(-(2 ** 31));

const port = fromText(whole(0, 65_535));

const takeOver = z.enum(['list', 'now'], { error: 'expected "list" or "now"' });

const flags = section({
  '--config': z.optional(path),
  '--pod-manifest-path': z.optional(path),
  '--manifest-url': z.optional(manifestUrl),
  '--manifest-url-header': z.optional(headersFlag),
  '--lenient-manifests': z.optional(boolean),
  '--runonce': z.optional(boolean),
  '--take-over': z.optional(takeOver),
  '--container-runtime-endpoint': z.optional(endpoint),
  '--image-service-endpoint': z.optional(endpoint),
  '--image-credential-provider-config': z.optional(path),
  '--image-credential-provider-bin-dir': z.optional(path),
  '--root-dir': z.optional(directory),
  '--state-dir': z.optional(directory),
  '--pod-log-dir': z.optional(directory),
  '--runtime-class-path': z.optional(path),
  '--hostname-override': z.optional(hostname),
  '--node-ip': z.optional(nodeIpsFlag),
  '--pod-cidr': z.optional(text),
  '--kubelet-cgroups': z.optional(text),
  '--max-pods': z.optional(fromText(whole())),
  '--kubeconfig': z.optional(path),
  '--bootstrap-kubeconfig': z.optional(path),
  '--cert-dir': z.optional(directory),
  '--rotate-certificates': z.optional(boolean),
  '--rotate-server-certificates': z.optional(boolean),
  '--enable-server': z.optional(boolean),
  '--address': z.optional(listenAddress),
  '--port': z.optional(port),
  '--read-only-port': z.optional(port),
  '--healthz-port': z.optional(port),
  '--healthz-bind-address': z.optional(listenAddress),
  '--tls-cert-file': z.optional(path),
  '--tls-private-key-file': z.optional(path),
  '--client-ca-file': z.optional(path),
  '--anonymous-auth': z.optional(boolean),
  '--authentication-token-webhook': z.optional(boolean),
  '--authorization-mode': z.optional(oneOf('', 'AlwaysAllow', 'Webhook')),
  '--register-node': z.optional(boolean),
  '--register-with-taints': z.optional(taintsFlag),
  '--provider-id': z.optional(text),
  '--cloud-provider': z.optional(cloudProvider),
  '--node-labels': z.optional(labelsFlag),
  '--allowed-unsafe-sysctls': z.optional(sysctlsFlag),
  '--maximum-dead-containers-per-container': z.optional(fromText(wholeOrNone)),
  '--maximum-dead-containers': z.optional(fromText(wholeOrNone)),
  '--record-size': z.optional(recordSize),
  '--inspect-address': z.optional(inspectAddress),
  '--logging-format': z.optional(oneOf('text', 'json')),
  '--v': z.optional(fromText(whole())),
});

/** The parsed flags of `run` and `up`, by their full names. */
export type Flags = z.output<typeof flags>;

/** Parses the flags of the command line. Throws a `ConfigError` that lists all mistakes. */
export function readFlags(given: Readonly<Record<string, string | boolean | undefined>>): Flags {
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const read = flags.safeParse(set);
  if (!read.success) throw new ConfigError(describeIssues(read.error.issues, set).join('\n'));
  return read.data;
}
