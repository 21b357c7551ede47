/** What a node's requests come to for each object: what is compared, without what differs from run to run. */
import { lookUp } from '../../../../base/values/lookUp.ts';
import { fieldPaths, fieldsOf, type Json, mergedStatus, momentOf, plainText } from './plain.ts';
import { type Reads, readsOf } from './reads.ts';
import type { SentRequest } from './recording.ts';

/** All about one pod, or all of its name one after the other. */
export interface PodAccount {
  /** What its status was after each patch; one that changes nothing of what is compared is left out. */
  readonly moments: readonly string[];
  /** What is made, told and deleted, in order: `POST {…}`, `PATCH phase Running`, `DELETE {…}`. */
  readonly writes: readonly string[];
  readonly gets: number;
  readonly patches: number;
  /** `Normal Started spec.containers{main}: Container started`, in the order of their first time. */
  readonly events: readonly string[];
}

/** How many requests of each kind about pods. */
export interface Sent {
  readonly gets: number;
  /** Of statuses: those that differ from the one before. */
  readonly patches: number;
  readonly deletes: number;
  /** New events, and those that are counted once more. */
  readonly events: number;
  readonly repeats: number;
}

export interface Account {
  readonly sent: Sent;
  /** By namespace and name. */
  readonly pods: ReadonlyMap<string, PodAccount>;
  readonly reads: Reads;
  /** Of all events the fields that they have, and those that are sent when one happens again. */
  readonly eventFields: ReadonlySet<string>;
  /** `PATCH /api/v1/namespaces/‹›/pods/‹›/status`: all kinds of requests. */
  readonly kinds: ReadonlySet<string>;
}

const POD = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)(\/status)?$/;
const PODS = /^\/api\/v1\/namespaces\/([^/]+)\/pods$/;
const EVENTS = /^\/api\/v1\/namespaces\/[^/]+\/events/;

export const isEvent = ({ path }: SentRequest): boolean => EVENTS.test(path);
/** Of those that do not reach the server a recording has no bodies. */
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

/** The pod that a request is about, by namespace and name. */
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
    const of = lookUp(metadataOf(body), 'uid');
    // Another pod of this name begins anew.
    if (of !== uid) status = {};
    uid = of;
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

/** What kind of request it is, whatever object it is about. */
export function kindOf({ verb, path }: SentRequest): string {
  const names = /\/(namespaces|pods|nodes|events|leases|csinodes)\/[^/]+/g;
  return `${verb} ${path.replace(names, '/$1/‹›')}`;
}
