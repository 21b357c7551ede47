/** What a RuntimeClass makes of a pod that names it: in a cluster an admission plugin does it, on a standalone node nobody else can. */
import { lookUp } from '../../base/lookUp.ts';
import { amountOf } from '../resources/resources.ts';
import type { Problem } from './problem.ts';
import { type ObjectResult, readObject, withoutManagedFields } from './readObject.ts';
import type { Pod, PodSpec } from './schema/pod.ts';
import { type RuntimeClass, runtimeClassSchema } from './schema/runtimeClass.ts';
import type { ResourceList } from './schema/scalars.ts';
import { validateTolerations } from './validation/scheduling.ts';
import { requiredLabel } from './validation/words.ts';

const TYPE = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' };

/** Reads a RuntimeClass of a file or of an API server. */
export const readRuntimeClass = (value: unknown): ObjectResult<RuntimeClass> =>
  readObject(runtimeClassSchema, withoutManagedFields(value, TYPE));

/** Checks a RuntimeClass as an API server does (`ValidateRuntimeClass` in `pkg/apis/node/validation`), beside its metadata. */
export const validateRuntimeClass = ({ handler, scheduling = {} }: RuntimeClass): Problem[] => [
  ...requiredLabel('handler', handler),
  ...validateTolerations(scheduling, 'scheduling.tolerations'),
];

/** The classes of a node, by name. */
export type RuntimeClasses = ReadonlyMap<string, RuntimeClass>;

/** What is to be known of a pod that was admitted before; a pod is one. */
export interface AdmittedPod {
  readonly metadata: Pick<Pod['metadata'], 'uid'>;
  readonly spec: Pick<PodSpec, 'runtimeClassName' | 'overhead' | 'nodeSelector' | 'tolerations'>;
}

/** Of pods those that were admitted with a class, by uid, and of them no more than is to be known. */
export function admissionsOf(pods: Iterable<Pod>): ReadonlyMap<string, AdmittedPod> {
  const admitted = new Map<string, AdmittedPod>();
  for (const { metadata, spec } of pods) {
    const { runtimeClassName, overhead, nodeSelector, tolerations } = spec;
    if (!runtimeClassName) continue;
    const kept = {
      runtimeClassName,
      ...(overhead ? { overhead } : {}),
      ...(nodeSelector ? { nodeSelector } : {}),
      ...(tolerations ? { tolerations } : {}),
    };
    admitted.set(metadata.uid, { metadata: { uid: metadata.uid }, spec: kept });
  }
  return admitted;
}

/**
 * The pod with its class's overhead, node selector and tolerations, or why it is not admitted: it contradicts its class,
 * or the class is not there. A pod is admitted once: one that was `admitted` already keeps what it was given then,
 * whatever has become of its class. If the classes are not known, a pod that names one is taken as it is.
 */
export function withRuntimeClass(
  pod: Pod,
  classes: RuntimeClasses | undefined,
  admitted?: AdmittedPod,
): { pod: Pod } | { problems: Problem[] } {
  const { runtimeClassName } = pod.spec;
  if (classes === undefined && runtimeClassName) return { pod };
  if (runtimeClassName && isSamePod(pod, admitted)) return { pod: { ...pod, spec: given(pod.spec, admitted.spec) } };
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
    : { pod: { ...pod, spec: given(pod.spec, { overhead, nodeSelector, tolerations }) } };
}

const isSamePod = (pod: Pod, admitted: AdmittedPod | undefined): admitted is AdmittedPod =>
  admitted?.metadata.uid === pod.metadata.uid && admitted.spec.runtimeClassName === pod.spec.runtimeClassName;

type Gift = { readonly [K in 'overhead' | 'nodeSelector' | 'tolerations']: PodSpec[K] | undefined };

function given(spec: PodSpec, { overhead, nodeSelector, tolerations = [] }: Partial<Gift>): PodSpec {
  const added = tolerations.filter((each) => !(spec.tolerations ?? []).some((own) => isSame(own, each)));
  return {
    ...spec,
    ...(overhead ? { overhead } : {}),
    ...(nodeSelector ? { nodeSelector: { ...spec.nodeSelector, ...nodeSelector } } : {}),
    ...(added.length > 0 ? { tolerations: [...(spec.tolerations ?? []), ...added] } : {}),
  };
}

/** A pod may state the overhead of its class, and no other. */
function overheadProblems({ overhead: own = {} }: PodSpec, given: ResourceList = {}): Problem[] {
  const names = Object.keys(own);
  if (names.length === 0) return [];
  const path = 'spec.overhead';
  if (Object.keys(given).length === 0) {
    return [{ path, message: 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead' }];
  }
  const amount = (limits: ResourceList, name: string) => amountOf({ limits }, 'limits', name);
  const isEqual = [...new Set([...names, ...Object.keys(given)])].every(
    (name) => Object.hasOwn(own, name) && Object.hasOwn(given, name) && amount(own, name) === amount(given, name),
  );
  return isEqual
    ? []
    : [{ path, message: "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead" }];
}

function selectorProblems(
  { nodeSelector: own = {} }: PodSpec,
  given: Readonly<Record<string, string>> = {},
): Problem[] {
  return Object.entries(given).flatMap(([key, value]) =>
    lookUp(own, key) === undefined || lookUp(own, key) === value
      ? []
      : [
          {
            path: 'spec.nodeSelector',
            message: `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${lookUp(own, key)}`,
          },
        ],
  );
}

type Toleration = NonNullable<PodSpec['tolerations']>[number];

const isSame = (one: Toleration, other: Toleration): boolean =>
  one.key === other.key &&
  (one.operator ?? 'Equal') === (other.operator ?? 'Equal') &&
  one.value === other.value &&
  one.effect === other.effect &&
  one.tolerationSeconds === other.tolerationSeconds;
