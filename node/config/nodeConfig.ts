import { dirname, join, resolve } from 'node:path';
import { ipFamily, isUnspecifiedIp } from '../../base/ipAddress.ts';
import type { ImageVerification } from '../../kubernetes/images/imageVerification.ts';
import type { ShutdownPeriod } from '../../kubernetes/shutdown/periods.ts';
import type { ProviderPaths } from '../credentials/credentialProviders.ts';
import { type ClusterConfig, compileCluster } from './compile/cluster.ts';
import { compileHousekeeping, type HousekeepingConfig } from './compile/housekeeping.ts';
import { compileInspect, type InspectConfig } from './compile/inspectAddress.ts';
import { compileManifestUrl, type ManifestUrlConfig } from './compile/manifestUrl.ts';
import { type NodeAdmission, nodeAdmission } from './compile/nodeAdmission.ts';
import { type NodeResources, nodeResources } from './compile/nodeResources.ts';
import { compileResourceManagers, type ResourceManagerSettings } from './compile/resourceManagers.ts';
import { compileServedEndpoints, type ServedEndpoints } from './compile/serving.ts';
import { shutdownPeriods } from './compile/shutdown.ts';
import {
  type FeatureGate,
  listKnownGates,
  listsOnlyActivePods,
  reportsDeviceHealth,
  reportsHealthMessages,
} from './featureGates.ts';
import { sortByFamily } from './fields/nodeIp.ts';
import type { ConfigFile } from './files/readFile.ts';
import type { Flags } from './settings/allSettings.ts';
import { type SettingValues, settingValues } from './settings/settingValues.ts';

/** The compiled configuration of the node agent, with absolute paths and with durations in milliseconds. */
export interface NodeConfig extends HousekeepingConfig, ServedEndpoints {
  readonly nodeName: string;
  /** The node's addresses, at most one of each family, starting with the primary address. */
  readonly nodeIps: readonly string[];
  /** Whether the node uses the host's addresses and updates them when they change. */
  readonly followsHostAddresses: boolean;
  /** Whether the IPv6 address comes first. */
  readonly prefersIpv6: boolean;
  /** The pod CIDR of a node that does not get one from a cluster. */
  readonly podCidr?: string;
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  /** Directory in which device plugins register. */
  readonly devicePluginDirectory: string;
  /** The directory `containers` next to the directory of the pods' logs. It contains symlinks to the log files. */
  readonly containerLogsDirectory: string;
  /** The path of a manifest or of a directory of manifests. */
  readonly staticPodPath?: string;
  /** Directory of manifests of RuntimeClasses. */
  readonly runtimeClassPath?: string;
  /** A URL that lists pods. Undefined if none is configured. */
  readonly manifestUrl?: ManifestUrlConfig;
  /** Settings of the node's cluster. Undefined if the node does not belong to a cluster. */
  readonly cluster?: ClusterConfig;
  /** Whether manifests may contain optional references to API objects. The pods then run without those objects. */
  readonly lenientManifests: boolean;
  /** Whether to start the pods once and then exit. */
  readonly runOnce: boolean;
  /** A URL such as `unix:///run/containerd/containerd.sock`. */
  readonly containerRuntimeEndpoint: string;
  readonly imageServiceEndpoint: string;
  readonly runtimeRequestTimeoutMs: number;
  /** The cgroup below which the pods' cgroups are created. Undefined for the root of the cgroup tree. */
  readonly cgroupRoot?: string;
  /** The cgroup driver that is used if the runtime does not report one. */
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  readonly resources: NodeResources;
  readonly admission: NodeAdmission;
  readonly resourceManagers: ResourceManagerSettings;
  /** Shutdown grace periods by pod priority. Empty if the node does not delay the shutdown. */
  readonly shutdownPeriods: readonly ShutdownPeriod[];
  readonly fileCheckFrequencyMs: number;
  /** Interval in milliseconds of the kubelet's sync loop, from which the health check derives its time limit. */
  readonly syncFrequencyMs: number;
  /** Minimum interval in milliseconds between two measurements of a volume's usage. */
  readonly volumeStatsMs: number;
  readonly maxPods: number;
  /** Maximum number of pods per CPU. 0 means no limit. */
  readonly podsPerCore: number;
  /** Maximum number of concurrent image pulls. Infinity means no limit. */
  readonly maxParallelImagePulls: number;
  /** Policy for images that are already on the node: whether a pod must have credentials that allow it to pull them. */
  readonly imageVerification: ImageVerification;
  /** Paths of the image credential provider plugins. */
  readonly credentialProviders?: ProviderPaths;
  /** Timeout of one pull in milliseconds. 0 means no timeout. */
  readonly imagePullTimeoutMs: number;
  /** Time in milliseconds after which a pull no longer blocks pulls from other registries. 0 means no limit. */
  readonly slowImagePullThresholdMs: number;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The resolv.conf file for pods. Empty if there is none. */
  readonly resolvConf: string;
  readonly seccompDefault: boolean;
  /** Number of user IDs of a pod with its own user namespace. */
  readonly idsPerPod: number;
  readonly maxContainerRestartPeriodMs: number;
  /** Maximum size in bytes of the recording on disk. 0 if nothing is recorded. */
  readonly recordSizeBytes: number;
  /** Settings of the node's web page. Undefined if the page is not served. */
  readonly inspect?: InspectConfig;
  readonly failCgroupV1: boolean;
  readonly failSwapOn: boolean;
  readonly hostSetup: HostSetup;
  /** Settings of the pod-resources API. */
  readonly podResources: { readonly listsOnlyActivePods: boolean };
  /** Whether the statuses of containers contain the health of their devices. */
  readonly reportsDeviceHealth: boolean;
  /** Whether the statuses of containers contain the messages of drivers about the health of devices. */
  readonly reportsHealthMessages: boolean;
  readonly logging: { readonly format: 'text' | 'json'; readonly verbosity: number };
  /** The feature gates that have an effect on the node. */
  readonly featureGates: readonly FeatureGate[];
  /** The flags and the configuration file from which the configuration was compiled. They may contain secrets. */
  readonly userInput: { readonly flags: Flags; readonly file: Readonly<Record<string, unknown>> };
}

