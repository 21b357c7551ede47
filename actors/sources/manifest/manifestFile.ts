import { withDefaults } from '../../../kubernetes/api/defaults/defaults.ts';
import type { ManifestResult, NamedMetadata } from '../../../kubernetes/api/pods/manifest.ts';
import { staticPodName, toStaticPod } from '../../../kubernetes/api/pods/staticPod.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import { type AdmittedPod, type RuntimeClasses, withRuntimeClass } from '../../../kubernetes/api/runtimeClass.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { validatePod } from '../../../kubernetes/api/validate.ts';
import { schedulerWarnings } from '../../../kubernetes/api/validation/pod/scheduling.ts';
import { type RequiredObject, requiredObjects } from '../../../kubernetes/api/validation/pod/static.ts';
import type { ObjectManifest } from '../../../kubernetes/objects/objectManifest.ts';
import { limitProblems } from '../limitProblems.ts';

/**
 * The result of reading a manifest: a static pod to run, an object that pods may reference, or the manifest's problems.
 */
export type ManifestFile =
  /** `requiredObjects` lists the objects that the source should contain for the pod. */
  | { readonly pod: Pod; readonly requiredObjects: readonly RequiredObject[]; readonly warnings: readonly Problem[] }
  | { readonly object: ObjectManifest; readonly warnings: readonly Problem[] }
  | {
      readonly problems: readonly Problem[];
      /** `NAMESPACE/NAME`, if known. */
      readonly name?: string;
      /**
       * The UID of a pod that was rejected because of its RuntimeClass. The pod may be admitted after the classes
       * change.
       */
      readonly rejectedByClass?: string;
    };

/** The origin of a manifest and the facts needed to read it, as plain data that can be sent to a thread. */
export interface ManifestOrigin {
  readonly source: 'file' | 'http';
  /** The file's path, or the URL. */
  readonly origin: string;
  readonly nodeName: string;
  /** Milliseconds since the epoch. */
  readonly firstSeenAt: number;
  /** The RuntimeClasses for admission. If undefined, pods are not checked against classes. */
  readonly classes?: RuntimeClasses;
  /** Previously admitted pods with a RuntimeClass, keyed by UID. */
  readonly admittedPods: ReadonlyMap<string, AdmittedPod>;
  /** Whether references to objects of an API server are accepted if the pod can run without them. */
  readonly isLenient: boolean;
}

/** Converts a manifest to the static pod that the node runs (C24). */
export function createStaticPod(
  manifest: ManifestResult,
  { source, origin, nodeName, firstSeenAt, classes, admittedPods, isLenient }: ManifestOrigin,
): ManifestFile {
  const qualifiedName = ({ name, namespace }: NamedMetadata) =>
    `${namespace || 'default'}/${staticPodName(name, nodeName)}`;
  if ('problems' in manifest) {
    const { problems, metadata } = manifest;
    return { problems: limitProblems(problems), ...(metadata ? { name: qualifiedName(metadata) } : {}) };
  }
  const warnings = [...manifest.warnings, ...schedulerWarnings(manifest.pod.spec)];
  const name = qualifiedName(manifest.pod.metadata);
  const podWithoutClass = toStaticPod(manifest.pod, { nodeName, source, origin, seenAt: firstSeenAt });
  const { uid } = podWithoutClass.metadata;
  const classResult = withRuntimeClass(podWithoutClass, classes, admittedPods.get(uid));
  if ('problems' in classResult) {
    return { problems: limitProblems([...classResult.problems, ...warnings]), name, rejectedByClass: uid };
  }
  const pod = withDefaults(classResult.pod);
  const problems = validatePod(pod, { isLenient, acceptsObjects: true });
  return problems.length > 0
    ? { problems: limitProblems([...problems, ...manifest.warnings]), name }
    : { pod, requiredObjects: requiredObjects(pod.spec, isLenient), warnings: limitProblems(warnings) };
}
