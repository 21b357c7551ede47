import fc from 'fast-check';
import type { CallName } from '../../cri/simulated/faults/callNames.ts';
import type { Fault, FaultHandle } from '../../cri/simulated/faults/faults.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { SimulatedNode } from './node.ts';
import { containerWith, podRunning, podWith } from './pods.ts';

/** Something that can happen to a node: by its users, its containers or its runtime, or to its agent. */
export type Trouble =
  | { readonly kind: 'apply' | 'replace' | 'edit' | 'remove'; readonly pod: number }
  | { readonly kind: 'exit' | 'killSandbox' | 'removeSandbox'; readonly which: number }
  | { readonly kind: 'error' | 'lost' | 'hang' | 'crash'; readonly call: CallName }
  | { readonly kind: 'events'; readonly delivery: 'normal' | 'paused' | 'dropped' | 'doubled' }
  | { readonly kind: 'down' | 'up' | 'reboot' | 'restartAgent' }
  | { readonly kind: 'advance'; readonly ms: number };

export const OTHER_IMAGE = 'statelet.local/app:2';
const KINDS = 6;
const GRACE = { terminationGracePeriodSeconds: 3 };
const setup = { initContainers: [containerWith('setup', { command: ['sleep', '1'] })] };

/** Returns a pod of this kind. The edition determines the image, and the generation the UID. */
function podOfKind(kind: number, edition: number, generation: number): Pod {
  const image = edition % 2 === 0 ? undefined : OTHER_IMAGE;
  const main = containerWith('main', image ? { image } : {});
  const name = `pod-${kind}`;
  const pods = [
    podWith(name, { ...GRACE, containers: [main] }),
    podWith(name, { ...GRACE, ...setup, containers: [main, containerWith('helper')] }),
    podRunning(name, 'sleep 4; exit 1', GRACE),
    podRunning(name, 'sleep 2', { ...GRACE, restartPolicy: 'OnFailure' }),
    podWith(name, { ...GRACE, restartPolicy: 'Never', containers: [main] }),
    podRunning(name, 'trap "" TERM; sleep 1d', { ...GRACE, volumes: [{ name: 'scratch', emptyDir: {} }] }),
  ];
  const pod = pods[kind] ?? podWith(name);
  return { ...pod, metadata: { ...pod.metadata, uid: `${name}-${generation}` } };
}

const CALLS: readonly CallName[] = [
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'podSandboxStatus',
  'listPodSandbox',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'listContainers',
  'containerStatus',
  'imageStatus',
  'pullImage',
];

const pod = fc.nat(KINDS - 1);
const call = fc.constantFrom(...CALLS);
const advance = fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(3_000) });

/** Generates sequences of troubles with time between them. */
export const troubles: fc.Arbitrary<Trouble[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('apply' as const), pod }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('replace', 'edit', 'remove'), pod }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom('exit', 'killSandbox', 'removeSandbox'), which: fc.nat(20) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('error', 'lost', 'hang', 'crash'), call }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('events' as const),
        delivery: fc.constantFrom('normal', 'paused', 'dropped', 'doubled'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('down', 'up', 'reboot', 'restartAgent') }) },
    { weight: 8, arbitrary: advance },
  ),
  { minLength: 8, maxLength: 40 },
);

/** Applies troubles to a node, and ends them all. */
export class Troublemaker {
  readonly #node: SimulatedNode;
  readonly #faults: FaultHandle[] = [];
  readonly #versions = new Map<number, { edition: number; generation: number }>();

  constructor(node: SimulatedNode) {
    this.#node = node;
  }

  /** The kinds of the pods that are currently wanted. */
  readonly wanted = new Set<number>();

  async make(trouble: Trouble): Promise<void> {
    const { runtime } = this.#node;
    switch (trouble.kind) {
      case 'apply':
      case 'replace':
      case 'edit':
        return this.#apply(trouble.kind, trouble.pod);
      case 'remove':
        this.wanted.delete(trouble.pod);
        return this.#node.remove(`pod-${trouble.pod}`);
      case 'exit':
      case 'killSandbox':
      case 'removeSandbox':
        return this.#harm(trouble.kind, trouble.which);
      case 'error':
        return this.#add({ call: trouble.call, error: { message: 'something is wrong' } });
      case 'lost':
        return this.#add({ call: trouble.call, lostReply: 'error' });
      case 'crash':
        return this.#add({ call: trouble.call, crash: 'after' });
      case 'hang':
        return this.#add({ call: trouble.call, hang: true });
      case 'events':
        return runtime.events.setDeliveryMode(trouble.delivery);
      case 'down':
        return runtime.down();
      case 'up':
        return runtime.restart();
      case 'reboot':
        return runtime.restart({ keepContainers: false });
      case 'restartAgent':
        return this.#node.restartAgent();
      case 'advance':
        return this.#node.advance(`${trouble.ms}ms`);
    }
  }

  /** Ends all faults. Their consequences may remain. */
  async end(): Promise<void> {
    for (const { release } of this.#faults) release();
    this.#node.runtime.events.setDeliveryMode('normal');
    this.#node.runtime.restart();
    await this.#node.advance('0ms');
  }

  #add(fault: Fault<CallName>): void {
    this.#faults.push(this.#node.runtime.faults.add(fault));
  }

  #apply(kind: 'apply' | 'replace' | 'edit', pod: number): void {
    const { edition, generation } = this.#versions.get(pod) ?? { edition: 0, generation: 0 };
    const next = {
      edition: kind === 'edit' ? edition + 1 : edition,
      generation: kind === 'replace' ? generation + 1 : generation,
    };
    this.#versions.set(pod, next);
    this.wanted.add(pod);
    this.#node.apply(podOfKind(pod, next.edition, next.generation));
  }

  #harm(kind: 'exit' | 'killSandbox' | 'removeSandbox', which: number): void {
    const { runtime } = this.#node;
    const { sandboxes, containers } = runtime.contents();
    const running = containers.filter(({ state }) => state === 1);
    const among = kind === 'exit' ? running : sandboxes;
    const id = among[which % Math.max(1, among.length)]?.id;
    if (id === undefined) return;
    if (kind === 'exit') runtime.exitContainer(id, which % 3);
    else if (kind === 'killSandbox') runtime.killSandbox(id);
    else runtime.removeSandbox(id);
  }
}
