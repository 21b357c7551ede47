/** Resolves the documents of a source's texts to the pods and objects in use, and reports problems with the others. */

import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { RequiredObject } from '../../../kubernetes/api/validation/static.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../../kubernetes/shownName.ts';
import type { SourceProblem } from '../../../machines/shared/events.ts';
import type { LocalObject } from '../../objects/cache/persistedSourceObjects.ts';
import { limitProblems, shortProblem } from '../limitProblems.ts';
import {
  formatPodName,
  type ParsedDocument,
  type ParsedText,
  prefixProblems,
  type TextProblem,
  type WantedPod,
} from '../textDocuments.ts';
import { keyOf } from './manifestText.ts';

/**
 * The document that provides each pod or object. Maps a pod's UID or an object's key to the path and key of the
 * document.
 */
export type Holders = ReadonlyMap<string, string>;

export interface ResolvedTexts {
  /** The texts, updated with the pods that are now in use. */
  readonly texts: ReadonlyMap<string, ParsedText>;
  readonly pods: readonly Pod[];
  readonly objects: readonly LocalObject[];
  readonly problems: readonly SourceProblem[];
  readonly warnings: readonly SourceProblem[];
  readonly holders: Holders;
  /** Paths of the pods' files, keyed by UID. */
  readonly fileOf: ReadonlyMap<string, string>;
}

/** The terms for a source's texts in messages. */
export interface TextOrigin {
  /** The term for a single text. */
  readonly word: 'file' | 'response';
  /** The manifest directory, file or URL. */
  readonly searched: string;
}

interface DocumentLocation {
  readonly file: string;
  readonly key: string;
  readonly document: ParsedDocument;
}

/**
 * Resolves texts in the order of their files. If two documents claim the same pod or object, the one in `held` retains
 * it. A new pod is used immediately, and its actor waits for missing ConfigMaps and Secrets. A changed pod is used once
 * the source contains the objects that it references. Until then, its last version runs.
 */
export function resolveTexts(texts: ReadonlyMap<string, ParsedText>, held: Holders, origin: TextOrigin): ResolvedTexts {
  const objectHolders = resolveHolders(texts, held, ({ object }) => object && keyOf(object.kind, object));
  const missingFor = ({ pod, needs }: WantedPod): RequiredObject[] =>
    needs.filter(({ kind, name }) => !objectHolders.has(keyOf(kind, { namespace: pod.metadata.namespace, name })));
  const admitted = new Map(Array.from(texts, ([file, text]) => [file, admitPods(text, missingFor)]));
  const podHolders = resolveHolders(admitted, held, ({ pod }) => pod?.metadata.uid);
  const [pods, objects]: [Pod[], LocalObject[]] = [[], []];
  const [problems, warnings]: [SourceProblem[], SourceProblem[]] = [[], []];
  const fileOf = new Map<string, string>();
  for (const [file, text] of admitted) {
    problems.push(...text.problems.map((problem) => located(file, problem, origin)));
    for (const [key, document] of text.documents) {
      const { pod, object, wanted } = document;
      const missing = wanted ? missingFor(wanted) : [];
      if (wanted && wanted.pod !== pod) problems.push(...deferredPodProblems(file, wanted, missing, origin));
      else if (wanted) warnings.push(...missingObjectWarnings(file, wanted, missing, origin));
      const [podHolder, objectHolder] = [pod && podHolders.get(pod.metadata.uid), object && objectHolders.get(key)];
      const location = locationOf({ file, key });
      if (pod && podHolder !== location) problems.push(duplicateUidProblem(file, pod, fileOfLocation(podHolder)));
      if (object && objectHolder !== location)
        problems.push(duplicateObjectProblem(file, object, fileOfLocation(objectHolder)));
      if ((pod && podHolder !== location) || (object && objectHolder !== location)) continue;
      if (pod) fileOf.set(pod.metadata.uid, file);
      if (pod) pods.push(pod);
      if (object) objects.push({ object, file });
      warnings.push(...document.warnings.map((warning) => ({ file, ...warning })));
    }
  }
  return {
    texts: admitted,
    pods,
    objects,
    problems,
    warnings,
    holders: new Map([...objectHolders, ...podHolders]),
    fileOf,
  };
}

