import { NodeFailure } from '../../base/failure.ts';
import { textToBytes } from '../../base/text/byteText.ts';
import { containerHash } from '../../kubernetes/api/pods/containerHash.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type ContainerEdits, type DeviceMount, NO_EDITS } from '../../kubernetes/devices/devices.ts';
import { type EnvVariable, expandedCommand } from '../../kubernetes/environment/environment.ts';
import type { MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import { ContainerConfig, Mount, Signal } from '../generated/runtime.ts';
import type { NodeDescription } from '../nodeDescription.ts';
import type { ImageUser } from './imageUser.ts';
import * as labels from './labels.ts';
import { containerResources } from './linuxResources.ts';
import { containerDevices, containerMounts } from './mounts.ts';
import { idMappings, type UserRange, withTargetPidNamespace } from './namespaces.ts';
import { buildContainerSecurityContext } from './securityContext.ts';

export interface ContainerConfigInput {
  readonly pod: Pod;
  readonly container: Container;
  /** Number of times that the container has been restarted. */
  readonly attempt: number;
  /** Image reference as returned by the runtime. */
  readonly imageRef: string;
  /** User configured in the image. Required if the pod sets a group but no user. */
  readonly imageUser?: ImageUser;
  readonly volumes: MountedVolumes;
  /** Host paths of the prepared subPaths, by the index of the volume mount (C26). */
  readonly subPaths?: Readonly<Record<number, string>>;
  /** Whether the runtime supports recursive read-only mounts. Defaults to false. */
  readonly recursiveReadOnlyMounts?: boolean;
  /** Environment variables of the container, as returned by `buildEnvironment`. */
  readonly environment: readonly EnvVariable[];
  /** Host path of the termination log (C22). The file must exist. Undefined if the container has no termination log. */
  readonly terminationLog?: string;
  /** ID of the target container, whose PID namespace an ephemeral container joins. */
  readonly targetId?: string;
  /** ID range of the pod's user namespace. Undefined if the pod runs in the host's user namespace. */
  readonly userRange?: UserRange;
  /** CDI names of devices that the runtime adds to the container. Defaults to none. */
  readonly cdiDevices?: readonly string[];
  readonly node: NodeDescription;
}

/**
 * Returns the CRI configuration of a container. Throws `CreateContainerConfigError` if the container cannot be
 * configured.
 */
export function containerConfig(input: ContainerConfigInput): ContainerConfig {
  const { pod, container, attempt, imageRef, imageUser, targetId, userRange, cdiDevices = [], node } = input;
  const edits = node.editsOf?.(pod.metadata.uid, container.name) ?? NO_EDITS;
  const environment = withDeviceVariables(input.environment, edits);
  const securityContext = buildContainerSecurityContext(pod, container, node, imageUser, userRange);
  const { namespaceOptions } = securityContext;
  const volumeMounts = containerMounts(input);
  return ContainerConfig.fromPartial({
    metadata: { name: container.name, attempt },
    image: { image: imageRef, userSpecifiedImage: container.image },
    ...expandedCommand(container, environment),
    workingDir: container.workingDir ?? '',
    envs: environment.map(({ name, value }) => ({ key: name, value: textToBytes(value) })),
    mounts: [...edits.mounts.map(toDeviceMount), ...volumeMounts].map((mount) => withIdMappings(mount, userRange)),
    devices: [...edits.devices, ...containerDevices(input)],
    CDIDevices: [...edits.cdiDevices, ...cdiDevices].map((name) => ({ name })),
    labels: containerLabels(pod, container),
    annotations: {
      ...Object.fromEntries(edits.annotations),
      ...containerAnnotations(pod, container, attempt),
      [labels.MOUNTED_IMAGES_ANNOTATION]: labels.mountedImagesAnnotation(volumeMounts),
    },
    logPath: `${container.name}/${attempt}.log`,
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    stopSignal: stopSignal(container.lifecycle?.stopSignal),
    linux: {
      resources: containerResources(pod, container, node),
      securityContext: {
        ...securityContext,
        namespaceOptions:
          targetId && namespaceOptions ? withTargetPidNamespace(namespaceOptions, targetId) : namespaceOptions,
      },
    },
  });
}

/**
 * Prepends the variables that a device needs to the container's own variables, which override them
 * (`GenerateRunContainerOptions` in `pkg/kubelet/kubelet_pods.go`).
 */
function withDeviceVariables(environment: readonly EnvVariable[], { envs }: ContainerEdits): readonly EnvVariable[] {
  if (envs.length === 0) return environment;
  const ownNames = new Set(environment.map(({ name }) => name));
  const deviceVariables = envs.flatMap(([name, value]) => (ownNames.has(name) ? [] : [{ name, value }]));
  return [...deviceVariables, ...environment];
}

const toDeviceMount = ({ containerPath, hostPath, isReadOnly }: DeviceMount): Mount =>
  Mount.fromPartial({ containerPath, hostPath, readonly: isReadOnly });

/**
 * Adds the ID mappings of the pod's user namespace to a mount, so that the files in a volume have the same owner IDs in
 * the pod as on disk.
 */
function withIdMappings(mount: Mount, userRange: UserRange | undefined): Mount {
  const ids = userRange && idMappings(userRange);
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

/**
 * Returns annotations that allow the agent to stop the container correctly when the pod is no longer known to the
 * agent.
 */
function containerAnnotations(pod: Pod, container: Container, attempt: number): Record<string, string> {
  const { lifecycle, ports = [], terminationMessagePath = '', terminationMessagePolicy = '' } = container;
  const { terminationGracePeriodSeconds } = pod.spec;
  const { deletionGracePeriodSeconds } = pod.metadata;
  return {
    [labels.CONTAINER_HASH_ANNOTATION]: containerHash(container),
    [labels.RESTART_COUNT_ANNOTATION]: String(attempt),
    [labels.TERMINATION_MESSAGE_PATH_ANNOTATION]: terminationMessagePath,
    [labels.TERMINATION_MESSAGE_POLICY_ANNOTATION]: terminationMessagePolicy,
    ...(terminationGracePeriodSeconds === undefined
      ? {}
      : { [labels.POD_GRACE_PERIOD_ANNOTATION]: String(terminationGracePeriodSeconds) }),
    ...(deletionGracePeriodSeconds === undefined
      ? {}
      : { [labels.POD_DELETION_GRACE_PERIOD_ANNOTATION]: String(deletionGracePeriodSeconds) }),
    ...(lifecycle?.preStop ? { [labels.PRE_STOP_HANDLER_ANNOTATION]: JSON.stringify(lifecycle.preStop) } : {}),
    ...(ports.length > 0 ? { [labels.CONTAINER_PORTS_ANNOTATION]: JSON.stringify(ports) } : {}),
  };
}

/**
 * Converts a name such as `SIGTERM` or `SIGRTMIN+1` to the CRI's signal. Without a name, the image determines the
 * signal.
 */
export function stopSignal(name: string | undefined): Signal {
  if (name === undefined) return Signal.SIGNAL_RUNTIME_DEFAULT;
  const key = `SIGNAL_${name.replace('+', 'PLUS').replace('-', 'MINUS')}`;
  const [, signal] = Object.entries(Signal).find(([signalKey]) => signalKey === key) ?? [];
  if (signal !== undefined) return signal;
  throw new NodeFailure('CreateContainerConfigError', `stopSignal: ${name} is not a signal`);
}
