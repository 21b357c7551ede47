/** Contradictions between the explanation of a pod and its status or actors. */
import { containersOf } from '../../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { isTerminalPhase } from '../../../../kubernetes/status/phase.ts';
import type { Explanation } from '../../../../show/explain.ts';
import { statusesOf } from './apiRules.ts';

const PHASES: ReadonlySet<string> = new Set(['Pending', 'Running', 'Succeeded', 'Failed']);
const HAS_ENDED = / has (succeeded|failed|ended)\b| was rejected: /;

/** The child actors that an explanation considers, as long as they are busy. */
const PARTS = /^(container|volume)\//;
const RESTS: ReadonlySet<string> = new Set(['steady', 'done', 'mounted']);

/** Removes white space, because lines may be wrapped anywhere. */
const unbroken = (text: string): string => text.replaceAll(/\s/g, '');

/**
 * Returns the contradictions. `text` is the formatted explanation. `pod` is the published pod, or undefined if the
 * agent knows more than it has published.
 */
export function contradictions(explanation: Explanation, text: string, pod: Pod | undefined): string[] {
  const wrong = [wrongStatus, wrongCount, wrongAnswer, wrongContainers];
  const said = pod === undefined ? [] : wrong.flatMap((each) => each(explanation, pod));
  return [...wrongText(explanation, text), ...said].map((each) => `${each}: ${text}`);
}

function wrongText({ namespace, name, status, ready, answer }: Explanation, text: string): string[] {
  const all = unbroken(text);
  return [
    ...(all.startsWith(unbroken(`${namespace}/${name}${status}${ready} ready`)) ? [] : ['the title is another one']),
    ...(answer.trim() === '' ? ['there is no answer'] : []),
    ...(all.includes(unbroken(answer)) ? [] : ['the answer is another one']),
  ];
}

/** A word that is a phase must be the pod's phase, and a pod that is being removed must be shown as Terminating. */
function wrongStatus({ status: word, phase: said }: Explanation, { metadata, status }: Pod): string[] {
  const phase = status?.phase ?? 'Unknown';
  const isTerminating = metadata.deletionTimestamp !== undefined && !isTerminalPhase(status?.phase);
  return [
    ...(said === phase ? [] : [`it is ${phase}, not ${said}`]),
    ...(PHASES.has(word) && word !== phase ? [`it is ${phase}, not ${word}`] : []),
    ...((word === 'Terminating') === isTerminating ? [] : [`whether it is being removed is not what ${word} says`]),
  ];
}

function wrongCount({ ready, pod: { children } }: Explanation, pod: Pod): string[] {
  const lasting = containersOf(pod.spec).filter(({ role }) => role === 'regular' || role === 'sidecar');
  const names = lasting.map(({ container }) => container.name);
  const count = statusesOf(pod.status ?? {}).filter((each) => each.ready && names.includes(each.name)).length;
  const [said, of] = ready.split('/').map(Number);
  // The containers of a pod that is being initialized again, or may be as far as a new agent knows, are not counted.
  const areCounted = isReady(pod) && !isBeingAdopted(children);
  const isWrong = said === undefined || said > count || (areCounted && said < count);
  return isWrong || of !== names.length ? [`${count} of ${names.length} containers are ready, not ${ready}`] : [];
}

function wrongAnswer({ answer, pod: { termination, tags, children } }: Explanation, pod: Pod): string[] {
  const phase = pod.status?.phase;
  const isEnd = HAS_ENDED.test(answer);
  // A pod may be ready while its init container is being queried, a former container is being removed, or a new agent
  // is mounting its volumes.
  const isAnyBusy = children.some(({ id, tags }) => PARTS.test(id) && !tags.some((tag) => RESTS.has(tag)));
  const isSteady = tags[0] === 'steady' && !isAnyBusy && isReady(pod);
  return [
    ...(/ is running, with /.test(answer) && phase !== 'Running' ? [`it does not run, it is ${phase}`] : []),
    ...(/ has succeeded: /.test(answer) && phase !== 'Succeeded' ? [`it has not succeeded, it is ${phase}`] : []),
    ...(isTerminalPhase(phase) && termination === undefined && !isEnd ? ['it has ended, and that is not said'] : []),
    ...(isSteady && !/ is running\b/.test(answer) ? ['it runs, and that is not said'] : []),
  ];
}

/**
 * Whether a new agent does not know all containers of a pod yet. It then reports the previous status or what it knows.
 */
const isBeingAdopted = (children: Explanation['pod']['children']): boolean =>
  children.some(({ machine, state }) => machine === 'container' && state.startsWith('adopting.'));

/** Compares the facts of each container with its status. */
function wrongContainers({ pod: { children } }: Explanation, { status = {} }: Pod): string[] {
  if (isBeingAdopted(children)) return [];
  const actors = new Map(children.map((child) => [child.id, child]));
  // The status of a pod that has ended elsewhere is published at once, and its running containers are ready until they
  // stop.
  const isEnded = isTerminalPhase(status.phase);
  return statusesOf(status).flatMap(({ name, ready, restartCount }) => {
    const facts = actors.get(`container/${name}`)?.facts ?? [];
    const restarts = facts.flatMap((fact) => (/^\d+ restarts?$/.test(fact) ? [Number.parseInt(fact, 10)] : []));
    return [
      ...(!isEnded && facts.includes(ready ? 'not ready' : 'ready') ? [`${name} is ${ready ? '' : 'not '}ready`] : []),
      ...(restarts.some((each) => each !== restartCount) ? [`${name} was restarted ${restartCount} times`] : []),
    ];
  });
}

const isReady = ({ metadata, status = {} }: Pod): boolean =>
  status.phase === 'Running' &&
  metadata.deletionTimestamp === undefined &&
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
