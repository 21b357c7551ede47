/** The settings of the node's own API, with a kubelet's defaults (`SetDefaults_KubeletConfiguration`). */

import { join, resolve } from 'node:path';
import { isLoopbackIp } from '../../base/ipAddress.ts';
import type { AuthenticationOptions, AuthorizationOptions } from '../../kubelet-api/access/access.ts';
import type { EnabledFeatures } from '../../kubelet-api/listener/paths.ts';
import type { CertificatePair } from '../../kubelet-api/listener/servingCertificate.ts';
import { type TlsSettings, unknownCurves, unknownSuites } from '../../kubelet-api/listener/tlsNames.ts';
import { ConfigError } from './configError.ts';
import { splitsLogs, takesCheckpoints } from './featureGates.ts';
import type { Flags } from './flags.ts';
import type { KubeletConfiguration } from './kubeletConfiguration.ts';

export interface ServingConfig {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Port of the unauthenticated read-only API. Undefined if it is not served. */
  readonly readOnlyPort?: number;
  readonly tls: TlsSettings;
  /** The configured serving certificate. Undefined if it is issued by the cluster or self-signed. */
  readonly pair?: CertificatePair;
  /** Whether the cluster issues the serving certificate. */
  readonly isIssued: boolean;
  /** Directory of the node's own certificates. */
  readonly certificateDirectory: string;
  /** The CAs of client certificates. Undefined if clients cannot authenticate with certificates. */
  readonly clientCaFile?: string;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly switches: EnabledFeatures;
  /** Whether clients can query the logs of the host's services. */
  readonly hasLogQuery: boolean;
  /** Whether running containers can be checkpointed. */
  readonly takesCheckpoints: boolean;
  /** Whether clients can request a single stream of a container's log. */
  readonly splitsLogs: boolean;
}

export interface ServedConfig {
  /** Undefined if the API is not served. */
  readonly serving?: ServingConfig;
  /** Address of the health endpoint. Undefined if it is not served. */
  readonly healthz?: { readonly host: string; readonly port: number };
}

const PORT = 10_250;
const HEALTHZ_PORT = 10_248;
const REVIEW_MS = 120_000;
const ALLOWED_MS = 300_000;
const DENIED_MS = 30_000;
const LOOPBACK = '127.0.0.1';

interface Given {
  readonly flags: Flags;
  readonly file: KubeletConfiguration | undefined;
  readonly rootDirectory: string;
  /** Whether the node belongs to a cluster. */
  readonly hasCluster: boolean;
}

/** Compiles the settings. Throws a `ConfigError` if they contradict each other. */
export function servedOf(given: Given): ServedConfig {
  const { flags, file } = given;
  const port = flags['--healthz-port'] ?? file?.healthzPort ?? HEALTHZ_PORT;
  const host = flags['--healthz-bind-address'] || file?.healthzBindAddress || LOOPBACK;
  const isServed = flags['--enable-server'] ?? file?.enableServer ?? true;
  return {
    ...(isServed ? { serving: servingOf(given) } : {}),
    ...(port > 0 ? { healthz: Object.freeze({ host, port }) } : {}),
  };
}

