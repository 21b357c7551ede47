import type { ActorNode } from '../../pod/show/actorNode.ts';
import { formatExplanation } from '../../pod/show/formatExplanation.ts';
import type { Invariant, Watched } from './invariant.ts';

/** A wait may be over for so long before the actor has heard of it: a timer of the same moment comes first. */
const SLACK_MS = 50;

/** Whether the actor, or one below it, waits for the answer to a call. */
const isCalling = ({ kind, children }: ActorNode): boolean => kind === 'call' || children.some(isCalling);

/** What is wrong with an actor or one below it: it neither rests nor works nor says what it waits for. */
function unexplained(node: ActorNode, now: number): string[] {
  const { path, state, tags, waitingFor, until, children } = node;
  const [tag] = tags;
  const rests = tag === 'steady' || tag === 'done' || tag === 'failed';
  const works = isCalling(node);
  const waits = waitingFor !== undefined || children.some((child) => child.waitingFor !== undefined);
  return [
    ...(tag === undefined ? [`${path} in ${state} has no tag`] : []),
    ...(tag === 'broken' ? [`${path} is broken`] : []),
    ...(rests || works || waits ? [] : [`${path} in ${state} (${tag}) waits for nothing that has a name`]),
    ...(until !== undefined && until < now - SLACK_MS ? [`${path} in ${state} waits until ${now - until} ms ago`] : []),
    ...children.flatMap((child) => unexplained(child, now)),
  ];
}

/** An explanation of each state that a pod was ever seen in has no empty line. */
function badLines(text: string): string[] {
  return text.split('\n').flatMap((line, index, all) => {
    const isGap = line.trim() === '' && (index === 0 || all[index + 1]?.trim() === '');
    return isGap || /undefined|NaN|\[object/.test(line) ? [`odd line ${JSON.stringify(line)} in ${text}`] : [];
  });
}

const statesOf = ({ machine, state, children }: ActorNode): string =>
  [`${machine}:${state}`, ...children.map(statesOf)].join(' ');

export const explained: Invariant = {
  number: 7,
  says:
    'Each actor that is not final works on a call or waits for something that has a name, no deadline of a wait has ' +
    'passed, and there is an explanation of each state that a pod is in.',
  follow: (watched, violated) => {
    const explainedStates = new Set<string>();
    const explain = ({ agent }: Watched, uid: string, tree: ActorNode) => {
      const states = statesOf(tree);
      if (explainedStates.has(states)) return;
      explainedStates.add(states);
      const explanation = agent?.explainUid(uid);
      if (explanation === undefined) return violated(`there is no explanation of ${uid} in ${states}`);
      const text = formatExplanation(explanation);
      for (const each of badLines(text)) violated(each);
    };
    return {
      whole: () => {
        const { agent, host, deeds } = watched;
        if (agent === undefined) return;
        const now = deeds.clockJumped ? Number.NEGATIVE_INFINITY : host.clock.now();
        for (const [uid, tree] of agent.trees()) {
          for (const each of unexplained(tree, now)) violated(each);
          explain(watched, uid, tree);
        }
      },
    };
  },
};