/** Changes to the host outside of the node's own directories, cgroups and pods. */
export interface HostSetup {
  /**
   * `required` checks that kernel parameters have the values that the kubelet needs, `set` sets them, and `unchanged`
   * leaves them alone.
   */
  readonly kernelParameters: 'required' | 'set' | 'unchanged';
  /** Whether the iptables chains of the kubelet are created. */
  readonly createsUtilChains: boolean;
  /** Maximum number of open files of the agent (RLIMIT_NOFILE). */
  readonly maxOpenFiles: number;
}

/** Defaults that depend on the host or the command. */
export interface ConfigDefaults {
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly rootDirectory: string;
  /** Directory of the pods' logs. Undefined for the default of `run`. */
  readonly podLogsDirectory?: string;
  /** Directory of device plugins. Undefined for the default of `run`. */
  readonly devicePluginDirectory?: string;
  readonly staticPodPath?: string;
  /**
   * Whether the host is dedicated to the node, so that its kernel parameters and iptables chains are set by default.
   */
  readonly isHostDedicated?: boolean;
}

/**
 * Returns the changes to make to the host. A host that is not dedicated to the node is changed only if the
 * configuration file requests it.
 */
function compileHostSetup(
  { protectKernelDefaults = false, makeIPTablesUtilChains, maxOpenFiles }: SettingValues,
  file: NodeConfig['userInput']['file'],
  isHostDedicated: boolean,
): HostSetup {
  const setsParameters = isHostDedicated || file.protectKernelDefaults === false;
  const changesParameters = setsParameters ? 'set' : 'unchanged';
  return Object.freeze({
    kernelParameters: protectKernelDefaults ? 'required' : changesParameters,
    createsUtilChains: makeIPTablesUtilChains && (isHostDedicated || file.makeIPTablesUtilChains === true),
    maxOpenFiles,
  });
}

function compileRuntime(values: SettingValues) {
  const { containerRuntimeEndpoint, cgroupRoot } = values;
  return {
    containerRuntimeEndpoint,
    imageServiceEndpoint: values.imageServiceEndpoint || containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: values.runtimeRequestTimeout,
    ...(cgroupRoot ? { cgroupRoot } : {}),
    cgroupDriver: values.cgroupDriver,
    seccompDefault: values.seccompDefault,
    idsPerPod: values.userNamespaces.idsPerPod,
    maxContainerRestartPeriodMs: values.crashLoopBackOff.maxContainerRestartPeriod,
    imagePullTimeoutMs: values.imagePullTimeout,
    slowImagePullThresholdMs: values.slowImagePullAfter,
    maxParallelImagePulls:
      values.maxParallelImagePulls ?? (values.serializeImagePulls === false ? Number.POSITIVE_INFINITY : 1),
    imageVerification: Object.freeze({
      policy: values.imagePullCredentialsVerificationPolicy,
      allowlist: Object.freeze([...values.preloadedImagesVerificationAllowlist]),
    }),
    ...compileCredentialProviders(values),
  };
}

/**
 * Returns the paths of the credential provider plugins. If only one of the flags is set, the other path is empty, which
 * `readProviderConfig` rejects.
 */
