/** Parses the path of an actor. */

/** Returns the UID of the pod that contains the actor. Undefined for actors of the node. */
export const podUidIn = (path: string): string | undefined => /^pod\/([^/]+)/.exec(path)?.[1];

/** Returns the name of the container that contains the actor, if any. */
export const containerIn = (path: string): string | undefined => /^pod\/[^/]+\/container\/([^/]+)/.exec(path)?.[1];

/** One step of a path. `container/web` has a kind and a name, `image` only a name. */
export interface ActorStep {
  /** Undefined for an actor that is the only one of its kind below its parent. */
  readonly kind?: 'pod' | 'container' | 'volume' | 'probe';
  readonly name: string;
}

const BELOW_ROOT = ['pod'] as const;
const BELOW_OTHERS = ['container', 'volume', 'probe'] as const;

/**
 * Returns the steps from the root. The path is parsed from the left, because a container may be called `image` and a
 * volume `probe`.
 */
export function actorSteps(path: string): ActorStep[] {
  const words = path === '' ? [] : path.split('/');
  const steps: ActorStep[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const kinds: readonly NonNullable<ActorStep['kind']>[] = steps.length === 0 ? BELOW_ROOT : BELOW_OTHERS;
    const kind = kinds.find((each) => each === words[at]);
    const name = words[at + 1];
    if (kind === undefined || name === undefined) steps.push({ name: words[at] ?? '' });
    else {
      steps.push({ kind, name });
      at += 1;
    }
  }
  return steps;
}
