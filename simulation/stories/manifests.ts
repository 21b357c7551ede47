/** The pods that stories are told of: manifests as users write them. */
import { NODE_NAME, PRESENT_IMAGE } from '../host.ts';
import type { Random } from '../random.ts';

/** What stands in a manifest, as JSON has it. */
export interface Manifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly annotations?: object };
  readonly spec: ManifestSpec;
}

export interface ManifestContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly restartPolicy?: 'Always';
  readonly resources?: object;
  readonly volumeMounts?: readonly object[];
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
  readonly lifecycle?: object;
}

export interface ManifestSpec {
  readonly restartPolicy: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly ManifestContainer[];
  readonly initContainers?: readonly ManifestContainer[];
  readonly volumes?: readonly object[];
  readonly activeDeadlineSeconds?: number;
  readonly hostNetwork?: boolean;
}

/** The full name that the pod of a manifest has: the node's name is part of it. */
export const staticPodName = ({ metadata: { namespace, name } }: Manifest): string =>
  `${namespace}/${name}-${NODE_NAME}`;

/** A manifest with a container `main` that runs until it is stopped, but for what is told. */
export function manifest(name: string, spec: Partial<ManifestSpec> = {}): Manifest {
  const always = { restartPolicy: 'Always' as const, terminationGracePeriodSeconds: 5 };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
    spec: { ...always, containers: [container('main')], ...spec },
  };
}

export const container = (name: string, more: Partial<ManifestContainer> = {}): ManifestContainer => ({
  name,
  image: PRESENT_IMAGE,
  ...more,
});

const shell = (script: string) => ['sh', '-c', script];

/** What a container's main process does; none: it runs until it is stopped. */
const COMMANDS: readonly (readonly string[])[] = [
  [],
  [],
  shell('sleep 30'),
  shell('sleep 3; exit 1'),
  shell('exit 0'),
  shell('trap "" TERM; sleep 1d'),
];

const SCRATCH = { name: 'scratch', mountPath: '/scratch' };
const execProbe = { exec: { command: ['true'] }, periodSeconds: 2 };

/** Whether the pod gives its node a reason to end its containers, or they end again and again by themselves. */
export const endsContainers = ({ spec }: Manifest): boolean =>
  spec.activeDeadlineSeconds !== undefined ||
  spec.containers.some(({ livenessProbe, command }) => livenessProbe !== undefined || command !== undefined);

/** A pod of a kind that is drawn. */
export function drawnManifest(name: string, random: Random): Manifest {
  const restartPolicy = random.pick(['Always', 'Always', 'OnFailure', 'Never'] as const);
  const isScratch = random.chance(0.5);
  const mounted = isScratch ? { volumeMounts: [SCRATCH] } : {};
  const one = (of: string) => {
    const command = random.pick(COMMANDS);
    return container(of, {
      ...mounted,
      ...(command.length > 0 ? { command } : {}),
      ...(random.chance(0.2) ? { image: `registry.local/pulled:${random.between(1, 3)}` } : {}),
      ...(random.chance(0.2) ? { readinessProbe: execProbe } : {}),
      ...(random.chance(0.1) ? { lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } } } : {}),
      ...(random.chance(0.3) ? { resources: { requests: { cpu: `${random.between(1, 5) * 100}m` } } } : {}),
    });
  };
  const inits = [
    ...(random.chance(0.3) ? [container('setup', { command: shell('sleep 1'), ...mounted })] : []),
    ...(random.chance(0.15) ? [container('sidecar', { restartPolicy: 'Always' })] : []),
  ];
  const names = random.chance(0.3) ? ['main', 'helper'] : ['main'];
  return manifest(name, {
    restartPolicy,
    terminationGracePeriodSeconds: random.pick([0, 1, 5, 30]),
    containers: names.map(one),
    ...(inits.length > 0 ? { initContainers: inits } : {}),
    ...(isScratch ? { volumes: [{ name: 'scratch', emptyDir: {} }] } : {}),
    ...(random.chance(0.05) ? { activeDeadlineSeconds: random.between(5, 60) } : {}),
    ...(random.chance(0.1) ? { hostNetwork: true } : {}),
  });
}
