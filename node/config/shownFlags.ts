/** The command line and the flags for clients of the node's API, without the values that may be secret. */
import { join } from 'node:path';
import type { Taint } from '../../kubernetes/admission/node.ts';
import type { Flags } from './flags.ts';
import type { NodeConfig } from './nodeConfig.ts';

/** Flags whose values may contain a password or a token. */
const SECRET: readonly string[] = ['--manifest-url', '--manifest-url-header'];
const MASKED = '<masked>';

/** Masks the secrets among the words of a command line. */
export function ownCommand(words: readonly string[]): string[] {
  return words.map((word, at) => {
    const [name = '', value] = word.split('=', 2);
    if (SECRET.includes(words[at - 1] ?? '')) return MASKED;
    return value !== undefined && SECRET.includes(name) ? `${name}=${MASKED}` : word;
  });
}

type ShownConfig = Pick<
  NodeConfig,
  'given' | 'cluster' | 'rootDirectory' | 'podLogsDirectory' | 'containerRuntimeEndpoint'
>;

/**
 * Every flag by its name without dashes, with the given value or the default. As on a kubelet, the configuration file
 * does not show here (`GetFlagz` in `pkg/server/flagz/flagreader.go` of apiserver). Lists and maps are printed as Go's
 * flag package prints them.
 */
export function shownFlags(config: ShownConfig): ReadonlyMap<string, string> {
  const given = new Map<string, unknown>(Object.entries(config.given.flags));
  return new Map(
    Object.entries(flagDefaults(config)).map(([flag, byDefault]) => {
      const value = given.get(flag);
      const shown = SECRET.includes(flag) && value !== undefined ? MASKED : textOf(flag, value ?? byDefault);
      return [flag.slice(2), shown];
    }),
  );
}

/** The default of each flag. The type demands an entry for every flag that exists. */
function flagDefaults(config: ShownConfig): Readonly<Record<keyof Flags, unknown>> {
  const hasCluster = config.cluster !== undefined;
  return {
    '--config': '',
    '--pod-manifest-path': '',
    '--manifest-url': '',
    '--manifest-url-header': '',
    '--lenient-manifests': false,
    '--runonce': false,
    '--take-over': '',
    '--container-runtime-endpoint': config.containerRuntimeEndpoint,
    '--image-service-endpoint': '',
    '--image-credential-provider-config': '',
    '--image-credential-provider-bin-dir': '',
    '--root-dir': config.rootDirectory,
    '--state-dir': '',
    '--pod-log-dir': config.podLogsDirectory,
    '--runtime-class-path': '',
    '--hostname-override': '',
    '--node-ip': [],
    '--pod-cidr': '',
    '--kubelet-cgroups': '',
    '--max-pods': 110,
    '--kubeconfig': '',
    '--bootstrap-kubeconfig': '',
    '--cert-dir': join(config.rootDirectory, 'pki'),
    '--rotate-certificates': false,
    '--rotate-server-certificates': false,
    '--enable-server': true,
    '--address': hasCluster ? '0.0.0.0' : '127.0.0.1',
    '--port': 10_250,
    '--read-only-port': 0,
    '--healthz-port': 10_248,
    '--healthz-bind-address': '127.0.0.1',
    '--tls-cert-file': '',
    '--tls-private-key-file': '',
    '--client-ca-file': '',
    '--anonymous-auth': false,
    '--authentication-token-webhook': hasCluster,
    '--authorization-mode': hasCluster ? 'Webhook' : '',
    '--register-node': true,
    '--register-with-taints': [],
    '--provider-id': '',
    '--cloud-provider': '',
    '--node-labels': {},
    '--allowed-unsafe-sysctls': [],
    '--maximum-dead-containers-per-container': 1,
    '--maximum-dead-containers': -1,
    '--record-size': 64 * 2 ** 20,
    '--inspect-address': '127.0.0.1:10270',
    '--logging-format': 'text',
    '--v': 0,
  };
}

function textOf(flag: string, value: unknown): string {
  if (Array.isArray(value)) {
    const text = value.map((item) => (typeof item === 'string' ? item : taintText(item))).join(',');
    return flag === '--allowed-unsafe-sysctls' ? `[${text}]` : text;
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([key, each]) => `${key}=${each}`)
      .toSorted()
      .join(',');
  return String(value);
}

const taintText = ({ key, value = '', effect }: Taint): string => `${key}=${value}:${effect}`;
