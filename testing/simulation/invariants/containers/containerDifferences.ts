/** Input for comparing the running containers of a pod with its manifest. */

import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import { fullImageName } from '../../../../cri/simulated/objects/imageName.ts';
import type { SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { findContainerByName } from '../../../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { exclusiveCpuCount } from '../../../../kubernetes/cpus/cpuPolicy.ts';
import { qosClass } from '../../../../kubernetes/resources/qos.ts';
import { resizeRefusal } from '../../../../kubernetes/resources/resize.ts';
import { amountOf } from '../../../../kubernetes/resources/resources.ts';
import type { SimulatedHost } from '../../host/host.ts';
import { wrongMounts } from '../volumes/wrongMounts.ts';

export interface ComparedPod {
  readonly host: SimulatedHost;
  readonly uid: string;
  /** Pod of the current manifest. `versions` has it as well, after those of the former manifests. */
  readonly wanted: Pod;
  readonly versions: readonly Pod[];
  /** Whether the node has too few resources for the current manifest. */
  readonly isShort: () => boolean;
}

/** Convert CPU millicores to cgroup shares (1024 per core) and to a CFS quota in microseconds per 100 ms period. */
const sharesOf = (millis: number): number => Math.max(2, Math.trunc((millis * 1024) / 1000));
const quotaOf = (millis: number): number => (millis === 0 ? 0 : Math.max(1_000, millis * 100));

/**
 * Returns the cgroup settings of a container with its own resources. A container with exclusive CPUs has no quota (-1).
 */
function sizeOf({ resources }: Container, hasExclusiveCpus: boolean) {
  const [limit, memory] = [amountOf(resources, 'limits', 'cpu'), amountOf(resources, 'limits', 'memory')];
  const request = resources?.requests?.cpu === undefined ? limit : amountOf(resources, 'requests', 'cpu');
  return { shares: sharesOf(request), quota: hasExclusiveCpus ? -1 : quotaOf(limit), memory };
}

function hasSize({ config: { linux } }: SimulatedContainer, { spec }: Pod, container: Container): boolean {
  const { cpuShares = 0n, cpuQuota = 0n, memoryLimitInBytes = 0n, cpusetCpus = '' } = linux?.resources ?? {};
  const size = { shares: Number(cpuShares), quota: Number(cpuQuota), memory: Number(memoryLimitInBytes) };
  const hasExclusiveCpus = cpusetCpus !== '' && exclusiveCpuCount(spec, container) > 0;
  // With pod-level resources, a container may have the size of the pod, so its own size is not checked.
  return spec.resources !== undefined || isJsonEqual(size, sizeOf(container, hasExclusiveCpus));
}

/**
 * Whether the size of a container is allowed. It may be that of a former manifest if the resize is impossible, was
 * rejected, or waits for resources.
 */
function mayHaveSize({ uid: _, ...compared }: ComparedPod, run: SimulatedContainer, container: Container): boolean {
  const { wanted, versions, isShort } = compared;
  if (hasSize(run, wanted, container)) return true;
  const assignsCpus = (run.config.linux?.resources?.cpusetCpus ?? '') !== '';
  const mayResize = !assignsCpus || qosClass(wanted.spec) !== 'Guaranteed';
  return versions.some((each) => {
    const before = findContainerByName(each.spec, container.name)?.container;
    return (
      before && hasSize(run, each, before) && (!mayResize || resizeRefusal(each, wanted) !== undefined || isShort())
    );
  });
}

/** Whether the container runs as the user in its manifest and in the fsGroup of its pod. */
function hasUser({ config }: SimulatedContainer, { spec }: Pod, { securityContext }: Container): boolean {
  const { runAsUser, supplementalGroups = [] } = config.linux?.securityContext ?? {};
  const user = securityContext?.runAsUser ?? spec.securityContext?.runAsUser;
  const group = spec.securityContext?.fsGroup;
  return (
    (user === undefined || runAsUser?.value === BigInt(user)) &&
    (group === undefined || supplementalGroups.includes(BigInt(group)))
  );
}

const hasVariables = (words: readonly string[]): boolean => words.some((each) => each.includes('$('));

const runsCommand = ({ config }: SimulatedContainer, { command = [], args = [] }: Container): boolean =>
  hasVariables([...command, ...args]) || (isJsonEqual(config.command, command) && isJsonEqual(config.args, args));

/**
 * Returns a description of each difference between a running container and the manifest. Differences to a former
 * manifest are allowed, because only a change of the image recreates a container (C6).
 */
export function differencesOf(compared: ComparedPod, container: Container, run: SimulatedContainer): string[] {
  const { host, uid, wanted, versions } = compared;
  const { image = '', name } = container;
  const mountsOf = (pod: Pod) => wrongMounts(host, { ...pod, metadata: { ...pod.metadata, uid } }, run);
  const matchesAny = (has: (run: SimulatedContainer, pod: Pod, container: Container) => boolean) =>
    versions.some((pod) => has(run, pod, findContainerByName(pod.spec, name)?.container ?? container));
  return [
    ...(run.imageName === fullImageName(image) ? [] : [`${name} runs ${run.imageName}, not ${image}`]),
    ...(matchesAny((_, __, each) => runsCommand(run, each)) ? [] : [`${name} runs a different command`]),
    ...(matchesAny(hasUser) ? [] : [`${name} runs as a different user`]),
    ...(matchesAny((_, pod) => mountsOf(pod).length === 0)
      ? []
      : mountsOf(wanted).map((each) => `${name} runs ${each}`)),
    ...(mayHaveSize(compared, run, container) ? [] : [`${name} does not have the requested size`]),
  ];
}
