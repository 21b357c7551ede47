/**
 * What the documents of a text give, each by itself: one that is wrong stands with its last good version, which is the one
 * of the same kind, namespace and name.
 */
import type { Problem } from '../../kubernetes/api/problem.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { RequiredObject } from '../../kubernetes/api/validation/static.ts';
import { podUpdate } from '../../kubernetes/lifecycle/update.ts';
import type { ConfigObject } from '../../kubernetes/objects/configObject.ts';
import { type ObjectManifest, objectOfManifest } from '../../kubernetes/objects/objectManifest.ts';
import { keyOf, type ReadManifest } from './manifest/manifestText.ts';
import { problemsToTell } from './problemsToTell.ts';

/** A mistake in a text, and the pod that it is about, `NAMESPACE/NAME`. */
export interface TextProblem extends Problem {
  readonly pod?: string;
  /** It is for its RuntimeClass that the pod is refused. */
  readonly isOfClass?: true;
}

/** A pod as it is written now, which is used where all is there that it needs. */
export interface WantedPod {
  /** Where it stands in its text. */
  readonly path: string;
  readonly pod: Pod;
  readonly needs: readonly RequiredObject[];
}

/** One document of a text as it stands: a pod, or an object that pods may name. */
export interface StandingDocument {
  /** As it is used: of before, where the text has nothing better. */
  readonly pod?: Pod;
  readonly wanted?: WantedPod;
  readonly object?: ConfigObject;
  readonly warnings: readonly TextProblem[];
}

export interface StandingText {
  /** By what each of them is. */
  readonly documents: ReadonlyMap<string, StandingDocument>;
  readonly problems: readonly TextProblem[];
}

export const EMPTY_TEXT: StandingText = { documents: new Map(), problems: [] };

/** A text of which no more is known than the pods that it gave, and the objects. */
export const textOf = (pods: readonly Pod[], objects: readonly ConfigObject[] = []): StandingText => ({
  documents: new Map<string, StandingDocument>([
    ...pods.map((pod) => [keyOf('Pod', pod.metadata), { pod, warnings: [] }] as const),
    ...objects.map((object) => [keyOf(object.kind, object), { object, warnings: [] }] as const),
  ]),
  problems: [],
});

export const podsIn = ({ documents }: StandingText): Pod[] =>
  [...documents.values()].flatMap(({ pod }) => (pod === undefined ? [] : [pod]));

/** `NAMESPACE/NAME` */
export const shownPod = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

/**
 * Takes in what a text gives now. What is not in it any more is gone; but while a document does not say which object it is,
 * or none is right, it may be any of those.
 */
export async function takenIn(
  before: StandingText,
  read: readonly ReadManifest[],
  nextTurn: () => Promise<void>,
): Promise<StandingText> {
  const documents = new Map<string, StandingDocument>();
  const problems: TextProblem[] = [];
  let [isAnyRight, mayBeAny] = [false, false];
  for (const each of read) {
    const { key } = each;
    const known = key === undefined ? undefined : before.documents.get(key);
    const taken = taking(each, known, key !== undefined && documents.has(key));
    // To compare a pod with that of before takes its time.
    if (known?.pod !== undefined) await nextTurn();
    problems.push(...taken.problems);
    isAnyRight ||= 'document' in taken;
    mayBeAny ||= key === undefined;
    if (key === undefined) continue;
    if ('document' in taken) documents.set(key, taken.document);
    else if (!documents.has(key)) stand(documents, key, known);
  }
  if (mayBeAny || (read.length > 0 && !isAnyRight))
    for (const [key, known] of before.documents) if (!documents.has(key)) stand(documents, key, known);
  return { documents, problems: problems.length > MOST_PROBLEMS ? problemsToTell(problems) : problems };
}

/** What is in use stays so; what was only wanted is wanted no more. */
function stand(documents: Map<string, StandingDocument>, key: string, known: StandingDocument | undefined): void {
  if (known?.pod) documents.set(key, { pod: known.pod, warnings: known.warnings });
  if (known?.object) documents.set(key, { object: known.object, warnings: known.warnings });
}

/** A list of objects that are all alike has the same mistake in each. */
const MOST_PROBLEMS = 100;

type Taken = { readonly problems: readonly TextProblem[]; readonly document?: never } | Right;
interface Right {
  readonly problems: readonly [];
  readonly document: StandingDocument;
}

function taking({ path, read }: ReadManifest, known: StandingDocument | undefined, isTwice: boolean): Taken {
  if ('problems' in read) {
    const own = read.refusedByClass === undefined ? {} : { isOfClass: true as const };
    return { problems: within(path, read.problems, read.name).map((each) => ({ ...each, ...own })) };
  }
  return 'object' in read
    ? takingObject({ ...read, path }, known?.object, isTwice)
    : takingPod({ ...read, path }, known?.pod, isTwice);
}

function takingPod(
  { pod: read, needs, warnings, path }: WantedPod & { readonly warnings: readonly Problem[] },
  known: Pod | undefined,
  isTwice: boolean,
): Taken {
  const name = shownPod(read);
  if (isTwice) return { problems: within(path, [twice('Pod', name)], name) };
  const pod = known !== undefined && isEcho(known, read) ? known : read;
  const wanted = { pod, needs, path };
  const document = { ...(known === undefined ? {} : { pod: known }), wanted, warnings: within(path, warnings, name) };
  return { problems: [], document };
}

function takingObject(
  { object: read, warnings, path }: { object: ObjectManifest; warnings: readonly Problem[]; path: string },
  known: ConfigObject | undefined,
  isTwice: boolean,
): Taken {
  const { kind, namespace, name } = read;
  if (isTwice) return { problems: within(path, [twice(kind, `${namespace}/${name}`)]) };
  const object = objectOfManifest(read);
  if (known?.isImmutable && known.resourceVersion !== object.resourceVersion)
    return { problems: within(path, [sealed(read)]) };
  return {
    problems: [],
    document: { object: known && isSame(known, object) ? known : object, warnings: within(path, warnings) },
  };
}

const isSame = (one: ConfigObject, other: ConfigObject): boolean => one.resourceVersion === other.resourceVersion;

const twice = (kind: string, name: string): Problem => ({
  path: 'metadata.name',
  message: `Duplicate value: ${kind} ${name} is in this text already`,
});

/** As an API server says it. */
const sealed = ({ kind, namespace, name }: ObjectManifest): Problem => ({
  path: 'data',
  message: `Forbidden: field is immutable when \`immutable\` is set (${kind} ${namespace}/${name})`,
});

/** Problems where they stand in the text. */
export const within = (path: string, problems: readonly Problem[], pod?: string): TextProblem[] =>
  problems.map((problem) => ({
    ...problem,
    path: [path, problem.path].filter(Boolean).join('.'),
    ...(pod === undefined ? {} : { pod }),
  }));

/** Whether another version of a pod is only an echo: nothing of it is another that its actor would be told of. */
const isEcho = (before: Pod, after: Pod): boolean =>
  Object.values(podUpdate(before, after)).every((isChanged) => !isChanged);
