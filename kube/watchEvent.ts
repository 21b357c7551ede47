/** Reads what a list has and what a watch tells: each object by itself, so that one that cannot be read stands in nobody's way. */
import * as z from 'zod/mini';
import { problemOf } from '../pod/api/problem.ts';
import { messageOf } from '../pod/failure.ts';
import { readAnswer } from './answer.ts';
import { kubeErrorFrom } from './kubeError.ts';

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
  items: z.optional(z.nullable(z.array(z.unknown()))),
});
/** As much as tells which object it was, of one that cannot be read. */
const namedSchema = z.looseObject({
  metadata: z.looseObject({
    namespace: z.optional(z.string()),
    name: z.optional(z.string()),
    resourceVersion: z.optional(z.string()),
  }),
});

/** What cannot be read, and how far the server has come with it, where it says so. */
interface Unreadable {
  readonly type: 'unreadable';
  readonly problem: string;
  readonly version?: string | undefined;
}

type Read = { readonly type: 'object'; readonly object: KubeObject } | Unreadable;

export type WatchEvent =
  | { readonly type: 'changed' | 'deleted'; readonly object: KubeObject }
  /** `endsInitial`: all there was at first has been told. */
  | { readonly type: 'bookmark'; readonly version: string; readonly endsInitial: boolean }
  | Unreadable;

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Throws what the server says has failed, and where it is no event at all; `asked` is what is watched. */
export function readWatchEvent(line: unknown, asked: string): WatchEvent {
  const { type, object } = readAnswer(eventSchema, line, { asked, expected: 'an event of a watch' });
  if (type === 'ERROR') throw kubeErrorFrom(object, 'the watch has failed');
  if (type === 'BOOKMARK') return readBookmark(object, asked);
  const read = readObject(object);
  if (read.type === 'unreadable') return read;
  return { type: type === 'DELETED' ? 'deleted' : 'changed', object: read.object };
}

function readBookmark(object: object, asked: string): WatchEvent {
  const { metadata } = readAnswer(bookmarkSchema, object, { asked, expected: 'a bookmark' });
  const endsInitial = Object.hasOwn(metadata.annotations ?? {}, INITIAL_EVENTS_END);
  return { type: 'bookmark', version: metadata.resourceVersion, endsInitial };
}

/** Its objects, each with what came of reading it; `asked` is what is listed. */
export function readList(
  answer: unknown,
  asked: string,
): { readonly version: string; readonly items: readonly Read[] } {
  const { metadata, items } = readAnswer(listSchema, answer, { asked, expected: 'a list of objects' });
  return { version: metadata.resourceVersion, items: (items ?? []).map(readObject) };
}

function readObject(object: unknown): Read {
  const read = z.safeParse(objectSchema, object);
  if (!read.success) return unreadable(object, read.error);
  // Which client has written which field is of use to the server alone, and makes half of an object.
  const { managedFields: _, ...metadata } = read.data.metadata;
  return { type: 'object', object: { ...read.data, metadata } };
}

/** What is wrong with an object, and which one that is. */
export function unreadable(object: unknown, error: unknown): Unreadable {
  const { namespace, name, resourceVersion } = z.safeParse(namedSchema, object).data?.metadata ?? {};
  const which = name === undefined ? 'an object without a name' : namespace ? `${namespace}/${name}` : name;
  return { type: 'unreadable', problem: `${which} cannot be read: ${whyOf(error, object)}`, version: resourceVersion };
}

function whyOf(error: unknown, object: unknown): string {
  if (!(error instanceof z.core.$ZodError)) return messageOf(error);
  const problems = error.issues.map((issue) => problemOf(issue, object));
  return problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}
