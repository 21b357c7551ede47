import { dirname, join, resolve } from 'node:path';
import { ipFamily, isUnspecifiedIp } from '../../base/ipAddress.ts';
import { defaultVerification, type ImageVerification } from '../../kubernetes/images/imageVerification.ts';
import type { ProviderPaths } from '../credentials/credentialProviders.ts';
import { type ClusterConfig, clusterOf } from './cluster.ts';
import { type Gate, knownGates } from './featureGates.ts';
import type { Flags } from './flags.ts';
import { type HousekeepingConfig, housekeepingOf } from './housekeeping.ts';
import { type InspectConfig, inspectOf } from './inspectAddress.ts';
import { type ManifestUrlConfig, manifestUrlOf } from './manifestUrl.ts';
import { type NodeAdmission, nodeAdmission } from './nodeAdmission.ts';
import { byFamily } from './nodeIp.ts';
import { type NodeResources, nodeResources } from './nodeResources.ts';
import { DEFAULT_MAX_PODS } from './parts/resources.ts';
import type { ConfigFile } from './readFile.ts';
import { type ServedConfig, servedOf } from './serving.ts';

/** The compiled configuration of the node agent, with absolute paths and with durations in milliseconds. */
export interface NodeConfig extends HousekeepingConfig, ServedConfig {
  readonly nodeName: string;
  /** The node's addresses, at most one of each family, the primary address first. */
  readonly nodeIps: readonly string[];
  /** Whether the addresses are those of the host and change with them. */
  readonly followsHostAddresses: boolean;
  /** Whether the IPv6 address comes first. */
  readonly prefersIpv6: boolean;
  /** The pod CIDR of a node that gets none from a cluster. */
  readonly podCidr?: string;
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  /** The directory `containers` beside the pods' logs, with symlinks to the log files. */
  readonly containerLogsDirectory: string;
  /** The path of a manifest or of a directory of manifests. */
  readonly staticPodPath?: string;
  /** A directory of RuntimeClasses. */
  readonly runtimeClassPath?: string;
  /** A URL that lists pods. */
  readonly manifestUrl?: ManifestUrlConfig;
  /** Undefined if the node belongs to no cluster. */
  readonly cluster?: ClusterConfig;
  /** Whether manifests may refer to optional API objects, which the pod then runs without. */
  readonly lenientManifests: boolean;
  /** Whether to start the pods once and exit. */
  readonly runOnce: boolean;
  /** A URL such as `unix:///run/containerd/containerd.sock`. */
  readonly containerRuntimeEndpoint: string;
  readonly imageServiceEndpoint: string;
  readonly runtimeRequestTimeoutMs: number;
  /** Undefined for the root of the cgroup tree. */
  readonly cgroupRoot?: string;
  /** The cgroup driver if the runtime does not report one. */
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  readonly resources: NodeResources;
  readonly admission: NodeAdmission;
  readonly fileCheckFrequencyMs: number;
  /** Minimum interval between two measurements of a volume's usage. */
  readonly volumeStatsMs: number;
  readonly maxPods: number;
  /** Maximum number of pods per CPU. 0 for no limit. */
  readonly podsPerCore: number;
  /** Infinity for no limit. */
  readonly maxParallelImagePulls: number;
  /** The policy that decides for which present images a pod must prove that it may pull them. */
  readonly imageVerification: ImageVerification;
  /** Paths of the image credential provider plugins. */
  readonly credentialProviders?: ProviderPaths;
  /** Timeout of one pull. 0 for no timeout. */
  readonly imagePullTimeoutMs: number;
  /** Time after which a pull no longer blocks pulls from other registries. 0 for no limit. */
  readonly slowImagePullAfterMs: number;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The resolv.conf file for pods. Empty for none. */
  readonly resolvConf: string;
  readonly seccompDefault: boolean;
  /** Number of user IDs of a pod with its own user namespace. */
  readonly idsPerPod: number;
  readonly maxContainerRestartPeriodMs: number;
  /** Maximum size of the recording on disk. 0 if nothing is recorded. */
  readonly recordSizeBytes: number;
  /** Undefined if the page is not served. */
  readonly inspect?: InspectConfig;
  readonly failCgroupV1: boolean;
  readonly failSwapOn: boolean;
  readonly logging: { readonly format: 'text' | 'json'; readonly verbosity: number };
  /** The feature gates that the node acts on. */
  readonly gates: readonly Gate[];
  /** The source flags and file, which may contain secrets. */
  readonly given: { readonly flags: Flags; readonly file: Readonly<Record<string, unknown>> };
}

/** Defaults that depend on the host or the command. */
export interface ConfigDefaults {
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  readonly staticPodPath?: string;
  readonly containerRuntimeEndpoint?: string;
}

