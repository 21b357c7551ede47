import type { RootActor } from './node/rootActor.ts';

/** Drains a node. Resolves when all pods have been removed or the node has stopped. */
export function drainNode(root: RootActor, drain: () => void): Promise<void> {
  return new Promise((resolve) => {
    const finishDrain = () => {
      subscription.unsubscribe();
      resolve();
    };
    const subscription = root.subscribe({
      next: (snapshot) => {
        if (snapshot.status !== 'active') finishDrain();
      },
      complete: () => resolve(),
      error: () => resolve(),
    });
    if (root.getSnapshot().status !== 'active') return finishDrain();
    drain();
  });
}
