/** Reads the objects of lists and the events of watches. */
import * as z from 'zod/mini';
import { messageOf } from '../base/failure.ts';
import { problemOf } from '../kubernetes/api/problem.ts';
import { assertObjectType, OddAnswer, readAnswer } from './answer.ts';
import { kubeErrorFrom } from './kubeError.ts';
import type { ObjectType } from './paths.ts';

const objectSchema = z.looseObject({
  metadata: z.looseObject({
    uid: z.string().check(z.minLength(1)),
    resourceVersion: z.optional(z.string()),
  }),
});

export type KubeObject = z.infer<typeof objectSchema>;

const eventSchema = z.looseObject({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']),
  object: z.looseObject({}),
});
const bookmarkSchema = z.looseObject({
  metadata: z.looseObject({
    resourceVersion: z.string().check(z.minLength(1)),
    annotations: z.optional(z.nullable(z.looseObject({}))),
  }),
});
const listSchema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string() }),
  items: z.array(z.unknown()),
});
/** The items of a typed list need not repeat the type that the list has. */
const typeSchema = z.looseObject({ apiVersion: z.optional(z.string()), kind: z.optional(z.string()) });
/** The fields that identify an object in a message about it. */
const namedSchema = z.looseObject({
  metadata: z.looseObject({ namespace: z.optional(z.string()), name: z.optional(z.string()) }),
});

export type WatchEvent =
  | { readonly type: 'changed' | 'deleted'; readonly object: KubeObject }
  /** `endsInitial`: all objects that existed when the watch started have been sent. */
  | { readonly type: 'bookmark'; readonly version: string; readonly endsInitial: boolean };

/** The request that is answered, such as `GET /api/v1/pods`, and the type of its objects. */
interface Expected {
  readonly asked: string;
  readonly type: ObjectType;
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Throws the error that the server reports, or an `OddAnswer` if the line is not an event about such an object. */
export function readWatchEvent(line: unknown, { asked, type: objectType }: Expected): WatchEvent {
  const { type, object } = readAnswer(eventSchema, line, { asked, expected: 'an event of a watch' });
  if (type === 'ERROR') throw kubeErrorFrom(object, 'the watch has failed');
  assertObjectType(object, objectType, asked);
  if (type === 'BOOKMARK') return readBookmark(object, asked);
  return { type: type === 'DELETED' ? 'deleted' : 'changed', object: readObject(object, asked) };
}

function readBookmark(object: object, asked: string): WatchEvent {
  const { metadata } = readAnswer(bookmarkSchema, object, { asked, expected: 'a bookmark' });
  const endsInitial = Object.hasOwn(metadata.annotations ?? {}, INITIAL_EVENTS_END);
  return { type: 'bookmark', version: metadata.resourceVersion, endsInitial };
}

/**
 * Returns the objects of a list. Throws an `OddAnswer` unless all of them are of the expected type and have a UID:
 * whatever is missing from a list counts as deleted, so a list that is understood in part must not be used at all.
 */
export function readList(
  list: unknown,
  { asked, type }: Expected,
): { readonly version: string; readonly items: readonly KubeObject[] } {
  const { metadata, items } = readAnswer(listSchema, list, { asked, expected: `a list of kind ${type.kind}List` });
  return { version: metadata.resourceVersion, items: items.map((item) => readItem(item, { asked, type })) };
}

function readItem(item: unknown, { asked, type }: Expected): KubeObject {
  const { apiVersion = type.apiVersion, kind = type.kind } = z.safeParse(typeSchema, item).data ?? {};
  assertObjectType({ apiVersion, kind }, type, asked);
  return readObject(item, asked);
}

function readObject(object: unknown, asked: string): KubeObject {
  const read = z.safeParse(objectSchema, object);
  if (!read.success) throw new OddAnswer(`${asked}: ${unreadable(object, read.error)}`, { cause: read.error });
  // managedFields matter to the server only, and take up half of an object.
  const { managedFields: _, ...metadata } = read.data.metadata;
  return { ...read.data, metadata };
}

/** Returns a message that names the object and its first invalid fields. */
export function unreadable(object: unknown, error: unknown): string {
  const { namespace, name } = z.safeParse(namedSchema, object).data?.metadata ?? {};
  const which = name === undefined ? 'an object without a name' : namespace ? `${namespace}/${name}` : name;
  return `${which} cannot be read: ${whyOf(error, object)}`;
}

function whyOf(error: unknown, object: unknown): string {
  if (!(error instanceof z.core.$ZodError)) return messageOf(error);
  const problems = error.issues.map((issue) => problemOf(issue, object));
  return problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}
