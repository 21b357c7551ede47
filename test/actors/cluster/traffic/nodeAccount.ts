/** What a node's requests about itself come to: its Node, its CSINode, its lease and the events about it. */
import { lookUp } from '../../../../base/values/lookUp.ts';
import { isAnswered, isEvent, kindOf } from './account.ts';
import { entriesOf, fieldsOf, type Json, plainText } from './plain.ts';
import type { SentRequest } from './recording.ts';

/** What was told, and when. */
export interface Told {
  readonly ms: number;
  readonly what: string;
}

export interface NodeAccount {
  /** The Node and the CSINode as they were made, a line for each field. */
  readonly made: readonly string[];
  /** The patches of the Node that tell more than the time. */
  readonly told: readonly Told[];
  /** What certificates were asked for, in order. */
  readonly certificates: readonly string[];
  /** How the lease was written, without equal ones that follow one another. */
  readonly lease: readonly string[];
  /** The whole seconds between two renewals, without those that follow one that failed. */
  readonly renewedAfter: readonly number[];
  /** What was done first, of what comes in an order as the node begins. */
  readonly order: readonly string[];
  /** What the events say, in the order of their first time. */
  readonly events: readonly string[];
  /** Those that were new: `Normal Starting: Starting kubelet.`. */
  readonly newEvents: ReadonlySet<string>;
  readonly eventFields: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
  readonly sent: NodeSent;
}

/** How many requests of each kind about the node itself. */
export interface NodeSent {
  /** Of its Node, its lease, its CSINode. */
  readonly nodeGets: number;
  readonly leaseGets: number;
  readonly csiNodeGets: number;
  readonly patches: number;
  readonly renewals: number;
  /** All that are about requests for certificates. */
  readonly certificates: number;
  /** New ones, and those that are counted once more. */
  readonly events: number;
}

const NODES = '/api/v1/nodes';
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const EVENTS = '/api/v1/namespaces/default/events';
/** It tells of the machine that was recorded. */
const OF_CGROUP_V1 = 'CgroupV1';

const isAbout =
  (...places: readonly string[]) =>
  ({ path }: SentRequest): boolean =>
    places.some((place) => path === place || path.startsWith(`${place}/`));
const of =
  (verb: string, ...places: readonly string[]) =>
  (request: SentRequest): boolean =>
    request.verb === verb && isAbout(...places)(request);

/** Of the requests that were sent each time that was looked at. */
export function nodeAccount(times: readonly (readonly SentRequest[])[]): NodeAccount {
  const requests = times.flat().filter((each) => !isOfCgroupV1(each));
  const patches = requests.filter(of('PATCH', NODES));
  const events = requests.filter((each) => isEvent(each) && isAbout(EVENTS)(each));
  const posted = events.filter(({ verb }) => verb === 'POST');
  const amount = (verb: string, place: string) => requests.filter(of(verb, place)).length;
  return {
    made: requests.filter(of('POST', NODES, CSI_NODES)).flatMap(linesOf),
    told: patches.filter(isAnswered).flatMap(toldIn),
    certificates: requests.filter(of('POST', REQUESTS)).map(wantedIn),
    lease: withoutRuns(requests.filter((each) => isAbout(LEASES)(each) && isAnswered(each)).flatMap(writeOf)),
    renewedAfter: times.flatMap((all) => gapsOf(all.filter(of('PUT', LEASES)))),
    order: orderOf(requests),
    events: [...new Set(events.filter(isAnswered).map(({ body }) => plainText(lookUp(fieldsOf(body), 'message'))))],
    newEvents: new Set(posted.filter(isAnswered).map(eventOf)),
    eventFields: new Set(posted.flatMap(({ body }) => Object.keys(fieldsOf(lookUp(fieldsOf(body), 'involvedObject'))))),
    kinds: new Set(requests.filter(isAbout(NODES, CSI_NODES, LEASES, EVENTS, REQUESTS)).map(kindOf)),
    sent: {
      nodeGets: amount('GET', NODES),
      leaseGets: amount('GET', LEASES),
      csiNodeGets: amount('GET', CSI_NODES),
      patches: patches.length,
      renewals: amount('PUT', LEASES),
      certificates: requests.filter(isAbout(REQUESTS)).length,
      events: events.length,
    },
  };
}

