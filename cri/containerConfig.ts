import { bytesOfText } from '../base/byteText.ts';
import { containerHash } from '../kubernetes/api/identity.ts';
import type { Container } from '../kubernetes/api/schema/container.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { FoundObjects } from '../kubernetes/environment/configValues.ts';
import { expandedCommand } from '../kubernetes/environment/environment.ts';
import type { MountedVolumes } from '../kubernetes/mountedVolume.ts';
import { environmentOf } from './environment.ts';
import { ContainerConfig, type Mount } from './generated/runtime.ts';
import type { ImageUser } from './imageUser.ts';
import * as labels from './labels.ts';
import { containerResources } from './linuxResources.ts';
import { containerDevices, containerMounts } from './mounts.ts';
import { besideTarget, mappingsOf, type UserRange } from './namespaces.ts';
import type { NodeDescription } from './nodeDescription.ts';
import { containerSecurity } from './securityContext.ts';
import { stopSignal } from './stopSignal.ts';

export interface ContainerConfigInput {
  readonly pod: Pod;
  readonly container: Container;
  /** How often it was restarted. */
  readonly attempt: number;
  /** The image as the runtime names it. */
  readonly imageRef: string;
  /** Whom the image runs as; needed where the pod names a group and no user. */
  readonly imageUser?: ImageUser;
  readonly volumes: MountedVolumes;
  /** Where the mounts with a subPath find theirs, by the mount's index (C26). */
  readonly subPaths?: Readonly<Record<number, string>>;
  /** The files of volumes that variables are taken from, by `<volume>/<path>`; what is not there is left out. */
  readonly envFiles?: ReadonlyMap<string, string>;
  /** Whether the runtime can make mounts read-only with all that is mounted in them; absent: it can not. */
  readonly recursiveReadOnlyMounts?: boolean;
  /** The ConfigMaps and Secrets that variables are taken from; absent: there are none. */
  readonly objects?: FoundObjects;
  /** The variables that tell of services; absent: none do. */
  readonly services?: Readonly<Record<string, string>>;
  /** The pod's addresses, the primary first; none under hostNetwork. */
  readonly sandboxIps: readonly string[];
  /** The file of the host that takes the container's last words (C22), which must exist; absent: none. */
  readonly terminationLog?: string;
  /** The container whose processes an ephemeral one shares. */
  readonly targetId?: string;
  /** The pod's own users; absent where it has those of the host. */
  readonly users?: UserRange;
  readonly node: NodeDescription;
}

/** What the runtime is told of a container. Throws `CreateContainerConfigError` for what cannot be had. */
export function containerConfig(input: ContainerConfigInput): ContainerConfig {
  const { pod, container, attempt, imageRef, imageUser, targetId, users, node } = input;
  const securityContext = containerSecurity(pod, container, node, imageUser, users);
  const { namespaceOptions } = securityContext;
  const environment = environmentOf(input);
  return ContainerConfig.fromPartial({
    metadata: { name: container.name, attempt },
    image: { image: imageRef, userSpecifiedImage: container.image },
    ...expandedCommand(container, environment),
    workingDir: container.workingDir ?? '',
    envs: environment.map(({ name, value }) => ({ key: name, value: bytesOfText(value) })),
    mounts: containerMounts({ ...input, environment }).map((mount) => withUsers(mount, users)),
    devices: containerDevices(input),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, attempt),
    logPath: `${container.name}/${attempt}.log`,
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    stopSignal: stopSignal(container.lifecycle?.stopSignal),
    linux: {
      resources: containerResources(pod, container, node),
      securityContext: {
        ...securityContext,
        namespaceOptions: targetId && namespaceOptions ? besideTarget(namespaceOptions, targetId) : namespaceOptions,
      },
    },
  });
}

/** Files keep the owners that they have on the host: the kernel shows them to the pod as its own users. */
function withUsers(mount: Mount, users: UserRange | undefined): Mount {
  const ids = users && mappingsOf(users);
  return ids === undefined ? mount : { ...mount, uidMappings: ids, gidMappings: ids };
}

function containerLabels({ metadata: { name, namespace, uid } }: Pod, container: Container): Record<string, string> {
  return {
    [labels.POD_NAME_LABEL]: name,
    [labels.POD_NAMESPACE_LABEL]: namespace,
    [labels.POD_UID_LABEL]: uid,
    [labels.CONTAINER_NAME_LABEL]: container.name,
  };
}

/** What must be known to end the container when nobody has its pod any more. */
function containerAnnotations(pod: Pod, container: Container, attempt: number): Record<string, string> {
  const { lifecycle, ports = [], terminationMessagePath = '', terminationMessagePolicy = '' } = container;
  const { terminationGracePeriodSeconds: grace } = pod.spec;
  const { deletionGracePeriodSeconds: deletionGrace } = pod.metadata;
  return {
    [labels.CONTAINER_HASH]: containerHash(container),
    [labels.RESTART_COUNT]: String(attempt),
    [labels.TERMINATION_MESSAGE_PATH]: terminationMessagePath,
    [labels.TERMINATION_MESSAGE_POLICY]: terminationMessagePolicy,
    ...(grace === undefined ? {} : { [labels.POD_GRACE_PERIOD]: String(grace) }),
    ...(deletionGrace === undefined ? {} : { [labels.POD_DELETION_GRACE_PERIOD]: String(deletionGrace) }),
    ...(lifecycle?.preStop ? { [labels.PRE_STOP_HANDLER]: JSON.stringify(lifecycle.preStop) } : {}),
    ...(ports.length > 0 ? { [labels.CONTAINER_PORTS]: JSON.stringify(ports) } : {}),
  };
}
