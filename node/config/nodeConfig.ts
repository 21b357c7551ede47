import { dirname, join, resolve } from 'node:path';
import { ipFamily, isUnspecifiedIp } from '../../base/ipAddress.ts';
import { defaultVerification, type ImageVerification } from '../../kubernetes/images/imageVerification.ts';
import type { ProviderPlaces } from '../credentials/credentialProviders.ts';
import { type ClusterConfig, clusterOf } from './cluster.ts';
import { type Gate, knownGates } from './featureGates.ts';
import type { Flags } from './flags.ts';
import { type HousekeepingConfig, housekeepingOf } from './housekeeping.ts';
import { type InspectConfig, inspectOf } from './inspectAddress.ts';
import { type ManifestUrlConfig, manifestUrlOf } from './manifestUrl.ts';
import { type NodeAdmission, nodeAdmission } from './nodeAdmission.ts';
import { byFamily } from './nodeIp.ts';
import { type NodeResources, nodeResources } from './nodeResources.ts';
import type { ConfigFile } from './readFile.ts';
import { type ServedConfig, servedOf } from './serving.ts';

/** Everything that the node agent is told, compiled once: every path absolute, every time in milliseconds. */
export interface NodeConfig extends HousekeepingConfig, ServedConfig {
  readonly nodeName: string;
  /** The node's addresses, the primary first, at most one of each family. */
  readonly nodeIps: readonly string[];
  /** Those are the host's own, and change with them. */
  readonly followsHostAddresses: boolean;
  /** Of those that of the IPv6 family comes first. */
  readonly prefersIpv6: boolean;
  /** The addresses of pods on a node to which no cluster assigns any; absent when there are none. */
  readonly podCidr?: string;
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  /** Where the symlinks to the log files are: `containers` beside the pods' logs. */
  readonly containerLogsDirectory: string;
  /** A directory of manifests, or one manifest; absent when there are no static pods. */
  readonly staticPodPath?: string;
  /** A directory of RuntimeClasses; absent when there are none. */
  readonly runtimeClassPath?: string;
  /** A URL that lists pods; absent when there is none. */
  readonly manifestUrl?: ManifestUrlConfig;
  /** The cluster that the node belongs to; absent when there is none. */
  readonly cluster?: ClusterConfig;
  /** References to objects of an API server are taken as far as a pod can do without them. */
  readonly lenientManifests: boolean;
  /** The pods are started once and not looked after. */
  readonly runOnce: boolean;
  /** `unix:///…`. */
  readonly containerRuntimeEndpoint: string;
  readonly imageServiceEndpoint: string;
  readonly runtimeRequestTimeoutMs: number;
  /** Absent means the root of the cgroup tree. */
  readonly cgroupRoot?: string;
  /** What to use when the runtime does not tell. */
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  /** How the node shares itself out among its pods. */
  readonly resources: NodeResources;
  /** Which pods it takes beside what it has room for. */
  readonly admission: NodeAdmission;
  readonly fileCheckFrequencyMs: number;
  /** How often it is counted at most what a volume takes, in milliseconds. */
  readonly volumeStatsMs: number;
  readonly maxPods: number;
  /** How many of them for each core; 0: that is no bound. */
  readonly podsPerCore: number;
  /** Infinity when pulls are not bounded. */
  readonly maxParallelImagePulls: number;
  /** Which images that are there a pod has to prove its right to. */
  readonly imageVerification: ImageVerification;
  /** The plugins that know credentials for registries; absent: there are none. */
  readonly credentialProviders?: ProviderPlaces;
  /** How long one pull may take, in milliseconds; 0 for as long as it takes. */
  readonly imagePullTimeoutMs: number;
  /** How long pulls may hold all slots before those from other registries go on, in milliseconds; 0 for as long as it takes. */
  readonly slowImagePullAfterMs: number;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The file whose name servers pods get; empty for none. */
  readonly resolvConf: string;
  readonly seccompDefault: boolean;
  /** How many users a pod has that has its own. */
  readonly idsPerPod: number;
  readonly maxContainerRestartPeriodMs: number;
  /** What the recording of the node may take on disk, in bytes; 0: nothing is recorded. */
  readonly recordSizeBytes: number;
  /** Where the page is served; absent: nowhere. */
  readonly inspect?: InspectConfig;
  readonly failCgroupV1: boolean;
  readonly failSwapOn: boolean;
  /** `auto`: JSON, or text where a terminal reads along. */
  readonly logging: { readonly format: 'text' | 'json'; readonly verbosity: number };
  /** The feature gates that the node acts on. */
  readonly gates: readonly Gate[];
  /** What it is compiled of, as it was written: there may be secrets in it. */
  readonly given: { readonly flags: Flags; readonly file: Readonly<Record<string, unknown>> };
}

/** What flags and file leave open: the host's own name and addresses, and where a command puts things. */
export interface ConfigDefaults {
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  readonly staticPodPath?: string;
  readonly containerRuntimeEndpoint?: string;
}

/** What the recording takes on disk unless a flag says otherwise. */
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

/** Either flag alone is a mistake, which whoever reads them tells. */
function credentialProvidersOf(flags: Flags): Pick<NodeConfig, 'credentialProviders'> {
  const config = flags['--image-credential-provider-config'] ?? '';
  const binDir = flags['--image-credential-provider-bin-dir'] ?? '';
  return config || binDir ? { credentialProviders: Object.freeze({ config, binDir }) } : {};
}

function placesOf(flags: Flags, file: ConfigFile['config'] | undefined, defaults: ConfigDefaults) {
  const rootDirectory = resolve(flags['--root-dir'] || defaults.rootDirectory);
  const cluster = clusterOf(flags, file, rootDirectory);
  const podLogsDirectory = resolve(flags['--pod-log-dir'] || file?.podLogsDir || defaults.podLogsDirectory);
  const manifestUrl = manifestUrlOf(flags, file);
  const otherwise = manifestUrl || cluster ? undefined : defaults.staticPodPath;
  const staticPodPath = flags['--pod-manifest-path'] || file?.staticPodPath || otherwise;
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

function nodeIpsOf({ '--node-ip': told = [] }: Flags, { addresses }: ConfigDefaults) {
  const prefersIpv6 = told.some((address) => isUnspecifiedIp(address) && ipFamily(address) === 6);
  const followsHostAddresses = told.length === 0 || told.some(isUnspecifiedIp);
  const nodeIps = Object.freeze([...(followsHostAddresses ? byFamily(addresses, prefersIpv6) : told)]);
  return { followsHostAddresses, prefersIpv6, nodeIps };
}

/** The flag wins even if it is empty. */
function addressesOfPods(flags: Flags, file: ConfigFile['config'] | undefined): Pick<NodeConfig, 'podCidr'> {
  const podCidr = flags['--pod-cidr'] ?? file?.podCIDR;
  return podCidr ? { podCidr } : {};
}

/** Makes one frozen configuration of flags, file and defaults; a flag wins over the file. */
export function compileConfig(given: { flags: Flags; file?: ConfigFile; defaults: ConfigDefaults }): NodeConfig {
  const { flags, defaults } = given;
  const file = given.file?.config;
  const places = placesOf(flags, file, defaults);
  const { rootDirectory, cluster } = places;
  return Object.freeze({
    nodeName: (flags['--hostname-override'] || defaults.hostname).trim().toLowerCase(),
    ...nodeIpsOf(flags, defaults),
    ...addressesOfPods(flags, file),
    ...places,
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
    maxPods: flags['--max-pods'] ?? (file?.maxPods || 110),
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
