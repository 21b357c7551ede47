/** A story with many kinds of pods, for quick checks. */
import { container, type Manifest, type ManifestContainer, type ManifestSpec, manifest } from '../manifests.ts';
import type { Story, TimedAction } from '../story.ts';

const SECOND = 1_000;
const CRASHES = { command: ['sh', '-c', 'sleep 1; exit 1'] };
const main = (more: Partial<ManifestContainer> = {}) => container('main', more);

const apply = (at: number, name: string, spec: Partial<ManifestSpec>): TimedAction => {
  const pod: Manifest = manifest(name, spec);
  return { at, action: { kind: 'apply', pod: { ...pod, metadata: { ...pod.metadata, uid: `uid-of-${name}` } } } };
};

export const volumes = [
  { name: 'disk', emptyDir: {} },
  { name: 'memory', emptyDir: { medium: 'Memory' } },
  { name: 'labels', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  { name: 'hosts', hostPath: { path: '/etc/hosts', type: 'File' } },
  { name: 'image', image: { reference: 'registry.local/pulled:1' } },
];

export const volumeMounts = volumes.map(({ name }) => ({
  name,
  mountPath: `/mounted/${name}`,
  ...(name === 'disk' ? { subPath: 'part/of/it' } : {}),
}));

/** Has a pod whose image changes, pods with a crashing main, helper or sidecar container, and a pod with volumes. */
export const manyKinds: Story = {
  seed: 8,
  faults: [],
  lastsMs: 120 * SECOND,
  actions: [
    apply(0, 'edited', { containers: [main({ image: 'registry.local/pulled:1' })] }),
    apply(0, 'crashing', { containers: [main(CRASHES)] }),
    apply(0, 'helped', { containers: [main(), container('helper', CRASHES)] }),
    apply(0, 'assisted', {
      containers: [main()],
      initContainers: [container('sidecar', { ...CRASHES, restartPolicy: 'Always' })],
    }),
    apply(0, 'stored', { containers: [main({ volumeMounts })], volumes }),
    apply(10 * SECOND, 'edited', { containers: [main({ image: 'registry.local/pulled:2' })] }),
  ],
};
