/** Returns the UID of the pod that contains the actor. Undefined for actors of the node. */
export const podUidOf = (path: string): string | undefined => /^pod\/([^/]+)/.exec(path)?.[1];

/** Returns the name of the container that contains the actor, if any. */
export const containerNameOf = (path: string): string | undefined => /^pod\/[^/]+\/container\/([^/]+)/.exec(path)?.[1];

/** One step of a path. `container/web` has a kind and a name, and `image` has only a name. */
export interface ActorStep {
  /** Kind of the actor. Undefined for an actor that is the only one of its kind below its parent. */
  readonly kind?: 'pod' | 'container' | 'volume' | 'probe';
  readonly name: string;
}

const ROOT_CHILD_KINDS = ['pod'] as const;
const DESCENDANT_KINDS = ['container', 'volume', 'probe'] as const;

/**
 * Returns the steps from the root. The path is parsed from the left, because a container may be called `image` and a
 * volume `probe`.
 */
export function actorSteps(path: string): ActorStep[] {
  const segments = path === '' ? [] : path.split('/');
  const steps: ActorStep[] = [];
  for (let index = 0; index < segments.length; index += 1) {
    const allowedKinds: readonly NonNullable<ActorStep['kind']>[] =
      steps.length === 0 ? ROOT_CHILD_KINDS : DESCENDANT_KINDS;
    const kind = allowedKinds.find((each) => each === segments[index]);
    const name = segments[index + 1];
    if (kind === undefined || name === undefined) steps.push({ name: segments[index] ?? '' });
    else {
      steps.push({ kind, name });
      index += 1;
    }
  }
  return steps;
}
