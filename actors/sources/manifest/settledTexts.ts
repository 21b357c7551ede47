/** What the texts of one source give together: which pods and objects are used, and why others are not. */

import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { RequiredObject } from '../../../kubernetes/api/validation/static.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../../kubernetes/shownName.ts';
import type { SourceProblem } from '../../../machines/shared/events.ts';
import type { LocalObject } from '../../objects/cache/persistedSourceObjects.ts';
import { problemsToTell, shortProblem } from '../problemsToTell.ts';
import {
  type StandingDocument,
  type StandingText,
  shownPod,
  type TextProblem,
  type WantedPod,
  within,
} from '../textDocuments.ts';
import { keyOf } from './manifestText.ts';

/** Who has what only one can have: the place of a document, by the uid of its pod or by what object it is. */
export type Holders = ReadonlyMap<string, string>;

export interface SettledTexts {
  /** With the pods that are used from now on. */
  readonly texts: ReadonlyMap<string, StandingText>;
  readonly pods: readonly Pod[];
  readonly objects: readonly LocalObject[];
  readonly problems: readonly SourceProblem[];
  readonly warnings: readonly SourceProblem[];
  readonly holders: Holders;
  /** The file of each pod, by uid. */
  readonly fileOf: ReadonlyMap<string, string>;
}

/** The words for the texts of a source in messages. */
export interface TextOrigin {
  /** The word for one of its texts. */
  readonly word: 'file' | 'response';
  /** The manifest directory, file or URL. */
  readonly searched: string;
}

interface Place {
  readonly file: string;
  readonly key: string;
  readonly document: StandingDocument;
}

/**
 * Settles texts by file, in their order. If two documents claim the same pod or object, the one in `held` retains it. A new
 * pod is used at once, and waits itself for the ConfigMaps and Secrets that are missing. A changed pod is used once the
 * source has the objects that it names, so that its last version runs until then.
 */
export function settled(texts: ReadonlyMap<string, StandingText>, held: Holders, origin: TextOrigin): SettledTexts {
  const objectHolders = holdersOf(texts, held, ({ object }) => object && keyOf(object.kind, object));
  const lacks = ({ pod, needs }: WantedPod): RequiredObject[] =>
    needs.filter(({ kind, name }) => !objectHolders.has(keyOf(kind, { namespace: pod.metadata.namespace, name })));
  const admitted = new Map(Array.from(texts, ([file, text]) => [file, admitting(text, lacks)]));
  const podHolders = holdersOf(admitted, held, ({ pod }) => pod?.metadata.uid);
  const [pods, objects]: [Pod[], LocalObject[]] = [[], []];
  const [problems, warnings]: [SourceProblem[], SourceProblem[]] = [[], []];
  const fileOf = new Map<string, string>();
  for (const [file, text] of admitted) {
    problems.push(...text.problems.map((problem) => located(file, problem, origin)));
    for (const [key, document] of text.documents) {
      const { pod, object, wanted } = document;
      const missing = wanted ? lacks(wanted) : [];
      if (wanted && wanted.pod !== pod) problems.push(...heldBack(file, wanted, missing, origin));
      else if (wanted) warnings.push(...missingObjects(file, wanted, missing, origin));
      const [podHolder, objectHolder] = [pod && podHolders.get(pod.metadata.uid), object && objectHolders.get(key)];
      const place = placeOf({ file, key });
      if (pod && podHolder !== place) problems.push(sameUid(file, pod, fileIn(podHolder)));
      if (object && objectHolder !== place) problems.push(sameObject(file, object, fileIn(objectHolder)));
      if ((pod && podHolder !== place) || (object && objectHolder !== place)) continue;
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

/** The text with the pods in use that may be. */
function admitting(text: StandingText, lacks: (wanted: WantedPod) => readonly RequiredObject[]): StandingText {
  const isAdmitted = ({ pod, wanted }: StandingDocument) =>
    wanted && wanted.pod !== pod && (pod === undefined || lacks(wanted).length === 0);
  if (![...text.documents.values()].some(isAdmitted)) return text;
  const documents = Array.from(
    text.documents,
    ([key, document]) =>
      [key, document.wanted && isAdmitted(document) ? { ...document, pod: document.wanted.pod } : document] as const,
  );
  return { ...text, documents: new Map(documents) };
}

function holdersOf(
  texts: ReadonlyMap<string, StandingText>,
  held: Holders,
  claimOf: (document: StandingDocument) => string | undefined,
): Map<string, string> {
  const holders = new Map<string, string>();
  for (const [file, { documents }] of texts) {
    for (const [key, document] of documents) {
      const claim = claimOf(document);
      if (claim === undefined) continue;
      const place = placeOf({ file, key });
      if (!holders.has(claim) || held.get(claim) === place) holders.set(claim, place);
    }
  }
  return holders;
}

/** No path has this character. */
const BETWEEN = '\0';
const placeOf = ({ file, key }: Pick<Place, 'file' | 'key'>): string => `${file}${BETWEEN}${key}`;
const fileIn = (place = ''): string => place.slice(0, place.indexOf(BETWEEN));

function located(file: string, { isOfClass, ...problem }: TextProblem, { word }: TextOrigin): SourceProblem {
  return { file, until: isOfClass ? `the ${word} or its RuntimeClass changes` : `the ${word} changes`, ...problem };
}

const shownNeed = ({ metadata: { namespace } }: Pod, { kind, name }: RequiredObject): string =>
  `${kind} ${formatObjectName({ namespace, name })}`;

/** Reports a changed pod whose last version runs until the source has the objects that the new one names. */
function heldBack(
  file: string,
  { pod, path }: WantedPod,
  missing: readonly RequiredObject[],
  { word, searched }: TextOrigin,
): SourceProblem[] {
  const names = [...new Set(missing.map((need) => shownNeed(pod, need)))];
  const { message: wanted } = shortProblem({ path: '', message: names.join(', ') });
  const problems = problemsToTell(
    missing.map((need) => ({
      path: need.path,
      message: `${shownNeed(pod, need)} is not in ${searched}; the last version of the pod is used until it is`,
    })),
  );
  return within(path, problems, shownPod(pod)).map((problem) => ({
    file,
    ...problem,
    until: `the ${word} changes, or ${word === 'file' ? 'a file' : 'it'} has ${wanted}`,
  }));
}

/** Reports the objects that a pod in use names and its source does not have. */
function missingObjects(
  file: string,
  { pod, path }: WantedPod,
  missing: readonly RequiredObject[],
  { searched }: TextOrigin,
): SourceProblem[] {
  const warnings = missing.map((need) => {
    const effect = need.isOptional ? 'the pod runs without it' : 'containers that need it start as soon as it exists';
    return { path: need.path, message: `${shownNeed(pod, need)} is not in ${searched}; ${effect}` };
  });
  return within(path, problemsToTell(warnings), shownPod(pod)).map((warning) => ({ file, ...warning }));
}

/** Two files are two pods, and a uid is one pod's. */
const sameUid = (file: string, pod: Pod, holder: string): SourceProblem => ({
  file,
  path: 'metadata.uid',
  message: `Duplicate value: "${pod.metadata.uid}": already used by the pod of ${holder}`,
  pod: shownPod(pod),
  until: 'one of the two files changes',
});

const sameObject = (file: string, { kind, namespace, name }: ConfigObject, holder: string): SourceProblem => ({
  file,
  path: 'metadata.name',
  message: `Duplicate value: ${kind} ${namespace}/${name} is already used as it is in ${holder}`,
  until: 'one of the two files changes',
});
