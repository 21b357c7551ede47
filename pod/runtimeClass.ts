/** What a RuntimeClass makes of a pod that names it: in a cluster an admission plugin does it, on a standalone node nobody else can. */
import type { Problem } from './problem.ts';
import { amountOf } from './resources.ts';
import type { Pod, PodSpec } from './schema/pod.ts';
import type { RuntimeClass } from './schema/runtimeClass.ts';
import type { ResourceList } from './schema/scalars.ts';

/** The classes of a node, by name. */
export type RuntimeClasses = ReadonlyMap<string, RuntimeClass>;

/** The pod with its class's overhead, node selector and tolerations, or how it contradicts its class. */
export function withRuntimeClass(pod: Pod, classes: RuntimeClasses): { pod: Pod } | { problems: Problem[] } {
  const { spec } = pod;
  // One that is not there may still come: the sandbox waits for it.
  const runtimeClass = classes.get(spec.runtimeClassName ?? '');
  if (runtimeClass === undefined) return { pod };
  const overhead = runtimeClass.overhead?.podFixed;
  const { nodeSelector, tolerations } = runtimeClass.scheduling ?? {};
  const problems = [...overheadProblems(spec, overhead), ...selectorProblems(spec, nodeSelector)];
  if (problems.length > 0) return { problems };
  const added = (tolerations ?? []).filter((each) => !(spec.tolerations ?? []).some((own) => isSame(own, each)));
  return {
    pod: {
      ...pod,
      spec: {
        ...spec,
        ...(overhead ? { overhead } : {}),
        ...(nodeSelector ? { nodeSelector: { ...spec.nodeSelector, ...nodeSelector } } : {}),
        ...(added.length > 0 ? { tolerations: [...(spec.tolerations ?? []), ...added] } : {}),
      },
    },
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
    (name) => name in own && name in given && amount(own, name) === amount(given, name),
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
    own[key] === undefined || own[key] === value
      ? []
      : [
          {
            path: 'spec.nodeSelector',
            message: `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`,
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
