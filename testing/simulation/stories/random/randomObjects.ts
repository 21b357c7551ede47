/**
 * Generates ConfigMaps, Secrets and ClusterTrustBundles that are created, changed and deleted, and pods that use them
 * in volumes and variables.
 */
import type { ApiObject, ObjectKind } from '../../cluster/apiObject.ts';
import { API_PART_FAULTS, API_PARTS } from '../../cluster/apiPartFaults.ts';
import type { Random } from '../../random.ts';
import type { Manifest, ManifestContainer } from '../manifests.ts';
import type { ClusterAction, TimedAction } from '../story.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Names of the objects. There are few per kind, so that several pods use the same object. */
const NAMES: Readonly<Record<ObjectKind, readonly string[]>> = {
  ConfigMap: ['config-0', 'config-1'],
  Secret: ['secret-0', 'secret-1'],
  ClusterTrustBundle: ['anchors-0'],
};
const KINDS: readonly ObjectKind[] = ['ConfigMap', 'ConfigMap', 'Secret', 'Secret', 'ClusterTrustBundle'];
const KEYS = ['a', 'b', 'c'] as const;
/**
 * Token lifetimes in seconds. They are close to the minimum that the API server grants, so that tokens are renewed
 * within a story.
 */
const LIFETIMES = [600, 600, 900, 3_600] as const;

/** Generates an object. It may be immutable or have no value for a key that a pod uses. */
function objectOf(of: ObjectKind, name: string, random: Random): ApiObject {
  const keys = random.chance(0.7) ? KEYS : KEYS.filter(() => random.chance(0.6));
  const data = Object.fromEntries(keys.map((key) => [key, `${key} ${random.between(1, 9_999)}`]));
  const isFinal = of !== 'ClusterTrustBundle' && random.chance(0.1);
  return { of, name, data, ...(isFinal ? { immutable: true } : {}) };
}

function randomObject(random: Random): ApiObject {
  const of = random.pick(KINDS);
  return objectOf(of, random.pick(NAMES[of]), random);
}

/** Returns actions that create most of the objects at the start. */
export const initialObjects = (random: Random): TimedAction[] =>
  Object.entries(NAMES).flatMap(([of, names]) =>
    names
      .filter(() => random.chance(0.85))
      // Safe cast: the keys are kinds.
      .map(
        (name): TimedAction => ({
          at: 0,
          action: { kind: 'putObject', object: objectOf(of as ObjectKind, name, random) },
        }),
      ),
  );

const duration = (random: Random): number => random.pick([random.between(0, MINUTE), random.between(0, 10 * MINUTE)]);

/** Actions on objects and on the parts of the API server that serve them, with weights. */
export const objectActions: readonly (readonly [weight: number, generate: (random: Random) => ClusterAction])[] = [
  [14, (random) => ({ kind: 'putObject', object: randomObject(random) })],
  [4, (random) => ({ kind: 'remakeObject', object: randomObject(random) })],
  [
    4,
    (random) => {
      const { of, name } = randomObject(random);
      return { kind: 'deleteObject', of, name };
    },
  ],
  [
    7,
    (random) => ({
      kind: 'apiPart',
      part: random.pick(API_PARTS),
      how: random.pick(API_PART_FAULTS),
      forMs: duration(random),
    }),
  ],
];

/**
 * Clock changes in milliseconds, as after a suspension of the host or a change by a user. Tokens may expire because of
 * them.
 */
export const CLOCK_JUMPS = [5 * MINUTE, 20 * MINUTE, 60 * MINUTE, -SECOND, -10 * MINUTE] as const;

const optionally = (random: Random) => (random.chance(0.3) ? { optional: true } : {});
const itemsOf = (random: Random) =>
  random.chance(0.3) ? { items: [{ key: random.pick(KEYS), path: 'below/it' }] } : {};

const configMapOf = (random: Random): object => ({
  name: random.pick(NAMES.ConfigMap),
  ...optionally(random),
  ...itemsOf(random),
});
const secretOf = (random: Random, field: 'name' | 'secretName'): object => ({
  [field]: random.pick(NAMES.Secret),
  ...optionally(random),
  ...itemsOf(random),
});
const tokenOf = (random: Random): object => ({
  path: 'token',
  expirationSeconds: random.pick(LIFETIMES),
  ...(random.chance(0.4) ? { audience: 'vault' } : {}),
});
const anchorsOf = (random: Random): object => ({
  path: 'anchors.pem',
  name: random.pick(NAMES.ClusterTrustBundle),
  ...optionally(random),
});

function projected(random: Random): object {
  const all: readonly object[] = [
    { serviceAccountToken: tokenOf(random) },
    { configMap: configMapOf(random) },
    { secret: secretOf(random, 'name') },
    { clusterTrustBundle: anchorsOf(random) },
    { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  ];
  const [token] = all;
  // Two sources may have the same path, which tests that the later one takes precedence.
  const some = random.sample(all.slice(1), 2);
  return { projected: { sources: token && random.chance(0.7) ? [token, ...some] : some } };
}

const randomVolume = (random: Random): object =>
  random.pick([
    () => ({ configMap: configMapOf(random) }),
    () => ({ secret: secretOf(random, 'secretName') }),
    () => projected(random),
    () => projected(random),
  ])();

function randomVariables(random: Random): Partial<ManifestContainer> {
  const key = random.pick(KEYS);
  const from = (name: string, kind: 'configMapKeyRef' | 'secretKeyRef', named: string) => ({
    name,
    valueFrom: { [kind]: { name: named, key, ...optionally(random) } },
  });
  const env = [
    ...(random.chance(0.6) ? [from('CONFIG', 'configMapKeyRef', random.pick(NAMES.ConfigMap))] : []),
    ...(random.chance(0.6) ? [from('SECRET', 'secretKeyRef', random.pick(NAMES.Secret))] : []),
  ];
  const all = random.chance(0.4)
    ? { envFrom: [{ prefix: 'ALL_', configMapRef: { name: random.pick(NAMES.ConfigMap), ...optionally(random) } }] }
    : {};
  return { ...(env.length > 0 ? { env } : {}), ...all };
}

/** Returns the pod with random volumes and variables that use objects. */
export function withObjects({ spec, ...pod }: Manifest, random: Random): Manifest {
  const volumes = Array.from({ length: random.between(0, 2) }, (_, index) => ({
    name: `objects-${index}`,
    ...randomVolume(random),
  }));
  const mounts = volumes.map(({ name }) => ({ name, mountPath: `/objects/${name}` }));
  const variables = random.chance(0.4) ? randomVariables(random) : {};
  const containers = spec.containers.map((each) => ({
    ...each,
    ...variables,
    ...(each.env || variables.env ? { env: [...(each.env ?? []), ...(variables.env ?? [])] } : {}),
    ...(mounts.length > 0 ? { volumeMounts: [...(each.volumeMounts ?? []), ...mounts] } : {}),
  }));
  return {
    ...pod,
    spec: { ...spec, containers, ...(volumes.length > 0 ? { volumes: [...(spec.volumes ?? []), ...volumes] } : {}) },
  };
}
