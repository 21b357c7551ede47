/**
 * The finalizers of a deleted object that make it wait for the garbage collector of its dependents
 * (`registry/generic/registry/store.go` of apiserver).
 */

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/**
 * Returns the finalizers of an object that is deleted with a policy. Without a policy, its existing finalizers
 * determine the result.
 */
export function deletionFinalizers(finalizers: readonly string[], policy: PropagationPolicy | undefined): string[] {
  const others = finalizers.filter((each) => each !== ORPHAN && each !== FOREGROUND);
  const has = (name: string): boolean => policy === undefined && finalizers.includes(name);
  return [
    ...others,
    ...(policy === 'Orphan' || has(ORPHAN) ? [ORPHAN] : []),
    ...(policy === 'Foreground' || has(FOREGROUND) ? [FOREGROUND] : []),
  ];
}