function compileCredentialProviders(values: SettingValues): Pick<NodeConfig, 'credentialProviders'> {
  const config = values['--image-credential-provider-config'] ?? '';
  const binDir = values['--image-credential-provider-bin-dir'] ?? '';
  return config || binDir ? { credentialProviders: Object.freeze({ config, binDir }) } : {};
}

function compilePathsAndSources(values: SettingValues, defaults: ConfigDefaults) {
  const rootDirectory = resolve(values['--root-dir']);
  const cluster = compileCluster(values, rootDirectory);
  const podLogsDirectory = resolve(values.podLogsDir);
  const manifestUrl = compileManifestUrl(values);
  const defaultPath = manifestUrl || cluster ? undefined : defaults.staticPodPath;
  const staticPodPath = values.staticPodPath || defaultPath;
  return {
    rootDirectory,
    podLogsDirectory,
    devicePluginDirectory: resolve(values['--device-plugin-dir']),
    containerLogsDirectory: join(dirname(podLogsDirectory), 'containers'),
    ...(staticPodPath ? { staticPodPath: resolve(staticPodPath) } : {}),
    ...(values['--runtime-class-path'] ? { runtimeClassPath: resolve(values['--runtime-class-path']) } : {}),
    ...(manifestUrl ? { manifestUrl } : {}),
    ...(cluster ? { cluster } : {}),
  };
}

function compileNodeIps({ '--node-ip': configured }: SettingValues, { addresses }: ConfigDefaults) {
  const prefersIpv6 = configured.some((address) => isUnspecifiedIp(address) && ipFamily(address) === 6);
  const followsHostAddresses = configured.length === 0 || configured.some(isUnspecifiedIp);
  const nodeIps = Object.freeze([...(followsHostAddresses ? sortByFamily(addresses, prefersIpv6) : configured)]);
  return { followsHostAddresses, prefersIpv6, nodeIps };
}

/** Compiles the flags, the configuration file and the defaults into a frozen configuration. */
export function compileConfig(configSources: {
  flags: Flags;
  file?: ConfigFile;
  defaults: ConfigDefaults;
}): NodeConfig {
  const { flags, file, defaults } = configSources;
  const { rootDirectory, podLogsDirectory, devicePluginDirectory } = defaults;
  const values = settingValues({
    flags,
    file: file?.config,
    defaults: {
      '--root-dir': rootDirectory,
      ...(podLogsDirectory === undefined ? {} : { podLogsDir: podLogsDirectory }),
      ...(devicePluginDirectory === undefined ? {} : { '--device-plugin-dir': devicePluginDirectory }),
    },
  });
  return compileValues(values, {
    ...configSources.defaults,
    userInput: Object.freeze({ flags, file: file?.writtenFields ?? {} }),
  });
}

/** Compiles the effective values into a frozen configuration. */
export function compileValues(
  values: SettingValues,
  { userInput: givenInput, ...defaults }: ConfigDefaults & Pick<NodeConfig, 'userInput'>,
): NodeConfig {
  const configPaths = compilePathsAndSources(values, defaults);
  return Object.freeze({
    nodeName: (values['--hostname-override'] || defaults.hostname).trim().toLowerCase(),
    ...compileNodeIps(values, defaults),
    ...(values.podCIDR ? { podCidr: values.podCIDR } : {}),
    ...configPaths,
    ...compileServedEndpoints(values, configPaths.rootDirectory),
    ...compileRuntime(values),
    resources: nodeResources(values),
    fileCheckFrequencyMs: values.fileCheckFrequency,
    syncFrequencyMs: values.syncFrequency,
    volumeStatsMs: values.volumeStatsAggPeriod,
    lenientManifests: values['--lenient-manifests'],
    runOnce: values.runOnce,
    admission: nodeAdmission(values),
    resourceManagers: compileResourceManagers(values),
    shutdownPeriods: shutdownPeriods(values),
    ...compileHousekeeping(values),
    podsPerCore: values.podsPerCore,
    maxPods: values.maxPods,
    clusterDns: Object.freeze([...values.clusterDNS]),
    clusterDomain: values.clusterDomain,
    resolvConf: values.resolvConf,
    recordSizeBytes: values['--record-size'],
    ...compileInspect(values),
    featureGates: Object.freeze(listKnownGates(values)),
    failCgroupV1: values.failCgroupV1,
    failSwapOn: values.failSwapOn,
    hostSetup: compileHostSetup(values, givenInput.file, defaults.isHostDedicated ?? false),
    reportsDeviceHealth: reportsDeviceHealth(values),
    reportsHealthMessages: reportsHealthMessages(values),
    podResources: Object.freeze({ listsOnlyActivePods: listsOnlyActivePods(values) }),
    userInput: givenInput,
    logging: Object.freeze({ format: values.logging.format, verbosity: values.logging.verbosity }),
  });
}
