import type { Pod } from '../../pod/api/schema/pod.ts';
import type { ActorNode } from '../../pod/show/actorNode.ts';
import { isTerminalPhase } from '../../pod/status/phase.ts';
import { fullName } from '../host.ts';
import type { Invariant, Watched } from './invariant.ts';

const isDone = ({ status }: Pod): boolean => isTerminalPhase(status?.phase);

/** An init container or a sidecar fails again and again, and keeps its pod from running. */
const isInitFailing = ({ status }: Pod): boolean =>
  status?.phase === 'Pending' && status.initContainerStatuses?.some(({ restartCount }) => restartCount > 0) === true;

/** What is wanted and is not there, and what is there and is not wanted. */
function unmet({ agent, deeds, host }: Watched): string[] {
  if (agent === undefined) return ['no agent lives'];
  // Of two manifests with one name the second waits until the first is gone.
  const pods = Map.groupBy(agent.pods(), ({ metadata: { namespace, name } }) => `${namespace}/${name}`);
  const running = new Set(host.running().map(fullName));
  return [
    ...[...deeds.wanted.keys()].flatMap((name) => {
      const named = pods.get(name) ?? [];
      if (named.length === 0) return [`${name} is wanted and the node has no such pod`];
      const isRunning = running.has(name) || deeds.mayRest(name);
      const isThere = named.some(
        (pod) =>
          isDone(pod) || (pod.status?.phase === 'Running' && isRunning) || (deeds.mayRest(name) && isInitFailing(pod)),
      );
      return isThere ? [] : [`${name} is wanted and is ${named.map(({ status }) => status?.phase).join(', ')}`];
    }),
    ...[...pods.keys()].filter((name) => !deeds.wanted.has(name)).map((name) => `${name} is not wanted and is there`),
    ...[...running].filter((name) => !deeds.wanted.has(name)).map((name) => `containers of ${name} run on`),
  ];
}

/** The calls in flight and the timers that are not those of a node at rest. */
const callsIn = (node: ActorNode): string[] => [
  ...(node.kind === 'call' ? [`${node.path} is being called`] : []),
  ...node.children.flatMap(callsIn),
];

/** What a node without pods must not have. */
function leftOver({ agent, host }: Watched): string[] {
  if (agent === undefined) return [];
  const { start, pull } = agent.overview().limiters;
  return [
    ...host.sandboxes().map((each) => `sandbox ${each.id.slice(0, 8)} of ${fullName(each)}`),
    ...host.containers().map((each) => `container ${each.containerName} of ${fullName(each)}`),
    ...host.left(),
    ...[...start.held, ...start.queue, ...pull.held, ...pull.queue].map((key) => `limiter slot of ${key}`),
    ...[...agent.trees().values()].flatMap(callsIn),
  ];
}

export const nothingLeft: Invariant = {
  number: 6,
  says:
    'Once faults have ended, what the sources want runs, what must end has ended, and of what is gone ' +
    'nothing is left: no sandbox, container, mount, directory, cgroup, slot, fact, timer or actor.',
  follow: (watched, violated) => ({
    atRest: () => {
      const wrong = unmet(watched);
      const left = watched.deeds.wanted.size === 0 ? leftOver(watched) : [];
      for (const each of [...wrong, ...left]) violated(each);
    },
  }),
};
