/**
 * Short stories of pods with rare features, so that the calls for these features are tested with every single fault as
 * well.
 */
import { RUNTIME_CLASS } from '../../host/providedFiles.ts';
import { container, type ManifestSpec, manifest } from '../manifests.ts';
import { PULLED } from '../random/randomManifest.ts';
import type { Story } from '../story.ts';
import { volumeMounts, volumes } from './manyKinds.ts';

const SECOND = 1_000;
const probeOf = (port: number) => ({ httpGet: { path: '/healthz', port }, periodSeconds: 4 });

/**
 * A pod with an image that has to be pulled, volumes of every kind with an fsGroup, a sidecar, hooks and an HTTP probe.
 */
const demandingSpec: Partial<ManifestSpec> = {
  volumes,
  runtimeClassName: RUNTIME_CLASS,
  securityContext: { fsGroup: 1_000 },
  initContainers: [container('sidecar', { restartPolicy: 'Always' })],
  containers: [
    container('prototype', {
      image: PULLED[1],
      imagePullPolicy: 'Always',
      volumeMounts,
      readinessProbe: probeOf(8080),
      lifecycle: { postStart: { exec: { command: ['true'] } }, preStop: { httpGet: { path: '/', port: 8081 } } },
    }),
  ],
};

const listedSpec: Partial<ManifestSpec> = { containers: [container('main', { livenessProbe: probeOf(8080) })] };

/** Stories by title. */
export const richStories: Readonly<Record<string, Story>> = {
  'a pod asks for what few pods do': {
    seed: 8,
    faults: [],
    lastsMs: 20 * SECOND,
    actions: [
      { at: 0, action: { kind: 'apply', pod: manifest('constructor', demandingSpec) } },
      { at: 10 * SECOND, action: { kind: 'remove', pod: 'default/constructor-node-1' } },
    ],
  },
  'a URL lists a pod, and then no more': {
    seed: 9,
    faults: [],
    lastsMs: 50 * SECOND,
    actions: [
      { at: 0, action: { kind: 'apply', by: 'url', pod: manifest('listed', listedSpec) } },
      { at: 25 * SECOND, action: { kind: 'remove', pod: 'default/listed-node-1' } },
    ],
  },
};
