/** What differs between what a kubelet sent about its node and what the node sends. */
import { type Difference, more, orderedDifferences } from './compare.ts';
import type { NodeAccount, NodeSent, Told } from './nodeAccount.ts';

/** So much later something may be told: by the next look at it. */
const LOOK_MS = 10_000;

/** What a kubelet sends as it starts it may send at other times as well. */
export function nodeDifferences(kubelet: NodeAccount, node: NodeAccount, start: NodeAccount): readonly Difference[] {
  const also = <T>(all: (account: NodeAccount) => Iterable<T>): T[] =>
    onlyIn(all(node), [...all(kubelet), ...all(start)]);
  const texts = (all: readonly Told[]) => all.map(({ what }) => what);
  const found: readonly (readonly [about: string, differences: readonly string[]])[] = [
    ['what is made', orderedDifferences('field', kubelet.made, node.made)],
    ['the status', orderedDifferences('patch', texts(kubelet.told), texts(node.told))],
    ['the status', late(kubelet.told, node.told)],
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

function late(kubelet: readonly Told[], node: readonly Told[]): string[] {
  return node.flatMap(({ ms, what }, index) => {
    const theirs = kubelet[index];
    if (theirs?.what !== what || ms - theirs.ms <= LOOK_MS || what === 'that it is alive') return [];
    return [`${Math.round((ms - theirs.ms) / 1_000)} s later: ${what}`];
  });
}
