/** Determines which pods and objects in a source's documents take effect, and reports problems with the others. */

import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { RequiredObject } from '../../../kubernetes/api/validation/pod/static.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../../kubernetes/shownName.ts';
import type { SourceProblem } from '../../../machines/shared/events/events.ts';
import type { LocalObject } from '../../objects/cache/persistedSourceObjects.ts';
import { limitProblems, shortProblem } from '../limitProblems.ts';
import {
  formatPodName,
  type ParsedDocument,
  type ParsedText,
  type PendingPod,
  prefixProblems,
  type TextProblem,
} from '../textDocuments.ts';
import { objectKey } from './manifestText.ts';

/**
 * The document that provides each pod or object. Maps a pod's UID or an object's key to the location of the document,
 * i.e. its path and key.
 */
export type DocumentHolders = ReadonlyMap<string, string>;

export interface ResolvedTexts {
  /** The parsed files or response, updated with the pods that now take effect. */
  readonly updatedTexts: ReadonlyMap<string, ParsedText>;
  readonly pods: readonly Pod[];
  readonly objects: readonly LocalObject[];
  readonly problems: readonly SourceProblem[];
  readonly warnings: readonly SourceProblem[];
  readonly documentHolders: DocumentHolders;
  /** Paths of the pods' files, keyed by UID. */
  readonly fileOf: ReadonlyMap<string, string>;
}

/** Terms that messages use for the origin of a source's manifests. */
export interface TextOrigin {
  /** The term for a single origin. */
  readonly textNoun: 'file' | 'response';
  /** The manifest directory, file or URL. */
  readonly searchedLocation: string;
}

interface DocumentLocation {
  readonly file: string;
  readonly key: string;
  readonly document: ParsedDocument;
}

/**
 * Resolves the documents in the order of their files. If two documents define the same pod or object, the one in
 * `currentHolders` still provides it. A new pod is used immediately, and its actor waits for missing ConfigMaps and
 * Secrets. A changed pod is used once the source contains the objects that it references. Until then, its last version
 * runs.
 */
export function resolveTexts(
  texts: ReadonlyMap<string, ParsedText>,
  currentHolders: DocumentHolders,
  origin: TextOrigin,
): ResolvedTexts {
  const objectHolders = resolveHolders(texts, currentHolders, ({ object }) => object && objectKey(object.kind, object));
  const findMissing = ({ pod, requiredObjects }: PendingPod): RequiredObject[] =>
    requiredObjects.filter(
      ({ kind, name }) => !objectHolders.has(objectKey(kind, { namespace: pod.metadata.namespace, name })),
    );
  const admittedTexts = new Map(Array.from(texts, ([file, text]) => [file, admitPods(text, findMissing)]));
  const podHolders = resolveHolders(admittedTexts, currentHolders, ({ pod }) => pod?.metadata.uid);
  const [pods, objects]: [Pod[], LocalObject[]] = [[], []];
  const [problems, warnings]: [SourceProblem[], SourceProblem[]] = [[], []];
  const fileByUid = new Map<string, string>();
  for (const [file, text] of admittedTexts) {
    problems.push(...text.problems.map((problem) => locateProblem(file, problem, origin)));
    for (const [key, document] of text.documents) {
      const { pod, object, pendingPod } = document;
      const missingObjects = pendingPod ? findMissing(pendingPod) : [];
      if (pendingPod && pendingPod.pod !== pod)
        problems.push(...deferredPodProblems(file, pendingPod, missingObjects, origin));
      else if (pendingPod) warnings.push(...missingObjectWarnings(file, pendingPod, missingObjects, origin));
      const [podHolder, objectHolder] = [pod && podHolders.get(pod.metadata.uid), object && objectHolders.get(key)];
      const location = formatLocation({ file, key });
      if (pod && podHolder !== location) problems.push(duplicateUidProblem(file, pod, fileOfLocation(podHolder)));
      if (object && objectHolder !== location)
        problems.push(duplicateObjectProblem(file, object, fileOfLocation(objectHolder)));
      if ((pod && podHolder !== location) || (object && objectHolder !== location)) continue;
      if (pod) fileByUid.set(pod.metadata.uid, file);
      if (pod) pods.push(pod);
      if (object) objects.push({ object, file });
      warnings.push(...document.warnings.map((warning) => ({ file, ...warning })));
    }
  }
  return {
    updatedTexts: admittedTexts,
    pods,
    objects,
    problems,
    warnings,
    documentHolders: new Map([...objectHolders, ...podHolders]),
    fileOf: fileByUid,
  };
}

