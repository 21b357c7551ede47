/** Computes the differences between the requests of the kubelet and those of the node. */
import type { Account, PodAccount } from './account.ts';
import type { Reads } from './reads.ts';

/** A difference, and what it is about. */
export interface Difference {
  readonly about: string;
  readonly what: string;
}

export function differences(kubelet: Account, node: Account): readonly Difference[] {
  const names = [...new Set([...kubelet.pods.keys(), ...node.pods.keys()])].sort();
  const ofPods = names.flatMap((name) => {
    const [theirs = NOTHING, ours = NOTHING] = [kubelet.pods.get(name), node.pods.get(name)];
    return podDifferences(theirs, ours).map((what) => ({ about: `pod ${name.split('/')[1]}`, what }));
  });
  const onlyIn = (one: ReadonlySet<string>, other: ReadonlySet<string>) => [...one].filter((each) => !other.has(each));
  const repeats = more('PATCHes of events', kubelet.sent.repeats, node.sent.repeats);
  return [
    ...ofPods,
    ...readDifferences(kubelet.reads, node.reads).map((what) => ({ about: 'objects', what })),
    ...repeats.map((what) => ({ about: 'events', what })),
    ...onlyIn(kubelet.eventFields, node.eventFields).map((field) => ({ about: 'events', what: `no ${field}` })),
    ...onlyIn(node.eventFields, kubelet.eventFields).map((field) => ({ about: 'events', what: `the field ${field}` })),
    ...onlyIn(node.kinds, kubelet.kinds).map((kind) => ({ about: 'requests', what: `also ${kind}` })),
  ];
}

const NOTHING: PodAccount = { moments: [], writes: [], gets: 0, patches: 0, events: [] };

function podDifferences(kubelet: PodAccount, node: PodAccount): string[] {
  return [
    ...momentDifferences(kubelet.moments, node.moments),
    ...orderedDifferences('event', kubelet.events, node.events),
    ...orderedDifferences('request', kubelet.writes, node.writes),
    ...more('GETs', kubelet.gets, node.gets),
    ...more('patches of its status', kubelet.moments.length, node.patches),
  ];
}

/**
 * Compares the watched objects, the number of their watches and the requested tokens. They are requested concurrently,
 * so their order is arbitrary.
 */
function readDifferences(kubelet: Reads, node: Reads): string[] {
  return [
    ...orderedDifferences('watch', [...kubelet.watches.keys()].sort(), [...node.watches.keys()].sort()),
    ...[...node.watches].flatMap(([what, often]) => more(`watches ${what}`, kubelet.watches.get(what) ?? often, often)),
    ...orderedDifferences('token', [...kubelet.tokens].sort(), [...node.tokens].sort()),
  ];
}

export const more = (what: string, kubelet: number, node: number): string[] =>
  node > kubelet ? [`${node} ${what}, a kubelet sends ${kubelet}`] : [];

/** Compares successive statuses. The node may omit a short-lived status, but the last one must be the same. */
function momentDifferences(kubelet: readonly string[], node: readonly string[]): string[] {
  let from = 0;
  const found = node.flatMap((moment, index) => {
    const at = kubelet.indexOf(moment, from);
    if (at >= 0) from = at + 1;
    if (at >= 0) return [];
    if (kubelet.includes(moment)) return [`a status once more: ${linesApart(node[index - 1], moment)}`];
    return [`a status that a kubelet does not tell: ${nearest(kubelet, moment)}`];
  });
  const [theirs, ours] = [kubelet.at(-1), node.at(-1)];
  return theirs === ours ? found : [...found, `its last status: ${linesApart(theirs, ours)}`];
}

/** Returns the difference from the most similar status. */
function nearest(all: readonly string[], moment: string): string {
  const apart = all.map((each) => linesApart(each, moment)).sort((one, other) => one.length - other.length);
  return apart[0] ?? moment;
}

function linesApart(before = '', after = ''): string {
  const [had, has] = [before.split('\n'), after.split('\n')];
  const gone = had.filter((line) => !has.includes(line)).map((line) => `- ${line}`);
  return [...gone, ...has.filter((line) => !had.includes(line)).map((line) => `+ ${line}`)].join('; ');
}

/** Returns the entries that only one of the two sends or, if there are none, a difference in their order. */
export function orderedDifferences(what: string, kubelet: readonly string[], node: readonly string[]): string[] {
  const missing = without(kubelet, node).map((each) => `no ${what} ${each}`);
  const added = without(node, kubelet).map((each) => `the ${what} ${each}`);
  if (missing.length + added.length > 0) return [...missing, ...added];
  return kubelet.join('\n') === node.join('\n') ? [] : [`the order of its ${what}s: ${node.join(', ')}`];
}

function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return all.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
