/**
 * Tracks the documents of a file or response individually. An invalid document is replaced by its last valid version,
 * which is identified by kind, namespace and name.
 */
import type { Problem } from '../../kubernetes/api/problem.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { RequiredObject } from '../../kubernetes/api/validation/pod/static.ts';
import { podUpdate } from '../../kubernetes/lifecycle/update.ts';
import type { ConfigObject } from '../../kubernetes/objects/configObject.ts';
import { type ObjectManifest, objectOfManifest } from '../../kubernetes/objects/objectManifest.ts';
import { limitProblems } from './limitProblems.ts';
import { objectKey, type ReadManifest } from './manifest/manifestText.ts';

/** A problem in a file or response, with the `NAMESPACE/NAME` of the affected pod. */
export interface TextProblem extends Problem {
  readonly pod?: string;
  /** Whether the pod was rejected because of its RuntimeClass. */
  readonly isRejectedByClass?: true;
}

/**
 * The current version of a pod in its document. A new pod is used immediately, a changed one once all objects that it
 * references exist.
 */
export interface PendingPod {
  /** Position of the pod in the file or response. */
  readonly path: string;
  readonly pod: Pod;
  readonly requiredObjects: readonly RequiredObject[];
}

/** A document, which contains either a pod or an object that pods may reference. */
export interface ParsedDocument {
  /**
   * The version of the pod that is in use. This is an earlier version if the current one is invalid or waits for
   * objects.
   */
  readonly pod?: Pod;
  readonly pendingPod?: PendingPod;
  readonly object?: ConfigObject;
  readonly warnings: readonly TextProblem[];
}

export interface ParsedText {
  /** Keyed by kind, namespace and name. */
  readonly documents: ReadonlyMap<string, ParsedDocument>;
  readonly problems: readonly TextProblem[];
}

export const EMPTY_PARSED_TEXT: ParsedText = { documents: new Map(), problems: [] };

/** Creates parsed documents from persisted pods and objects. */
export const createRestoredText = (pods: readonly Pod[], objects: readonly ConfigObject[] = []): ParsedText => ({
  documents: new Map<string, ParsedDocument>([
    ...pods.map((pod) => [objectKey('Pod', pod.metadata), { pod, warnings: [] }] as const),
    ...objects.map((object) => [objectKey(object.kind, object), { object, warnings: [] }] as const),
  ]),
  problems: [],
});

export const listPods = ({ documents }: ParsedText): Pod[] =>
  [...documents.values()].flatMap(({ pod }) => (pod === undefined ? [] : [pod]));

/** Formats a pod as `NAMESPACE/NAME`. */
export const formatPodName = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

/**
 * Updates the documents with newly parsed manifests and removes the documents that no manifest contains. Removes none
 * if a manifest does not identify its object or if no manifest is valid, because a manifest may then be an invalid
 * version of a document that seems to be missing.
 */
export async function updateText(
  previousText: ParsedText,
  manifests: readonly ReadManifest[],
  nextTurn: () => Promise<void>,
): Promise<ParsedText> {
  const documents = new Map<string, ParsedDocument>();
  const problems: TextProblem[] = [];
  let [hasValid, hasUnidentified] = [false, false];
  for (const manifest of manifests) {
    const { key } = manifest;
    const previousDocument = key === undefined ? undefined : previousText.documents.get(key);
    const result = readDocument(manifest, previousDocument, key !== undefined && documents.has(key));
    // Yield, because comparing a pod with its previous version takes a long time.
    if (previousDocument?.pod !== undefined) await nextTurn();
    problems.push(...result.problems);
    hasValid ||= 'document' in result;
    hasUnidentified ||= key === undefined;
    if (key === undefined) continue;
    if ('document' in result) documents.set(key, result.document);
    else if (!documents.has(key)) retainVersionInUse(documents, key, previousDocument);
  }
  if (hasUnidentified || (manifests.length > 0 && !hasValid))
    for (const [key, previous] of previousText.documents)
      if (!documents.has(key)) retainVersionInUse(documents, key, previous);
  return { documents, problems: problems.length > MAX_PROBLEMS ? limitProblems(problems) : problems };
}

