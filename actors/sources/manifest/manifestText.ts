import { isObject } from '../../../base/values/isObject.ts';
import { readManifest } from '../../../kubernetes/api/pods/manifest.ts';
import { staticPodName } from '../../../kubernetes/api/pods/staticPod.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import type { ConfigKind } from '../../../kubernetes/objects/configObject.ts';
import { readObjectManifest } from '../../../kubernetes/objects/objectManifest.ts';
import { unsupportedKindProblem } from '../../../kubernetes/objects/unsupportedKinds.ts';
import {
  type BoundedDocument,
  findExcess,
  parseDocuments,
  type TextLimits,
} from '../../../kubernetes/yaml/boundedYaml.ts';
import { limitProblems } from '../limitProblems.ts';
import { createStaticPod, type ManifestFile, type ManifestOrigin } from './manifestFile.ts';
import { fileLimits, objectLimits, podLimits, responseLimits } from './manifestLimits.ts';

/** The kind of source that a manifest was read from. */
export type TextKind = 'file' | 'response';

/** Content of manifests to parse, as plain data that can be sent to a thread. */
export interface ManifestText {
  readonly text: string;
  readonly kind: TextKind;
  readonly origin: ManifestOrigin;
}

/**
 * The result of parsing one object. `path` is its position in the file or response, e.g. `documents[1].items[3]`. It is
 * empty if the result concerns the whole content.
 */
export interface ReadManifest {
  readonly path: string;
  /** Identifies the object, even if the object is invalid. Undefined if the manifest does not identify its object. */
  readonly key?: string;
  readonly manifest: ManifestFile;
}

/** The manifests of a file or response, parsed lazily, or a description of the exceeded limit. */
export type ManifestsRead = { readonly manifests: Iterable<ReadManifest> } | { readonly beyond: string };

/**
 * Returns a key that identifies an object within its source. The key of a static pod contains the name that the node
 * assigns to the pod.
 */
export const objectKey = (kind: string, { namespace, name }: { readonly namespace: string; readonly name: string }) =>
  `${kind}/${namespace}/${name}`;

/** Parses the content of a file or response into manifests. Errors become problems of the affected document. */
export function parseManifests({ text, kind, origin }: ManifestText, limits: TextLimits): ManifestsRead {
  const parsedDocuments = parseDocuments(text, limits);
  if (!Array.isArray(parsedDocuments))
    return 'beyond' in parsedDocuments ? parsedDocuments : createRejectedText(parsedDocuments.problem);
  const documents: BoundedDocument[] = [];
  for (const document of parsedDocuments) {
    const checkedDocument = 'value' in document ? checkLimits(document.value, limits) : document;
    if ('beyond' in checkedDocument) return checkedDocument;
    if (!('value' in checkedDocument) || (checkedDocument.value ?? null) !== null) documents.push(checkedDocument);
  }
  if (documents.length === 0) return createRejectedText(`the ${kind} is empty`);
  return { manifests: readDocuments(documents, origin) };
}

/** Checks the limits of a parsed value, because JSON is parsed without limits. */
const checkLimits = (value: unknown, limits: TextLimits): BoundedDocument => findExcess(value, limits) ?? { value };

/** Parses content of any size. Content beyond the maximum limits is rejected. */
export function parseAllManifests(text: ManifestText): Iterable<ReadManifest> {
  const parsedManifests = parseManifests(text, text.kind === 'file' ? fileLimits : responseLimits);
  return 'beyond' in parsedManifests
    ? createRejectedText(describeExcess(parsedManifests.beyond)).manifests
    : parsedManifests.manifests;
}

function* readDocuments(documents: readonly BoundedDocument[], origin: ManifestOrigin): Generator<ReadManifest> {
  for (const [index, document] of documents.entries()) {
    const path = documents.length > 1 ? `documents[${index}]` : '';
    if ('problem' in document) yield { path, manifest: createProblemFile(document.problem) };
    if (!('value' in document)) continue;
    for (const item of flattenItems(document.value, path)) yield { path: item.path, ...readObject(item.value, origin) };
  }
}

