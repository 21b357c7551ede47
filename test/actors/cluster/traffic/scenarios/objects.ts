/** Scenarios of pods with objects of the cluster: ConfigMaps, Secrets and tokens. */
import type { Hands, Scenario } from '../scenario.ts';
import { container } from './pods.ts';

const MERGE = 'application/merge-patch+json';

/** Returns the spec of a pod with a token of its service account, which is the default in Kubernetes. */
const of = (more: object, spec: object = {}) => ({
  automountServiceAccountToken: true,
  terminationGracePeriodSeconds: 2,
  ...spec,
  containers: [container('main', undefined, more)],
});

const objectsOf =
  (namespace: string, ...objects: readonly object[]) =>
  async ({ ask }: Hands) => {
    for (const object of objects) {
      const kind = 'kind' in object && object.kind === 'Secret' ? 'secrets' : 'configmaps';
      await ask('POST', `/api/v1/namespaces/${namespace}/${kind}`, object);
    }
  };

const configMap = (name: string, key = 'key') => ({ kind: 'ConfigMap', metadata: { name }, data: { [key]: 'one' } });
/** The ConfigMap that the controllers of a cluster create in every namespace. */
const ROOT_CA = configMap('kube-root-ca.crt', 'ca.crt');
const SECRET = { kind: 'Secret', metadata: { name: 'sec' }, stringData: { key: 'one' } };

const USED = of(
  {
    env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'sec', key: 'key' } } }],
    envFrom: [{ configMapRef: { name: 'cm' } }, { configMapRef: { name: 'opt', optional: true } }],
    volumeMounts: ['cm', 'sec', 'tok'].map((name) => ({ name, mountPath: `/${name}` })),
  },
  {
    volumes: [
      { name: 'cm', configMap: { name: 'cm' } },
      { name: 'sec', secret: { secretName: 'sec' } },
      {
        name: 'tok',
        projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } }] },
      },
    ],
  },
);

const volumes: Scenario = {
  name: '08-volumes',
  title:
    'a ConfigMap, a Secret and two tokens as volumes and environment; changed, a token renewed, the agent restarted',
  sends: { gets: 0, patches: 1, deletes: 0, events: 3, repeats: 0 },
  namespaces: ['vol'],
  untilMs: 890_000,
  acts: [
    [145_943, objectsOf('vol', ROOT_CA, configMap('cm'), SECRET)],
    [146_414, ({ create }) => create('vol/vols', USED)],
    [177_704, ({ ask }) => ask('PATCH', '/api/v1/namespaces/vol/configmaps/cm', { data: { key: 'two' } }, MERGE)],
    [177_756, ({ ask }) => ask('PATCH', '/api/v1/namespaces/vol/secrets/sec', { stringData: { key: 'two' } }, MERGE)],
    [834_441, ({ kill }) => kill()],
    [849_800, ({ start }) => start()],
  ],
};

const missing: Scenario = {
  name: '09-missing',
  title: 'a ConfigMap is missing for half a minute, for the environment of one pod and the volume of another; deleted',
  sends: { gets: 4, patches: 6, deletes: 2, events: 10, repeats: 7 },
  namespaces: ['missing'],
  untilMs: 215_000,
  fails: /configmap "late" not found/,
  acts: [
    [177_761, objectsOf('missing', ROOT_CA)],
    [177_881, ({ create }) => create('missing/env', of({ envFrom: [{ configMapRef: { name: 'late' } }] }))],
    [
      178_003,
      ({ create }) =>
        create(
          'missing/volume',
          of(
            { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
            { volumes: [{ name: 'v', configMap: { name: 'late' } }] },
          ),
        ),
    ],
    [203_080, objectsOf('missing', configMap('late'))],
    [210_369, ({ remove }) => remove('missing/env')],
    [210_381, ({ remove }) => remove('missing/volume')],
  ],
};

export const objectScenarios: readonly Scenario[] = [volumes, missing];
