/** Assembles the real implementations of the ports: CRI, disk and logs. */
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { NodeDescription } from '../../cri/nodeDescription.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { Layout } from '../../host/pods/layout.ts';
import type { UserNamespaces } from '../../host/pods/userNamespaces.ts';
import { readFileSystemUsage } from '../../host/usage/fileSystemUsage.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { defaultImageGarbagePolicy, type ImageGarbagePolicy } from '../../kubernetes/images/imageGarbage.ts';
import type { ImageVerification } from '../../kubernetes/images/imageVerification.ts';
import type { ObjectsInUse, PodTokens } from '../../kubernetes/objects/podObjects.ts';
import type { CertificatePorts } from '../../machines/certificate/ports.ts';
import type { Mounter } from '../../volume/mount/mounter.ts';
import type { ClusterContent } from '../../volume/plugins/plugin.ts';
import type { PortService, PortServices } from '../boundary.ts';
import type { ClaimManager } from '../claims/claimManager.ts';
import type { ClaimPort } from '../claims/claimServices.ts';
import type { ClusterPort } from '../cluster/node/clusterNode.ts';
import type { MirrorPort } from '../cluster/pods/mirrorPods.ts';
import type { ServiceVariables } from '../cluster/services.ts';
import type { CpuManagerState } from '../cpus/cpuManagerState.ts';
import type { DeviceManagerState } from '../devices/deviceManagerState.ts';
import type { FindOomKill } from '../feeds/oomWatcher.ts';
import { ImageClaims } from '../images/imageClaims.ts';
import { ImageCollector } from '../images/imageCollector.ts';
import { podCredentials } from '../images/podCredentials.ts';
import { PullProofs } from '../images/pullProofs.ts';
import type { MemoryManagerState } from '../memory/memoryManagerState.ts';
import type { PodContent } from '../objects/podContent.ts';
import type { PlegOptions } from '../runtime/pleg.ts';
import { createContainerObjects } from '../services/containers/containerObjects.ts';
import { containerServices } from '../services/containers/containers.ts';
import { cpuServices } from '../services/containers/cpus.ts';
import { deviceServices } from '../services/containers/devices.ts';
import { hookService } from '../services/containers/hookService.ts';
import { type LogPolicy, logServices } from '../services/containers/logs.ts';
import { resizeServices } from '../services/containers/resizeServices.ts';
import { createStopTracker } from '../services/containers/stopTracker.ts';
import { createChangeTracker } from '../services/disk/changeTracker.ts';
import { diskServices } from '../services/disk/diskServices.ts';
import { garbageServices } from '../services/disk/garbageServices.ts';
import { evictionServices } from '../services/eviction/eviction.ts';
import type { Network } from '../services/http/network.ts';
import { imageServices } from '../services/images/imageServices.ts';
import type { FindCredentials, FindServiceAccount } from '../services/images/nodeCredentials.ts';
import { withObjectTimeout } from '../services/objectTimeout.ts';
import { probeServices } from '../services/probes/probeServices.ts';
import type { FindRuntimeHandler } from '../services/sandboxes/runtimeClasses.ts';
import { sandboxServices } from '../services/sandboxes/sandboxes.ts';
import { shutdownServices } from '../services/shutdown/shutdownServices.ts';
import type { ShutdownState } from '../shutdown/shutdownState.ts';
import type { Ownership } from '../store/ownership.ts';
import type { NodeParts } from './nodeParts.ts';

export interface NodeServiceDependencies
  extends Pick<
      NodeParts,
      | 'cri'
      | 'cgroups'
      | 'devicePlugins'
      | 'resourceMeter'
      | 'logind'
      | 'restartRuntime'
      | 'readImageDisk'
      | 'onServiceAction'
    >,
    ClusterContent,
    Required<Pick<NodeParts, 'clock' | 'jitter' | 'onError'>> {
  readonly node: () => NodeDescription;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly network: Network;
  readonly users: UserNamespaces;
  readonly ownership: Ownership;
  readonly cpuState: CpuManagerState;
  readonly memoryState: MemoryManagerState;
  readonly shutdownState: ShutdownState;
  readonly deviceState: DeviceManagerState | undefined;
  readonly claimManager: ClaimManager;
  readonly findOomKill: FindOomKill;
  readonly findHandler: FindRuntimeHandler;
  readonly serviceVariables: ServiceVariables;
  /** All objects that pods may reference, from the cluster or from manifests. */
  readonly inUse: ObjectsInUse;
  readonly podCaches?: PodContent['podCaches'] | undefined;
  readonly findCredentials: FindCredentials;
  readonly findServiceAccount?: FindServiceAccount | undefined;
  readonly tokens?: PodTokens | undefined;
  readonly verification?: ImageVerification | undefined;
  readonly imageGarbage?: ImageGarbagePolicy | undefined;
  readonly rootDir: string;
  readonly files: FileSystem;
  readonly policy: LogPolicy;
  readonly isEvidence: (uid: string) => boolean;
  /**
   * Called with the values that a pod's containers get from ConfigMaps and Secrets, so that the values are redacted.
   */
  readonly learnValues?: (pod: Pod, values: readonly string[]) => void;
}

