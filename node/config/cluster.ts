/** The settings of a node that belongs to a cluster. */

import { join, resolve } from 'node:path';
import type { ObjectSettings } from '../../actors/objects/clusterObjects.ts';
import { isUnspecifiedIp } from '../../base/ipAddress.ts';
import type { Rate } from '../../kubeclient/rateLimit.ts';
import type { CloudSettings } from '../../kubernetes/node/cloud.ts';
import { ConfigError } from './configError.ts';
import { hasTrustBundles } from './featureGates.ts';
import { type Flags, isExternal } from './flags.ts';
import type { KubeletConfiguration } from './kubeletConfiguration.ts';

export interface ClusterConfig {
  readonly kubeconfig: string;
  /** Kubeconfig for the first certificate signing request. Undefined if the node already has credentials. */
  readonly bootstrapKubeconfig?: string;
  /** Whether the node rotates its client certificate, and whether it requests a serving certificate. */
  readonly certificates: { readonly directory: string; readonly rotates: boolean; readonly serves: boolean };
  /** Whether the node creates its Node object. */
  readonly registersNode: boolean;
  /** Whether the attach/detach controller attaches volumes to the node. */
  readonly attachesByController: boolean;
  /** The node's ID at the cloud provider. Empty if there is none. */
  readonly providerId: string;
  /** Undefined if no cloud controller sets the node's addresses. */
  readonly cloud?: CloudSettings;
  readonly leaseSeconds: number;
  /** Interval of the checks for changes of the Node's status. `statusReportMs` is the maximum interval between two updates. */
  readonly statusCheckMs: number;
  readonly statusReportMs: number;
  /** Maximum number of images in the Node's status. -1 for no limit. */
  readonly statusImages: number;
  /** Change detection for the ConfigMaps and Secrets of pods. */
  readonly objects: Pick<ObjectSettings, 'strategy' | 'syncMs'>;
  /** Whether volumes can project ClusterTrustBundles. */
  readonly hasTrustBundles: boolean;
  /** Rate limit of requests to the API server. */
  readonly rate: Rate;
  /** Rate limit of events sent to the API server. */
  readonly eventRate: Rate;
}

const LEASE_SECONDS = 40;
const CHECK_MS = 10_000;
const REPORT_MS = 300_000;
const IMAGES = 50;
const SYNC_MS = 60_000;
const RATE = { qps: 50, burst: 100 };
/** The defaults of client-go, which it uses for 0. */
const CLIENT_GO_RATE = { qps: 5, burst: 10 };

/** Compiles the settings. Undefined if the node belongs to no cluster. */
export function clusterOf(
  flags: Flags,
  file: KubeletConfiguration | undefined,
  rootDirectory: string,
): ClusterConfig | undefined {
  const kubeconfig = flags['--kubeconfig'];
  if (!kubeconfig && flags['--bootstrap-kubeconfig'])
    throw new ConfigError(
      '--bootstrap-kubeconfig: requires --kubeconfig, the path that the kubeconfig of the node is written to',
    );
  if (!kubeconfig) return undefined;
  const statusCheckMs = file?.nodeStatusUpdateFrequency || CHECK_MS;
  return Object.freeze({
    kubeconfig,
    ...certificatesOf(flags, file, rootDirectory),
    registersNode: flags['--register-node'] ?? file?.registerNode ?? true,
    attachesByController: file?.enableControllerAttachDetach ?? true,
    providerId: flags['--provider-id'] ?? file?.providerID ?? '',
    ...cloudOf(flags),
    leaseSeconds: file?.nodeLeaseDurationSeconds || LEASE_SECONDS,
    statusCheckMs,
    // As in a kubelet, the update frequency is also the default of the report frequency.
    statusReportMs: file?.nodeStatusReportFrequency || file?.nodeStatusUpdateFrequency || REPORT_MS,
    statusImages: file?.nodeStatusMaxImages ?? IMAGES,
    objects: {
      strategy: file?.configMapAndSecretChangeDetectionStrategy || 'Watch',
      syncMs: file?.syncFrequency || SYNC_MS,
    },
    hasTrustBundles: hasTrustBundles({ featureGates: file?.featureGates }),
    rate: rateOf(file?.kubeAPIQPS, file?.kubeAPIBurst),
    eventRate: rateOf(file?.eventRecordQPS, file?.eventBurst),
  });
}

/** Returns the addresses of `--node-ip` for the cloud controller, without unspecified addresses. */
function cloudOf({ '--cloud-provider': provider, '--node-ip': addresses = [] }: Flags): Pick<ClusterConfig, 'cloud'> {
  if (!isExternal(provider)) return {};
  const providedIps = Object.freeze(addresses.filter((address) => !isUnspecifiedIp(address)));
  return { cloud: Object.freeze({ providedIps, saysAddress: addresses.length > 0 }) };
}

function certificatesOf(flags: Flags, file: KubeletConfiguration | undefined, rootDirectory: string) {
  const bootstrapKubeconfig = flags['--bootstrap-kubeconfig'];
  return {
    ...(bootstrapKubeconfig ? { bootstrapKubeconfig: resolve(bootstrapKubeconfig) } : {}),
    certificates: Object.freeze({
      directory: resolve(flags['--cert-dir'] || join(rootDirectory, 'pki')),
      rotates: flags['--rotate-certificates'] ?? file?.rotateCertificates ?? false,
      serves: flags['--rotate-server-certificates'] ?? file?.serverTLSBootstrap ?? false,
    }),
  };
}

const rateOf = (qps = RATE.qps, burst = RATE.burst): Rate =>
  Object.freeze({ qps: qps || CLIENT_GO_RATE.qps, burst: burst || CLIENT_GO_RATE.burst });