function servingOf(given: Given): ServingConfig {
  const { flags, file, rootDirectory, hasCluster } = given;
  const clientCaFile = flags['--client-ca-file'] || file?.authentication?.x509?.clientCAFile;
  const readOnlyPort = flags['--read-only-port'] ?? file?.readOnlyPort ?? 0;
  const host = hostOf(given);
  const serving = {
    host,
    // As in a kubelet, 0 means any free port only in the flag. In the file it is the default port.
    port: flags['--port'] ?? (file?.port || PORT),
    ...(readOnlyPort > 0 ? { readOnlyPort } : {}),
    tls: tlsOf(file),
    ...pairOf(given),
    isIssued: hasCluster && (flags['--rotate-server-certificates'] ?? file?.serverTLSBootstrap ?? false),
    certificateDirectory: resolve(flags['--cert-dir'] || join(rootDirectory, 'pki')),
    ...(clientCaFile ? { clientCaFile: resolve(clientCaFile) } : {}),
    authentication: authenticationOf(given),
    authorization: authorizationOf(given),
    hasLogQuery: file?.enableSystemLogQuery ?? false,
    takesCheckpoints: takesCheckpoints({ featureGates: file?.featureGates }),
    splitsLogs: splitsLogs({ featureGates: file?.featureGates }),
    switches: Object.freeze({
      debugging: file?.enableDebuggingHandlers ?? true,
      systemLogs: file?.enableSystemLogHandler ?? true,
      profiling: file?.enableProfilingHandler ?? true,
      debugFlags: file?.enableDebugFlagsHandler ?? true,
    }),
  };
  return Object.freeze(serving);
}

/** A node without an API server cannot authenticate other hosts, so it serves on loopback only. */
function hostOf({ flags, file, hasCluster }: Given): string {
  const told = flags['--address'] || file?.address;
  if (hasCluster) return told || '0.0.0.0';
  if (told && !isLoopbackIp(told))
    throw new ConfigError(`address: a node without --kubeconfig serves on loopback only, got "${told}"`);
  return told || LOOPBACK;
}

function tlsOf(file: KubeletConfiguration | undefined): TlsSettings {
  const {
    tlsMinVersion: minVersion = '',
    tlsCipherSuites: cipherSuites = [],
    tlsCurvePreferences: curves = [],
  } = file ?? {};
  const suites = unknownSuites(cipherSuites);
  if (suites.length > 0)
    throw new ConfigError(`tlsCipherSuites: ${suites.join(', ')}: not in this OpenSSL, as not secure`);
  const numbers = unknownCurves(curves);
  if (numbers.length > 0) throw new ConfigError(`tlsCurvePreferences: ${numbers.join(', ')}: unknown curves`);
  return Object.freeze({ minVersion, cipherSuites, curves });
}

function pairOf({ flags, file }: Given): { readonly pair?: CertificatePair } {
  const certFile = flags['--tls-cert-file'] || file?.tlsCertFile;
  const keyFile = flags['--tls-private-key-file'] || file?.tlsPrivateKeyFile;
  if (!certFile && !keyFile) return {};
  if (!certFile || !keyFile) throw new ConfigError('tlsCertFile and tlsPrivateKeyFile: each needs the other');
  return { pair: Object.freeze({ certFile: resolve(certFile), keyFile: resolve(keyFile) }) };
}

function authenticationOf({ flags, file, hasCluster }: Given): AuthenticationOptions {
  const { anonymous, webhook } = file?.authentication ?? {};
  const asks = flags['--authentication-token-webhook'] ?? webhook?.enabled;
  if (asks && !hasCluster) throw new ConfigError('authentication.webhook: needs an API server: set --kubeconfig');
  return Object.freeze({
    isAnonymousAllowed: flags['--anonymous-auth'] ?? anonymous?.enabled ?? false,
    ...((asks ?? hasCluster) ? { webhook: { cacheMs: webhook?.cacheTTL || REVIEW_MS } } : {}),
  });
}

function authorizationOf({ flags, file, hasCluster }: Given): AuthorizationOptions {
  const { mode: told, webhook } = file?.authorization ?? {};
  const mode = flags['--authorization-mode'] || told;
  if (mode === 'AlwaysAllow') return { mode };
  if (!hasCluster) {
    if (mode === 'Webhook')
      throw new ConfigError('authorization.mode: "Webhook" needs an API server: set --kubeconfig');
    return { mode: 'Masters' };
  }
  const { cacheAuthorizedTTL, cacheUnauthorizedTTL } = webhook ?? {};
  return { mode: 'Webhook', allowedMs: cacheAuthorizedTTL || ALLOWED_MS, deniedMs: cacheUnauthorizedTTL || DENIED_MS };
}
