/** Selects the handler of a request by its method and target. */
import { METRICS_GROUP, metricsHandlers } from '../metrics/metricsHandlers.ts';
import { isTrue } from '../options/writeOptions.ts';
import type { Outcome } from '../requests/request.ts';
import type { Verb } from '../resources/resource.ts';
import type { Target } from '../resources/target.ts';
import { bind } from './binding.ts';
import type { Call } from './call.ts';
import { evict } from './eviction.ts';
import { patch } from './patch.ts';
import { get, list } from './read.ts';
import { remove, removeAll } from './remove.ts';
import { reviews } from './reviews.ts';
import { requestToken } from './token.ts';
import { type Watch, watch } from './watch.ts';
import { create, update } from './write.ts';

export type Handler =
  | { readonly kind: 'whole'; readonly handle: (call: Call) => Outcome | Promise<Outcome> }
  | { readonly kind: 'watch'; readonly handle: (call: Call) => Watch };

const OBJECT_HANDLERS: ReadonlyMap<Verb, (call: Call) => Outcome | Promise<Outcome>> = new Map<
  Verb,
  (call: Call) => Outcome | Promise<Outcome>
>([
  ['create', create],
  ['update', update],
  ['patch', patch],
  ['delete', remove],
  ['deletecollection', removeAll],
  ['get', get],
  ['list', list],
]);

/** The handlers of subresources that can only be created. */
const CREATE_HANDLERS: ReadonlyMap<string, (call: Call) => Outcome> = new Map([
  ['binding', bind],
  ['eviction', evict],
  ['token', requestToken],
]);

/** Returns the handler of a request. Undefined if the target does not support the method. */
export function handlerOf(method: string, target: Target, query: URLSearchParams): Handler | undefined {
  const verb = verbOf(method, target, query);
  const verbs = target.subresource?.verbs ?? target.resource.verbs;
  if (verb === undefined || !verbs.includes(verb)) return undefined;
  if (verb === 'watch') return { kind: 'watch', handle: watch };
  const metricsHandler = target.resource.group === METRICS_GROUP ? metricsHandlers.get(verb) : undefined;
  const specialHandler =
    target.subresource === undefined ? reviews.get(target.resource.name) : CREATE_HANDLERS.get(target.subresource.name);
  const handle = metricsHandler ?? specialHandler ?? OBJECT_HANDLERS.get(verb);
  return handle && { kind: 'whole', handle };
}

/** Returns the verb of a method on a target (`endpoints/request/requestinfo.go` of apiserver). */
function verbOf(method: string, { name, subresource }: Target, query: URLSearchParams): Verb | undefined {
  const isNamed = name !== undefined;
  switch (method) {
    case 'GET':
      if (subresource === undefined && isTrue(query.get('watch'))) return 'watch';
      return isNamed ? 'get' : 'list';
    case 'POST':
      return isNamed && subresource === undefined ? undefined : 'create';
    case 'PUT':
      return isNamed ? 'update' : undefined;
    case 'PATCH':
      return isNamed ? 'patch' : undefined;
    case 'DELETE':
      return isNamed ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}