/** Replaces changed pods in use whose objects exist. */
function admitPods(text: ParsedText, missingFor: (wanted: WantedPod) => readonly RequiredObject[]): ParsedText {
  const isAdmitted = ({ pod, wanted }: ParsedDocument) =>
    wanted && wanted.pod !== pod && (pod === undefined || missingFor(wanted).length === 0);
  if (![...text.documents.values()].some(isAdmitted)) return text;
  const documents = Array.from(
    text.documents,
    ([key, document]) =>
      [key, document.wanted && isAdmitted(document) ? { ...document, pod: document.wanted.pod } : document] as const,
  );
  return { ...text, documents: new Map(documents) };
}

function resolveHolders(
  texts: ReadonlyMap<string, ParsedText>,
  held: Holders,
  claimOf: (document: ParsedDocument) => string | undefined,
): Map<string, string> {
  const holders = new Map<string, string>();
  for (const [file, { documents }] of texts) {
    for (const [key, document] of documents) {
      const claim = claimOf(document);
      if (claim === undefined) continue;
      const location = locationOf({ file, key });
      if (!holders.has(claim) || held.get(claim) === location) holders.set(claim, location);
    }
  }
  return holders;
}

/** Separates path and key in a location. No path contains it. */
const SEPARATOR = '\0';
const locationOf = ({ file, key }: Pick<DocumentLocation, 'file' | 'key'>): string => `${file}${SEPARATOR}${key}`;
const fileOfLocation = (location = ''): string => location.slice(0, location.indexOf(SEPARATOR));

function located(file: string, { isRejectedByClass, ...problem }: TextProblem, { word }: TextOrigin): SourceProblem {
  return {
    file,
    until: isRejectedByClass ? `the ${word} or its RuntimeClass changes` : `the ${word} changes`,
    ...problem,
  };
}

const formatRequired = ({ metadata: { namespace } }: Pod, { kind, name }: RequiredObject): string =>
  `${kind} ${formatObjectName({ namespace, name })}`;

/** Reports a changed pod whose last version runs until the source has the objects that the new version references. */
function deferredPodProblems(
  file: string,
  { pod, path }: WantedPod,
  missing: readonly RequiredObject[],
  { word, searched }: TextOrigin,
): SourceProblem[] {
  const names = [...new Set(missing.map((required) => formatRequired(pod, required)))];
  const { message: wanted } = shortProblem({ path: '', message: names.join(', ') });
  const problems = limitProblems(
    missing.map((required) => ({
      path: required.path,
      message: `${formatRequired(pod, required)} is not in ${searched}; the last version of the pod is used until it is`,
    })),
  );
  return prefixProblems(path, problems, formatPodName(pod)).map((problem) => ({
    file,
    ...problem,
    until: `the ${word} changes, or ${word === 'file' ? 'a file' : 'it'} has ${wanted}`,
  }));
}

/** Reports the objects that a pod in use references but its source does not contain. */
function missingObjectWarnings(
  file: string,
  { pod, path }: WantedPod,
  missing: readonly RequiredObject[],
  { searched }: TextOrigin,
): SourceProblem[] {
  const warnings = missing.map((required) => {
    const effect = required.isOptional
      ? 'the pod runs without it'
      : 'containers that need it start as soon as it exists';
    return { path: required.path, message: `${formatRequired(pod, required)} is not in ${searched}; ${effect}` };
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
  holder: string,
): SourceProblem => ({
  file,
  path: 'metadata.name',
  message: `Duplicate value: ${kind} ${namespace}/${name} is already used from ${holder}`,
  until: 'one of the two files changes',
});
