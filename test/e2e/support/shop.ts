/** The pods of a small shop, as the page is tested with them and pictured. */
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { type Manifest, podManifest, shell, steadily } from './manifests.ts';

/** Why `api` of `checkout-api` ends again and again. */
export const API_FAILS = 'no database at db.shop:5432';

/** Its page must not tell it. */
export const API_PASSWORD = 'hunter2-of-the-shop';

const podIn = (
  namespace: string,
  name: string,
  containers: readonly Container[],
  spec: Partial<PodSpec> = {},
): Manifest => {
  const manifest = podManifest(name, containers, { terminationGracePeriodSeconds: 1, ...spec });
  return { ...manifest, metadata: { ...manifest.metadata, namespace } };
};

const ran = (script: string, more: Partial<Container> = {}) => shell('main', script, more);

const well = (namespace: string, name: string, ...others: readonly string[]): Manifest =>
  podIn(namespace, name, [ran(steadily()), ...others.map((other) => shell(other, steadily()))]);

/** Fails to connect a while after its start, beside a proxy that is well and probed. */
const checkout = podIn(
  'shop',
  'checkout-api',
  [
    shell('api', `echo "connecting to db.shop:5432 as $DB_PASSWORD"; sleep 1.5; echo "${API_FAILS}" >&2; exit 3`, {
      env: [{ name: 'DB_PASSWORD', value: API_PASSWORD }],
      volumeMounts: [{ name: 'settings', mountPath: '/settings' }],
    }),
    shell('proxy', steadily(), {
      readinessProbe: { exec: { command: ['true'] }, periodSeconds: 5 },
      volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    }),
  ],
  {
    volumes: [
      { name: 'settings', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ],
  },
);

/** What the tests need: one that keeps failing, one that cannot be pulled, one that failed, one that is done, two that run. */
export const shop: readonly Manifest[] = [
  checkout,
  podIn('media', 'thumbs', [ran(':', { image: '127.0.0.1:1/media/thumbs:2' })]),
  podIn('batch', 'import-nightly', [ran('sleep 1; echo "row 8114: no such currency" >&2; exit 2')], {
    restartPolicy: 'Never',
  }),
  podIn('batch', 'report', [ran('exit 0')], { restartPolicy: 'Never' }),
  well('shop', 'auth', 'proxy'),
  well('shop', 'catalog'),
];

/** What the pictures have beside them. */
export const restOfShop: readonly Manifest[] = [
  podIn('data', 'postgres', [
    ran(steadily(), {
      startupProbe: { exec: { command: ['false'] }, periodSeconds: 10, failureThreshold: 100 },
    }),
  ]),
  podIn('media', 'encoder', [ran(':', { image: '127.0.0.1:1/media/encoder:7' })]),
  well('edge', 'cache'),
  well('shop', 'payments', 'proxy', 'audit'),
  well('shop', 'search'),
  well('web', 'assets'),
  well('web', 'blog'),
  well('web', 'docs'),
  well('edge', 'dns-a'),
  well('edge', 'ingress', 'reload'),
  well('monitor', 'log-agent'),
  well('batch', 'queue'),
];
