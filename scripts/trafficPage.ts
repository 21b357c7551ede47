/** The page about what the node sends to an API server beside what a kubelet sent, of what the tests compare. */
import { accountOf, type Sent } from '../test/actors/cluster/traffic/account.ts';
import { REASONS } from '../test/actors/cluster/traffic/declared.ts';
import { type NodeSent, nodeAccount } from '../test/actors/cluster/traffic/nodeAccount.ts';
import type { Declared } from '../test/actors/cluster/traffic/reason.ts';
import { recordedRequests } from '../test/actors/cluster/traffic/recording.ts';
import { inWindows, isOf, type NodeScenario, type Scenario } from '../test/actors/cluster/traffic/scenario.ts';
import { SCENARIOS } from '../test/actors/cluster/traffic/scenarios/all.ts';
import { NODE_SCENARIOS } from '../test/actors/cluster/traffic/scenarios/nodes.ts';

const INTRODUCTION = `# A node's requests, beside a kubelet's

What a kubelet 1.36 sent to a kube-apiserver 1.36 was recorded in a number of scenarios
([test/recorded/kubelet](../test/recorded/kubelet/README.md)). The tests play the same scenarios with a simulated node and
the test API server, and compare for each pod: its statuses after each patch (every field, with the order of conditions),
the order of what is made, told and deleted, the bodies of these requests, its events with their fields, and how often
anything was asked. The node may leave out a status that is soon over, and need not read a pod before it patches it; it
must send no more, of no other kind, and come to the same end. UIDs, times, versions, ids and addresses are not compared. Of pods with ConfigMaps,
Secrets and tokens (08, 09, 10) it must watch the same objects, no watch more often, and ask for the same tokens.

Of the node itself they compare its Node and its CSINode as they are made, field by field, what each patch of its status says
and when, what certificates it asks for, how its lease is written and how often, its events, and again how often anything was asked.

This page is written by \`npm run docs\`. A difference that is not below fails the tests, and so does one that is below and
does not occur.`;

const amounts = ({ gets, patches, deletes, events, repeats }: Sent): number[] => [
  gets,
  patches,
  deletes,
  events,
  repeats,
];

/** In one cell both: the kubelet's first. */
function row(scenario: Scenario): string {
  const { name, title, sends } = scenario;
  const kubelet = accountOf(recordedRequests(name).filter((request) => isOf(scenario, request))).sent;
  const ours = amounts(sends);
  const cells = amounts(kubelet).map((amount, index) => `${amount} / ${ours[index]}`);
  return `| ${name}: ${title} | ${cells.join(' | ')} |`;
}

const counts = (): string[] => [
  '## How many requests about pods',
  '',
  "The kubelet's / the node's. Statuses that differ only in traces of cgroup v1, which the recording was made on, count once.",
  '',
  '| Scenario | GET | PATCH of statuses | DELETE | new events | events counted once more |',
  '|---|---|---|---|---|---|',
  ...[...SCENARIOS].sort((one, other) => (one.name < other.name ? -1 : 1)).map(row),
];

const nodeAmounts = (sent: NodeSent): number[] => [
  sent.nodeGets,
  sent.leaseGets,
  sent.csiNodeGets,
  sent.patches,
  sent.renewals,
  sent.certificates,
  sent.events,
];

function nodeRow(scenario: NodeScenario): string {
  const { name, title, sendsOfNode } = scenario;
  const kubelet = nodeAccount(inWindows(scenario, recordedRequests(name))).sent;
  const ours = nodeAmounts(sendsOfNode);
  const cells = nodeAmounts(kubelet).map((amount, index) => `${amount} / ${ours[index]}`);
  return `| ${name}: ${title} | ${cells.join(' | ')} |`;
}

const nodeCounts = (): string[] => [
  '## How many requests about the node itself',
  '',
  'While it was recorded, without the event that tells of cgroup v1.',
  '',
  '| Scenario | GET of the Node | GET of the lease | GET of the CSINode | PATCH of the Node | PUT of the lease | about certificates | events |',
  '|---|---|---|---|---|---|---|---|',
  ...NODE_SCENARIOS.map(nodeRow),
];

const scenariosOf = (seen: readonly Declared[]): string =>
  [...new Set(seen.flatMap(({ scenarios }) => scenarios))].join(', ');

const differences = (): string[] => [
  '## What differs, and why',
  '',
  '| A kubelet | This node | Why | Seen in |',
  '|---|---|---|---|',
  ...REASONS.map(({ kubelet, here, why, seen }) => `| ${kubelet} | ${here} | ${why} | ${scenariosOf(seen)} |`),
];

export const trafficPage = (): string =>
  `${[INTRODUCTION, '', ...counts(), '', ...nodeCounts(), '', ...differences()].join('\n')}\n`;
