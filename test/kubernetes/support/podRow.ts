/** Parses the rows of golden tables. A row describes a pod in words, and the parser builds the view of its actors. */

import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodPhase } from '../../../kubernetes/api/schema/status.ts';
import { shouldRestart } from '../../../kubernetes/lifecycle/restart.ts';
import type { ContainerRole, ContainerView, PodView } from '../../../kubernetes/status/view.ts';
import { backOff, ending, exited, podView, running, waiting } from '../views.ts';

interface Row {
  readonly title: string;
  readonly view: PodView;
  readonly previous: PodPhase | undefined;
  /** The text of the last column. */
  readonly expected: string;
}

type State = Pick<ContainerView, 'now'> & Partial<ContainerView>;

/** A container of a row: its spec, and its state or null if it has no view yet. */
interface Part {
  readonly container: Container;
  readonly role: ContainerRole;
  readonly state: State | null;
}

/**
 * Parses the rows of a table. Each line is `restartPolicy | init | sidecars | main | ephemeral | pod | expected`. A
 * container is one of
 * - `-`      not observed yet
 * - `wait`   waits for its first run
 * - `run`    runs; `run?` runs but has not started yet
 * - `3`      has exited with this code
 * - `loop 3` is in back-off after this exit code
 *
 * A container may have its own restart policy or rules: `3@Never`, or `3@on 3 4` for a rule that restarts it on these exit codes.
 * The words about the pod are
 * - `ended`           no container of it runs or will run
 * - `terminating`, `evicted`, `overdue` (its activeDeadlineSeconds is exceeded), `refused`
 * - `static`          it comes from a file
 * - `reset`           its sandbox is new, so init containers have to run again
 * - `was Running`     the phase that was reported before
 */
export function rowsOf(table: string): Row[] {
  return table
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(rowOf);
}

function rowOf(line: string): Row {
  const cells = line.split('|').map((cell) => cell.trim());
  const [policy = '', init = '', sidecars = '', main = '', ephemeral = '', words = '', expected = ''] = cells;
  if (cells.length !== 7) throw new Error(`not a row: ${line}`);
  const facts = words.split(',').map((word) => word.trim());
  const parts = [
    ...partsOf(init, 'init'),
    ...partsOf(sidecars, 'sidecar'),
    ...partsOf(main, 'regular'),
    ...partsOf(ephemeral, 'ephemeral'),
  ];
  // Safe cast: the tables use the values of the API.
  const restartPolicy = policy as NonNullable<Pod['spec']['restartPolicy']>;
  const was = facts.find((fact) => fact.startsWith('was '))?.slice(4);
  return {
    title: cells.slice(0, 6).filter(Boolean).join(' | '),
    view: viewOf(parts, restartPolicy, facts),
    previous: was as PodPhase | undefined,
    expected,
  };
}

function viewOf(parts: readonly Part[], restartPolicy: Pod['spec']['restartPolicy'], facts: readonly string[]) {
  const podEnding = ['terminating', 'evicted', 'overdue'].some((fact) => facts.includes(fact));
  const specs = (...roles: ContainerRole[]) =>
    parts.filter(({ role }) => roles.includes(role)).map(({ container }) => container);
  const pod = podView({
    spec: {
      ...(restartPolicy ? { restartPolicy } : {}),
      initContainers: specs('init', 'sidecar'),
      containers: specs('regular'),
      ephemeralContainers: specs('ephemeral'),
    },
    meta: { annotations: { 'kubernetes.io/config.source': facts.includes('static') ? 'file' : 'api' } },
  });
  const containers = parts.flatMap(({ container, role, state }): ContainerView[] => {
    if (state === null) return [];
    const willRestart = restarts({ pod: pod.pod, container, role, state, podEnding });
    const actor = { path: '', state: '', tags: [], since: 0, name: container.name, role };
    return [{ ...actor, restartCount: 0, ready: false, started: false, ...state, willRestart }];
  });
  return {
    ...pod,
    containers,
    isInitialized: !facts.includes('reset') && parts.every(hasDoneItsPart),
    hasEnded: facts.includes('ended'),
    ...(facts.includes('terminating') ? ending() : {}),
    ...(facts.includes('evicted') ? ending({ reason: 'Evicted', phase: 'Failed' }) : {}),
    ...(facts.includes('overdue') ? ending({ reason: 'DeadlineExceeded', phase: 'Failed' }) : {}),
    ...(facts.includes('refused') ? { refusal: { reason: 'OutOfcpu' as const, message: '' } } : {}),
  };
}

function partsOf(cell: string, role: ContainerRole): Part[] {
  const described = cell === '' ? [] : cell.split(',').map((one) => one.trim());
  return described.map((text, index) => {
    const [state = '', own] = text.split('@');
    const name = `${role}-${index}`;
    return { container: { name, image: 'a:1', ...sidecarOf(role), ...rulesOf(own) }, role, state: stateOf(state) };
  });
}

const sidecarOf = (role: ContainerRole): Partial<Container> => (role === 'sidecar' ? { restartPolicy: 'Always' } : {});

function rulesOf(own: string | undefined): Partial<Container> {
  if (own === undefined) return {};
  const values = /^on ([\d ]+)$/.exec(own)?.[1]?.split(' ').map(Number);
  if (values === undefined) return { restartPolicy: own as NonNullable<Container['restartPolicy']> };
  const rule = { action: 'Restart' as const, exitCodes: { operator: 'In' as const, values } };
  return { restartPolicy: 'Never', restartPolicyRules: [rule] };
}

function stateOf(text: string): State | null {
  const [, word, code] = /^(loop)? ?(\d+)$/.exec(text) ?? [];
  if (code !== undefined) return word ? backOff(Number(code)) : exited(Number(code));
  switch (text) {
    case '-':
      return null;
    case 'wait':
      return waiting();
    case 'run':
      return running();
    case 'run?':
      return running({ started: false, ready: false });
    default:
      throw new Error(`not a state: ${text}`);
  }
}

interface RestartOf {
  readonly pod: Pod;
  readonly container: Container;
  readonly role: ContainerRole;
  readonly state: State;
  readonly podEnding: boolean;
}

/** Decides like the container's machine. */
function restarts({ pod, container, role, state, podEnding: isPodTerminating }: RestartOf): boolean {
  if (state.now.kind !== 'terminated') return !isPodTerminating;
  return shouldRestart({ pod, container, role, run: { exitCode: state.now.run.exitCode }, isPodTerminating });
}

function hasDoneItsPart({ role, state }: Part): boolean {
  if (role === 'init') return state?.now.kind === 'terminated' && state.now.run.exitCode === 0;
  return (
    role !== 'sidecar' || (state?.now.kind === 'running' && state.started === true) || state?.lastRun !== undefined
  );
}