function readObject(value: unknown, origin: ManifestOrigin): Omit<ReadManifest, 'path'> {
  const kind = readKind(value);
  const isConfigObject = kind === 'ConfigMap' || kind === 'Secret';
  const exceededLimit = findExcess(value, isConfigObject ? objectLimits : podLimits);
  if (exceededLimit !== undefined)
    return {
      manifest: createProblemFile(
        'beyond' in exceededLimit ? describeExcess(exceededLimit.beyond) : exceededLimit.problem,
      ),
    };
  if (isConfigObject && isObject(value)) return readConfig(kind, value);
  const kindProblem = kind === undefined ? undefined : unsupportedKindProblem(kind);
  if (kindProblem === undefined) return readPod(value, origin);
  // An object of this kind contains no pods. It gets a key, because an object without one prevents the removal of
  // missing documents.
  return { key: `${kind}/`, manifest: { problems: [kindProblem] } };
}

function readPod(value: unknown, origin: ManifestOrigin): Omit<ReadManifest, 'path'> {
  const manifest = readManifest(value);
  const metadata = 'pod' in manifest ? manifest.pod.metadata : manifest.metadata;
  const readResult = createStaticPod(manifest, origin);
  if (metadata === undefined) return { manifest: readResult };
  const name = staticPodName(metadata.name, origin.nodeName);
  return { key: objectKey('Pod', { namespace: metadata.namespace || 'default', name }), manifest: readResult };
}

function readConfig(kind: ConfigKind, value: object): Omit<ReadManifest, 'path'> {
  const result = readObjectManifest(kind, value);
  const objectReference = 'object' in result ? result.object : result.reference;
  const objectSuffix =
    objectReference === undefined ? '' : ` (${kind} ${objectReference.namespace}/${objectReference.name})`;
  const annotateProblems = (problems: readonly Problem[]) =>
    limitProblems(problems.map(({ path, message }) => ({ path, message: `${message}${objectSuffix}` })));
  return {
    ...(objectReference === undefined ? {} : { key: objectKey(kind, objectReference) }),
    manifest:
      'object' in result
        ? { object: result.object, warnings: annotateProblems(result.warnings) }
        : { problems: annotateProblems(result.problems) },
  };
}

const createProblemFile = (message: string): ManifestFile => ({ problems: [{ path: '', message }] });

/** Returns the result for content without usable manifests. */
export const createRejectedText = (message: string): { readonly manifests: readonly ReadManifest[] } => ({
  manifests: [{ path: '', manifest: createProblemFile(message) }],
});

const describeExcess = (beyond: string): string => `has ${beyond}, more than this node accepts`;

function readKind(value: unknown): string | undefined {
  const kind: unknown = isObject(value) && Object.hasOwn(value, 'kind') && 'kind' in value ? value.kind : undefined;
  return typeof kind === 'string' ? kind : undefined;
}

/** Returns the kind of list items that do not specify their own kind, or undefined if `kind` is not a list. */
function kindOfItems(kind: string | undefined): string | undefined {
  if (kind === 'List') return 'Pod';
  const itemKind = kind?.endsWith('List') ? kind.slice(0, -'List'.length) : undefined;
  return itemKind !== undefined &&
    (['Pod', 'ConfigMap', 'Secret'].includes(itemKind) || unsupportedKindProblem(itemKind))
    ? itemKind
    : undefined;
}

/** Returns the items of a list and its nested lists, or the value itself if it is not a list. */
function flattenItems(value: unknown, path: string): { path: string; value: unknown }[] {
  const kind = kindOfItems(readKind(value));
  if (!isObject(value) || kind === undefined) return [{ path, value }];
  const itemsPath = path === '' ? 'items' : `${path}.items`;
  // Go encodes an empty list as null.
  const nestedItems: unknown = ('items' in value ? value.items : null) ?? [];
  if (!Array.isArray(nestedItems)) return [{ path: itemsPath, value: nestedItems }];
  return nestedItems.flatMap((item: unknown, index) =>
    flattenItems(isObject(item) ? { apiVersion: 'v1', kind, ...item } : item, `${itemsPath}[${index}]`),
  );
}
