/** Detects contradictions between the explanation of a pod and its status or actors. */
import { containersOf } from '../../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { isTerminalPhase } from '../../../../kubernetes/status/phase.ts';
import type { Explanation } from '../../../../show/explain.ts';
import { statusesOf } from './apiRules.ts';

const PHASES: ReadonlySet<string> = new Set(['Pending', 'Running', 'Succeeded', 'Failed']);
const HAS_ENDED = / has (succeeded|failed|ended)\b| was rejected: /;

/** IDs of the child actors that an explanation mentions while they are busy. */
const PARTS = /^(container|volume)\//;
const RESTS: ReadonlySet<string> = new Set(['steady', 'done', 'mounted']);

/** Returns the text without white space, because lines may be wrapped anywhere. */
const unbroken = (text: string): string => text.replaceAll(/\s/g, '');

/**
 * Returns the contradictions. `text` is the formatted explanation. `pod` is the published pod, or undefined if the
 * agent has unpublished changes of it.
 */
export function contradictions(explanation: Explanation, text: string, pod: Pod | undefined): string[] {
  const wrong = [wrongStatus, wrongCount, wrongAnswer, wrongContainers];
  const details = pod === undefined ? [] : wrong.flatMap((each) => each(explanation, pod));
  return [...wrongText(explanation, text), ...details].map((each) => `${each}: ${text}`);
}

function wrongText({ namespace, name, status, ready, answer }: Explanation, text: string): string[] {
  const all = unbroken(text);
  return [
    ...(all.startsWith(unbroken(`${namespace}/${name}${status}${ready} ready`)) ? [] : ['the title is different']),
    ...(answer.trim() === '' ? ['there is no answer'] : []),
    ...(all.includes(unbroken(answer)) ? [] : ['the answer is different']),
  ];
}

/**
 * Checks that a status that is a phase is the phase of the pod, and that a pod that is being removed is shown as
 * Terminating.
 */
function wrongStatus({ status: word, phase: shown }: Explanation, { metadata, status }: Pod): string[] {
  const phase = status?.phase ?? 'Unknown';
  const isTerminating = metadata.deletionTimestamp !== undefined && !isTerminalPhase(status?.phase);
  return [
    ...(shown === phase ? [] : [`it is ${phase}, not ${shown}`]),
    ...(PHASES.has(word) && word !== phase ? [`it is ${phase}, not ${word}`] : []),
    ...((word === 'Terminating') === isTerminating ? [] : [`its deletionTimestamp contradicts the status ${word}`]),
  ];
}

function wrongCount({ ready, pod: { children } }: Explanation, pod: Pod): string[] {
  const lasting = containersOf(pod.spec).filter(({ role }) => role === 'regular' || role === 'sidecar');
  const names = lasting.map(({ container }) => container.name);
  const count = statusesOf(pod.status ?? {}).filter((each) => each.ready && names.includes(each.name)).length;
  const [shown, total] = ready.split('/').map(Number);
  // Ready containers may be missing from the count while the pod is being initialized again, or may be as far as a new
  // agent knows.
  const areCounted = isReady(pod) && !isBeingAdopted(children);
  const isWrong = shown === undefined || shown > count || (areCounted && shown < count);
  return isWrong || total !== names.length ? [`${count} of ${names.length} containers are ready, not ${ready}`] : [];
}

function wrongAnswer({ answer, pod: { termination, tags, children } }: Explanation, pod: Pod): string[] {
  const phase = pod.status?.phase;
  const isEnd = HAS_ENDED.test(answer);
  // A pod may be ready while its init container is being queried, an old container is being removed, or a new agent is
  // mounting its volumes. The explanation then need not say that the pod is running.
  const isAnyBusy = children.some(({ id, tags }) => PARTS.test(id) && !tags.some((tag) => RESTS.has(tag)));
  const isSteady = tags[0] === 'steady' && !isAnyBusy && isReady(pod);
  return [
    ...(/ is running, with /.test(answer) && phase !== 'Running' ? [`it is not running, it is ${phase}`] : []),
    ...(/ has succeeded: /.test(answer) && phase !== 'Succeeded' ? [`it has not succeeded, it is ${phase}`] : []),
    ...(isTerminalPhase(phase) && termination === undefined && !isEnd
      ? ['the answer does not mention that it has terminated']
      : []),
    ...(isSteady && !/ is running\b/.test(answer) ? ['the answer does not mention that it is running'] : []),
  ];
}

/**
 * Whether a new agent does not know all containers of a pod yet. Until then, it reports the previous status or what it
 * knows.
 */
const isBeingAdopted = (children: Explanation['pod']['children']): boolean =>
  children.some(({ machine, state }) => machine === 'container' && state.startsWith('adopting.'));

/** Compares the facts in the explanation of each container with its status. */
function wrongContainers({ pod: { children } }: Explanation, { status = {} }: Pod): string[] {
  if (isBeingAdopted(children)) return [];
  const actors = new Map(children.map((child) => [child.id, child]));
  // The status of a pod that has reached a terminal phase elsewhere is published immediately, although its running
  // containers are ready until they stop.
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
