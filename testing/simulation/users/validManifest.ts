/** Validates manifests as the node does, because nobody can expect a rejected manifest to run. */

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

/** Whether a pod comes from an API server, where pods are bound to nodes. */
const isOfApi = ({ spec }: Manifest): boolean => 'nodeName' in spec;

/** The pods of manifests, cached. */
const pods = new WeakMap<Manifest, Pod>();

/** Returns the pod of a valid manifest, with defaults. */
export function podOfManifest(manifest: Manifest): Pod {
  const known = pods.get(manifest);
  if (known !== undefined) return known;
  const read = isOfApi(manifest) ? readApiPod(manifest, 0) : readAs(JSON.stringify(manifest), true)[0];
  if (read === undefined || !('pod' in read)) throw new TypeError(`${manifest.metadata.name} is no pod of a node`);
  pods.set(manifest, read.pod);
  return read.pod;
}

/** Returns why a manifest is of no use in a simulation, where no source has ConfigMaps and Secrets. */
function problemsOf(read: ManifestFile): readonly Problem[] {
  if ('problems' in read) return read.problems;
  if (!('pod' in read)) return [{ path: 'kind', message: 'expected Pod' }];
  return read.requiredObjects.map(({ path, kind, name }) => ({
    path,
    message: `names ${kind} "${name}", and a simulation has no manifests of such objects`,
  }));
}

/** The node itself sets these annotations. */
const isNodeAnnotation = (annotation: string): boolean => annotation.startsWith('kubernetes.io/config.');

/** The fields of a pod that its manifest sets. Tolerations also depend on the source. */
function userFieldsOf({ metadata: { labels, annotations = {} }, spec: { tolerations: _, ...spec } }: Pod): object {
  const said = Object.entries(annotations).filter(([key]) => !isNodeAnnotation(key));
  return { labels, annotations: Object.fromEntries(said), spec };
}

/** Whether a pod that a source has reported is that of this manifest, and not of a former one. */
export function isOfManifest(told: Pod, manifest: Manifest): boolean {
  const { uid = told.metadata.uid } = manifest.metadata;
  return uid === told.metadata.uid && isJsonEqual(userFieldsOf(told), userFieldsOf(podOfManifest(manifest)));
}

const REFUSED = 'the node takes no such manifest';

/** Returns a copy of a manifest. Throws a `TypeError` with all problems for which the node would reject it. */
export function validManifest(pod: unknown, { isLenient = false }: { readonly isLenient?: boolean } = {}): Manifest {
  checkPlain(pod, REFUSED);
  const text = JSON.stringify(pod) ?? '';
  const wrong = readAs(text, isLenient)
    .flatMap(problemsOf)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  if (wrong.length > 0) throw new TypeError(printableText(`${REFUSED}: ${wrong.join('; ')}`));
  // The manifest has been validated. The copy does not change with the caller's object.
  return JSON.parse(text) as Manifest;
}
