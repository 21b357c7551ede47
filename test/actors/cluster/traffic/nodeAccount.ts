/** Summarizes the requests of a node about itself: about its Node, its CSINode, its lease and its events. */
import { lookUp } from '../../../../base/values/lookUp.ts';
import { isAnswered, isEvent, kindOf } from './account.ts';
import { entriesOf, fieldsOf, type Json, plainText } from './plain.ts';
import type { SentRequest } from './recording.ts';

/** A report of the node, and its time. */
export interface NodeReport {
  readonly ms: number;
  readonly what: string;
}

export interface NodeAccount {
  /** The created Node and CSINode, one line per field. */
  readonly made: readonly string[];
  /** The patches of the Node. One that contains only heartbeats is represented by `that it is alive`. */
  readonly reports: readonly NodeReport[];
  /** The requested certificates, in order. */
  readonly certificates: readonly string[];
  /** The writes of the lease, without consecutive duplicates. */
  readonly lease: readonly string[];
  /** Whole seconds between two consecutive renewals that have both succeeded. */
  readonly renewedAfter: readonly number[];
  /** The requests at the start of a node whose order is fixed. */
  readonly order: readonly string[];
  /** The messages of the events, in the order of their first occurrence. */
  readonly events: readonly string[];
  /** New events, e.g. `Normal Starting: Starting kubelet.`. */
  readonly newEvents: ReadonlySet<string>;
  readonly eventFields: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
  readonly sent: NodeSent;
}

/** Number of requests of each kind about the node itself. */
export interface NodeSent {
  readonly nodeGets: number;
  readonly leaseGets: number;
  readonly csiNodeGets: number;
  readonly patches: number;
  readonly renewals: number;
  /** All requests about CertificateSigningRequests. */
  readonly certificates: number;
  /** New events and updates of recurring events. */
  readonly events: number;
}

const NODES = '/api/v1/nodes';
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const EVENTS = '/api/v1/namespaces/default/events';
/** Reason of an event that depends on the recorded machine, and is ignored for that reason. */
const OF_CGROUP_V1 = 'CgroupV1';

const isAbout =
  (...places: readonly string[]) =>
  ({ path }: SentRequest): boolean =>
    places.some((place) => path === place || path.startsWith(`${place}/`));
const of =
  (verb: string, ...places: readonly string[]) =>
  (request: SentRequest): boolean =>
    request.verb === verb && isAbout(...places)(request);

/** Summarizes the requests of a node. `times` contains the requests in each recorded window. */
export function nodeAccount(times: readonly (readonly SentRequest[])[]): NodeAccount {
  const requests = times.flat().filter((each) => !isOfCgroupV1(each));
  const patches = requests.filter(of('PATCH', NODES));
  const events = requests.filter((each) => isEvent(each) && isAbout(EVENTS)(each));
  const posted = events.filter(({ verb }) => verb === 'POST');
  const amount = (verb: string, place: string) => requests.filter(of(verb, place)).length;
  return {
    made: requests.filter(of('POST', NODES, CSI_NODES)).flatMap(linesOf),
    reports: patches.filter(isAnswered).flatMap(reportsIn),
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

/** Returns a line for each field, e.g. `POST nodes status.capacity.cpu: 2`. */
function linesOf({ verb, path, body }: SentRequest): string[] {
  const kind = path.slice(path.lastIndexOf('/') + 1);
  return fieldLines(fieldsOf(body), '').map((line) => `${verb} ${kind} ${line}`);
}

const IGNORED = ['kind', 'apiVersion'];

function fieldLines(fields: Json, place: string): string[] {
  return Object.entries(fields).flatMap(([name, value]): string[] => {
    const path = place === '' ? name : `${place}.${name}`;
    // The recordings do not distinguish an empty list or string from a missing one.
    if (value === null || value === '' || IGNORED.includes(path) || (Array.isArray(value) && value.length === 0))
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

function reportsIn({ ms, body }: SentRequest): NodeReport[] {
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

/**
 * Returns the ordered requests of a starting node, which creates its Node and its CSINode, and then watches its pods.
 */
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