/** Default maximum size of the recording in bytes. */
const RECORD_SIZE = 64 * 2 ** 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function runtimeOf(flags: Flags, file: ConfigFile['config'] | undefined, defaults: ConfigDefaults) {
  const runtime =
    flags['--container-runtime-endpoint'] ||
    file?.containerRuntimeEndpoint ||
    defaults.containerRuntimeEndpoint ||
    'unix:///run/containerd/containerd.sock';
  return {
    containerRuntimeEndpoint: runtime,
    imageServiceEndpoint: flags['--image-service-endpoint'] || file?.imageServiceEndpoint || runtime,
    runtimeRequestTimeoutMs: file?.runtimeRequestTimeout || 120_000,
    ...(file?.cgroupRoot ? { cgroupRoot: file.cgroupRoot } : {}),
    cgroupDriver: file?.cgroupDriver || ('cgroupfs' as const),
    seccompDefault: file?.seccompDefault ?? false,
    idsPerPod: file?.userNamespaces?.idsPerPod ?? 65_536,
    maxContainerRestartPeriodMs: file?.crashLoopBackOff?.maxContainerRestartPeriod ?? 300_000,
    imagePullTimeoutMs: file?.imagePullTimeout ?? HOUR_MS,
    slowImagePullAfterMs: file?.slowImagePullAfter ?? 2 * MINUTE_MS,
    maxParallelImagePulls:
      file?.maxParallelImagePulls ?? (file?.serializeImagePulls === false ? Number.POSITIVE_INFINITY : 1),
    imageVerification: Object.freeze({
      policy: file?.imagePullCredentialsVerificationPolicy || defaultVerification.policy,
      allowlist: Object.freeze([...(file?.preloadedImagesVerificationAllowlist ?? [])]),
    }),
    ...credentialProvidersOf(flags),
  };
}

/** Returns both flags even if only one is set, which `readProviderConfig` then rejects. */
function credentialProvidersOf(flags: Flags): Pick<NodeConfig, 'credentialProviders'> {
  const config = flags['--image-credential-provider-config'] ?? '';
  const binDir = flags['--image-credential-provider-bin-dir'] ?? '';
  return config || binDir ? { credentialProviders: Object.freeze({ config, binDir }) } : {};
}

function pathsAndSources(flags: Flags, file: ConfigFile['config'] | undefined, defaults: ConfigDefaults) {
  const rootDirectory = resolve(flags['--root-dir'] || defaults.rootDirectory);
  const cluster = clusterOf(flags, file, rootDirectory);
  const podLogsDirectory = resolve(flags['--pod-log-dir'] || file?.podLogsDir || defaults.podLogsDirectory);
  const manifestUrl = manifestUrlOf(flags, file);
  const defaultPath = manifestUrl || cluster ? undefined : defaults.staticPodPath;
  const staticPodPath = flags['--pod-manifest-path'] || file?.staticPodPath || defaultPath;
  return {
    rootDirectory,
    podLogsDirectory,
    containerLogsDirectory: join(dirname(podLogsDirectory), 'containers'),
    ...(staticPodPath ? { staticPodPath: resolve(staticPodPath) } : {}),
    ...(flags['--runtime-class-path'] ? { runtimeClassPath: resolve(flags['--runtime-class-path']) } : {}),
    ...(manifestUrl ? { manifestUrl } : {}),
    ...(cluster ? { cluster } : {}),
  };
}

function nodeIpsOf({ '--node-ip': configured = [] }: Flags, { addresses }: ConfigDefaults) {
  const prefersIpv6 = configured.some((address) => isUnspecifiedIp(address) && ipFamily(address) === 6);
  const followsHostAddresses = configured.length === 0 || configured.some(isUnspecifiedIp);
  const nodeIps = Object.freeze([...(followsHostAddresses ? byFamily(addresses, prefersIpv6) : configured)]);
  return { followsHostAddresses, prefersIpv6, nodeIps };
}

/** Returns the pod CIDR. The flag takes precedence over the file even if it is empty. */
function podCidrOf(flags: Flags, file: ConfigFile['config'] | undefined): Pick<NodeConfig, 'podCidr'> {
  const podCidr = flags['--pod-cidr'] ?? file?.podCIDR;
  return podCidr ? { podCidr } : {};
}

/** Compiles flags, file and defaults into a frozen configuration. A flag takes precedence over the file. */
export function compileConfig(given: { flags: Flags; file?: ConfigFile; defaults: ConfigDefaults }): NodeConfig {
  const { flags, defaults } = given;
  const file = given.file?.config;
  const paths = pathsAndSources(flags, file, defaults);
  const { rootDirectory, cluster } = paths;
  return Object.freeze({
    nodeName: (flags['--hostname-override'] || defaults.hostname).trim().toLowerCase(),
    ...nodeIpsOf(flags, defaults),
    ...podCidrOf(flags, file),
    ...paths,
    ...servedOf({ flags, file, rootDirectory, hasCluster: cluster !== undefined }),
    ...runtimeOf(flags, file, defaults),
    resources: nodeResources(file, flags),
    fileCheckFrequencyMs: file?.fileCheckFrequency || 20_000,
    volumeStatsMs: file?.volumeStatsAggPeriod || MINUTE_MS,
    lenientManifests: flags['--lenient-manifests'] ?? false,
    runOnce: flags['--runonce'] ?? file?.runOnce ?? false,
    admission: nodeAdmission(flags, file),
    ...housekeepingOf(flags, file),
    podsPerCore: file?.podsPerCore ?? 0,
    maxPods: flags['--max-pods'] ?? (file?.maxPods || DEFAULT_MAX_PODS),
    clusterDns: Object.freeze([...(file?.clusterDNS ?? [])]),
    clusterDomain: file?.clusterDomain ?? '',
    resolvConf: file?.resolvConf ?? '/etc/resolv.conf',
    recordSizeBytes: flags['--record-size'] ?? RECORD_SIZE,
    ...inspectOf(flags, file),
    gates: Object.freeze(knownGates({ featureGates: file?.featureGates })),
    failCgroupV1: file?.failCgroupV1 ?? false,
    failSwapOn: file?.failSwapOn ?? false,
    given: Object.freeze({ flags, file: given.file?.written ?? {} }),
    logging: Object.freeze({
      format: (flags['--logging-format'] ?? file?.logging?.format) || ('text' as const),
      verbosity: flags['--v'] ?? file?.logging?.verbosity ?? 0,
    }),
  });
}
