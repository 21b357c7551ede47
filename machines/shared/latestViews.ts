import type { AnyActorRef } from 'xstate';

/** Memoizes the latest view of each actor, together with the values that the view was built from. */
export function createViewCache<View>() {
  const cache = new WeakMap<AnyActorRef, { readonly from: readonly unknown[]; readonly view: View }>();
  return (ref: AnyActorRef, from: readonly unknown[], build: () => View): View => {
    const cached = cache.get(ref);
    const isUnchanged = cached?.from.length === from.length && cached.from.every((each, index) => each === from[index]);
    if (isUnchanged) return cached.view;
    const view = build();
    cache.set(ref, { from, view });
    return view;
  };
}
