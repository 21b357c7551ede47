import { join, resolve } from 'node:path';
import type { ObjectSettings } from '../../../actors/objects/clusterObjects.ts';
import { isUnspecifiedIp } from '../../../base/ipAddress.ts';
import type { RateLimitOptions } from '../../../kubeclient/rateLimit.ts';
import type { CloudSettings } from '../../../kubernetes/node/cloud.ts';
import { ConfigError } from '../configError.ts';
import { hasTrustBundles } from '../featureGates.ts';
import { isExternalProvider } from '../settings/clusterSettings.ts';
import type { SettingValues } from '../settings/settingValues.ts';

export interface ClusterConfig {
  readonly kubeconfig: string;
  /** Path of the kubeconfig for TLS bootstrapping. Undefined if `--bootstrap-kubeconfig` is not set. */
  readonly bootstrapKubeconfig?: string;
  /**
   * Directory of the node's certificates, whether the node rotates its client certificate, and whether it requests a
   * serving certificate.
   */
  readonly certificates: {
    readonly directory: string;
    readonly rotatesClientCertificate: boolean;
    readonly requestsServingCertificate: boolean;
  };
  /** Whether the node creates its Node object. */
  readonly registersNode: boolean;
  /** Whether the attach/detach controller attaches volumes to the node. */
  readonly attachesByController: boolean;
  /** The node's ID at the cloud provider. Empty if it has none. */
  readonly providerId: string;
  /** Settings for an external cloud controller. Undefined if no cloud controller sets the node's addresses. */
  readonly cloud?: CloudSettings;
  readonly leaseSeconds: number;
  /** Interval in milliseconds between two checks for changes to the Node's status. */
  readonly statusCheckMs: number;
  /** Maximum interval in milliseconds between two updates to the Node's status. */
  readonly statusReportMs: number;
  /** Maximum number of images in the Node's status. -1 for no limit. */
  readonly statusImages: number;
  /** Settings for detecting changes to the ConfigMaps and Secrets of pods. */
  readonly objects: Pick<ObjectSettings, 'strategy' | 'syncMs'>;
  /** Whether volumes can project ClusterTrustBundles. */
  readonly hasTrustBundles: boolean;
  /** Rate limit for requests to the API server. */
  readonly rateLimit: RateLimitOptions;
  /** Rate limit for events sent to the API server. */
  readonly eventRate: RateLimitOptions;
}

/** Request rate per second that client-go uses if the configured rate is 0. */
const CLIENT_GO_QPS = 5;

/** Compiles the cluster settings. Returns undefined if the node does not belong to a cluster. */
export function compileCluster(values: SettingValues, rootDirectory: string): ClusterConfig | undefined {
  const kubeconfig = values['--kubeconfig'];
  if (!kubeconfig && values['--bootstrap-kubeconfig'])
    throw new ConfigError(
      '--bootstrap-kubeconfig: requires --kubeconfig, the path that the kubeconfig of the node is written to',
    );
  if (!kubeconfig) return undefined;
  return Object.freeze({
    kubeconfig,
    ...compileCertificates(values, rootDirectory),
    registersNode: values.registerNode,
    attachesByController: values.enableControllerAttachDetach,
    providerId: values.providerID,
    ...compileCloud(values),
    leaseSeconds: values.nodeLeaseDurationSeconds,
    statusCheckMs: values.nodeStatusUpdateFrequency,
    statusReportMs: values.nodeStatusReportFrequency,
    statusImages: values.nodeStatusMaxImages,
    objects: { strategy: values.configMapAndSecretChangeDetectionStrategy, syncMs: values.syncFrequency },
    hasTrustBundles: hasTrustBundles(values),
    rateLimit: createRate(values.kubeAPIQPS, values.kubeAPIBurst),
    eventRate: createRate(values.eventRecordQPS, values.eventBurst),
  });
}

/**
 * Compiles the settings for an external cloud controller. It receives the addresses in `--node-ip`, except `0.0.0.0`
 * and `::`.
 */
function compileCloud(values: SettingValues): Pick<ClusterConfig, 'cloud'> {
  const { '--cloud-provider': provider, '--node-ip': addresses } = values;
  if (!isExternalProvider(provider)) return {};
  const providedIps = Object.freeze(addresses.filter((address) => !isUnspecifiedIp(address)));
  return { cloud: Object.freeze({ providedIps, reportsAddress: addresses.length > 0 }) };
}

function compileCertificates(values: SettingValues, rootDirectory: string) {
  const bootstrapKubeconfig = values['--bootstrap-kubeconfig'];
  return {
    ...(bootstrapKubeconfig ? { bootstrapKubeconfig: resolve(bootstrapKubeconfig) } : {}),
    certificates: Object.freeze({
      directory: resolve(values['--cert-dir'] || join(rootDirectory, 'pki')),
      rotatesClientCertificate: values.rotateCertificates,
      requestsServingCertificate: values.serverTLSBootstrap,
    }),
  };
}

const createRate = (qps: number, burst: number): RateLimitOptions =>
  Object.freeze({ qps: qps || CLIENT_GO_QPS, burst });
