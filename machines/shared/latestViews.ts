import type { AnyActorRef } from 'xstate';

/** Memoizes the latest view of each actor, together with the values that the view was built from. */
export function latestViews<View>() {
  const cache = new WeakMap<AnyActorRef, { readonly from: readonly unknown[]; readonly view: View }>();
  return (ref: AnyActorRef, from: readonly unknown[], build: () => View): View => {
    const latest = cache.get(ref);
    const isSame = latest?.from.length === from.length && latest.from.every((each, index) => each === from[index]);
    if (isSame) return latest.view;
    const view = build();
    cache.set(ref, { from, view });
    return view;
  };
}
