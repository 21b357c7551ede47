/** Gets and lists objects (`endpoints/handlers/get.go` of apiserver). */
import { badRequest, expired, Failure, notFound } from '../failures/failures.ts';
import type { JsonObject } from '../json.ts';
import { type ListOptions, listOptions } from '../options/listOptions.ts';
import type { Registry } from '../registry/registry.ts';
import type { Outcome } from '../requests/request.ts';
import { groupVersion, storedAs } from '../resources/resource.ts';
import { continueToken, readContinueToken } from '../selection/continueToken.ts';
import { selectorOf } from '../selection/selector.ts';
import { metadataOf } from '../store/metadata.ts';
import { type Call, locationOf } from './call.ts';

export async function get(call: Call): Promise<Outcome> {
  await waitForVersion(call.registry, call.query.get('resourceVersion') ?? '');
  return {
    code: 200,
    object: call.staleBy === 0 ? call.registry.get(locationOf(call)) : staleObject(call),
    warnings: [],
  };
}

/** Returns the object as it was before the ignored writes. */
function staleObject(call: Call): JsonObject {
  const { resource, name = '' } = call.target;
  const found = selectedObjects(call, call.registry.store.list(storedAs(resource), readRevision(call)), () => true)[0];
  if (found === undefined) throw notFound(resource, name);
  return found;
}

const readRevision = ({ registry, staleBy }: Call): number => registry.store.revision - staleBy;

export async function list(call: Call): Promise<Outcome> {
  const { registry, strategy, target } = call;
  const options = listOptions(call.query);
  const selects = selectorOf(options, strategy);
  const from = options.continue === '' ? undefined : readContinueToken(options.continue);
  if (from !== undefined && !['', '0'].includes(options.resourceVersion))
    throw badRequest('specifying resource version is not allowed when using continue');
  const version = await waitForVersion(registry, options.resourceVersion);
  const revision = from?.revision ?? (options.resourceVersionMatch === 'Exact' ? version : readRevision(call));
  const all = registry.store.listAt(storedAs(target.resource), revision);
  if (all === undefined) throw expired('The resourceVersion for the provided list is too old.');
  const rest = from === undefined ? all : all.filter(([key]) => key > from.after);
  return { code: 200, object: page(call, rest, { options, selects, revision }), warnings: [] };
}

type Keyed = readonly (readonly [key: string, object: JsonObject])[];

interface ListRequest {
  readonly options: ListOptions;
  readonly selects: (object: JsonObject) => boolean;
  readonly revision: number;
}

/** Returns a page of a list. */
function page(call: Call, all: Keyed, { options, selects, revision }: ListRequest): JsonObject {
  const found = all.filter(([, object]) => isInTarget(call, object) && selects(object));
  // A list from the cache (resourceVersion 0) ignores the limit.
  const isCut = options.limit > 0 && options.resourceVersion !== '0' && found.length > options.limit;
  const shown = isCut ? found.slice(0, options.limit) : found;
  const [last] = shown.at(-1) ?? [];
  const isSelective = options.labelSelector !== '' || options.fieldSelector !== '';
  return listOf(
    call,
    shown.map(([, object]) => object),
    {
      resourceVersion: String(revision),
      ...(isCut && last !== undefined ? { continue: continueToken({ revision, after: last }) } : {}),
      ...(isCut && !isSelective ? { remainingItemCount: found.length - shown.length } : {}),
    },
  );
}

/** Whether the target of a call includes an object. */
export const isInTarget = ({ target: { namespace, name } }: Call, object: JsonObject): boolean => {
  const metadata = metadataOf(object);
  const isNamed = name === undefined || metadata.name === name;
  return isNamed && (namespace === undefined || metadata.namespace === namespace);
};

/** Returns the objects that the target of a call includes. */
export const selectedObjects = (call: Call, all: Keyed, selects: (object: JsonObject) => boolean): JsonObject[] =>
  all.map(([, object]) => object).filter((object) => isInTarget(call, object) && selects(object));

/** Wraps objects in a list of their kind. */
export function listOf({ target: { resource } }: Call, objects: readonly JsonObject[], metadata: JsonObject) {
  return {
    kind: `${resource.kind}List`,
    apiVersion: groupVersion(resource),
    metadata,
    items: objects,
  } satisfies JsonObject;
}

/** Maximum time to wait for a future resource version, in milliseconds. */
const MAX_WAIT_MS = 3000;

/** Waits until the server has reached a resource version, and returns it. Throws a `Failure` on timeout. */
async function waitForVersion(registry: Registry, text: string): Promise<number> {
  const version = parseVersion(text);
  if (version > registry.store.revision) await delay(registry, MAX_WAIT_MS);
  if (version <= registry.store.revision) return version;
  const message = 'Too large resource version';
  throw new Failure(504, 'Timeout', `Timeout: ${message}: ${version}, current: ${registry.store.revision}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message }],
    retryAfterSeconds: 1,
  });
}

const delay = ({ clock }: Registry, ms: number): Promise<void> =>
  new Promise((done) => void clock.setTimeout(done, ms));

function parseVersion(text: string): number {
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  throw badRequest(
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}
