/** The part of the configuration that says how a node belongs to a cluster. */

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
  /** By which a node that has no certificate yet asks for one; absent: it has credentials. */
  readonly bootstrapKubeconfig?: string;
  /** Those that it keeps itself, if any: its client's, and one to serve by. */
  readonly certificates: { readonly directory: string; readonly rotates: boolean; readonly serves: boolean };
  /** Whether the node makes its Node object; else somebody else does. */
  readonly registersNode: boolean;
  /** Whether the controller of the cluster attaches volumes to the node. */
  readonly attachesByController: boolean;
  /** As a cloud knows the node; empty for none. */
  readonly providerId: string;
  /** Absent: no cloud's controller tells its addresses. */
  readonly cloud?: CloudSettings;
  readonly leaseSeconds: number;
  /** How often it is looked whether the Node's status has changed, and how often it is written in any case. */
  readonly statusCheckMs: number;
  readonly statusReportMs: number;
  /** How many images its status lists; -1: all. */
  readonly statusImages: number;
  /** How the ConfigMaps and Secrets of pods are kept up to date. */
  readonly objects: Pick<ObjectSettings, 'strategy' | 'syncMs'>;
  /** Whether volumes can show the trust anchors of the cluster. */
  readonly hasTrustBundles: boolean;
  /** Of requests to the API server. */
  readonly rate: Rate;
  /** Of events to it. */
  readonly eventRate: Rate;
}

const LEASE_SECONDS = 40;
const CHECK_MS = 10_000;
const REPORT_MS = 300_000;
const IMAGES = 50;
const SYNC_MS = 60_000;
const RATE = { qps: 50, burst: 100 };
/** What client-go makes of a 0. */
const LEAST_RATE = { qps: 5, burst: 10 };

/** Compiles it; undefined where the node belongs to none. */
export function clusterOf(
  flags: Flags,
  file: KubeletConfiguration | undefined,
  rootDirectory: string,
): ClusterConfig | undefined {
  const kubeconfig = flags['--kubeconfig'];
  if (!kubeconfig && flags['--bootstrap-kubeconfig'])
    throw new ConfigError('--bootstrap-kubeconfig: needs --kubeconfig, where that of the node is written');
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
    // As in a kubelet: who sets the one means both.
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

/** The cloud's controller is shown the addresses of `--node-ip`, unless they stand for all addresses of the host. */
function cloudOf({ '--cloud-provider': provider, '--node-ip': told = [] }: Flags): Pick<ClusterConfig, 'cloud'> {
  if (!isExternal(provider)) return {};
  const providedIps = Object.freeze(told.filter((address) => !isUnspecifiedIp(address)));
  return { cloud: Object.freeze({ providedIps, saysAddress: told.length > 0 }) };
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
  Object.freeze({ qps: qps || LEAST_RATE.qps, burst: burst || LEAST_RATE.burst });
