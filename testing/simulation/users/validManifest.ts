/** What the node would take: what it refuses is nothing that anybody can expect to run. */

import type { ManifestFile } from '../../../actors/sources/manifest/manifestFile.ts';
import { allManifestsIn } from '../../../actors/sources/manifest/manifestText.ts';
import { printable } from '../../../base/printable.ts';
import { sameValue } from '../../../base/sameValue.ts';
import { readApiPod } from '../../../kubernetes/api/apiPod.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { checkPlain } from '../checks/plainData.ts';
import { NODE_NAME } from '../host/host.ts';
import { CLASSES } from '../host/provided.ts';
import type { Manifest } from '../stories/manifests.ts';

const ORIGIN = {
  source: 'file',
  origin: '',
  nodeName: NODE_NAME,
  seenAt: 0,
  classes: CLASSES,
  admitted: new Map(),
} as const;

/** What is in a manifest, as the node reads it. */
const readAs = (text: string, isLenient: boolean): ManifestFile[] =>
  [...allManifestsIn({ text, kind: 'file', origin: { ...ORIGIN, isLenient } })].map(({ read }) => read);

/** Whether it is as an API server has it, where pods are bound to nodes. */
const isOfApi = ({ spec }: Manifest): boolean => 'nodeName' in spec;

/** The pods of manifests, each read once. */
const pods = new WeakMap<Manifest, Pod>();

/** The pod of a manifest that a node takes, with all that goes without saying. */
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
  return read.needs.map(({ path, kind, name }) => ({
    path,
    message: `names ${kind} "${name}", and a simulation has no manifests of such objects`,
  }));
}

/** The node says itself where it has a pod from, and when it has seen it. */
const isOfNode = (annotation: string): boolean => annotation.startsWith('kubernetes.io/config.');

/** What a manifest says of its pod; which taints a pod tolerates is a matter of where its manifest is, too. */
function wordsOf({ metadata: { labels, annotations = {} }, spec: { tolerations: _, ...spec } }: Pod): object {
  const said = Object.entries(annotations).filter(([key]) => !isOfNode(key));
  return { labels, annotations: Object.fromEntries(said), spec };
}

/** Whether a pod that a source tells of is that of this manifest, and not of one before it. */
export function isOfManifest(told: Pod, manifest: Manifest): boolean {
  const { uid = told.metadata.uid } = manifest.metadata;
  return uid === told.metadata.uid && sameValue(wordsOf(told), wordsOf(podOfManifest(manifest)));
}

const REFUSED = 'the node takes no such manifest';

/** Gives a manifest of its own; throws a `TypeError` that says everything that the node would refuse it for. */
export function validManifest(pod: unknown, { isLenient = false }: { readonly isLenient?: boolean } = {}): Manifest {
  checkPlain(pod, REFUSED);
  const text = JSON.stringify(pod) ?? '';
  const wrong = readAs(text, isLenient)
    .flatMap(problemsOf)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  if (wrong.length > 0) throw new TypeError(printable(`${REFUSED}: ${wrong.join('; ')}`));
  // It has what the schema of pods asks for; what becomes of the object that was given changes nothing here.
  return JSON.parse(text) as Manifest;
}
