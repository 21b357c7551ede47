/**
 * What becomes of the objects that a deleted one owns: a finalizer holds it until the garbage collector has seen to them
 * (`registry/generic/registry/store.go` of apiserver).
 */

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** The finalizers of an object that is deleted this way; without a policy, those that it has decide. */
export function deletionFinalizers(finalizers: readonly string[], policy: PropagationPolicy | undefined): string[] {
  const others = finalizers.filter((each) => each !== ORPHAN && each !== FOREGROUND);
  const has = (name: string): boolean => policy === undefined && finalizers.includes(name);
  return [
    ...others,
    ...(policy === 'Orphan' || has(ORPHAN) ? [ORPHAN] : []),
    ...(policy === 'Foreground' || has(FOREGROUND) ? [FOREGROUND] : []),
  ];
}
