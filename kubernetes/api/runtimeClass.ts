/**
 * Applies RuntimeClasses to the pods that use them. In a cluster an admission plugin does this, but on a standalone
 * node the agent must do it.
 */
import { lookUp } from '../../base/values/lookUp.ts';
import { amountOf } from '../resources/resources.ts';
import type { Problem } from './problem.ts';
import { type ObjectResult, readObject, withoutManagedFields } from './readObject.ts';
import type { Pod, PodSpec } from './schema/pod.ts';
import { type RuntimeClass, runtimeClassSchema } from './schema/runtimeClass.ts';
import type { ResourceList } from './schema/scalars.ts';
import { validateTolerations } from './validation/pod/scheduling.ts';
import { validateRequiredLabel } from './validation/words.ts';

const RUNTIME_CLASS_TYPE = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' };

/** Reads a RuntimeClass from a file or an API server. */
export const readRuntimeClass = (value: unknown): ObjectResult<RuntimeClass> =>
  readObject(runtimeClassSchema, withoutManagedFields(value, RUNTIME_CLASS_TYPE));

/**
 * Validates a RuntimeClass, except its metadata, as an API server does (`ValidateRuntimeClass` in
 * `pkg/apis/node/validation`).
 */
export const validateRuntimeClass = ({ handler, scheduling = {} }: RuntimeClass): Problem[] => [
  ...validateRequiredLabel('handler', handler),
  ...validateTolerations(scheduling, 'scheduling.tolerations'),
];

/** The RuntimeClasses of a node, by name. */
export type RuntimeClasses = ReadonlyMap<string, RuntimeClass>;

/** Parts of an already admitted pod that its RuntimeClass can set. */
export interface AdmittedPod {
  readonly metadata: Pick<Pod['metadata'], 'uid'>;
  readonly spec: Pick<PodSpec, 'runtimeClassName' | 'overhead' | 'nodeSelector' | 'tolerations'>;
}

/**
 * Returns the pods that were admitted with a RuntimeClass, by UID, reduced to the fields that `withRuntimeClass` needs.
 */
export function collectAdmittedPods(pods: Iterable<Pod>): ReadonlyMap<string, AdmittedPod> {
  const admittedByUid = new Map<string, AdmittedPod>();
  for (const { metadata, spec } of pods) {
    const { runtimeClassName, overhead, nodeSelector, tolerations } = spec;
    if (!runtimeClassName) continue;
    const classFields = {
      runtimeClassName,
      ...(overhead ? { overhead } : {}),
      ...(nodeSelector ? { nodeSelector } : {}),
      ...(tolerations ? { tolerations } : {}),
    };
    admittedByUid.set(metadata.uid, { metadata: { uid: metadata.uid }, spec: classFields });
  }
  return admittedByUid;
}

/**
 * Returns the pod with the overhead, node selector and tolerations of its class, or the problems if the class does not
 * exist or contradicts the pod. If the pod has already been admitted, it retains the values in `admitted`, even if the
 * class has changed since. If `classes` is undefined, a pod with a class is returned unchanged.
 */
export function withRuntimeClass(
  pod: Pod,
  classes: RuntimeClasses | undefined,
  admitted?: AdmittedPod,
): { pod: Pod } | { problems: Problem[] } {
  const { runtimeClassName } = pod.spec;
  if (classes === undefined && runtimeClassName) return { pod };
  if (runtimeClassName && isSamePod(pod, admitted))
    return { pod: { ...pod, spec: withClassFields(pod.spec, admitted.spec) } };
  const runtimeClass = runtimeClassName ? classes?.get(runtimeClassName) : undefined;
  if (runtimeClassName && runtimeClass === undefined) {
    const message = `pod rejected: RuntimeClass "${runtimeClassName}" not found`;
    return { problems: [{ path: 'spec.runtimeClassName', message }] };
  }
  const overhead = runtimeClass?.overhead?.podFixed;
  const { nodeSelector, tolerations } = runtimeClass?.scheduling ?? {};
  const problems = [...overheadProblems(pod.spec, overhead), ...selectorProblems(pod.spec, nodeSelector)];
  return problems.length > 0
    ? { problems }
    : { pod: { ...pod, spec: withClassFields(pod.spec, { overhead, nodeSelector, tolerations }) } };
}

const isSamePod = (pod: Pod, admitted: AdmittedPod | undefined): admitted is AdmittedPod =>
  admitted?.metadata.uid === pod.metadata.uid && admitted.spec.runtimeClassName === pod.spec.runtimeClassName;

type ClassFields = { readonly [K in 'overhead' | 'nodeSelector' | 'tolerations']: PodSpec[K] | undefined };

function withClassFields(spec: PodSpec, { overhead, nodeSelector, tolerations = [] }: Partial<ClassFields>): PodSpec {
  const newTolerations = tolerations.filter(
    (each) => !(spec.tolerations ?? []).some((existing) => isSameToleration(existing, each)),
  );
  return {
    ...spec,
    ...(overhead ? { overhead } : {}),
    ...(nodeSelector ? { nodeSelector: { ...spec.nodeSelector, ...nodeSelector } } : {}),
    ...(newTolerations.length > 0 ? { tolerations: [...(spec.tolerations ?? []), ...newTolerations] } : {}),
  };
}

/** Checks that a pod specifies either no overhead or exactly that of its class. */
function overheadProblems({ overhead: podOverhead = {} }: PodSpec, classOverhead: ResourceList = {}): Problem[] {
  const names = Object.keys(podOverhead);
  if (names.length === 0) return [];
  const path = 'spec.overhead';
  if (Object.keys(classOverhead).length === 0) {
    return [{ path, message: 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead' }];
  }
  const amountByName = (limits: ResourceList, name: string) => amountOf({ limits }, 'limits', name);
  const isSameOverhead = [...new Set([...names, ...Object.keys(classOverhead)])].every(
    (name) =>
      Object.hasOwn(podOverhead, name) &&
      Object.hasOwn(classOverhead, name) &&
      amountByName(podOverhead, name) === amountByName(classOverhead, name),
  );
  return isSameOverhead
    ? []
    : [{ path, message: "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead" }];
}

function selectorProblems(
  { nodeSelector: podSelector = {} }: PodSpec,
  classSelector: Readonly<Record<string, string>> = {},
): Problem[] {
  return Object.entries(classSelector).flatMap(([key, value]) =>
    lookUp(podSelector, key) === undefined || lookUp(podSelector, key) === value
      ? []
      : [
          {
            path: 'spec.nodeSelector',
            message: `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${lookUp(podSelector, key)}`,
          },
        ],
  );
}

type Toleration = NonNullable<PodSpec['tolerations']>[number];

const isSameToleration = (first: Toleration, second: Toleration): boolean =>
  first.key === second.key &&
  (first.operator ?? 'Equal') === (second.operator ?? 'Equal') &&
  first.value === second.value &&
  first.effect === second.effect &&
  first.tolerationSeconds === second.tolerationSeconds;
