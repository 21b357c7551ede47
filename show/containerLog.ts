/**
 * Selects the container and the run whose log is shown. Errors about the container use kubectl's wording, and errors
 * about the run use the kubelet's.
 */

import { NodeFailure } from '../base/failure.ts';
import { lookUp } from '../base/values/lookUp.ts';
import { containersOf, findContainerByName, type PlacedContainer } from '../kubernetes/api/pods/containers.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../kubernetes/api/schema/status.ts';
import { allStatuses } from '../kubernetes/status/allStatuses.ts';

const DEFAULT_CONTAINER_ANNOTATION = 'kubectl.kubernetes.io/default-container';

/** Returns the container to use if the user names none, and a note that informs the user about the choice. */
export function defaultContainer({ metadata, spec }: Pod): { readonly name: string; readonly note?: string } {
  const annotatedName = lookUp(metadata.annotations ?? {}, DEFAULT_CONTAINER_ANNOTATION);
  if (annotatedName && findContainerByName(spec, annotatedName)) return { name: annotatedName };
  const notes = annotatedName
    ? [`Default container name ${JSON.stringify(annotatedName)} not found in pod ${metadata.name}`]
    : [];
  const containers = containersOf(spec);
  const [{ name } = { name: '' }] = spec.containers;
  if (containers.length > 1)
    notes.push(`Defaulted container ${JSON.stringify(name)} out of: ${containerNamesText(containers)}`);
  return { name, ...(notes.length > 0 ? { note: notes.join('\n') } : {}) };
}

/** Throws a `NodeFailure` with reason `BadRequest` if the pod has no such container. */
export function requireContainer({ metadata, spec }: Pod, name: string): void {
  if (findContainerByName(spec, name)) return;
  const containerNames = containerNamesText(containersOf(spec));
  throw new NodeFailure(
    'BadRequest',
    `container ${name} is not valid for pod ${metadata.name} out of: ${containerNames}`,
  );
}

const KIND_SUFFIXES = { containers: '', ephemeralContainers: ' (ephem)', initContainers: ' (init)' } as const;

function containerNamesText(containers: readonly PlacedContainer[]): string {
  const kindSuffixes = Object.entries(KIND_SUFFIXES);
  return kindSuffixes
    .flatMap(([kind, suffix]) =>
      containers.filter(({ field }) => field === kind).map(({ container }) => `${container.name}${suffix}`),
    )
    .join(', ');
}

/** A run of a container, identified by the number in its log file's name and by its container ID. */
export interface LoggedRun {
  readonly run: number;
  readonly id: string;
}

/**
 * Returns the run whose log is shown. This is the current run, or the last run if the container is not running. With
 * `previous`, it is the run in the status's `lastState`. Throws a `NodeFailure` with reason `BadRequest` if there is no
 * such run.
 */
export function selectRun(pod: Pod, container: string, { previous = false } = {}): LoggedRun {
  const status = allStatuses(pod.status).find(({ name }) => name === container);
  const title = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`;
  const badRequestError = (why: string) => new NodeFailure('BadRequest', why);
  if (status === undefined) throw badRequestError(`${title} is not available`);
  const { state = {}, containerID = '', restartCount } = status;
  const previousRun = runBeforeCurrent(status);
  if (previous) {
    if (previousRun === undefined) throw badRequestError(`previous terminated ${title} not found`);
    return previousRun;
  }
  if (state.running) return { run: restartCount, id: containerID };
  if (state.terminated?.containerID) return { run: restartCount, id: state.terminated.containerID };
  if (previousRun !== undefined) return previousRun;
  if (state.terminated || status.lastState?.terminated) throw badRequestError(`${title} is terminated`);
  throw badRequestError(`${title} is waiting to start${waitSuffix(state.waiting?.reason)}`);
}

/** Returns the run before the current one. For a container that waits to restart, this is the latest run. */
function runBeforeCurrent({
  state = {},
  lastState,
  containerID,
  restartCount,
}: ContainerStatus): LoggedRun | undefined {
  const id = lastState?.terminated?.containerID;
  if (!id) return undefined;
  // The restart count already includes the next run once its container has been created, even before that container
  // starts.
  const isRestartCounted = state.waiting === undefined || (containerID !== undefined && containerID !== id);
  return { run: Math.max(0, isRestartCounted ? restartCount - 1 : restartCount), id };
}

function waitSuffix(reason: string | undefined): string {
  if (reason === undefined) return ' - no logs yet';
  if (reason === 'ErrImagePull') return ": image can't be pulled";
  if (reason === 'ImagePullBackOff') return ': trying and failing to pull image';
  return `: ${reason}`;
}

/** Whether the given run of the container is still in progress. */
export const isRunning = (pod: Pod, container: string, { id }: LoggedRun): boolean => {
  const status = allStatuses(pod.status).find(({ name }) => name === container);
  return status?.state?.running !== undefined && status.containerID === id;
};