/** Admits pending pods that are new or whose referenced objects all exist. */
function admitPods(text: ParsedText, missingFor: (wanted: PendingPod) => readonly RequiredObject[]): ParsedText {
  const isPodAdmitted = ({ pod, pendingPod }: ParsedDocument) =>
    pendingPod && pendingPod.pod !== pod && (pod === undefined || missingFor(pendingPod).length === 0);
  if (![...text.documents.values()].some(isPodAdmitted)) return text;
  const documents = Array.from(
    text.documents,
    ([key, document]) =>
      [
        key,
        document.pendingPod && isPodAdmitted(document) ? { ...document, pod: document.pendingPod.pod } : document,
      ] as const,
  );
  return { ...text, documents: new Map(documents) };
}

function resolveHolders(
  texts: ReadonlyMap<string, ParsedText>,
  currentHolders: DocumentHolders,
  getClaim: (document: ParsedDocument) => string | undefined,
): Map<string, string> {
  const newHolders = new Map<string, string>();
  for (const [file, { documents }] of texts) {
    for (const [key, document] of documents) {
      const claimedKey = getClaim(document);
      if (claimedKey === undefined) continue;
      const location = formatLocation({ file, key });
      if (!newHolders.has(claimedKey) || currentHolders.get(claimedKey) === location)
        newHolders.set(claimedKey, location);
    }
  }
  return newHolders;
}

/** Separates the path and the key in a location. No path contains this character. */
const LOCATION_SEPARATOR = '\0';
const formatLocation = ({ file, key }: Pick<DocumentLocation, 'file' | 'key'>): string =>
  `${file}${LOCATION_SEPARATOR}${key}`;
const fileOfLocation = (location = ''): string => location.slice(0, location.indexOf(LOCATION_SEPARATOR));

function locateProblem(
  file: string,
  { isRejectedByClass, ...problem }: TextProblem,
  { textNoun }: TextOrigin,
): SourceProblem {
  return {
    file,
    until: isRejectedByClass ? `the ${textNoun} or its RuntimeClass changes` : `the ${textNoun} changes`,
    ...problem,
  };
}

const formatRequired = ({ metadata: { namespace } }: Pod, { kind, name }: RequiredObject): string =>
  `${kind} ${formatObjectName({ namespace, name })}`;

/**
 * Reports a changed pod whose previous version keeps running until the source contains the objects that the new version
 * references.
 */
function deferredPodProblems(
  file: string,
  { pod, path }: PendingPod,
  missingObjects: readonly RequiredObject[],
  { textNoun, searchedLocation }: TextOrigin,
): SourceProblem[] {
  const names = [...new Set(missingObjects.map((required) => formatRequired(pod, required)))];
  const { message: wanted } = shortProblem({ path: '', message: names.join(', ') });
  const problems = limitProblems(
    missingObjects.map((required) => ({
      path: required.path,
      message: `${formatRequired(pod, required)} is not in ${searchedLocation}; the last version of the pod is used until it is`,
    })),
  );
  return prefixProblems(path, problems, formatPodName(pod)).map((problem) => ({
    file,
    ...problem,
    until: `the ${textNoun} changes, or ${textNoun === 'file' ? 'a file' : 'it'} has ${wanted}`,
  }));
}

/** Reports the objects that a pod references but that its source does not contain. */
function missingObjectWarnings(
  file: string,
  { pod, path }: PendingPod,
  missingObjects: readonly RequiredObject[],
  { searchedLocation }: TextOrigin,
): SourceProblem[] {
  const warnings = missingObjects.map((required) => {
    const effect = required.isOptional
      ? 'the pod runs without it'
      : 'containers that need it start as soon as it exists';
    return {
      path: required.path,
      message: `${formatRequired(pod, required)} is not in ${searchedLocation}; ${effect}`,
    };
  });
  return prefixProblems(path, limitProblems(warnings), formatPodName(pod)).map((warning) => ({ file, ...warning }));
}

const duplicateUidProblem = (file: string, pod: Pod, holder: string): SourceProblem => ({
  file,
  path: 'metadata.uid',
  message: `Duplicate value: "${pod.metadata.uid}": already used by the pod in ${holder}`,
  pod: formatPodName(pod),
  until: 'one of the two files changes',
});

const duplicateObjectProblem = (
  file: string,
  { kind, namespace, name }: ConfigObject,
  holderLocation: string,
): SourceProblem => ({
  file,
  path: 'metadata.name',
  message: `Duplicate value: ${kind} ${namespace}/${name} is already used from ${holderLocation}`,
  until: 'one of the two files changes',
});
