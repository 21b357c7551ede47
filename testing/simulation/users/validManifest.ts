/** Validates manifests as the node does, because a rejected manifest would never run. */

import type { ManifestFile } from '../../../actors/sources/manifest/manifestFile.ts';
import { parseAllManifests } from '../../../actors/sources/manifest/manifestText.ts';
import { printableText } from '../../../base/text/printable.ts';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { readApiPod } from '../../../kubernetes/api/pods/apiPod.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { checkPlain } from '../checks/plainData.ts';
import { NODE_NAME } from '../host/host.ts';
import { CLASSES } from '../host/providedFiles.ts';
import type { Manifest } from '../stories/manifests.ts';

const ORIGIN = {
  source: 'file',
  origin: '',
  nodeName: NODE_NAME,
  firstSeenAt: 0,
  classes: CLASSES,
  admittedPods: new Map(),
} as const;

/** Reads the manifests in a file as the node does. */
const readAs = (text: string, isLenient: boolean): ManifestFile[] =>
  [...parseAllManifests({ text, kind: 'file', origin: { ...ORIGIN, isLenient } })].map(({ manifest }) => manifest);

/** Whether a pod comes from an API server, which binds pods to nodes. */
const isOfApi = ({ spec }: Manifest): boolean => 'nodeName' in spec;

/** The pods of manifests that have been read before. */
const pods = new WeakMap<Manifest, Pod>();

/** Returns the pod of a valid manifest, with defaults. */
export function podOfManifest(manifest: Manifest): Pod {
  const cached = pods.get(manifest);
  if (cached !== undefined) return cached;
  const read = isOfApi(manifest) ? readApiPod(manifest, 0) : readAs(JSON.stringify(manifest), true)[0];
  if (read === undefined || !('pod' in read)) throw new TypeError(`${manifest.metadata.name} is no pod of a node`);
  pods.set(manifest, read.pod);
  return read.pod;
}

/**
 * Returns the problems that prevent the use of a manifest in a simulation, where no source has ConfigMaps and Secrets.
 */
function problemsOf(read: ManifestFile): readonly Problem[] {
  if ('problems' in read) return read.problems;
  if (!('pod' in read)) return [{ path: 'kind', message: 'expected Pod' }];
  return read.requiredObjects.map(({ path, kind, name }) => ({
    path,
    message: `names ${kind} "${name}", and a simulation has no manifests of such objects`,
  }));
}

/** Whether the node itself sets the annotation. */
const isNodeAnnotation = (annotation: string): boolean => annotation.startsWith('kubernetes.io/config.');

/**
 * Returns the fields of a pod that its manifest sets. Tolerations are omitted, because they also depend on the source.
 */
function userFieldsOf({ metadata: { labels, annotations = {} }, spec: { tolerations: _, ...spec } }: Pod): object {
  const userAnnotations = Object.entries(annotations).filter(([key]) => !isNodeAnnotation(key));
  return { labels, annotations: Object.fromEntries(userAnnotations), spec };
}

/** Whether a pod that a source has reported is that of this manifest, and not of a former one. */
export function isOfManifest(reported: Pod, manifest: Manifest): boolean {
  const { uid = reported.metadata.uid } = manifest.metadata;
  return uid === reported.metadata.uid && isJsonEqual(userFieldsOf(reported), userFieldsOf(podOfManifest(manifest)));
}

const REFUSED = 'the node takes no such manifest';

/** Returns a copy of a manifest. Throws a `TypeError` with all problems for which the node would reject it. */
export function validManifest(pod: unknown, { isLenient = false }: { readonly isLenient?: boolean } = {}): Manifest {
  checkPlain(pod, REFUSED);
  const text = JSON.stringify(pod) ?? '';
  const problems = readAs(text, isLenient)
    .flatMap(problemsOf)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  if (problems.length > 0) throw new TypeError(printableText(`${REFUSED}: ${problems.join('; ')}`));
  // The manifest has been validated. The copy does not change with the caller's object.
  return JSON.parse(text) as Manifest;
}
