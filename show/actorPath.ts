/** The path of an actor, step by step: which one of what it names. */

/** The UID of the pod that an actor is, or is part of; undefined of the node's own. */
export const podUidIn = (path: string): string | undefined => /^pod\/([^/]+)/.exec(path)?.[1];

/** The name of the container that an actor is, or is part of. */
export const containerIn = (path: string): string | undefined => /^pod\/[^/]+\/container\/([^/]+)/.exec(path)?.[1];

/** One step: `container/web` has a kind and a name, `image` a name only. */
export interface ActorStep {
  /** Absent of an actor that there is only one of below its parent. */
  readonly kind?: 'pod' | 'container' | 'volume' | 'probe';
  readonly name: string;
}

const BELOW_ROOT = ['pod'] as const;
const BELOW_OTHERS = ['container', 'volume', 'probe'] as const;

/** The steps from the root; read from the left, for a container may be called `image`, and a volume `probe`. */
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
