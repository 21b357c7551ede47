import type { AnyActorRef } from 'xstate';

/** Memoizes the latest view of each actor, together with the values that the view was built from. */
export function createViewCache<View>() {
  const cache = new WeakMap<AnyActorRef, { readonly dependencies: readonly unknown[]; readonly view: View }>();
  return (ref: AnyActorRef, dependencies: readonly unknown[], build: () => View): View => {
    const cachedEntry = cache.get(ref);
    const isUnchanged =
      cachedEntry?.dependencies.length === dependencies.length &&
      cachedEntry.dependencies.every((each, index) => each === dependencies[index]);
    if (isUnchanged) return cachedEntry.view;
    const view = build();
    cache.set(ref, { dependencies, view });
    return view;
  };
}