/** Retains the version of a pod that is in use, but not a pending version. */
function retainVersionInUse(
  documents: Map<string, ParsedDocument>,
  key: string,
  previous: ParsedDocument | undefined,
): void {
  if (previous?.pod) documents.set(key, { pod: previous.pod, warnings: previous.warnings });
  if (previous?.object) documents.set(key, { object: previous.object, warnings: previous.warnings });
}

/**
 * Maximum number of problems that are reported individually, because similar objects in a list often contain the same
 * error.
 */
const MAX_PROBLEMS = 100;

type DocumentResult = { readonly problems: readonly TextProblem[]; readonly document?: never } | ValidDocument;
interface ValidDocument {
  readonly problems: readonly [];
  readonly document: ParsedDocument;
}

function readDocument(
  { path, manifest }: ReadManifest,
  previousDocument: ParsedDocument | undefined,
  isDuplicate: boolean,
): DocumentResult {
  if ('problems' in manifest) {
    const cause = manifest.rejectedByClass === undefined ? {} : { isRejectedByClass: true as const };
    return { problems: prefixProblems(path, manifest.problems, manifest.name).map((each) => ({ ...each, ...cause })) };
  }
  return 'object' in manifest
    ? updateObject({ ...manifest, path }, previousDocument?.object, isDuplicate)
    : updatePod({ ...manifest, path }, previousDocument?.pod, isDuplicate);
}

function updatePod(
  { pod: read, requiredObjects, warnings, path }: PendingPod & { readonly warnings: readonly Problem[] },
  previousPod: Pod | undefined,
  isDuplicate: boolean,
): DocumentResult {
  const name = formatPodName(read);
  if (isDuplicate) return { problems: prefixProblems(path, [duplicateProblem('Pod', name)], name) };
  const pod = previousPod !== undefined && isIrrelevantChange(previousPod, read) ? previousPod : read;
  const pendingPod = { pod, requiredObjects, path };
  const document = {
    ...(previousPod === undefined ? {} : { pod: previousPod }),
    pendingPod,
    warnings: prefixProblems(path, warnings, name),
  };
  return { problems: [], document };
}

function updateObject(
  { object: read, warnings, path }: { object: ObjectManifest; warnings: readonly Problem[]; path: string },
  previousObject: ConfigObject | undefined,
  isDuplicate: boolean,
): DocumentResult {
  const { kind, namespace, name } = read;
  if (isDuplicate) return { problems: prefixProblems(path, [duplicateProblem(kind, `${namespace}/${name}`)]) };
  const object = objectOfManifest(read);
  if (previousObject?.isImmutable && previousObject.resourceVersion !== object.resourceVersion)
    return { problems: prefixProblems(path, [immutableProblem(read)]) };
  return {
    problems: [],
    document: {
      object: previousObject && isSameVersion(previousObject, object) ? previousObject : object,
      warnings: prefixProblems(path, warnings),
    },
  };
}

const isSameVersion = (first: ConfigObject, second: ConfigObject): boolean =>
  first.resourceVersion === second.resourceVersion;

const duplicateProblem = (kind: string, name: string): Problem => ({
  path: 'metadata.name',
  message: `Duplicate value: ${kind} ${name} is already defined in this text`,
});

/** Returns the problem of a changed immutable object, with the API server's message. */
const immutableProblem = ({ kind, namespace, name }: ObjectManifest): Problem => ({
  path: 'data',
  message: `Forbidden: field is immutable when \`immutable\` is set (${kind} ${namespace}/${name})`,
});

/** Adds the position of the document to the paths of its problems. */
export const prefixProblems = (path: string, problems: readonly Problem[], pod?: string): TextProblem[] =>
  problems.map((problem) => ({
    ...problem,
    path: [path, problem.path].filter(Boolean).join('.'),
    ...(pod === undefined ? {} : { pod }),
  }));

/** Whether none of the changes in a new version of a pod matters to the pod's actor. */
const isIrrelevantChange = (before: Pod, after: Pod): boolean =>
  Object.values(podUpdate(before, after)).every((isChanged) => !isChanged);
