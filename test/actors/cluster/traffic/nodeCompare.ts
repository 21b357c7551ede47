/** Computes the differences between the requests of the kubelet about its node and those of the node. */
import { type Difference, more, orderedDifferences } from './compare.ts';
import type { NodeAccount, NodeReport, NodeSent } from './nodeAccount.ts';

/**
 * Time in milliseconds by which a report may be later than the kubelet's. The node checks its status at this interval.
 */
const LOOK_MS = 10_000;

/**
 * Compares the requests with those of the kubelet. Requests that the kubelet sends at its start are permitted at any
 * time.
 */
export function nodeDifferences(kubelet: NodeAccount, node: NodeAccount, start: NodeAccount): readonly Difference[] {
  const also = <T>(all: (account: NodeAccount) => Iterable<T>): T[] =>
    onlyIn(all(node), [...all(kubelet), ...all(start)]);
  const texts = (all: readonly NodeReport[]) => all.map(({ what }) => what);
  const found: readonly (readonly [about: string, differences: readonly string[]])[] = [
    ['what is made', orderedDifferences('field', kubelet.made, node.made)],
    ['the status', orderedDifferences('patch', texts(kubelet.reports), texts(node.reports))],
    ['the status', late(kubelet.reports, node.reports)],
    ['certificates', orderedDifferences('request', kubelet.certificates, node.certificates)],
    ['the lease', orderedDifferences('write', kubelet.lease, node.lease)],
    ['the lease', also(({ renewedAfter }) => renewedAfter).map((gap) => `renewed after ${gap} s`)],
    ['the start', orderedDifferences('request', kubelet.order, node.order)],
    ['events', orderedDifferences('event', kubelet.events, node.events)],
    ['events', also(({ newEvents }) => newEvents).map((event) => `the new event ${event}`)],
    ['events', missingFields(kubelet, node).map((field) => `no involvedObject.${field}`)],
    ['events', also(({ eventFields }) => eventFields).map((field) => `the field involvedObject.${field}`)],
    ['requests', also(({ kinds }) => kinds).map((kind) => `also ${kind}`)],
    ['requests', AMOUNTS.flatMap(([name, what]) => more(what, kubelet.sent[name], node.sent[name]))],
  ];
  return found.flatMap(([about, all]) => all.map((what) => ({ about, what })));
}

const AMOUNTS: readonly (readonly [keyof NodeSent, string])[] = [
  ['nodeGets', 'GETs of the Node'],
  ['leaseGets', 'GETs of the lease'],
  ['csiNodeGets', 'GETs of the CSINode'],
  ['patches', 'PATCHes of the Node'],
  ['renewals', 'PUTs of the lease'],
  ['certificates', 'requests about certificates'],
  ['events', 'POSTs and PATCHes of events'],
];

const missingFields = (kubelet: NodeAccount, node: NodeAccount): string[] =>
  node.newEvents.size > 0 ? onlyIn(kubelet.eventFields, node.eventFields) : [];

const onlyIn = <T>(one: Iterable<T>, other: Iterable<T>): T[] => {
  const known = new Set(other);
  return [...new Set(one)].filter((each) => !known.has(each));
};

function late(kubelet: readonly NodeReport[], node: readonly NodeReport[]): string[] {
  return node.flatMap(({ ms, what }, index) => {
    const theirs = kubelet[index];
    if (theirs?.what !== what || ms - theirs.ms <= LOOK_MS || what === 'that it is alive') return [];
    return [`${Math.round((ms - theirs.ms) / 1_000)} s later: ${what}`];
  });
}