const isOfCgroupV1 = ({ body }: SentRequest): boolean => lookUp(fieldsOf(body), 'reason') === OF_CGROUP_V1;

/** `POST nodes status.capacity.cpu: 2`. */
function linesOf({ verb, path, body }: SentRequest): string[] {
  const kind = path.slice(path.lastIndexOf('/') + 1);
  return fieldLines(fieldsOf(body), '').map((line) => `${verb} ${kind} ${line}`);
}

const UNTOLD = ['kind', 'apiVersion'];

function fieldLines(fields: Json, place: string): string[] {
  return Object.entries(fields).flatMap(([name, value]): string[] => {
    const path = place === '' ? name : `${place}.${name}`;
    // The record of a server tells an empty list or text no otherwise than none.
    if (value === null || value === '' || UNTOLD.includes(path) || (Array.isArray(value) && value.length === 0))
      return [];
    if (name === 'conditions') return entriesOf(value).map((each, index) => `${path}[${index}]: ${plainText(each)}`);
    const entries = entriesOf(value);
    if (entries.length > 0) return entries.flatMap((each, index) => fieldLines(each, `${path}[${index}]`));
    const inner = fieldsOf(value);
    return Object.keys(inner).length > 0 ? fieldLines(inner, path) : [`${path}: ${plainText(value, name)}`];
  });
}

function wantedIn({ body }: SentRequest): string {
  const { metadata, spec } = fieldsOf(body);
  return plainText({ metadata, spec });
}

function toldIn({ ms, body }: SentRequest): Told[] {
  const { status, ...others } = fieldsOf(body);
  const { conditions, $setElementOrder: _order, ...more } = fieldsOf(status);
  const changed = entriesOf(conditions).filter((each) => Object.keys(each).some((name) => !BEATS.includes(name)));
  const rest = Object.entries({ ...others, ...more }).filter(([name]) => !name.startsWith('$'));
  const all = { ...Object.fromEntries(rest), ...(changed.length > 0 ? { conditions: changed } : {}) };
  if (Object.keys(all).length > 0) return [{ ms, what: plainText(all) }];
  return entriesOf(conditions).length > 0 ? [{ ms, what: 'that it is alive' }] : [];
}

const BEATS = ['type', 'lastHeartbeatTime'];

const writeOf = ({ verb, body }: SentRequest): string[] => (verb === 'GET' ? [] : [`${verb} ${plainText(body)}`]);

const withoutRuns = (all: readonly string[]): string[] => all.filter((each, index) => each !== all[index - 1]);

function gapsOf(renewals: readonly SentRequest[]): number[] {
  return renewals.flatMap((each, index) => {
    const before = renewals[index - 1];
    const isNext = before !== undefined && isAnswered(before) && isAnswered(each);
    return isNext ? [Math.round((each.ms - before.ms) / 1_000)] : [];
  });
}

/** As a node begins it makes its Node, its CSINode, and then asks for its pods. */
function orderOf(requests: readonly SentRequest[]): string[] {
  const steps = requests.filter(
    (each) => of('POST', NODES, CSI_NODES)(each) || (each.verb === 'WATCH' && each.path === '/api/v1/pods'),
  );
  const isStart = steps.some(of('POST', NODES));
  return isStart ? [...new Set(steps.map(({ verb, path }) => `${verb} ${path}`))] : [];
}

function eventOf({ body }: SentRequest): string {
  const { type, reason, message } = fieldsOf(body);
  return plainText(`${type} ${reason}: ${message}`);
}
