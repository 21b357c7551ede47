/** What a real node puts behind the ports: the CRI, the disk, the logs. */
import type { NodeDescription } from '../../cri/nodeDescription.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { Layout } from '../../host/pods/layout.ts';
import type { UserNamespaces } from '../../host/pods/userNamespaces.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ImageVerification } from '../../kubernetes/images/imageVerification.ts';
import type { ObjectsInUse, PodTokens } from '../../kubernetes/objects/podObjects.ts';
import type { CertificatePorts } from '../../machines/certificate/ports.ts';
import type { Mounter } from '../../volume/mount/mounter.ts';
import type { ClusterContent } from '../../volume/plugins/plugin.ts';
import type { Services } from '../boundary.ts';
import type { ClusterPort } from '../cluster/node/clusterNode.ts';
import type { MirrorPort } from '../cluster/pods/mirrorPods.ts';
import type { ServiceVariables } from '../cluster/services.ts';
import { podCredentials } from '../images/podCredentials.ts';
import { PullProofs } from '../images/pullProofs.ts';
import type { PodContent } from '../objects/podContent.ts';
import type { PlegOptions } from '../runtime/pleg.ts';
import { createContainerObjects } from '../services/containers/containerObjects.ts';
import { containerServices } from '../services/containers/containers.ts';
import { hookService } from '../services/containers/hooks.ts';
import { type LogPolicy, logServices } from '../services/containers/logs.ts';
import { resizeServices } from '../services/containers/resizing.ts';
import { createStopTracker } from '../services/containers/stopTracker.ts';
import { diskServices } from '../services/disk/disk.ts';
import { garbageServices } from '../services/disk/garbage.ts';
import { touchedPods } from '../services/disk/touchedPods.ts';
import type { Network } from '../services/http/network.ts';
import { imageServices } from '../services/images/images.ts';
import type { FindCredentials, FindServiceAccount } from '../services/images/nodeCredentials.ts';
import { withObjectTimeout } from '../services/objectTimeout.ts';
import { probeServices } from '../services/probes/probes.ts';
import type { FindRuntimeHandler } from '../services/sandboxes/runtimeClasses.ts';
import { sandboxServices } from '../services/sandboxes/sandboxes.ts';
import type { Ownership } from '../store/ownership.ts';
import type { NodeParts } from './nodeParts.ts';

/** What the services of a node are made of; each takes what it needs. */
export interface ServiceParts
  extends Pick<NodeParts, 'cri' | 'cgroups' | 'restartRuntime'>,
    ClusterContent,
    Required<Pick<NodeParts, 'clock' | 'jitter' | 'onError'>> {
  /** The node as it is now. */
  readonly node: () => NodeDescription;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly network: Network;
  readonly users: UserNamespaces;
  readonly ownership: Ownership;
  readonly findHandler: FindRuntimeHandler;
  readonly serviceVariables: ServiceVariables;
  /** All that pods may name, of a cluster or of manifests. */
  readonly inUse: ObjectsInUse;
  readonly heldForPods?: PodContent['heldForPods'] | undefined;
  readonly findCredentials: FindCredentials;
  readonly findServiceAccount?: FindServiceAccount | undefined;
  readonly tokens?: PodTokens | undefined;
  readonly verification?: ImageVerification | undefined;
  readonly rootDir: string;
  readonly files: FileSystem;
  readonly policy: LogPolicy;
  readonly isEvidence: (uid: string) => boolean;
  /** Takes note of values that a container of a pod is given, and that must not leave the agent. */
  readonly learnValues?: (pod: Pod, values: readonly string[]) => void;
}

/** What the services did last, for who looks at the runtime. */
export type Doings = Pick<PlegOptions, 'takeTouched' | 'takeFound' | 'isBeingStopped'>;

export function nodeServices(given: ServiceParts): {
  readonly ports: Omit<Services, 'putStatus' | ClusterPort | MirrorPort | keyof CertificatePorts>;
  readonly doings: Doings;
} {
  const objects = given.objects && withObjectTimeout(given.objects, given.clock);
  const variableObjects = createContainerObjects({ objects, learnValues: given.learnValues });
  const parts = { ...given, objects, variableObjects };
  const sandboxes = sandboxServices(parts);
  const containers = containerServices(parts);
  const { touching, finding, takeTouched, takeFound } = touchedPods();
  const { tracking, isBeingStopped } = createStopTracker();
  const ports = {
    ...sandboxes,
    runSandbox: touching(sandboxes.runSandbox),
    inspectSandbox: finding(sandboxes.inspectSandbox, (_, { podUid: uid, namespace, podName: name }) => {
      return { uid, namespace, name };
    }),
    stopSandboxes: tracking(({ ids }) => ids, sandboxes.stopSandboxes),
    ...containers,
    startContainer: touching(containers.startContainer),
    inspectContainer: finding(containers.inspectContainer, ({ pod }) => pod.metadata),
    stopContainer: tracking(({ id }) => [id], containers.stopContainer),
    ...imageServices({ ...parts, credentials: podCredentials(parts), proofs: new PullProofs(parts) }),
    ...diskServices(parts),
    ...resizeServices(parts),
    ...garbageServices(parts),
    runHook: hookService(parts),
    ...probeServices(parts),
    ...logServices(parts),
  };
  return { ports, doings: { takeTouched, takeFound, isBeingStopped } };
}
