import { withDefaults } from '../../../kubernetes/api/defaults.ts';
import type { ManifestResult, NamedMetadata } from '../../../kubernetes/api/manifest.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import { type AdmittedPod, type RuntimeClasses, withRuntimeClass } from '../../../kubernetes/api/runtimeClass.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { staticPod, staticPodName } from '../../../kubernetes/api/staticPod.ts';
import { validatePod } from '../../../kubernetes/api/validate.ts';
import { schedulerWarnings } from '../../../kubernetes/api/validation/scheduling.ts';
import { type RequiredObject, requiredObjects } from '../../../kubernetes/api/validation/static.ts';
import type { ObjectManifest } from '../../../kubernetes/objects/objectManifest.ts';
import { problemsToTell } from '../problemsToTell.ts';

/** What a manifest gives: the static pod to run, an object that pods may name, or all that is wrong with it. */
export type ManifestFile =
  /** `needs` are the objects that the source should have for the pod. */
  | { readonly pod: Pod; readonly needs: readonly RequiredObject[]; readonly warnings: readonly Problem[] }
  | { readonly object: ObjectManifest; readonly warnings: readonly Problem[] }
  | {
      readonly problems: readonly Problem[];
      /** `NAMESPACE/NAME`, as far as it can be told. */
      readonly name?: string;
      /** The uid of the pod, when it is its RuntimeClass that refuses it: others may admit it. */
      readonly refusedByClass?: string;
    };

/** Where a manifest was read, and what is known on the node: data that a thread can be given. */
export interface ManifestOrigin {
  readonly source: 'file' | 'http';
  /** The file's path, or the URL. */
  readonly origin: string;
  readonly nodeName: string;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
  /** The RuntimeClasses that a pod is admitted by; absent: it is taken as it is. */
  readonly classes?: RuntimeClasses;
  /** The pods of before that have a RuntimeClass, by uid. */
  readonly admitted: ReadonlyMap<string, AdmittedPod>;
  /** Whether references to objects of an API server are taken as far as a pod can do without them. */
  readonly isLenient: boolean;
}

/** Makes of a manifest the static pod that the node runs of it (C24). */
export function podOf(
  manifest: ManifestResult,
  { source, origin, nodeName, seenAt, classes, admitted, isLenient }: ManifestOrigin,
): ManifestFile {
  const nameOf = ({ name, namespace }: NamedMetadata) => `${namespace || 'default'}/${staticPodName(name, nodeName)}`;
  if ('problems' in manifest) {
    const { problems, metadata } = manifest;
    return { problems: problemsToTell(problems), ...(metadata ? { name: nameOf(metadata) } : {}) };
  }
  const warnings = [...manifest.warnings, ...schedulerWarnings(manifest.pod.spec)];
  const name = nameOf(manifest.pod.metadata);
  const written = staticPod(manifest.pod, { nodeName, source, origin, seenAt });
  const { uid } = written.metadata;
  const classed = withRuntimeClass(written, classes, admitted.get(uid));
  if ('problems' in classed) {
    return { problems: problemsToTell([...classed.problems, ...warnings]), name, refusedByClass: uid };
  }
  const pod = withDefaults(classed.pod);
  const problems = validatePod(pod, { isLenient, acceptsObjects: true });
  return problems.length > 0
    ? { problems: problemsToTell([...problems, ...manifest.warnings]), name }
    : { pod, needs: requiredObjects(pod.spec, isLenient), warnings: problemsToTell(warnings) };
}
