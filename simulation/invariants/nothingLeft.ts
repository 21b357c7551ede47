import type { Pod } from '../../pod/api/schema/pod.ts';
import type { ActorNode } from '../../pod/show/actorNode.ts';
import { fullName } from '../host.ts';
import type { Invariant, Watched } from './invariant.ts';

const isDone = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** What is wanted and is not there, and what is there and is not wanted. */
function unmet({ agent, deeds, host }: Watched): string[] {
  if (agent === undefined) return ['no agent lives'];
  const pods = new Map(agent.pods().map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
  const running = new Set(host.containers().flatMap((each) => (each.state === 'running' ? [fullName(each)] : [])));
  return [
    ...[...deeds.wanted.keys()].flatMap((name) => {
      const pod = pods.get(name);
      if (pod === undefined) return [`${name} is wanted and the node has no such pod`];
      const isThere = isDone(pod) || (pod.status?.phase === 'Running' && (running.has(name) || deeds.mayRest(name)));
      return isThere ? [] : [`${name} is wanted and is ${pod.status?.phase}`];
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
