import { isObject } from '../../../base/isObject.ts';
import { readManifest } from '../../../kubernetes/api/manifest.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import { staticPodName } from '../../../kubernetes/api/staticPod.ts';
import type { ConfigKind } from '../../../kubernetes/objects/configObject.ts';
import { readObjectManifest } from '../../../kubernetes/objects/objectManifest.ts';
import { unsupportedKindProblem } from '../../../kubernetes/objects/unsupportedKinds.ts';
import {
  type BoundedDocument,
  findExcess,
  parseDocuments,
  type TextLimits,
} from '../../../kubernetes/yaml/boundedYaml.ts';
import { problemsToTell } from '../problemsToTell.ts';
import { type ManifestFile, type ManifestOrigin, podOf } from './manifestFile.ts';
import { answerLimits, fileLimits, objectLimits, podLimits } from './manifestLimits.ts';

/** Where a text comes from. */
export type TextKind = 'file' | 'answer';

/** A text to make pods of; plain data, as is all that it gives. */
export interface ManifestText {
  readonly text: string;
  readonly kind: TextKind;
  readonly origin: ManifestOrigin;
}

/** What one object of a text gives, and where it stands in the text: `documents[1].items[3]`, empty for the whole. */
export interface ReadManifest {
  readonly path: string;
  /** Which object it is, be it right or wrong; absent where it does not say so, and may be any. */
  readonly key?: string;
  readonly read: ManifestFile;
}

/** The manifests in a text, each read when it is asked for, or that it is `beyond` the limits it was to be read with. */
export type ManifestsRead = { readonly manifests: Iterable<ReadManifest> } | { readonly beyond: string };

/** What tells an object from others of its text; a pod has the name that the node gives it. */
export const keyOf = (kind: string, { namespace, name }: { readonly namespace: string; readonly name: string }) =>
  `${kind}/${namespace}/${name}`;

/** Parses a text and makes what its documents describe; whatever is wrong is a problem in its place. */
export function manifestsIn({ text, kind, origin }: ManifestText, limits: TextLimits): ManifestsRead {
  const parsed = parseDocuments(text, limits);
  if (!Array.isArray(parsed)) return 'beyond' in parsed ? parsed : refused(parsed.problem);
  const documents: BoundedDocument[] = [];
  for (const document of parsed) {
    const found = 'value' in document ? bounded(document.value, limits) : document;
    if ('beyond' in found) return found;
    if (!('value' in found) || (found.value ?? null) !== null) documents.push(found);
  }
  if (documents.length === 0) return refused(`the ${kind} is empty`);
  return { manifests: reading(documents, origin) };
}

/** What JSON holds has not been looked at yet. */
const bounded = (value: unknown, limits: TextLimits): BoundedDocument => findExcess(value, limits) ?? { value };

/** All manifests of a text of any size, but one that is larger than any is to be: it is refused. */
export function allManifestsIn(text: ManifestText): Iterable<ReadManifest> {
  const read = manifestsIn(text, text.kind === 'file' ? fileLimits : answerLimits);
  return 'beyond' in read ? refused(tooLarge(read.beyond)).manifests : read.manifests;
}

function* reading(documents: readonly BoundedDocument[], origin: ManifestOrigin): Generator<ReadManifest> {
  for (const [index, document] of documents.entries()) {
    const path = documents.length > 1 ? `documents[${index}]` : '';
    if ('problem' in document) yield { path, read: wrong(document.problem) };
    if (!('value' in document)) continue;
    for (const item of itemsOf(document.value, path)) yield { path: item.path, ...readObject(item.value, origin) };
  }
}

function readObject(value: unknown, origin: ManifestOrigin): Omit<ReadManifest, 'path'> {
  const kind = kindOf(value);
  const isConfig = kind === 'ConfigMap' || kind === 'Secret';
  const excess = findExcess(value, isConfig ? objectLimits : podLimits);
  if (excess !== undefined) return { read: wrong('beyond' in excess ? tooLarge(excess.beyond) : excess.problem) };
  if (isConfig && isObject(value)) return readConfig(kind, value);
  const other = kind === undefined ? undefined : unsupportedKindProblem(kind);
  if (other === undefined) return readPod(value, origin);
  // It says that it is none of those that pods are made of.
  return { key: `${kind}/`, read: { problems: [other] } };
}

function readPod(value: unknown, origin: ManifestOrigin): Omit<ReadManifest, 'path'> {
  const manifest = readManifest(value);
  const metadata = 'pod' in manifest ? manifest.pod.metadata : manifest.metadata;
  const read = podOf(manifest, origin);
  if (metadata === undefined) return { read };
  const name = staticPodName(metadata.name, origin.nodeName);
  return { key: keyOf('Pod', { namespace: metadata.namespace || 'default', name }), read };
}

function readConfig(kind: ConfigKind, value: object): Omit<ReadManifest, 'path'> {
  const result = readObjectManifest(kind, value);
  const reference = 'object' in result ? result.object : result.reference;
  const of = reference === undefined ? '' : ` (${kind} ${reference.namespace}/${reference.name})`;
  const told = (problems: readonly Problem[]) =>
    problemsToTell(problems.map(({ path, message }) => ({ path, message: `${message}${of}` })));
  return {
    ...(reference === undefined ? {} : { key: keyOf(kind, reference) }),
    read:
      'object' in result
        ? { object: result.object, warnings: told(result.warnings) }
        : { problems: told(result.problems) },
  };
}

const wrong = (message: string): ManifestFile => ({ problems: [{ path: '', message }] });

/** That a text gives nothing at all, and why. */
export const refused = (message: string): { readonly manifests: readonly ReadManifest[] } => ({
  manifests: [{ path: '', read: wrong(message) }],
});

/** What is told of a text that is beyond the limits. */
const tooLarge = (beyond: string): string => `has ${beyond}, more than this node accepts`;

function kindOf(value: unknown): string | undefined {
  const kind: unknown = isObject(value) && Object.hasOwn(value, 'kind') && 'kind' in value ? value.kind : undefined;
  return typeof kind === 'string' ? kind : undefined;
}

/** What the items of a list are that do not say so of themselves; undefined for what is no list. */
function kindOfItems(kind: string | undefined): string | undefined {
  if (kind === 'List') return 'Pod';
  const own = kind?.endsWith('List') ? kind.slice(0, -'List'.length) : undefined;
  return own !== undefined && (['Pod', 'ConfigMap', 'Secret'].includes(own) || unsupportedKindProblem(own))
    ? own
    : undefined;
}

/** The items of a list, and of lists in it; of anything else the one that it is. */
function itemsOf(value: unknown, path: string): { path: string; value: unknown }[] {
  const kind = kindOfItems(kindOf(value));
  if (!isObject(value) || kind === undefined) return [{ path, value }];
  const at = path === '' ? 'items' : `${path}.items`;
  // A list of none is written as null by those who write Go.
  const items: unknown = ('items' in value ? value.items : null) ?? [];
  if (!Array.isArray(items)) return [{ path: at, value: items }];
  return items.flatMap((item: unknown, index) =>
    itemsOf(isObject(item) ? { apiVersion: 'v1', kind, ...item } : item, `${at}[${index}]`),
  );
}
