/** Parses lists of objects and the events of watches. */
import * as z from 'zod/mini';
import { messageOf } from '../base/failure.ts';
import { problemOf } from '../kubernetes/api/problem.ts';
import { assertObjectType, parseResponse, UnexpectedResponse } from './answer.ts';
import { createErrorFromStatus } from './kubeError.ts';
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
/** Schema of the type of a list item. A server may omit the type, because it follows from the type of the list. */
const typeSchema = z.looseObject({ apiVersion: z.optional(z.string()), kind: z.optional(z.string()) });
const namedObjectSchema = z.looseObject({
  metadata: z.looseObject({ namespace: z.optional(z.string()), name: z.optional(z.string()) }),
});

export type WatchEvent =
  | { readonly type: 'changed' | 'deleted'; readonly object: KubeObject }
  /** `endsInitial` is true once all objects that existed at the start of the watch have been sent. */
  | { readonly type: 'bookmark'; readonly version: string; readonly endsInitial: boolean };

/**
 * The expected type of the objects in a response. `request` describes the request in error messages, e.g. `GET
 * /api/v1/pods`.
 */
interface ExpectedObject {
  readonly request: string;
  readonly type: ObjectType;
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/**
 * Parses an event. Throws the error that an ERROR event contains, or an `UnexpectedResponse` if the line is not an
 * event about an object of the expected type.
 */
export function parseWatchEvent(line: unknown, { request, type: objectType }: ExpectedObject): WatchEvent {
  const { type, object } = parseResponse(eventSchema, line, { request, expected: 'an event of a watch' });
  if (type === 'ERROR') throw createErrorFromStatus(object, 'the watch has failed');
  assertObjectType(object, objectType, request);
  if (type === 'BOOKMARK') return parseBookmark(object, request);
  return { type: type === 'DELETED' ? 'deleted' : 'changed', object: parseObject(object, request) };
}

function parseBookmark(object: object, request: string): WatchEvent {
  const { metadata } = parseResponse(bookmarkSchema, object, { request, expected: 'a bookmark' });
  const isInitialEventsEnd = Object.hasOwn(metadata.annotations ?? {}, INITIAL_EVENTS_END);
  return { type: 'bookmark', version: metadata.resourceVersion, endsInitial: isInitialEventsEnd };
}

/**
 * Returns the objects of a list. Throws an `UnexpectedResponse` unless all of them have the expected type and a UID.
 * Rejects a partly valid list as a whole, because missing objects would be treated as deleted.
 */
export function parseList(
  list: unknown,
  { request, type }: ExpectedObject,
): { readonly version: string; readonly items: readonly KubeObject[] } {
  const { metadata, items } = parseResponse(listSchema, list, { request, expected: `a list of kind ${type.kind}List` });
  return { version: metadata.resourceVersion, items: items.map((item) => parseItem(item, { request, type })) };
}

function parseItem(item: unknown, { request, type }: ExpectedObject): KubeObject {
  const { apiVersion = type.apiVersion, kind = type.kind } = z.safeParse(typeSchema, item).data ?? {};
  assertObjectType({ apiVersion, kind }, type, request);
  return parseObject(item, request);
}

function parseObject(object: unknown, request: string): KubeObject {
  const result = z.safeParse(objectSchema, object);
  if (!result.success)
    throw new UnexpectedResponse(`${request}: ${describeInvalidObject(object, result.error)}`, { cause: result.error });
  // Remove managedFields, because only the server needs them and they make up about half of an object.
  const { managedFields: _, ...metadata } = result.data.metadata;
  return { ...result.data, metadata };
}

/** Returns a message with the object's name and its problems. */
export function describeInvalidObject(object: unknown, error: unknown): string {
  const { namespace, name } = z.safeParse(namedObjectSchema, object).data?.metadata ?? {};
  const objectName = name === undefined ? 'an object without a name' : namespace ? `${namespace}/${name}` : name;
  return `${objectName} cannot be read: ${describeProblems(error, object)}`;
}

function describeProblems(error: unknown, object: unknown): string {
  if (!(error instanceof z.core.$ZodError)) return messageOf(error);
  const problems = error.issues.map((issue) => problemOf(issue, object));
  return problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}
