/**
 * Summarizes the requests of a node by object, without values that differ between runs. The comparison uses these
 * summaries.
 */
import { lookUp } from '../../../../base/values/lookUp.ts';
import { fieldPaths, fieldsOf, type Json, mergedStatus, momentOf, plainText } from './plain.ts';
import { type Reads, readsOf } from './reads.ts';
import type { SentRequest } from './recording.ts';

/** The requests about one pod, or about successive pods with the same name. */
export interface PodAccount {
  /** The status after each patch. Patches that change nothing in the comparison are omitted. */
  readonly moments: readonly string[];
  /** Creations, phase changes and deletions, in order: `POST {…}`, `PATCH phase Running`, `DELETE {…}`. */
  readonly writes: readonly string[];
  readonly gets: number;
  readonly patches: number;
  /** Events in the order of their first occurrence, e.g. `Normal Started spec.containers{main}: Container started`. */
  readonly events: readonly string[];
}

/** Number of requests of each kind about pods. */
export interface Sent {
  readonly gets: number;
  /** Status patches, without those that equal the previous one. */
  readonly patches: number;
  readonly deletes: number;
  /** New events. `repeats` is the number of updates of recurring events. */
  readonly events: number;
  readonly repeats: number;
}

export interface Account {
  readonly sent: Sent;
  /** Accounts by `namespace/name` of the pod. */
  readonly pods: ReadonlyMap<string, PodAccount>;
  readonly reads: Reads;
  /** Fields of the events, each with its verb: POST for a new event, PATCH for a recurring one. */
  readonly eventFields: ReadonlySet<string>;
  /** All kinds of requests, e.g. `PATCH /api/v1/namespaces/‹›/pods/‹›/status`. */
  readonly kinds: ReadonlySet<string>;
}

const POD = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)(\/status)?$/;
const PODS = /^\/api\/v1\/namespaces\/([^/]+)\/pods$/;
const EVENTS = /^\/api\/v1\/namespaces\/[^/]+\/events/;

export const isEvent = ({ path }: SentRequest): boolean => EVENTS.test(path);
/** Whether a request succeeded. The recordings have no bodies of requests that did not reach the server. */
export const isAnswered = ({ code }: SentRequest): boolean => code !== undefined && code < 400;

export function accountOf(requests: readonly SentRequest[]): Account {
  const ofPods = Map.groupBy(requests, podOf);
  const pods = [...ofPods].flatMap(([name, all]) => (name === undefined ? [] : [[name, podAccount(all)] as const]));
  const eventsOfPods = requests.filter((each) => isEvent(each) && isAnswered(each));
  const all = pods.map(([, account]) => account);
  const sum = (amount: (account: PodAccount) => number) => all.reduce((total, each) => total + amount(each), 0);
  return {
    sent: {
      gets: sum(({ gets }) => gets),
      patches: sum(({ moments }) => moments.length),
      deletes: sum(({ writes }) => writes.filter((write) => write.startsWith('DELETE')).length),
      events: sum(({ events }) => events.length),
      repeats: eventsOfPods.filter(({ verb }) => verb === 'PATCH').length,
    },
    pods: new Map(pods),
    reads: readsOf(requests),
    eventFields: new Set(eventsOfPods.flatMap(({ verb, body }) => fieldPaths(body).map((path) => `${verb} ${path}`))),
    kinds: new Set(requests.map(kindOf)),
  };
}

/** Returns the `namespace/name` of the pod that a request is about. */
function podOf(request: SentRequest): string | undefined {
  const { verb, path, body } = request;
  const [, namespace, name] = POD.exec(path) ?? [];
  if (name !== undefined) return plainText(`${namespace}/${name}`);
  const [, into] = PODS.exec(path) ?? [];
  if (into !== undefined && verb === 'POST' && body !== undefined)
    return plainText(`${into}/${lookUp(metadataOf(body), 'name')}`);
  const object = isEvent(request) && isAnswered(request) ? fieldsOf(lookUp(fieldsOf(body), 'involvedObject')) : {};
  if (lookUp(object, 'kind') !== 'Pod') return undefined;
  return plainText(`${lookUp(object, 'namespace')}/${lookUp(object, 'name')}`);
}

const metadataOf = (body: unknown): Json => fieldsOf(lookUp(fieldsOf(body), 'metadata'));

function podAccount(requests: readonly SentRequest[]): PodAccount {
  const ofPod = requests.filter((each) => !isEvent(each));
  const patches = ofPod.filter(({ verb }) => verb === 'PATCH');
  return {
    moments: momentsOf(patches.filter(isAnswered)),
    writes: ofPod.filter(({ code }) => code !== undefined).flatMap(writeOf),
    gets: ofPod.filter(({ verb }) => verb === 'GET').length,
    patches: patches.length,
    events: requests.filter(isEvent).map(({ body }) => eventOf(fieldsOf(body))),
  };
}

function momentsOf(patches: readonly SentRequest[]): string[] {
  const moments: string[] = [];
  let [status, uid]: [Json, unknown] = [{}, undefined];
  for (const { body } of patches) {
    const podUid = lookUp(metadataOf(body), 'uid');
    // The status of a different pod with the same name starts empty.
    if (podUid !== uid) status = {};
    uid = podUid;
    status = mergedStatus(status, fieldsOf(lookUp(fieldsOf(body), 'status')));
    const moment = momentOf(status);
    if (moment !== moments.at(-1)) moments.push(moment);
  }
  return moments;
}

function writeOf({ verb, body }: SentRequest): string[] {
  const phase = lookUp(fieldsOf(lookUp(fieldsOf(body), 'status')), 'phase');
  if (verb === 'PATCH') return phase === undefined ? [] : [`PATCH phase ${phase}`];
  return verb === 'GET' ? [] : [`${verb} ${plainText(body)}`];
}

function eventOf({ type, reason, message, involvedObject }: Json): string {
  const place = lookUp(fieldsOf(involvedObject), 'fieldPath');
  return plainText(`${type} ${reason}${place === undefined ? '' : ` ${place}`}: ${message}`);
}

/** Returns the kind of a request, without the names of its objects. */
export function kindOf({ verb, path }: SentRequest): string {
  const names = /\/(namespaces|pods|nodes|events|leases|csinodes)\/[^/]+/g;
  return `${verb} ${path.replace(names, '/$1/‹›')}`;
}
