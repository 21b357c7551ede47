/** Compiles the settings of the node's own API. */

import { join, resolve } from 'node:path';
import { isLoopbackIp } from '../../../base/ipAddress.ts';
import type { AuthenticationOptions, AuthorizationOptions } from '../../../kubelet-api/access/access.ts';
import type { EnabledFeatures } from '../../../kubelet-api/listener/paths.ts';
import type { CertificatePair } from '../../../kubelet-api/listener/servingCertificate.ts';
import { type TlsSettings, unknownCurves, unknownSuites } from '../../../kubelet-api/listener/tlsNames.ts';
import { ConfigError } from '../configError.ts';
import { splitsLogs, supportsCheckpoints } from '../featureGates.ts';
import type { SettingValues } from '../settings/settingValues.ts';

export interface ServingConfig {
  readonly host: string;
  /** Port of the API. 0 means any free port. */
  readonly port: number;
  /** Port of the unauthenticated read-only API. Undefined if it is not served. */
  readonly readOnlyPort?: number;
  readonly tls: TlsSettings;
  /** The configured serving certificate. Undefined if it is issued by the cluster or self-signed. */
  readonly certificatePair?: CertificatePair;
  /** Whether the cluster issues the serving certificate. */
  readonly isIssuedByCluster: boolean;
  /** Directory of the node's own certificates. */
  readonly certificateDirectory: string;
  /**
   * Path of the CA file for verifying client certificates. Undefined if clients cannot authenticate with certificates.
   */
  readonly clientCaFile?: string;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly enabledFeatures: EnabledFeatures;
  /** Whether clients can query the logs of the host's services. */
  readonly hasLogQuery: boolean;
  /** Whether running containers can be checkpointed. */
  readonly supportsCheckpoints: boolean;
  /** Whether clients can request only the stdout or only the stderr of a container's log. */
  readonly splitsLogs: boolean;
}

export interface ServedEndpoints {
  /** Settings of the API. Undefined if the API is not served. */
  readonly serving?: ServingConfig;
  /** Address of the health endpoint. Undefined if it is not served. */
  readonly healthz?: { readonly host: string; readonly port: number };
}

/**
 * Compiles the settings of the API and of the health endpoint. Throws a `ConfigError` if they contradict each other.
 */
export function compileServedEndpoints(values: SettingValues, rootDirectory: string): ServedEndpoints {
  const { healthzPort: port, healthzBindAddress: host } = values;
  return {
    ...(values.enableServer ? { serving: compileServing(values, rootDirectory) } : {}),
    ...(port > 0 ? { healthz: Object.freeze({ host, port }) } : {}),
  };
}

const isClusterNode = (values: SettingValues): boolean => values['--kubeconfig'] !== undefined;

function compileServing(values: SettingValues, rootDirectory: string): ServingConfig {
  const { port, readOnlyPort } = values;
  const { clientCAFile } = values.authentication.x509;
  const servingConfig = {
    host: listenHost(values),
    port,
    ...(readOnlyPort > 0 ? { readOnlyPort } : {}),
    tls: compileTls(values),
    ...compileCertificatePair(values),
    isIssuedByCluster: isClusterNode(values) && values.serverTLSBootstrap,
    certificateDirectory: resolve(values['--cert-dir'] || join(rootDirectory, 'pki')),
    ...(clientCAFile ? { clientCaFile: resolve(clientCAFile) } : {}),
    authentication: compileAuthentication(values),
    authorization: compileAuthorization(values),
    hasLogQuery: values.enableSystemLogQuery,
    supportsCheckpoints: supportsCheckpoints(values),
    splitsLogs: splitsLogs(values),
    enabledFeatures: Object.freeze({
      debugging: values.enableDebuggingHandlers,
      systemLogs: values.enableSystemLogHandler,
      profiling: values.enableProfilingHandler,
      debugFlags: values.enableDebugFlagsHandler,
    }),
  };
  return Object.freeze(servingConfig);
}

/**
 * Returns the host to listen on. A node without an API server cannot authenticate other hosts, so it serves on loopback
 * only.
 */
function listenHost(values: SettingValues): string {
  const { address } = values;
  if (!isClusterNode(values) && !isLoopbackIp(address))
    throw new ConfigError(`address: a node without --kubeconfig serves on loopback only, got "${address}"`);
  return address;
}

function compileTls(values: SettingValues): TlsSettings {
  const { tlsMinVersion: minVersion = '', tlsCipherSuites: cipherSuites, tlsCurvePreferences: curves } = values;
  const unknownCipherSuites = unknownSuites(cipherSuites);
  if (unknownCipherSuites.length > 0)
    throw new ConfigError(`tlsCipherSuites: ${unknownCipherSuites.join(', ')}: not in this OpenSSL, as not secure`);
  const unknownCurveNumbers = unknownCurves(curves);
  if (unknownCurveNumbers.length > 0)
    throw new ConfigError(`tlsCurvePreferences: ${unknownCurveNumbers.join(', ')}: unknown curves`);
  return Object.freeze({ minVersion, cipherSuites, curves });
}

function compileCertificatePair(values: SettingValues): { readonly certificatePair?: CertificatePair } {
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = values;
  if (!certFile && !keyFile) return {};
  if (!certFile || !keyFile) throw new ConfigError('tlsCertFile and tlsPrivateKeyFile: each needs the other');
  return { certificatePair: Object.freeze({ certFile: resolve(certFile), keyFile: resolve(keyFile) }) };
}

function compileAuthentication(values: SettingValues): AuthenticationOptions {
  const { anonymous, webhook } = values.authentication;
  if (webhook.enabled && !isClusterNode(values))
    throw new ConfigError('authentication.webhook: needs an API server: set --kubeconfig');
  return Object.freeze({
    isAnonymousAllowed: anonymous.enabled,
    ...(webhook.enabled ? { webhook: { cacheMs: webhook.cacheTTL } } : {}),
  });
}

function compileAuthorization(values: SettingValues): AuthorizationOptions {
  const { mode, webhook } = values.authorization;
  if (mode === 'AlwaysAllow') return { mode };
  if (!isClusterNode(values)) {
    if (mode === 'Webhook')
      throw new ConfigError('authorization.mode: "Webhook" needs an API server: set --kubeconfig');
    return { mode: 'Masters' };
  }
  return { mode: 'Webhook', allowedMs: webhook.cacheAuthorizedTTL, deniedMs: webhook.cacheUnauthorizedTTL };
}