/** Wraps the removal of a pod's data so that the pod's image claims are released afterwards. */
const withClaimRelease =
  (claims: ImageClaims, removePodData: PortService<'removePodData'>): PortService<'removePodData'> =>
  async (input, options) => {
    const output = await removePodData(input, options);
    claims.release(input.pod.metadata.uid);
    return output;
  };

/** Recent activity of the services that affects how the PLEG interprets the runtime's lists. */
export type ServiceActivity = Pick<PlegOptions, 'takeChanged' | 'takeFound' | 'isBeingStopped'>;

const collectImagesPort =
  (collector: ImageCollector): PortServices['collectImages'] =>
  ({ activePodUids }, options) =>
    collector.collect(activePodUids, options);

const removeUnusedImagesPort =
  (collector: ImageCollector): PortServices['removeUnusedImages'] =>
  async ({ activePodUids }, options) => ({
    removed: await collector.freeSpace(Number.POSITIVE_INFINITY, activePodUids, options),
  });

const saveMemoryPort =
  (memoryState: MemoryManagerState): PortServices['saveMemory'] =>
  async ({ assignments }) => {
    await memoryState.save(assignments).catch((cause: unknown) => {
      throw new NodeFailure('StoreFailed', `the memory assignments could not be saved: ${messageOf(cause)}`, { cause });
    });
    return null;
  };

export function nodeServices(dependencies: NodeServiceDependencies): {
  readonly ports: Omit<PortServices, 'putStatus' | ClaimPort | ClusterPort | MirrorPort | keyof CertificatePorts>;
  readonly serviceActivity: ServiceActivity;
  readonly imageCollector: Pick<ImageCollector, 'uses'>;
} {
  const objects = dependencies.objects && withObjectTimeout(dependencies.objects, dependencies.clock);
  const variableObjects = createContainerObjects({ objects, learnValues: dependencies.learnValues });
  const serviceDependencies = { ...dependencies, objects, variableObjects };
  const sandboxes = sandboxServices(serviceDependencies);
  const containers = containerServices(serviceDependencies);
  const disk = diskServices(serviceDependencies);
  const claims = new ImageClaims();
  const proofs = new PullProofs(serviceDependencies);
  const imageCollector = new ImageCollector({
    ...serviceDependencies,
    policy: dependencies.imageGarbage ?? defaultImageGarbagePolicy,
    claims,
    proofs,
    readDisk: dependencies.readImageDisk ?? readFileSystemUsage,
  });
  const { trackingChanges, trackingFinds, takeChanged, takeFound } = createChangeTracker();
  const { tracking, isBeingStopped: isStopping } = createStopTracker();
  const ports = {
    ...sandboxes,
    runSandbox: trackingChanges(sandboxes.runSandbox),
    inspectSandbox: trackingFinds(sandboxes.inspectSandbox, (_, { podUid: uid, namespace, podName: name }) => {
      return { uid, namespace, name };
    }),
    stopSandboxes: tracking(({ ids }) => ids, sandboxes.stopSandboxes),
    ...containers,
    startContainer: trackingChanges(containers.startContainer),
    inspectContainer: trackingFinds(containers.inspectContainer, ({ pod }) => pod.metadata),
    stopContainer: tracking(({ id }) => [id], containers.stopContainer),
    ...imageServices({
      ...serviceDependencies,
      credentials: podCredentials(serviceDependencies),
      proofs,
      claims,
    }),
    collectImages: collectImagesPort(imageCollector),
    removeUnusedImages: removeUnusedImagesPort(imageCollector),
    ...disk,
    removePodData: withClaimRelease(claims, disk.removePodData),
    ...resizeServices(serviceDependencies),
    ...cpuServices(serviceDependencies),
    saveMemory: saveMemoryPort(serviceDependencies.memoryState),
    ...deviceServices(serviceDependencies),
    ...garbageServices(serviceDependencies),
    ...evictionServices(serviceDependencies),
    ...shutdownServices(serviceDependencies),
    runHook: hookService(serviceDependencies),
    ...probeServices(serviceDependencies),
    ...logServices(serviceDependencies),
  };
  return { ports, serviceActivity: { takeChanged, takeFound, isBeingStopped: isStopping }, imageCollector };
}
