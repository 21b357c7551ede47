import type { RootActor } from './node/rootActor.ts';

/** Asks a node to end its pods; resolves when none is left, or the node itself has ended. */
export function drained(root: RootActor, drain: () => void): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      subscription.unsubscribe();
      resolve();
    };
    const subscription = root.subscribe({
      next: (snapshot) => {
        if (snapshot.status !== 'active') end();
      },
      complete: () => resolve(),
      error: () => resolve(),
    });
    if (root.getSnapshot().status !== 'active') return end();
    drain();
  });
}
